/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW's memory: allocations large enough for a distributed array can be mapped by the node's ranks. */
#include "names.h"

enum { LARGE = 1 << 16 };

EXPORT void *X(malloc)(size_t bytes) {
    void *memory = NULL;
    if (bytes >= LARGE && redist_alloc_local(bytes, &memory) == REDIST_OK)
        return memory;
    return FFTW(malloc)(bytes);
}

EXPORT real *X(alloc_real)(size_t n) {
    return X(malloc)(n * sizeof(real));
}

EXPORT complex_number *X(alloc_complex)(size_t n) {
    return X(malloc)(n * sizeof(complex_number));
}

EXPORT void X(free)(void *memory) {
    void *mine = memory;
    if (memory != NULL && redist_free(&mine) != REDIST_OK)
        FFTW(free)(memory);
}
