/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * operator-bench: an operator fused with its transforms, the same one after the other, a pair of transforms alone, and
 * FFTW-MPI's transforms (where it is installed) with transposed output around the multiplication, of a real field in
 * double precision. On a device the first and the third. A convolution with a kernel is in convolution.c.
 */
#include "convolution.h"
#include "options.h"
#include "space.h"
#include "timing.h"

#include <complex.h>
#include <fftnd_operators.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#if HAS_FFTW_MPI
#include <fftw3-mpi.h>
#endif

enum { INVERSE_LAPLACIAN, GRADIENT, DERIVATIVE, CONVOLUTION };

struct request {
    bench_settings settings;
    int operation, axis, threads, overwrite;
};

/* All arrays, which are freed together. */
static void *arrays[32];
static int narrays;
static const bench_space *space;

static void *allocate(size_t bytes) {
    return arrays[narrays++] = space->allocate(MPI_COMM_WORLD, bytes, 1);
}

static void release_all(void) {
    while (narrays > 0)
        space->release(arrays[--narrays], 1);
}

static int on_host(void) {
    return space == bench_space_at(0);
}

/* ---------------------------------------------------------------- modes of the spectral side */

/* Of three axes: how many modes a rank has, in which order in memory, and which wavenumbers along each axis. */
struct modes {
    redist_index count[3];
    ptrdiff_t stride[3];
    double *k[3];
};

/* The inverse Laplacian, or the derivative along an axis. */
static void multiply(const struct modes *modes, int operation, int axis,
                     const double complex *spectrum, double complex *result, double scale) {
    for (redist_index i = 0; i < modes->count[0]; i++)
        for (redist_index j = 0; j < modes->count[1]; j++) {
            const ptrdiff_t row = i * modes->stride[0] + j * modes->stride[1];
            const double x = modes->k[0][i], y = modes->k[1][j], base = x * x + y * y;
            for (redist_index k = 0; k < modes->count[2]; k++) {
                const double z = modes->k[2][k], q = base + z * z;
                const double wave[3] = {x, y, z};
                if (operation != INVERSE_LAPLACIAN)
                    result[row + k] = I * scale * wave[axis] * spectrum[row + k];
                else
                    result[row + k] = spectrum[row + k] * (q > 0 ? -scale / q : 0);
            }
        }
}

/* ---------------------------------------------------------------- this library */

struct own {
    const struct request *request;
    fftnd_plan *plan;
    fftnd_operator *op;
    struct modes modes;
    double *field, *results[3];
    double complex *spectrum, *product;
};

static void fill(double *field, size_t bytes) {
    double *values = malloc(bytes + 1);
    if (values == NULL)
        bench_abort("no memory for a field of %zu bytes", bytes);
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        values[i] = (double)(i % 1009) / 1009 - 0.5;
    space->copy(field, values, bytes);
    space->synchronise();
    free(values);
}

static void open_operator(struct own *own, const struct request *request) {
    static const enum fftnd_operator_kind kinds[] = {[INVERSE_LAPLACIAN] = FFTND_INVERSE_LAPLACIAN,
                                                     [GRADIENT] = FFTND_GRADIENT,
                                                     [DERIVATIVE] = FFTND_DERIVATIVE};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    int orders[3] = {0};
    orders[request->axis] = 1;
    options.orders = orders;
    bench_must(fftnd_operator_create(own->plan, kinds[request->operation], &options, &own->op));
}

static void open_own(struct own *own, const struct request *request) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layouts[4];
    for (int i = 0; i < 4; i++)
        bench_must(fftnd_layout_init(&layouts[i], sizeof layouts[i]));
    redist_index sizes[3];
    bench_sizes(&request->settings, sizes);
    options.mapped_arrays = 1;
    options.space = on_host() ? REDIST_SPACE_HOST : REDIST_SPACE_CUDA;
    options.overwrite_input = request->overwrite;
    options.threads = request->threads;
    options.grid_ndims = 1;
    *own = (struct own){.request = request};
    bench_must(
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &own->plan));
    open_operator(own, request);
    bench_must(fftnd_plan_layout(own->plan, FFTND_PHYSICAL, &layouts[0]));
    bench_must(fftnd_plan_layout(own->plan, FFTND_SPECTRAL, &layouts[1]));
    bench_must(fftnd_operator_layout(own->op, 1, &layouts[2]));
    bench_must(fftnd_operator_layout(own->op, 0, &layouts[3])); /* may be larger: work space */
    own->field =
        allocate(layouts[3].bytes > layouts[0].bytes ? layouts[3].bytes : layouts[0].bytes);
    own->results[0] =
        allocate(layouts[2].bytes > layouts[0].bytes ? layouts[2].bytes : layouts[0].bytes);
    for (int i = 1; i < 3 && request->operation == GRADIENT; i++)
        own->results[i] = allocate(layouts[0].bytes);
    own->spectrum = allocate(layouts[1].bytes);
    own->product = allocate(layouts[1].bytes);
    fill(own->field, layouts[0].bytes);
    for (int axis = 0; axis < 3 && on_host(); axis++) {
        own->modes.count[axis] = layouts[1].count[axis];
        own->modes.stride[axis] = layouts[1].stride[axis];
        own->modes.k[axis] = allocate((size_t)layouts[1].count[axis] * sizeof(double));
        bench_must(fftnd_plan_wavenumbers(own->plan, axis, own->modes.k[axis]));
    }
}

static void run_pair(void *context) {
    struct own *own = context;
    bench_must(fftnd_forward(own->plan, own->field, own->spectrum));
    bench_must(fftnd_backward(own->plan, own->spectrum, own->results[0]));
}

static void run_apply(void *context) {
    struct own *own = context;
    bench_must(fftnd_apply(own->plan, own->op, own->field, own->results[0]));
}

static void run_apart(void *context) {
    struct own *own = context;
    int n = own->request->operation == GRADIENT ? 3 : 1;
    bench_must(fftnd_forward(own->plan, own->field, own->spectrum));
    for (int i = 0; i < n; i++) {
        multiply(&own->modes, own->request->operation, n > 1 ? i : own->request->axis,
                 own->spectrum, n > 1 ? own->product : own->spectrum, 1);
        bench_must(
            fftnd_backward(own->plan, n > 1 ? own->product : own->spectrum, own->results[i]));
    }
}

/* ---------------------------------------------------------------- FFTW-MPI */

#if HAS_FFTW_MPI
struct peer {
    const struct request *request;
    fftw_plan forward, backward;
    struct modes modes;
    double *field;
    double complex *spectrum, *product;
    double scale;
};

static void set_axis(struct modes *modes, int axis, ptrdiff_t n, ptrdiff_t start, ptrdiff_t count,
                     ptrdiff_t stride, int halved) {
    modes->count[axis] = count;
    modes->stride[axis] = stride;
    modes->k[axis] = allocate((size_t)count * sizeof(double));
    for (ptrdiff_t i = 0; i < count; i++)
        modes->k[axis][i] = (double)(start + i - (!halved && 2 * (start + i) >= n ? n : 0));
}

static void open_peer(struct peer *peer, const struct request *request) {
    ptrdiff_t n[3], count[2], start[2];
    for (int axis = 0; axis < 3; axis++)
        n[axis] = request->settings.shape.values[axis];
    ptrdiff_t half = n[2] / 2 + 1;
    fftw_mpi_init();
    ptrdiff_t all = fftw_mpi_local_size_3d_transposed(n[0], n[1], half, MPI_COMM_WORLD, &count[0],
                                                      &start[0], &count[1], &start[1]);
    *peer = (struct peer){.request = request, .scale = 1 / (double)(n[0] * n[1] * n[2])};
    peer->field = allocate(2 * (size_t)all * sizeof(double));
    peer->spectrum = allocate((size_t)all * sizeof(double complex));
    peer->product = allocate((size_t)all * sizeof(double complex));
    peer->forward = fftw_mpi_plan_dft_r2c_3d(
        n[0], n[1], n[2], peer->field, (fftw_complex *)peer->spectrum, MPI_COMM_WORLD,
        FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT | FFTW_DESTROY_INPUT);
    peer->backward = fftw_mpi_plan_dft_c2r_3d(
        n[0], n[1], n[2], (fftw_complex *)peer->product, peer->field, MPI_COMM_WORLD,
        FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN | FFTW_DESTROY_INPUT);
    if (peer->forward == NULL || peer->backward == NULL)
        bench_abort("FFTW-MPI has no plan for this transform");
    set_axis(&peer->modes, 0, n[0], 0, n[0], half, 0);
    set_axis(&peer->modes, 1, n[1], start[1], count[1], n[0] * half, 0);
    set_axis(&peer->modes, 2, n[2], 0, half, 1, 1);
}

static void run_peer(void *context) {
    struct peer *peer = context;
    int n = peer->request->operation == GRADIENT ? 3 : 1;
    fftw_execute(peer->forward);
    for (int i = 0; i < n; i++) {
        multiply(&peer->modes, peer->request->operation, n > 1 ? i : peer->request->axis,
                 peer->spectrum, peer->product, peer->scale);
        fftw_execute(peer->backward);
    }
}

static void close_peer(struct peer *peer) {
    fftw_destroy_plan(peer->forward);
    fftw_destroy_plan(peer->backward);
}
#else
struct peer {
    int absent;
};

static void open_peer(struct peer *peer, const struct request *request) {
    (void)request;
    peer->absent = 1;
}

static void run_peer(void *context) {
    (void)context;
}

static void close_peer(struct peer *peer) {
    (void)peer;
}
#endif

/* ---------------------------------------------------------------- all of them */

static void measure(const struct request *request) {
    static const char *const names[] = {"forward + backward", "fused", "one after the other",
                                        "FFTW-MPI"};
    struct own own;
    struct peer peer;
    int n = !on_host() ? 2 : HAS_FFTW_MPI ? 4 : 3;
    open_own(&own, request);
    if (on_host())
        open_peer(&peer, request);
    bench_candidate candidates[] = {{.context = &own, .nsteps = 1, .steps = {run_pair}},
                                    {.context = &own, .nsteps = 1, .steps = {run_apply}},
                                    {.context = &own, .nsteps = 1, .steps = {run_apart}},
                                    {.context = &peer, .nsteps = 1, .steps = {run_peer}}};
    bench_rounds(MPI_COMM_WORLD, candidates, n, request->settings.warmup,
                 request->settings.iterations);
    bench_print_times(candidates, n, names, 1, "fused");
    bench_forget(candidates, n);
    bench_must(fftnd_operator_free(&own.op));
    bench_must(fftnd_plan_free(&own.plan));
    if (on_host())
        close_peer(&peer);
    release_all();
}

/* ---------------------------------------------------------------- command line */

static struct request request = {BENCH_SETTINGS_DEFAULT, .threads = 1};
static const char *const operations[] = {"inverse-laplacian", "gradient", "derivative",
                                         "convolution", NULL};

/* clang-format off */
static const bench_option options[] = {
    BENCH_SHAPE_OPTION(&request.settings),
    {.name = "operator", .kind = BENCH_CHOICE, .value = &request.operation, .words = operations,
     .help = "what to apply (inverse-laplacian)"},
    {.name = "axis", .kind = BENCH_NUMBER, .value = &request.axis, .argument = "N",
     .help = "along which a derivative is (0)", .minimum = 0},
    {.name = "overwrite", .kind = BENCH_FLAG, .value = &request.overwrite,
     .help = "plans may overwrite their input"},
    BENCH_SPACE_OPTION(&request.settings),
    {.name = "threads", .kind = BENCH_NUMBER, .value = &request.threads, .argument = "N",
     .help = "of each rank (1)", .minimum = 1},
    BENCH_ROUNDS_OPTIONS(&request.settings)};
/* clang-format on */

static int run(const bench_program *program) {
    (void)program;
    if (request.settings.shape.count != 3)
        bench_abort("a field has three axes: --shape N,N,N");
    if (request.axis > 2)
        bench_abort("--axis %d: a field has axes 0, 1 and 2", request.axis);
    space = bench_space_at(request.settings.space);
    if (request.operation == CONVOLUTION)
        bench_convolution(&request.settings, request.threads, request.overwrite);
    else
        measure(&request);
    return 0;
}

BENCH_MAIN(
    "operator-bench", "Times an operator fused with its transforms beside the same steps apart.",
    "A convolution fills the first half of each axis, and is timed with fftnd_options.filled\n"
    "and with explicit zeros.\n",
    &request.settings.space, run)
