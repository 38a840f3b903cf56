/* SPDX-License-Identifier: BSD-3-Clause */
/* The main function of all benchmark programs, and their command line, a table of options. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include "failure.h"
#include "space.h"

enum bench_option_kind {
    BENCH_FLAG,   /* no value; sets an int to 1 */
    BENCH_NUMBER, /* one whole number into an int */
    BENCH_LIST,   /* whole numbers with separators into a bench_list */
    BENCH_CHOICE, /* one of some words; its place goes into an int */
    BENCH_TEXT    /* any text into a const char * */
};

typedef struct bench_list {
    int count;
    int values[REDIST_MAX_NDIMS];
} bench_list;

typedef struct bench_option {
    const char *name; /* without its dashes */
    enum bench_option_kind kind;
    void *value;
    const char *argument;     /* what the help calls the value; not for flags and choices */
    const char *const *words; /* of a choice, NULL behind the last */
    const char *help;
    int minimum;            /* the least value of a number or of each list entry */
    int least, most;        /* how many entries a list may have */
    const char *separators; /* between list entries */
} bench_option;

typedef struct bench_program {
    const char *name;
    const char *summary;
    const bench_option *options;
    int noptions;
    const char *notes; /* printed after the options */
    const int *space;  /* what --space says, which has to be there; NULL = `run` looks at it */
    int (*run)(const struct bench_program *program); /* returns the exit code */
} bench_program;

/* Options of most programs. */
typedef struct bench_settings {
    bench_list shape;
    const char *method;
    int space;
    int memory;
    int iterations;
    int warmup;
    int seed;
    int json;
    int samples;
} bench_settings;

#define BENCH_SETTINGS_DEFAULT                                                                     \
    { {3, {256, 256, 256}}, "auto", 0, 0, 20, 3, 1, 0, 0 }

/* Lines of an option table; clang-format would spread them over three times the space. */
/* clang-format off */
#define BENCH_SHAPE_UP_TO(settings, ndims)                                                         \
    {.name = "shape", .kind = BENCH_LIST, .value = &(settings)->shape, .argument = "N,N,...",    \
     .help = "global extents (256,256,256)", .minimum = 1, .least = 1, .most = ndims,              \
     .separators = ","}
#define BENCH_SHAPE_OPTION(settings) BENCH_SHAPE_UP_TO(settings, REDIST_MAX_NDIMS - 1)
#define BENCH_GRID_UP_TO(list, ndims, text)                                                        \
    {.name = "grid", .kind = BENCH_LIST, .value = list, .argument = "P or PxP...", .help = text,  \
     .least = 1, .most = ndims, .separators = "x,"}
#define BENCH_METHOD_OPTION(settings)                                                              \
    {.name = "method", .kind = BENCH_TEXT, .value = &(settings)->method, .argument = "METHOD",   \
     .help = "all, or names separated by commas: auto, alltoallw, "                               \
             "p2p-type, p2p, alltoallv, direct (auto)"}
#define BENCH_SPACE_OPTION(settings)                                                               \
    {.name = "space", .kind = BENCH_CHOICE, .value = &(settings)->space, .words = bench_spaces,  \
     .help = "where arrays live (host)"}
#define BENCH_ROUNDS_OPTIONS(settings)                                                             \
    {.name = "iters", .kind = BENCH_NUMBER, .value = &(settings)->iterations, .argument = "N",   \
     .help = "measured rounds (20)", .minimum = 1},                                                \
    {.name = "warmup", .kind = BENCH_NUMBER, .value = &(settings)->warmup, .argument = "N",      \
     .help = "rounds before these (3)"}
#define BENCH_JSON_OPTIONS(settings)                                                               \
    {.name = "json", .kind = BENCH_FLAG, .value = &(settings)->json,                             \
     .help = "one JSON object a line, no table"},                                                  \
    {.name = "samples", .kind = BENCH_FLAG, .value = &(settings)->samples,                       \
     .help = "with --json: the time of every round too"}
#define BENCH_COMMON_OPTIONS(settings)                                                             \
    BENCH_SPACE_OPTION(settings),                                                                  \
    {.name = "memory", .kind = BENCH_CHOICE, .value = &(settings)->memory,                       \
     .words = bench_memories,                                                                      \
     .help = "arrays from redist_alloc or malloc; alloc-a, alloc-b: "                             \
             "only the first or second array from redist_alloc (alloc)"},                          \
    BENCH_ROUNDS_OPTIONS(settings),                                                                \
    {.name = "seed", .kind = BENCH_NUMBER, .value = &(settings)->seed, .argument = "N",          \
     .help = "of the contents of the arrays (1)"},                                                 \
    BENCH_JSON_OPTIONS(settings)
/* clang-format on */

/* Runs a program: MPI, the command line, the space, `run`. On rank 0 --help prints the help to stdout, and a mistake
 * is explained on stderr. All ranks have the same command line and come to the same result. Returns the exit code. */
int bench_main(const bench_program *program, int argc, char **argv);

/* Defines the main function of a program with a table `options`. */
#define BENCH_MAIN(name, summary, notes, space, run)                                               \
    int main(int argc, char **argv) {                                                              \
        static const bench_program program = {                                                     \
            name, summary, options, sizeof options / sizeof *options, notes, space, run};          \
        return bench_main(&program, argc, argv);                                                   \
    }

/* Explains on rank 0 what is wrong with the values that were given; returns 2, the exit code. */
int bench_refuse(const bench_program *program, const char *format, ...) REDIST_PRINTF(2, 3);

/* Refuses a --grid that does not fit so many axes or ranks: 2; else 0. */
int bench_refuse_grid(const bench_program *program, const bench_list *grid, int ndims);

/* The extents of the shape. */
void bench_sizes(const bench_settings *settings, redist_index sizes[]);

#endif
