/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans and operators that are not freed before MPI_Finalize: it gives back what needs MPI, and they can be freed
 * afterwards, in any order, until no memory of the libraries is left. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "fftnd_operators.h"
#include "redist_support.h"

static atomic_long blocks;
static int failures;

static void *allocate(size_t bytes) {
    blocks++;
    return malloc(bytes);
}

static void release(void *memory) {
    blocks -= memory != NULL;
    free(memory);
}

static void expect(int holds, const char *what) {
    if (holds)
        return;
    failures++;
    fprintf(stderr, "FAILED: %s: %s\n", what, redist_error_message());
}

static void make_exchange(redist_plan **plan, const char *method, double *a, double *b) {
    const redist_index sizes[2] = {4, 4};
    redist_index sizes_a[2], sizes_b[2];
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    expect(redist_exchange_sizes(MPI_COMM_WORLD, 2, sizes, 0, 1, sizes_a, sizes_b) == REDIST_OK,
           "extents");
    expect(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes_a, a, 0, sizes_b, b, 1,
                                &options, plan) == REDIST_OK &&
               redist_plan_execute(*plan, REDIST_FORWARD) == REDIST_OK,
           method);
}

static void make_transform(fftnd_plan **plan, fftnd_operator **op) {
    const redist_index sizes[3] = {8, 6, 10};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.effort = FFTND_ESTIMATE;
    options.threads = 2;
    expect(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, plan) ==
               REDIST_OK,
           "a plan");
    expect(fftnd_operator_create(*plan, FFTND_DIVERGENCE, NULL, op) == REDIST_OK, "an operator");
}

int main(int argc, char **argv) {
    static const char *const methods[] = {"alltoallw", "p2p", "direct", "kway:2"};
    enum { METHODS = sizeof methods / sizeof *methods };
    redist_plan *exchanges[METHODS] = {NULL};
    fftnd_plan *plan = NULL, *first = NULL;
    fftnd_operator *op = NULL, *other = NULL;
    double a[16] = {0}, b[16] = {0};
    int rank;
    redist_set_allocator(allocate, release);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < METHODS; i++)
        make_exchange(&exchanges[i], methods[i], a, b);
    make_transform(&plan, &op);
    make_transform(&first, &other);
    expect(fftnd_operator_free(&other) == REDIST_OK, "an operator that is not forgotten");
    MPI_Finalize();
    expect(fftnd_forward(plan, a, b) == REDIST_ERR_STATE, "a transform after MPI_Finalize");
    expect(fftnd_plan_free(&first) == REDIST_OK && first == NULL, "a plan");
    expect(fftnd_plan_free(&plan) == REDIST_OK && plan == NULL, "the plan of an operator");
    expect(fftnd_operator_free(&op) == REDIST_OK && op == NULL, "the operator");
    for (int i = 0; i < METHODS; i++)
        expect(redist_plan_free(&exchanges[i]) == REDIST_OK && exchanges[i] == NULL, methods[i]);
    redist_forget_wisdom();
    if (blocks != 0)
        fprintf(stderr, "FAILED: %ld blocks of memory are left\n", blocks);
    failures += blocks != 0;
    if (rank == 0)
        printf("test_fftnd_forgotten: %s\n", failures ? "failed" : "passed");
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
