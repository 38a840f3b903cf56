/* SPDX-License-Identifier: BSD-3-Clause */
/* The register of devices, and the host as one of them. */
#include "device.h"
#include "redist_support.h"

const struct fftnd__device *fftnd__device_for(enum redist_space space) {
#define FFTND__LINE(id, name)                                                                      \
    if (space == REDIST_SPACE_##id)                                                                \
        return &fftnd__device_##name;
    FFTND__DEVICES(FFTND__LINE)
#undef FFTND__LINE
    return &fftnd__device_host;
}

/* ---------------------------------------------------------------- the host */

/* How much a host has for this is the user's choice. */
static int find_free(size_t *bytes, unsigned long long *identity) {
    *bytes = *identity = 0;
    return REDIST_OK;
}

static int allocate(size_t bytes, void **memory) {
    *memory = redist_calloc(bytes, 1);
    if (*memory == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              bytes);
    return REDIST_OK;
}

static int pin(void *array, size_t bytes) {
    (void)array, (void)bytes;
    return 1;
}

static void unpin(void *array) {
    (void)array;
}

static int is_pinned(const void *array, size_t bytes) {
    (void)array, (void)bytes;
    return 0;
}

static int stream_create(void **stream) {
    *stream = NULL;
    return REDIST_OK;
}

static void stream_destroy(void *stream) {
    (void)stream;
}

static int stream_wait(void *stream) {
    (void)stream;
    return REDIST_OK;
}

static int stream_follow(void *stream, void *mark) {
    (void)stream, (void)mark;
    return REDIST_OK;
}

const struct fftnd__device fftnd__device_host = {
    .space = REDIST_SPACE_HOST,
    .find_free = find_free,
    .allocate = allocate,
    .release = redist_release,
    .allocate_pinned = allocate,
    .release_pinned = redist_release,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .stream_follow = stream_follow,
};
