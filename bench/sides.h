/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of the axes, and how each side of a transform lies, as the command line says. */
#ifndef BENCH_SIDES_H
#define BENCH_SIDES_H

#include "options.h"
#include "transform.h"

typedef struct bench_sides {
    const char *axes; /* a word for each axis; NULL = one kind for all */
    bench_list split[2], memory_order[2];
    bench_list retained; /* modes of each axis; empty = all */
    bench_list filled;   /* points of each axis of the physical side; empty = all */
    int blocks;          /* as enum fftnd_blocks */
    int bricks;          /* both sides are in boxes */
} bench_sides;

extern const char *const bench_blocks[];

/* Lines of an option table; clang-format would spread them over three times the space. */
/* clang-format off */
#define BENCH_SIDE_LIST(option, list, text)                                                        \
    {.name = option, .kind = BENCH_LIST, .value = list, .argument = "A,B...", .help = text,        \
     .least = 1, .most = REDIST_MAX_NDIMS - 1, .separators = ","}
#define BENCH_SIDES_OPTIONS(sides)                                                                 \
    {.name = "axes", .kind = BENCH_TEXT, .value = &(sides)->axes, .argument = "KIND,...",          \
     .help = "of each axis instead of --kind: none, c2c, r2c (the last), "                         \
             "dct1..4, dst1..4, r2hc, hc2r, dht"},                                                 \
    {.name = "blocks", .kind = BENCH_CHOICE, .value = &(sides)->blocks, .words = bench_blocks,     \
     .help = "of both sides (balanced)"},                                                          \
    {.name = "bricks", .kind = BENCH_FLAG, .value = &(sides)->bricks,                              \
     .help = "both sides in boxes, split along all axes alike"},                                   \
    BENCH_SIDE_LIST("split-in", &(sides)->split[0], "axes that --grid splits on the physical side"), \
    BENCH_SIDE_LIST("split-out", &(sides)->split[1], "and on the spectral side"),                  \
    BENCH_SIDE_LIST("memory-in", &(sides)->memory_order[0],                                        \
                    "axes of the physical side from the slowest in memory (0,1..)"),               \
    BENCH_SIDE_LIST("memory-out", &(sides)->memory_order[1], "and of the spectral side (0,1..)"),  \
    {.name = "retained", .kind = BENCH_LIST, .value = &(sides)->retained, .argument = "N,N,...",    \
     .help = "modes of each axis that are retained (all); results are not checked then",           \
     .least = 1, .most = 1 << 30, .separators = ","},                                              \
    {.name = "filled", .kind = BENCH_LIST, .value = &(sides)->filled, .argument = "N,N,...",        \
     .help = "points of each axis that are not zero (all); results are not checked then",          \
     .least = 1, .most = 1 << 30, .separators = ","}
/* clang-format on */

/* Sets kind and axes of a problem whose shape is set. Returns 0, or 2 after an explanation. */
int bench_sides_read(const bench_program *program, const bench_sides *sides,
                     bench_problem *problem);

/* What options have of it; the boxes are in static memory. */
void bench_sides_fill(const bench_sides *sides, const bench_problem *problem,
                      fftnd_options *options);

#endif
