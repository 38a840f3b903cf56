/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heffte-bench: calls as molecular dynamics programs make them, from bricks to bricks with a workspace, several in a
 * row: through heFFTe's interface, by fftnd_forward and fftnd_backward with the same boxes, and as pencils written by
 * hand. All use the same arrays and begin with the same points, and their results are compared.
 */
#include "heffte_calls.h"
#include "options.h"
#include "pencils.h"
#include "scatter.h"
#include "sides.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>

enum { HEFFTE, OWN, PENCILS, LIBRARIES };

struct request {
    bench_settings settings;
    int is_complex, calls, effort;
};

/* Data of all candidates. */
struct problem {
    const bench_space *space;
    bench_problem sizes;
    redist_box boxes[2]; /* physical, spectral */
    size_t bytes[2];     /* of these */
    void *arrays
        [2]; /* of all candidates: where memory is makes calls faster or slower by some percent */
    double *points; /* with which each round begins, in host memory */
    double *modes;  /* of the first candidate, in host memory */
    int calls;
    enum fftnd_effort effort;
};

/* One candidate: the plan that it has. */
struct run {
    const struct problem *problem;
    const struct library *library;
    void *workspace;
    bench_heffte *heffte;
    fftnd_plan *plan;
    bench_pencils *pencils;
    double plan_ms;
};

/* ---------------------------------------------------------------- candidates */

static void open_heffte(struct run *run) {
    const struct problem *problem = run->problem;
    run->heffte =
        bench_heffte_open(problem->sizes.kind == FFTND_R2C, problem->space->allocate_pinned != NULL,
                          problem->effort, &problem->boxes[0], &problem->boxes[1]);
    run->workspace =
        problem->space->allocate(MPI_COMM_WORLD, bench_heffte_workspace(run->heffte), 0);
}

static void call_heffte(struct run *run, int direction) {
    void *const *arrays = run->problem->arrays;
    bench_heffte_call(run->heffte, direction, arrays[direction], arrays[1 - direction],
                      run->workspace);
}

static void close_heffte(struct run *run) {
    bench_heffte_close(run->heffte);
    run->problem->space->release(run->workspace, 0);
}

static void open_own(struct run *run) {
    const struct problem *problem = run->problem;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.space = problem->space->allocate_pinned != NULL ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    options.scaling = FFTND_SCALE_NONE;
    options.effort = problem->effort;
    options.box[0] = &problem->boxes[0];
    options.box[1] = &problem->boxes[1];
    bench_must(fftnd_plan_create(MPI_COMM_WORLD, 3, problem->sizes.sizes, problem->sizes.kind,
                                 FFTND_DOUBLE, &options, &run->plan));
}

static void call_own(struct run *run, int direction) {
    void *const *arrays = run->problem->arrays;
    bench_must((direction == REDIST_FORWARD ? fftnd_forward : fftnd_backward)(
        run->plan, arrays[direction], arrays[1 - direction]));
}

static void close_own(struct run *run) {
    bench_must(fftnd_plan_free(&run->plan));
}

static void open_pencils(struct run *run) {
    const struct problem *problem = run->problem;
    run->pencils = bench_pencils_open(problem->sizes.sizes, problem->sizes.kind == FFTND_R2C,
                                      &problem->boxes[0], problem->arrays[0], &problem->boxes[1],
                                      problem->arrays[1]);
}

static void call_pencils(struct run *run, int direction) {
    bench_pencils_run(run->pencils, direction);
}

static void close_pencils(struct run *run) {
    bench_pencils_close(run->pencils);
}

static const struct library {
    const char *name;
    void (*open)(struct run *run);
    void (*call)(struct run *run, int direction);
    void (*close)(struct run *run);
} libraries[LIBRARIES] = {{"heffte", open_heffte, call_heffte, close_heffte},
                          {"own boxes", open_own, call_own, close_own},
                          {"pencils", open_pencils, call_pencils, close_pencils}};

/* ---------------------------------------------------------------- what is timed */

/* Each round begins with the same points, since each pair of calls multiplies them by their number. */
static void refill(void *context) {
    const struct run *run = context;
    run->problem->space->copy(run->problem->arrays[0], run->problem->points,
                              run->problem->bytes[0]);
    run->problem->space->synchronise();
}

static void run_calls(void *context) {
    struct run *run = context;
    for (int i = 0; i < run->problem->calls; i++)
        run->library->call(run, i % 2 == 0 ? REDIST_FORWARD : REDIST_BACKWARD);
    run->problem->space->synchronise();
}

/* Plans, and makes a first call, in which heFFTe's interface makes its plan. */
static void open_run(struct run *run, const struct problem *problem,
                     const struct library *library) {
    *run = (struct run){.problem = problem, .library = library};
    double before = MPI_Wtime();
    library->open(run);
    refill(run);
    library->call(run, REDIST_FORWARD);
    problem->space->synchronise();
    run->plan_ms = 1e3 * (MPI_Wtime() - before);
}

/* The largest difference of two arrays of all ranks, over the largest number of the first. */
static double compare(const struct problem *problem, const double *a, const double *b, int side) {
    double largest[2] = {0, 0};
    for (size_t i = 0; i < problem->bytes[side] / sizeof(double); i++) {
        largest[0] = fmax(largest[0], fabs(a[i] - b[i]));
        largest[1] = fmax(largest[1], fabs(a[i]));
        if (isnan(a[i]) || isnan(b[i]))
            largest[0] = INFINITY;
    }
    MPI_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return largest[0] / largest[1];
}

/* Compares the modes of a first call with those of the first candidate, and the points on the way back with the
 * original. */
static void check(struct run *run, int is_first) {
    const struct problem *problem = run->problem;
    double *copy =
        bench_space_at(0)->allocate(MPI_COMM_WORLD, problem->bytes[0] + problem->bytes[1], 0);
    double n = 1;
    problem->space->copy(is_first ? problem->modes : copy, problem->arrays[1], problem->bytes[1]);
    const double modes = is_first ? 0 : compare(problem, problem->modes, copy, 1);
    run->library->call(run, REDIST_BACKWARD);
    problem->space->synchronise();
    problem->space->copy(copy, problem->arrays[0], problem->bytes[0]);
    for (int axis = 0; axis < 3; axis++)
        n *= (double)problem->sizes.sizes[axis];
    for (size_t i = 0; i < problem->bytes[0] / sizeof(double); i++)
        copy[i] /= n;
    const double points = compare(problem, problem->points, copy, 0);
    if (!(modes < 1e-12 && points < 1e-12))
        bench_abort("heffte-bench: %s is wrong, by %.1e in modes and %.1e in points",
                    run->library->name, modes, points);
    bench_space_at(0)->release(copy, 0);
}

/* Plans of one problem differ by some percent, and the first one is mostly the slowest, since that depends on where
 * their memory is: two of each library are timed, made in one order and the other. */
static const int order[] = {HEFFTE, OWN, OWN, HEFFTE, PENCILS}; /* the last one on the host only */
enum { RUNS = sizeof order / sizeof *order };

static void print(const struct run runs[], const bench_candidate candidates[], int count) {
    double ms[LIBRARIES] = {0};
    for (int i = 0; i < count; i++) {
        const double calls = runs[i].problem->calls;
        const double median = bench_median_ms(&candidates[i], BENCH_WHOLE) / calls;
        ms[order[i]] += order[i] == PENCILS ? median : median / 2;
        printf("%-10s %10.4f ms a call, least %10.4f ms, planned in %8.1f ms\n",
               runs[i].library->name, median, bench_min_ms(&candidates[i], BENCH_WHOLE) / calls,
               runs[i].plan_ms);
    }
    printf("heffte / own boxes  %.3f\n", ms[HEFFTE] / ms[OWN]);
    if (count == RUNS)
        printf("heffte / pencils    %.3f\n", ms[HEFFTE] / ms[PENCILS]);
    printf("heffte - own boxes  %.2f us a call\n", 1e3 * (ms[HEFFTE] - ms[OWN]));
}

static void measure(const struct request *request, const struct problem *problem) {
    const int count = request->settings.space ? RUNS - 1 : RUNS;
    struct run runs[RUNS];
    bench_candidate candidates[RUNS];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < count; i++) {
        open_run(&runs[i], problem, &libraries[order[i]]);
        check(&runs[i], i == 0);
        candidates[i] = (bench_candidate){
            .context = &runs[i], .prepare = refill, .nsteps = 1, .steps = {run_calls}};
    }
    bench_rounds(MPI_COMM_WORLD, candidates, count, request->settings.warmup,
                 request->settings.iterations);
    if (rank == 0)
        print(runs, candidates, count);
    bench_forget(candidates, count);
    for (int i = 0; i < count; i++)
        runs[i].library->close(&runs[i]);
}

/* ---------------------------------------------------------------- command line */

/* The boxes of this rank and its points, which are the same in every run. */
static void begin(const struct request *request, struct problem *problem) {
    const bench_sides bricks = {.bricks = 1};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    *problem = (struct problem){.space = bench_space_at(request->settings.space),
                                .calls = request->calls,
                                .effort = (enum fftnd_effort)request->effort,
                                .sizes = {.ndims = 3, .batch = 1}};
    problem->sizes.kind = request->is_complex ? FFTND_C2C : FFTND_R2C;
    problem->sizes.axes[2] = request->is_complex ? FFTND_AXIS_COMPLEX : FFTND_AXIS_HALVED;
    bench_sizes(&request->settings, problem->sizes.sizes);
    bench_sides_fill(&bricks, &problem->sizes, &options);
    for (int side = 0; side < 2; side++) {
        problem->boxes[side] = *options.box[side];
        problem->bytes[side] = (side == 0 && !request->is_complex ? 1 : 2) * sizeof(double);
        for (int axis = 0; axis < 3; axis++)
            problem->bytes[side] *= (size_t)problem->boxes[side].count[axis];
    }
    for (int side = 0; side < 2; side++)
        problem->arrays[side] = problem->space->allocate(MPI_COMM_WORLD, problem->bytes[side], 0);
    problem->points = bench_space_at(0)->allocate(MPI_COMM_WORLD, problem->bytes[0], 0);
    problem->modes = bench_space_at(0)->allocate(MPI_COMM_WORLD, problem->bytes[1], 0);
    for (size_t i = 0; i < problem->bytes[0] / sizeof(double); i++)
        problem->points[i] = (double)(bench_scatter(i) >> 11) * 0x1p-53 - 0.5;
}

static void end(const struct problem *problem) {
    for (int side = 0; side < 2; side++)
        problem->space->release(problem->arrays[side], 0);
    bench_space_at(0)->release(problem->points, 0);
    bench_space_at(0)->release(problem->modes, 0);
}

static struct request request = {BENCH_SETTINGS_DEFAULT, .calls = 20};
static const char *const kinds[] = {"r2c", "c2c", NULL};
static const char *const efforts[] = {"estimate", "measure", "patient", NULL};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "kind", .kind = BENCH_CHOICE, .value = &request.is_complex, .words = kinds,
     .help = "r2c halves the axis that is contiguous (r2c)"},
    {.name = "calls", .kind = BENCH_NUMBER, .value = &request.calls, .argument = "N",
     .help = "in a row, forward and backward by turns (20)", .minimum = 1},
    {.name = "effort", .kind = BENCH_CHOICE, .value = &request.effort, .words = efforts,
     .help = "of planning, for heffte and own boxes (estimate)"},
    BENCH_SPACE_OPTION(&request.settings),
    BENCH_ROUNDS_OPTIONS(&request.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    struct problem problem;
    (void)program;
    if (request.settings.shape.count != 3)
        bench_abort("--shape has three axes");
    begin(&request, &problem);
    measure(&request, &problem);
    end(&problem);
    return 0;
}

BENCH_MAIN("heffte-bench",
           "times transforms from bricks to bricks: through heFFTe's interface, by plans of "
           "libfftnd, and as pencils written by hand",
           "", &request.settings.space, run)
