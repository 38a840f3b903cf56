/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device is to a transform whose arrays are in host memory: one const table, and one line in
 * FFTND__DEVICES. The host is one too, with all of its work done on return, so that the same way can be
 * gone without any device.
 */
#ifndef FFTND__DEVICE_H
#define FFTND__DEVICE_H

#include "redist.h"

struct fftnd__device {
    enum redist_space space; /* of its memory */

    /* Bytes that are free on it, and a number that all who share it have in common. */
    int (*find_free)(size_t *bytes, unsigned long long *identity);

    /* Memory on it, and host memory that it reaches best. REDIST_ERR_MEMORY, REDIST_ERR_DEVICE. */
    int (*allocate)(size_t bytes, void **memory);
    void (*release)(void *memory);
    int (*allocate_pinned)(size_t bytes, void **memory);
    void (*release_pinned)(void *memory);

    /* Lets it reach an array of the host as well as such memory; 0 = not possible. */
    int (*pin)(void *array, size_t bytes);
    void (*unpin)(void *array);
    /* Whether somebody else has done so. */
    int (*is_pinned)(const void *array, size_t bytes);

    /* Streams: work in each is done in order, beside the host and the other streams. */
    int (*stream_create)(void **stream);
    void (*stream_destroy)(void *stream);
    int (*stream_wait)(void *stream); /* until it is idle */
    int (*stream_follow)(void *stream,
                         void *mark); /* its next work waits for a mark of its library */
};

#define FFTND__DEVICES(X)                                                                          \
    X(HOST, host)                                                                                  \
    X(CUDA, cuda)

#define FFTND__DECLARE_DEVICE(id, name) extern const struct fftnd__device fftnd__device_##name;
FFTND__DEVICES(FFTND__DECLARE_DEVICE)
#undef FFTND__DECLARE_DEVICE

/* The device whose memory is a space; AUTO = host. */
const struct fftnd__device *fftnd__device_for(enum redist_space space);

#endif
