/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol by which the ranks of a node execute a plan on each other's memory: flags in shared memory, one
 * flag block for each rank. Each rank writes its own block and polls those of its peers; counters only grow.
 * tests/model/direct.pml is a model of it. In execution n of a plan a rank
 *
 *   begin         counts the execution; waits until ranks without a common box have done n - 1
 *   ready = n     publishes the address of its array, which peers may now use
 *                 copies from or to the array of each peer that is ready
 *   steps         if paced, publishes the number of steps that it has ended (struct redist__steps)
 *   partitions    publishes the number of partitions that it has delivered to all peers
 *   failed        publishes its failure, if any, before
 *   done = n      its copies are complete; then it waits until its peers have done n, and knows their failures
 *   left          it has freed the plan after a failure
 */
#ifndef REDIST__FLAGS_H
#define REDIST__FLAGS_H

#include "../comm/comm.h"
#include "../runtime/space.h"

#include <stdatomic.h>

/* Steps, partitions and failures have the execution's number beside the value, in words that wrap around. */
struct redist__flag_block {
    _Alignas(128) _Atomic uint64_t ready;
    struct redist__memory_handle array;
    _Atomic uint64_t done, steps, partitions, failed, left;
};

_Static_assert(ATOMIC_LONG_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2 &&
                   sizeof(_Atomic uint64_t) == 8,
               "flags that processes share need 64-bit atomics without locks");

/* The flags of a plan. */
struct redist__flags {
    struct redist__context *context;
    struct redist__flag_pool *pool; /* of its blocks, or NULL */
    void **blocks;                  /* of each rank of the node, */
    int index;                      /* index of the plan's block in them */
    uint64_t born;                  /* executions with these blocks before the plan was made */
    uint64_t number;                /* of the pending execution */
};

/* Takes free blocks, or makes more. Collective on the context. */
int redist__flags_take(struct redist__context *context, struct redist__flags *flags);

/* Releases the blocks; after a failure sets `left` for the peers. All ranks do so in the same order. */
void redist__flags_give(struct redist__flags *flags, int failure);

/* Pauses a loop that waits for flags; as redist__pause, but REDIST_ERR_PEER also if a peer has left. */
int redist__flags_pause(const struct redist__flags *flags, unsigned poll);

/* Return whether a peer's array may be used; wait until it may be; return its address. */
int redist__flags_is_ready(const struct redist__flags *flags, int peer);
int redist__flags_wait_ready(const struct redist__flags *flags, int peer);
const struct redist__memory_handle *redist__flags_array(const struct redist__flags *flags,
                                                        int peer);

void redist__flags_publish_ready(const struct redist__flags *flags,
                                 const struct redist__memory_handle *array);
void redist__flags_publish_done(const struct redist__flags *flags, int failure);

/* Waits until a peer has done execution `number`, and records its failures; meanwhile calls `progress`, if any. */
void redist__flags_wait_done(const struct redist__flags *flags, int peer, uint64_t number,
                             struct redist__failure *failure, void (*progress)(void *data),
                             void *data);

void redist__flags_publish_partitions(const struct redist__flags *flags, int partitions);
int redist__flags_partitions(const struct redist__flags *flags, int peer, int most);

/*
 * Pairwise steps: in each of them every rank sends to one peer at the same distance, so that no two send to the same:
 * in steps 0, 1, 2, ... the distances are 1, 2, ..., P - 1, 1, 2, ... A sweep is P - 1 steps. Whole arrays take one,
 * tiles several, possibly different numbers on each rank.
 *
 * A step may begin when this rank and the previous sender to the same peer have ended the previous step: then no peer
 * has more than one sender. Or, so that the engines need not wait for the host, when they have ended the step `ahead`
 * steps before that one.
 */
struct redist__steps {
    const struct redist__flags *flags;
    int paced; /* 0 = only this rank's own order counts */
    int ahead;
    int begun, ended; /* steps of the pending execution */
};

int redist__steps_distance(const struct redist__steps *steps, int step);
int redist__steps_may_begin(const struct redist__steps *steps);

/* End one more step; end all steps of this rank in this execution. */
void redist__steps_end(struct redist__steps *steps);
void redist__steps_end_all(const struct redist__steps *steps);

#endif
