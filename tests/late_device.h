/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Stands in for CUDA in a copy of libfftnd that a test is built with. Work is put off until somebody waits
 * for it or chance has it done, each stream in order and all of them against each other; so what nobody
 * waits for is found out. Memory of the device and page-locked memory begin with numbers that are none.
 */
#ifndef LATE_DEVICE_H
#define LATE_DEVICE_H

#include "redist_support.h"

/** What that copy calls instead of redist_space_at and redist_copy_box_in. */
const redist__space *late_space_at(enum redist_space space);
int late_copy_box_in(enum redist_space space, void *stream, int ndims, const redist_index count[],
                     size_t item, const void *source, const ptrdiff_t source_stride[],
                     void *destination, const ptrdiff_t destination_stride[]);

/** What is free of it, and whose it is: ranks with the same number share it. */
extern size_t late_device_free_bytes;
extern unsigned long long late_device_identity;

#define redist_space_at    late_space_at
#define redist_copy_box_in late_copy_box_in

#endif
