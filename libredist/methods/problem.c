/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose array peers use and know; and waiting for the device of a problem. */
#include "problem.h"

static int is_known(const struct redist__problem *problem, int side) {
    return problem->bound[side] && (problem->mapped[side] || problem->context->size == 1);
}

int redist__buffers_ghosts(const struct redist__problem *problem) {
    return problem->asynchronous && problem->one_array && !is_known(problem, 0);
}

int redist__peers_side(const struct redist__problem *problem, int direction) {
    if (redist__buffers_ghosts(problem))
        return !direction;
    int adds = redist__adds(problem->transfer, direction);
    int reads = problem->transfer->one_way && problem->tiles == REDIST_WHOLE &&
                !is_known(problem, !direction) && is_known(problem, direction);
    return adds || reads ? direction : !direction;
}

int redist__peers_know(const struct redist__problem *problem, int direction) {
    return redist__buffers_ghosts(problem) ||
           is_known(problem, redist__peers_side(problem, direction));
}

/* Waits for an event even if a peer is gone, so that the device is idle; without one, for the whole device. */
static void finish(const struct redist__problem *problem, int code, int idle, void *event,
                   void (*progress)(void *data), void *data) {
    const struct redist__space *space = problem->space;
    for (unsigned poll = 0; code == REDIST_OK && !idle; poll++) {
        if (progress != NULL)
            progress(data);
        (void)redist__pause(problem->context, poll);
        code = space->event_is_reached(event, &idle);
    }
    if (code != REDIST_OK)
        space->drain();
    redist__note(problem, code);
}

void redist__finish_while(const struct redist__problem *problem, void *event, void *stream,
                          void (*progress)(void *data), void *data) {
    const struct redist__space *space = problem->space;
    int idle = 1, code = space->stream_is_idle(stream, &idle);
    if (code == REDIST_OK && !idle)
        code = space->event_record(event, stream);
    finish(problem, code, idle, event, progress, data);
}

void redist__finish_array(const struct redist__problem *problem, void *event,
                          void (*progress)(void *data), void *data) {
    if (problem->freed != NULL)
        finish(problem, REDIST_OK, 0, problem->freed, progress, data);
    else
        redist__finish_while(problem, event, problem->stream, progress, data);
}
