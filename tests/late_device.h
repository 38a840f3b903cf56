/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Stands in for CUDA in a copy of libfftnd that a test is built with. Work is put off until somebody waits
 * for it or chance has it done, each stream in order and all of them against each other; so what nobody
 * waits for is found out. Memory of the device and page-locked memory begin with numbers that are none.
 */
#ifndef LATE_DEVICE_H
#define LATE_DEVICE_H

#include <stddef.h>

/** What is free of it, and whose it is: ranks with the same number share it. */
extern size_t late_device_free_bytes;
extern unsigned long long late_device_identity;

#endif
