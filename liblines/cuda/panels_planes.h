/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms along two axes in one sweep over the memory of a CUDA device. A block of threads transforms a plane, or
 * some neighbouring ones, or a cluster of blocks does, which read each other's shared memory. Long lines are such
 * planes: with element i of R * C in row i % R and column i / R, the columns are twiddled after the transform of the
 * rows, and mode k is in row k / C and column k % C.
 */
#ifndef LINES__PANELS_PLANES_H
#define LINES__PANELS_PLANES_H

#include "panels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of planes: axis 1 is contiguous; planes are neighbours. A variant is the logarithm of a number of blocks, GUESS
 * one that exists. */
enum { LINES__PLANES_CONTIGUOUS, LINES__PLANES_SIDE_BY_SIDE };
enum { LINES__PLANES_VARIANTS = 4, LINES__PLANES_THREADS = 256 };

/* Variants of lines SIDE_BY_SIDE: those of panels, then these. */
enum { LINES__LINE_VARIANTS = LINES__PANEL_VARIANTS + LINES__PLANES_VARIANTS };

/* Element e of lines of axis 0 is in block e % cluster. Element e of lines of axis 1, with n = radix[1][0] *
 * radix[1][1], is at e / radix[1][1] * group + e % radix[1][1] in shared memory. */
struct lines__planes {
    int is_double, backward, is_line;
    double scale;                            /* results are multiplied by it */
    struct lines__panel_divisor radix[2][2]; /* of both radix passes of each axis */
    unsigned log_cluster;
    struct lines__panel_divisor per_block; /* rows of radix[0][1] that a block has */
    unsigned group, pitch;                 /* pitch: from a line of axis 1 to the next */
    size_t shared_bytes;
    struct lines__panel_divisor wide, sides; /* neighbours in a cluster; clusters along the side */
    struct lines__panel_loop axis[2], side, outer[LINES__PANEL_LOOPS];
    struct lines__panel_divisor counts[LINES__PANEL_LOOPS]; /* of `outer` */
    unsigned nplanes;
};

/* Shapes planes of n[0] lines of n[1] elements; 0 = no planes: a length is no product of two radices, or they exceed
 * `shared_bytes` of each block. Loops are not set. */
int lines__planes_shape(struct lines__planes *planes, int variant, const long long n[2],
                        int is_double, int kind, size_t shared_bytes);

/* The same for lines of n elements SIDE_BY_SIDE. */
int lines__planes_shape_lines(struct lines__planes *planes, int variant, long long n, int is_double,
                              size_t shared_bytes);

/* Sets the loops: `side` are neighbours of SIDE_BY_SIDE, axis[1] is the whole line of lines. Returns 0 if a launch
 * cannot have so many. */
int lines__planes_repeat(struct lines__planes *planes, const struct lines__panel_loop axis[2],
                         const struct lines__panel_loop *side, int nouter,
                         const struct lines__panel_loop outer[]);

/* Writes the roots of one: of axis 0, of axis 1, then of a line. */
void lines__planes_roots(const struct lines__planes *planes, void *roots);
size_t lines__planes_roots_bytes(const struct lines__planes *planes);

/* Number of variants on the current device, 1 without clusters. */
int lines__planes_count_variants(void);

/* Enqueues the transforms, as lines__panels_launch. */
int lines__planes_launch(const struct lines__planes *planes, const void *in, void *out,
                         const void *roots, void *stream);

#ifdef __cplusplus
}
#endif

#endif
