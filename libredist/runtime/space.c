/* SPDX-License-Identifier: BSD-3-Clause */
/* The register of memory spaces, and their common functions. */
#include "space.h"
#include "../comm/comm.h"
#include "local.h"

#include <stdatomic.h>
#include <stdio.h>

#ifdef REDIST__MPI_QUERIES_CUDA
#include <mpi-ext.h>
#endif

#ifdef REDIST__CUDA
#define SPACE_CUDA &redist__space_cuda
#else
#define SPACE_CUDA NULL
#endif

/* Spaces by value of enum redist_space; NULL = not in this build. */
static const struct redist__space *const spaces[] = {
    [REDIST_SPACE_AUTO] = &redist__space_host,
    [REDIST_SPACE_HOST] = &redist__space_host,
    [REDIST_SPACE_CUDA] = SPACE_CUDA,
};

int redist__space_count(void) {
    return sizeof spaces / sizeof spaces[0];
}

const struct redist__space *redist_space_at(enum redist_space space) {
    return (int)space >= 0 && (int)space < redist__space_count() ? spaces[space] : NULL;
}

enum redist_space redist__space_of(const void *array) {
    for (int id = REDIST_SPACE_HOST + 1; id < redist__space_count(); id++)
        if (spaces[id] != NULL && spaces[id]->recognises(array))
            return (enum redist_space)id;
    return REDIST_SPACE_HOST;
}

int redist__space_check(const char *function, const char *argument, enum redist_space space) {
    const struct redist__space *found = redist_space_at(space);
    REDIST_TRY(redist_check_enum_in(function, argument, redist_space_name, (int)space));
    const char *reason = found != NULL ? found->absent() : "this build has no such memory";
    if (reason == NULL)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT, "%s = %s: %s", argument,
                          redist_space_name((int)space), reason);
}

/* ---------------------------------------------------------------- places */

static _Thread_local struct {
    const redist_place *place;
    enum redist_loss loss;
} here;

const redist_place *redist_place_entered(void) {
    return here.place;
}

int redist_place_is_gone(void) {
    return (int)here.loss;
}

/* Checks a stream, but not a captured one, whose capture a query could invalidate. */
static int check_stream(const char *function, const char *name, const redist_place *place) {
    if (place->space->find_capture(place->stream) != REDIST_NOT_CAPTURED)
        return redist_fail_in(
            function, REDIST_ERR_STATE,
            "%s = %p is being captured, or has to wait for one that is: plans are made before",
            name, place->stream);
    return place->space->check_stream(function, name, place->stream);
}

int redist_place_find(const char *function, const redist__space *space, const char *name,
                      void *stream, redist_place *place) {
    *place = (redist_place){.space = NULL};
    if (space->find_place == NULL)
        return REDIST_OK;
    redist_place found = {.space = space};
    redist_visit visit;
    REDIST_TRY(space->find_place(&found));
    found.has_stream = name != NULL;
    found.stream = stream;
    int code = redist_enter(&found, &visit);
    if (code == REDIST_OK && found.has_stream)
        code = check_stream(function, name, &found);
    redist_leave(&visit);
    if (code == REDIST_OK)
        *place = found;
    return code;
}

/* Returns whether a call of the user has already entered the place. */
static int is_there(const redist_place *place) {
    return here.place != NULL && here.place->space == place->space &&
           here.place->context == place->context;
}

int redist_enter(const redist_place *place, redist_visit *visit) {
    *visit = (redist_visit){.outer = here.place, .outer_loss = here.loss};
    if (place->space == NULL || (is_there(place) && here.loss == REDIST_NOT_LOST))
        return REDIST_OK;
    visit->space = place->space;
    int code = place->space->enter(place, visit);
    here.place = place;
    here.loss = code == REDIST_OK                ? REDIST_NOT_LOST
                : visit->loss == REDIST_NOT_LOST ? REDIST_LOST_BY_RESET
                                                 : visit->loss;
    return code;
}

void redist_leave(const redist_visit *visit) {
    if (visit->space == NULL)
        return;
    visit->space->leave(visit);
    here.place = visit->outer;
    here.loss = visit->outer_loss;
}

/* CUDA numbers its default streams from 0 to 2; other streams have addresses. */
static int is_default(const void *stream) {
    return (uintptr_t)stream <= 2;
}

/* Checks for captures: asynchronous work may be captured; only a default stream may wait for a captured one. */
int redist_check_capture(const char *function, const redist_place *place, int asynchronous) {
    if (!place->has_stream || redist_place_is_gone() ||
        (asynchronous && !is_default(place->stream)))
        return REDIST_OK;
    enum redist_capture capture = place->space->find_capture(place->stream);
    if (capture == REDIST_NOT_CAPTURED || (capture == REDIST_CAPTURED && asynchronous))
        return REDIST_OK;
    return redist_fail_in(
        function, REDIST_ERR_STATE,
        capture == REDIST_CAPTURED
            ? "options.stream = %p is being captured, and executions of this plan wait for the "
              "device: make the plan "
              "with options.asynchronous, or execute it outside of captures"
            : "options.stream = %p is the default stream, which waits for a stream that is being "
              "captured: capture "
              "streams made with cudaStreamNonBlocking, or execute the plan outside of captures",
        place->stream);
}

int redist_check_default_stream(const char *function, const redist__space *space) {
    if (space == NULL || space->find_capture == NULL || redist_place_is_gone() ||
        space->find_capture(NULL) != REDIST_CAPTURE_BESIDE)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_STATE,
                          "a stream is being captured that the default stream waits for, in which "
                          "the serial library makes plans: capture streams made with "
                          "cudaStreamNonBlocking, or make this before");
}

int redist_copy_box_in(enum redist_space space, void *stream, int ndims, const redist_index count[],
                       size_t item, const void *source, const ptrdiff_t source_stride[],
                       void *destination, const ptrdiff_t destination_stride[]) {
    struct redist__copy copy;
    REDIST_TRY(redist__space_check(__func__, "space", space));
    redist__copy_prepare(&copy, ndims, count, item, source_stride, destination_stride);
    return redist_space_at(space)->copy(&copy, source, destination, REDIST__LINK, stream);
}

static int is_mapped(const struct redist__space *space, const void *array, size_t bytes) {
    const struct redist__memory_handle handle = space->export_memory(array, bytes);
    int is_local = !space->asynchronous && handle.owner.number != 0;
    return handle.key != 0 && (!is_local || redist__local_is_reachable());
}

enum redist__mappability redist__mappability(enum redist_space space, const void *array,
                                             size_t bytes) {
    const struct redist__space *found = redist_space_at(space);
    if (found == NULL || array == NULL)
        return REDIST__FOREIGN;
    if (is_mapped(found, array, bytes))
        return REDIST__MAPPABLE;
    if (is_mapped(found, array, 1))
        return REDIST__TOO_SHORT;
    if (found->has != NULL && found->has(array))
        return REDIST__PLAIN;
    return !found->asynchronous && redist__local_has(array) ? REDIST__PLAIN_LOCAL : REDIST__FOREIGN;
}

int redist_is_mappable(enum redist_space space, const void *array, size_t bytes) {
    return redist__mappability(space, array, bytes) == REDIST__MAPPABLE;
}

int redist_check_mapped(const char *function, const char *name, const char *promise,
                        enum redist_space space, const void *array, size_t bytes, int agrees) {
    static const char *const reasons[] = {
        [REDIST__PLAIN_LOCAL] =
            "it is from redist_alloc_local, whose memory they do not reach here",
        [REDIST__FOREIGN] = "it is not from redist_alloc",
        [REDIST__TOO_SHORT] = "it is longer than what redist_alloc allocated"};
    enum redist__mappability found = redist__mappability(space, array, bytes);
    if (found == REDIST__MAPPABLE)
        return REDIST_OK;
    if (found == REDIST__PLAIN || (found == REDIST__PLAIN_LOCAL && agrees))
        return REDIST_TAKES_PLAIN;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "%s = %p (%zu bytes) cannot be mapped by peers, though %s: %s", name,
                          array, bytes, promise, reasons[found]);
}

void redist_warn_plain(MPI_Comm comm) {
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && !atomic_flag_test_and_set(&warned))
        fprintf(
            stderr,
            "redist: warning: arrays that a plan was to find in shared memory are plain memory, "
            "since there was none for them. It sends messages from now on, which takes longer. "
            "Raise ulimit -f, -n and -v, or free memory of the node; redist_alloc_info says "
            "which arrays peers map.\n");
}

#ifdef REDIST__MPI_QUERIES_CUDA
int redist__mpi_takes_cuda(void) {
    return MPIX_Query_cuda_support();
}
#else
int redist__mpi_takes_cuda(void) {
    return 0;
}
#endif

int redist__map_parts(const struct redist__context *context, const void *memory, void *parts[]) {
    struct redist__memory_handle handle = redist__space_host.export_memory(memory, 1);
    if (handle.key == 0)
        return redist__fail(REDIST_ERR_METHOD, "the ranks of this node share no memory");
    for (handle.rank = 0; handle.rank < context->node_size; handle.rank++)
        parts[handle.rank] = redist__space_host.map(&handle, NULL);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- batches */

int redist__batch_create(struct redist__batch *batch, const struct redist__space *space,
                         int count) {
    size_t n = (size_t)count;
    *batch = (struct redist__batch){.space = space, .count = count};
    batch->copies = redist_calloc(n, sizeof *batch->copies);
    batch->sources = redist_calloc(n, sizeof *batch->sources);
    batch->destinations = redist_calloc(n, sizeof *batch->destinations);
    if (batch->copies == NULL || batch->sources == NULL || batch->destinations == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the copies to %d ranks", count);
    return REDIST_OK;
}

void redist__batch_free(struct redist__batch *batch) {
    redist_release(batch->copies);
    redist_release(batch->sources);
    redist_release(batch->destinations);
    *batch = (struct redist__batch){0};
}
