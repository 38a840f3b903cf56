/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REDIST__ARRAYS_H
#define REDIST__ARRAYS_H

#include "../methods/method.h"
#include "request.h"

/* Completes a problem, whose transfer description is there, by what is known of the arrays on all ranks. Collective,
 * the same result on all ranks. */
int redist__find_arrays(const struct redist__request *request, struct redist__problem *problem);

/* Closes what the plan has mapped of its peers' arrays, on all ranks before any of them returns. Collective on
 * the node if arrays of the problem's space are mapped for a plan. */
void redist__close_mappings(const struct redist__problem *problem);

#endif
