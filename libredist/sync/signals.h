/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol by which the devices of a node execute a plan without their hosts: words in memory of each device that
 * its peers map, a block for each rank. A rank writes its words into the blocks of its peers and polls those in its
 * own, all in streams; words only grow. In execution n of a plan a rank
 *
 *   ready = n              signals to its senders that its destination may be written
 *                          copies to each peer that is ready
 *   arrived = n, k         signals to a peer that k partitions of its destination are complete
 *   steps = n, i           with several receivers: signals to the next sender of the same one that it has ended i steps
 *   failed                 signals to all ranks that it failed, or waited for longer than its patience
 *   executions = n         in its own block: its destination is complete
 *
 * The number of an execution is in device memory, so that enqueued work can be repeated. After `failed` no rank waits
 * any more, or signals an arrival. The same holds on a rank for all plans that fail together, as the exchanges of a
 * transform do: the first failure of one of them sets `broken`, and each of the others signals it to its ranks instead
 * of an arrival. A device that waits reads the hosts' notice of lost ranks now and then (notice.h).
 */
#ifndef REDIST__SIGNALS_H
#define REDIST__SIGNALS_H

#include <stddef.h>
#include <stdint.h>

/* Flags of one peer, in a separate cache line. */
struct redist__signal_words {
    uint64_t ready, arrived, steps;
    uint32_t copied; /* of this rank: blocks of a kernel that have copied to the peer */
    uint32_t unused[25];
};

/* The words of the ranks follow. */
struct redist__signal_block {
    uint64_t executions;
    uint64_t failed; /* 1 + the failed rank; 0 = none */
    uint64_t
        broken; /* of this rank: nonzero = a plan of those that fail together has failed here */
    uint32_t served; /* peers to which a kernel has copied */
    uint32_t unused[25];
};

/* Bits of a peer: this rank sends to it, receives from it. */
enum { REDIST__SENDS = 1, REDIST__RECEIVES = 2 };

/* A failure for the host: its kind, above the bits of the rank. */
enum { REDIST__LATE = 1, REDIST__FAILED = 2, REDIST__GONE = 3, REDIST__FAILURE_BITS = 32 };

/* A device's view of a plan. The first ranks are arguments of the call: a device takes longer to read memory than to
 * copy a small array. */
enum { REDIST__FIRST_RANKS = 8 };
struct redist__signals {
    struct redist__signal_block *own;
    struct redist__signal_block
        *near[REDIST__FIRST_RANKS];             /* of the first ranks, as mapped by this device */
    struct redist__signal_block *const *blocks; /* of all ranks */
    const unsigned char *partners[2];           /* bits of each peer, in each direction */
    unsigned char near_partners[2][REDIST__FIRST_RANKS];
    uint64_t *broken; /* of the plans that fail together: in one of their blocks, or host memory */
    uint64_t mark;    /* to set it to */
    const uint64_t *gone; /* in host memory: nonzero = a rank is gone; or NULL */
    uint64_t *status;     /* in host memory: first failure */
    uint64_t patience;    /* nanoseconds */
    int rank, size;
};

/* Actions of a gate, in this order: it fails, signals, waits, ends the execution. */
enum {
    REDIST__FAIL = 1,
    REDIST__TELL_READY = 2,
    REDIST__TELL_ARRIVED = 4,
    REDIST__TELL_STEPS = 8,
    REDIST__AWAIT_READY = 16,
    REDIST__AWAIT_ARRIVED = 32,
    REDIST__AWAIT_STEPS = 64,
    REDIST__END = 128
};

/* A place in a stream where its rank signals. */
struct redist__gate {
    int actions, direction;
    uint32_t partitions;      /* signalled and waited for */
    uint32_t steps;           /* the same */
    int steps_to, steps_from; /* ranks; all if steps_to < 0 */
};

/* Layout of words that count within an execution. */
enum { REDIST__COUNT_BITS = 20, REDIST__MOST_COUNT = (1 << REDIST__COUNT_BITS) - 1 };

#endif
