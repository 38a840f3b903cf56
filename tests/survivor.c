/* SPDX-License-Identifier: BSD-3-Clause */
#include "survivor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { AXES = 3, EXTENT = 12 };

static const redist_index shape[AXES] = {EXTENT, EXTENT, EXTENT};
static redist_index sizes[2][AXES] = {{EXTENT, EXTENT, EXTENT}, {EXTENT, EXTENT, EXTENT}};

struct survivor survivor = {.comm = MPI_COMM_WORLD, .space = REDIST_SPACE_HOST};

/* ---------------------------------------------------------------- beginning */

void survivor_begin(int argc, char **argv, int expected, const char *usage) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &survivor.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &survivor.nranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc == expected + 1)
        return;
    fprintf(stderr, "usage: %s\n", usage);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

void survivor_must(int code, const char *what) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", survivor.rank, what, redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

void survivor_allocate(void) {
    const size_t bytes = 4 * sizeof(double) * EXTENT * EXTENT * (EXTENT + (size_t)survivor.nranks);
    redist_index begin;
    redist_decompose(EXTENT, survivor.nranks, survivor.rank, &sizes[0][1], &begin);
    redist_decompose(EXTENT, survivor.nranks, survivor.rank, &sizes[1][0], &begin);
    for (int i = 0; i < 2; i++)
        survivor_must(redist_alloc_in(MPI_COMM_WORLD, survivor.space, bytes, &survivor.arrays[i]),
                      "redist_alloc_in");
}

/* ---------------------------------------------------------------- plans */

/* Options of both libraries */
#define SET_OPTIONS(options, estimate)                                                             \
    do {                                                                                           \
        (options).method = survivor.method;                                                        \
        (options).space = survivor.space;                                                          \
        (options).stream = survivor.stream;                                                        \
        (options).asynchronous = survivor.asynchronous;                                            \
        (options).wait_seconds = survivor.wait_seconds;                                            \
        if (survivor.estimates)                                                                    \
            (options).effort = estimate;                                                           \
    } while (0)

static int make_exchange(enum redist_tiles tiles) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    SET_OPTIONS(options, REDIST_ESTIMATE);
    options.tiles = tiles;
    return redist_plan_exchange(survivor.comm, MPI_DOUBLE, AXES, sizes[0], survivor.arrays[0], 0,
                                sizes[1], survivor.arrays[1], 1, &options, &survivor.exchange);
}

/* With ghosts the points are split along another axis than in the chain: forward adds and backward fills them. */
static int make_on_grid(int grid_ndims, const redist_halo *ghosts) {
    static const int split[AXES] = {1};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    SET_OPTIONS(options, FFTND_ESTIMATE);
    options.grid_ndims = grid_ndims;
    options.ghosts = ghosts;
    options.accumulate_ghosts = ghosts != NULL;
    options.split[FFTND_PHYSICAL] = ghosts != NULL ? split : NULL;
    return fftnd_plan_create(MPI_COMM_WORLD, AXES, shape, FFTND_C2C, FFTND_DOUBLE, &options,
                             &survivor.transform);
}

int survivor_make_whole(void) {
    return make_exchange(REDIST_WHOLE);
}

int survivor_make_put(void) {
    return make_exchange(REDIST_PUT);
}

int survivor_make_transform(void) {
    return make_on_grid(survivor.grid_ndims, NULL);
}

int survivor_make_pencils(void) {
    return make_on_grid(2, NULL);
}

int survivor_make_ghosts(void) {
    redist_halo halo = REDIST_HALO_DEFAULT;
    for (int i = 0; i < AXES; i++)
        halo.low[i] = halo.high[i] = halo.periodic[i] = 1;
    return make_on_grid(1, &halo);
}

int survivor_make_operator(void) {
    int code = survivor_make_transform();
    return code == REDIST_OK ? fftnd_operator_create(survivor.transform, FFTND_INVERSE_LAPLACIAN,
                                                     NULL, &survivor.laplacian)
                             : code;
}

int survivor_execute(int direction) {
    return redist_plan_execute(survivor.exchange, direction);
}

/* Array A as one tile */
int survivor_put(int direction) {
    const redist_index begin[AXES] = {0};
    const ptrdiff_t item = sizeof(double),
                    stride[AXES] = {item * sizes[0][1] * sizes[0][2], item * sizes[0][2], item};
    (void)direction;
    int code = redist_plan_put_begin(survivor.exchange, survivor.arrays[1]);
    if (code != REDIST_OK)
        return code;
    code = redist_plan_put(survivor.exchange, begin, sizes[0], survivor.arrays[0], stride);
    int ended = redist_plan_put_end(survivor.exchange);
    return code != REDIST_OK ? code : ended;
}

int survivor_transform(int direction) {
    return direction ? fftnd_backward(survivor.transform, survivor.arrays[1], survivor.arrays[0])
                     : fftnd_forward(survivor.transform, survivor.arrays[0], survivor.arrays[1]);
}

int survivor_apply(int direction) {
    return fftnd_apply(survivor.transform, survivor.laplacian, survivor.arrays[direction],
                       survivor.arrays[!direction]);
}

int survivor_release(void) {
    int code = redist_plan_free(&survivor.exchange);
    (void)fftnd_operator_free(&survivor.laplacian);
    (void)fftnd_plan_free(&survivor.transform);
    return code;
}

void survivor_release_arrays(void) {
    for (int i = 0; i < 2; i++)
        (void)redist_free(&survivor.arrays[i]);
}

const struct survivor_work *survivor_find(const struct survivor_work works[], const char *name) {
    for (; works->name != NULL; works++)
        if (strcmp(name, works->name) == 0)
            return works;
    fprintf(stderr, "no work '%s'\n", name);
    exit(EXIT_FAILURE);
}

/* ---------------------------------------------------------------- who is left */

/* Only what a signal handler may call. */
static void time_is_up(int number) {
    static const char text[] = "time is up: a rank waits for one that is gone, or its device\n";
    (void)number;
    ssize_t written = write(STDOUT_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

static void die(int number) {
    (void)number;
    raise(SIGKILL);
}

void survivor_die_after(long microseconds) {
    const struct itimerval timer = {.it_value = {microseconds / 1000000, microseconds % 1000000}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void survivor_watch(unsigned seconds) {
    const char *text = getenv("REDIST_TEST_LIMIT");
    signal(SIGUSR1, SIG_IGN); /* what MPICH's launcher sends to those that are left */
    signal(SIGPIPE, SIG_IGN); /* it may also be gone when they print */
    signal(SIGALRM, time_is_up);
    alarm(text != NULL ? (unsigned)atol(text) : seconds);
}

static int count_lines(const char *file) {
    FILE *reports = fopen(file, "r");
    int lines = 0;
    for (int c; reports != NULL && (c = fgetc(reports)) != EOF;)
        lines += c == '\n';
    if (reports != NULL)
        fclose(reports);
    return lines;
}

void survivor_report(const char *file, const char *line, int expected) {
    FILE *reports = fopen(file, "a");
    if (reports != NULL) {
        fputs(line, reports);
        fclose(reports);
    }
    while (count_lines(file) < expected)
        usleep(5000);
}
