/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The elements of a field, a piece of the dataset after the other. An exchange brings the rows of a piece to the ranks
 * that call HDF5, some contiguous ones to each, or distributes them. Each rank packs its elements of the piece in C
 * order by the library's copies, also from a device, as HDF5 knows neither devices nor other orders of axes.
 *
 * Ranks write their rows independently: in a collective transfer of HDF5 1.10 a rank that cannot write leaves the
 * others waiting (H5FD_mpio_write returns before its second MPI_File_set_view). Compressed chunks need such transfers.
 */
#include "transfer.h"

#include "redist_pieces.h"

#include <string.h>

/* A transfer: its buffers are of this rank's elements of a piece, and of the rows with which it calls HDF5. */
struct state {
    const struct redist__hdf5_target *target;
    const redist__space
        *space; /* of the array, and the device and stream in which copies are done */
    redist_place place;
    struct redist_pieces pieces;
    char *own, *rows;
};

/* A box and its elements in C order, for redist__hdf5_act. */
struct move {
    const struct redist__hdf5_target *target;
    const redist_box *box;
    char *memory;
};

/* ---------------------------------------------------------------- pieces */

/* The rows of a piece with which this rank calls HDF5. */
static redist_box rows_of(const struct state *state, const redist_box *piece) {
    const struct redist_hdf5 *file = state->target->call->file;
    redist_box rows = *piece;
    int axis = state->pieces.axis;
    redist_index first = 0;
    if (file->all)
        redist_decompose(piece->count[axis], file->size, file->rank, &rows.count[axis], &first);
    else if (file->rank > 0)
        rows.count[axis] = 0;
    rows.start[axis] += first;
    return rows;
}

static redist_box intersect(const struct redist__hdf5_part *part, const redist_box *piece) {
    redist_box common = REDIST_BOX_DEFAULT;
    redist_intersect(part->at.ndims, piece->start, piece->count, part->at.start, part->at.count,
                     common.start, common.count);
    return common;
}

static redist_box box_of(const struct redist_pieces *pieces, redist_index index) {
    const struct redist_piece piece = redist_piece_at(pieces, index);
    redist_box box = REDIST_BOX_DEFAULT;
    memcpy(box.start, piece.start, sizeof box.start);
    memcpy(box.count, piece.count, sizeof box.count);
    return box;
}

/* ---------------------------------------------------------------- packing */

static int copy_in_place(const struct state *state, const redist_box *box) {
    const struct redist__hdf5_part *part = state->target->part;
    char *array = part->at.first;
    ptrdiff_t packed[REDIST_MAX_NDIMS], next = (ptrdiff_t)part->item;
    for (int i = part->at.ndims - 1; i >= 0; i--) {
        array += (ptrdiff_t)(box->start[i] - part->at.start[i]) * part->at.stride[i];
        packed[i] = next;
        next *= (ptrdiff_t)box->count[i];
    }
    int writes = state->target->call->writes;
    void *stream = state->space->stream(0);
    int code = redist_copy_box_in(part->at.space, stream, part->at.ndims, box->count, part->item,
                                  writes ? array : state->own, writes ? part->at.stride : packed,
                                  writes ? state->own : array, writes ? packed : part->at.stride);
    int waited = state->space->stream_wait(stream);
    return code != REDIST_OK ? code : waited;
}

/* Packs a box of this rank's part, or unpacks it. */
static int copy_box(const struct state *state, const redist_box *box) {
    redist_visit visit;
    if (!redist__hdf5_has(state->target->part->at.ndims, box->count))
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
    int ndims = move->target->part->at.ndims, steps = dataset->has_steps;
    hsize_t start[REDIST_MAX_NDIMS + 1] = {dataset->step}, count[REDIST_MAX_NDIMS + 1] = {1};
    for (int i = 0; i < ndims; i++) {
        start[i + steps] = (hsize_t)move->box->start[i];
        count[i + steps] = (hsize_t)move->box->count[i];
    }
    if (!redist__hdf5_has(ndims, move->box->count))
        return H5Sselect_none(space);
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
}

/* Moves a box between HDF5 and packed memory; an empty one where all ranks have to call. */
static int move_box(struct redist_hdf5 *file, void *data) {
    const struct move *move = data;
    const struct redist__hdf5_part *part = move->target->part;
    const struct redist__hdf5_dataset *dataset = move->target->dataset;
    hsize_t elements = (hsize_t)redist__hdf5_volume(part->at.ndims, move->box->count);
    if (elements == 0 && !dataset->is_filtered)
        return REDIST_OK;
    hid_t space = H5Dget_space(dataset->id), memory = H5Screate_simple(1, &elements, NULL);
    hid_t transfer = dataset->is_filtered ? file->collective : file->transfer;
    int code = space < 0 || memory < 0 ? -1 : select_box(move, space);
    if (code >= 0 && elements == 0)
        code = H5Sselect_none(memory);
    if (code >= 0)
        code = move->target->call->writes
                   ? H5Dwrite(dataset->id, dataset->type, memory, space, transfer, move->memory)
                   : H5Dread(dataset->id, dataset->type, memory, space, transfer, move->memory);
    redist__hdf5_drop(memory);
    redist__hdf5_drop(space);
    return code;
}

static int move_rows(const struct state *state, const redist_box *rows) {
    const struct redist__hdf5_call *call = state->target->call;
    struct move move = {state->target, rows, state->rows};
    return redist__hdf5_act(call->function, call->file,
                            call->writes ? "write a dataset" : "read a dataset", move_box, &move);
}

/* ---------------------------------------------------------------- pieces between ranks */

/* Exchanges a piece between the ranks' packed elements of it and the rows that go to HDF5. */
static int exchange(const struct state *state, const redist_box *own, const redist_box *rows) {
    const struct redist__hdf5_part *part = state->target->part;
    const int writes = state->target->call->writes;
    MPI_Comm comm = state->target->call->file->comm;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.effort = REDIST_ESTIMATE;
    options.overlap = writes ? REDIST_OVERLAP_REFUSED : REDIST_OVERLAP_READ;
    REDIST_TRY(redist_plan_boxes(comm, part->at.datatype, part->at.ndims, part->at.sizes,
                                 writes ? own : rows, writes ? state->own : state->rows,
                                 writes ? rows : own, writes ? state->rows : state->own, &options,
                                 &plan));
    int code = redist_agree(comm, redist_plan_execute(plan, REDIST_FORWARD));
    int freed = redist_plan_free(&plan);
    return code != REDIST_OK ? code : freed;
}

static int move_piece(const struct state *state, const redist_box *piece) {
    MPI_Comm comm = state->target->call->file->comm;
    const redist_box own = intersect(state->target->part, piece), rows = rows_of(state, piece);
    if (state->target->call->writes) {
        REDIST_TRY(redist_agree(comm, copy_box(state, &own)));
        REDIST_TRY(exchange(state, &own, &rows));
        return move_rows(state, &rows);
    }
    REDIST_TRY(move_rows(state, &rows));
    REDIST_TRY(exchange(state, &own, &rows));
    return redist_agree(comm, copy_box(state, &own));
}

/* ---------------------------------------------------------------- transfers */

/* Bytes of rows of a piece; at least one, as there are buffers without elements, too. */
static size_t bytes_of(const struct state *state, redist_index rows) {
    size_t bytes = (size_t)rows * state->pieces.row_bytes;
    return bytes > 0 ? bytes : 1;
}

static int allocate(struct state *state) {
    const struct redist_hdf5 *file = state->target->call->file;
    redist_index most = state->pieces.rows, first, rows = most;
    void *own = NULL, *buffer = NULL;
    if (file->all)
        redist_decompose(most, file->size, 0, &rows, &first);
    REDIST_TRY(state->space->allocate_pinned(bytes_of(state, most), &own));
    state->own = own;
    if (!file->acts)
        return REDIST_OK;
    int code = redist_space_at(REDIST_SPACE_HOST)->allocate_pinned(bytes_of(state, rows), &buffer);
    state->rows = buffer;
    return code;
}

static int begin(struct state *state) {
    redist_visit visit;
    REDIST_TRY(
        redist_place_find(state->target->call->function, state->space, NULL, NULL, &state->place));
    int code = redist_enter(&state->place, &visit);
    if (code == REDIST_OK)
        code = allocate(state);
    redist_leave(&visit);
    return code;
}

static void end(struct state *state) {
    redist_visit visit;
    int entered = redist_enter(&state->place, &visit);
    if (entered == REDIST_OK && state->own != NULL)
        state->space->release_pinned(state->own);
    redist_leave(&visit);
    if (state->rows != NULL)
        redist_space_at(REDIST_SPACE_HOST)->release_pinned(state->rows);
}

int redist__hdf5_transfer(const struct redist__hdf5_target *target) {
    const struct redist__hdf5_part *part = target->part;
    const struct redist_hdf5 *file = target->call->file;
    struct state state = {.target = target, .space = redist_space_at(part->at.space)};
    (void)redist_pieces_cut(&state.pieces, part->at.ndims, part->at.sizes, part->item,
                            file->buffer_bytes); /* libredist has checked the bytes */
    int code = redist_agree(file->comm, begin(&state));
    for (redist_index i = 0; i < state.pieces.count && code == REDIST_OK; i++) {
        const redist_box piece = box_of(&state.pieces, i);
        code = move_piece(&state, &piece);
    }
    end(&state);
    return code;
}
