/* SPDX-License-Identifier: BSD-3-Clause */
/* The register of memory spaces, and what is the same in all of them. */
#include "space.h"
#include "../comm/error.h"
#include "../comm/waiting.h"

#define SPACE_AT(id, name) [REDIST_SPACE_##id] = &redist__space_##name,
static const struct redist__space *const spaces[] = {&redist__space_host, REDIST__SPACES(SPACE_AT)};
#undef SPACE_AT

enum { SPACES = sizeof spaces / sizeof spaces[0] };

const struct redist__space *redist__space_at(int id) {
    return id >= 0 && id < SPACES ? spaces[id] : NULL;
}

enum redist_space redist__space_of(const void *array) {
    for (int id = REDIST_SPACE_HOST + 1; id < SPACES; id++)
        if (spaces[id]->recognises(array))
            return (enum redist_space)id;
    return REDIST_SPACE_HOST;
}

int redist__space_check(const char *function, enum redist_space space) {
    const struct redist__space *found = redist__space_at((int)space);
    if (found == NULL)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT, "space = %d is not a space",
                              (int)space);
    const char *reason = found->absent();
    if (reason == NULL)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT, "space = %d (%s): %s", (int)space,
                          found->name, reason);
}

int redist_copy_box_in(enum redist_space space, void *stream, int ndims, const int count[],
                       size_t item, const void *source, const ptrdiff_t source_stride[],
                       void *destination, const ptrdiff_t destination_stride[]) {
    struct redist__copy copy;
    int code = redist__space_check(__func__, space);
    if (code != REDIST_OK)
        return code;
    redist__copy_prepare(&copy, ndims, count, item, source_stride, destination_stride);
    return redist__space_at((int)space)->copy_in_stream(&copy, source, destination, stream);
}

int redist_is_mappable(enum redist_space space, const void *array, size_t bytes) {
    const struct redist__space *found = redist__space_at((int)space);
    return found != NULL && found->place(array, bytes).key != 0;
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
    return space->batch_open(batch);
}

void redist__batch_free(struct redist__batch *batch) {
    if (batch->space != NULL)
        batch->space->batch_close(batch);
    redist_release(batch->copies);
    redist_release(batch->sources);
    redist_release(batch->destinations);
    *batch = (struct redist__batch){0};
}

/* ---------------------------------------------------------------- waiting */

/* A peer that is gone is no reason to leave a device at work. */
static int wait_mark(const struct redist__space *space, void *mark,
                     const struct redist__context *context) {
    int reached = 0, code = space->mark_reached(mark, &reached);
    for (unsigned poll = 0; code == REDIST_OK && !reached; poll++) {
        (void)redist__pause(context, poll);
        code = space->mark_reached(mark, &reached);
    }
    return code;
}

/* What cannot be marked is waited for in another way. */
static int finish(const struct redist__space *space, int marked, void *mark,
                  const struct redist__context *context) {
    int code = marked == REDIST_OK ? wait_mark(space, mark, context) : marked;
    if (code != REDIST_OK)
        space->drain();
    return code;
}

int redist__finish_lane(const struct redist__space *space, void *mark, int lane,
                        const struct redist__context *context) {
    return space->asynchronous ? finish(space, space->mark_lane(mark, lane), mark, context)
                               : REDIST_OK;
}

int redist__finish_stream(const struct redist__space *space, void *mark, void *stream,
                          const struct redist__context *context) {
    if (!space->asynchronous)
        return REDIST_OK;
    int idle, code = space->stream_idle(stream, &idle);
    if (code == REDIST_OK && idle)
        return REDIST_OK;
    return finish(space, code == REDIST_OK ? space->mark_stream(mark, stream) : code, mark,
                  context);
}
