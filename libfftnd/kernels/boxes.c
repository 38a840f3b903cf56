/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator of a step on boxes of a piece: row by row, or whole ones on a device, in long double, and for functions
 * of the user that take boxes. */
#include "../operators/multiplier.h"
#include "applied.h"
#include "runs.h"

/* A retained box of a piece, of all fields, before and after the operator. */
struct box {
    const struct fftnd__applied *applied;
    const struct fftnd__block *blocks;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS]; /* array axes; start is global */
    char *memory[2];
};

/* Bytes between fields on a side of the operator. */
static ptrdiff_t field_stride(const struct box *box, int i) {
    int batch = box->applied->batch;
    return batch >= 0 ? box->applied->fields * box->blocks[i].stride[batch] : 0;
}

/* ---------------------------------------------------------------- the kinds of the library */

/* Returns a table from the box's first mode on, in the space of the modes. */
static const void *table_of(const struct fftnd__operator *op, const double *table,
                            redist_index first) {
    return table != NULL ? (const char *)op->tables +
                               (table - op->memory + (ptrdiff_t)first) * (ptrdiff_t)op->table_bytes
                         : NULL;
}

static void set_tables(const struct fftnd__operator *op, int place, redist_index first,
                       struct lines__operation_axis *axis) {
    const struct fftnd__symbols *along = &op->symbols[place];
    int combines = lines__combines((int)op->kind);
    axis->place = place;
    if (combines)
        axis->odd = table_of(op, along->odd, first);
    else if (along->factor != NULL)
        axis->factor = table_of(op, along->factor, first * 2);
    else
        axis->k = table_of(op, along->k, first);
}

static void set_axes(const struct box *box, struct lines__operation *operation) {
    const struct fftnd__applied *applied = box->applied;
    const struct fftnd__operator *op = applied->op;
    operation->ndims = box->blocks[0].ndims;
    for (int at = 0; at < operation->ndims; at++) {
        struct lines__operation_axis *axis = &operation->axes[at];
        axis->count = at == applied->batch ? applied->fields : box->count[at];
        axis->in = box->blocks[0].stride[at];
        axis->out = box->blocks[1].stride[at];
        for (int a = 0; a < op->naxes && at != applied->batch; a++)
            if (op->symbols[a].axis == at - applied->shift)
                set_tables(op, a, box->start[at], axis);
    }
}

/* Sets the factors of the box's modes. */
static void set_multiplier(const struct box *box, struct lines__operation *operation) {
    const struct fftnd__multiplier *multiplier = &box->applied->op->multiplier;
    const int shift = box->applied->shift;
    operation->multiplier = fftnd__factor_at(multiplier, box->start + shift);
    operation->multiplier_numbers = multiplier->numbers;
    for (int axis = 0; axis < multiplier->ndims; axis++)
        operation->axes[axis + shift].multiplier = multiplier->stride[axis];
}

static void describe(const struct box *box, struct lines__operation *operation) {
    const struct fftnd__operator *op = box->applied->op;
    const struct fftnd__block *in = &box->blocks[0];
    *operation =
        (struct lines__operation){.kind = (int)op->kind,
                                  .inputs = op->inputs,
                                  .outputs = op->outputs,
                                  .naxes = op->naxes,
                                  .constants = op->constants,
                                  .scale = {op->after, (double)(op->factors[1] - op->after)},
                                  .number_bytes = lines__item_bytes(in->precision, 1),
                                  .numbers = fftnd__numbers(in),
                                  .in = box->memory[0],
                                  .out = box->memory[1],
                                  .in_field = field_stride(box, 0),
                                  .out_field = field_stride(box, 1)};
    set_axes(box, operation);
    if (op->type->has_multiplier)
        set_multiplier(box, operation);
}

static int run_kind(const struct box *box) {
    const struct fftnd__block *in = &box->blocks[0];
    struct lines__operation operation;
    describe(box, &operation);
    if (in->library->operate != NULL)
        return in->library->operate(&operation, in->stream);
    lines__operate(&operation);
    return REDIST_OK;
}

void fftnd__boxes_describe(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                           const struct fftnd__block *block, const redist_index count[],
                           struct lines__operation *operation) {
    const struct fftnd__block blocks[2] = {*block, *block};
    struct box box = {
        .applied = applied, .blocks = blocks, .memory = {block->memory, block->memory}};
    for (int at = 0; at < block->ndims; at++) {
        box.start[at] = applied->start[at] + piece->start[at];
        box.count[at] = count[at];
    }
    describe(&box, operation);
}

/* ---------------------------------------------------------------- the user's function */

/* Lists of a fftnd_box, by the user's numbers of axes and fields. */
struct lists {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[2][REDIST_MAX_NDIMS];
    const double *k[REDIST_MAX_NDIMS], *odd[REDIST_MAX_NDIMS];
    const void *inputs[FFTND__MOST_FIELDS];
    void *outputs[FFTND__MOST_FIELDS];
};

static const double *where_modes_are(const struct fftnd__operator *op, const double *table) {
    return op->space != NULL ? (const double *)op->tables + (table - op->memory) : table;
}

static void fill_axes(const struct box *box, struct lists *lists) {
    const struct fftnd__operator *op = box->applied->op;
    for (int i = 0; i < op->user_ndims; i++) {
        int user = op->user_axis[i], at = i + box->applied->shift;
        lists->start[user] = box->start[at];
        lists->count[user] = box->count[at];
        for (int j = 0; j < 2; j++)
            lists->stride[j][user] = box->blocks[j].stride[at] / (ptrdiff_t)box->blocks[j].item;
    }
    for (int a = 0; a < op->naxes && op->kind == FFTND_MODES; a++) {
        const struct fftnd__symbols *along = &op->symbols[a];
        lists->k[along->user] = where_modes_are(op, along->k) + lists->start[along->user];
        lists->odd[along->user] = where_modes_are(op, along->odd) + lists->start[along->user];
    }
}

static void fill_fields(const struct box *box, int number, struct lists *lists) {
    const struct fftnd__operator *op = box->applied->op;
    int batch = box->applied->batch;
    ptrdiff_t first[2] = {0, 0};
    for (int j = 0; j < 2 && batch >= 0; j++)
        first[j] = number * box->blocks[j].stride[batch];
    for (int f = 0; f < op->inputs; f++)
        lists->inputs[f] = box->memory[0] + first[0] + f * field_stride(box, 0);
    for (int f = 0; f < op->outputs; f++)
        lists->outputs[f] = box->memory[1] + first[1] + f * field_stride(box, 1);
}

/* Calls the user's function, then makes this device current again. */
static int call_user(const struct fftnd__operator *op, const fftnd_box *box) {
    const redist_place *place = redist_place_entered();
    redist_visit visit;
    if (place == NULL)
        return op->box_function(op->data, box);
    (void)place->space->enter(place, &visit);
    int result = op->box_function(op->data, box);
    place->space->leave(&visit);
    return result;
}

static int call(const struct box *box) {
    const struct fftnd__operator *op = box->applied->op;
    const struct fftnd__block *in = &box->blocks[0];
    struct lists lists = {.k = {NULL}, .odd = {NULL}};
    int modes = op->kind == FFTND_MODES, result = 0;
    fill_axes(box, &lists);
    fftnd_box own = {sizeof own,      in->precision,   op->user_ndims, fftnd__numbers(in),
                     op->inputs,      op->outputs,     lists.start,    lists.count,
                     lists.stride[0], lists.stride[1], NULL,           NULL,
                     lists.inputs,    lists.outputs,   in->stream};
    own.k = modes ? lists.k : NULL;
    own.odd = modes ? lists.odd : NULL;
    for (int number = 0; number < box->applied->fields && result == 0; number++) {
        fill_fields(box, number, &lists);
        result = call_user(op, &own);
    }
    return result == 0
               ? REDIST_OK
               : redist_fail_in(modes ? "fftnd_apply" : "fftnd_apply_physical", REDIST_ERR_ARGUMENT,
                                "options->box_function of the operator returned %d", result);
}

/* ---------------------------------------------------------------- all boxes */

static int run_box(const struct fftnd__applied *applied, const struct fftnd__block blocks[2],
                   const struct fftnd__retained_box retained[2]) {
    struct box box = {.applied = applied, .blocks = blocks};
    for (int j = 0; j < 2; j++)
        box.memory[j] = blocks[j].memory + retained[j].offset;
    for (int at = 0; at < blocks[0].ndims; at++) {
        box.start[at] = applied->start[at] + retained[0].start[at];
        box.count[at] = retained[0].count[at];
    }
    return applied->op->type->of_user ? call(&box) : run_kind(&box);
}

/* Scales the modes of a box on one side of a user's function: those between the boxes may never have been written. */
static int scale_box(const struct fftnd__block *block, const struct fftnd__truncation *truncation,
                     const struct fftnd__retained_box *box, long double factor) {
    struct fftnd__block part = *block;
    part.memory += box->offset;
    part.truncation = NULL;
    for (int i = 0; truncation != NULL && i < truncation->n; i++)
        part.count[truncation->axes[i].axis] = box->count[truncation->axes[i].axis];
    return fftnd__scale_block(&part, factor);
}

/* Runs an operator with boxes of modes on one of them; functions of the user's get and give scaled ones. */
static int run_scaled_box(const struct fftnd__applied *applied, const struct fftnd__block blocks[2],
                          const struct fftnd__truncation *truncation,
                          const struct fftnd__retained_box retained[2]) {
    const struct fftnd__operator *op = applied->op;
    if (!op->type->of_user)
        return run_box(applied, blocks, retained);
    REDIST_TRY(scale_box(&blocks[0], truncation, &retained[0], op->factors[0]));
    REDIST_TRY(run_box(applied, blocks, retained));
    return scale_box(&blocks[1], truncation, &retained[1], op->factors[1]);
}

int fftnd__boxes_run(const struct fftnd__applied *applied, const struct fftnd__piece *piece,
                     const struct fftnd__block blocks[2], const redist_index count[], char *room) {
    const struct fftnd__truncation *truncation = applied->middle[0].truncation;
    int in_boxes = fftnd__takes_boxes(applied->op);
    for (int i = 0; i < fftnd__count_retained(truncation); i++) {
        struct fftnd__retained_box retained[2];
        int is_there = 1;
        for (int j = 0; j < 2; j++)
            is_there = fftnd__find_retained(truncation, i, blocks[j].ndims, piece->start, count,
                                            blocks[j].stride, &retained[j]);
        if (is_there)
            REDIST_TRY(in_boxes ? run_scaled_box(applied, blocks, truncation, retained)
                                : fftnd__box_run_rows(applied, blocks, retained, room));
    }
    return REDIST_OK;
}
