/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a field, between its array and its dataset. */
#ifndef REDIST__HDF5_TRANSFER_H
#define REDIST__HDF5_TRANSFER_H

#include "datasets.h"

/* Moves the elements, a piece after the other. Collective. REDIST_ERR_FILE, _MEMORY, _MPI, _DEVICE, _PEER. */
int redist__hdf5_transfer(const struct redist__hdf5_target *target);

#endif
