/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's halo is cut into slabs, two along each axis, which do not overlap; a slab is cut where the global array
 * repeats itself; and each piece, moved into the global array, is intersected with the boxes of all ranks. The owner of
 * an element and the rank that shows it make the same cuts in the same order, so that their lists agree.
 *
 * With one axis after the other a slab along an axis is cut without ghosts along the others, and each piece is then
 * widened by those along lower axes, which its owner has by then: so ghosts outside of the box along several axes need
 * no messages of their own.
 */
#include "transfer.h"

#include <string.h>

struct cutting {
    struct redist__transfer *transfer;
    const redist_index *sizes;
    const redist_halo *halo;
    const redist_box *all; /* rank r owns all[2 * r], and has ghosts around all[2 * r + 1] */
    int receiver;          /* whose halo is cut */
    int replaces;          /* its box is cut */
    int only;              /* the axis of the ghosts that are cut; -1 = all */
    redist_index start[REDIST_MAX_NDIMS], end[REDIST_MAX_NDIMS]; /* of the slab */
    redist_index period[REDIST_MAX_NDIMS]; /* of the current piece along each axis */
};

static redist_index least(redist_index a, redist_index b) {
    return a < b ? a : b;
}

static redist_index most(redist_index a, redist_index b) {
    return a > b ? a : b;
}

/* Returns the period of an index, which may be negative. */
static redist_index period_of(redist_index index, redist_index size) {
    return index >= 0 ? index / size : -((size - 1 - index) / size);
}

/* Returns the range of the receiver's box along an axis, with its ghosts. */
static void find_ghosts(const struct cutting *cutting, int axis, redist_index *start,
                        redist_index *end) {
    const redist_box *box = &cutting->all[2 * cutting->receiver + 1];
    const redist_halo *halo = cutting->halo;
    *start = box->start[axis] - halo->low[axis];
    *end = box->start[axis] + box->count[axis] + halo->high[axis];
    if (halo->periodic[axis])
        return;
    *start = most(*start, 0);
    *end = least(*end, cutting->sizes[axis]);
}

/* Adds the ghosts along lower axes to a piece at the edge of the receiver's box: the owner of the piece has them as its
 * own elements or ghosts. */
static void widen(const struct cutting *cutting, redist_index start[], redist_index count[]) {
    const redist_box *box = &cutting->all[2 * cutting->receiver + 1];
    for (int i = 0; i < cutting->only; i++) {
        redist_index first, last, end = start[i] + count[i];
        find_ghosts(cutting, i, &first, &last);
        start[i] = start[i] == box->start[i] ? first : start[i];
        count[i] = (end == box->start[i] + box->count[i] ? last : end) - start[i];
    }
}

/* Adds the common elements of a piece and an owner's box to the list of this rank, if it is one of both. */
static int add_piece(const struct cutting *cutting, int owner, const redist_index start[],
                     const redist_index count[]) {
    struct redist__transfer *transfer = cutting->transfer;
    const redist_box *from = &cutting->all[2 * owner],
                     *to = &cutting->all[2 * cutting->receiver + 1];
    redist_index common[REDIST_MAX_NDIMS], size[REDIST_MAX_NDIMS], at[2][REDIST_MAX_NDIMS];
    int ndims = transfer->array_ndims;
    if (!redist_intersect(ndims, start, count, from->start, from->count, common, size))
        return REDIST_OK;
    widen(cutting, common, size);
    for (int i = 0; i < ndims; i++) {
        redist_index shift = cutting->period[i] * cutting->sizes[i];
        at[0][i] = common[i] - from->start[i] + from->offset[i];
        at[1][i] = common[i] + shift - to->start[i] + to->offset[i];
    }
    if (owner == transfer->rank)
        REDIST_TRY(
            redist__transfer_add(transfer, 0, cutting->receiver, at[0], size, cutting->replaces));
    if (cutting->receiver == transfer->rank)
        REDIST_TRY(redist__transfer_add(transfer, 1, owner, at[1], size, cutting->replaces));
    return REDIST_OK;
}

/* Finds the owners of the piece of the slab in the current periods. */
static int add_owners(const struct cutting *cutting) {
    const struct redist__transfer *transfer = cutting->transfer;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    for (int i = 0; i < transfer->array_ndims; i++) {
        redist_index begin = cutting->period[i] * cutting->sizes[i];
        start[i] = most(cutting->start[i] - begin, 0);
        count[i] = least(cutting->end[i] - begin, cutting->sizes[i]) - start[i];
    }
    if (cutting->receiver != transfer->rank)
        return add_piece(cutting, transfer->rank, start, count);
    for (int owner = 0; owner < transfer->nranks; owner++)
        REDIST_TRY(add_piece(cutting, owner, start, count));
    return REDIST_OK;
}

/* Cuts the slab along an axis and those behind it. */
static int cut_periods(struct cutting *cutting, int axis) {
    if (axis == cutting->transfer->array_ndims)
        return add_owners(cutting);
    redist_index size = cutting->sizes[axis];
    redist_index last = period_of(cutting->end[axis] - 1, size);
    for (redist_index i = period_of(cutting->start[axis], size); i <= last; i++) {
        cutting->period[axis] = i;
        REDIST_TRY(cut_periods(cutting, axis + 1));
    }
    return REDIST_OK;
}

/* Sets the slab's range along an axis: the box's own one, or that with its ghosts. */
static void set_range(struct cutting *cutting, int axis, int with_ghosts) {
    const redist_box *box = &cutting->all[2 * cutting->receiver + 1];
    cutting->start[axis] = box->start[axis];
    cutting->end[axis] = box->start[axis] + box->count[axis];
    if (with_ghosts)
        find_ghosts(cutting, axis, &cutting->start[axis], &cutting->end[axis]);
}

/* Cuts the slab before the receiver's box along an axis, or that behind it. */
static int cut_slab(struct cutting *cutting, int axis, int behind) {
    const redist_box *box = &cutting->all[2 * cutting->receiver + 1];
    int with_corners = cutting->only < 0 && cutting->halo->corners;
    for (int i = 0; i < cutting->transfer->array_ndims; i++)
        set_range(cutting, i, i == axis || (i < axis && with_corners));
    if (behind)
        cutting->start[axis] = box->start[axis] + box->count[axis];
    else
        cutting->end[axis] = box->start[axis];
    return cutting->start[axis] < cutting->end[axis] ? cut_periods(cutting, 0) : REDIST_OK;
}

static int is_empty(int ndims, const redist_index count[]) {
    int empty = 0;
    for (int i = 0; i < ndims; i++)
        empty |= count[i] == 0;
    return empty;
}

/* Cuts the receiver's box itself, in one piece for each owner. */
static int cut_box(struct cutting *cutting) {
    for (int i = 0; i < cutting->transfer->array_ndims; i++)
        set_range(cutting, i, 0);
    cutting->replaces = 1;
    int code = cut_periods(cutting, 0);
    cutting->replaces = 0;
    return code;
}

int redist__transfer_halo(struct redist__transfer *transfer, const redist_index sizes[],
                          const redist_halo *halo, const redist_box all[], int axis,
                          int with_boxes) {
    struct cutting cutting = {
        .transfer = transfer, .sizes = sizes, .halo = halo, .all = all, .only = axis};
    int first = axis < 0 ? 0 : axis, end = axis < 0 ? transfer->array_ndims : axis + 1;
    REDIST_TRY(redist__transfer_begin(transfer, &all[2 * transfer->rank]));
    for (; cutting.receiver < transfer->nranks; cutting.receiver++) {
        if (is_empty(transfer->array_ndims, all[2 * cutting.receiver + 1].count))
            continue;
        if (with_boxes)
            REDIST_TRY(cut_box(&cutting));
        for (int i = 2 * first; i < 2 * end; i++)
            REDIST_TRY(cut_slab(&cutting, i / 2, i % 2));
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- holes */

static int find_hole(int ndims, const redist_box *whole, int nboxes, const redist_box boxes[],
                     int step, redist_index hole[]) {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    int found = 0;
    if (is_empty(ndims, whole->count))
        return 0;
    while (found < nboxes &&
           redist_intersect(ndims, whole->start, whole->count, boxes[found * step].start,
                            boxes[found * step].count, start, count) == 0)
        found++;
    if (found == nboxes) {
        memcpy(hole, whole->start, (size_t)ndims * sizeof *hole);
        return 1;
    }
    redist_box rest = *whole; /* without what was cut off before the box and behind it */
    for (int i = 0; i < ndims; i++) {
        redist_box before = rest, behind = rest;
        before.count[i] = start[i] - rest.start[i];
        behind.start[i] = start[i] + count[i];
        behind.count[i] = rest.start[i] + rest.count[i] - behind.start[i];
        if (find_hole(ndims, &before, nboxes, boxes, step, hole) ||
            find_hole(ndims, &behind, nboxes, boxes, step, hole))
            return 1;
        rest.start[i] = start[i];
        rest.count[i] = count[i];
    }
    return 0;
}

static double elements_of(int ndims, const redist_box *box) {
    double elements = 1;
    for (int i = 0; i < ndims; i++)
        elements *= (double)box->count[i];
    return elements;
}

int redist_find_hole(int ndims, const redist_index sizes[], int nboxes, const redist_box boxes[],
                     int step, redist_index hole[]) {
    redist_box whole = REDIST_BOX_DEFAULT;
    double missing;
    memcpy(whole.count, sizes, (size_t)ndims * sizeof *sizes);
    missing = elements_of(ndims, &whole);
    if (missing < 0x1p53) /* counted exactly */
        for (int i = 0; i < nboxes; i++)
            missing -= elements_of(ndims, &boxes[i * step]);
    return missing > 0 && find_hole(ndims, &whole, nboxes, boxes, step, hole);
}
