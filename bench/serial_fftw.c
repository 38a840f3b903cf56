/* SPDX-License-Identifier: BSD-3-Clause */
#include "serial_fftw.h"
#include "options.h"
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>

/* What one plan does along one axis. */
enum step { FORWARD, BACKWARD, REAL_TO_COMPLEX, COMPLEX_TO_REAL, DCT2, DCT3 };

#define FFTW(name) fftw_##name
#include "serial_fftw_plans.h"
#undef FFTW
#define FFTW(name) fftwf_##name
#include "serial_fftw_plans.h"
#undef FFTW

static const struct serial_library {
    size_t real_bytes;
    void *(*plan)(enum step step, const fftw_iodim64 *axis, int nrest, const fftw_iodim64 rest[],
                  void *data, unsigned flags);
    void (*execute)(void *plan);
    void (*destroy)(void *plan);
    void (*set_threads)(int threads);
} libraries[] = {
    [FFTND_DOUBLE] = {sizeof(double), fftw_bench_plan, fftw_bench_execute, fftw_bench_destroy,
                      fftw_bench_set_threads},
    [FFTND_FLOAT] = {sizeof(float), fftwf_bench_plan, fftwf_bench_execute, fftwf_bench_destroy,
                     fftwf_bench_set_threads},
};

/* The plans of all axes, one list for each direction. */
struct serial {
    const struct serial_library *library;
    const bench_problem *problem;
    int grid_ndims;
    int grid[REDIST_MAX_NDIMS];
    int coords[REDIST_MAX_NDIMS];
    int nplans;
    void *plans[2][REDIST_MAX_NDIMS];
};

unsigned bench_fftw_effort(enum fftnd_effort effort) {
    static const unsigned flags[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};
    return flags[effort];
}

/* This rank's place in a grid in rank order, the last dimension fastest. */
static void find_coords(struct serial *serial) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int dim = serial->grid_ndims - 1; dim >= 0; dim--) {
        serial->coords[dim] = rank % serial->grid[dim];
        rank /= serial->grid[dim];
    }
}

/*
 * The local extents while `axis` is transformed; spectral ones where the last axis is halved. With
 * axis i < g whole, grid dimensions 0..i-1 split the axes of the same number, and i..g-1 the next
 * ones; from axis g on, the array is still as it came in.
 */
static void local_extents(const struct serial *serial, int axis, int spectral,
                          redist_index extents[]) {
    const bench_problem *problem = serial->problem;
    int g = serial->grid_ndims;
    redist_index start;
    for (int i = 0; i < problem->ndims; i++) {
        int halved = spectral && problem->kind == FFTND_R2C && i == problem->ndims - 1;
        redist_index size = halved ? problem->sizes[i] / 2 + 1 : problem->sizes[i];
        int dim = axis >= g || i < axis ? i : i - 1;
        extents[i] = size;
        int split = i != axis && dim >= 0 && dim < g;
        if (split && redist_decompose(size, serial->grid[dim], serial->coords[dim], &extents[i],
                                      &start) != REDIST_OK)
            bench_abort("%s", redist_error_message());
    }
}

/* Bytes of the local array while `axis` is transformed. */
static size_t local_bytes(const struct serial *serial, int axis) {
    redist_index extents[REDIST_MAX_NDIMS];
    size_t components = serial->problem->kind == FFTND_R2R ? 1 : 2;
    size_t bytes = serial->library->real_bytes * components * (size_t)serial->problem->batch;
    local_extents(serial, axis, 1, extents);
    for (int i = 0; i < serial->problem->ndims; i++)
        bytes *= (size_t)extents[i];
    return bytes;
}

/* The step along an axis in one direction. */
static enum step step_along(const bench_problem *problem, int axis, int direction) {
    static const enum step steps[][2] = {
        {FORWARD, BACKWARD}, {REAL_TO_COMPLEX, COMPLEX_TO_REAL}, {DCT2, DCT3}};
    int halved = problem->kind == FFTND_R2C && axis == problem->ndims - 1;
    if (problem->kind == FFTND_R2R)
        return steps[2][direction];
    return steps[halved][direction];
}

/*
 * Describes the local array to FFTW: dims[axis] becomes the transformed axis, the others and the
 * batch the loops. In place, the real array's rows are as long as the complex ones.
 */
static void describe_array(const struct serial *serial, int axis, enum step step,
                           fftw_iodim64 dims[]) {
    const bench_problem *problem = serial->problem;
    int last = problem->ndims - 1;
    redist_index extents[REDIST_MAX_NDIMS];
    ptrdiff_t stride = 1;
    local_extents(serial, axis, 1, extents);
    for (int i = last; i >= -1; i--) {
        ptrdiff_t count = i >= 0 ? extents[i] : problem->batch;
        ptrdiff_t real_stride = i == last ? 1 : 2 * stride;
        int halved = step == REAL_TO_COMPLEX || step == COMPLEX_TO_REAL;
        dims[i + 1].n = halved && i == last ? problem->sizes[last] : count;
        dims[i + 1].is = step == REAL_TO_COMPLEX ? real_stride : stride;
        dims[i + 1].os = step == COMPLEX_TO_REAL ? real_stride : stride;
        stride *= count;
    }
}

static void *plan_axis(const struct serial *serial, int axis, int direction, void *data) {
    enum step step = step_along(serial->problem, axis, direction);
    fftw_iodim64 dims[REDIST_MAX_NDIMS + 1], rest[REDIST_MAX_NDIMS];
    int nrest = 0;
    describe_array(serial, axis, step, dims);
    for (int i = 0; i <= serial->problem->ndims; i++)
        if (i != axis + 1)
            rest[nrest++] = dims[i];
    void *plan = serial->library->plan(step, &dims[axis + 1], nrest, rest, data,
                                       bench_fftw_effort(serial->problem->effort));
    if (!plan)
        bench_abort("FFTW has no plan for axis %d", axis);
    return plan;
}

/* Forward runs from the last axis to the first, backward in reverse. */
static void plan_all(struct serial *serial, void *data) {
    for (int axis = serial->problem->ndims - 1; axis >= 0; axis--) {
        if (local_bytes(serial, axis) == 0)
            continue;
        for (int direction = 0; direction < 2; direction++)
            serial->plans[direction][serial->nplans] = plan_axis(serial, axis, direction, data);
        serial->nplans++;
    }
}

static void execute(bench_transform *transform, int direction) {
    const struct serial *serial = transform->plans[0];
    for (int i = 0; i < serial->nplans; i++) {
        int place = direction == REDIST_FORWARD ? i : serial->nplans - 1 - i;
        serial->library->execute(serial->plans[direction][place]);
    }
}

static void release(bench_transform *transform) {
    struct serial *serial = transform->plans[0];
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i < serial->nplans; i++)
            serial->library->destroy(serial->plans[direction][i]);
    transform->space->release(transform->arrays->physical, 0);
    free(serial);
}

static struct serial *create_serial(const bench_problem *problem, int grid_ndims,
                                    const int grid[]) {
    struct serial *serial = calloc(1, sizeof *serial);
    if (!serial)
        bench_abort("no memory for the serial plans");
    serial->library = &libraries[problem->precision];
    serial->problem = problem;
    serial->grid_ndims = grid_ndims;
    for (int dim = 0; dim < grid_ndims; dim++)
        serial->grid[dim] = grid[dim];
    find_coords(serial);
    return serial;
}

bench_transform bench_serial_create(const bench_problem *problem, int grid_ndims, const int grid[],
                                    const bench_arrays *input, bench_arrays *arrays) {
    struct serial *serial = create_serial(problem, grid_ndims, grid);
    size_t bytes = 0;
    for (int axis = 0; axis < problem->ndims; axis++)
        bytes = local_bytes(serial, axis) > bytes ? local_bytes(serial, axis) : bytes;
    *arrays = (bench_arrays){.input = input->input};
    arrays->physical = problem->space->allocate(MPI_COMM_WORLD, bytes, 0);
    arrays->spectral = arrays->physical;
    arrays->physical_bytes = bytes < input->physical_bytes ? bytes : input->physical_bytes;
    if (problem->threads > 1)
        serial->library->set_threads(problem->threads);
    plan_all(serial, arrays->physical);
    if (problem->threads > 1)
        serial->library->set_threads(1);
    return (bench_transform){.library = "serial",
                             .in_place = 1,
                             .space = problem->space,
                             .arrays = arrays,
                             .plans = {serial},
                             .execute = execute,
                             .release = release};
}
