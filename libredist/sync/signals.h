/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The protocol by which the devices of a node execute a plan without their hosts: words in memory of each device that
 * its peers map, a block for each rank. A rank writes its words into the blocks of its peers and polls those in its
 * own, all in streams; words only grow. In execution n of a plan a rank
 *
 *   ready = n              tells the ranks that send to it that its destination may be written
 *                          copies to each peer that is ready
 *   arrived = n, k         tells a peer that k partitions of the peer's destination have all that is sent to them
 *   steps = n, i           if there are several receivers: tells who serves the same one next that it has ended i steps
 *   failed                 tells all ranks that it failed, or waited in vain for longer than its patience
 *   executions = n         its own: all that is sent to it has arrived
 *
 * The number of an execution lies on the device, so that work that was enqueued once can be repeated. After `failed`
 * nobody waits any more, and nobody tells that something has arrived. The same holds on a rank for all plans that fail
 * together, as the exchanges of a transform do: the first failure of one of them sets `broken`, and each of the others
 * tells its ranks of it before it would tell that something has arrived. A device that waits reads now and then what
 * hosts write: whether a rank of the plan is gone (notice.h).
 */
#ifndef REDIST__SIGNALS_H
#define REDIST__SIGNALS_H

#include <stddef.h>
#include <stdint.h>

/* What one peer tells, in a line of memory of its own. */
struct redist__signal_words {
    uint64_t ready, arrived, steps;
    uint32_t copied; /* not the peer's: blocks of a kernel that have copied to it */
    uint32_t unused[25];
};

/* The words of the ranks follow. */
struct redist__signal_block {
    uint64_t executions;
    uint64_t failed; /* 1 + the rank that failed; 0 = none has */
    uint64_t
        broken; /* written by this rank alone: nonzero = a plan of those that fail together has failed here */
    uint32_t served; /* peers to which a kernel has copied */
    uint32_t unused[25];
};

/* Whether a rank sends to a peer, and receives from it. */
enum { REDIST__SENDS = 1, REDIST__RECEIVES = 2 };

/* A failure as the host finds it: what happened, above the rank that it is about. */
enum { REDIST__LATE = 1, REDIST__FAILED = 2, REDIST__GONE = 3, REDIST__FAILURE_BITS = 32 };

/* What a device knows of a plan. The first ranks are known from the call itself: what is in memory takes a device
 * longer to read than to copy a small array. */
enum { REDIST__FIRST_RANKS = 8 };
struct redist__signals {
    struct redist__signal_block *own;
    struct redist__signal_block
        *near[REDIST__FIRST_RANKS];             /* of the first ranks, as this device maps them */
    struct redist__signal_block *const *blocks; /* of all ranks */
    const unsigned char *partners[2];           /* of each direction: what each peer is */
    unsigned char near_partners[2][REDIST__FIRST_RANKS];
    uint64_t *broken;     /* of the plans that fail together: one of their blocks has it */
    const uint64_t *gone; /* in memory of the host: nonzero = a rank is gone; or NULL */
    uint64_t *status;     /* there, too: its first failure */
    uint64_t patience;    /* nanoseconds */
    int rank, size;
};

/* What a gate does, in this order: it fails, tells, waits, ends the execution. */
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
    uint32_t partitions;      /* told and waited for */
    uint32_t steps;           /* the same */
    int steps_to, steps_from; /* which ranks; all if steps_to < 0 */
};

/* Of words that count within an execution. */
enum { REDIST__COUNT_BITS = 20, REDIST__MOST_COUNT = (1 << REDIST__COUNT_BITS) - 1 };

#endif
