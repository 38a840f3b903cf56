/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the descriptions of exchanges. */
#include "transfer.h"
#include "../comm/comm.h"

#include <string.h>

/* Allocates the parts for the actual number of axes, since a rank has many parts. */
static int allocate_parts(const struct redist__transfer *transfer, struct redist__side *side) {
    size_t nranks = (size_t)transfer->nranks, ndims = (size_t)transfer->ndims;
    size_t numbers = ndims * (sizeof *side->extent + sizeof *side->stride);
    struct redist__part *parts = side->parts =
        redist_calloc(1, nranks * (sizeof *parts + 2 * ndims * sizeof *parts->start) + numbers);
    if (parts == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the boxes of %d ranks",
                            transfer->nranks);
    side->extent = (redist_index *)(parts + nranks);
    redist_index *next = side->extent + ndims;
    for (size_t i = 0; i < nranks; i++, next += 2 * ndims) {
        parts[i].start = next;
        parts[i].count = next + ndims;
    }
    side->stride = (ptrdiff_t *)next;
    return REDIST_OK;
}

int redist__parts_meet(const struct redist__transfer *transfer, const struct redist__part *a,
                       const struct redist__part *b) {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    return redist_intersect(transfer->ndims, a->start, a->count, b->start, b->count, start,
                            count) != 0;
}

void redist__part_copy(const struct redist__transfer *transfer, struct redist__part *part,
                       const struct redist__part *from) {
    size_t bytes = (size_t)transfer->ndims * sizeof *part->start;
    memcpy(part->start, from->start, bytes);
    memcpy(part->count, from->count, bytes);
    part->elements = from->elements;
    part->offset = from->offset;
    part->replaces = from->replaces;
}

int redist__transfer_derive(struct redist__transfer *derived, const struct redist__transfer *whole,
                            int rank, int nranks) {
    *derived = *whole;
    derived->rank = rank;
    derived->nranks = nranks;
    derived->side[0].parts = derived->side[1].parts = NULL;
    for (int s = 0; s < 2; s++) {
        struct redist__side *side = &derived->side[s];
        const struct redist__side *from = &whole->side[s];
        side->elements = 0;
        REDIST_TRY(allocate_parts(derived, side));
        memcpy(side->extent, from->extent, (size_t)whole->ndims * sizeof *side->extent);
        memcpy(side->stride, from->stride, (size_t)whole->ndims * sizeof *side->stride);
    }
    return REDIST_OK;
}

/* Sets the axes inside an element: none for elements without gaps, or that are not boxes of bytes. */
static void begin(struct redist__transfer *transfer) {
    const struct redist__element *element = &transfer->element;
    transfer->item = element->run != 0 ? element->run : element->extent;
    transfer->ndims = transfer->array_ndims + element->naxes;
    transfer->longest = 1;
}

static int set_extents(struct redist__transfer *transfer, struct redist__side *side,
                       const redist_index extent[]) {
    const struct redist__element *element = &transfer->element;
    int ndims = transfer->array_ndims;
    side->bytes = redist__element_array_bytes(element, ndims, extent);
    if (side->bytes == SIZE_MAX)
        return redist__fail(REDIST_ERR_LIMIT, "the local array is larger than %lld bytes",
                            (long long)PTRDIFF_MAX);
    memcpy(side->extent, extent, (size_t)ndims * sizeof *extent);
    if (side->bytes != 0)
        redist__strides(ndims, extent, element->extent, side->stride);
    for (int i = 0; i < element->naxes; i++) {
        side->extent[ndims + i] = element->count[i];
        side->stride[ndims + i] = element->stride[i];
    }
    return REDIST_OK;
}

static void finish_part(const struct redist__transfer *transfer, struct redist__side *side,
                        struct redist__part *part) {
    const struct redist__element *element = &transfer->element;
    size_t elements = 1, offset = element->run != 0 ? element->first : 0;
    for (int i = 0; i < element->naxes; i++)
        part->count[transfer->array_ndims + i] = element->count[i];
    for (int i = 0; i < transfer->ndims; i++) {
        elements *= (size_t)part->count[i];
        offset += (size_t)part->start[i] * (size_t)side->stride[i];
    }
    part->elements = elements;
    part->offset = elements != 0 ? offset : 0;
    side->elements += elements;
}

/* ---------------------------------------------------------------- lists of boxes */

int redist__transfer_begin(struct redist__transfer *transfer, const redist_box boxes[2]) {
    begin(transfer);
    for (int s = 0; s < 2; s++) {
        redist_index extent[REDIST_MAX_NDIMS];
        for (int i = 0; i < transfer->array_ndims; i++)
            extent[i] = boxes[s].extent[i] != 0 ? boxes[s].extent[i] : boxes[s].count[i];
        REDIST_TRY(allocate_parts(transfer, &transfer->side[s]));
        REDIST_TRY(set_extents(transfer, &transfer->side[s], extent));
    }
    return REDIST_OK;
}

/* Appends an empty part to a list, of which the first part is empty at first. */
static struct redist__part *append(struct redist__transfer *transfer, struct redist__part *list) {
    size_t ndims = (size_t)transfer->ndims;
    int length = 2;
    if (list->elements == 0)
        return list;
    for (; list->next != NULL; length++)
        list = list->next;
    struct redist__part *part = redist_calloc(1, sizeof *part + 2 * ndims * sizeof *part->start);
    if (part == NULL)
        return NULL;
    part->start = (redist_index *)(part + 1);
    part->count = part->start + ndims;
    list->next = part;
    transfer->longest = length > transfer->longest ? length : transfer->longest;
    return part;
}

static int no_memory(int peer) {
    return redist__fail(REDIST_ERR_MEMORY, "no memory for the boxes of rank %d", peer);
}

int redist__part_append(struct redist__transfer *transfer, int side, int peer,
                        const struct redist__part *part) {
    struct redist__part *last = append(transfer, &transfer->side[side].parts[peer]);
    if (last == NULL)
        return no_memory(peer);
    redist__part_copy(transfer, last, part);
    transfer->side[side].elements += part->elements;
    return REDIST_OK;
}

int redist__transfer_add(struct redist__transfer *transfer, int side, int peer,
                         const redist_index start[], const redist_index count[], int replaces) {
    size_t bytes = (size_t)transfer->array_ndims * sizeof *start;
    struct redist__part *part = append(transfer, &transfer->side[side].parts[peer]);
    if (part == NULL)
        return no_memory(peer);
    memcpy(part->start, start, bytes);
    memcpy(part->count, count, bytes);
    part->replaces = replaces;
    finish_part(transfer, &transfer->side[side], part);
    return REDIST_OK;
}

/* Cuts the axis along which an array is whole in one part for each rank (paper, Listing 2). */
int redist__transfer_exchange(struct redist__transfer *transfer, const redist_index sizes_a[],
                              int axis_a, const redist_index sizes_b[], int axis_b) {
    const redist_index *const sizes[2] = {sizes_a, sizes_b};
    redist_box boxes[2] = {REDIST_BOX_DEFAULT, REDIST_BOX_DEFAULT};
    for (int s = 0; s < 2; s++)
        memcpy(boxes[s].count, sizes[s], (size_t)transfer->array_ndims * sizeof *sizes_a);
    REDIST_TRY(redist__transfer_begin(transfer, boxes));
    for (int i = 0; i < 2 * transfer->nranks; i++) {
        int s = i % 2, peer = i / 2, axis = s == 0 ? axis_a : axis_b;
        redist_box part = boxes[s];
        redist_decompose(sizes[s][axis], transfer->nranks, peer, &part.count[axis],
                         &part.start[axis]);
        REDIST_TRY(redist__transfer_add(transfer, s, peer, part.start, part.count, 0));
    }
    return REDIST_OK;
}

/* Intersects this rank's boxes with the peers' boxes of the other side. */
int redist__transfer_boxes(struct redist__transfer *transfer, const redist_box all[]) {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    REDIST_TRY(redist__transfer_begin(transfer, &all[2 * transfer->rank]));
    for (int i = 0; i < 2 * transfer->nranks; i++) {
        int s = i % 2, peer = i / 2, ndims = transfer->array_ndims;
        const redist_box *mine = &all[2 * transfer->rank + s], *theirs = &all[2 * peer + !s];
        if (!redist_intersect(ndims, mine->start, mine->count, theirs->start, theirs->count, start,
                              count))
            continue;
        for (int axis = 0; axis < ndims; axis++)
            start[axis] += mine->offset[axis] - mine->start[axis];
        REDIST_TRY(redist__transfer_add(transfer, s, peer, start, count, 0));
    }
    return REDIST_OK;
}

int redist__transfer_number(const struct redist__transfer *transfer, int side, int first[]) {
    int count = 0;
    for (int peer = 0; peer < transfer->nranks; peer++) {
        first[peer] = count;
        for (const struct redist__part *part = &transfer->side[side].parts[peer]; part != NULL;
             part = part->next)
            count++;
    }
    return first[transfer->nranks] = count;
}

const struct redist__part *redist__part_at(const struct redist__part *list, int position) {
    while (list != NULL && position-- > 0)
        list = list->next;
    return list;
}

static void free_list(struct redist__part *list) {
    while (list != NULL) {
        struct redist__part *next = list->next;
        redist_release(list);
        list = next;
    }
}

/* ---------------------------------------------------------------- all descriptions */

void redist__transfer_free(struct redist__transfer *transfer) {
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < transfer->nranks && transfer->side[s].parts != NULL; i++)
            free_list(transfer->side[s].parts[i].next);
        redist_release(transfer->side[s].parts);
        transfer->side[s].parts = NULL;
    }
}

int redist__transfer_copyable(const struct redist__transfer *transfer) {
    return transfer->element.run != 0;
}

uint64_t redist__transfer_hash(const struct redist__transfer *transfer) {
    uint64_t hash = REDIST__HASH_BASIS;
    size_t axes = (size_t)transfer->ndims;
    const struct redist__element *element = &transfer->element;
    if (element->run != element->extent)
        hash = redist__hash(redist__hash(hash, &element->extent, sizeof element->extent),
                            element->stride, (size_t)element->naxes * sizeof *element->stride);
    hash = redist__hash(hash, &transfer->rank, sizeof transfer->rank);
    enum redist__number added = redist__added(transfer->adds);
    if (transfer->one_way || added != REDIST__NO_NUMBER)
        hash = redist__hash(hash, &added, sizeof added);
    for (int s = 0; s < 2; s++) {
        const struct redist__side *side = &transfer->side[s];
        hash = redist__hash(hash, side->extent, axes * sizeof *side->extent);
        for (int peer = 0; peer < transfer->nranks; peer++) {
            const struct redist__part *part = &side->parts[peer];
            for (; part != NULL; part = part->next) {
                hash = redist__hash(hash, part->start, axes * sizeof *part->start);
                hash = redist__hash(hash, part->count, axes * sizeof *part->count);
                if (part->replaces)
                    hash = redist__hash(hash, &part->replaces, sizeof part->replaces);
            }
        }
    }
    return hash;
}
