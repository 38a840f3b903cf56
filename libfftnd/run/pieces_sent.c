/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces that are sent when they are done: one piece behind, unless that is done in streams too. */
#include "pieces.h"

static int create_events(struct fftnd__stage *stage, const redist__space *space) {
    stage->events = redist_calloc((size_t)stage->cut.n, sizeof *stage->events);
    if (stage->events == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for %lld events",
                              stage->cut.n);
    for (long long i = 0; i < stage->cut.n; i++)
        REDIST_TRY(space->event_create(&stage->events[i]));
    return REDIST_OK;
}

int fftnd__plan_sending(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    if (transform->settings.asynchronous)
        return REDIST_OK;
    stage->window = 2;
    return fftnd__next(problem->step)->fused_with == FFTND__PUSHED && transform->space->asynchronous
               ? create_events(stage, transform->space)
               : REDIST_OK;
}

int fftnd__note_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    void *const *events = execution->step->stage->events;
    return events != NULL ? execution->transform->space->event_record(events[flight->number],
                                                                      flight->out.stream)
                          : REDIST_OK;
}

/* A method that takes no segments has the exchange of the whole array behind them. */
int fftnd__send_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    void *const *events = execution->step->stage->events;
    redist_plan *exchange = execution->sink.exchange;
    for (int reached = events == NULL || exchange == NULL; !reached;) {
        REDIST_TRY(execution->transform->space->event_is_reached(events[flight->number], &reached));
        if (!reached)
            REDIST_TRY(redist_plan_put_progress(exchange));
    }
    return fftnd__store_piece(execution, flight);
}
