/* SPDX-License-Identifier: BSD-3-Clause */
/* What the error table shares inside the library. */
#ifndef REDIST__ERROR_H
#define REDIST__ERROR_H

#include "redist_support.h"

#define REDIST__MESSAGE_BYTES 512

int redist__mpi_is_running(void);

/* For functions whose names mean nothing to the user. */
#define redist__fail(code, ...) redist_fail_in("libredist", code, __VA_ARGS__)

/* Keeps the first failure of several MPI calls in *code; returns the result. */
int redist__note_mpi(int *code, int result);

#endif
