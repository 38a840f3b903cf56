/* SPDX-License-Identifier: BSD-3-Clause */
/* Method direct: executions in tiles, which are copied directly to or from the peers' arrays. */
#ifndef REDIST__DIRECT_TILES_H
#define REDIST__DIRECT_TILES_H

#include "direct_copies.h"

void redist__direct_open(void *data, void *array);
void redist__direct_tile(void *data, const struct redist__tile *tile);
void redist__direct_store(void *data, const struct redist__tile *tile, redist_store *store,
                          void *given);
int redist__direct_own(const void *data, const struct redist__tile *tile, redist_target *target);
void redist__direct_progress(void *data);
void redist__direct_arrived(void *data, int *partitions);
void redist__direct_close(void *data);

/* Advance tiles that wait for their steps, without waiting; and free them. */
int redist__direct_advance_tiles(struct redist__direct *state);
void redist__direct_free_tiles(struct redist__direct *state);

/* Joins two tiles that are adjacent, in memory too, with the same partitions in the sweep; 0 = they are not. */
int redist__direct_join(struct redist__put *put, const struct redist__put *next, int ndims);

#endif
