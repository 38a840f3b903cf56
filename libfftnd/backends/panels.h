/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms along one axis in one pass over the memory of a CUDA device. A block of threads takes a panel:
 * some lines, which are neighbours in memory where they are not contiguous. A thread has `radix` elements of a line in
 * its registers (or as many in several butterflies), and the threads of a line exchange them through shared memory
 * between passes. Everything but the radices is data, so that nothing is compiled when a plan is made.
 */
#ifndef FFTND__PANELS_H
#define FFTND__PANELS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FFTND__PANEL_PASSES = 4, FFTND__PANEL_LOOPS = 3, FFTND__PANEL_SHORTEST = 5 };

/* How lines lie in memory: side by side; one after the other; so, and real numbers on one side. */
enum { FFTND__STRIDED, FFTND__CONTIGUOUS, FFTND__REAL, FFTND__LAYOUTS };

/* The kernels of each precision: which radices they have, in the first pass, in those between (from MIDDLE), and in the
 * last one (from 1, which only writes what the first pass has made). Smaller ones leave room for more threads. */
enum {
    FFTND__PANEL_KERNELS = 2,
    FFTND__PANEL_WIDTHS = 3,
    FFTND__PANEL_VARIANTS = FFTND__PANEL_KERNELS * FFTND__PANEL_WIDTHS,
    FFTND__PANEL_MOST_RADIX = 16,
    FFTND__PANEL_MIDDLE = 5
};
enum {
    FFTND__PANEL_LEAST_0 = 5,
    FFTND__PANEL_FIRST_0 = 12,
    FFTND__PANEL_REST_0 = 10,
    FFTND__PANEL_THREADS_0 = 1024,
    FFTND__PANEL_LEAST_1 = 11,
    FFTND__PANEL_FIRST_1 = 16,
    FFTND__PANEL_REST_1 = 16,
    FFTND__PANEL_THREADS_1 = 512
};

/* Butterflies of a thread in one pass, so that small radices keep it as busy as large ones. */
#define FFTND__PANEL_BUTTERFLIES(kernel, radix)                                                    \
    ((kernel) == 0 ? ((radix) > 5 ? 1U : 10U / (radix)) : (radix) > 8 ? 1U : 16U / (radix))

/* i / n = i * factor >> shift, for i < 2^31: devices have no instruction that divides. */
struct fftnd__panel_divisor {
    unsigned n, factor, shift;
};

struct fftnd__panel_loop {
    unsigned n;
    long long in, out; /* complex elements */
};

/* Lines of 2 n real numbers are transformed as n complex ones, which the n + 1 modes are made of (or that are made of
 * them) in shared memory.
 *
 * Between two passes element i of a line is at (i / done * group + i % done * pitch) in shared memory, with `done` of the
 * second one: all places of a butterfly are equally far apart. */
struct fftnd__panels {
    int is_double, is_real, backward;
    int kernel;
    int along; /* lines are contiguous: neighbouring threads have elements of a line, else of neighbouring lines */
    unsigned n, npasses;
    struct {
        unsigned radix, butterflies;      /* their product is n */
        struct fftnd__panel_divisor done; /* product of the radices before */
        unsigned step;                    /* from one root to the next, in the table */
        unsigned group, apart; /* between groups of `done` elements, between those of a butterfly */
    } passes[FFTND__PANEL_PASSES + 1];
    unsigned rows;  /* threads of a line */
    unsigned width; /* lines of a panel that have threads of their own: pairs of lines of floats */
    unsigned lines; /* of a panel */
    unsigned pitch; /* between elements in shared memory, in elements of 16 bytes */
    unsigned next;  /* line */
    size_t shared_bytes;
    struct fftnd__panel_divisor threads; /* those that are neighbours: rows or lines */
    struct fftnd__panel_loop axis, side, outer[FFTND__PANEL_LOOPS];
    int adjacent; /* the two lines of a pair of floats are neighbours, and aligned to be read at once */
    long long second; /* from the first line of a pair to the second, in lines */
    struct fftnd__panel_divisor panels, counts[FFTND__PANEL_LOOPS]; /* along the side; of `outer` */
    unsigned npanels;
};

/* How lines of `n` elements are transformed; 0 = not at all: n is shorter than SHORTEST, has a prime factor larger than
 * 13, is odd for a real line, or is too long for `shared_bytes` of a block. A variant is a kernel and a number of lines in
 * a panel, GUESS one that should do. Loops are not set. */
enum { FFTND__PANEL_GUESS = -1 };
int fftnd__panels_shape(struct fftnd__panels *panels, int variant, long long n, int is_double,
                        int layout, size_t shared_bytes);

/* Sets the loops: `side` are the lines that panels are made of. Real numbers are counted in pairs. Returns 0 if there are too many panels for a launch. */
int fftnd__panels_repeat(struct fftnd__panels *panels, const struct fftnd__panel_loop *axis,
                         const struct fftnd__panel_loop *side, int nouter,
                         const struct fftnd__panel_loop outer[]);

/* Writes the roots of one, which all passes share, as many as a line has elements: complex doubles or floats. */
void fftnd__panels_roots(const struct fftnd__panels *panels, void *roots);
size_t fftnd__panels_roots_bytes(const struct fftnd__panels *panels);

/* Enqueues the transforms, from arrays that may be the same one, without scaling; `roots` is in the device's memory.
 * Returns a cudaError_t. */
int fftnd__panels_launch(const struct fftnd__panels *panels, const void *in, void *out,
                         const void *roots, void *stream);

#ifdef __cplusplus
}
#endif

#endif
