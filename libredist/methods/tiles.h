/* SPDX-License-Identifier: BSD-3-Clause */
/* What methods that copy straight into or out of the peers' arrays share: where the peers' boxes are, and tiles. */
#ifndef REDIST__TILES_H
#define REDIST__TILES_H

#include "method.h"

/* What a peer publishes of a box that it exchanges with this rank: where in its array, in which strides; and along the
 * axis of the partitions where the box begins in the array, and the extent of that. */
struct redist__remote {
    size_t offset;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    redist_index start, extent;
};

/* The boxes of both directions, or of both sides, with one peer. */
struct redist__remotes {
    struct redist__remote of[2];
};

/* The box of this rank's array of a side that is exchanged with a peer, as it is published. */
struct redist__remote redist__remote_describe(const struct redist__problem *problem, int side,
                                              int peer);

/* Lets each peer know its boxes, and gets to know theirs: one element for each rank. Collective, the same result on all
 * ranks. */
int redist__remotes_exchange(const struct redist__problem *problem,
                             const struct redist__remotes own[], struct redist__remotes theirs[]);

/* REDIST_OK if all ranks are on one node, else REDIST_ERR_METHOD. */
int redist__check_one_node(const struct redist__problem *problem, const char *method);

/* What a rank exchanges with a peer, as a box of its own array of a side, wherever that lies: it begins at `data`. */
struct redist__tile redist__tile_of_part(const struct redist__transfer *transfer, int side,
                                         int peer, char *data, const ptrdiff_t stride[]);

/* The same in the array of the peer, of which `base` is the first byte, as far as it lies in the partitions `first` to
 * `last` - 1 of that. */
struct redist__tile redist__tile_of_remote(const struct redist__problem *problem, int side,
                                           int peer, const struct redist__remote *remote,
                                           char *base, int first, int last);

/* Prepares the copy of what two tiles of the same array have in common, and finds where it begins in both; 0 = they
 * have nothing in common. */
int redist__tile_copy(const struct redist__transfer *transfer, const struct redist__tile *source,
                      const struct redist__tile *destination, struct redist__copy *copy,
                      const char **from, char **to);

/* Makes the next tile a part of this one if it continues it along an axis, in memory too; 0 if not. Such tiles are
 * copied as one, since each copy costs time, however few bytes it has: of an engine, and of the host. */
int redist__tile_join(int ndims, struct redist__tile *tile, const struct redist__tile *next);

/* What two tiles of array A have in common, as a target in the second one; 0 = nothing. */
int redist__tile_target(const struct redist__transfer *transfer, const struct redist__tile *tile,
                        const struct redist__tile *far, redist_target *target);

/* The elements of a tile of a side's array that are exchanged with a peer. */
size_t redist__tile_elements(const struct redist__transfer *transfer,
                             const struct redist__tile *tile, int side, int peer);

#endif
