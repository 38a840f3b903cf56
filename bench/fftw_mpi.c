/* SPDX-License-Identifier: BSD-3-Clause */
#include "fftw_mpi.h"
#include "options.h"
#include "serial_fftw.h"
#include <fftw3-mpi.h>
#include <math.h>

/* What FFTW-MPI plans. */
struct request {
    enum fftnd_kind kind;
    int ndims;
    ptrdiff_t sizes[REDIST_MAX_NDIMS];
    ptrdiff_t batch; /* side by side at each point: FFTW-MPI has no other position */
    int backward;
};

#define FFTW(name) fftw_##name
#include "fftw_mpi_plans.h"
#undef FFTW
#define FFTW(name) fftwf_##name
#include "fftw_mpi_plans.h"
#undef FFTW

static const struct mpi_library {
    size_t real_bytes;
    void (*initialise)(void);
    void *(*plan)(const struct request *request, void *physical, void *spectral, unsigned flags);
    void (*remember)(int rank, const char *wisdom);
    int (*keep)(int rank, const char *wisdom);
    void (*execute)(void *plan);
    void (*destroy)(void *plan);
} libraries[] = {
    [FFTND_DOUBLE] = {sizeof(double), fftw_mpi_init, fftw_bench_mpi_plan, fftw_bench_mpi_remember,
                      fftw_bench_mpi_keep, fftw_bench_mpi_execute, fftw_bench_mpi_destroy},
    [FFTND_FLOAT] = {sizeof(float), fftwf_mpi_init, fftwf_bench_mpi_plan, fftwf_bench_mpi_remember,
                     fftwf_bench_mpi_keep, fftwf_bench_mpi_execute, fftwf_bench_mpi_destroy},
};

/* Flags of the spectral side's order, by whether there is one axis, that is transposed, and by direction. */
static const unsigned orderings[2][2][2] = {
    {{0, 0}, {FFTW_MPI_TRANSPOSED_OUT, FFTW_MPI_TRANSPOSED_IN}},
    {{0, 0}, {FFTW_MPI_SCRAMBLED_OUT, FFTW_MPI_SCRAMBLED_IN}}};

const char *bench_fftw_mpi_refusal(const bench_problem *problem) {
    if (problem->kind == FFTND_MIXED)
        return "FFTW-MPI has one kind for all axes";
    if (problem->ndims == 1 && (problem->kind != FFTND_C2C || problem->batch > 1))
        return "FFTW-MPI's transform of one axis is complex, without a batch";
    return NULL;
}

static struct request make_request(const bench_problem *problem) {
    struct request request = {
        .kind = problem->kind, .ndims = problem->ndims, .batch = problem->batch};
    for (int axis = 0; axis < problem->ndims; axis++)
        request.sizes[axis] = problem->sizes[axis];
    return request;
}

/* The same of one axis. */
static ptrdiff_t find_part(const struct request *request, ptrdiff_t *count, ptrdiff_t *start) {
    ptrdiff_t most = 0;
    for (int scrambled = 1; scrambled >= 0; scrambled--)
        for (int backward = 0; backward < 2; backward++) {
            ptrdiff_t count1, start1, *counts[2] = {count, &count1}, *starts[2] = {start, &start1};
            ptrdiff_t elements = fftw_mpi_local_size_1d(
                request->sizes[0], MPI_COMM_WORLD, backward ? FFTW_BACKWARD : FFTW_FORWARD,
                orderings[1][scrambled][backward], counts[backward], starts[backward],
                counts[!backward], starts[!backward]);
            most = elements > most ? elements : most;
        }
    return most;
}

/*
 * Finds this rank's slab and the number of elements to allocate, enough for both orderings. Slabs
 * are alike in both precisions.
 */
static ptrdiff_t find_slab(const struct request *request, ptrdiff_t *count, ptrdiff_t *start) {
    if (request->ndims == 1)
        return find_part(request, count, start);
    struct request spectral = *request;
    int last = request->ndims - 1;
    ptrdiff_t count1, start1;
    if (request->kind == FFTND_R2C)
        spectral.sizes[last] = request->sizes[last] / 2 + 1;
    ptrdiff_t transposed = fftw_mpi_local_size_many_transposed(
        spectral.ndims, spectral.sizes, spectral.batch, FFTW_MPI_DEFAULT_BLOCK,
        FFTW_MPI_DEFAULT_BLOCK, MPI_COMM_WORLD, count, start, &count1, &start1);
    ptrdiff_t natural =
        fftw_mpi_local_size_many(spectral.ndims, spectral.sizes, spectral.batch,
                                 FFTW_MPI_DEFAULT_BLOCK, MPI_COMM_WORLD, count, start);
    return natural > transposed ? natural : transposed;
}

/* The local physical array: a slab along axis 0, rows padded to the complex length for r2c. */
static fftnd_layout slab_layout(const struct request *request, ptrdiff_t count, ptrdiff_t start) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    layout.ndims = request->ndims;
    layout.batch_stride = 1;
    ptrdiff_t stride = request->batch;
    for (int axis = request->ndims - 1; axis >= 0; axis--) {
        redist_index size = (redist_index)request->sizes[axis];
        int padded = request->kind == FFTND_R2C && axis == request->ndims - 1;
        layout.sizes[axis] = size;
        layout.start[axis] = axis == 0 ? (int)start : 0;
        layout.count[axis] = axis == 0 ? (int)count : size;
        layout.stride[axis] = stride;
        stride *= padded ? 2 * (size / 2 + 1) : size;
    }
    return layout;
}

static void create_arrays(const bench_problem *problem, const struct request *request,
                          bench_arrays *arrays) {
    ptrdiff_t count, start;
    size_t elements = (size_t)find_slab(request, &count, &start);
    int ncomponents = problem->kind == FFTND_C2C ? 2 : 1;
    size_t element_bytes =
        libraries[problem->precision].real_bytes * (problem->kind == FFTND_R2R ? 1 : 2);
    *arrays = (bench_arrays){.field = {.layout = slab_layout(request, count, start),
                                       .precision = problem->precision,
                                       .ncomponents = ncomponents,
                                       .batch = problem->batch,
                                       .seed = problem->seed},
                             .physical_bytes = elements * element_bytes,
                             .spectral_bytes = elements * element_bytes};
    bench_arrays_create(problem, arrays);
}

static const struct mpi_library *library_of(const bench_transform *transform) {
    return &libraries[transform->arrays->field.precision];
}

static void execute(bench_transform *transform, int direction) {
    library_of(transform)->execute(transform->plans[direction]);
}

static void release(bench_transform *transform) {
    library_of(transform)->destroy(transform->plans[0]);
    library_of(transform)->destroy(transform->plans[1]);
}

/* Plans both directions; the input may be destroyed, which leaves FFTW the freest choice. */
static bench_transform plan_ordering(const bench_problem *problem, struct request *request,
                                     bench_arrays *arrays, int transposed) {
    const unsigned *ordering = orderings[problem->ndims == 1][transposed];
    bench_transform transform = {.library = "fftw-mpi",
                                 .method = "fftw-mpi",
                                 .chosen = "fftw-mpi",
                                 .ordering = !transposed           ? "natural"
                                             : problem->ndims == 1 ? "scrambled"
                                                                   : "transposed",
                                 .effort = bench_efforts[problem->effort],
                                 .in_place = problem->in_place,
                                 .grid_ndims = 1,
                                 .space = problem->space,
                                 .arrays = arrays,
                                 .growth = bench_unscaled_growth(problem),
                                 .workspace_bytes = NAN,
                                 .execute = execute,
                                 .release = release};
    MPI_Comm_size(MPI_COMM_WORLD, &transform.grid[0]);
    double begin = MPI_Wtime();
    for (int direction = 0; direction < 2; direction++) {
        request->backward = direction;
        transform.plans[direction] = libraries[problem->precision].plan(
            request, arrays->physical, arrays->spectral,
            bench_fftw_effort(problem->effort) | FFTW_DESTROY_INPUT | ordering[direction]);
        if (!transform.plans[direction])
            bench_abort("FFTW-MPI has no plan for this transform");
    }
    transform.plan_ms = 1e3 * (MPI_Wtime() - begin);
    return transform;
}

void bench_fftw_mpi_create(const bench_problem *problem, const char *wisdom, bench_arrays *arrays,
                           bench_transform transforms[BENCH_FFTW_MPI_TRANSFORMS]) {
    fftw_mpi_init(); /* the slabs are queried in double precision */
    const struct mpi_library *library = &libraries[problem->precision];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    library->initialise();
    if (wisdom)
        library->remember(rank, wisdom);
    struct request request = make_request(problem);
    create_arrays(problem, &request, arrays);
    for (int transposed = 0; transposed < BENCH_FFTW_MPI_TRANSFORMS; transposed++)
        transforms[transposed] = plan_ordering(problem, &request, arrays, transposed);
    if (wisdom && !library->keep(rank, wisdom))
        bench_abort("FFTW's wisdom could not be written to %s", wisdom);
}
