/* SPDX-License-Identifier: BSD-3-Clause */
/* cuFFT on all devices of the host from one process, rank 0's. */
#include "cufft.h"
#include "options.h"
#include <cufftXt.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_DEVICES = 16 };

struct transform {
    cufftHandle plans[2];
    cudaLibXtDesc *array;
    int rank, is_double, is_real;
    int ndevices, current;
};

static void check(cufftResult result, const char *what) {
    if (result != CUFFT_SUCCESS)
        bench_abort("%s: cuFFT's error %d", what, (int)result);
}

static cufftType type_of(const bench_problem *problem, int direction) {
    static const cufftType types[2][2][2] = {{{CUFFT_Z2Z, CUFFT_Z2Z}, {CUFFT_D2Z, CUFFT_Z2D}},
                                             {{CUFFT_C2C, CUFFT_C2C}, {CUFFT_R2C, CUFFT_C2R}}};
    return types[problem->precision != FFTND_DOUBLE][problem->kind == FFTND_R2C][direction];
}

static void synchronise(const struct transform *state) {
    for (int device = 0; device < state->ndevices; device++)
        if (cudaSetDevice(device) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
            bench_abort("device %d failed", device);
    if (cudaSetDevice(state->current) != cudaSuccess)
        bench_abort("device %d failed", state->current);
}

static cufftResult start(const struct transform *state, int direction) {
    cufftHandle plan = state->plans[state->is_real ? direction : 0];
    cudaLibXtDesc *array = state->array;
    int sign = direction == REDIST_FORWARD ? CUFFT_FORWARD : CUFFT_INVERSE;
    if (!state->is_real)
        return state->is_double ? cufftXtExecDescriptorZ2Z(plan, array, array, sign)
                                : cufftXtExecDescriptorC2C(plan, array, array, sign);
    if (direction == REDIST_FORWARD)
        return state->is_double ? cufftXtExecDescriptorD2Z(plan, array, array)
                                : cufftXtExecDescriptorR2C(plan, array, array);
    return state->is_double ? cufftXtExecDescriptorZ2D(plan, array, array)
                            : cufftXtExecDescriptorC2R(plan, array, array);
}

static void execute(bench_transform *transform, int direction) {
    struct transform *state = transform->plans[0];
    if (state->rank != 0)
        return;
    check(start(state, direction), "cufftXtExecDescriptor");
    synchronise(state);
}

static void release(bench_transform *transform) {
    struct transform *state = transform->plans[0];
    if (state->rank == 0) {
        check(cufftXtFree(state->array), "cufftXtFree");
        for (int i = 0; i <= state->is_real; i++)
            check(cufftDestroy(state->plans[i]), "cufftDestroy");
    }
    free(state);
}

static void make_plan(struct transform *state, const bench_problem *problem, int direction) {
    int devices[MOST_DEVICES];
    size_t bytes[MOST_DEVICES];
    int n[3];
    cufftHandle *plan = &state->plans[direction];
    for (int i = 0; i < 3; i++)
        n[i] = (int)problem->sizes[i]; /* --shape takes no more */
    for (int i = 0; i < state->ndevices; i++)
        devices[i] = i;
    check(cufftCreate(plan), "cufftCreate");
    check(cufftXtSetGPUs(*plan, state->ndevices, devices), "cufftXtSetGPUs");
    check(cufftMakePlan3d(*plan, n[0], n[1], n[2], type_of(problem, direction), bytes),
          "cufftMakePlan3d");
}

/* The array holds zeros: what is in it makes no difference to cuFFT. */
static void set_up(struct transform *state, const bench_problem *problem) {
    for (int direction = 0; direction <= state->is_real; direction++)
        make_plan(state, problem, direction);
    check(cufftXtMalloc(state->plans[0], &state->array, CUFFT_XT_FORMAT_INPLACE), "cufftXtMalloc");
    for (int i = 0; i < state->array->descriptor->nGPUs; i++) {
        if (cudaSetDevice(state->array->descriptor->GPUs[i]) != cudaSuccess ||
            cudaMemset(state->array->descriptor->data[i], 0, state->array->descriptor->size[i]) !=
                cudaSuccess)
            bench_abort("cudaMemset failed");
    }
    synchronise(state);
}

int bench_cufft_xt_create(const bench_problem *problem, bench_arrays *arrays,
                          bench_transform *transform) {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count < 2 || problem->ndims != 3 ||
        problem->batch != 1)
        return 0;
    struct transform *state = calloc(1, sizeof *state);
    if (!state)
        bench_abort("no memory for a plan");
    *state = (struct transform){.is_double = problem->precision == FFTND_DOUBLE,
                                .is_real = problem->kind == FFTND_R2C,
                                .ndevices = count < MOST_DEVICES ? count : MOST_DEVICES};
    if (cudaGetDevice(&state->current) != cudaSuccess)
        bench_abort("cudaGetDevice failed");
    MPI_Comm_rank(MPI_COMM_WORLD, &state->rank);
    *arrays = (bench_arrays){.physical_bytes = 0};
    double begin = MPI_Wtime();
    if (state->rank == 0)
        set_up(state, problem);
    MPI_Barrier(MPI_COMM_WORLD);
    *transform = (bench_transform){.library = "cufftxt",
                                   .method = "none",
                                   .chosen = "none",
                                   .ordering = "shuffled",
                                   .effort = "none",
                                   .in_place = 1,
                                   .space = problem->space,
                                   .arrays = arrays,
                                   .growth = 1,
                                   .plan_ms = 1e3 * (MPI_Wtime() - begin),
                                   .workspace_bytes = NAN,
                                   .max_error = NAN,
                                   .unchecked = 1,
                                   .plans = {state},
                                   .execute = execute,
                                   .release = release};
    return 1;
}
