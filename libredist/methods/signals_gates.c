/* SPDX-License-Identifier: BSD-3-Clause */
/* Method signals: the signals that a stream gives and awaits, and failures that travel by them. */
#include "signals.h"

int redist__signals_gate(const struct redist__signalled *state, void *stream,
                         const struct redist__gate *gate) {
    return state->signalling->gate(&state->signals, gate, stream);
}

int redist__signals_step(struct redist__signalled *state, void *stream, int direction,
                         int distance) {
    int next = distance % (state->signals.size - 1) + 1; /* the distance of the step after it */
    if (state->signals.size <= 2 || state->problem->is_half)
        return REDIST_OK;
    if (state->steps < state->most_steps)
        state->steps++;
    const struct redist__gate gate = {
        .actions = REDIST__TELL_STEPS | REDIST__AWAIT_STEPS,
        .direction = direction,
        .steps = state->steps,
        .steps_to = redist__rank_at(state->problem->transfer, distance - next),
        .steps_from = redist__rank_at(state->problem->transfer, next - distance)};
    return redist__signals_gate(state, stream, &gate);
}

void redist__signals_read(const struct redist__signalled *state) {
    const struct redist__problem *problem = state->problem;
    if (redist__has_failed(problem)) /* the device, and memory of its flags, may be gone */
        return;
    uint64_t status = atomic_load_explicit(state->status, memory_order_acquire);
    if (status == 0)
        return;
    int rank = redist__plan_rank(problem, (int)(uint32_t)status);
    if (status >> REDIST__FAILURE_BITS == REDIST__GONE)
        redist__note(problem, redist__peers_look_now(problem->context));
    if (status >> REDIST__FAILURE_BITS == REDIST__LATE)
        redist__note(problem,
                     redist__fail(REDIST_ERR_PEER, "rank %d of the plan did not arrive within %g s",
                                  rank, problem->wait_seconds));
    else
        redist__failure_note_peer(problem->failure, rank, 0);
}

/* Signals a failure in a stream of the library, as the user's may be waiting for a peer. A device may accept work that
 * it never does. */
static int tell_by_device(const struct redist__signalled *state) {
    const struct redist__gate gate = {.actions = REDIST__FAIL};
    const struct redist__space *space = state->problem->space;
    void *stream = space->stream(0);
    if (redist__signals_gate(state, stream, &gate) != REDIST_OK)
        REDIST_TRY(redist__signals_gate(state, stream, &gate));
    return space->stream_check(stream);
}

/* Fails. After a reset of the device the process may continue with other plans, and does not give up. */
void redist__signals_fail(const struct redist__signalled *state) {
    const struct redist__problem *problem = state->problem;
    int loss = redist_place_is_gone();
    if (problem->rehearses || loss == REDIST_LOST_BY_RESET)
        return;
    if (loss == REDIST_LOST_BY_FAILURE || tell_by_device(state) != REDIST_OK)
        redist__give_up(problem->context);
}
