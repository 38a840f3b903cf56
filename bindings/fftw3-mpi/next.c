/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked or preloaded, this library precedes FFTW's in the symbol lookup order, so FFTW's symbols are the next ones.
 * Loaded as a part of another language's module, it has FFTW's libraries among its dependencies, which are found in the
 * same way.
 *
 * A program with the static library defines FFTW-MPI's functions itself, and a linker that drops unused libraries drops
 * FFTW-MPI, which is then opened here. FFTW's core, which libfftnd uses, is always linked.
 */
#include "next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fftnd_fftw__function *fftnd_fftw__find(const char *name) {
    fftnd_fftw__function *function;
    void *symbol = dlsym(RTLD_NEXT, name);
    void *library = symbol == NULL && strstr(name, "_mpi_") != NULL
                        ? dlopen(FFTND_FFTW_NEXT_LIBRARY, RTLD_LAZY | RTLD_LOCAL)
                        : NULL;
    if (library != NULL)
        symbol = dlsym(library, name);
    memcpy(&function, &symbol, sizeof function); /* the only way in POSIX */
    return function;
}

fftnd_fftw__function *fftnd_fftw__next(const char *name, fftnd_fftw__function *_Atomic *found) {
    fftnd_fftw__function *function = atomic_load_explicit(found, memory_order_relaxed);
    if (function != NULL)
        return function;
    function = fftnd_fftw__find(name);
    if (function == NULL) {
        fprintf(
            stderr,
            "%s: FFTW's own %s is not there: link FFTW's shared libraries behind this one, of a "
            "version that has it\n",
            FFTND_FFTW_LIBRARY, name);
        abort();
    }
    atomic_store_explicit(found, function, memory_order_relaxed);
    return function;
}
