/* SPDX-License-Identifier: BSD-3-Clause */
/* lines-bench: every variant of the kernels that transform lines on a device, in place, beside a copy of the same
 * array. */
#include "../liblines/cuda/panel_plans.h"
#include "options.h"
#include "sizes.h"

#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

static const char notes[] =
    "Times over that of a copy of the same array, the fastest of --iters runs: x = lines along\n"
    "the slowest axis, y = along the middle one of a cube, u = the same with n / 2 + 1 lines side\n"
    "by side, g = x, of which a third of the modes is not written, z = contiguous lines, r = real\n"
    "ones (n even). A column is a variant, which FFTND_LINES=panelsN dictates: kernel 0 with 4, "
    "8,\n"
    "16 lines side by side (z, r: 1, 2, 4; floats: twice as many), kernel 1 with as many; from 6\n"
    "on lines cut for 1, 2, 4, 8 blocks (FFTND_LINES=planesN). A dot: there is none.\n";

static const char *const precisions[] = {"double", "float", NULL};

struct request {
    const char *sizes;
    int precision, mib, iterations, backward;
};

struct arrays {
    void *array, *copy;
    cudaStream_t stream;
    cudaEvent_t begun, ended;
    size_t bytes;
};

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess)
        bench_abort("lines-bench: %s: %s", what, cudaGetErrorString(error));
}

/* Arrays of three axes, in place; as many lines as fit. Returns their bytes. */
static size_t lay_out(char layout, int n, int is_double, size_t bytes,
                      struct lines__panel_lines *lines) {
    const int along = layout == 'z' || layout == 'r';
    const ptrdiff_t item = is_double ? 16 : 8, row = layout == 'r' ? n / 2 + 1 : n,
                    all = (ptrdiff_t)bytes / item / row, side = layout == 'y' ? n : n / 2 + 1;
    *lines = (struct lines__panel_lines){.layout = layout == 'r' ? LINES__REAL
                                                   : along       ? LINES__CONTIGUOUS
                                                                 : LINES__STRIDED,
                                         .is_double = is_double,
                                         .may_cut = layout != 'g'};
    if (layout == 'x' || layout == 'g' || along) {
        const ptrdiff_t count = all / 32 * 32;
        lines->axis = (struct lines__loop){n, along ? 1 : count, along ? 1 : count};
        lines->side = (struct lines__loop){count, along ? row : 1, along ? row : 1};
        return (size_t)(count * row * item);
    }
    lines->axis = (struct lines__loop){n, side, side};
    lines->side = (struct lines__loop){side, 1, 1};
    lines->outer[lines->nouter++] = (struct lines__loop){all / side, n * side, n * side};
    return (size_t)(all / side * n * side * item);
}

/* Milliseconds of the fastest run; a plan of NULL copies. */
static double time_runs(const struct request *request, const struct arrays *arrays, size_t bytes,
                        const struct lines__panel_plan *plan, const struct lines__panel_gap *gap) {
    float best = 0.0F, now;
    for (int i = 0; i <= request->iterations; i++) {
        check(cudaEventRecord(arrays->begun, arrays->stream), "cudaEventRecord");
        if (plan == NULL)
            check(cudaMemcpyAsync(arrays->copy, arrays->array, bytes, cudaMemcpyDeviceToDevice,
                                  arrays->stream),
                  "cudaMemcpyAsync");
        else
            bench_must(lines__panel_plan_execute(plan, &(struct lines__panel_work){.gap = gap},
                                                 arrays->array, arrays->array, arrays->stream));
        check(cudaEventRecord(arrays->ended, arrays->stream), "cudaEventRecord");
        check(cudaEventSynchronize(arrays->ended), "cudaEventSynchronize");
        check(cudaEventElapsedTime(&now, arrays->begun, arrays->ended), "cudaEventElapsedTime");
        if (i == 1 || now < best)
            best = now;
    }
    return (double)best;
}

static void measure_layout(const struct request *request, const struct arrays *arrays, int n,
                           char layout) {
    struct lines__panel_lines lines;
    size_t bytes = lay_out(layout, n, request->precision == 0, arrays->bytes, &lines);
    double copy = time_runs(request, arrays, bytes, NULL, NULL), best = 0.0;
    const unsigned third = (unsigned)n / 3;
    const struct lines__panel_gap retained = {.low = third,
                                              .high = (unsigned)n - third,
                                              .half = {(unsigned)n, (unsigned)n},
                                              .shift = ((ptrdiff_t)n - 2 * (ptrdiff_t)third) *
                                                       lines.axis.out},
                                  *gap = layout == 'g' ? &retained : NULL;
    int winner = -1;
    lines.direction = request->backward ? REDIST_BACKWARD : REDIST_FORWARD;
    printf("%-6d %-6s %c %9.3f ", n, precisions[request->precision], layout, copy);
    for (int variant = 0; variant < LINES__LINE_VARIANTS; variant++) {
        struct lines__panel_plan *plan = NULL;
        lines.variant = variant;
        if (lines__panel_plan_has_variant(&lines, variant))
            bench_must(lines__panel_plan_create(&lines, &plan));
        double now = plan != NULL ? time_runs(request, arrays, bytes, plan, gap) / copy : 0.0;
        lines__panel_plan_destroy(plan);
        printf(now > 0.0 ? " %6.2f" : "      .", now);
        if (now > 0.0 && (winner < 0 || now < best)) {
            winner = variant;
            best = now;
        }
    }
    printf("  %6.2f (%d)\n", best, winner);
    (void)fflush(stdout);
}

static void measure(const struct request *request, const int sizes[], int count) {
    struct arrays arrays = {.bytes = (size_t)request->mib << 20};
    check(cudaMalloc(&arrays.array, arrays.bytes), "cudaMalloc");
    check(cudaMalloc(&arrays.copy, arrays.bytes), "cudaMalloc");
    check(cudaMemset(arrays.array, 0, arrays.bytes), "cudaMemset");
    check(cudaStreamCreateWithFlags(&arrays.stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreate(&arrays.begun), "cudaEventCreate");
    check(cudaEventCreate(&arrays.ended), "cudaEventCreate");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    printf("%-6s %-6s %c %9s ", "n", "", ' ', "copy ms");
    for (int variant = 0; variant < LINES__LINE_VARIANTS; variant++)
        printf(" %6d", variant);
    printf("  %6s\n", "best");
    for (int i = 0; i < count; i++)
        for (const char *layout = "xyugzr"; *layout != '\0'; layout++)
            measure_layout(request, &arrays, sizes[i], *layout);
    check(cudaEventDestroy(arrays.begun), "cudaEventDestroy");
    check(cudaEventDestroy(arrays.ended), "cudaEventDestroy");
    check(cudaStreamDestroy(arrays.stream), "cudaStreamDestroy");
    check(cudaFree(arrays.array), "cudaFree");
    check(cudaFree(arrays.copy), "cudaFree");
}

static struct request request = {
    .sizes = "512,600,640,768,960,1000,1024", .mib = 1024, .iterations = 5};

/* clang-format off */
static const bench_option options[] = {
    {.name = "sizes", .kind = BENCH_TEXT, .value = &request.sizes,
     .argument = "N,N,... or random:N:SEED", .help = "lengths (512,600,640,768,960,1000,1024)"},
    {.name = "precision", .kind = BENCH_CHOICE, .value = &request.precision,
     .words = precisions, .help = "of all numbers (double)"},
    {.name = "backward", .kind = BENCH_FLAG, .value = &request.backward,
     .help = "backward transforms"},
    {.name = "mib", .kind = BENCH_NUMBER, .value = &request.mib, .argument = "N",
     .help = "2^20 bytes of an array (1024)", .minimum = 1},
    {.name = "iters", .kind = BENCH_NUMBER, .value = &request.iterations, .argument = "N",
     .help = "measured runs (5)", .minimum = 1}};
/* clang-format on */

static int run(const bench_program *program) {
    int count = 0, *sizes = bench_read_sizes(request.sizes, &count);
    const char *absent = bench_space_cuda.begin();
    if (sizes == NULL)
        return bench_refuse(program, "--sizes '%s' is not a list of lengths", request.sizes);
    if (absent != NULL)
        return bench_refuse(program, "no device: %s", absent);
    measure(&request, sizes, count);
    free(sizes);
    return 0;
}

int main(int argc, char **argv) {
    static const bench_program program = {"lines-bench",
                                          "times kernels that transform lines on a device",
                                          options,
                                          sizeof options / sizeof *options,
                                          notes,
                                          NULL,
                                          run};
    bench_space_cuda.prepare();
    return bench_main(&program, argc, argv);
}
