/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The serial transforms of a distributed transform on a device, alone: the axes that no grid dimension splits
 * by one plan, the others one by one, in place.
 */
#include "cufft.h"
#include "options.h"
#include <cufftXt.h>
#include <stdlib.h>

/* One plan, repeated `repeats` times at a distance of `step` bytes. */
struct part {
    cufftHandle plans[2];
    long long repeats;
    size_t step;
};

struct serial {
    const bench_problem *problem;
    int g, grid[REDIST_MAX_NDIMS], coords[REDIST_MAX_NDIMS];
    int nparts;
    struct part parts[REDIST_MAX_NDIMS];
    size_t area_bytes; /* scratch memory of all plans */
    void *area;
};

static void check(cufftResult result, const char *what) {
    if (result != CUFFT_SUCCESS)
        bench_abort("%s: cuFFT's error %d", what, (int)result);
}

/* The local extents while axis `whole` and those behind the grid's are whole; spectral ones. */
static void local_extents(const struct serial *serial, int whole, long long extents[]) {
    const bench_problem *problem = serial->problem;
    for (int i = 0; i < problem->ndims; i++) {
        int halved = problem->kind == FFTND_R2C && i == problem->ndims - 1;
        redist_index start, size = halved ? problem->sizes[i] / 2 + 1 : problem->sizes[i],
                            extent = size;
        int dim = i < whole ? i : i - 1;
        int split = i != whole && dim < serial->g;
        if (split)
            bench_must(
                redist_decompose(size, serial->grid[dim], serial->coords[dim], &extent, &start));
        extents[i] = extent;
    }
}

static long long product(const long long extents[], int first, int last) {
    long long all = 1;
    for (int i = first; i < last; i++)
        all *= extents[i];
    return all;
}

static cudaDataType data_type(const bench_problem *problem, int real) {
    if (problem->precision == FFTND_DOUBLE)
        return real ? CUDA_R_64F : CUDA_C_64F;
    return real ? CUDA_R_32F : CUDA_C_32F;
}

static void make_plans(struct serial *serial, struct part *part, int rank, long long n[],
                       long long embed[2][REDIST_MAX_NDIMS], long long stride, long long distance,
                       long long batch, int halves) {
    const bench_problem *problem = serial->problem;
    for (int direction = 0; direction < 2; direction++) {
        int from_real = halves && direction == REDIST_FORWARD;
        int to_real = halves && direction == REDIST_BACKWARD;
        size_t bytes;
        check(cufftCreate(&part->plans[direction]), "cufftCreate");
        check(cufftSetAutoAllocation(part->plans[direction], 0), "cufftSetAutoAllocation");
        check(cufftXtMakePlanMany(part->plans[direction], rank, n, embed[from_real], stride,
                                  from_real ? 2 * distance : distance,
                                  data_type(problem, from_real), embed[to_real], stride,
                                  to_real ? 2 * distance : distance, data_type(problem, to_real),
                                  batch, &bytes, data_type(problem, 0)),
              "cufftXtMakePlanMany");
        serial->area_bytes = bytes > serial->area_bytes ? bytes : serial->area_bytes;
    }
}

/* The axes from `first` on, at most three of them at once. */
static void add_inner(struct serial *serial, int first, int halves) {
    const bench_problem *problem = serial->problem;
    long long extents[REDIST_MAX_NDIMS], n[3], embed[2][REDIST_MAX_NDIMS];
    int last = problem->ndims, rank = last - first;
    local_extents(serial, serial->g, extents);
    for (int i = 0; i < rank; i++) {
        n[i] = problem->sizes[first + i];
        embed[0][i] = extents[first + i];
        embed[1][i] = i == rank - 1 ? 2 * extents[first + i] : extents[first + i];
    }
    long long batch = product(extents, 0, first) * problem->batch;
    struct part *part = &serial->parts[serial->nparts];
    *part = (struct part){.repeats = 1};
    if (batch != 0 && ++serial->nparts)
        make_plans(serial, part, rank, n, embed, 1, product(extents, first, last), batch, halves);
}

/* One axis, at the neighbours behind it at once. */
static void add_axis(struct serial *serial, int axis, int whole) {
    const bench_problem *problem = serial->problem;
    long long extents[REDIST_MAX_NDIMS], n[1] = {problem->sizes[axis]}, embed[2][REDIST_MAX_NDIMS];
    local_extents(serial, whole, extents);
    embed[0][0] = embed[1][0] = n[0];
    long long inner = product(extents, axis + 1, problem->ndims);
    size_t item = (problem->precision == FFTND_DOUBLE ? 8 : 4) * 2;
    struct part *part = &serial->parts[serial->nparts];
    *part = (struct part){.repeats = product(extents, 0, axis) * problem->batch,
                          .step = (size_t)(inner * extents[axis]) * item};
    if (part->repeats * inner != 0 && ++serial->nparts)
        make_plans(serial, part, 1, n, embed, inner, 1, inner, 0);
}

static void execute(bench_transform *transform, int direction) {
    const struct serial *serial = transform->plans[0];
    char *array = transform->arrays->physical;
    for (int i = 0; i < serial->nparts; i++) {
        int place = direction == REDIST_FORWARD ? i : serial->nparts - 1 - i;
        const struct part *part = &serial->parts[place];
        for (long long k = 0; k < part->repeats; k++) {
            char *here = array + (size_t)k * part->step;
            check(cufftXtExec(part->plans[direction], here, here,
                              direction == REDIST_FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE),
                  "cufftXtExec");
        }
    }
}

static void release(bench_transform *transform) {
    struct serial *serial = transform->plans[0];
    for (int i = 0; i < serial->nparts; i++)
        for (int direction = 0; direction < 2; direction++)
            check(cufftDestroy(serial->parts[i].plans[direction]), "cufftDestroy");
    transform->space->release(serial->area, 0);
    transform->space->release(transform->arrays->physical, 0);
    free(serial);
}

/* One is enough for plans that run one after the other. */
static void share_area(struct serial *serial) {
    const bench_space *space = serial->problem->space;
    serial->area = space->allocate(MPI_COMM_WORLD, serial->area_bytes, 0);
    for (int i = 0; i < serial->nparts; i++)
        for (int direction = 0; direction < 2; direction++)
            check(cufftSetWorkArea(serial->parts[i].plans[direction], serial->area),
                  "cufftSetWorkArea");
}

static size_t most_bytes(const struct serial *serial) {
    const bench_problem *problem = serial->problem;
    long long most = 0;
    for (int whole = 0; whole <= serial->g; whole++) {
        long long extents[REDIST_MAX_NDIMS];
        local_extents(serial, whole, extents);
        long long all = product(extents, 0, problem->ndims) * problem->batch;
        most = all > most ? all : most;
    }
    return (size_t)most * 2 * (problem->precision == FFTND_DOUBLE ? 8 : 4);
}

bench_transform bench_cufft_create(const bench_problem *problem, const bench_transform *like,
                                   const bench_arrays *input, bench_arrays *arrays) {
    struct serial *serial = calloc(1, sizeof *serial);
    int rank, d = problem->ndims;
    if (!serial)
        bench_abort("no memory for the serial plans");
    serial->problem = problem;
    serial->g = like->grid_ndims;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int dim = like->grid_ndims - 1; dim >= 0; dim--) {
        serial->grid[dim] = like->grid[dim];
        serial->coords[dim] = rank % like->grid[dim];
        rank /= like->grid[dim];
    }
    int inner = d - serial->g < 3 ? serial->g : d - 3;
    add_inner(serial, inner, problem->kind == FFTND_R2C);
    for (int axis = inner - 1; axis >= 0; axis--)
        add_axis(serial, axis, axis < serial->g ? axis : serial->g);
    share_area(serial);
    size_t bytes = most_bytes(serial);
    *arrays = (bench_arrays){.input = input->input, .original = input->original};
    arrays->physical = problem->space->allocate(MPI_COMM_WORLD, bytes, 0);
    arrays->spectral = arrays->physical;
    arrays->physical_bytes = bytes < input->physical_bytes ? bytes : input->physical_bytes;
    return (bench_transform){.library = "serial",
                             .in_place = 1,
                             .space = problem->space,
                             .arrays = arrays,
                             .plans = {serial},
                             .execute = execute,
                             .release = release};
}
