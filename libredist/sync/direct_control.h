/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flags in shared memory by which the ranks of a node tell each other where their arrays are, that
 * they may be used, and that they are done. One slot per plan; a slot has one line per rank.
 */
#ifndef REDIST__DIRECT_CONTROL_H
#define REDIST__DIRECT_CONTROL_H

#include "../runtime/space.h"
#include "waiting.h"

#include <stdatomic.h>

/* Written by one rank, read by its peers. Counters only grow: execution n is number n. */
struct redist__line {
    _Alignas(128) _Atomic uint64_t ready; /* `place` is valid and the array there may be used */
    struct redist__memory_handle place;
    _Atomic uint64_t done;   /* this rank has copied all it has to */
    _Atomic uint64_t turns;  /* of paced executions: that this rank has ended, of all of them */
    _Atomic uint64_t pieces; /* of executions with pieces: how many it has delivered in which */
    _Atomic uint64_t
        failed; /* the last execution that failed here, and its code: redist__failed_word.
                              * Written before `done` */
};

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2 &&
                   sizeof(_Atomic uint64_t) == 8,
               "flags that processes share need 64-bit atomics without locks");

struct redist__slot {
    struct redist__control *control;
    int index;
    uint64_t born; /* executions of the slot before its plan was made */
};

/* Takes a free slot, making more when all are taken. Collective on the context. */
int redist__slot_take(struct redist__context *context, struct redist__slot *slot);

/* Gives a slot back. All ranks do it at the same place of their order of slot calls. */
void redist__slot_give(struct redist__slot *slot);

/* The number of the next execution. */
uint64_t redist__slot_next(struct redist__slot *slot);

/* The line of a rank of the node. */
struct redist__line *redist__slot_line(const struct redist__slot *slot, int node_rank);

/* What a line says of something that is counted within an execution, of whose number it keeps 32 bits:
 * words wrap around, and are compared by redist__is_counted. */
static inline uint64_t redist__counted(uint64_t execution, uint32_t n) {
    return execution << 32 | n;
}

/* That an execution failed, with which code. */
static inline uint64_t redist__failed_word(uint64_t execution, int code) {
    return execution << 8 | (uint64_t)code;
}

/* Whether a counter has come as far as that. */
static inline int redist__is_counted(uint64_t told, uint64_t execution, uint32_t n) {
    return (int64_t)(told - redist__counted(execution, n)) >= 0;
}

/* Peers poll the line: it is left alone where nothing is new. */
static inline void redist__tell_count(_Atomic uint64_t *counter, uint64_t execution, uint32_t n) {
    uint64_t told = redist__counted(execution, n);
    if (atomic_load_explicit(counter, memory_order_relaxed) != told)
        atomic_store_explicit(counter, told, memory_order_release);
}

/* Frees a context's flags. Collective. */
void redist__control_free(struct redist__context *context);

#endif
