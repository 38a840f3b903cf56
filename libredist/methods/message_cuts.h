/* SPDX-License-Identifier: BSD-3-Clause */
/* How a part is cut into messages: pieces of the sender's part, each in groups of the receiver's partitions. */
#ifndef REDIST__MESSAGE_CUTS_H
#define REDIST__MESSAGE_CUTS_H

#include "tiles.h"

struct redist__message_cuts {
    const struct redist__problem *problem;
    size_t piece_bytes;
    int groups;                      /* of partitions */
    int each;                        /* messages for each peer, at most: pieces times groups */
    struct redist__remotes *remotes; /* with groups: the peers' boxes */
};

/* A box of a part: its place among the elements of the packed part, and as a tile of the packed message. */
struct redist__message_box {
    size_t first, elements;
    struct redist__tile tile;
};

/* Prepares the cuts; pieces on a device have about `piece_bytes` bytes, 0 = the usual number. To be freed after a
 * failure, too. */
int redist__message_cuts_create(struct redist__message_cuts *cuts,
                                const struct redist__problem *problem, size_t piece_bytes);
void redist__message_cuts_free(struct redist__message_cuts *cuts);

/* Exchanges the receivers' partitions, by which senders cut their parts. Collective. */
int redist__message_cuts_connect(struct redist__message_cuts *cuts);

/* Returns the i-th message of a peer's part on a side, without an address; empty beyond the last one. */
struct redist__message_box redist__message_cut(const struct redist__message_cuts *cuts, int side,
                                               int peer, int i);

/* Returns the first partition of a group. */
int redist__first_partition(const struct redist__message_cuts *cuts, int group);

/* Returns whether messages leave with the segments in which a device's array is put. */
int redist__has_segments(const struct redist__problem *problem);

#endif
