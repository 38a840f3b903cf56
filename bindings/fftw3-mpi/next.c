/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This library comes before FFTW's in the order in which symbols are looked up, be it linked or preloaded, so FFTW's
 * are the next ones. Where it was loaded by itself, as a part of a module of another language, FFTW's libraries are
 * among those that it needs, and found in the same way.
 *
 * A program with the static library defines FFTW-MPI's functions itself, and a linker that drops libraries of which it
 * sees no use drops FFTW-MPI. It is opened then. FFTW's core, in which libfftnd makes its plans, is always there.
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
    memcpy(&function, &symbol, sizeof function); /* POSIX has no other way */
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
