/* SPDX-License-Identifier: BSD-3-Clause */
/* The transfer description: one exchange as boxes, to each peer and from each peer. */
#ifndef REDIST__TRANSFER_H
#define REDIST__TRANSFER_H

#include "element.h"
#include "redist_halo.h"

#include <stdint.h>

/* The box of the local array that is exchanged with one peer. */
struct redist__part {
    redist_index *start, *count; /* in the local array, along each axis */
    size_t elements;             /* 0 = nothing is exchanged with this peer */
    size_t offset;               /* bytes from the array's first element to the box's first */
    int replaces; /* backward: its elements replace those of array A, before others are added */
    struct redist__part *next; /* the peer's next box, in the same order on both ranks, or NULL */
};

/* One of the two arrays, as this rank holds it. */
struct redist__side {
    redist_index *extent;       /* along each axis, */
    ptrdiff_t *stride;          /* and bytes between neighbours */
    size_t bytes;               /* of the whole local array, up to the last data byte */
    size_t elements;            /* in all parts together */
    struct redist__part *parts; /* one for each rank; behind them the numbers of all axes */
};

/* `side[direction]` is the source, `side[!direction]` the destination. The axes inside an element follow those of the
 * array: methods copy and send boxes of items, and do not touch the gaps between the items of an element. */
struct redist__transfer {
    int rank, nranks;
    struct redist__element element;
    int array_ndims;
    int ndims;   /* with those inside an element */
    int longest; /* boxes in the longest list of any two ranks, >= 1 */
    int one_way; /* forward only, as several ranks may receive the same elements */
    size_t item; /* contiguous bytes: one run of an element's data, or an element */
    const struct redist__sum
        *adds; /* of backward, to array A, in the order of ranks; NULL = none */
    struct redist__side side[2];
};

/* The rank at a distance after this one, or before it; and the distance of a rank after this one. */
static inline int redist__rank_at(const struct redist__transfer *transfer, int distance) {
    return (transfer->rank + distance % transfer->nranks + transfer->nranks) % transfer->nranks;
}

static inline int redist__distance_of(const struct redist__transfer *transfer, int rank) {
    return (rank - transfer->rank + transfer->nranks) % transfer->nranks;
}

/* Fill a zeroed description whose first members, up to array_ndims, are set; `all` has the boxes in A and in B of each
 * rank. Not collective; REDIST_ERR_MEMORY or REDIST_ERR_LIMIT. */
int redist__transfer_exchange(struct redist__transfer *transfer, const redist_index sizes_a[],
                              int axis_a, const redist_index sizes_b[], int axis_b);
int redist__transfer_boxes(struct redist__transfer *transfer, const redist_box all[]);

/* Begins a description of lists of boxes, with the extents of this rank's two local arrays; and adds a box of this
 * rank's array to the list of a peer, with `longest` of this rank; only the first one of a list may replace. Not
 * collective; REDIST_ERR_MEMORY or REDIST_ERR_LIMIT. */
int redist__transfer_begin(struct redist__transfer *transfer, const redist_box boxes[2]);
int redist__transfer_add(struct redist__transfer *transfer, int side, int peer,
                         const redist_index start[], const redist_index count[], int replaces);

/* Appends a box, which is not empty, to the list of a peer. REDIST_ERR_MEMORY. */
int redist__part_append(struct redist__transfer *transfer, int side, int peer,
                        const struct redist__part *part);

/* Numbers the boxes of a side in the order of peers, each of which has at least one: those of peer p begin with
 * first[p]. `first` has an element more than there are ranks; its last one, the number of boxes, is returned. */
int redist__transfer_number(const struct redist__transfer *transfer, int side, int first[]);

/* Returns the box at a position of a list, or NULL. */
const struct redist__part *redist__part_at(const struct redist__part *list, int position);

/* Returns how boxes that arrive in the array of a side are added to it; NULL = they replace it. */
static inline const struct redist__sum *redist__added_to(const struct redist__transfer *transfer,
                                                         int side) {
    return side == 0 ? transfer->adds : NULL;
}

/* Returns whether executions of a direction add boxes. */
static inline int redist__adds(const struct redist__transfer *transfer, int direction) {
    return redist__added_to(transfer, !direction) != NULL;
}

/* Returns how one box is added to the array of a side. */
static inline const struct redist__sum *
redist__part_added_to(const struct redist__transfer *transfer, int side,
                      const struct redist__part *part) {
    return part->replaces ? NULL : redist__added_to(transfer, side);
}

/* Derives a description with empty parts for `nranks` ranks; to be freed also after a failure. REDIST_ERR_MEMORY. */
int redist__transfer_derive(struct redist__transfer *derived, const struct redist__transfer *whole,
                            int rank, int nranks);
void redist__transfer_free(struct redist__transfer *transfer);

/* Returns whether two boxes of one array have an element in common. */
int redist__parts_meet(const struct redist__transfer *transfer, const struct redist__part *a,
                       const struct redist__part *b);

/* Copies a part of the whole description to a derived one. */
void redist__part_copy(const struct redist__transfer *transfer, struct redist__part *part,
                       const struct redist__part *from);

/* Returns whether elements can be copied as boxes of bytes. */
int redist__transfer_copyable(const struct redist__transfer *transfer);

/* Hashes everything that affects the speed of an exchange on this rank. */
uint64_t redist__transfer_hash(const struct redist__transfer *transfer);

/* ---------------------------------------------------------------- ghosts (halo.c) */

/* Fills a zeroed description as redist__transfer_boxes does: array A has the boxes, array B the ghosts around its own
 * ones. These receive their elements, too, if `with_boxes`, and backward replace those of A before ghosts are added;
 * else `all` has the box of each rank twice, and A and B are one array. `axis` = -1 describes all ghosts at once; else
 * those along an axis, which complete the halo one axis after the other in ascending order, with corners. Not
 * collective; REDIST_ERR_MEMORY or REDIST_ERR_LIMIT. */
int redist__transfer_halo(struct redist__transfer *transfer, const redist_index sizes[],
                          const redist_halo *halo, const redist_box all[], int axis,
                          int with_boxes);

#endif
