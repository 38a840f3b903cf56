/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms along two axes in one pass over the memory of a CUDA device: a block of threads has a plane, or some that
 * are neighbours in memory, or a cluster of blocks has, which read each other's shared memory. Long lines are such
 * planes: with element i of R * C in row i % R and column i / R, the columns are twiddled after the transform of the
 * rows, and mode k is in row k / C and column k % C.
 */
#ifndef LINES__PANELS_PLANES_H
#define LINES__PANELS_PLANES_H

#include "panels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of planes: axis 1 is contiguous; there are neighbours, which are. A variant is a number of blocks, a power of
 * two, GUESS the one that should do. */
enum { LINES__PLANES_CONTIGUOUS, LINES__PLANES_SIDE_BY_SIDE };
enum { LINES__PLANES_VARIANTS = 4, LINES__PLANES_THREADS = 256 };

/* Variants of lines SIDE_BY_SIDE: those of panels, then these. */
enum { LINES__LINE_VARIANTS = LINES__PANEL_VARIANTS + LINES__PLANES_VARIANTS };

/* Element e of lines of axis 0 is in block e % cluster. That of lines of axis 1, with n = radix[1][0] * radix[1][1], is
 * at e / radix[1][1] * group + e % radix[1][1] in shared memory. */
struct lines__planes {
    int is_double, backward, is_line;
    struct lines__panel_divisor radix[2][2]; /* of the first and of the second pass of each axis */
    unsigned log_cluster;
    struct lines__panel_divisor per_block; /* rows of radix[0][1] that a block has */
    unsigned group, pitch;                 /* pitch: from a line of axis 1 to the next */
    size_t shared_bytes;
    struct lines__panel_divisor wide,
        sides; /* neighbours in a cluster; clusters beside each other */
    struct lines__panel_loop axis[2], side, outer[LINES__PANEL_LOOPS];
    struct lines__panel_divisor counts[LINES__PANEL_LOOPS]; /* of `outer` */
    unsigned nplanes;
};

/* How planes of n[0] lines of n[1] elements are transformed; 0 = not at all: a length is no product of two radices, or
 * they do not fit the `shared_bytes` of each block. Loops are not set. */
int lines__planes_shape(struct lines__planes *planes, int variant, const long long n[2],
                        int is_double, int kind, size_t shared_bytes);

/* The same of lines of n elements SIDE_BY_SIDE. */
int lines__planes_shape_lines(struct lines__planes *planes, int variant, long long n, int is_double,
                              size_t shared_bytes);

/* Sets the loops: of planes SIDE_BY_SIDE `side` are the neighbours; of lines axis[1] is all of them. Returns 0 if there
 * are too many for a launch. */
int lines__planes_repeat(struct lines__planes *planes, const struct lines__panel_loop axis[2],
                         const struct lines__panel_loop *side, int nouter,
                         const struct lines__panel_loop outer[]);

/* The roots of one of axis 0, then of axis 1, then of a line. */
void lines__planes_roots(const struct lines__planes *planes, void *roots);
size_t lines__planes_roots_bytes(const struct lines__planes *planes);

/* How many variants the current device has: without clusters one. */
int lines__planes_count_variants(void);

/* Enqueues the transforms, as lines__panels_launch. */
int lines__planes_launch(const struct lines__planes *planes, const void *in, void *out,
                         const void *roots, void *stream);

#ifdef __cplusplus
}
#endif

#endif
