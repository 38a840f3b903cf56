/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements of a field, in pieces that fit the buffer. Where all ranks call HDF5, each moves pieces of its own part,
 * in collective calls. Else the pieces are those of the dataset: an exchange collects each on rank 0, or distributes
 * it. A piece is packed in C order by the library's copies, also from a device, as HDF5 knows neither devices nor other
 * orders of axes.
 */
#include "transfer.h"

#include <string.h>

/* Boxes of an array in C order: leading indices are fixed, one axis is cut, those behind it are whole. */
struct cuts {
    int ndims, axis;
    redist_index start[REDIST_MAX_NDIMS], extent[REDIST_MAX_NDIMS];
    redist_index rows;  /* indices of the cut axis in a piece */
    redist_index count; /* number of pieces */
};

struct box {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
};

/* A transfer: its buffers are of this rank's elements of a piece, and on rank 0 of the whole piece. */
struct state {
    const struct redist__hdf5_target *target;
    const redist__space
        *space; /* of the array, and the device and stream in which copies are done */
    redist_place place;
    char *own, *whole;
};

/* A box and its elements in C order, for redist__hdf5_act. */
struct move {
    const struct redist__hdf5_target *target;
    const struct box *box;
    char *memory;
};

/* ---------------------------------------------------------------- pieces */

static void cut(struct cuts *cuts, int ndims, const redist_index start[],
                const redist_index extent[], redist_index most) {
    redist_index row = 1;
    *cuts = (struct cuts){.ndims = ndims, .rows = 1};
    memcpy(cuts->start, start, (size_t)ndims * sizeof *start);
    memcpy(cuts->extent, extent, (size_t)ndims * sizeof *extent);
    if (!redist__hdf5_has(ndims, extent))
        return;
    cuts->axis = ndims - 1;
    while (cuts->axis > 0 && row * extent[cuts->axis] <= most)
        row *= extent[cuts->axis--];
    redist_index length = extent[cuts->axis], rows = most / row;
    cuts->rows = rows < 1 ? 1 : rows < length ? rows : length;
    cuts->count = redist__hdf5_volume(cuts->axis, extent) * ((length - 1) / cuts->rows + 1);
}

static struct box piece_at(const struct cuts *cuts, redist_index index) {
    struct box box;
    memset(&box, 0, sizeof box);
    if (index >= cuts->count)
        return box;
    memcpy(box.start, cuts->start, sizeof box.start);
    memcpy(box.count, cuts->extent, sizeof box.count);
    redist_index length = cuts->extent[cuts->axis], along = (length - 1) / cuts->rows + 1;
    redist_index first = index % along * cuts->rows;
    box.start[cuts->axis] += first;
    box.count[cuts->axis] = cuts->rows < length - first ? cuts->rows : length - first;
    index /= along;
    for (int i = cuts->axis - 1; i >= 0; i--) {
        box.start[i] += index % cuts->extent[i];
        box.count[i] = 1;
        index /= cuts->extent[i];
    }
    return box;
}

static struct box intersect(const struct redist__hdf5_part *part, const struct box *box) {
    struct box common;
    memset(&common, 0, sizeof common);
    for (int i = 0; i < part->ndims; i++) {
        redist_index end = box->start[i] + box->count[i], own = part->start[i] + part->count[i];
        redist_index start = box->start[i] > part->start[i] ? box->start[i] : part->start[i];
        end = end < own ? end : own;
        common.start[i] = start;
        common.count[i] = end > start ? end - start : 0;
        if (end <= start)
            return (struct box){{0}, {0}};
    }
    return common;
}

/* ---------------------------------------------------------------- packing */

static int copy_in_place(const struct state *state, const struct box *box) {
    const struct redist__hdf5_part *part = state->target->part;
    char *array = part->first;
    ptrdiff_t packed[REDIST_MAX_NDIMS], next = (ptrdiff_t)part->item;
    for (int i = part->ndims - 1; i >= 0; i--) {
        array += (ptrdiff_t)(box->start[i] - part->start[i]) * part->stride[i];
        packed[i] = next;
        next *= (ptrdiff_t)box->count[i];
    }
    int writes = state->target->call->writes;
    void *stream = state->space->stream(0);
    int code = redist_copy_box_in(part->space, stream, part->ndims, box->count, part->item,
                                  writes ? array : state->own, writes ? part->stride : packed,
                                  writes ? state->own : array, writes ? packed : part->stride);
    int waited = state->space->stream_wait(stream);
    return code != REDIST_OK ? code : waited;
}

/* Packs a box of this rank's part, or unpacks it. */
static int copy_box(const struct state *state, const struct box *box) {
    redist_visit visit;
    if (!redist__hdf5_has(state->target->part->ndims, box->count))
        return REDIST_OK;
    int code = redist_enter(&state->place, &visit);
    if (code == REDIST_OK)
        code = copy_in_place(state, box);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- HDF5 */

static int select_box(const struct move *move, hid_t space) {
    const struct redist__hdf5_dataset *dataset = move->target->dataset;
    int ndims = move->target->part->ndims, steps = dataset->has_steps;
    hsize_t start[REDIST_MAX_NDIMS + 1] = {dataset->step}, count[REDIST_MAX_NDIMS + 1] = {1};
    for (int i = 0; i < ndims; i++) {
        start[i + steps] = (hsize_t)move->box->start[i];
        count[i + steps] = (hsize_t)move->box->count[i];
    }
    if (!redist__hdf5_has(ndims, move->box->count))
        return H5Sselect_none(space);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
}

/* Moves a box, which may be empty, between HDF5 and packed memory. */
static int move_box(struct redist_hdf5 *file, void *data) {
    const struct move *move = data;
    const struct redist__hdf5_part *part = move->target->part;
    hid_t id = move->target->dataset->id, type = move->target->dataset->type;
    hsize_t elements = (hsize_t)redist__hdf5_volume(part->ndims, move->box->count);
    hid_t space = H5Dget_space(id), memory = H5Screate_simple(1, &elements, NULL);
    int code = space < 0 || memory < 0 ? -1 : select_box(move, space);
    if (code >= 0 && elements == 0)
        code = H5Sselect_none(memory);
    if (code >= 0)
        code = move->target->call->writes
                   ? H5Dwrite(id, type, memory, space, file->transfer, move->memory)
                   : H5Dread(id, type, memory, space, file->transfer, move->memory);
    redist__hdf5_drop(memory);
    redist__hdf5_drop(space);
    return code;
}

static int move_alone(const struct redist__hdf5_target *target, const struct box *box,
                      char *memory) {
    struct move move = {target, box, memory};
    return redist__hdf5_act_alone(target->call->function, target->call->file,
                                  target->call->writes ? "write a dataset" : "read a dataset",
                                  move_box, &move);
}

/* ---------------------------------------------------------------- all ranks */

/* Makes the call of HDF5 on all ranks, also on one that could not pack. */
static int move_piece_of_all(const struct state *state, const struct box *box) {
    int writes = state->target->call->writes, code = REDIST_OK;
    if (writes)
        code = copy_box(state, box);
    int moved = move_alone(state->target, box, state->own);
    if (code == REDIST_OK)
        code = moved;
    if (code == REDIST_OK && !writes)
        code = copy_box(state, box);
    return redist_agree(state->target->call->file->comm, code);
}

/* ---------------------------------------------------------------- rank 0 */

static redist_box public_box(const struct box *box) {
    redist_box made = REDIST_BOX_DEFAULT;
    memcpy(made.start, box->start, sizeof made.start);
    memcpy(made.count, box->count, sizeof made.count);
    return made;
}

/* Exchanges a piece between the ranks' packed elements of it and rank 0. */
static int exchange(const struct state *state, const struct box *common, const struct box *whole) {
    const struct redist__hdf5_part *part = state->target->part;
    const struct box none = {{0}, {0}};
    const int writes = state->target->call->writes;
    MPI_Comm comm = state->target->call->file->comm;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.effort = REDIST_ESTIMATE;
    options.overlap = writes ? REDIST_OVERLAP_REFUSED : REDIST_OVERLAP_READ;
    redist_box own = public_box(common);
    redist_box root = public_box(state->target->call->file->rank == 0 ? whole : &none);
    redist_plan *plan = NULL;
    REDIST_TRY(redist_plan_boxes(comm, part->datatype, part->ndims, part->sizes,
                                 writes ? &own : &root, writes ? state->own : state->whole,
                                 writes ? &root : &own, writes ? state->whole : state->own,
                                 &options, &plan));
    int code = redist_agree(comm, redist_plan_execute(plan, REDIST_FORWARD));
    int freed = redist_plan_free(&plan);
    return code != REDIST_OK ? code : freed;
}

static int write_piece(const struct state *state, const struct box *common,
                       const struct box *whole) {
    MPI_Comm comm = state->target->call->file->comm;
    REDIST_TRY(redist_agree(comm, copy_box(state, common)));
    REDIST_TRY(exchange(state, common, whole));
    return redist_agree(comm, move_alone(state->target, whole, state->whole));
}

static int read_piece(const struct state *state, const struct box *common,
                      const struct box *whole) {
    MPI_Comm comm = state->target->call->file->comm;
    REDIST_TRY(redist_agree(comm, move_alone(state->target, whole, state->whole)));
    REDIST_TRY(exchange(state, common, whole));
    return redist_agree(comm, copy_box(state, common));
}

static int move_piece_of_root(const struct state *state, const struct box *whole) {
    const struct box common = intersect(state->target->part, whole);
    return state->target->call->writes ? write_piece(state, &common, whole)
                                       : read_piece(state, &common, whole);
}

/* ---------------------------------------------------------------- transfers */

/* Pieces of this rank's part, as many rounds as the rank with the most; or those of the dataset. */
static int plan_pieces(const struct redist__hdf5_target *target, struct cuts *cuts,
                       redist_index *rounds) {
    static const redist_index origin[REDIST_MAX_NDIMS];
    const struct redist__hdf5_part *part = target->part;
    const struct redist_hdf5 *file = target->call->file;
    redist_index most = (redist_index)(file->buffer_bytes / part->item);
    if (file->all)
        cut(cuts, part->ndims, part->start, part->count, most);
    else
        cut(cuts, part->ndims, origin, part->sizes, most);
    *rounds = cuts->count;
    return redist_all_reduce(file->comm, rounds, 1, MPI_INT64_T, MPI_MAX);
}

static int allocate(struct state *state, const struct cuts *cuts) {
    const struct redist_hdf5 *file = state->target->call->file;
    redist_index row =
        redist__hdf5_volume(cuts->ndims - cuts->axis - 1, cuts->extent + cuts->axis + 1);
    size_t bytes = (size_t)(cuts->rows * row) * state->target->part->item;
    void *own = NULL, *whole = NULL;
    REDIST_TRY(state->space->allocate_pinned(bytes > 0 ? bytes : 1, &own));
    state->own = own;
    if (file->all || file->rank > 0)
        return REDIST_OK;
    int code = redist_space_at(REDIST_SPACE_HOST)->allocate_pinned(bytes > 0 ? bytes : 1, &whole);
    state->whole = whole;
    return code;
}

static int begin(struct state *state, const struct cuts *cuts) {
    redist_visit visit;
    REDIST_TRY(
        redist_place_find(state->target->call->function, state->space, NULL, NULL, &state->place));
    int code = redist_enter(&state->place, &visit);
    if (code == REDIST_OK)
        code = allocate(state, cuts);
    redist_leave(&visit);
    return code;
}

static void end(struct state *state) {
    redist_visit visit;
    int entered = redist_enter(&state->place, &visit);
    if (entered == REDIST_OK && state->own != NULL)
        state->space->release_pinned(state->own);
    redist_leave(&visit);
    if (state->whole != NULL)
        redist_space_at(REDIST_SPACE_HOST)->release_pinned(state->whole);
}

int redist__hdf5_transfer(const struct redist__hdf5_target *target) {
    struct state state = {.target = target, .space = redist_space_at(target->part->space)};
    const struct redist_hdf5 *file = target->call->file;
    struct cuts cuts;
    redist_index rounds = 0;
    REDIST_TRY(redist_agree(file->comm, plan_pieces(target, &cuts, &rounds)));
    int code = redist_agree(file->comm, begin(&state, &cuts));
    for (redist_index i = 0; i < rounds && code == REDIST_OK; i++) {
        const struct box box = piece_at(&cuts, i);
        code = file->all ? move_piece_of_all(&state, &box) : move_piece_of_root(&state, &box);
    }
    end(&state);
    return code;
}
