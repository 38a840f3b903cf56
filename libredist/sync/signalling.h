/* SPDX-License-Identifier: BSD-3-Clause */
/* Interface of spaces whose streams can signal between ranks. */
#ifndef REDIST__SIGNALLING_H
#define REDIST__SIGNALLING_H

#include "../geometry/box.h"
#include "signals.h"

/*
 * One const table of a space. Functions that get a stream only enqueue there, also while it is captured in a graph,
 * and return REDIST_OK or REDIST_ERR_DEVICE.
 */
struct redist__signalling {
    /* Identifies the current device, by the same number in all processes. */
    int (*find_device)(unsigned long long *identity);

    /* Makes the boxes of `exchange`, by offsets in the source: `count`, as many for each rank, box i for rank i modulo
     * `ranks`, of which some may be empty; to be freed also after a failure. */
    int (*boxes_create)(int ranks, int count, const struct redist__copy copies[],
                        const size_t sources[], char *const destinations[], void **made);
    void (*boxes_free)(void *made);

    /* Enqueues a whole execution: signals, waits, copies by a kernel, and ends. */
    int (*exchange)(const struct redist__signals *signals, int direction, const void *boxes,
                    const char *source, void *stream);

    int (*gate)(const struct redist__signals *signals, const struct redist__gate *gate,
                void *stream);
};

/* Returns the table of a space; NULL = its streams cannot signal. */
const struct redist__signalling *redist__signalling_of(const struct redist__space *space);

#endif
