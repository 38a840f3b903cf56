/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays on CUDA devices, which the ranks of a node take in turn, and how fast these copy. */
#include "../examples/choose_device.h"
#include "../libredist/runtime/space.h"
#include "failure.h"
#include "space.h"
#include <stdlib.h>

static const redist__space *device(void) {
    return redist_space_at(REDIST_SPACE_CUDA);
}

/* What fails here fails again in `begin`, which can say so. */
static void prepare(void) {
    (void)choose_device();
}

static void *allocate(MPI_Comm comm, size_t bytes, int mappable) {
    void *array = NULL;
    bench_must(mappable ? redist_alloc_in(comm, REDIST_SPACE_CUDA, bytes, &array)
                        : device()->allocate(bytes, &array));
    bench_must(device()->clear(array, bytes));
    return array;
}

static void release(void *array, int mappable) {
    if (mappable)
        bench_must(redist_free(&array));
    else
        device()->release(array);
}

static void begin_copy(void *to, const void *from, size_t bytes, void *stream) {
    const redist_index count = (redist_index)bytes;
    const ptrdiff_t stride = 1;
    bench_must(
        redist_copy_box_in(REDIST_SPACE_CUDA, stream, 1, &count, 1, from, &stride, to, &stride));
}

static void copy(void *to, const void *from, size_t bytes) {
    begin_copy(to, from, bytes, NULL);
    bench_must(device()->stream_wait(NULL));
}

static void synchronise(void) {
    device()->drain();
}

static double slowest(MPI_Comm comm, double seconds) {
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm);
    return seconds;
}

/* ---------------------------------------------------------------- the rate of the engines */

enum { PUSHES = 7, PUSH_BYTES = 1 << 28 };

/* A buffer with a part for each rank, and the peers' buffers mapped. */
struct pushes {
    MPI_Comm comm;
    int rank, size;
    char *source, *destination;
    char **peers;
    void **streams;
    struct redist__mappings mappings;
};

static void open_peers(struct pushes *pushes) {
    size_t ranks = (size_t)pushes->size, bytes = ranks * PUSH_BYTES;
    struct redist__memory_handle mine, *handles = calloc(ranks, sizeof *handles);
    pushes->peers = calloc(ranks, sizeof *pushes->peers);
    pushes->streams = calloc(ranks, sizeof *pushes->streams);
    if (!handles || !pushes->peers || !pushes->streams)
        bench_abort("no memory for the handles of %d ranks", pushes->size);
    pushes->source = allocate(pushes->comm, bytes, 0);
    pushes->destination = allocate(pushes->comm, bytes, 1);
    mine = device()->export_memory(pushes->destination, bytes);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, handles, sizeof mine, MPI_BYTE, pushes->comm);
    for (int i = 0; i < pushes->size; i++) {
        bench_must(device()->stream_create(&pushes->streams[i]));
        pushes->peers[i] = device()->map(&handles[i], &pushes->mappings);
        if (pushes->peers[i] == NULL)
            bench_abort("this rank cannot map the memory of rank %d", i);
    }
    free(handles);
}

static void close_peers(struct pushes *pushes) {
    for (int i = 0; i < pushes->size; i++)
        device()->stream_destroy(pushes->streams[i]);
    device()->unmap(&pushes->mappings);
    free(pushes->peers);
    free(pushes->streams);
    release(pushes->source, 0);
    release(pushes->destination, 1);
}

/* Seconds of one contiguous push to each peer, all at once, on the slowest rank. */
static double push_all(const struct pushes *pushes) {
    MPI_Barrier(pushes->comm);
    double begin_time = MPI_Wtime();
    for (int i = 1; i < pushes->size; i++) {
        int peer = (pushes->rank + i) % pushes->size;
        begin_copy(pushes->peers[peer] + (size_t)pushes->rank * PUSH_BYTES,
                   pushes->source + (size_t)peer * PUSH_BYTES, PUSH_BYTES, pushes->streams[i]);
    }
    synchronise();
    return slowest(pushes->comm, MPI_Wtime() - begin_time);
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The median of a few, in 10^9 bytes that leave a rank in a second. */
static double copy_rate(MPI_Comm comm) {
    struct pushes pushes = {.comm = comm};
    double seconds[PUSHES];
    MPI_Comm_rank(comm, &pushes.rank);
    MPI_Comm_size(comm, &pushes.size);
    if (pushes.size == 1)
        return 0.0;
    open_peers(&pushes);
    for (int i = -2; i < PUSHES; i++)
        seconds[i < 0 ? 0 : i] = push_all(&pushes);
    close_peers(&pushes);
    qsort(seconds, PUSHES, sizeof *seconds, compare);
    return 1e-9 * PUSH_BYTES * (pushes.size - 1) / seconds[PUSHES / 2];
}

/* ---------------------------------------------------------------- the rate of the link to the host */

enum { LINK_ROUNDS = 5, LINK_PIECES = 8 };

/* Seconds of some pieces up and as many down at once, on the slowest rank. */
static double copy_both_ways(MPI_Comm comm, void *const host[2], void *const array[2],
                             void *const streams[2]) {
    MPI_Barrier(comm);
    double begin_time = MPI_Wtime();
    for (int i = 0; i < LINK_PIECES; i++) {
        begin_copy(array[0], host[0], PUSH_BYTES, streams[0]);
        begin_copy(host[1], array[1], PUSH_BYTES, streams[1]);
    }
    synchronise();
    return slowest(comm, MPI_Wtime() - begin_time);
}

static double host_rate(MPI_Comm comm) {
    void *host[2], *array[2], *streams[2];
    double best = 0.0;
    for (int i = 0; i < 2; i++) {
        bench_must(device()->allocate_pinned(PUSH_BYTES, &host[i]));
        bench_must(device()->allocate(PUSH_BYTES, &array[i]));
        bench_must(device()->stream_create(&streams[i]));
    }
    for (int i = 0; i < LINK_ROUNDS; i++) {
        double seconds = copy_both_ways(comm, host, array, streams);
        double rate = 2e-9 * PUSH_BYTES * LINK_PIECES / seconds;
        best = i > 0 && rate > best ? rate : best;
    }
    for (int i = 0; i < 2; i++) {
        device()->stream_destroy(streams[i]);
        device()->release(array[i]);
        device()->release_pinned(host[i]);
    }
    return best;
}

static void *allocate_pinned(size_t bytes) {
    void *memory = NULL;
    bench_must(device()->allocate_pinned(bytes, &memory));
    return memory;
}

static void release_pinned(void *memory) {
    device()->release_pinned(memory);
}

static void address(size_t bytes, char text[]) {
    if (!device()->find_address(-1, bytes, text))
        text[0] = '\0';
}

const bench_space bench_space_cuda = {
    .name = "cuda",
    .prepare = prepare,
    .begin = choose_device,
    .allocate = allocate,
    .release = release,
    .copy = copy,
    .synchronise = synchronise,
    .copy_rate = copy_rate,
    .host_rate = host_rate,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .address = address,
};
