/* SPDX-License-Identifier: BSD-3-Clause */
/* Fortran's arrays in the library's order: axis i of d is the library's axis d - i. */
#ifndef REDIST_FORTRAN_ARRAYS_H
#define REDIST_FORTRAN_ARRAYS_H

#include "redist_support.h"

#include <ISO_Fortran_binding.h>

/** Returns the extents of an array in the library's order. */
void redist__f_extents(const CFI_cdesc_t *array, redist_index extents[]);

/** Returns the address of a contiguous array, else NULL, which the library refuses on all ranks. */
void *redist__f_address(const CFI_cdesc_t *array);

/** Returns a datatype of elements, numbers or bytes, to be released; MPI_DATATYPE_NULL, which the library refuses on
 * all ranks, if there is none, such as for the elements of arrays that differ in size. */
MPI_Datatype redist__f_element_type(CFI_type_t type, size_t bytes);
MPI_Datatype redist__f_datatype(const CFI_cdesc_t *a, const CFI_cdesc_t *b);
void redist__f_datatype_free(MPI_Datatype *datatype);

/**
 * Points a Fortran pointer to memory.
 *   pointer  as many axes as `counts` has values
 *   lower    the index of the first element along each axis, in Fortran's order like the others
 *   counts   extents of the pointer
 *   strides  bytes from an element to its neighbour; NULL = the elements lie one after the other
 * Errors: ERR_ARGUMENT.
 */
int redist__f_point(CFI_cdesc_t *pointer, void *memory, const redist_index lower[],
                    const redist_index counts[], const ptrdiff_t strides[]);

#endif
