/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms along one axis in one pass over the memory of a CUDA device. A block of threads takes a panel:
 * some lines, which are neighbours in memory where they are not contiguous. A thread has `radix` elements of a line in
 * its registers (or as many in several butterflies), and the threads of a line exchange them through shared memory
 * between passes. Everything but the radices is data, so that nothing is compiled when a plan is made.
 */
#ifndef LINES__PANELS_H
#define LINES__PANELS_H

#include "panels_r2r.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LINES__PANEL_PASSES = 4, LINES__PANEL_LOOPS = 3, LINES__PANEL_SHORTEST = 5 };

/* How lines lie in memory: side by side; one after the other; so, and real numbers on one side. */
enum { LINES__STRIDED, LINES__CONTIGUOUS, LINES__REAL, LINES__LAYOUTS };

/* The kernels of each precision: which radices they have, in the first pass, in those between (from MIDDLE; of real
 * lines from 1), and in the last one (from 1, which only writes what the first pass has made); up to which a thread has
 * room for two butterflies. Smaller ones leave room for more threads. */
enum {
    LINES__PANEL_KERNELS = 2,
    LINES__PANEL_WIDTHS = 3,
    LINES__PANEL_VARIANTS = LINES__PANEL_KERNELS * LINES__PANEL_WIDTHS,
    LINES__PANEL_MOST_RADIX = 16,
    LINES__PANEL_MIDDLE = 5
};
enum {
    LINES__PANEL_LEAST_0 = 5,
    LINES__PANEL_FIRST_0 = 12,
    LINES__PANEL_REST_0 = 10,
    LINES__PANEL_PAIRS_0 = 4,
    LINES__PANEL_THREADS_0 = 1024,
    LINES__PANEL_LEAST_1 = 10,
    LINES__PANEL_FIRST_1 = 16,
    LINES__PANEL_REST_1 = 16,
    LINES__PANEL_PAIRS_1 = 8,
    LINES__PANEL_THREADS_1 = 512
};

/* Butterflies of a thread in one pass, so that small radices keep it as busy as large ones. */
#define LINES__PANEL_BUTTERFLIES(kernel, radix)                                                    \
    ((kernel) == 0 ? ((radix) > 5 ? 1U : 10U / (radix)) : (radix) > 8 ? 1U : 16U / (radix))

/* i / n = i * factor >> shift, for i < 2^31: devices have no instruction that divides. */
struct lines__panel_divisor {
    unsigned n, factor, shift;
};
struct lines__panel_divisor lines__panel_divide_by(unsigned n);

struct lines__panel_loop {
    unsigned n;
    long long in, out; /* complex elements */
};

/* Lines of 2 n real numbers are transformed as n complex ones, which the n + 1 modes are made of (or that are made of
 * them) in shared memory, or in pairs of butterflies.
 *
 * Between two passes element i of a line is at (i / done * group + i % done * pitch) in shared memory, with `done` of
 * the second one: all places of a butterfly are equally far apart. */
struct lines__panels {
    int is_double, is_real, backward;
    int has_pairs; /* of real lines a thread has pairs of butterflies in the pass next to the modes */
    int kernel;
    int along; /* lines are contiguous: neighbouring threads have elements of a line, else of neighbouring lines */
    unsigned n, npasses;
    struct {
        unsigned radix, butterflies;      /* their product is n */
        struct lines__panel_divisor done; /* product of the radices before */
        unsigned step;                    /* from one root to the next, in the table */
        unsigned group, apart; /* between groups of `done` elements, between those of a butterfly */
    } passes[LINES__PANEL_PASSES + 1];
    unsigned rows;  /* threads of a line */
    unsigned width; /* threads of a panel that work on different lines */
    unsigned each;  /* lines of a thread: pairs of lines of floats, and of real lines */
    unsigned lines; /* of a panel */
    unsigned pitch; /* between elements in shared memory, in elements of 16 bytes */
    unsigned next;  /* line */
    size_t shared_bytes;
    struct lines__panel_divisor threads; /* those that are neighbours: rows or lines */
    struct lines__panel_loop axis, side, outer[LINES__PANEL_LOOPS];
    int adjacent;     /* the lines of a thread are neighbours, and aligned to be read at once */
    long long second; /* from the first line of a thread to the second, in lines */
    struct lines__panel_divisor panels, counts[LINES__PANEL_LOOPS]; /* along the side; of `outer` */
    unsigned npanels;
    struct lines__panel_r2r r2r;
};

/* How lines of `n` elements are transformed; 0 = not at all: n is shorter than SHORTEST, has a prime factor larger than
 * 13, is odd for a real line (see below), or is too long for `shared_bytes` of a block. A variant is a kernel and a
 * number of lines in a panel, GUESS one that should do. Loops are not set. */
enum { LINES__PANEL_GUESS = -1 };
int lines__panels_shape(struct lines__panels *panels, int variant, long long n, int is_double,
                        int layout, size_t shared_bytes);

/* Sets the direction. Backward, the radix of what was the last pass of real lines with pairs comes first; 0 = then
 * they need more of a block's memory than there is. */
int lines__panels_direct(struct lines__panels *panels, int backward, size_t shared_bytes);

/* As lines__panels_shape for a real-to-real transform (r2r_lines.h) of lines of n numbers, in the layouts STRIDED and
 * CONTIGUOUS; and for real lines and their halved spectra, of any length and with any strides, all counted in
 * numbers. */
int lines__panels_shape_r2r(struct lines__panels *panels, int variant, int r2r, long long n,
                            int is_double, int layout, size_t shared_bytes);

/* Sets the loops: `side` are the lines that panels are made of. Real numbers are counted in pairs, but for real-to-real
 * transforms. Returns 0 if there are too many panels for a launch. */
int lines__panels_repeat(struct lines__panels *panels, const struct lines__panel_loop *axis,
                         const struct lines__panel_loop *side, int nouter,
                         const struct lines__panel_loop outer[]);

/* Writes the roots of one, which all passes share, as many as a line has elements, and the factors of a real-to-real
 * transform: complex doubles or floats. */
void lines__panels_roots(const struct lines__panels *panels, void *roots);
size_t lines__panels_roots_bytes(const struct lines__panels *panels);

/* Lines of which the array has some elements only on one side, that of the modes. Those from `low` to `high` - 1 are in
 * the gap: zeros are read, and nothing is written. Those from `high` on are `shift` complex elements nearer. The
 * elements half[] (n and more: none) are in an array of their own, one for each line, both in the same place. */
struct lines__panel_gap {
    unsigned low, high, half[2];
    long long shift;
    void *half_way;
    long long side, outer[LINES__PANEL_LOOPS]; /* its strides, in complex elements */
};

/* Enqueues the transforms from arrays of which one has a gap. They may be the same one if its lines begin at the same
 * places on both sides. */
int lines__panels_launch_retained(const struct lines__panels *panels,
                                  const struct lines__panel_gap *gap, const void *in, void *out,
                                  const void *roots, void *stream);

/* Results of complex lines in targets: some of the transformed axis' elements go elsewhere, as into the array of
 * another device. */
enum { LINES__PANEL_TARGETS = 8 };

/* Elements `begin` to `end` - 1 of all lines. Strides are those of the target, in complex elements. */
struct lines__panel_target {
    unsigned begin, end;
    void *base; /* where element `begin` of the first line is */
    long long axis, side, outer[LINES__PANEL_LOOPS];
};

/* In their order, up to the last element; more follow only if that has not come. */
struct lines__panel_targets {
    struct lines__panel_target target[LINES__PANEL_TARGETS];
};

/* Enqueues the transforms into targets. `targets` may go when this returns. */
int lines__panels_launch_stores(const struct lines__panels *panels, const void *in,
                                const struct lines__panel_targets *targets, const void *roots,
                                void *stream);

/* Enqueues transforms there, an operator on the modes (operators/symbol.h), and transforms back, for panels whose
 * transform is backward, of complex lines. The axes of the operation are the lines', the side, and the outer loops; it
 * says nothing of where modes are. */
struct lines__operation;
int lines__panels_launch_applied(const struct lines__panels *panels,
                                 const struct lines__operation *operation, const void *in,
                                 void *out, const void *roots, void *stream);

/* Whether pairs of floats in targets can be written at once, as the loops say it of whole lines. */
int lines__panels_are_adjacent(const struct lines__panels *panels,
                               const struct lines__panel_targets *targets);

/* Enqueues the transforms, from arrays that may be the same one, without scaling; `roots` is in the device's memory.
 * Returns a cudaError_t. */
int lines__panels_launch(const struct lines__panels *panels, const void *in, void *out,
                         const void *roots, void *stream);

#ifdef __cplusplus
}
#endif

#endif
