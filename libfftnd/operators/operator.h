/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators between a transform and the transform back, on rows of modes or points. */
#ifndef FFTND__OPERATOR_H
#define FFTND__OPERATOR_H

#include "../../liblines/operation.h"
#include "fftnd_operators.h"

enum { FFTND__ROW = 256, FFTND__MOST_FIELDS = 64 }; /* guesses */

/* Consecutive elements along an axis, of all fields: complex, or points of a real side. */
struct fftnd__row {
    int n;    /* at most FFTND__ROW */
    int axis; /* the library's number */
    int next; /* the axis along which the next row probably is; -1 = unknown */
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
    int of_user;               /* the user's function and numbers of fields */
    int in_place;              /* a row's outputs may overwrite its inputs */
    int has_multiplier;        /* each mode has a factor of its own */
};

/* Applies an operator to a row. Not collective. Returns REDIST_OK, or a code with its message. */
typedef int fftnd__run_row(const struct fftnd__operator *op, const struct fftnd__row *row);

/* Symbols of an operator along one axis, and its tables, for each mode of the whole spectral side. */
struct fftnd__symbols {
    int axis, user;  /* the library's number, and the user's */
    double length;   /* of the axis; 0 = that with which wavenumbers are those of the plan */
    int order;       /* of FFTND_DERIVATIVE; else 0 */
    double shift;    /* of FFTND_SHIFT; else 0 */
    redist_index n;  /* modes */
    double *k, *odd; /* wavenumbers; the same, 0 where odd derivatives are */
    double *factor;  /* complex; NULL = 1 */
};

/* A factor for each mode of this rank; see multiplier.h. */
struct fftnd__multiplier {
    int ndims, numbers; /* the library's axes; numbers of a factor: 1 = real, 2 = complex */
    size_t number_bytes;
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS]; /* of the modes, global */
    ptrdiff_t stride[REDIST_MAX_NDIMS];                            /* bytes */
    char *factors;                     /* in the space of the modes; NULL = none */
    const struct redist__space *space; /* of that memory; NULL = the host's */
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
    int keeps_input;                             /* even if the plan may overwrite it */
    int numbers;                                 /* of an element of a row */
    double before, after;                        /* factors of inputs and outputs */
    long double factors[2];                      /* the same */
    struct lines__constants constants;
    fftnd_row_function *function;
    fftnd_box_function *box_function;
    void *data;
    struct fftnd__multiplier multiplier;
    double *memory; /* of all tables */
    void *tables; /* the same for boxes, in the modes' space and precision; NULL = for rows only */
    size_t table_bytes;                /* of a number there */
    const struct redist__space *space; /* of that memory; NULL = the host's */
};

/* Returns the type of a kind; NULL = unknown. */
const struct fftnd__operator_type *fftnd__operator_type_of(enum fftnd_operator_kind kind);

/* Returns the function for rows of a kind, on this processor. */
fftnd__run_row *fftnd__operator_run_of(enum fftnd_operator_kind kind);

/* Numbers that a row needs in `spare`. */
size_t fftnd__operator_spare(const struct fftnd__operator *op);

/* Makes the tables along the listed axes, to be freed after a failure, too. FFTND_SYMBOLS: `given` has a complex table
 * for each of the user's axes, NULL = 1. Not collective. REDIST_ERR_MEMORY, REDIST_ERR_AXIS, REDIST_ERR_DEVICE. */
int fftnd__symbols_create(struct fftnd__operator *op, const struct fftnd__transform *transform,
                          const double *const given[]);
void fftnd__symbols_free(struct fftnd__operator *op);

/* Copies a table of the host to memory of a space, to be released there, after a failure, too. */
int fftnd__copy_table(const struct redist__space *space, const void *table, size_t bytes,
                      void **there);

/* Returns a table's numbers for the modes of a row, in `room` if they are one number. */
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

/* Returns nonzero if the operator works on boxes, not on rows. */
static inline int fftnd__takes_boxes(const struct fftnd__operator *op) {
    return op->type->of_user ? op->box_function != NULL : op->tables != NULL;
}

#endif
