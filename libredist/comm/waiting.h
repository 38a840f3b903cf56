/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops that wait for peers: they let MPI make progress and other processes run, and end when a peer's
 * process is gone. */
#ifndef REDIST__WAITING_H
#define REDIST__WAITING_H

#include "context.h"

#include <stdatomic.h>
#include <stdint.h>

/* One turn of such a loop, the poll-th. REDIST_OK, REDIST_ERR_PEER if a process of the node is gone, or
 * REDIST_ERR_MPI. */
int redist__pause(const struct redist__context *context, unsigned poll);

/* The same in a loop that has to wait for one rank of the node, since that one may use memory of this rank: only
 * its own end is an error. */
int redist__pause_for(const struct redist__context *context, int node_rank, unsigned poll);

/* Waits until a counter has reached `value`. Codes as above. */
int redist__wait_for(const _Atomic uint64_t *counter, uint64_t value,
                     const struct redist__context *context);

/* The processes of a context's node, to see later whether they are still there. Room for so many, NULL if there
 * is no memory; finding them is collective on the node, whatever has failed. */
struct redist__peers *redist__peers_allocate(int count);
int redist__peers_find(struct redist__context *context);
void redist__peers_free(struct redist__context *context);

/* The lowest value of all ranks, by a reduction that ends when a peer is gone. Collective; the ranks of a
 * context use it from the same moment on, when redist__peers_known is nonzero. */
int redist__find_lowest(const struct redist__context *context, int value, int *lowest);
int redist__peers_known(const struct redist__context *context);

/* Nonzero if one of them was seen to be gone: MPI's collective calls would wait for it. */
int redist__peers_gone(const struct redist__context *context);

#endif
