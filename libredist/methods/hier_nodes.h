/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of hier's messages between nodes share: hier_nodes.c, which plans and makes them, and
 * hier_nodes_run.c.
 *
 * One message for each ordered pair of nodes. For each other node one rank of this node carries the
 * message there, and one the message from there; the carriers are different ones for different nodes.
 * All ranks of the node pack their parts into shared memory of the carrier, which sends when all have;
 * when a message has arrived, all unpack theirs from it. A message is ordered by source rank, then by
 * destination rank.
 *
 * Each rank has counters in shared memory. In execution n
 *   ready    = n  its outgoing messages of execution n - 1 have left: others may pack
 *   packed   grows with each node for which it has packed
 *   arrived  = n  for each node whose message it carries: others may unpack
 *   done     = n  it has unpacked all: carriers may receive again
 *   failed   > 0  it has failed; written before `packed`, `arrived` and `done`
 *
 * A message in which a rank of the node has no part, since it failed, is sent empty; and the rank that receives
 * an empty message has failed too, which the ranks of its node see when they unpack. After `done` of an
 * execution each rank sees whether any of its node failed.
 */
#ifndef REDIST__HIER_NODES_H
#define REDIST__HIER_NODES_H

#include "hier.h"
#include "messages.h"

#include <stdatomic.h>

struct redist__node_header {
    _Alignas(64) _Atomic uint64_t ready;
    _Atomic uint64_t packed, done;
    _Atomic uint64_t failed;
    _Atomic uint64_t arrived[]; /* for each node */
};

/* The messages to and from another node, in one direction of the exchange. */
struct redist__bundle {
    uint64_t out, in;     /* elements of the messages */
    uint64_t mine;        /* elements of the outgoing one before those of this rank */
    size_t out_at, in_at; /* where the messages are in their carriers' memory */
};

struct redist__bundles {
    struct redist__bundle *bundles; /* of each node */
    uint64_t *before; /* elements before the part from each rank, in the message that has it */
};

struct redist__node_messages {
    const struct redist__problem *problem;
    int nnodes, own;      /* nodes, and the number of this one */
    const int *node_of;   /* of each rank */
    int *first, *members; /* ranks by node: those of node i begin at first[i] */
    struct redist__bundles routes[2];
    MPI_Datatype element;        /* the item's bytes */
    void *memory;                /* of this rank, shared */
    size_t bytes, head;          /* of it all, of the header */
    char **memories;             /* of all ranks of the node, by rank in it */
    struct redist__messages mpi; /* with each node one */
    char *is_sent, *is_unpacked; /* of each node */
    uint64_t number;             /* of the execution under way */
    int posted, npacked;         /* receives are posted; nodes that were packed for */
    int left; /* nodes whose parts are not unpacked, messages not sent or received */
    int direction;
    const char *source;
    char *destination;
};

/* The rank of `node` that carries the messages to and from `other`, and whether this rank does. */
int redist__node_carrier(const struct redist__node_messages *messages, int node, int other);
int redist__node_carries(const struct redist__node_messages *messages, int other);

#endif
