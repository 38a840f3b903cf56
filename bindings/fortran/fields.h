/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of files as Fortran has them, and their counterparts of C. */
#ifndef REDIST_FORTRAN_FIELDS_H
#define REDIST_FORTRAN_FIELDS_H

#include "arrays.h"
#include "redist_checkpoint.h"

/** type(redist_field), of redist_field_type.f90: axes in Fortran's order, and start and selected_start from 1. It owns
 * nothing; the datatype of its elements is made in each call. */
struct redist__f_field {
    int ndims, space;
    redist_index sizes[REDIST_MAX_NDIMS], start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS], offset;
    redist_index selected_start[REDIST_MAX_NDIMS], selected_count[REDIST_MAX_NDIMS],
        selected_step[REDIST_MAX_NDIMS];
    void *array;
    size_t element_bytes;
    int element_type; /* CFI_type_t */
    char name[REDIST_CHECKPOINT_NAME_BYTES];
};

/** Converts a field without a selection to Fortran's order; the elements are an array's, the name is unchanged. */
void redist__f_field_put(const redist_field *own, const CFI_cdesc_t *array,
                         struct redist__f_field *field);

/** Returns the fields of a call as structures of C, to be released. Without memory for them *nfields becomes -1, which
 * the library refuses on all ranks. */
redist_field *redist__f_fields_take(int *nfields, const struct redist__f_field fields[]);

/** Releases them; returns the code of the call, or ERR_MEMORY if there was none for them. */
int redist__f_fields_release(int nfields, redist_field all[], int code);

#endif
