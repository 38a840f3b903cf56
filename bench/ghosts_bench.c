/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ghosts-bench: backward transforms of a field whose array has ghosts, which they fill; beside them the same without
 * ghosts, with ghosts left alone, and with ghosts filled by a plan of redist_plan_halo afterwards.
 */
#include "options.h"
#include "space.h"
#include "timing.h"

#include <fftnd.h>
#include <redist_halo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct request {
    bench_settings settings;
    bench_list grid;
    int kind, width, corners, asynchronous;
};

/* One way to get the field: a transform, and the ghosts of its own plan if it has one. */
struct way {
    const struct request *request;
    fftnd_plan *plan;
    redist_plan *halo;
    void *spectral, *physical;
};

enum { WITHOUT, ALONE, FILLED, AFTERWARDS, WAYS };

static const char *const kinds[] = {"c2c", "r2c", NULL};
static const bench_space *space;

static int on_host(void) {
    return space == bench_space_at(0);
}

static redist_halo widths(const struct request *request) {
    redist_halo halo = REDIST_HALO_DEFAULT;
    for (int i = 0; i < request->settings.shape.count; i++) {
        halo.low[i] = halo.high[i] = request->width;
        halo.periodic[i] = 1;
    }
    halo.corners = request->corners;
    return halo;
}

static void *allocate(size_t bytes) {
    return space->allocate(MPI_COMM_WORLD, bytes, 1);
}

/* The array of all ways except the first one has ghosts, and the transform of the third fills them. */
static void plan_transform(struct way *way, int index) {
    const struct request *request = way->request;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    const redist_halo halo = widths(request);
    redist_index sizes[REDIST_MAX_NDIMS];
    int grid[REDIST_MAX_NDIMS] = {0};
    bench_sizes(&request->settings, sizes);
    for (int i = 0; i < request->grid.count; i++)
        grid[i] = (int)request->grid.values[i];
    options.space = on_host() ? REDIST_SPACE_HOST : REDIST_SPACE_CUDA;
    options.mapped_arrays = 1;
    options.skip_agreement = request->asynchronous;
    options.asynchronous = request->asynchronous;
    options.grid_ndims = request->grid.count;
    options.grid = request->grid.count > 0 ? grid : NULL;
    options.ghosts = index != WITHOUT ? &halo : NULL;
    options.fill_ghosts = index == FILLED;
    bench_must(fftnd_plan_create(MPI_COMM_WORLD, request->settings.shape.count, sizes,
                                 (enum fftnd_kind)request->kind, FFTND_DOUBLE, &options,
                                 &way->plan));
    bench_must(fftnd_plan_layout(way->plan, FFTND_SPECTRAL, &layout));
    way->spectral = allocate(layout.bytes);
    bench_must(fftnd_plan_layout(way->plan, FFTND_PHYSICAL, &layout));
    way->physical = allocate(layout.bytes);
}

/* Returns this rank's part of the field, in an array with ghosts. */
static redist_box place(const struct way *way, const fftnd_layout *layout) {
    const redist_halo halo = widths(way->request);
    redist_box box = REDIST_BOX_DEFAULT;
    for (int i = 0; i < layout->ndims; i++) {
        box.start[i] = layout->start[i];
        box.count[i] = layout->count[i];
        box.offset[i] = halo.low[i];
        box.extent[i] = i == 0 ? halo.low[0] + layout->count[0] + halo.high[0]
                               : layout->stride[i - 1] / layout->stride[i];
    }
    return box;
}

static void plan_halo(struct way *way) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    bench_must(fftnd_plan_layout(way->plan, FFTND_PHYSICAL, &layout));
    const redist_box box = place(way, &layout);
    const redist_halo halo = widths(way->request);
    options.space = on_host() ? REDIST_SPACE_HOST : REDIST_SPACE_CUDA;
    options.asynchronous = way->request->asynchronous;
    bench_must(redist_plan_halo(
        MPI_COMM_WORLD, way->request->kind == 0 ? MPI_C_DOUBLE_COMPLEX : MPI_DOUBLE, layout.ndims,
        layout.sizes, &box, way->physical, &halo, &options, &way->halo));
}

static void run(void *data) {
    struct way *way = data;
    bench_must(fftnd_backward(way->plan, way->spectral, way->physical));
    if (way->halo != NULL)
        bench_must(redist_plan_execute(way->halo, REDIST_FILL));
    if (way->request->asynchronous)
        space->synchronise();
}

/* ---------------------------------------------------------------- contents */

static double *allocate_numbers(size_t bytes) {
    double *numbers = malloc(bytes + 1);
    if (numbers == NULL)
        bench_abort("no memory for %zu bytes", bytes);
    return numbers;
}

static void fill(const struct way *way) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    bench_must(fftnd_plan_layout(way->plan, FFTND_SPECTRAL, &layout));
    double *values = allocate_numbers(layout.bytes);
    for (size_t i = 0; i < layout.bytes / sizeof *values; i++)
        values[i] = (double)((i + (size_t)layout.start[0]) % 1009) / 1009 - 0.5;
    space->copy(way->spectral, values, layout.bytes);
    free(values);
}

/* Counts the numbers in which two arrays with ghosts differ, of all ranks. */
static long long count_differences(const struct way *way, const struct way *other) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    long long wrong = 0;
    bench_must(fftnd_plan_layout(way->plan, FFTND_PHYSICAL, &layout));
    double *values[2] = {allocate_numbers(layout.bytes), allocate_numbers(layout.bytes)};
    space->copy(values[0], way->physical, layout.bytes);
    space->copy(values[1], other->physical, layout.bytes);
    for (size_t i = 0; i < layout.bytes / sizeof *values[0]; i++)
        wrong += memcmp(&values[0][i], &values[1][i], sizeof *values[0]) != 0;
    free(values[0]);
    free(values[1]);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return wrong;
}

/* ---------------------------------------------------------------- all of them */

static void open_way(struct way *way, int index) {
    plan_transform(way, index);
    if (index == AFTERWARDS)
        plan_halo(way);
    fill(way);
}

static void close_way(struct way *way) {
    bench_must(redist_plan_free(&way->halo));
    bench_must(fftnd_plan_free(&way->plan));
    space->release(way->spectral, 1);
    space->release(way->physical, 1);
}

static int measure(const struct request *request) {
    static const char *const names[] = {"without ghosts", "ghosts left alone", "ghosts filled",
                                        "filled afterwards"};
    struct way ways[WAYS];
    bench_candidate candidates[WAYS];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < WAYS; i++) {
        ways[i] = (struct way){.request = request};
        open_way(&ways[i], i);
        candidates[i] = (bench_candidate){.context = &ways[i], .nsteps = 1, .steps = {run}};
    }
    bench_rounds(MPI_COMM_WORLD, candidates, WAYS, request->settings.warmup,
                 request->settings.iterations);
    for (int i = 0; i < WAYS && rank == 0; i++)
        printf("%-18s %9.4f ms, least %9.4f ms, %.3f of without\n", names[i],
               bench_median_ms(&candidates[i], BENCH_WHOLE),
               bench_min_ms(&candidates[i], BENCH_WHOLE),
               bench_median_ms(&candidates[i], BENCH_WHOLE) /
                   bench_median_ms(&candidates[0], BENCH_WHOLE));
    long long wrong = count_differences(&ways[FILLED], &ways[AFTERWARDS]);
    if (rank == 0)
        printf("%lld numbers of the last two differ\n", wrong);
    bench_forget(candidates, WAYS);
    for (int i = 0; i < WAYS; i++)
        close_way(&ways[i]);
    return wrong != 0;
}

/* ---------------------------------------------------------------- command line */

static struct request request = {BENCH_SETTINGS_DEFAULT, .kind = 1, .width = 2};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "kind", .kind = BENCH_CHOICE, .value = &request.kind, .words = kinds, .help = "(r2c)"},
    BENCH_GRID_UP_TO(&request.grid, REDIST_MAX_NDIMS - 1, "process grid, 0 = choose (0)"),
    {.name = "width", .kind = BENCH_NUMBER, .value = &request.width, .argument = "N",
     .help = "ghosts on each side of each axis (2)", .minimum = 1},
    {.name = "corners", .kind = BENCH_FLAG, .value = &request.corners,
     .help = "with edges and corners, not only faces"},
    {.name = "asynchronous", .kind = BENCH_FLAG, .value = &request.asynchronous,
     .help = "on devices: options.asynchronous, waited for once a round"},
    BENCH_SPACE_OPTION(&request.settings),
    BENCH_ROUNDS_OPTIONS(&request.settings)};
/* clang-format on */

static int run_ways(const bench_program *program) {
    (void)program;
    space = bench_space_at(request.settings.space);
    return measure(&request);
}

BENCH_MAIN("ghosts-bench", "times backward transforms that fill ghosts",
           "\nexit code: 0; 1 if a ghost is wrong; 2 for a bad command line\n",
           &request.settings.space, run_ways)
