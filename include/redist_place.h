/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The device of a plan, in which each call with the plan works whatever device is current for the caller. C and kernels
 * share it; it is not installed.
 */
#ifndef REDIST_PLACE_H
#define REDIST_PLACE_H

#include "redist_base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct redist__space;

/** A device, its context, and perhaps a stream. All zero = host memory, which has none. */
typedef struct redist_place {
    const struct redist__space *space;
    int device;
    int is_primary; /**< the context is the one that the device's runtime library uses */
    unsigned long long context; /**< its number, which no other one of the process gets, from 1 */
    int has_stream;
    void *stream; /**< of the user, if there is one */
} redist_place;

/** Whether a stream is being captured: then work in it is only kept, and nothing can wait for it. */
enum redist_capture {
    REDIST_NOT_CAPTURED,
    REDIST_CAPTURED,
    REDIST_CAPTURE_BESIDE /**< a stream is captured that would have to wait for work in this one, which is refused */
};

/** Remains of a place: all, or nothing since its device was reset; or a context in which a kernel has failed, with
 * which CUDA ends all work of it. */
enum redist_loss { REDIST_NOT_LOST, REDIST_LOST_BY_RESET, REDIST_LOST_BY_FAILURE };

/** State of a thread before it entered a place, until it leaves. */
typedef struct redist_visit {
    const struct redist__space *space; /**< NULL = nothing was entered */
    const redist_place *outer;         /**< the place that it was in; NULL = none */
    enum redist_loss outer_loss;
    enum redist_loss loss; /**< set by `enter` of a space that fails; zero = by a reset */
    void *context;         /**< that was current */
    int mode;              /**< of captures of streams */
} redist_visit;

/** The place that this thread is in; NULL = none. Not collective. */
REDIST_API const redist_place *redist_place_entered(void);

#ifdef __cplusplus
}
#endif

#endif
