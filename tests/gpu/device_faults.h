/* SPDX-License-Identifier: BSD-3-Clause */
/** Calls of a device's libraries that fail on purpose: what the files share that stand in for these libraries. */
#ifndef TESTS_GPU_DEVICE_FAULTS_H
#define TESTS_GPU_DEVICE_FAULTS_H

#include <cuda_runtime_api.h>

/** Writes the address of the function of that name that the program would call without the tests' own. */
void device_faults_find(void *function, const char *name);

/** The same once for a static pointer to it. */
#define DEVICE_FAULTS_FIND(pointer, name)                                                          \
    do {                                                                                           \
        if (pointer == NULL)                                                                       \
            device_faults_find(&pointer, name);                                                    \
    } while (0)

#endif
