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

/* The functions of struct redist__method; `tile` puts or gets, and `close` is also `wait`. A state begins with the
 * pointer to its problem. With `own_streams` each peer's part is packed in a stream of its own; pieces on a device have
 * about `piece_bytes` bytes, 0 = the usual number. */
int redist__tiled_messages_create(const struct redist__problem *problem, int own_streams,
                                  size_t piece_bytes, void **state);
void redist__tiled_messages_start(void *state, int direction, const void *source,
                                  void *destination);
int redist__tiled_messages_connect(void *state);
void redist__tiled_messages_open(void *state, void *array);
void redist__tiled_messages_tile(void *state, const struct redist__tile *tile);
void redist__tiled_messages_progress(void *state);
void redist__tiled_messages_arrived(void *state, int *partitions);
void redist__tiled_messages_close(void *state);
size_t redist__tiled_messages_bytes(const void *state);
void redist__tiled_messages_free(void *state);

#endif
