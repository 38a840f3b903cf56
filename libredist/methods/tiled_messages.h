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

/* The functions of struct redist__method; `tile` puts or gets. A state begins with the pointer to its problem. */
int redist__tiled_messages_create(const struct redist__problem *problem, void **state);
int redist__tiled_messages_connect(void *state);
void redist__tiled_messages_open(void *state, void *array);
void redist__tiled_messages_tile(void *state, const struct redist__tile *tile);
void redist__tiled_messages_progress(void *state);
void redist__tiled_messages_arrived(void *state, int *partitions);
void redist__tiled_messages_close(void *state);
size_t redist__tiled_messages_bytes(const void *state);
void redist__tiled_messages_free(void *state);

#endif
