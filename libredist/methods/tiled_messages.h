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

#include "method.h"

/* Creates a state of the table below, which has no function for that. With `own_streams` each peer's part is packed in a
 * stream of its own; pieces on a device have about `piece_bytes` bytes, 0 = the usual number. */
int redist__tiled_messages_create(const struct redist__problem *problem, int own_streams,
                                  size_t piece_bytes, void **state);

extern const struct redist__method redist__tiled_messages;

#endif
