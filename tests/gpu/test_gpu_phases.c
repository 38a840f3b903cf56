/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of exchanges on a device, and the model of its links. */
#include "device.h"
#include "fftnd.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>
#include <string.h>

static const redist_index whole[3] = {48, 36, 30};

struct setup {
    redist_index sizes[2][3];
    size_t bytes[2];
    void *arrays[2];
    char *host; /* what A holds at first, and room for as much */
    redist_plan *plan;
};

static void create_arrays(struct setup *setup) {
    for (int side = 0; side < 2; side++) {
        redist_index start;
        memcpy(setup->sizes[side], whole, sizeof whole);
        redist_decompose(whole[side], harness_nranks, harness_rank, &setup->sizes[side][side],
                         &start);
        setup->bytes[side] = sizeof(double);
        for (int i = 0; i < 3; i++)
            setup->bytes[side] *= (size_t)setup->sizes[side][i];
        check_ok(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, setup->bytes[side],
                                 &setup->arrays[side]));
        cudaMemset(setup->arrays[side], 0, setup->bytes[side]);
    }
    setup->host = calloc(2, setup->bytes[0]);
    for (size_t i = 0; i < setup->bytes[0]; i++)
        setup->host[i] = (char)(i * 31 + (size_t)harness_rank);
    cudaMemcpy(setup->arrays[0], setup->host, setup->bytes[0], cudaMemcpyDefault);
}

static void free_setup(struct setup *setup) {
    check_ok(redist_plan_free(&setup->plan));
    check_ok(redist_free(&setup->arrays[0]));
    check_ok(redist_free(&setup->arrays[1]));
    free(setup->host);
}

/* There and back through a cleared array; by start and wait too. */
static void check_round_trip(struct setup *setup) {
    char *back = setup->host + setup->bytes[0];
    check_ok(redist_plan_execute(setup->plan, REDIST_FORWARD));
    cudaMemset(setup->arrays[0], 0, setup->bytes[0]);
    cudaDeviceSynchronize();
    check_ok(redist_plan_start(setup->plan, REDIST_BACKWARD));
    check_ok(redist_plan_wait(setup->plan));
    cudaMemcpy(back, setup->arrays[0], setup->bytes[0], cudaMemcpyDefault);
    check_all(memcmp(back, setup->host, setup->bytes[0]) == 0, "the array is not what it was");
}

static void check_phases(const struct setup *setup) {
    redist_phases phases = REDIST_PHASES_DEFAULT;
    check_ok(redist_plan_get_phases(setup->plan, &phases));
    double sum =
        phases.pack + phases.first_message + phases.communicate + phases.unpack + phases.own_part;
    check_all(phases.executions == 2, "%lld executions", phases.executions);
    check_all(phases.total > 0 && sum - phases.total < 1e-9 && phases.total - sum < 1e-9,
              "the phases are %g, the total is %g", sum, phases.total);
}

static void try_method(const char *method, enum redist_staging staging) {
    struct setup setup = {.plan = NULL};
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.staging = staging;
    options.phases = 1;
    harness_case("method %s, staging %d", method, (int)staging);
    create_arrays(&setup);
    int code = redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, setup.sizes[0], setup.arrays[0],
                                    1, setup.sizes[1], setup.arrays[1], 0, &options, &setup.plan);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
    if (code == REDIST_OK) {
        check_round_trip(&setup);
        check_phases(&setup);
    }
    free_setup(&setup);
}

START_TEST(methods) {
    NEEDS_DEVICE();
    for (int i = 0; i < redist_method_count(); i++) {
        try_method(redist_method_name(i), REDIST_STAGING_ALWAYS);
        if (device_mpi_is_aware())
            try_method(redist_method_name(i), REDIST_STAGING_NEVER);
    }
}
END_TEST

START_TEST(fitted_model) {
    NEEDS_DEVICE();
    redist_model model = REDIST_MODEL_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.space = REDIST_SPACE_CUDA;
    check_ok(redist_model_fit(MPI_COMM_WORLD, &options, &model));
    check_all((model.node.bandwidth > 0) == (harness_nranks > 1), "%g s, %g B/s",
              model.node.latency, model.node.bandwidth);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {methods, fitted_model, NULL};
    return device_run(argc, argv, "test_gpu_phases", tests);
}
