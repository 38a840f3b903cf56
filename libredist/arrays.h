/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REDIST__ARRAYS_H
#define REDIST__ARRAYS_H

#include "method.h"
#include "request.h"

/* Completes a problem, whose schedule is there, by what is known of the arrays on all ranks. Collective,
 * the same result on all ranks. */
int redist__find_arrays(const struct redist__request *request, struct redist__problem *problem);

/* Tells the space, if that was found, that it has a plan more or less. */
void redist__count_plan(const struct redist__problem *problem, int difference);

#endif
