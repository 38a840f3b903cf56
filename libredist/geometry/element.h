/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of the data of one element of an array. Bytes between them are not the library's. */
#ifndef REDIST__ELEMENT_H
#define REDIST__ELEMENT_H

#include "box.h"

/* A component of a structure is one run of bytes inside a larger extent; a column of a small matrix is several such
 * runs at equal distances: an element is a box too, with at most two axes. Copies have them as their innermost axes. */
enum { REDIST__ELEMENT_AXES = 2 };

struct redist__element {
    size_t extent;         /* bytes from one element to the next */
    size_t before, behind; /* bytes of data before and behind the extent */
    size_t first, end;     /* range of the data inside the extent */
    size_t run;            /* bytes of each run; 0 = the data are not a box inside the extent */
    int naxes;
    redist_index count[REDIST__ELEMENT_AXES];
    ptrdiff_t stride[REDIST__ELEMENT_AXES]; /* bytes */
};

/* Returns an element with data from `low` to `high`, in bytes from its address. */
struct redist__element redist__element_between(size_t extent, ptrdiff_t low, ptrdiff_t high);

/* Finds the runs of an element by a map of its bytes, from the first one of data to the last one: 0 = no data. */
void redist__element_find_runs(struct redist__element *element, const unsigned char map[]);

/* Bytes of an array of elements, up to the last byte of data; SIZE_MAX if that does not fit. */
size_t redist__element_array_bytes(const struct redist__element *element, int ndims,
                                   const redist_index extent[]);

#endif
