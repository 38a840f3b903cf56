/* SPDX-License-Identifier: BSD-3-Clause */
/** The methods that work on arrays in host memory: all but those for devices alone. */
#ifndef TESTS_METHODS_H
#define TESTS_METHODS_H

#include <string.h>

#include "redist.h"

static inline int is_host_method(const char *name) {
    return strstr(name, "nccl") == NULL && strcmp(name, "signals") != 0;
}

static inline int host_method_count(void) {
    int count = 0;
    for (int i = 0; i < redist_method_count(); i++)
        count += is_host_method(redist_method_name(i));
    return count;
}

static inline const char *host_method_name(int index) {
    int i = 0;
    for (int left = index; redist_method_name(i) != NULL; i++)
        if (is_host_method(redist_method_name(i)) && left-- == 0)
            break;
    return redist_method_name(i);
}

#endif
