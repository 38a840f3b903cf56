/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device does in the protocol of signals.h. Each kind of device compiles it once: with REDIST__SIGNALS_INLINE
 * as its functions are declared, and the four functions named redist__word_* of its own.
 */
#ifndef REDIST__SIGNALS_PROTOCOL_H
#define REDIST__SIGNALS_PROTOCOL_H

#include "signals.h"

REDIST__SIGNALS_INLINE uint64_t redist__word_load(const uint64_t *word);
REDIST__SIGNALS_INLINE void redist__word_store(uint64_t *word, uint64_t value);
REDIST__SIGNALS_INLINE uint64_t redist__word_clock(void); /* nanoseconds */
REDIST__SIGNALS_INLINE void redist__word_pause(void);     /* between two polls */

REDIST__SIGNALS_INLINE struct redist__signal_words *
redist__signal_words_of(struct redist__signal_block *block, int rank) {
    return (struct redist__signal_words *)(block + 1) + rank;
}

REDIST__SIGNALS_INLINE uint64_t redist__signal_counted(uint64_t execution, uint32_t count) {
    return execution << REDIST__COUNT_BITS | count;
}

REDIST__SIGNALS_INLINE uint64_t redist__signal_execution(const struct redist__signals *signals) {
    return redist__word_load(&signals->own->executions) + 1;
}

REDIST__SIGNALS_INLINE int redist__signal_has_failed(const struct redist__signals *signals) {
    return redist__word_load(&signals->own->failed) != 0;
}

/* The others learn that this rank failed; this one, of what happened with whom. */
REDIST__SIGNALS_INLINE void redist__signal_fail(const struct redist__signals *signals,
                                                uint64_t happened, int with) {
    if (redist__word_load(signals->status) == 0)
        redist__word_store(signals->status, happened << REDIST__FAILURE_BITS | (uint32_t)with);
    for (int rank = 0; rank < signals->size; rank++)
        redist__word_store(&signals->blocks[rank]->failed, 1 + (uint64_t)signals->rank);
}

/* 0 = something has failed. */
REDIST__SIGNALS_INLINE int redist__signal_await(const struct redist__signals *signals,
                                                const uint64_t *word, uint64_t value, int peer) {
    uint64_t begin = redist__word_clock();
    while (redist__word_load(word) < value) {
        if (redist__signal_has_failed(signals))
            return 0;
        if (redist__word_clock() - begin > signals->patience) {
            redist__signal_fail(signals, REDIST__LATE, peer);
            return 0;
        }
        redist__word_pause();
    }
    return !redist__signal_has_failed(signals);
}

REDIST__SIGNALS_INLINE void redist__signal_tell_ready(const struct redist__signals *signals,
                                                      int direction, uint64_t execution, int peer) {
    if (signals->partners[direction][peer] & REDIST__RECEIVES)
        redist__word_store(
            &redist__signal_words_of(signals->blocks[peer], signals->rank)->ready, execution);
}

REDIST__SIGNALS_INLINE int redist__signal_await_ready(const struct redist__signals *signals,
                                                      int direction, uint64_t execution, int peer) {
    return !(signals->partners[direction][peer] & REDIST__SENDS) ||
           redist__signal_await(signals, &redist__signal_words_of(signals->own, peer)->ready,
                                execution, peer);
}

REDIST__SIGNALS_INLINE void redist__signal_tell_arrived(const struct redist__signals *signals,
                                                        int direction, uint64_t counted, int peer) {
    if (signals->partners[direction][peer] & REDIST__SENDS)
        redist__word_store(
            &redist__signal_words_of(signals->blocks[peer], signals->rank)->arrived, counted);
}

REDIST__SIGNALS_INLINE void redist__signal_await_arrived(const struct redist__signals *signals,
                                                         int direction, uint64_t counted,
                                                         int peer) {
    if (signals->partners[direction][peer] & REDIST__RECEIVES)
        (void)redist__signal_await(signals,
                                   &redist__signal_words_of(signals->own, peer)->arrived, counted,
                                   peer);
}

/* The end of an execution on its rank, after all else. */
REDIST__SIGNALS_INLINE void redist__signal_end(const struct redist__signals *signals) {
    uint64_t failed = redist__word_load(&signals->own->failed);
    if (failed != 0 && redist__word_load(signals->status) == 0)
        redist__word_store(signals->status,
                           (uint64_t)REDIST__FAILED << REDIST__FAILURE_BITS | (failed - 1));
    redist__word_store(&signals->own->executions, redist__signal_execution(signals));
}

/* A gate tells all peers before it waits for any: first this for each of them, then the next for each. */
REDIST__SIGNALS_INLINE void redist__gate_tell(const struct redist__signals *signals,
                                              const struct redist__gate *gate, uint64_t execution,
                                              int peer) {
    if (gate->actions & REDIST__TELL_READY)
        redist__signal_tell_ready(signals, gate->direction, execution, peer);
    if (gate->actions & REDIST__TELL_ARRIVED)
        redist__signal_tell_arrived(signals, gate->direction,
                                    redist__signal_counted(execution, gate->partitions), peer);
    if (gate->actions & REDIST__TELL_STEPS && (gate->steps_to < 0 || gate->steps_to == peer))
        redist__word_store(&redist__signal_words_of(signals->blocks[peer], signals->rank)->steps,
                           redist__signal_counted(execution, gate->steps));
}

REDIST__SIGNALS_INLINE void redist__gate_await(const struct redist__signals *signals,
                                               const struct redist__gate *gate, uint64_t execution,
                                               int peer) {
    if (gate->actions & REDIST__AWAIT_READY)
        (void)redist__signal_await_ready(signals, gate->direction, execution, peer);
    if (gate->actions & REDIST__AWAIT_ARRIVED)
        redist__signal_await_arrived(signals, gate->direction,
                                     redist__signal_counted(execution, gate->partitions), peer);
    if (gate->actions & REDIST__AWAIT_STEPS && gate->steps_from == peer)
        (void)redist__signal_await(signals, &redist__signal_words_of(signals->own, peer)->steps,
                                   redist__signal_counted(execution, gate->steps), peer);
}

#endif
