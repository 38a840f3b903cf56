/* SPDX-License-Identifier: BSD-3-Clause */
/* Common part of methods that copy directly into or out of the peers' arrays: the peers' boxes, and tiles. */
#ifndef REDIST__TILES_H
#define REDIST__TILES_H

#include "method.h"

/* A peer's box that it exchanges with this rank: offset and strides in its array; start along the axis of the
 * partitions, and that axis's extent. */
struct redist__remote {
    size_t offset;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    redist_index start, extent;
};

/* The boxes of both directions, or of both sides, with one peer. */
struct redist__remotes {
    struct redist__remote of[2];
};

/* Describes a box of this rank's array, for publication. */
struct redist__remote redist__remote_describe(const struct redist__problem *problem, int side,
                                              const struct redist__part *part);

/* Returns the number of boxes that are exchanged, as many for each rank as the longest list has: box i is for rank i
 * modulo the number of ranks, and those at one position of all lists follow each other. */
static inline int redist__box_count(const struct redist__problem *problem) {
    return problem->transfer->nranks * problem->transfer->longest;
}

/* Exchanges boxes with all peers: what `describe` returns of the box at a position of the list for a peer, zeros for
 * none; NULL = the boxes of both sides. Collective, the same result on all ranks. */
typedef struct redist__remote redist__describe_remote(void *data, int which, int peer,
                                                      int position);
int redist__remotes_exchange(const struct redist__problem *problem,
                             redist__describe_remote *describe, void *data,
                             struct redist__remotes remotes[]);

/* Computes a box's strides in a stage, where each box is contiguous, and returns its bytes: with an array's strides, if
 * these are powers of two, boxes would use a part of the caches only. */
enum { REDIST__STAGE_ALIGNMENT = 64 };
size_t redist__stage_part(const struct redist__transfer *transfer, const struct redist__part *part,
                          ptrdiff_t stride[]);

/* Checks that all ranks are on one node, else REDIST_ERR_METHOD. */
int redist__check_one_node(const struct redist__problem *problem, const char *method);

/* Returns the part exchanged with a peer as a tile of this rank's array at `data`. */
struct redist__tile redist__tile_of_part(const struct redist__transfer *transfer, int side,
                                         int peer, char *data, const ptrdiff_t stride[]);

/* The same in the array of the peer at `base`, cut to its partitions `first` to `last` - 1. */
struct redist__tile redist__tile_of_remote(const struct redist__problem *problem, int side,
                                           int peer, const struct redist__remote *remote,
                                           char *base, int first, int last);

/* Prepares the copy of the intersection of two tiles of the same array, and finds its start in both; 0 = empty. */
int redist__tile_copy(const struct redist__transfer *transfer, const struct redist__tile *source,
                      const struct redist__tile *destination, struct redist__copy *copy,
                      const char **from, char **to);

/* Joins the next tile to this one if they are adjacent along an axis, in memory too; 0 if not. Such tiles are copied as
 * one, since each copy costs time of an engine, and of the host. */
int redist__tile_join(int ndims, struct redist__tile *tile, const struct redist__tile *next);

/* Finds the intersection of two tiles of array A, as a target in the second one; 0 = empty. */
int redist__tile_target(const struct redist__transfer *transfer, const struct redist__tile *tile,
                        const struct redist__tile *far, redist_target *target);

/* Counts the elements of a tile that are exchanged with a peer. */
size_t redist__tile_elements(const struct redist__transfer *transfer,
                             const struct redist__tile *tile, int side, int peer);

/* Counts those of array A that are sent to any rank, this one included. */
size_t redist__tile_sent(const struct redist__transfer *transfer, const struct redist__tile *tile);

#endif
