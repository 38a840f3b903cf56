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

static char *allocate_messages(const bench_once *once, int side) {
    const bench_block *block = once->blocks[side];
    size_t bytes = bench_block_elements(block) * block->element_bytes;
    return once->space->allocate_pinned != NULL ? once->space->allocate_pinned(bytes)
                                                : once->space->allocate(MPI_COMM_SELF, bytes, 0);
}

int bench_once_is_bound(const char *name) {
    return strncmp(name, "messages", strlen("messages")) == 0;
}

void bench_once_prepare(bench_once *once, const char *name) {
    for (int side = 0; side < 2 && bench_once_is_bound(name); side++)
        if (once->messages[side] == NULL)
            once->messages[side] = allocate_messages(once, side);
}

void bench_once_end(bench_once *once) {
    for (int side = 0; side < 2; side++)
        if (once->messages[side] != NULL && once->space->release_pinned != NULL)
            once->space->release_pinned(once->messages[side]);
        else if (once->messages[side] != NULL)
            once->space->release(once->messages[side], 0);
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

/* Pieces of a message as p2p has them on a device: of at most 4 MiB, or as many as a plan has tags. */
enum { PIECE_BYTES = 4 << 20, MOST_PIECES = 16 };

static int pieces_of(size_t bytes) {
    size_t pieces = (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
    return pieces < MOST_PIECES ? (int)pieces : MOST_PIECES;
}

/* The part of a block that is exchanged with a rank. */
static size_t part_bytes(const bench_block *block, int axis, int nranks, int rank) {
    redist_index part, first;
    redist_decompose(block->count[axis], nranks, rank, &part, &first);
    size_t bytes = bench_block_elements(block) * block->element_bytes;
    return bytes == 0 ? 0 : bytes / (size_t)block->count[axis] * (size_t)part;
}

/* Begins the messages of a side, one behind another in its memory; returns the number of requests. */
static int post(const bench_once *once, int side, int sends, int in_pieces,
                MPI_Request requests[]) {
    int rank, n = 0;
    size_t begin = 0;
    MPI_Comm_rank(once->comm, &rank);
    for (int distance = 1; distance < once->nranks; distance++) {
        int peer = (rank + (sends ? distance : once->nranks - distance)) % once->nranks;
        size_t bytes = part_bytes(once->blocks[side], once->axes[side], once->nranks, peer);
        redist_index length, start;
        for (int i = 0, pieces = in_pieces ? pieces_of(bytes) : bytes != 0; i < pieces; i++) {
            redist_decompose((redist_index)bytes, pieces, i, &length, &start);
            char *message = once->messages[side] + begin + start;
            if (sends)
                MPI_Isend(message, (int)length, MPI_BYTE, peer, i, once->comm, &requests[n++]);
            else
                MPI_Irecv(message, (int)length, MPI_BYTE, peer, i, once->comm, &requests[n++]);
        }
        begin += bytes;
    }
    return n;
}

static void run_messages(const bench_once *once, int direction, int in_pieces) {
    size_t most = 2 * (size_t)once->nranks * MOST_PIECES;
    MPI_Request *requests = malloc(most * sizeof *requests);
    int n = post(once, !direction, 0, in_pieces, requests);
    n += post(once, direction, 1, in_pieces, requests + n);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void run_whole_messages(const bench_once *once, int direction) {
    run_messages(once, direction, 0);
}

static void run_pieces(const bench_once *once, int direction) {
    run_messages(once, direction, 1);
}

bench_once_run *bench_once_named(const char *name) {
    static const struct {
        const char *name;
        bench_once_run *run;
    } rows[] = {{"one-shot", run_library},
                {"listing", run_listing},
                {"messages", run_whole_messages},
                {"messages-in-pieces", run_pieces}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].run;
    return NULL;
}
