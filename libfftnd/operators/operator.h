/* SPDX-License-Identifier: BSD-3-Clause */
/* An operator between a transform and the one back: what it multiplies rows of modes with, or makes of rows of
 * points. */
#ifndef FFTND__OPERATOR_H
#define FFTND__OPERATOR_H

#include "../../liblines/operation.h"
#include "fftnd_operators.h"

enum { FFTND__ROW = 256, FFTND__MOST_FIELDS = 64 };

/* Elements that follow one another along an axis, of all fields: complex numbers, points of a real side real ones. */
struct fftnd__row {
    int n;                                /* at most FFTND__ROW */
    int axis;                             /* the library's number */
    redist_index start[REDIST_MAX_NDIMS]; /* global, of the first one; by the library's numbers */
    double *in[FFTND__MOST_FIELDS], *out[FFTND__MOST_FIELDS];
    double *spare; /* for fftnd__operator_spare numbers */
};

struct fftnd__operator;
struct fftnd__transform;

/* A kind of operators: a row of the table in types.c. */
struct fftnd__operator_type {
    int inputs, outputs;       /* 0 = one for each axis that takes part */
    int is_odd;                /* takes derivatives of odd order along all of these */
    int least_axes, most_axes; /* that take part */
    int of_user;               /* a function of the user, who says how many fields there are */
    int in_place;              /* a row's outputs may lie where its inputs do */
};

/* What an operator does with a row. Not collective; REDIST_OK, or a code with its message. */
typedef int fftnd__run_row(const struct fftnd__operator *op, const struct fftnd__row *row);

/* Along one axis that takes part, for each mode of the whole spectral side. */
struct fftnd__symbols {
    int axis, user;  /* the library's number, and the user's */
    redist_index n;  /* modes */
    double *k, *odd; /* wavenumbers; the same with 0 where derivatives of odd order are */
    double *factor;  /* complex; NULL = 1 */
};

struct fftnd__operator {
    const struct fftnd__operator_type *type;
    fftnd__run_row *run;
    enum fftnd_operator_kind kind;
    int inputs, outputs;
    int naxes, user_ndims;                           /* axes that take part; all of the user's */
    struct fftnd__symbols symbols[REDIST_MAX_NDIMS]; /* in the order of components */
    int user_axis[REDIST_MAX_NDIMS];                 /* the user's number of each axis */
    int takes_subset, depends[REDIST_MAX_NDIMS]; /* only axes on which it depends are transformed */
    int keeps_input;                             /* whatever the plan may do with it */
    int numbers;                                 /* of an element of a row */
    double before, after;                        /* factors for what it reads and writes */
    long double factors[2];                      /* the same */
    struct lines__constants constants;
    fftnd_row_function *function;
    fftnd_box_function *box_function;
    void *data;
    double *memory; /* of all tables */
    void *tables; /* the same for boxes, where the modes are and as precise; NULL = for rows only */
    size_t table_bytes;                /* of a number there */
    const struct redist__space *space; /* of that memory if it is not the host's; else NULL */
};

/* The type of a kind; NULL = there is none such. */
const struct fftnd__operator_type *fftnd__operator_type_of(enum fftnd_operator_kind kind);

/* What one of a kind does with rows, on this processor. */
fftnd__run_row *fftnd__operator_run_of(enum fftnd_operator_kind kind);

/* Numbers of spare room that a row needs. */
size_t fftnd__operator_spare(const struct fftnd__operator *op);

/* Makes the tables along the axes that are listed; what is there after a failure is freed all the same. Not collective.
 * REDIST_ERR_MEMORY, REDIST_ERR_AXIS, REDIST_ERR_DEVICE. */
int fftnd__symbols_create(struct fftnd__operator *op, const struct fftnd__transform *transform,
                          const fftnd_operator_options *options);
void fftnd__symbols_free(struct fftnd__operator *op);

/* Numbers from a table along an axis for the modes of a row; `room` for those that are all the same. */
static inline const double *fftnd__spread(const struct fftnd__row *row,
                                          const struct fftnd__symbols *along, const double table[],
                                          double room[]) {
    const double *at = table + row->start[along->axis];
    if (along->axis == row->axis)
        return at;
    for (int i = 0; i < row->n; i++)
        room[i] = *at;
    return room;
}

/* Whether it works on boxes of modes or points, not on rows. */
static inline int fftnd__takes_boxes(const struct fftnd__operator *op) {
    return op->type->of_user ? op->box_function != NULL : op->tables != NULL;
}

#endif
