/* SPDX-License-Identifier: BSD-3-Clause */
/* The operator of a step on a box of a piece, row by row, which are read from the array and written to it. */
#include "applied.h"

/* Conversion between elements of `have` numbers, `stride` bytes apart, and a row of `want` doubles each. */
typedef void copy_row(char *at, ptrdiff_t stride, int n, int have, int want, double row[]);

#define ROWS(T)                                                                                    \
    static void load_##T(char *at, ptrdiff_t stride, int n, int have, int want, double row[]) {    \
        for (int i = 0; i < n; i++, at += stride)                                                  \
            for (int j = 0; j < want; j++)                                                         \
                row[want * i + j] = j < have ? (double)((const T *)(void *)at)[j] : 0;             \
    }                                                                                              \
    static void store_##T(char *at, ptrdiff_t stride, int n, int have, int want, double row[]) {   \
        for (int i = 0; i < n; i++, at += stride)                                                  \
            for (int j = 0; j < have; j++)                                                         \
                ((T *)(void *)at)[j] = (T)row[want * i + j];                                       \
    }
typedef long double long_double;
ROWS(double)
ROWS(float)
ROWS(long_double)

static copy_row *const load_row[] = {[FFTND_DOUBLE] = load_double,
                                     [FFTND_FLOAT] = load_float,
                                     [FFTND_LONG_DOUBLE] = load_long_double};
static copy_row *const store_row[] = {[FFTND_DOUBLE] = store_double,
                                      [FFTND_FLOAT] = store_float,
                                      [FFTND_LONG_DOUBLE] = store_long_double};

/* Iteration over a retained box of a piece, row by row. */
struct sweep {
    const struct fftnd__applied *applied;
    const struct fftnd__block *blocks; /* before and after the operator */
    struct fftnd__retained_box box;
    int line; /* the array axis of rows */
    int reads_directly, writes_directly;
    double *room;
    struct fftnd__row row;
};

static int is_row(const struct sweep *sweep, int i) {
    const struct fftnd__block *block = &sweep->blocks[i];
    return block->precision == FFTND_DOUBLE &&
           fftnd__numbers(block) == sweep->applied->op->numbers &&
           block->stride[sweep->line] == (ptrdiff_t)block->item;
}

static void scale_row(const struct sweep *sweep, double factor, double row[]) {
    int n = factor != 1.0 ? sweep->applied->op->numbers * sweep->row.n : 0;
    for (int i = 0; i < n; i++)
        row[i] *= factor;
}

/* Returns the address of a field of a batch. */
static char *field_at(const struct sweep *sweep, int i, char *at, int field) {
    int batch = sweep->applied->batch;
    return batch >= 0 ? at + (ptrdiff_t)field * sweep->blocks[i].stride[batch] : at;
}

static int run_row(struct sweep *sweep, char *before, char *after, int number) {
    const struct fftnd__applied *applied = sweep->applied;
    const struct fftnd__operator *op = applied->op;
    const struct fftnd__block *in = &sweep->blocks[0], *out = &sweep->blocks[1];
    struct fftnd__row *row = &sweep->row;
    double *room = sweep->room;
    for (int f = 0; f < op->inputs; f++, room += 2 * FFTND__ROW) {
        char *at = field_at(sweep, 0, before, f * applied->fields + number);
        row->in[f] = sweep->reads_directly ? (double *)(void *)at : room;
        if (!sweep->reads_directly)
            load_row[in->precision](at, in->stride[sweep->line], row->n, fftnd__numbers(in),
                                    op->numbers, room);
        if (op->type->of_user)
            scale_row(sweep, op->before, row->in[f]);
    }
    for (int f = 0; f < op->outputs; f++)
        row->out[f] =
            sweep->writes_directly
                ? (double *)(void *)field_at(sweep, 1, after, f * applied->fields + number)
                : room + 2 * FFTND__ROW * f;
    row->spare = room + 2 * FFTND__ROW * op->outputs;
    REDIST_TRY(op->run(op, row));
    for (int f = 0; f < op->outputs; f++) {
        if (op->type->of_user)
            scale_row(sweep, op->after, row->out[f]);
        if (!sweep->writes_directly)
            store_row[out->precision](field_at(sweep, 1, after, f * applied->fields + number),
                                      out->stride[sweep->line], row->n, fftnd__numbers(out),
                                      op->numbers, row->out[f]);
    }
    return REDIST_OK;
}

/* Returns the quotient, and leaves the remainder in *index. Divides only if axes are merged, as division is slow. */
static redist_index divide(redist_index *index, redist_index n) {
    redist_index quotient = *index < n ? 0 : *index / n;
    *index -= quotient * n;
    return quotient;
}

/* Sets the index of element `i` of a box along an axis, and along the axes that are merged with it, whose first
 * elements were set before. Returns the number of elements to the end of the axis. */
static redist_index set_start(struct sweep *sweep, int at, redist_index i) {
    const struct fftnd__applied *applied = sweep->applied;
    redist_index index = sweep->box.start[at] + i, next = divide(&index, applied->count[at]);
    redist_index rest = applied->count[at] - index;
    sweep->row.start[at - applied->shift] = applied->start[at] + index;
    for (int outer = at - 1; outer >= 0 && next > 0; outer--) {
        index = next;
        next = divide(&index, applied->count[outer]);
        sweep->row.start[outer - applied->shift] = applied->start[outer] + index;
    }
    return rest;
}

/* Runs a line in even rows of at most FFTND__ROW elements, which end where a merged axis does. */
static int run_line(struct sweep *sweep, char *before, char *after) {
    int line = sweep->line;
    redist_index n = sweep->box.count[line], count;
    for (redist_index first = 0; first < n; first += count) {
        redist_index rest = set_start(sweep, line, first);
        count = rest < n - first ? rest : n - first;
        count /= (count + FFTND__ROW - 1) / FFTND__ROW;
        sweep->row.n = (int)count;
        for (int number = 0; number < sweep->applied->fields; number++)
            REDIST_TRY(run_row(sweep, before + first * sweep->blocks[0].stride[line],
                               after + first * sweep->blocks[1].stride[line], number));
    }
    return REDIST_OK;
}

/* Runs all lines of the axes from `at` on. */
static int run_lines(struct sweep *sweep, int at, char *before, char *after) {
    if (at == sweep->blocks[0].ndims)
        return run_line(sweep, before, after);
    if (at == sweep->line || at == sweep->applied->batch)
        return run_lines(sweep, at + 1, before, after);
    if (sweep->box.count[at] > 1)
        sweep->row.next = at - sweep->applied->shift;
    for (redist_index i = 0; i < sweep->box.count[at]; i++) {
        set_start(sweep, at, i);
        REDIST_TRY(run_lines(sweep, at + 1, before + i * sweep->blocks[0].stride[at],
                             after + i * sweep->blocks[1].stride[at]));
    }
    return REDIST_OK;
}

/* Returns the last axis with more than one element, along which rows are contiguous unless fields are side by side. */
static int choose_line(const struct fftnd__applied *applied, const struct fftnd__block *block) {
    int last = block->ndims - 1;
    for (int line = last; line >= 0; line--)
        if (line != applied->batch && block->count[line] > 1)
            return line;
    return last == applied->batch ? last - 1 : last;
}

int fftnd__box_run_rows(const struct fftnd__applied *applied, const struct fftnd__block blocks[2],
                        const struct fftnd__retained_box retained[2], char *room) {
    struct sweep sweep = {.applied = applied,
                          .blocks = blocks,
                          .box = retained[1],
                          .line = choose_line(applied, &blocks[0]),
                          .room = (double *)(void *)room};
    int in_place = blocks[0].memory == blocks[1].memory;
    sweep.row.axis = sweep.line - applied->shift;
    sweep.row.next = -1;
    sweep.reads_directly = is_row(&sweep, 0);
    sweep.writes_directly = is_row(&sweep, 1) && (!in_place || applied->op->type->in_place);
    return run_lines(&sweep, 0, blocks[0].memory + retained[0].offset,
                     blocks[1].memory + retained[1].offset);
}
