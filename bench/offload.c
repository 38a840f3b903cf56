/* SPDX-License-Identifier: BSD-3-Clause */
#include "offload.h"
#include "json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20, TRANSFORMS = 0, TRANSFERS = 1 };

/* What is measured. */
struct run {
    const bench_offload *offload;
    fftnd_plan *plan;
    fftnd_plan_info info;
    bench_field field;
    void *physical, *spectral; /* one array in place */
    bench_candidate candidates[2];
    double error;
    double
        link; /* 10^9 bytes that a rank can move in a second, up and down together; NAN = not known */
};

/* Large arrays in small pages take longer to get than to transform. */
static void *allocate(size_t bytes) {
    void *array = NULL;
    if (posix_memalign(&array, HUGE_PAGE, bytes > 0 ? bytes : 1) != 0)
        bench_abort("no memory for an array of %zu bytes", bytes);
    (void)madvise(array, bytes, MADV_HUGEPAGE);
    return array;
}

/* The processors of this machine for each of its ranks. */
static int count_threads(void) {
    int nranks;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &nranks);
    MPI_Comm_free(&node);
    return (int)sysconf(_SC_NPROCESSORS_ONLN) / nranks;
}

static void create_arrays(struct run *run) {
    const bench_problem *problem = run->offload->problem;
    fftnd_layout spectral = FFTND_LAYOUT_DEFAULT, *physical = &run->field.layout;
    bench_must(fftnd_plan_layout(run->plan, FFTND_PHYSICAL, physical));
    bench_must(fftnd_plan_layout(run->plan, FFTND_SPECTRAL, &spectral));
    run->field.precision = problem->precision;
    run->field.ncomponents = bench_components(problem, FFTND_PHYSICAL);
    run->field.batch = problem->batch;
    run->field.seed = problem->seed;
    run->field.threads = count_threads();
    run->physical = allocate(physical->bytes);
    run->spectral = problem->in_place ? run->physical : allocate(spectral.bytes);
}

/* The plan first: it may have pinned the arrays. */
static void release(struct run *run) {
    bench_must(fftnd_plan_free(&run->plan));
    run->offload->transform->plans[0] = NULL;
    if (run->spectral != run->physical)
        free(run->spectral);
    free(run->physical);
}

/* ---------------------------------------------------------------- rounds */

static void transform_forward(void *context) {
    struct run *run = context;
    bench_must(fftnd_forward(run->plan, run->physical, run->spectral));
}

static void transform_backward(void *context) {
    struct run *run = context;
    bench_must(fftnd_backward(run->plan, run->spectral, run->physical));
}

static void transfer_forward(void *context) {
    struct run *run = context;
    bench_must(fftnd_plan_transfer(run->plan, REDIST_FORWARD, run->physical, run->spectral));
}

static void transfer_backward(void *context) {
    struct run *run = context;
    bench_must(fftnd_plan_transfer(run->plan, REDIST_BACKWARD, run->spectral, run->physical));
}

/* Numbers that transfers leave may be anything; time does not depend on them. */
static void measure(struct run *run) {
    const bench_settings *settings = run->offload->settings;
    run->candidates[TRANSFORMS] = (bench_candidate){
        .context = run, .nsteps = 2, .steps = {transform_forward, transform_backward}};
    run->candidates[TRANSFERS] = (bench_candidate){
        .context = run, .nsteps = 2, .steps = {transfer_forward, transfer_backward}};
    bench_field_fill(&run->field, run->physical);
    transform_forward(run);
    transform_backward(run);
    bench_must(
        fftnd_plan_get_info(run->plan, &run->info)); /* with what is known after a transform */
    run->error = bench_field_error(MPI_COMM_WORLD, &run->field, NULL, run->physical, 1.0);
    run->link = NAN;
    if (run->offload->device_space->host_rate != NULL)
        run->link = run->offload->device_space->host_rate(MPI_COMM_WORLD);
    bench_rounds(MPI_COMM_WORLD, run->candidates, 2, settings->warmup, settings->iterations);
}

/* ---------------------------------------------------------------- results */

/* 10^9 bytes that a rank moves in a second, up and down together. */
static double rate(const struct run *run) {
    return 2e-6 * (double)run->info.transfer_bytes /
           bench_median_ms(&run->candidates[TRANSFERS], BENCH_WHOLE);
}

static double ratio(const struct run *run) {
    return bench_median_ms(&run->candidates[TRANSFORMS], BENCH_WHOLE) /
           bench_median_ms(&run->candidates[TRANSFERS], BENCH_WHOLE);
}

static void print_json(const struct run *run) {
    static const char *const whats[] = {"transforms", "transfers"};
    const bench_offload *offload = run->offload;
    int nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    for (int i = 0; i < 2; i++) {
        const bench_candidate *candidate = &run->candidates[i];
        bench_json_begin();
        bench_json_text("benchmark", "fftnd-bench-device");
        bench_json_text("what", whats[i]);
        bench_json_text("method", offload->transform->method);
        bench_json_text("chosen", run->info.method);
        bench_json_integers("shape", offload->settings->shape.values, offload->problem->ndims);
        bench_json_text("kind", offload->kind);
        bench_json_text("precision", offload->precision);
        bench_json_text("placement", offload->problem->in_place ? "in-place" : "out-of-place");
        bench_json_text("device", offload->device);
        bench_json_integer("device_mib", offload->device_mib);
        bench_json_integer("device_bytes", (long long)run->info.device_bytes);
        bench_json_integer("transfer_bytes", (long long)run->info.transfer_bytes);
        bench_json_text("arrays", run->info.buffered ? "through buffers" : "direct");
        bench_json_integer("ranks", nranks);
        bench_json_number("pair_ms_min", bench_min_ms(candidate, BENCH_WHOLE));
        bench_json_number("pair_ms_median", bench_median_ms(candidate, BENCH_WHOLE));
        bench_json_number("forward_ms_median", bench_median_ms(candidate, BENCH_FIRST_STEP));
        bench_json_number("backward_ms_median", bench_median_ms(candidate, BENCH_SECOND_STEP));
        bench_json_number("ratio", ratio(run));
        bench_json_number("link_gb_per_second", run->link);
        bench_json_number("max_error", run->error);
        bench_json_end();
    }
}

static void print_row(const char *what, const bench_candidate *candidate) {
    printf("%-14s %12.3f %12.3f %12.3f %12.3f\n", what, bench_min_ms(candidate, BENCH_WHOLE),
           bench_median_ms(candidate, BENCH_WHOLE), bench_median_ms(candidate, BENCH_FIRST_STEP),
           bench_median_ms(candidate, BENCH_SECOND_STEP));
}

static void print_table(const struct run *run) {
    const bench_offload *offload = run->offload;
    const bench_problem *problem = offload->problem;
    int nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    for (int i = 0; i < problem->ndims; i++)
        printf("%s%lld", i > 0 ? " x " : "", (long long)problem->sizes[i]);
    printf(" %s %s, batch of %d, %s, %d ranks, arrays %s\n", offload->kind, offload->precision,
           problem->batch, problem->in_place ? "in place" : "out of place", nranks,
           run->info.buffered ? "through buffers" : "direct");
    printf("device %s: %.1f MB of each rank, %.1f MB up and down in one direction; method %s\n\n",
           offload->device, 1e-6 * (double)run->info.device_bytes,
           1e-6 * (double)run->info.transfer_bytes, run->info.method);
    printf("%-14s %12s %12s %12s %12s\n", "", "pair min", "median ms", "forward", "backward");
    print_row("transforms", &run->candidates[TRANSFORMS]);
    print_row("transfers", &run->candidates[TRANSFERS]);
    printf("\nratio %.3f; transfers alone %.1f GB/s a rank", ratio(run), rate(run));
    if (!isnan(run->link))
        printf(", the link %.1f", run->link);
    printf("; max error %.1e; plan %.1f ms\n", run->error, offload->transform->plan_ms);
}

static double largest_error(const bench_problem *problem) {
    double points = 1.0;
    for (int axis = 0; axis < problem->ndims; axis++)
        points *= (double)problem->sizes[axis];
    return (problem->precision == FFTND_DOUBLE ? 1e-14 : 5.4e-6) * fmax(1.0, log2(points));
}

int bench_offload_measure(const bench_offload *offload) {
    struct run run = {.offload = offload,
                      .plan = offload->transform->plans[0],
                      .info = FFTND_PLAN_INFO_DEFAULT,
                      .field.layout = FFTND_LAYOUT_DEFAULT};
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench_must(fftnd_plan_get_info(run.plan, &run.info));
    create_arrays(&run);
    measure(&run);
    if (rank == 0)
        (offload->settings->json ? print_json : print_table)(&run);
    int good = run.error <= largest_error(offload->problem);
    bench_forget(run.candidates, 2);
    release(&run);
    return good ? 0 : 1;
}
