/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries' own heap memory, behind functions that a user can replace. */
#include "redist_support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *(*allocate)(size_t) = malloc;
static void (*release)(void *) = free;

void redist_set_allocator(void *(*new_allocate)(size_t), void (*new_release)(void *)) {
    allocate = new_allocate != NULL ? new_allocate : malloc;
    release = new_release != NULL ? new_release : free;
}

void *redist_calloc(size_t count, size_t bytes) {
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return NULL;
    size_t total = count * bytes != 0 ? count * bytes : 1;
    void *memory = allocate(total);
    return memory != NULL ? memset(memory, 0, total) : NULL;
}

void redist_release(void *memory) {
    if (memory != NULL)
        release(memory);
}
