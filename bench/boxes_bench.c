/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boxes-bench: what boxes on both sides add to a transform, in exchanges that they need: complex transforms of the
 * chain's own sides, the same between boxes that split all axes alike, and the exchanges between these and the chain's,
 * by themselves.
 */
#include "options.h"
#include "sides.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct request {
    bench_settings settings;
    bench_list grid;
    int precision, plan_seconds;
};

static const char *const precisions[] = {"double", "float", NULL};

/* A plan of the chain, or with boxes, and its arrays; side 0 is physical. */
struct transform {
    fftnd_plan *plan;
    fftnd_layout layouts[2];
    void *arrays[2];
};

/* Between the boxes and what the chain has of each side; NULL where these are the same ones. */
struct exchanges {
    redist_plan *plans[2];
};

static const bench_space *space;

static void open_transform(const struct request *request, const bench_problem *problem,
                           const bench_sides *sides, struct transform *transform) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.grid_ndims = request->grid.count;
    options.grid = request->grid.values;
    options.method = request->settings.method;
    options.space = request->settings.space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    options.mapped_arrays = options.overwrite_input = 1;
    options.plan_seconds = request->plan_seconds;
    bench_sides_fill(sides, problem, &options);
    bench_must(fftnd_plan_create(MPI_COMM_WORLD, problem->ndims, problem->sizes, problem->kind,
                                 problem->precision, &options, &transform->plan));
    for (int side = 0; side < 2; side++) {
        transform->layouts[side] = FFTND_LAYOUT_DEFAULT;
        bench_must(
            fftnd_plan_layout(transform->plan, (enum fftnd_side)side, &transform->layouts[side]));
        transform->arrays[side] =
            space->allocate(MPI_COMM_WORLD, transform->layouts[side].bytes, 1);
    }
}

static void close_transform(struct transform *transform) {
    bench_must(fftnd_plan_free(&transform->plan));
    for (int side = 0; side < 2; side++)
        space->release(transform->arrays[side], 1);
}

static redist_box box_of(const fftnd_layout *layout) {
    redist_box box = REDIST_BOX_DEFAULT;
    ptrdiff_t stride = 1;
    for (int axis = layout->ndims - 1; axis >= 0; axis--) {
        box.start[axis] = layout->start[axis];
        box.count[axis] = layout->count[axis];
        if (layout->stride[axis] != stride && layout->count[axis] > 1)
            bench_abort("boxes-bench: a side of the chain is not in C order");
        stride *= layout->count[axis];
    }
    return box;
}

static int are_equal(const redist_box *a, const redist_box *b) {
    int differs = memcmp(a, b, sizeof *a) != 0;
    MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return !differs;
}

static void open_exchange(const struct request *request, const bench_problem *problem, int side,
                          const struct transform *chain, const struct transform *boxes,
                          struct exchanges *exchanges) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    const redist_box from = box_of(&boxes->layouts[side]), to = box_of(&chain->layouts[side]);
    options.method = request->settings.method;
    options.space = request->settings.space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    exchanges->plans[side] = NULL;
    if (!are_equal(&from, &to))
        bench_must(redist_plan_boxes(MPI_COMM_WORLD,
                                     problem->precision == FFTND_DOUBLE ? MPI_C_DOUBLE_COMPLEX
                                                                        : MPI_C_FLOAT_COMPLEX,
                                     problem->ndims, problem->sizes, &from, boxes->arrays[side],
                                     &to, chain->arrays[side], &options, &exchanges->plans[side]));
}

/* ---------------------------------------------------------------- what is timed */

static void transform_pair(void *context) {
    struct transform *transform = context;
    bench_must(fftnd_forward(transform->plan, transform->arrays[0], transform->arrays[1]));
    bench_must(fftnd_backward(transform->plan, transform->arrays[1], transform->arrays[0]));
    space->synchronise();
}

static void exchange_pair(void *context) {
    const struct exchanges *exchanges = context;
    for (int side = 0; side < 2; side++)
        for (int direction = 0; exchanges->plans[side] != NULL && direction < 2; direction++)
            bench_must(redist_plan_execute(exchanges->plans[side], direction));
    space->synchronise();
}

static void print(const bench_candidate candidates[3], const struct exchanges *exchanges) {
    static const char *const names[] = {"chain", "boxes", "exchanges"};
    double ms[3];
    for (int i = 0; i < 3; i++) {
        ms[i] = bench_median_ms(&candidates[i], BENCH_WHOLE);
        printf("%-10s %9.3f ms, least %9.3f ms\n", names[i], ms[i],
               bench_min_ms(&candidates[i], BENCH_WHOLE));
    }
    if (exchanges->plans[0] == NULL && exchanges->plans[1] == NULL)
        printf("the boxes are those of the chain\n");
    else
        printf("boxes take %.2f of the chain, and add %.2f of the exchanges that they need\n",
               ms[1] / ms[0], (ms[1] - ms[0]) / ms[2]);
}

static void measure(const bench_program *program, const struct request *request) {
    bench_problem problem = {.ndims = request->settings.shape.count,
                             .kind = FFTND_C2C,
                             .precision = (enum fftnd_precision)request->precision,
                             .batch = 1};
    bench_sides none = {.bricks = 0}, bricks = {.bricks = 1};
    struct transform chain, boxes;
    struct exchanges exchanges;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench_sizes(&request->settings, problem.sizes);
    (void)bench_sides_read(program, &none, &problem);
    open_transform(request, &problem, &none, &chain);
    open_transform(request, &problem, &bricks, &boxes);
    for (int side = 0; side < 2; side++)
        open_exchange(request, &problem, side, &chain, &boxes, &exchanges);
    bench_candidate candidates[] = {{.context = &chain, .nsteps = 1, .steps = {transform_pair}},
                                    {.context = &boxes, .nsteps = 1, .steps = {transform_pair}},
                                    {.context = &exchanges, .nsteps = 1, .steps = {exchange_pair}}};
    bench_rounds(MPI_COMM_WORLD, candidates, 3, request->settings.warmup,
                 request->settings.iterations);
    if (rank == 0)
        print(candidates, &exchanges);
    bench_forget(candidates, 3);
    for (int side = 0; side < 2; side++)
        if (exchanges.plans[side] != NULL)
            bench_must(redist_plan_free(&exchanges.plans[side]));
    close_transform(&boxes);
    close_transform(&chain);
}

/* ---------------------------------------------------------------- command line */

static struct request request = {BENCH_SETTINGS_DEFAULT, .grid = {1, {0}}};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "precision", .kind = BENCH_CHOICE, .value = &request.precision,
     .words = precisions, .help = "of all numbers (double)"},
    BENCH_GRID_UP_TO(&request.grid, REDIST_MAX_NDIMS - 1, "process grid of the chain (0)"),
    {.name = "plan-seconds", .kind = BENCH_NUMBER, .value = &request.plan_seconds,
     .argument = "N", .help = "to try configurations, 0 = the library's default (0)"},
    BENCH_METHOD_OPTION(&request.settings),
    BENCH_COMMON_OPTIONS(&request.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    space = bench_space_at(request.settings.space);
    measure(program, &request);
    return 0;
}

BENCH_MAIN("boxes-bench", "times what boxes on both sides add to a transform", "",
           &request.settings.space, run)
