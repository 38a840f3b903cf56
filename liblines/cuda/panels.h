/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms along one axis in one sweep over the memory of a CUDA device. A block of threads transforms a panel: some
 * lines, neighbours in memory unless they are contiguous. A thread has one butterfly or several of each radix pass in
 * its registers, and the threads of a line exchange elements through shared memory between radix passes. All but the
 * radices is data, so that nothing is compiled when a plan is made.
 */
#ifndef LINES__PANELS_H
#define LINES__PANELS_H

#include "panels_r2r.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LINES__PANEL_PASSES = 4, LINES__PANEL_LOOPS = 3, LINES__PANEL_SHORTEST = 5 };

/* Layouts of lines in memory: neighbours; contiguous; contiguous, with real numbers on one side. */
enum { LINES__STRIDED, LINES__CONTIGUOUS, LINES__REAL, LINES__LAYOUTS };

/* The kernels of each precision: radices of the first radix pass, of those between (from MIDDLE; of real lines from 1),
 * and of the last one (from 1, which only writes what the first one has made); the radices up to which a thread has
 * registers for two butterflies. Smaller radices leave registers for more threads. */
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

/* Butterflies of a thread in a radix pass, so that small radices keep it as busy as large ones. */
#define LINES__PANEL_BUTTERFLIES(kernel, radix)                                                    \
    ((kernel) == 0 ? ((radix) > 5 ? 1U : 10U / (radix)) : (radix) > 8 ? 1U : 16U / (radix))

/* i / n = i * factor >> shift, for i < 2^31, as devices have no instruction for divisions. */
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
    int has_pairs; /* real lines: a thread has pairs of butterflies in the radix pass next to the modes */
    int kernel;
    int along; /* contiguous lines: neighbouring threads have elements of a line, else of neighbouring lines */
    unsigned n, npasses;
    unsigned filled; /* elements of the physical side, others being zero; without work n */
    double scale;    /* results are multiplied by it, except those of round trips */
    struct {
        unsigned radix, butterflies;      /* their product is n */
        struct lines__panel_divisor done; /* product of the radices before */
        unsigned step;                    /* from one root to the next, in the table */
        unsigned group, apart; /* between groups of `done` elements, between those of a butterfly */
    } passes[LINES__PANEL_PASSES + 1];
    unsigned rows;  /* threads of a line */
    unsigned width; /* threads of a panel that have different lines */
    unsigned each;  /* lines of a thread: pairs of lines of floats, and of real lines */
    unsigned lines; /* of a panel */
    unsigned pitch; /* between elements in shared memory, in elements of 16 bytes */
    unsigned next;  /* line */
    size_t shared_bytes;
    struct lines__panel_divisor threads; /* those that are neighbours: rows or lines */
    struct lines__panel_loop axis, side, outer[LINES__PANEL_LOOPS];
    int adjacent;     /* the lines of a thread are neighbours, and aligned for one access */
    long long second; /* from the first line of a thread to the second, in lines */
    struct lines__panel_divisor panels, counts[LINES__PANEL_LOOPS]; /* along the side; of `outer` */
    unsigned npanels;
    struct lines__panel_r2r r2r;
};

/* Shapes panels of lines of `n` elements; 0 = no panels: n is shorter than SHORTEST, has a prime factor larger than 13,
 * is odd for a real line, or is too long for `shared_bytes` of a block. A variant is a kernel and a number of lines in
 * a panel; GUESS is one that exists, if any does. Loops are not set. */
enum { LINES__PANEL_GUESS = -1 };
int lines__panels_shape(struct lines__panels *panels, int variant, long long n, int is_double,
                        int layout, size_t shared_bytes);

/* Sets the direction. Backward, the last radix of real lines with pairs comes first; 0 = they exceed the shared memory
 * of a block then. */
int lines__panels_direct(struct lines__panels *panels, int backward, size_t shared_bytes);

/* Sets the shape as lines__panels_shape, for a real-to-real transform (r2r_lines.h) of lines of n numbers, STRIDED or
 * CONTIGUOUS; and for real lines and their halved spectra of any length and with any strides, in numbers. */
int lines__panels_shape_r2r(struct lines__panels *panels, int variant, int r2r, long long n,
                            int is_double, int layout, size_t shared_bytes);

/* Sets the loops; panels are made along `side`. Strides of real lines are in pairs of numbers, except for real-to-real
 * transforms. Returns 0 if a launch cannot have so many panels. */
int lines__panels_repeat(struct lines__panels *panels, const struct lines__panel_loop *axis,
                         const struct lines__panel_loop *side, int nouter,
                         const struct lines__panel_loop outer[]);

/* Elements of a line on the side after transforms: targets cover them. */
LINES__ON_DEVICE static inline unsigned lines__panels_end(const struct lines__panels *panels) {
    return panels->backward ? panels->filled : panels->n;
}

/* Writes the roots of one for all radix passes, as many as a line has elements, and the factors of a real-to-real
 * transform: complex doubles or floats. */
void lines__panels_roots(const struct lines__panels *panels, void *roots);
size_t lines__panels_roots_bytes(const struct lines__panels *panels);

/* A gap in the modes of one array. Elements `low` to `high` - 1 are in it: zeros are read, and nothing is written.
 * Those from `high` on are `shift` complex elements nearer. Elements half[] (n and more: none) are in an array of their
 * own, one for each line, both in the same place. */
struct lines__panel_gap {
    unsigned low, high, half[2];
    long long shift;
    void *half_way;
    long long side, outer[LINES__PANEL_LOOPS]; /* strides of that array, in complex elements */
};

/* Direct stores of complex lines: results are written to several targets, such as arrays of other devices. */
enum { LINES__PANEL_TARGETS = 8 };

/* A target: elements `begin` to `end` - 1 of all lines, with strides in complex elements. */
struct lines__panel_target {
    unsigned begin, end;
    void *base; /* address of element `begin` of the first line */
    long long axis, side, outer[LINES__PANEL_LOOPS];
};

/* Targets in the order of their elements; those behind the last element are not read. */
struct lines__panel_targets {
    struct lines__panel_target target[LINES__PANEL_TARGETS];
};

/* Work of kernels beside transforms: none, all members NULL, or one of these. */
struct lines__operation;
struct lines__panel_work {
    /* in the modes of one array, or none of zero elements; in and out may be the same one if its lines begin at the
     * same places on both sides */
    const struct lines__panel_gap *gap;
    const struct lines__panel_targets *targets; /* in the place of `out`; copied */
    /* round trips of complex lines: transforms, an operator on the modes (operation.h), and transforms back. The
     * direction of the panels is backward; the same elements are filled before and after. Axes of the operation are the
     * lines, the side, and the outer loops; its arrays and strides are not used. */
    const struct lines__operation *operation;
};

/* Nonzero if pairs of floats can be written to all targets in one access. */
int lines__panels_are_adjacent(const struct lines__panels *panels,
                               const struct lines__panel_targets *targets);

/* Enqueues transforms, in place or not; `roots` is in memory of the device. Returns a cudaError_t. */
int lines__panels_launch(const struct lines__panels *panels, const struct lines__panel_work *work,
                         const void *in, void *out, const void *roots, void *stream);

#ifdef __cplusplus
}
#endif

#endif
