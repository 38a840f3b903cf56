/* SPDX-License-Identifier: BSD-3-Clause */
/* What the error table shares inside the library. */
#ifndef REDIST__ERROR_H
#define REDIST__ERROR_H

#include "redist_support.h"

#define REDIST__MESSAGE_BYTES 512

int redist__mpi_is_running(void);

/* For functions whose names mean nothing to the user. */
#define redist__fail(code, ...) redist_fail_in("libredist", code, __VA_ARGS__)

/* Makes an MPI call that peers depend on once more if it fails: they would wait for ever for a part that
 * this rank never takes. */
#define redist__insist(call) ((call) == MPI_SUCCESS ? MPI_SUCCESS : (call))

#endif
