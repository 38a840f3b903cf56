/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a plan of each method costs in memory, on the rank that has most: bytes of its buffers, bytes of
 * the library's heap that it holds (buffers are among them unless peers map them), and the most that it
 * held while the plan was made. Every rank has about the same number of elements, however many ranks:
 *     plan-memory [ELEMENTS_PER_RANK [METHOD...]]
 * Methods that do not apply are left out.
 */
#include "redist.h"
#include "redist_support.h"
#include <stdio.h>
#include <stdlib.h>

static size_t held, most;

/* Each block begins with its size. */
static void *take(size_t bytes) {
    size_t *block = malloc(bytes + 16);
    if (!block)
        return NULL;
    *block = bytes;
    held += bytes;
    most = held > most ? held : most;
    return (char *)block + 16;
}

static void give(void *memory) {
    if (!memory)
        return;
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    held -= *block;
    free(block);
}

static long long largest(size_t bytes) {
    long long value = (long long)bytes;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    return value;
}

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return memory;
}

/* Rows to columns of a square of ranks; each part has `width` elements. */
static int make_plan(const char *method, int nranks, int width, void *a, void *b,
                     redist_plan **plan) {
    const redist_index sizes_a[3] = {1, nranks, width}, sizes_b[3] = {nranks, 1, width};
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.effort = REDIST_ESTIMATE;
    return redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, sizes_a, a, 1, sizes_b, b, 0,
                                &options, plan);
}

static void measure(const char *method, int nranks, int rank, int width, void *a, void *b) {
    redist_plan *plan = NULL;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    size_t before = held;
    most = held;
    if (make_plan(method, nranks, width, a, b, &plan) != REDIST_OK)
        return;
    if (redist_plan_get_info(plan, &info) != REDIST_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    long long peak = largest(most - before), kept = largest(held - before);
    long long buffers = largest(info.workspace_bytes);
    if (rank == 0)
        printf("%-12s %6d %12zu %12lld %12lld %12lld\n", info.method, nranks,
               sizeof(double) * (size_t)nranks * (size_t)width, buffers, kept, peak);
    redist_plan_free(&plan);
}

int main(int argc, char **argv) {
    static char *const usual[] = {"alltoallw", "p2p-type", "p2p",     "p2p-streams", "alltoallv",
                                  "kway:2",    "kway:8",   "kway:16", "direct",      "hier"};
    int nranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *const *methods = argc > 2 ? &argv[2] : usual;
    int nmethods = argc > 2 ? argc - 2 : (int)(sizeof usual / sizeof usual[0]);
    int elements = argc > 1 ? atoi(argv[1]) : 65536;
    int width = elements / nranks > 0 ? elements / nranks : 1;
    void *a = allocate(sizeof(double) * (size_t)nranks * (size_t)width);
    void *b = allocate(sizeof(double) * (size_t)nranks * (size_t)width);
    redist_set_allocator(take, give);
    if (rank == 0)
        printf("%-12s %6s %12s %12s %12s %12s\n", "method", "ranks", "array bytes", "buffers",
               "heap", "at most");
    for (int i = 0; i < nmethods; i++)
        measure(methods[i], nranks, rank, width, a, b);
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
