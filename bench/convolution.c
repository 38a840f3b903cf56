/* SPDX-License-Identifier: BSD-3-Clause */
#include "convolution.h"
#include "cufft.h"

#include <complex.h>
#include <fftnd_operators.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if HAS_FFTW_MPI
#include <fftw3-mpi.h>
#endif

struct request {
    redist_index sizes[3], filled[3];
    const bench_space *space;
    int threads, overwrite;
};

static int is_on_host(const struct request *request) {
    return request->space == bench_space_at(0);
}

static void *allocate_zeros(size_t bytes) {
    void *memory = calloc(bytes + 1, 1);
    if (memory == NULL)
        bench_abort("no memory for a field of %zu bytes", bytes);
    return memory;
}

/* ---------------------------------------------------------------- this library */

/* A plan with or without `filled`, and the operator of a kernel that is 1 at 0, which leaves fields as they are. */
struct own {
    const struct request *request;
    fftnd_plan *plan;
    fftnd_operator *op;
    fftnd_layout layout;
    double *field, *result;
};

/* Value of a point of the field: none outside the part that is filled. */
static double value_at(const struct request *request, const redist_index at[]) {
    const redist_index *filled = request->filled;
    const redist_index i = (at[0] * filled[1] + at[1]) * filled[2] + at[2];
    return at[0] < filled[0] && at[1] < filled[1] && at[2] < filled[2]
               ? (double)(i % 1009) / 1009 - 0.5
               : 0;
}

/* Writes all points of this rank, or returns the largest difference of those that are filled. */
static double visit(const struct own *own, double *array, int is_written) {
    const fftnd_layout *layout = &own->layout;
    double worst = 0;
    for (redist_index i = 0; i < layout->count[0]; i++)
        for (redist_index j = 0; j < layout->count[1]; j++)
            for (redist_index k = 0; k < layout->count[2]; k++) {
                const redist_index at[3] = {layout->start[0] + i, layout->start[1] + j,
                                            layout->start[2] + k};
                const double value = value_at(own->request, at);
                double *point = array + layout->offset + i * layout->stride[0] +
                                j * layout->stride[1] + k * layout->stride[2];
                if (is_written)
                    *point = value;
                else if (value != 0)
                    worst = fmax(worst, fabs(*point - value));
            }
    return worst;
}

static void upload(const struct own *own, double *values) {
    own->request->space->copy(own->field, values, own->layout.bytes);
    own->request->space->synchronise();
}

static void open_plan(struct own *own, const struct request *request, int is_filled) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.mapped_arrays = 1;
    options.space = is_on_host(request) ? REDIST_SPACE_HOST : REDIST_SPACE_CUDA;
    options.overwrite_input = request->overwrite;
    options.threads = request->threads;
    options.grid_ndims = 1;
    options.filled = is_filled ? request->filled : NULL;
    *own = (struct own){.request = request};
    bench_must(fftnd_plan_create(MPI_COMM_WORLD, 3, request->sizes, FFTND_R2C, FFTND_DOUBLE,
                                 &options, &own->plan));
    bench_must(fftnd_layout_init(&own->layout, sizeof own->layout));
    bench_must(fftnd_plan_layout(own->plan, FFTND_PHYSICAL, &own->layout));
}

static void open_own(struct own *own, const struct request *request, int is_filled) {
    const redist_index first[3] = {0, 0, 0};
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    open_plan(own, request, is_filled);
    double *values = allocate_zeros(own->layout.bytes),
           *point = fftnd_layout_at(&own->layout, values, first, 0);
    own->field = request->space->allocate(MPI_COMM_WORLD, own->layout.bytes, 1);
    if (point != NULL)
        *point = 1;
    upload(own, values);
    bench_must(fftnd_operator_from_kernel(own->plan, own->field, NULL, &own->op));
    request->space->release(own->field, 1);
    bench_must(fftnd_operator_layout(own->op, 0, &layout)); /* may be larger: work space */
    own->field = request->space->allocate(MPI_COMM_WORLD, layout.bytes, 1);
    bench_must(fftnd_operator_layout(own->op, 1, &layout));
    own->result = request->space->allocate(MPI_COMM_WORLD, layout.bytes, 1);
    visit(own, values, 1);
    upload(own, values);
    free(values);
}

static void run_own(void *context) {
    struct own *own = context;
    bench_must(fftnd_apply(own->plan, own->op, own->field, own->result));
}

/* Convolves the field again, as rounds overwrite it if they may, and returns the largest error of all ranks. */
static double find_error(struct own *own) {
    double *values = allocate_zeros(own->layout.bytes), error;
    visit(own, values, 1);
    upload(own, values);
    run_own(own);
    own->request->space->copy(values, own->result, own->layout.bytes);
    own->request->space->synchronise();
    error = visit(own, values, 0);
    MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    free(values);
    return error;
}

static double work_mebibytes(const struct own *own) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    bench_must(fftnd_plan_get_info(own->plan, &info));
    return (double)(info.workspace_bytes + info.operator_bytes) / (1 << 20);
}

static void close_own(struct own *own) {
    own->request->space->release(own->field, 1);
    own->request->space->release(own->result, 1);
    bench_must(fftnd_operator_free(&own->op));
    bench_must(fftnd_plan_free(&own->plan));
}

/* ---------------------------------------------------------------- others */

#if HAS_FFTW_MPI
struct peer {
    fftw_plan plans[2];
    double *field;
    double complex *spectrum, *factors;
    ptrdiff_t nmodes;
};

static int open_peer(struct peer *peer, const struct request *request) {
    ptrdiff_t n[3], count[2], start[2];
    for (int axis = 0; axis < 3; axis++)
        n[axis] = request->sizes[axis];
    fftw_mpi_init();
    const ptrdiff_t half = n[2] / 2 + 1, all = fftw_mpi_local_size_3d_transposed(
                                             n[0], n[1], half, MPI_COMM_WORLD, &count[0], &start[0],
                                             &count[1], &start[1]);
    peer->nmodes = count[1] * n[0] * half;
    peer->field = fftw_alloc_real(2 * (size_t)all);
    peer->spectrum = (double complex *)fftw_alloc_complex((size_t)all);
    peer->factors = (double complex *)fftw_alloc_complex((size_t)all);
    if (peer->field == NULL || peer->spectrum == NULL || peer->factors == NULL)
        bench_abort("no memory for FFTW-MPI");
    peer->plans[0] = fftw_mpi_plan_dft_r2c_3d(
        n[0], n[1], n[2], peer->field, (fftw_complex *)peer->spectrum, MPI_COMM_WORLD,
        FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT | FFTW_DESTROY_INPUT);
    peer->plans[1] = fftw_mpi_plan_dft_c2r_3d(
        n[0], n[1], n[2], (fftw_complex *)peer->spectrum, peer->field, MPI_COMM_WORLD,
        FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN | FFTW_DESTROY_INPUT);
    if (peer->plans[0] == NULL || peer->plans[1] == NULL)
        bench_abort("FFTW-MPI has no plan for this transform");
    memset(peer->field, 0, 2 * (size_t)all * sizeof(double));
    for (ptrdiff_t i = 0; i < peer->nmodes; i++)
        peer->factors[i] = 1 / (double)(n[0] * n[1] * n[2]);
    return 1;
}

static void run_peer(void *context) {
    const struct peer *peer = context;
    fftw_execute(peer->plans[0]);
    for (ptrdiff_t i = 0; i < peer->nmodes; i++)
        peer->spectrum[i] *= peer->factors[i];
    fftw_execute(peer->plans[1]);
}

static void close_peer(struct peer *peer) {
    for (int i = 0; i < 2; i++)
        fftw_destroy_plan(peer->plans[i]);
    fftw_free(peer->field);
    fftw_free(peer->spectrum);
    fftw_free(peer->factors);
}
#else
struct peer {
    int absent;
};

static int open_peer(struct peer *peer, const struct request *request) {
    (void)request;
    peer->absent = 1;
    return 0;
}

static void run_peer(void *context) {
    (void)context;
}

static void close_peer(struct peer *peer) {
    (void)peer;
}
#endif

struct devices {
    bench_transform transform;
    bench_arrays arrays;
};

static int open_devices(struct devices *devices, const struct request *request) {
    bench_problem problem = {.ndims = 3,
                             .kind = FFTND_R2C,
                             .precision = FFTND_DOUBLE,
                             .batch = 1,
                             .space = request->space};
    memcpy(problem.sizes, request->sizes, sizeof request->sizes);
    return bench_cufft_xt_create(&problem, &devices->arrays, &devices->transform);
}

static void run_devices(void *context) {
    struct devices *devices = context;
    devices->transform.execute(&devices->transform, REDIST_FORWARD);
    devices->transform.execute(&devices->transform, REDIST_BACKWARD);
}

/* ---------------------------------------------------------------- all of them */

static void print(const bench_candidate candidates[], int n, const char *other, struct own own[]) {
    const char *const names[] = {"filled", "explicit zeros", other};
    double error[2];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 2; i++)
        error[i] = find_error(&own[i]);
    bench_print_times(candidates, n, names, 0, "filled");
    for (int i = 0; i < 2 && rank == 0; i++)
        printf("%-20s work space %.1f MiB, array %.1f MiB, error %.2g\n", names[i],
               work_mebibytes(&own[i]), (double)own[i].layout.bytes / (1 << 20), error[i]);
}

void bench_convolution(const bench_settings *settings, int threads, int overwrite) {
    struct request request = {
        .space = bench_space_at(settings->space), .threads = threads, .overwrite = overwrite};
    struct own own[2];
    struct peer peer;
    struct devices devices;
    for (int axis = 0; axis < 3; axis++) {
        request.sizes[axis] = settings->shape.values[axis];
        request.filled[axis] = (request.sizes[axis] + 1) / 2;
    }
    for (int i = 0; i < 2; i++)
        open_own(&own[i], &request, i == 0);
    const int on_host = is_on_host(&request);
    const int has_other = on_host ? open_peer(&peer, &request) : open_devices(&devices, &request);
    bench_candidate candidates[] = {{.context = &own[0], .nsteps = 1, .steps = {run_own}},
                                    {.context = &own[1], .nsteps = 1, .steps = {run_own}},
                                    {.context = on_host ? (void *)&peer : (void *)&devices,
                                     .nsteps = 1,
                                     .steps = {on_host ? run_peer : run_devices}}};
    bench_rounds(MPI_COMM_WORLD, candidates, 2 + has_other, settings->warmup, settings->iterations);
    print(candidates, 2 + has_other, on_host ? "FFTW-MPI" : "cuFFT on all devices", own);
    bench_forget(candidates, 2 + has_other);
    for (int i = 0; i < 2; i++)
        close_own(&own[i]);
    if (on_host && has_other)
        close_peer(&peer);
    else if (has_other)
        devices.transform.release(&devices.transform);
}
