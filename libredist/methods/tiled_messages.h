/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executions by packed messages in pieces: in tiles, and on devices of whole arrays. A rank sends its part for another
 * one in several messages, each as soon as its last tile was put: cut in pieces of the sender's part, and in groups of
 * the receiver's partitions. On a device a piece is packed, downloaded for an MPI that takes no memory of devices,
 * sent, uploaded and unpacked while others are in another one of these stages, each with a stream of the library; the
 * host polls these, sends filled messages and counts unpacked ones.
 */
#ifndef REDIST__TILED_MESSAGES_H
#define REDIST__TILED_MESSAGES_H

#include "tiles.h"

/* Creates a state of the table below, which has no function for that. With `own_streams` each peer's part is packed in
 * a stream of its own; pieces on a device have about `piece_bytes` bytes, 0 = the usual number. */
int redist__tiled_messages_create(const struct redist__problem *problem, int own_streams,
                                  size_t piece_bytes, void **state);

extern const struct redist__method redist__tiled_messages;

/* ---------------------------------------------------------------- pieces of a part, each in groups (message_cuts.c) */

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
