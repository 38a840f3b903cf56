/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executions in tiles by packed messages. A rank sends its part for another one in several messages, each as soon as
 * its last tile was put: cut in segments of the sender's part, and in groups of the receiver's partitions. On a device
 * tiles are packed and messages unpacked in streams of the library; the host polls these, sends packed messages and
 * counts unpacked ones.
 */
#ifndef REDIST__TILED_MESSAGES_H
#define REDIST__TILED_MESSAGES_H

#include "method.h"

struct redist__tiled_messages;

/* To be freed also after a failure: REDIST_ERR_MEMORY. */
int redist__tiled_messages_create(const struct redist__problem *problem,
                                  struct redist__tiled_messages **result);
void redist__tiled_messages_free(struct redist__tiled_messages *tiled);
size_t redist__tiled_messages_bytes(const struct redist__tiled_messages *tiled);

/* As the functions of struct redist__method; `tile` puts or gets. */
int redist__tiled_messages_connect(struct redist__tiled_messages *tiled);
void redist__tiled_messages_open(struct redist__tiled_messages *tiled, void *array);
void redist__tiled_messages_tile(struct redist__tiled_messages *tiled,
                                 const struct redist__tile *tile);
void redist__tiled_messages_progress(struct redist__tiled_messages *tiled);
void redist__tiled_messages_arrived(struct redist__tiled_messages *tiled, int *partitions);
void redist__tiled_messages_close(struct redist__tiled_messages *tiled);

#endif
