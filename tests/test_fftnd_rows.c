/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of modes: the loops of all registers that this processor has against the plain ones. */
#include "../libfftnd/operators/rows.h"
#include "harness.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { AXES = 3, MODES = 300, FIELDS = AXES * 2 * FFTND__ROW };

static double tables[AXES][4][MODES], fields[2][FIELDS], results[2][FIELDS];

/* Sums of squares are exact, so that no order or fused operation changes them. */
static void fill(double *numbers, int n) {
    for (int i = 0; i < n; i++)
        numbers[i] = random_between(-1000, 1000) / 64.0;
}

/* Some wavenumbers are 0, as those are where an inverse has no value. */
static void make_operator(enum fftnd_operator_kind kind, struct fftnd__operator *op) {
    op->kind = kind;
    op->type = fftnd__operator_type_of(kind);
    op->naxes = op->type->least_axes > 0 ? AXES : random_between(1, AXES);
    op->inputs = op->type->inputs > 0 ? op->type->inputs : op->naxes;
    op->outputs = op->type->outputs > 0 ? op->type->outputs : op->naxes;
    op->after = 0.25;
    op->constants = (struct lines__constants){0.5, 3, {1, 8}};
    for (int a = 0; a < op->naxes; a++) {
        fill(tables[a][0], 4 * MODES);
        for (int i = 0; i < MODES; i += random_between(1, 3))
            tables[a][0][i] = tables[a][1][i] = 0;
        op->symbols[a] = (struct fftnd__symbols){.axis = a,
                                                 .user = a,
                                                 .n = MODES,
                                                 .k = tables[a][0],
                                                 .odd = tables[a][1],
                                                 .factor = random_chance(70) ? tables[a][2] : NULL};
    }
}

static void make_row(struct fftnd__row *row) {
    row->n = random_between(1, FFTND__ROW);
    row->axis = random_between(0, AXES - 1);
    for (int axis = 0; axis < AXES; axis++)
        row->start[axis] = random_between(0, MODES / 2 - FFTND__ROW / 2);
    fill(fields[0], FIELDS);
}

/* From the first fields to results[which], or in these. */
static void run(const struct fftnd__row_loops *loops, const struct fftnd__operator *op,
                struct fftnd__row *row, int in_place, int which) {
    memcpy(fields[1], fields[0], sizeof fields[0]);
    memcpy(results[which], fields[0], sizeof fields[0]);
    for (int field = 0; field < AXES; field++) {
        row->out[field] = &results[which][field * 2 * FFTND__ROW];
        row->in[field] = in_place ? row->out[field] : &fields[1][field * 2 * FFTND__ROW];
    }
    check_code(loops->run[op->kind](op, row), REDIST_OK);
}

static void check_row(const struct fftnd__row_loops *plain, enum fftnd_operator_kind kind) {
    struct fftnd__operator op = {0};
    struct fftnd__row row = {0};
    make_operator(kind, &op);
    make_row(&row);
    int in_place = op.type->in_place && random_chance(50);
    harness_case("kind %d of %d axes, %d modes along axis %d%s", (int)op.kind, op.naxes, row.n,
                 row.axis, in_place ? ", in place" : "");
    run(plain, &op, &row, in_place, 0);
    for (int i = 0; fftnd__row_loops[i] != plain; i++) {
        if (!fftnd__row_loops[i]->runs_here())
            continue;
        run(fftnd__row_loops[i], &op, &row, in_place, 1);
        for (int j = 0; j < FIELDS; j++)
            check_all(fabs(results[0][j] - results[1][j]) <= 1e-12 * (1e3 + fabs(results[0][j])),
                      "loops %d: number %d is %.17g, not %.17g", i, j, results[1][j],
                      results[0][j]);
    }
}

START_TEST(all_registers) {
    int last = 0;
    while (fftnd__row_loops[last + 1] != NULL)
        last++;
    for (int i = 0; harness_another(i, 40); i++)
        for (int kind = 0; kind <= FFTND_SYMBOLS; kind++)
            check_row(fftnd__row_loops[last], (enum fftnd_operator_kind)kind);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {all_registers, NULL};
    return harness_run(argc, argv, "test_fftnd_rows", tests);
}
