/* SPDX-License-Identifier: BSD-3-Clause */
#include "serial_fftw.h"
#include "options.h"
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

/* What one plan does along one axis. */
struct step {
    enum fftnd_axis axis; /* FFTND_AXIS_NONE: nothing */
    int backward;
    fftw_r2r_kind r2r;
};

/* Makes, runs and frees plans of one precision; set_threads: for as many threads plans are made from now on. */
#define SERIAL_PLANS(X, number, precision)                                                         \
    static void *X##_bench_plan(struct step step, const fftw_iodim64 *axis, int nrest,             \
                                const fftw_iodim64 rest[], void *data, unsigned flags) {           \
        if (step.axis == FFTND_AXIS_COMPLEX)                                                       \
            return X##_plan_guru64_dft(1, axis, nrest, rest, data, data,                           \
                                       step.backward ? FFTW_BACKWARD : FFTW_FORWARD, flags);       \
        if (step.axis == FFTND_AXIS_R2R)                                                           \
            return X##_plan_guru64_r2r(1, axis, nrest, rest, data, data, &step.r2r, flags);        \
        if (step.backward)                                                                         \
            return X##_plan_guru64_dft_c2r(1, axis, nrest, rest, data, data, flags);               \
        return X##_plan_guru64_dft_r2c(1, axis, nrest, rest, data, data, flags);                   \
    }                                                                                              \
                                                                                                   \
    static void X##_bench_set_threads(int threads) {                                               \
        X##_init_threads();                                                                        \
        X##_plan_with_nthreads(threads);                                                           \
    }                                                                                              \
                                                                                                   \
    static void X##_bench_execute(void *plan) {                                                    \
        X##_execute(plan);                                                                         \
    }                                                                                              \
                                                                                                   \
    static void X##_bench_destroy(void *plan) {                                                    \
        X##_destroy_plan(plan);                                                                    \
    }
LINES__FFTW_PRECISIONS(SERIAL_PLANS)

#define SERIAL_LIBRARY(X, number, precision)                                                       \
    [precision] = {sizeof(number), X##_bench_plan, X##_bench_execute, X##_bench_destroy,           \
                   X##_bench_set_threads},
static const struct serial_library {
    size_t real_bytes;
    void *(*plan)(struct step step, const fftw_iodim64 *axis, int nrest, const fftw_iodim64 rest[],
                  void *data, unsigned flags);
    void (*execute)(void *plan);
    void (*destroy)(void *plan);
    void (*set_threads)(int threads);
} libraries[] = {LINES__FFTW_PRECISIONS(SERIAL_LIBRARY)};

/* The plans of all axes, one list for each direction. */
struct serial {
    const struct serial_library *library;
    const bench_problem *problem;
    int grid_ndims;
    int grid[REDIST_MAX_NDIMS];
    int order[REDIST_MAX_NDIMS]; /* the axis at each place of the chain */
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

static int is_none(const struct serial *serial, int axis) {
    return serial->problem->axes[axis] == FFTND_AXIS_NONE;
}

/*
 * The axis that a grid dimension splits while the one at a place of the order is transformed. With g dimensions, those
 * from that place on have exchanged already, and split the next axes; one that is not transformed stays split.
 */
static int split_axis(const struct serial *serial, int dim, int place) {
    int at = dim;
    if (serial->problem->ndims > 1 && dim >= place && !is_none(serial, serial->order[dim]))
        for (at++; at < serial->grid_ndims && is_none(serial, serial->order[at]);)
            at++;
    return serial->order[at];
}

static int place_of(const struct serial *serial, int axis) {
    int place = 0;
    while (serial->order[place] != axis)
        place++;
    return place;
}

/* The local extents while `axis` is transformed, spectral ones where it is halved. One axis over all ranks is so
 * anyway. */
static void local_extents(const struct serial *serial, int axis, redist_index extents[]) {
    const bench_problem *problem = serial->problem;
    redist_index start;
    for (int i = 0; i < problem->ndims; i++)
        extents[i] =
            problem->axes[i] == FFTND_AXIS_HALVED ? problem->sizes[i] / 2 + 1 : problem->sizes[i];
    for (int dim = 0; dim < serial->grid_ndims; dim++) {
        int split = split_axis(serial, dim, place_of(serial, axis));
        bench_must(redist_decompose(extents[split], serial->grid[dim], serial->coords[dim],
                                    &extents[split], &start));
    }
}

/* Bytes of the local array while `axis` is transformed. */
static size_t local_bytes(const struct serial *serial, int axis) {
    redist_index extents[REDIST_MAX_NDIMS];
    size_t components = (size_t)bench_components(serial->problem, FFTND_SPECTRAL);
    size_t bytes = serial->library->real_bytes * components * (size_t)serial->problem->batch;
    local_extents(serial, axis, extents);
    for (int i = 0; i < serial->problem->ndims; i++)
        bytes *= (size_t)extents[i];
    return bytes;
}

/* The step along an axis in one direction. */
static struct step step_along(const bench_problem *problem, int axis, int direction) {
    static const fftw_r2r_kind kinds[][2] = {
        [FFTND_DCT1] = {FFTW_REDFT00, FFTW_REDFT00}, [FFTND_DCT2] = {FFTW_REDFT10, FFTW_REDFT01},
        [FFTND_DCT3] = {FFTW_REDFT01, FFTW_REDFT10}, [FFTND_DCT4] = {FFTW_REDFT11, FFTW_REDFT11},
        [FFTND_DST1] = {FFTW_RODFT00, FFTW_RODFT00}, [FFTND_DST2] = {FFTW_RODFT10, FFTW_RODFT01},
        [FFTND_DST3] = {FFTW_RODFT01, FFTW_RODFT10}, [FFTND_DST4] = {FFTW_RODFT11, FFTW_RODFT11},
        [FFTND_R2HC] = {FFTW_R2HC, FFTW_HC2R},       [FFTND_HC2R] = {FFTW_HC2R, FFTW_R2HC},
        [FFTND_DHT] = {FFTW_DHT, FFTW_DHT}};
    return (struct step){problem->axes[axis], direction == REDIST_BACKWARD,
                         kinds[problem->r2r[axis]][direction]};
}

/*
 * Describes the local array to FFTW: dims[axis] becomes the transformed axis, the others and the
 * batch the loops. In place, the real array's rows are as long as the complex ones. From real to real,
 * real and imaginary parts are lines of their own.
 */
static void describe_array(const struct serial *serial, int axis, const struct step *step,
                           fftw_iodim64 dims[]) {
    const bench_problem *problem = serial->problem;
    int last = problem->ndims - 1;
    redist_index extents[REDIST_MAX_NDIMS];
    int halved = step->axis == FFTND_AXIS_HALVED;
    int parts = step->axis == FFTND_AXIS_R2R ? bench_components(problem, FFTND_SPECTRAL) : 1;
    ptrdiff_t stride = parts;
    local_extents(serial, axis, extents);
    for (int i = last; i >= -1; i--) {
        ptrdiff_t count = i >= 0 ? extents[i] : problem->batch;
        ptrdiff_t real_stride = i == last ? 1 : 2 * stride;
        dims[i + 1].n = halved && i == last ? problem->sizes[last] : count;
        dims[i + 1].is = halved && !step->backward ? real_stride : stride;
        dims[i + 1].os = halved && step->backward ? real_stride : stride;
        stride *= count;
    }
    dims[last + 2] = (fftw_iodim64){parts, 1, 1};
}

static void *plan_axis(const struct serial *serial, int axis, int direction, void *data) {
    struct step step = step_along(serial->problem, axis, direction);
    fftw_iodim64 dims[REDIST_MAX_NDIMS + 2], rest[REDIST_MAX_NDIMS + 1];
    int nrest = 0;
    describe_array(serial, axis, &step, dims);
    for (int i = 0; i <= serial->problem->ndims + 1; i++)
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
        if (local_bytes(serial, axis) == 0 || is_none(serial, axis))
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

static struct serial *create_serial(const bench_problem *problem, const bench_transform *like) {
    struct serial *serial = calloc(1, sizeof *serial);
    if (!serial)
        bench_abort("no memory for the serial plans");
    serial->library = &libraries[problem->precision];
    serial->problem = problem;
    serial->grid_ndims = like->grid_ndims;
    memcpy(serial->grid, like->grid, sizeof serial->grid);
    for (int i = 0; i < problem->ndims; i++)
        serial->order[i] = problem->kind == FFTND_MIXED ? like->order[i] : i;
    find_coords(serial);
    return serial;
}

bench_transform bench_serial_create(const bench_problem *problem, const bench_transform *like,
                                    const bench_arrays *input, bench_arrays *arrays) {
    struct serial *serial = create_serial(problem, like);
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
