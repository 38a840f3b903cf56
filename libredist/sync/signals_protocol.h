/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device's side of the protocol of signals.h. Each kind of device compiles it once, with its declaration specifiers
 * as REDIST__SIGNALS_INLINE, and its own functions redist__word_*.
 */
#ifndef REDIST__SIGNALS_PROTOCOL_H
#define REDIST__SIGNALS_PROTOCOL_H

#include "signals.h"

REDIST__SIGNALS_INLINE uint64_t redist__word_load(const uint64_t *word);
/* Reads a word that does not order other memory. */
REDIST__SIGNALS_INLINE uint64_t redist__word_peek(const uint64_t *word);
REDIST__SIGNALS_INLINE void redist__word_store(uint64_t *word, uint64_t value);
/* Writes a word without a fence: it does not publish earlier stores. */
REDIST__SIGNALS_INLINE void redist__word_put(uint64_t *word, uint64_t value);
REDIST__SIGNALS_INLINE uint64_t redist__word_clock(void); /* nanoseconds */
REDIST__SIGNALS_INLINE void redist__word_pause(unsigned poll);

/* Polls between checks of the clock and of failures; and of host memory, which is slow to read. */
enum { REDIST__POLLS_PER_LOOK = 64, REDIST__POLLS_PER_NOTICE = 4096 };

REDIST__SIGNALS_INLINE struct redist__signal_words *
redist__signal_words_of(struct redist__signal_block *block, int rank) {
    return (struct redist__signal_words *)(block + 1) + rank;
}

/* Returns this rank's flags in a peer's block. */
REDIST__SIGNALS_INLINE struct redist__signal_words *
redist__signal_words_at(const struct redist__signals *signals, int peer) {
    return redist__signal_words_of(
        peer < REDIST__FIRST_RANKS ? signals->near[peer] : signals->blocks[peer], signals->rank);
}

REDIST__SIGNALS_INLINE int redist__signal_partner(const struct redist__signals *signals,
                                                  int direction, int peer) {
    return peer < REDIST__FIRST_RANKS ? signals->near_partners[direction][peer]
                                      : signals->partners[direction][peer];
}

REDIST__SIGNALS_INLINE uint64_t redist__signal_counted(uint64_t execution, uint32_t count) {
    return execution << REDIST__COUNT_BITS | count;
}

REDIST__SIGNALS_INLINE uint64_t redist__signal_execution(const struct redist__signals *signals) {
    return redist__word_load(&signals->own->executions) + 1;
}

/* Breaks the plans that fail together here. */
REDIST__SIGNALS_INLINE void redist__signal_break(const struct redist__signals *signals) {
    if (redist__word_load(signals->broken) == 0)
        redist__word_store(signals->broken, signals->mark);
}

/* Signals this rank's failure to the ranks of the plan, and to the plans that fail together here. */
REDIST__SIGNALS_INLINE void redist__signal_tell_failed(const struct redist__signals *signals) {
    redist__signal_break(signals);
    for (int rank = 0; rank < signals->size; rank++)
        redist__word_store(&signals->blocks[rank]->failed, 1 + (uint64_t)signals->rank);
}

/* Reports the first failure, and its rank, to the host. */
REDIST__SIGNALS_INLINE void redist__signal_note(const struct redist__signals *signals,
                                                uint64_t happened, int with) {
    if (redist__word_load(signals->status) == 0)
        redist__word_store(signals->status, happened << REDIST__FAILURE_BITS | (uint32_t)with);
}

REDIST__SIGNALS_INLINE void redist__signal_fail(const struct redist__signals *signals,
                                                uint64_t happened, int with) {
    redist__signal_note(signals, happened, with);
    redist__signal_tell_failed(signals);
}

/* Returns whether the plan is broken, reading two words at once. */
REDIST__SIGNALS_INLINE int redist__signal_is_broken(const struct redist__signals *signals) {
    uint64_t failed = redist__word_peek(&signals->own->failed);
    return (failed | redist__word_peek(signals->broken)) != 0;
}

/* Spreads a failure: of a peer to this rank, of another plan here to the peers. */
REDIST__SIGNALS_INLINE void redist__signal_spread(const struct redist__signals *signals) {
    uint64_t failed = redist__word_load(&signals->own->failed);
    if (failed == 0)
        redist__signal_tell_failed(signals);
    else if (failed != 1 + (uint64_t)signals->rank) {
        redist__signal_note(signals, REDIST__FAILED, (int)(failed - 1));
        redist__signal_break(signals);
    }
}

/* Returns whether this rank, or a peer, has failed. */
REDIST__SIGNALS_INLINE int redist__signal_has_failed(const struct redist__signals *signals) {
    if (!redist__signal_is_broken(signals))
        return 0;
    redist__signal_spread(signals);
    return 1;
}

REDIST__SIGNALS_INLINE int redist__signal_is_gone(const struct redist__signals *signals) {
    return signals->gone != NULL && redist__word_peek(signals->gone) != 0;
}

/* Returns whether to continue waiting; 0 = a rank has failed, or fails now. */
REDIST__SIGNALS_INLINE int redist__signal_may_wait(const struct redist__signals *signals,
                                                   uint64_t *begin, unsigned poll, int peer) {
    uint64_t now = redist__word_clock();
    *begin = *begin != 0 ? *begin : now;
    if (redist__signal_has_failed(signals))
        return 0;
    int is_gone = poll % REDIST__POLLS_PER_NOTICE == 0 && redist__signal_is_gone(signals);
    if (!is_gone && now - *begin <= signals->patience)
        return 1;
    redist__signal_fail(signals, is_gone ? REDIST__GONE : REDIST__LATE, peer);
    return 0;
}

/* Waits for a word; 0 = a rank has failed, and the word may be less. */
REDIST__SIGNALS_INLINE int redist__signal_await(const struct redist__signals *signals,
                                                const uint64_t *word, uint64_t value, int peer) {
    uint64_t begin = 0;
    for (unsigned poll = 1; redist__word_load(word) < value; poll++) {
        if (poll % REDIST__POLLS_PER_LOOK == 0 &&
            !redist__signal_may_wait(signals, &begin, poll, peer))
            return 0;
        redist__word_pause(poll);
    }
    return 1;
}

/* Signals `ready`, after a kernel's end or a fence, as all signals. */
REDIST__SIGNALS_INLINE void redist__signal_tell_ready(const struct redist__signals *signals,
                                                      int direction, uint64_t execution, int peer) {
    if (redist__signal_partner(signals, direction, peer) & REDIST__RECEIVES)
        redist__word_put(&redist__signal_words_at(signals, peer)->ready, execution);
}

REDIST__SIGNALS_INLINE int redist__signal_await_ready(const struct redist__signals *signals,
                                                      int direction, uint64_t execution, int peer) {
    return !(redist__signal_partner(signals, direction, peer) & REDIST__SENDS) ||
           redist__signal_await(signals, &redist__signal_words_of(signals->own, peer)->ready,
                                execution, peer);
}

REDIST__SIGNALS_INLINE void redist__signal_tell_arrived(const struct redist__signals *signals,
                                                        int direction, uint64_t counted, int peer) {
    if (redist__signal_partner(signals, direction, peer) & REDIST__SENDS)
        redist__word_put(&redist__signal_words_at(signals, peer)->arrived, counted);
}

REDIST__SIGNALS_INLINE void redist__signal_await_arrived(const struct redist__signals *signals,
                                                         int direction, uint64_t counted,
                                                         int peer) {
    if (redist__signal_partner(signals, direction, peer) & REDIST__RECEIVES)
        (void)redist__signal_await(signals, &redist__signal_words_of(signals->own, peer)->arrived,
                                   counted, peer);
}

/* Ends an execution on this rank. */
REDIST__SIGNALS_INLINE void redist__signal_end(const struct redist__signals *signals,
                                               uint64_t execution) {
    redist__word_put(&signals->own->executions, execution);
}

/* Signals to a peer: a gate signals to all peers before it waits for any. */
REDIST__SIGNALS_INLINE void redist__gate_tell(const struct redist__signals *signals,
                                              const struct redist__gate *gate, uint64_t execution,
                                              int peer) {
    if (gate->actions & REDIST__TELL_READY)
        redist__signal_tell_ready(signals, gate->direction, execution, peer);
    if (gate->actions & REDIST__TELL_ARRIVED && !redist__signal_has_failed(signals))
        redist__signal_tell_arrived(signals, gate->direction,
                                    redist__signal_counted(execution, gate->partitions), peer);
    if (gate->actions & REDIST__TELL_STEPS && (gate->steps_to < 0 || gate->steps_to == peer))
        redist__word_put(&redist__signal_words_at(signals, peer)->steps,
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
