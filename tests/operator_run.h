/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Operators between transforms, compared with forward, multiply, backward one after the other, where the modes are
 * multiplied by formulas of the definitions in fftnd_operators.h.
 */
#ifndef OPERATOR_RUN_H
#define OPERATOR_RUN_H

#include "arrays.h"
#include "fft_case.h"

/** Puts the arrays of later checks on a device, or only the work on them; NULL = it is done in host memory. */
void operator_use(const test_device *device, int only_work);

/** Checks an operator at random for the plan of a case. Collective over MPI_COMM_WORLD. */
void operator_check(const fft_case *given);

#endif
