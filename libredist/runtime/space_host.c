/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory: copies are done when they return, so there are no lanes and marks. */
#include "../comm/error.h"
#include "../copy/copy.h"
#include "segment.h"

#include <string.h>

static const char *absent(void) {
    return NULL;
}

/* What no other space knows is host memory; nobody asks. */
static int recognises(const void *array) {
    (void)array;
    return 1;
}

static int check(const void *array) {
    (void)array;
    return REDIST_OK;
}

static void *allocate(size_t bytes) {
    return redist_calloc(1, bytes);
}

static int clear(void *memory, size_t bytes) {
    memset(memory, 0, bytes);
    return REDIST_OK;
}

/* Every copy is done when it returns. */
static void drain(void) {
}

/* The ranks of a communicator map its shared memory when it is allocated, so a plan maps nothing. */
static char *address(const struct redist__place *place, struct redist__mappings *mappings) {
    (void)mappings;
    return redist__segment_address(place);
}

static int copy(const struct redist__copy *box, const void *source, void *destination,
                enum redist__copier copier, int lane) {
    (void)lane;
    redist__copy_run(box, source, destination, copier == REDIST__NONTEMPORAL);
    return REDIST_OK;
}

static int copy_in_stream(const struct redist__copy *box, const void *source, void *destination,
                          void *stream) {
    (void)stream;
    redist__copy_run(box, source, destination, 0);
    return REDIST_OK;
}

static int batch_open(struct redist__batch *batch) {
    (void)batch;
    return REDIST_OK;
}

static int batch_run(struct redist__batch *batch, int first, int count, int lane) {
    (void)lane;
    for (int i = first; i < first + count; i++)
        redist__copy_run(&batch->copies[i], batch->sources[i], batch->destinations[i], 0);
    return REDIST_OK;
}

static void batch_close(struct redist__batch *batch) {
    (void)batch;
}

static int mark_create(void **mark) {
    *mark = NULL;
    return REDIST_OK;
}

static void mark_destroy(void *mark) {
    (void)mark;
}

static int mark_lane(void *mark, int lane) {
    (void)mark, (void)lane;
    return REDIST_OK;
}

static int stream_idle(void *stream, int *idle) {
    (void)stream;
    *idle = 1;
    return REDIST_OK;
}

static int mark_stream(void *mark, void *stream) {
    (void)mark, (void)stream;
    return REDIST_OK;
}

static int mark_reached(void *mark, int *reached) {
    (void)mark;
    *reached = 1;
    return REDIST_OK;
}

const struct redist__space redist__space_host = {
    .name = "host",
    .absent = absent,
    .recognises = recognises,
    .check = check,
    .allocate = allocate,
    .release = redist_release,
    .allocate_staging = allocate,
    .release_staging = redist_release,
    .clear = clear,
    .drain = drain,
    .create = redist__segment_create,
    .remove = redist__segment_remove,
    .place = redist__segment_place,
    .address = address,
    .copy = copy,
    .copy_in_stream = copy_in_stream,
    .batch_open = batch_open,
    .batch_run = batch_run,
    .batch_close = batch_close,
    .mark_create = mark_create,
    .mark_destroy = mark_destroy,
    .mark_lane = mark_lane,
    .stream_idle = stream_idle,
    .mark_stream = mark_stream,
    .mark_reached = mark_reached,
};
