/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of ghosts: lists of boxes between the owners of elements and the ranks whose ghosts show them. */
#ifndef REDIST__HALO_H
#define REDIST__HALO_H

#include "redist_halo.h"
#include "transfer.h"

/* Fills a zeroed description as redist__transfer_boxes does: array A has the boxes, array B the ghosts around its own
 * ones. These receive their elements, too, if `with_boxes`, and backward replace those of A before ghosts are added;
 * else `all` has the box of each rank twice, and A and B are one array. `axis` = -1 describes all ghosts at once; else
 * those along an axis, which complete the halo one axis after the other in ascending order, with corners. Not
 * collective; REDIST_ERR_MEMORY or REDIST_ERR_LIMIT. */
int redist__transfer_halo(struct redist__transfer *transfer, const redist_index sizes[],
                          const redist_halo *halo, const redist_box all[], int axis,
                          int with_boxes);

/* Finds an element of `whole` that is in no box of `all`, every second one of them; 0 = none. */
int redist__find_hole(int ndims, const redist_box *whole, int nranks, const redist_box all[],
                      redist_index hole[]);

#endif
