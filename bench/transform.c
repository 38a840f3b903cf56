/* SPDX-License-Identifier: BSD-3-Clause */
#include "transform.h"
#include "options.h"
#include <stdlib.h>
#include <string.h>

const char *const bench_efforts[] = {"estimate", "measure", "patient", NULL};

int bench_components(const bench_problem *problem, enum fftnd_side side) {
    int ncomponents = 1;
    for (int axis = 0; axis < problem->ndims; axis++)
        if (problem->axes[axis] == FFTND_AXIS_COMPLEX)
            ncomponents = 2;
    for (int axis = 0; axis < problem->ndims; axis++)
        if (problem->axes[axis] == FFTND_AXIS_HALVED)
            ncomponents = side == FFTND_PHYSICAL ? 1 : 2;
    return ncomponents;
}

static double growth_along(const bench_problem *problem, int axis) {
    double n = (double)problem->sizes[axis];
    if (problem->axes[axis] != FFTND_AXIS_R2R)
        return problem->axes[axis] == FFTND_AXIS_NONE ? 1 : n;
    enum fftnd_r2r r2r = problem->r2r[axis];
    if (r2r > FFTND_DST4)
        return n;
    return 2 * (r2r == FFTND_DCT1 ? n - 1 : r2r == FFTND_DST1 ? n + 1 : n);
}

double bench_unscaled_growth(const bench_problem *problem) {
    double growth = 1.0;
    for (int axis = 0; axis < problem->ndims; axis++)
        growth *= growth_along(problem, axis);
    return growth;
}

static void *host_memory(size_t bytes) {
    void *array = calloc(1, bytes ? bytes : 1);
    if (!array)
        bench_abort("no memory for an array of %zu bytes", bytes);
    return array;
}

enum { REPEATED_BYTES = 1 << 20 };

/* Some random numbers again and again, which takes no time. */
static void fill_repeatedly(const bench_problem *problem, void *array, size_t bytes) {
    size_t size = problem->precision == FFTND_DOUBLE ? sizeof(double) : sizeof(float);
    size_t filled = bytes < REPEATED_BYTES ? bytes : REPEATED_BYTES;
    void *numbers = host_memory(REPEATED_BYTES);
    unsigned state = (unsigned)problem->seed;
    for (size_t i = 0; i < REPEATED_BYTES / size; i++) {
        state = 1664525U * state + 1013904223U;
        double number = (double)(state >> 8) / (1 << 23) - 1.0;
        if (problem->precision == FFTND_DOUBLE)
            ((double *)numbers)[i] = number;
        else
            ((float *)numbers)[i] = (float)number;
    }
    problem->space->copy(array, numbers, filled);
    for (size_t more; filled < bytes; filled += more) {
        more = filled < bytes - filled ? filled : bytes - filled;
        problem->space->copy((char *)array + filled, array, more);
    }
    free(numbers);
}

static void fill(const bench_problem *problem, bench_arrays *arrays) {
    const bench_space *space = problem->space;
    int on_host = space == bench_space_at(0);
    if (!on_host)
        arrays->original = space->allocate(MPI_COMM_WORLD, arrays->physical_bytes, 0);
    if (on_host || !problem->unchecked) {
        arrays->input = host_memory(arrays->physical_bytes);
        bench_field_fill(&arrays->field, arrays->input);
        if (!on_host)
            space->copy(arrays->original, arrays->input, arrays->physical_bytes);
    } else
        fill_repeatedly(problem, arrays->original, arrays->physical_bytes);
}

void bench_arrays_create(const bench_problem *problem, bench_arrays *arrays) {
    const bench_space *space = problem->space;
    fill(problem, arrays);
    if (problem->in_place && arrays->physical_bytes < arrays->spectral_bytes)
        bench_abort("the physical side is smaller than the spectral side in place");
    arrays->physical = space->allocate(MPI_COMM_WORLD, arrays->physical_bytes, arrays->mappable[0]);
    arrays->spectral = problem->in_place ? arrays->physical
                                         : space->allocate(MPI_COMM_WORLD, arrays->spectral_bytes,
                                                           arrays->mappable[1]);
}

void bench_arrays_release(const bench_space *space, bench_arrays *arrays) {
    if (arrays->spectral != arrays->physical)
        space->release(arrays->spectral, arrays->mappable[1]);
    space->release(arrays->physical, arrays->mappable[0]);
    if (arrays->original != NULL)
        space->release(arrays->original, 0);
    free(arrays->input);
}

/* Every round begins with the same field, so that unscaled transforms do not overflow. */
static void prepare(void *context) {
    bench_transform *transform = context;
    const bench_arrays *arrays = transform->arrays;
    transform->space->copy(arrays->physical,
                           arrays->original != NULL ? arrays->original : arrays->input,
                           arrays->physical_bytes);
    transform->space->synchronise();
}

static void run(bench_transform *transform, int direction) {
    transform->execute(transform, direction);
    transform->space->synchronise();
}

static void run_forward(void *context) {
    run(context, REDIST_FORWARD);
}

static void run_backward(void *context) {
    run(context, REDIST_BACKWARD);
}

static double count(void *context) {
    bench_transform *transform = context;
    return transform->exchange_seconds(transform);
}

bench_candidate bench_transform_candidate(bench_transform *transform) {
    return (bench_candidate){.context = transform,
                             .prepare = prepare,
                             .nsteps = 2,
                             .steps = {run_forward, run_backward},
                             .count = transform->exchange_seconds ? count : NULL};
}

static void spoil(const bench_space *space, void *array, size_t bytes, void *scratch) {
    memset(scratch, 0xff, bytes); /* no number */
    space->copy(array, scratch, bytes);
}

void bench_transform_check(bench_transform *transform) {
    const bench_arrays *arrays = transform->arrays;
    const bench_space *space = transform->space;
    size_t bytes = arrays->physical_bytes > arrays->spectral_bytes ? arrays->physical_bytes
                                                                   : arrays->spectral_bytes;
    void *scratch = host_memory(bytes);
    prepare(transform);
    if (!transform->in_place)
        spoil(space, arrays->spectral, arrays->spectral_bytes, scratch);
    run(transform, REDIST_FORWARD);
    if (!transform->in_place)
        spoil(space, arrays->physical, arrays->physical_bytes, scratch);
    run(transform, REDIST_BACKWARD);
    space->copy(scratch, arrays->physical, arrays->physical_bytes);
    transform->max_error = bench_field_error(MPI_COMM_WORLD, &arrays->field, arrays->input, scratch,
                                             transform->growth);
    free(scratch);
}
