/* SPDX-License-Identifier: BSD-3-Clause */
/* Spaces whose streams can signal between ranks: what a method needs of them. */
#ifndef REDIST__SIGNALLING_H
#define REDIST__SIGNALLING_H

#include "../geometry/box.h"
#include "signals.h"

/*
 * One const table of a space. Functions that get a stream only enqueue there, also while it is captured in a graph,
 * and return REDIST_OK or REDIST_ERR_DEVICE.
 */
struct redist__signalling {
    /* Which device is current: a number that all who share it have in common. */
    int (*find_device)(unsigned long long *identity);

    /* Boxes to be copied by `exchange`, one for each rank: where in the source they begin, and where they go.
     * *made is to be freed also if that fails. */
    int (*boxes_create)(int count, const struct redist__copy copies[], const size_t sources[],
                        char *const destinations[], void **made);
    void (*boxes_free)(void *made);

    /* An execution as a whole: it tells, waits, copies by a kernel, and ends. */
    int (*exchange)(const struct redist__signals *signals, int direction, const void *boxes,
                    const char *source, void *stream);

    int (*gate)(const struct redist__signals *signals, const struct redist__gate *gate,
                void *stream);
};

/* The table of a space; NULL = its streams cannot signal. */
const struct redist__signalling *redist__signalling_of(const struct redist__space *space);

#endif
