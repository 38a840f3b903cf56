/* SPDX-License-Identifier: BSD-3-Clause */
#include "once.h"
#include "options.h"
#include <stdlib.h>
#include <string.h>

void bench_once_begin(bench_once *once) {
    MPI_Comm grid;
    const int periods[1] = {0}, remain[1] = {1};
    MPI_Comm_size(MPI_COMM_WORLD, &once->nranks);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &once->nranks, periods, 0, &grid);
    MPI_Cart_sub(grid, remain, &once->comm);
    MPI_Comm_free(&grid);
}

void bench_once_end(bench_once *once) {
    if (once->comm != MPI_COMM_NULL)
        MPI_Comm_free(&once->comm);
}

static void run_library(const bench_once *once, int direction) {
    const bench_block *from = once->blocks[direction], *to = once->blocks[!direction];
    int code = redist_exchange(once->comm, once->type, from->ndims, from->count,
                               once->arrays[direction], once->axes[direction], to->count,
                               once->arrays[!direction], once->axes[!direction]);
    if (code != REDIST_OK)
        bench_abort("redist-bench: one-shot: %s", redist_error_message());
}

/* A subarray for each rank: that part of the axis which the rank has on the other side. */
static void create_types(const bench_once *once, const bench_block *block, int axis,
                         MPI_Datatype types[]) {
    int extent[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS], start[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < block->ndims; i++)
        extent[i] = count[i] = (int)block->count[i]; /* --shape takes no more */
    for (int rank = 0; rank < once->nranks; rank++) {
        redist_index part, first;
        redist_decompose(block->count[axis], once->nranks, rank, &part, &first);
        count[axis] = (int)part;
        start[axis] = (int)first;
        MPI_Type_create_subarray(block->ndims, extent, count, start, MPI_ORDER_C, once->type,
                                 &types[rank]);
        MPI_Type_commit(&types[rank]);
    }
}

/* Everything in each call, as the paper has it. */
static void run_listing(const bench_once *once, int direction) {
    size_t n = (size_t)once->nranks;
    MPI_Datatype *types[2];
    int *counts = malloc(n * sizeof *counts), *places = calloc(n, sizeof *places);
    for (int side = 0; side < 2; side++) {
        types[side] = malloc(n * sizeof(MPI_Datatype));
        create_types(once, once->blocks[side], once->axes[side], types[side]);
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = 1;
    MPI_Alltoallw(once->arrays[direction], counts, places, types[direction],
                  once->arrays[!direction], counts, places, types[!direction], once->comm);
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < n; i++)
            MPI_Type_free(&types[side][i]);
        free(types[side]);
    }
    free(counts);
    free(places);
}

bench_once_run *bench_once_named(const char *name) {
    if (strcmp(name, "one-shot") == 0)
        return run_library;
    return strcmp(name, "listing") == 0 ? run_listing : NULL;
}
