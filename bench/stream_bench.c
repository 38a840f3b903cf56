/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fftnd-stream-bench: pairs of transforms on devices in each way to run them: complete on return, enqueued and waited
 * for one by one, ten enqueued, as a CUDA graph; the exchange alone; and on one device cuFFT's plan of all axes.
 */
#include "json.h"
#include "options.h"
#include "timing.h"

#include "fftnd.h"

#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENQUEUED = 10, MOST = 16 };

static const char notes[] =
    "Every round runs each way once behind a barrier; times are medians of the slowest rank.\n"
    "host_us is what a call takes the host, the mean of those of a round.\n"
    "  sync       a pair of transforms that are complete on return\n"
    "  waited     asynchronous, the host waits for each pair\n"
    "  enqueued   ten pairs, then the host waits; time of one\n"
    "  graph      a pair as a CUDA graph, the host waits for each\n"
    "  graph-ten  ten launches, then the host waits; time of one\n"
    "  exchange-* one direction of the exchange of the first two axes alone, by method\n"
    "             signals, nccl or hier:nccl, where these apply; ten back and forth, then the host "
    "waits; "
    "time of one\n"
    "  cufft-*    on one device: cuFFT's plan of all axes in the same ways; back, it\n"
    "             overwrites its input\n";

static const char *const kinds[] = {"c2c", "r2c", "r2r", NULL};
static const char *const precisions[] = {"double", "float", NULL};

struct request {
    bench_settings settings;
    int kind, precision, batch, plan_seconds, overwrite;
    const char *method;
};

/* Everything that is timed; the arrays are work space of each other. */
struct work {
    const struct request *request;
    cudaStream_t stream;
    fftnd_plan *sync, *async;
    redist_plan *exchange;
    void *arrays[2];
    cudaGraphExec_t graph, whole_graph;
    cufftHandle whole[2];
};

/* One way to run a pair: forth, and back unless that is NULL. */
struct way {
    const char *name;
    struct work *work;
    int repeats;
    void (*forth)(struct work *work);
    void (*back)(struct work *work);
    redist_plan *exchange; /* then a pair is two of what is timed */
};

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        bench_abort("fftnd-stream-bench: %s: %s", what, cudaGetErrorString(error));
}

/* ---------------------------------------------------------------- what is timed */

static void sync_forth(struct work *work) {
    bench_must(fftnd_forward(work->sync, work->arrays[0], work->arrays[1]));
}

static void sync_back(struct work *work) {
    bench_must(fftnd_backward(work->sync, work->arrays[1], work->arrays[0]));
}

static void async_forth(struct work *work) {
    bench_must(fftnd_forward(work->async, work->arrays[0], work->arrays[1]));
}

static void async_back(struct work *work) {
    bench_must(fftnd_backward(work->async, work->arrays[1], work->arrays[0]));
}

static void launch_graph(struct work *work) {
    check(cudaGraphLaunch(work->graph, work->stream), "cudaGraphLaunch");
}

static void launch_whole_graph(struct work *work) {
    check(cudaGraphLaunch(work->whole_graph, work->stream), "cudaGraphLaunch");
}

static void exchange_forth(struct work *work) {
    bench_must(redist_plan_execute(work->exchange, REDIST_FORWARD));
}

static void exchange_back(struct work *work) {
    bench_must(redist_plan_execute(work->exchange, REDIST_BACKWARD));
}

static void check_cufft(cufftResult result) {
    if (result != CUFFT_SUCCESS)
        bench_abort("fftnd-stream-bench: cuFFT returned %d", (int)result);
}

static void whole_forth(struct work *work) {
    check_cufft(cufftXtExec(work->whole[0], work->arrays[0], work->arrays[1], CUFFT_FORWARD));
}

static void whole_back(struct work *work) {
    check_cufft(cufftXtExec(work->whole[1], work->arrays[1], work->arrays[0], CUFFT_INVERSE));
}

/* The first step is all calls, so that their time on the host shows. */
static void begin(void *data) {
    const struct way *way = data;
    way->work->exchange = way->exchange;
    for (int i = 0; i < way->repeats; i++) {
        way->forth(way->work);
        if (way->back != NULL)
            way->back(way->work);
    }
}

static void finish(void *data) {
    const struct way *way = data;
    check(cudaStreamSynchronize(way->work->stream), "cudaStreamSynchronize");
}

/* ---------------------------------------------------------------- plans */

static fftnd_plan *plan_transform(const struct work *work, int asynchronous) {
    const struct request *request = work->request;
    redist_index sizes[REDIST_MAX_NDIMS];
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS];
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    bench_sizes(&request->settings, sizes);
    for (int i = 0; i < request->settings.shape.count; i++)
        r2r[i] = FFTND_DCT2;
    options.r2r = r2r;
    options.overwrite_input = request->overwrite;
    options.space = REDIST_SPACE_CUDA;
    options.stream = work->stream;
    options.scaling = FFTND_SCALE_NONE;
    options.batch = request->batch;
    options.plan_seconds = request->plan_seconds;
    options.skip_agreement = 1;
    options.asynchronous = asynchronous;
    options.method = asynchronous ? request->method : NULL;
    options.verbose = getenv("BENCH_VERBOSE") != NULL;
    bench_must(fftnd_plan_create(MPI_COMM_WORLD, request->settings.shape.count, sizes,
                                 (enum fftnd_kind)request->kind,
                                 (enum fftnd_precision)request->precision, &options, &plan));
    return plan;
}

/* The arrays as the transforms have them, of all plans together. */
static void create_arrays(struct work *work) {
    for (int side = 0; side < 2; side++) {
        size_t most = 0;
        fftnd_plan *const plans[2] = {work->sync, work->async};
        for (int i = 0; i < 2; i++) {
            fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
            bench_must(fftnd_plan_layout(plans[i], (enum fftnd_side)side, &layout));
            most = layout.bytes > most ? layout.bytes : most;
        }
        work->arrays[side] = bench_space_at(1)->allocate(MPI_COMM_WORLD, most + 1024, 1);
    }
}

static void capture(struct work *work, void (*forth)(struct work *work),
                    void (*back)(struct work *work), cudaGraphExec_t *executable) {
    cudaGraph_t graph;
    check(cudaStreamBeginCapture(work->stream, cudaStreamCaptureModeGlobal),
          "cudaStreamBeginCapture");
    forth(work);
    back(work);
    check(cudaStreamEndCapture(work->stream, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(executable, graph, cudaGraphInstantiateFlagUseNodePriority),
          "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

/* Complex elements, half as many where the arrays are real. */
static redist_plan *plan_exchange(const struct work *work, const char *method) {
    const struct request *request = work->request;
    int ndims = request->settings.shape.count, rank, size;
    redist_index a[REDIST_MAX_NDIMS], b[REDIST_MAX_NDIMS], start;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ndims; i++)
        a[i] = b[i] = request->settings.shape.values[i];
    if (request->kind != FFTND_C2C)
        a[ndims - 1] = b[ndims - 1] = a[ndims - 1] / 2;
    bench_must(redist_decompose(a[0], size, rank, &a[0], &start));
    bench_must(redist_decompose(b[1], size, rank, &b[1], &start));
    options.method = method;
    options.space = REDIST_SPACE_CUDA;
    options.stream = work->stream;
    options.asynchronous = 1;
    if (redist_plan_exchange(
            MPI_COMM_WORLD, request->precision ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX, ndims,
            a, work->arrays[0], 1, b, work->arrays[1], 0, &options, &plan) != REDIST_OK)
        fprintf(stderr, "fftnd-stream-bench: %s\n", redist_error_message());
    return plan;
}

/* cuFFT's own types of real and complex numbers. */
static void plan_whole(struct work *work) {
    const struct request *request = work->request;
    static const cudaDataType types[2][2] = {{CUDA_C_64F, CUDA_R_64F}, {CUDA_C_32F, CUDA_R_32F}};
    cudaDataType complex = types[request->precision][0],
                 physical = types[request->precision][request->kind];
    long long n[REDIST_MAX_NDIMS];
    size_t bytes;
    for (int i = 0; i < request->settings.shape.count; i++)
        n[i] = request->settings.shape.values[i];
    for (int i = 0; i < 2; i++)
        if (cufftCreate(&work->whole[i]) ||
            cufftXtMakePlanMany(work->whole[i], request->settings.shape.count, n, NULL, 1, 0,
                                i ? complex : physical, NULL, 1, 0, i ? physical : complex,
                                request->batch, &bytes, complex) ||
            cufftSetStream(work->whole[i], work->stream))
            bench_abort("fftnd-stream-bench: cuFFT has no plan");
}

/* ---------------------------------------------------------------- all of it */

static void report(const struct request *request, const struct way *way,
                   const bench_candidate *candidate, const struct work *work) {
    int size;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    double count = way->repeats * (way->exchange != NULL ? 2 : 1);
    bench_must(fftnd_plan_get_info(way->forth == sync_forth ? work->sync : work->async, &info));
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    bench_json_begin();
    bench_json_text("way", way->name);
    bench_json_integers("shape", request->settings.shape.values, request->settings.shape.count);
    bench_json_text("kind", kinds[request->kind]);
    bench_json_text("precision", precisions[request->precision]);
    bench_json_integer("batch", request->batch);
    bench_json_integer("ranks", size);
    bench_json_text("method", info.method);
    bench_json_integer("segments", info.segments);
    bench_json_integer("partitions", info.partitions);
    bench_json_number("ms", bench_median_ms(candidate, BENCH_WHOLE) / count);
    bench_json_number("ms_min", bench_min_ms(candidate, BENCH_WHOLE) / count);
    bench_json_number("host_us", 1e3 * bench_median_ms(candidate, BENCH_FIRST_STEP) /
                                     (way->repeats * (way->back != NULL ? 2 : 1)));
    bench_json_end();
}

static int add(struct way ways[], int n, struct way way) {
    ways[n] = way;
    return n + 1;
}

static int list_ways(struct work *work, struct way ways[]) {
    static const char *const exchanges[] = {"signals:kernel", "signals:engines", "nccl",
                                            "hier:nccl"};
    static const char *const names[] = {"exchange-kernel", "exchange-engines", "exchange-nccl",
                                        "exchange-hier"};
    enum { EXCHANGES = sizeof exchanges / sizeof exchanges[0] };
    const struct request *request = work->request;
    int n = 0, size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    n = add(ways, n, (struct way){"sync", work, 1, sync_forth, sync_back, NULL});
    n = add(ways, n, (struct way){"waited", work, 1, async_forth, async_back, NULL});
    n = add(ways, n, (struct way){"enqueued", work, ENQUEUED, async_forth, async_back, NULL});
    n = add(ways, n, (struct way){"graph", work, 1, launch_graph, NULL, NULL});
    n = add(ways, n, (struct way){"graph-ten", work, ENQUEUED, launch_graph, NULL, NULL});
    for (int i = 0; i < EXCHANGES && size > 1; i++) {
        redist_plan *exchange = plan_exchange(work, exchanges[i]);
        if (exchange != NULL)
            n = add(ways, n,
                    (struct way){names[i], work, ENQUEUED / 2, exchange_forth, exchange_back,
                                 exchange});
    }
    if (size == 1 && request->kind != FFTND_R2R) {
        plan_whole(work);
        whole_forth(work);
        whole_back(work);
        check(cudaStreamSynchronize(work->stream), "cudaStreamSynchronize");
        capture(work, whole_forth, whole_back, &work->whole_graph);
        n = add(ways, n, (struct way){"cufft-waited", work, 1, whole_forth, whole_back, NULL});
        n = add(ways, n,
                (struct way){"cufft-enqueued", work, ENQUEUED, whole_forth, whole_back, NULL});
        n = add(ways, n, (struct way){"cufft-graph", work, 1, launch_whole_graph, NULL, NULL});
    }
    return n;
}

static void measure(const struct request *request) {
    struct work work = {.request = request};
    struct way ways[MOST];
    bench_candidate candidates[MOST];
    check(cudaStreamCreateWithFlags(&work.stream, cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
    work.sync = plan_transform(&work, 0);
    work.async = plan_transform(&work, 1);
    create_arrays(&work);
    async_forth(&work); /* what is made when first used cannot be made while it is captured */
    check(cudaStreamSynchronize(work.stream), "cudaStreamSynchronize");
    capture(&work, async_forth, async_back, &work.graph);
    int rank, n = list_ways(&work, ways);
    for (int i = 0; i < n; i++)
        candidates[i] =
            (bench_candidate){.context = &ways[i], .nsteps = 2, .steps = {begin, finish}};
    bench_rounds(MPI_COMM_WORLD, candidates, n, request->settings.warmup,
                 request->settings.iterations);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < n && rank == 0; i++)
        report(request, &ways[i], &candidates[i], &work);
    bench_must(fftnd_plan_query(work.async));
    bench_forget(candidates, n);
    for (int i = 0; i < n; i++)
        bench_must(redist_plan_free(&ways[i].exchange));
    check(cudaGraphExecDestroy(work.graph), "cudaGraphExecDestroy");
    if (work.whole_graph != NULL)
        check(cudaGraphExecDestroy(work.whole_graph), "cudaGraphExecDestroy");
    bench_must(fftnd_plan_free(&work.sync));
    bench_must(fftnd_plan_free(&work.async));
    for (int side = 0; side < 2; side++)
        bench_space_at(1)->release(work.arrays[side], 1);
}

static struct request request = {BENCH_SETTINGS_DEFAULT, .batch = 1};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "kind", .kind = BENCH_CHOICE, .value = &request.kind, .words = kinds,
     .help = "of the transforms (c2c)"},
    {.name = "precision", .kind = BENCH_CHOICE, .value = &request.precision, .words = precisions,
     .help = "of all numbers (double)"},
    {.name = "batch", .kind = BENCH_NUMBER, .value = &request.batch, .argument = "N",
     .help = "fields at once (1)", .minimum = 1},
    {.name = "plan-seconds", .kind = BENCH_NUMBER, .value = &request.plan_seconds, .argument = "N",
     .help = "to try configurations, 0 = the library's default (0)"},
    {.name = "method", .kind = BENCH_TEXT, .value = &request.method, .argument = "METHOD",
     .help = "of the exchanges of asynchronous transforms (the planner's)"},
    {.name = "overwrite", .kind = BENCH_FLAG, .value = &request.overwrite,
     .help = "plans may overwrite their input, as cuFFT's of r2c do"},
    BENCH_COMMON_OPTIONS(&request.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    const char *missing = bench_space_at(1)->begin();
    if (missing != NULL)
        return bench_refuse(program, "no device: %s", missing);
    measure(&request);
    return 0;
}

int main(int argc, char **argv) {
    static const bench_program program = {"fftnd-stream-bench",
                                          "times transforms on devices in each way to run them",
                                          options,
                                          sizeof options / sizeof *options,
                                          notes,
                                          NULL,
                                          run};
    request.settings.iterations = 50;
    bench_space_cuda.prepare();
    return bench_main(&program, argc, argv);
}
