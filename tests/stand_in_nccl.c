/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for NCCL beside the stand-in for CUDA: each pair of ranks has a socket, and a group of sends and receives
 * is work of a stream, which ends when all are done, or when the communicator is aborted here or by a peer.
 */
#include <nccl.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "stand_in_streams.h"
#include "stream_device.h"

enum { MOST_RANKS = 16, MOST_CALLS = 2 * MOST_RANKS, SECONDS = 60 };

/* Stays on a list until the process ends, since work in streams may name it. */
struct stand_in_comm {
    int size, rank;
    int sockets[MOST_RANKS]; /* -1 = none */
    atomic_int error, is_over;
    pthread_mutex_t lock; /* of the group at work */
    struct stand_in_comm *next;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stand_in_comm *all;
static atomic_int made, living;

/* ---------------------------------------------------------------- communicators */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
    static atomic_int counter;
    snprintf(id->internal, sizeof id->internal, "stand-in-%ld-%d", (long)getpid(),
             atomic_fetch_add(&counter, 1));
    return ncclSuccess;
}

static socklen_t name_socket(struct sockaddr_un *name, const ncclUniqueId *id, int rank) {
    memset(name, 0, sizeof *name);
    name->sun_family = AF_UNIX;
    int length =
        snprintf(name->sun_path + 1, sizeof name->sun_path - 1, "%s-%d", id->internal, rank);
    return (socklen_t)(sizeof name->sun_family + 1 + (size_t)length);
}

static int reach(const ncclUniqueId *id, int peer) {
    struct sockaddr_un name;
    socklen_t length = name_socket(&name, id, peer);
    const struct timespec nap = {0, 1000000};
    for (int i = 0; i < 1000 * SECONDS; i++) {
        int end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(end, (const struct sockaddr *)&name, length) == 0)
            return end;
        close(end);
        nanosleep(&nap, NULL);
    }
    return -1;
}

/* Calls the lower ranks, each by its number, and takes the calls of the higher ones. */
static int connect_all(struct stand_in_comm *comm, const ncclUniqueId *id, int listener) {
    int done = 1;
    for (int peer = 0; peer < comm->rank; peer++) {
        comm->sockets[peer] = reach(id, peer);
        done &= comm->sockets[peer] >= 0 &&
                write(comm->sockets[peer], &comm->rank, sizeof comm->rank) == sizeof comm->rank;
    }
    for (int i = comm->rank + 1; i < comm->size && done; i++) {
        struct pollfd wanted = {.fd = listener, .events = POLLIN};
        int peer = -1,
            end = poll(&wanted, 1, 1000 * SECONDS) == 1 ? accept(listener, NULL, NULL) : -1;
        done = end >= 0 && read(end, &peer, sizeof peer) == sizeof peer && peer > comm->rank;
        if (done)
            comm->sockets[peer] = end;
    }
    for (int peer = 0; peer < comm->size && done; peer++)
        if (peer != comm->rank)
            done = fcntl(comm->sockets[peer], F_SETFL, O_NONBLOCK) == 0;
    return done;
}

ncclResult_t ncclCommInitRank(ncclComm_t *result, int size, ncclUniqueId id, int rank) {
    struct sockaddr_un name;
    socklen_t length = name_socket(&name, &id, rank);
    struct stand_in_comm *comm = calloc(1, sizeof *comm);
    comm->size = size;
    comm->rank = rank;
    pthread_mutex_init(&comm->lock, NULL);
    for (int peer = 0; peer < MOST_RANKS; peer++)
        comm->sockets[peer] = -1;
    pthread_mutex_lock(&list_lock);
    comm->next = all;
    all = comm;
    pthread_mutex_unlock(&list_lock);
    atomic_fetch_add(&made, 1);
    atomic_fetch_add(&living, 1);
    *result = comm;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int done = size <= MOST_RANKS && listener >= 0 &&
               bind(listener, (const struct sockaddr *)&name, length) == 0 &&
               listen(listener, MOST_RANKS) == 0 && connect_all(comm, &id, listener);
    if (listener >= 0)
        close(listener);
    return done ? ncclSuccess : ncclSystemError;
}

static atomic_int hides_aborts;

int stream_device_hide_aborts(int hides) {
    atomic_store(&hides_aborts, hides);
    return 1;
}

/* Hidden ones leave the sockets open, until the process ends. */
ncclResult_t ncclCommAbort(ncclComm_t comm) {
    const int is_hidden = atomic_load(&hides_aborts);
    atomic_store(&comm->is_over, 1);
    for (int peer = 0; peer < comm->size; peer++)
        if (comm->sockets[peer] >= 0 && !is_hidden)
            shutdown(comm->sockets[peer], SHUT_RDWR);
    pthread_mutex_lock(&comm->lock); /* until the group at work has noticed */
    for (int peer = 0; peer < comm->size && !is_hidden; peer++) {
        if (comm->sockets[peer] >= 0)
            close(comm->sockets[peer]);
        comm->sockets[peer] = -1;
    }
    pthread_mutex_unlock(&comm->lock);
    atomic_fetch_sub(&living, 1);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    return ncclCommAbort(comm);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *result) {
    *result = atomic_load(&comm->error) ? ncclRemoteError : ncclSuccess;
    return ncclSuccess;
}

int stream_device_comms(int *left) {
    *left = atomic_load(&living);
    return atomic_load(&made);
}

/* ---------------------------------------------------------------- groups */

struct call {
    char *memory;
    size_t bytes;
    int peer, sends;
};

struct group {
    struct stand_in_comm *comm;
    void *stream;
    int depth, ncalls;
    struct call calls[MOST_CALLS];
};

static _Thread_local struct group group;

/* Moves what a socket takes or has now: -1 after an error. */
static int advance(const struct stand_in_comm *comm, struct call *call) {
    int end = comm->sockets[call->peer];
    ssize_t moved = call->sends ? send(end, call->memory, call->bytes, MSG_NOSIGNAL)
                                : recv(end, call->memory, call->bytes, 0);
    if (moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return 0;
    if (moved <= 0)
        return -1;
    call->memory += moved;
    call->bytes -= (size_t)moved;
    return 0;
}

/* Returns nonzero for the first call that is left of those with the same peer and direction. */
static int is_next(const struct call *calls, int which) {
    for (int i = 0; i < which; i++)
        if (calls[i].bytes > 0 && calls[i].peer == calls[which].peer &&
            calls[i].sends == calls[which].sends)
            return 0;
    return calls[which].bytes > 0;
}

static void move(struct stand_in_comm *comm, int ncalls, struct call calls[]) {
    for (int left = 1; left && !atomic_load(&comm->is_over) && !stand_in_is_lost();) {
        struct pollfd wanted[MOST_CALLS];
        int nwanted = 0;
        left = 0;
        for (int i = 0; i < ncalls; i++)
            if (is_next(calls, i)) {
                if (advance(comm, &calls[i]) != 0) {
                    atomic_store(&comm->error, 1);
                    return;
                }
                left |= calls[i].bytes > 0;
                wanted[nwanted++] = (struct pollfd){.fd = comm->sockets[calls[i].peer],
                                                    .events = calls[i].sends ? POLLOUT : POLLIN};
            }
        left |= nwanted > 0;
        if (left)
            (void)poll(wanted, (nfds_t)nwanted, 1);
    }
}

/* A communicator with an error moves nothing any more; as NCCL's kernels the work waits until it is aborted. */
static void run_group(void *data) {
    struct group *given = data;
    struct stand_in_comm *comm = given->comm;
    const struct timespec nap = {0, 1000000};
    pthread_mutex_lock(&comm->lock);
    if (!atomic_load(&comm->error))
        move(comm, given->ncalls, given->calls);
    pthread_mutex_unlock(&comm->lock);
    while (atomic_load(&comm->error) && !atomic_load(&comm->is_over) && !stand_in_is_lost())
        nanosleep(&nap, NULL);
}

/* A copy for each run, since a graph may repeat it. */
static void run_copy(void *data) {
    struct group given;
    memcpy(&given, data, sizeof given);
    run_group(&given);
}

ncclResult_t ncclGroupStart(void) {
    if (group.depth++ == 0)
        group.ncalls = 0;
    return ncclSuccess;
}

static atomic_int refuses;

int stream_device_refuse(void) {
    atomic_store(&refuses, 1);
    return 1;
}

ncclResult_t ncclGroupEnd(void) {
    if (--group.depth > 0 || group.ncalls == 0)
        return ncclSuccess;
    if (atomic_exchange(&refuses, 0))
        return ncclSystemError;
    return stand_in_give(group.stream, run_copy, &group, sizeof group) == 0 ? ncclSuccess
                                                                            : ncclSystemError;
}

static ncclResult_t add_call(struct call call, ncclComm_t comm, void *stream) {
    if (group.ncalls == MOST_CALLS || call.peer < 0 || call.peer >= comm->size)
        return ncclSystemError;
    group.comm = comm;
    group.stream = stream;
    group.calls[group.ncalls++] = call;
    return ncclSuccess;
}

ncclResult_t ncclSend(const void *source, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    (void)type; /* of one byte */
    return add_call((struct call){(char *)(uintptr_t)source, count, peer, 1}, comm, stream);
}

ncclResult_t ncclRecv(void *destination, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    (void)type;
    return add_call((struct call){destination, count, peer, 0}, comm, stream);
}

/* ---------------------------------------------------------------- reductions */

struct reduction {
    struct stand_in_comm *comm;
    const uint64_t *source;
    uint64_t *destination;
};

/* Writes after an abort, too, and not what the source has by then. */
static void run_reduction(void *data) {
    const struct reduction *given = data;
    struct stand_in_comm *comm = given->comm;
    uint64_t theirs[MOST_RANKS] = {0}, mine = *given->source;
    struct group words = {.comm = comm};
    for (int peer = 0; peer < comm->size; peer++)
        if (peer != comm->rank) {
            words.calls[words.ncalls++] = (struct call){(char *)&mine, sizeof mine, peer, 1};
            words.calls[words.ncalls++] =
                (struct call){(char *)&theirs[peer], sizeof *theirs, peer, 0};
        }
    run_group(&words);
    for (int peer = 0; peer < comm->size; peer++)
        mine = theirs[peer] > mine ? theirs[peer] : mine;
    *given->destination = mine;
}

/* Reduces one number. */
ncclResult_t ncclAllReduce(const void *source, void *destination, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
    (void)operation;
    if (count != 1 || type != ncclUint64)
        return ncclSystemError;
    const struct reduction given = {comm, source, destination};
    return stand_in_give(stream, run_reduction, &given, sizeof given) == 0 ? ncclSuccess
                                                                           : ncclSystemError;
}

/* ---------------------------------------------------------------- texts */

const char *ncclGetErrorString(ncclResult_t result) {
    static const char *const texts[] = {"success", "a system error", "a peer's error",
                                        "in progress"};
    return texts[result];
}

const char *ncclGetLastError(ncclComm_t comm) {
    (void)comm;
    return "";
}
