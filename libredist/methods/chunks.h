/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executions in tiles by packed messages. A rank sends its part for another one in several messages, each as soon as
 * its last tile was put: cut in segments of the sender's part, and in groups of the receiver's partitions. On a device
 * tiles are packed and messages unpacked in streams of the library; the host polls these, sends packed messages and
 * counts unpacked ones.
 */
#ifndef REDIST__CHUNKS_H
#define REDIST__CHUNKS_H

#include "method.h"

struct redist__chunks;

/* To be freed also after a failure: REDIST_ERR_MEMORY. */
int redist__chunks_create(const struct redist__problem *problem, struct redist__chunks **result);
void redist__chunks_free(struct redist__chunks *chunks);
size_t redist__chunks_bytes(const struct redist__chunks *chunks);

/* As the functions of struct redist__method; `tile` puts or gets. */
int redist__chunks_connect(struct redist__chunks *chunks);
void redist__chunks_open(struct redist__chunks *chunks, void *array);
void redist__chunks_tile(struct redist__chunks *chunks, const struct redist__tile *tile);
void redist__chunks_progress(struct redist__chunks *chunks);
void redist__chunks_arrived(struct redist__chunks *chunks, int *partitions);
void redist__chunks_close(struct redist__chunks *chunks);

#endif
