/* SPDX-License-Identifier: BSD-3-Clause */
/* fftnd-bench: how long distributed transforms take, beside their serial parts and FFTW-MPI. */
#include "bound.h"
#include "cufft.h"
#include "fftnd_report.h"
#include "fftw_mpi.h"
#include "methods.h"
#include "offload.h"
#include "serial_fftw.h"
#include "sides.h"
#include "sizes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TRANSFORMS = BENCH_MAX_METHODS + BENCH_FFTW_MPI_TRANSFORMS + 2 };

/* Enough to time the first configuration, which is the guess, and no other one. */
static const double no_seconds = 1e-9;

static const char notes[] =
    "Every round runs each candidate once: it gets the same field, waits at a barrier, transforms\n"
    "forward and then backward (a pair). The time of a round is that of the slowest rank.\n"
    "\n"
    "The columns (keys with --json), one line for each candidate:\n"
    "  pair_ms_min, pair_ms_median   time of a pair\n"
    "  forward_ms_median,            time of each half\n"
    "  backward_ms_median\n"
    "  exchange_ms_median            time of a pair spent in exchanges, waiting included\n"
    "  serial_ms_median              the serial transforms of a pair alone: FFTW's own in-place\n"
    "                                plans, axis by axis over the same local shapes, without\n"
    "                                communication, all ranks at once, each with FFTW's threads\n"
    "                                if --threads is given, in the same rounds; the table shows\n"
    "                                the ratio to it (of serial)\n"
    "  max_error                     largest difference between the field and what a round trip\n"
    "                                gives back, over the largest value; not timed\n"
    "  workspace_bytes               work space of the plan, on the rank that has most\n"
    "  plan_ms                       time to make the plan\n"
    "  library, method, ordering     whose transform; how it exchanges; where the spectral side\n"
    "                                lies\n"
    "  effort                        of its planner\n"
    "\n"
    "With --space cuda the serial transforms are cuFFT's, and there is a line for cuFFT on all\n"
    "devices of the host from one process (library cufftxt, whose results are not checked).\n"
    "\n"
    "With --device or --device-mib arrays are in host memory and go tile by tile through a device\n"
    "(the host can do as if it were one of N bytes). Then rounds are of the transforms and of the\n"
    "same transfers without them, in turn; ratio is of the medians. Rates are of both directions\n"
    "together; that of the link is of large contiguous pieces.\n"
    "\n"
    "With --sizes there is one line for each: libfftnd, cuFFT on all devices, and the serial\n"
    "transforms, in ms; the bound is what a rank sends at the rate of the link or, if that is\n"
    "longer, one pass over its array for each axis and direction at the rate of a copy (bound_ms\n"
    "with --json; devices only). Sizes of which no plan can be made are said to have failed.\n"
    "random:N:SEED are N different sizes without prime factors above 7, from 64 to 1152.\n"
    "\n"
    "With --guess each candidate runs twice in a round, and the second run counts: it finds the\n"
    "caches as the plan leaves them, not as the one before it does. FFTW's own plans beside them\n"
    "are then of FFTW_MEASURE, whatever the effort.\n"
    "\n"
    "With --memory alloc the plans rely on arrays that peers can map.\n"
    "\n"
    "--compare adds FFTW-MPI with natural and with transposed output (one axis: scrambled), "
    "planned\n"
    "with the same effort, in place if --in-place is given and else allowed to overwrite its "
    "input.\n"
    "It has slabs only, batches only side by side at each point, and one kind for all axes.\n"
    "\n"
    "exit code: 0; 1 if an error exceeds 1e-14 log2 of the points (float: 5.4e-6 log2; with "
    "--wire\n"
    "float 1e-6, 16-bits 1e-3) or a transform fails; 2 for a bad command line\n";

/* The choices, in the order of the enumerations of fftnd.h. */
static const char *const kinds[] = {"c2c", "r2c", "r2r", NULL};
static const char *const precisions[] = {"double", "float", NULL};
static const char *const alignments[] = {"chain", "input", NULL};
static const char *const fusions[] = {"auto", "never", "always", NULL};
static const char *const scalings[] = {"none", "backward", "forward", "unitary", NULL};
static const char *const wires[] = {"same", "float", "16-bits", NULL};
static const char *const wire_scopes[] = {"between-nodes", "everywhere", NULL};
static const char *const devices[] = {"same", "host", "cuda", NULL};
static const char *const places[] = {"first", "last", NULL};

/* What the command line says. */
struct request {
    bench_settings settings;
    bench_sides sides;
    bench_list grid, order;
    int kind, precision, effort, alignment, scaling, fusion, local_transpose, plan_seconds,
        tile_bytes, ranks, wire, wire_scope;
    int batch, batch_position, threads;
    int in_place, overwrite, compare, guess, unchecked, skip_peers, row_ms, skip;
    int device, device_mib, pageable;
    const char *wisdom, *sizes;
};

static bench_problem make_problem(const struct request *request) {
    bench_problem problem = {.ndims = request->settings.shape.count,
                             .kind = (enum fftnd_kind)request->kind,
                             .precision = (enum fftnd_precision)request->precision,
                             /* FFTW_PATIENT takes minutes for plans that no guess is about. */
                             .effort = request->guess ? FFTND_MEASURE
                                                      : (enum fftnd_effort)request->effort,
                             .batch = request->batch,
                             .batch_position = (enum fftnd_batch_position)request->batch_position,
                             .threads = request->threads,
                             .in_place = request->in_place,
                             .seed = request->settings.seed,
                             .unchecked = request->unchecked || request->sides.retained.count > 0 ||
                                          request->sides.filled.count > 0,
                             .space = bench_space_at(request->settings.space)};
    bench_sizes(&request->settings, problem.sizes);
    return problem;
}

/* Whether arrays of the host are transformed tile by tile on a device. */
static int is_offload(const struct request *request) {
    return !request->settings.space &&
           (request->device == REDIST_SPACE_CUDA || request->device_mib);
}

static fftnd_options plan_options(const struct request *request, const bench_problem *problem,
                                  const char *method) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    int choose = request->grid.count == 1 && request->grid.values[0] == 0;
    options.grid_ndims = choose ? 0 : request->grid.count;
    options.grid = choose ? NULL : request->grid.values;
    options.order = request->order.count > 0 ? request->order.values : NULL;
    options.effort = (enum fftnd_effort)request->effort;
    options.scaling = (enum fftnd_scaling)request->scaling;
    if (is_offload(request)) /* rounds go on with what the last one left */
        options.scaling = FFTND_SCALE_UNITARY;
    options.plan_seconds = request->plan_seconds;
    options.ranks = request->ranks;
    options.fusion = (enum fftnd_fusion)request->fusion;
    options.local_transpose = (enum fftnd_local_transpose)request->local_transpose;
    options.tile_bytes = (size_t)request->tile_bytes;
    options.alignment = (enum fftnd_alignment)request->alignment;
    options.batch = request->batch;
    options.batch_position = (enum fftnd_batch_position)request->batch_position;
    options.threads = request->threads;
    options.in_place = request->in_place;
    options.overwrite_input = request->overwrite;
    int memory = request->settings.memory;
    options.mapped_arrays =
        !is_offload(request) && bench_mappable(memory, 0) && bench_mappable(memory, 1);
    options.method = method;
    options.wire = (enum redist_wire)request->wire;
    options.wire_scope = (enum redist_wire_scope)request->wire_scope;
    bench_sides_fill(&request->sides, problem, &options);
    options.device = (enum redist_space)request->device;
    options.device_bytes = (size_t)request->device_mib << 20;
    options.pin_arrays = !request->pageable;
    options.space = request->settings.space ? REDIST_SPACE_CUDA : REDIST_SPACE_HOST;
    return options;
}

static fftnd_plan_info plan_info(const bench_transform *transform) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    bench_must(fftnd_plan_get_info(transform->plans[0], &info));
    return info;
}

static void execute(bench_transform *transform, int direction) {
    const bench_arrays *arrays = transform->arrays;
    if (direction == REDIST_FORWARD)
        bench_must(fftnd_forward(transform->plans[0], arrays->physical, arrays->spectral));
    else
        bench_must(fftnd_backward(transform->plans[0], arrays->spectral, arrays->physical));
}

static double exchange_seconds(bench_transform *transform) {
    return plan_info(transform).exchange_seconds;
}

static void release(bench_transform *transform) {
    fftnd_plan *plan = transform->plans[0];
    bench_must(fftnd_plan_free(&plan));
}

/* Makes one plan; returns redist's code. */
static int plan_transform(const struct request *request, const bench_problem *problem,
                          const char *method, int is_guess, bench_transform *transform) {
    fftnd_plan *plan = NULL;
    fftnd_options options = plan_options(request, problem, method);
    if (is_guess) {
        options.effort = FFTND_MEASURE;
        options.plan_seconds = no_seconds;
    }
    double begin = MPI_Wtime();
    int code = fftnd_plan_create(MPI_COMM_WORLD, problem->ndims, problem->sizes, problem->kind,
                                 problem->precision, &options, &plan);
    if (code != REDIST_OK)
        return code;
    *transform = (bench_transform){.library = "fftnd",
                                   .method = method,
                                   .ordering = alignments[request->alignment],
                                   .effort = is_guess ? "guess" : bench_efforts[request->effort],
                                   .in_place = request->in_place,
                                   .space = problem->space,
                                   .unchecked = problem->unchecked,
                                   .growth = bench_unscaled_growth(problem),
                                   .plan_ms = 1e3 * (MPI_Wtime() - begin),
                                   .plans = {plan},
                                   .execute = execute,
                                   .exchange_seconds = exchange_seconds,
                                   .release = release};
    fftnd_plan_info info = plan_info(transform);
    transform->chosen = info.method;
    transform->grid_ndims = info.grid_ndims;
    memcpy(transform->grid, info.grid, sizeof info.grid);
    memcpy(transform->order, info.order, sizeof info.order);
    transform->growth *= info.scale_forward * info.scale_backward;
    transform->workspace_bytes = (double)info.workspace_bytes;
    MPI_Allreduce(MPI_IN_PLACE, &transform->workspace_bytes, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    return REDIST_OK;
}

/* Makes the plans of all methods that apply; returns the exit code. The guess of the first one comes before them, and
 * is forgotten then, or they would find it. */
static int plan_transforms(const struct request *request, const bench_problem *problem,
                           const bench_methods *methods, bench_transform transforms[],
                           int *ntransforms) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = request->guess ? -1 : 0; i < methods->count; i++) {
        int is_guess = i < 0;
        const char *method = methods->names[is_guess ? 0 : i];
        int code = plan_transform(request, problem, method, is_guess, &transforms[*ntransforms]);
        if (code == REDIST_OK)
            (*ntransforms)++;
        else if (rank == 0)
            fprintf(stderr, "fftnd-bench: %s: %s\n", method, redist_error_message());
        if (code != REDIST_OK && !(methods->all && code == REDIST_ERR_METHOD))
            return 2;
        if (is_guess)
            redist_forget_wisdom();
    }
    return 0;
}

/* Arrays for all plans of fftnd; methods may differ in the bytes that they need. */
static void create_arrays(const struct request *request, const bench_problem *problem,
                          bench_transform transforms[], int ntransforms, bench_arrays *arrays) {
    int memory = request->settings.memory;
    *arrays = (bench_arrays){.field = {.layout = FFTND_LAYOUT_DEFAULT,
                                       .precision = problem->precision,
                                       .ncomponents = bench_components(problem, FFTND_PHYSICAL),
                                       .batch = problem->batch,
                                       .seed = problem->seed},
                             .mappable = {bench_mappable(memory, 0), bench_mappable(memory, 1)}};
    for (int i = 0; i < ntransforms; i++) {
        fftnd_layout spectral = FFTND_LAYOUT_DEFAULT, *physical = &arrays->field.layout;
        bench_must(fftnd_plan_layout(transforms[i].plans[0], FFTND_PHYSICAL, physical));
        bench_must(fftnd_plan_layout(transforms[i].plans[0], FFTND_SPECTRAL, &spectral));
        if (physical->bytes > arrays->physical_bytes)
            arrays->physical_bytes = physical->bytes;
        if (spectral.bytes > arrays->spectral_bytes)
            arrays->spectral_bytes = spectral.bytes;
        transforms[i].arrays = arrays;
    }
    bench_arrays_create(problem, arrays);
}

static const char *kind_text(const struct request *request) {
    return request->sides.axes != NULL ? request->sides.axes : kinds[request->kind];
}

/* As many as fit the time, of which one that is not counted took its part: at least three. */
static int count_rounds(const struct request *request, bench_candidate candidates[], int n) {
    if (request->row_ms == 0)
        return request->settings.iterations;
    bench_rounds(MPI_COMM_WORLD, candidates, n, 1, 1);
    double milliseconds = 0.0;
    for (int i = 0; i < n; i++)
        milliseconds += bench_min_ms(&candidates[i], BENCH_WHOLE);
    bench_forget(candidates, n);
    double fitting = fmax(3.0, request->row_ms / milliseconds);
    return (int)fmin(fitting, request->settings.iterations);
}

/* Measures all transforms and the serial ones beside them, and checks the results. */
static int measure(const struct request *request, const bench_problem *problem,
                   bench_transform transforms[], int ntransforms) {
    bench_candidate candidates[MOST_TRANSFORMS + 1];
    bench_arrays serial_arrays;
    int on_host = problem->space == bench_space_at(0);
    bench_transform serial = (on_host ? bench_serial_create : bench_cufft_create)(
        problem, &transforms[0], transforms[0].arrays, &serial_arrays);
    for (int i = 0; i < ntransforms; i++)
        candidates[i] = bench_transform_candidate(&transforms[i]);
    candidates[ntransforms] = bench_transform_candidate(&serial);
    for (int i = 0; i <= ntransforms; i++)
        candidates[i].settles = request->guess;
    int nrounds = count_rounds(request, candidates, ntransforms + 1);
    bench_rounds(MPI_COMM_WORLD, candidates, ntransforms + 1, request->settings.warmup, nrounds);
    for (int i = 0; i < ntransforms; i++)
        if (!transforms[i].unchecked)
            bench_transform_check(&transforms[i]);
    bench_report report = {&request->settings, problem,
                           kind_text(request), precisions[request->precision],
                           transforms,         candidates,
                           ntransforms,        bench_bound_ms(problem, transforms[0].arrays),
                           request->wire};
    (request->sizes != NULL && !request->settings.json ? bench_print_size
                                                       : bench_print_report)(&report);
    bench_forget(candidates, ntransforms + 1);
    serial.release(&serial);
    return bench_errors_are_small(&report) ? 0 : 1;
}

static int measure_with_transfers(const struct request *request, const bench_problem *problem,
                                  bench_transform transforms[], int ntransforms) {
    int code = 0;
    for (int i = 0; i < ntransforms && code == 0; i++) {
        const bench_offload offload = {
            .settings = &request->settings,
            .problem = problem,
            .transform = &transforms[i],
            .kind = kind_text(request),
            .precision = precisions[request->precision],
            .device = devices[request->device],
            .device_space = bench_space_at(request->device == REDIST_SPACE_CUDA),
            .device_mib = request->device_mib,
        };
        code = bench_offload_measure(&offload);
    }
    return code;
}

static int measure_with_peers(const struct request *request, const bench_problem *problem,
                              bench_transform transforms[], int ntransforms) {
    bench_arrays arrays, peer_arrays, xt_arrays;
    int total = ntransforms;
    create_arrays(request, problem, transforms, ntransforms, &arrays);
    if (request->compare) {
        bench_fftw_mpi_create(problem, request->wisdom, &peer_arrays, &transforms[total]);
        total += BENCH_FFTW_MPI_TRANSFORMS;
    }
    if (problem->space != bench_space_at(0) && !request->skip_peers)
        total += bench_cufft_xt_create(problem, &xt_arrays, &transforms[total]);
    int code = measure(request, problem, transforms, total);
    for (int i = ntransforms; i < total; i++)
        transforms[i].release(&transforms[i]);
    if (request->compare)
        bench_arrays_release(problem->space, &peer_arrays);
    bench_arrays_release(problem->space, &arrays);
    return code;
}

static int check_request(const bench_program *program, const struct request *request,
                         const bench_problem *problem, bench_methods *methods) {
    const char *absent = problem->space->begin();
    if (absent)
        return bench_refuse(program, "--space %s: %s", problem->space->name, absent);
    if (problem->space != bench_space_at(0) &&
        (problem->kind >= FFTND_R2R || request->compare ||
         (problem->batch > 1 && problem->batch_position != FFTND_BATCH_FIRST)))
        return bench_refuse(program,
                            "--space %s is not for r2r, --axes, --compare or --batch-position last",
                            problem->space->name);
    if (request->order.count != 0 && request->order.count != problem->ndims)
        return bench_refuse(program, "--order has %d axes, the array has %d", request->order.count,
                            problem->ndims);
    absent = request->device == REDIST_SPACE_CUDA ? bench_space_cuda.begin() : NULL;
    if (absent)
        return bench_refuse(program, "--device cuda: %s", absent);
    if (is_offload(request) && (problem->kind >= FFTND_R2R || request->compare))
        return bench_refuse(program,
                            "--device and --device-mib are not for r2r, --axes or --compare");
    if (!bench_read_methods(request->settings.method, methods))
        return bench_refuse(program, "--method '%s' is not a list of names",
                            request->settings.method);
    const char *refusal = request->compare ? bench_fftw_mpi_refusal(problem) : NULL;
    if (refusal)
        return bench_refuse(program, "--compare: %s", refusal);
    return 0;
}

static int run_shape(const bench_program *program, const struct request *request) {
    bench_methods methods;
    bench_transform transforms[MOST_TRANSFORMS];
    int ntransforms = 0;
    bench_problem problem = make_problem(request);
    int code = bench_sides_read(program, &request->sides, &problem);
    if (code == 0)
        code = check_request(program, request, &problem, &methods);
    if (code != 0)
        return code;
    code = plan_transforms(request, &problem, &methods, transforms, &ntransforms);
    if (code == 0 && is_offload(request))
        code = measure_with_transfers(request, &problem, transforms, ntransforms);
    else if (code == 0)
        code = measure_with_peers(request, &problem, transforms, ntransforms);
    for (int i = 0; i < ntransforms; i++)
        transforms[i].release(&transforms[i]);
    return code;
}

/* All extents of the shape are one number of the list after the other. What one size cannot do does not keep the others
 * from being measured. */
static int run_sizes(const bench_program *program, struct request *request) {
    int code = 0, rank, count, *sizes = bench_read_sizes(request->sizes, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (sizes == NULL)
        return bench_refuse(program, "--sizes '%s' is not a list of extents", request->sizes);
    for (int i = request->skip; i < count; i++) {
        for (int axis = 0; axis < request->settings.shape.count; axis++)
            request->settings.shape.values[axis] = sizes[i];
        int result = run_shape(program, request);
        if (result == 2 && rank == 0)
            printf("%-6d failed\n", sizes[i]);
        code = result == 1 ? 1 : code;
    }
    free(sizes);
    return code;
}

static struct request request = {BENCH_SETTINGS_DEFAULT,  .grid = {1, {0}}, .kind = FFTND_R2C,
                                 .effort = FFTND_MEASURE, .batch = 1,       .threads = 1};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "sizes", .kind = BENCH_TEXT, .value = &request.sizes, 
     .argument = "N,N,... or random:N:SEED",
     .help = "one line for each: all extents of --shape are N"},
    {.name = "skip", .kind = BENCH_NUMBER, .value = &request.skip, .argument = "N",
     .help = "sizes at the beginning of the list that are left out (0)"},
    {.name = "row-ms", .kind = BENCH_NUMBER, .value = &request.row_ms, .argument = "N",
     .help = "fewer rounds, at least 3, where these take longer (no limit)", .minimum = 1},
    {.name = "kind", .kind = BENCH_CHOICE, .value = &request.kind, .words = kinds,
     .help = "r2r: DCT-II, backward DCT-III (r2c)"},
    BENCH_SIDES_OPTIONS(&request.sides),
    {.name = "precision", .kind = BENCH_CHOICE, .value = &request.precision,
     .words = precisions, .help = "of all numbers (double)"},
    BENCH_GRID_UP_TO(&request.grid, REDIST_MAX_NDIMS - 1,
                     "process grid; 0 = choose, 0x0 = choose two dimensions (0)"),
    {.name = "order", .kind = BENCH_LIST, .value = &request.order, .argument = "A,B...",
     .help = "axes in the order in which the grid splits them (0,1..)", .least = 1,
     .most = REDIST_MAX_NDIMS - 1, .separators = ","},
    {.name = "ranks", .kind = BENCH_NUMBER, .value = &request.ranks, .argument = "N",
     .help = "that transform, between sides on all; 0 = all, -1 = choose (0)", .minimum = -1},
    BENCH_METHOD_OPTION(&request.settings),
    {.name = "effort", .kind = BENCH_CHOICE, .value = &request.effort, .words = bench_efforts,
     .help = "of all planners (measure)"},
    {.name = "guess", .kind = BENCH_FLAG, .value = &request.guess,
     .help = "with the planner's first configuration too; the second of two runs counts"},
    {.name = "plan-seconds", .kind = BENCH_NUMBER, .value = &request.plan_seconds,
     .argument = "N", .help = "to try configurations, 0 = the library's default (0)"},
    {.name = "fusion", .kind = BENCH_CHOICE, .value = &request.fusion, .words = fusions,
     .help = "of transforms and exchanges (auto)"},
    {.name = "local-transpose", .kind = BENCH_CHOICE, .value = &request.local_transpose, .words = fusions,
     .help = "turn the axes in memory between transforms (auto)"},
    {.name = "tile-bytes", .kind = BENCH_NUMBER, .value = &request.tile_bytes,
     .argument = "N", .help = "of a tile, 0 = choose (0)"},
    {.name = "wire", .kind = BENCH_CHOICE, .value = &request.wire, .words = wires,
     .help = "numbers between ranks (same)"},
    {.name = "wire-scope", .kind = BENCH_CHOICE, .value = &request.wire_scope,
     .words = wire_scopes, .help = "the messages that --wire is for (between-nodes)"},
    {.name = "alignment", .kind = BENCH_CHOICE, .value = &request.alignment,
     .words = alignments,
     .help = "of the spectral side: as the chain ends, or carried back (chain)"},
    {.name = "scaling", .kind = BENCH_CHOICE, .value = &request.scaling, .words = scalings,
     .help = "which direction divides by the size (none)"},
    {.name = "batch", .kind = BENCH_NUMBER, .value = &request.batch, .argument = "N",
     .help = "fields at once (1)", .minimum = 1},
    {.name = "batch-position", .kind = BENCH_CHOICE, .value = &request.batch_position,
     .words = places, .help = "place of the batch index (first)"},
    {.name = "threads", .kind = BENCH_NUMBER, .value = &request.threads, .argument = "N",
     .help = "of each rank (1); bind ranks to N cores", .minimum = 1},
    {.name = "in-place", .kind = BENCH_FLAG, .value = &request.in_place,
     .help = "both sides in one array"},
    {.name = "overwrite", .kind = BENCH_FLAG, .value = &request.overwrite,
     .help = "the input may serve as work space"},
    {.name = "compare", .kind = BENCH_FLAG, .value = &request.compare,
     .help = "with FFTW-MPI too"},
    {.name = "skip-peers", .kind = BENCH_FLAG, .value = &request.skip_peers,
     .help = "on devices without cuFFT on all of them"},
    {.name = "device", .kind = BENCH_CHOICE, .value = &request.device, .words = devices,
     .help = "where arrays of the host are transformed, tile by "
             "tile (same)"},
    {.name = "device-mib", .kind = BENCH_NUMBER, .value = &request.device_mib,
     .argument = "N", .help = "2^20 bytes of the device, at most, for each rank; "
                              "0 = the library's default (0)"},
    {.name = "pageable", .kind = BENCH_FLAG, .value = &request.pageable,
     .help = "arrays go to a device through buffers"},
    {.name = "fftw-wisdom", .kind = BENCH_TEXT, .value = &request.wisdom, .argument = "FILE",
     .help = "where FFTW-MPI's plans are remembered (nowhere)"},
    {.name = "unchecked", .kind = BENCH_FLAG, .value = &request.unchecked,
     .help = "do not check the results, which takes long for large arrays"},
    BENCH_COMMON_OPTIONS(&request.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    return request.sizes != NULL ? run_sizes(program, &request) : run_shape(program, &request);
}

BENCH_MAIN("fftnd-bench", "times distributed transforms, forward and backward as a pair", notes,
           NULL, run)
