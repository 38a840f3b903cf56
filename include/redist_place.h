/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The device of a plan, on which each call with the plan works, whatever device is current for the caller. For C and
 * CUDA; not installed.
 */
#ifndef REDIST_PLACE_H
#define REDIST_PLACE_H

#include "redist_base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct redist__space;

/** A device, its context, and an optional stream. All zero = host memory. */
typedef struct redist_place {
    const struct redist__space *space;
    int device;
    int is_primary; /**< the context is the one that the device's runtime library uses */
    unsigned long long context; /**< its number, unique in the process, from 1 */
    int has_stream;
    void *stream; /**< of the user, if any */
} redist_place;

/** Capture state of a stream: captured work is only kept, and nothing can wait for it. */
enum redist_capture {
    REDIST_NOT_CAPTURED,
    REDIST_CAPTURED,
    REDIST_CAPTURE_BESIDE /**< a captured stream would have to wait for work in this one, which is refused */
};

/** Remains of a place: all, or nothing since its device was reset; or a context in which a kernel has failed, after
 * which CUDA refuses all work. */
enum redist_loss { REDIST_NOT_LOST, REDIST_LOST_BY_RESET, REDIST_LOST_BY_FAILURE };

/** State of a thread before it entered a place, until it leaves. */
typedef struct redist_visit {
    const struct redist__space *space; /**< NULL = nothing was entered */
    const redist_place *outer;         /**< the previous place; NULL = none */
    enum redist_loss outer_loss;
    enum redist_loss loss; /**< set by `enter` of a space that fails; zero = by a reset */
    void *context;         /**< the previously current one */
    int mode;              /**< of stream captures */
} redist_visit;

/** Returns the place that this thread is in; NULL = none. Not collective. */
REDIST_API const redist_place *redist_place_entered(void);

#ifdef __cplusplus
}
#endif

#endif
