/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both libraries of FFTW's MPI interface in one program, in one precision: X(name) and XM(name) are those of this
 * project, FFTW(name) and FFTW_MPI(name) are looked up in FFTW's own library.
 */
#ifndef TESTS_FFTW_BOTH_H
#define TESTS_FFTW_BOTH_H

#include <dlfcn.h>
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fftnd.h"
#include "harness.h"

/* PREFIX is fftw, fftwf or fftwl, FFTW_LIBRARY the name of FFTW's library. */
#define JOIN_OF(a, b) a##b
#define JOIN(a, b)    JOIN_OF(a, b)
#define X(name)       JOIN(PREFIX, _##name)
#define XM(name)      JOIN(PREFIX, _mpi_##name)
typedef X(complex) complex_number;
typedef __typeof__(**(complex_number *)0) real;
static const double tolerance =
    _Generic((real)0, float : 2e-5, double : 1e-12, long double : 1e-17);

/* ---------------------------------------------------------------- FFTW's own functions */

static void *fftw_library;

static inline void *find(const char *name) {
    if (fftw_library == NULL)
        fftw_library = dlopen(FFTW_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *symbol = fftw_library != NULL ? dlsym(fftw_library, name) : NULL;
    if (symbol == NULL) {
        fprintf(stderr, "no %s in " FFTW_LIBRARY "\n", name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return symbol;
}

#define TEXT_OF(name)  #name
#define TEXT(name)     TEXT_OF(name)
#define FFTW(name)     ((__typeof__(&X(name)))(size_t)find(TEXT(X(name))))
#define FFTW_MPI(name) ((__typeof__(&XM(name)))(size_t)find(TEXT(XM(name))))

/* Whether a plan was made here: nonzero, or 0 for FFTW's own. */
static inline int is_here(X(plan) plan) {
    char *text = plan != NULL ? X(sprint_plan)(plan) : NULL;
    int here = text != NULL && strncmp(text, "(fftnd-", 7) == 0;
    free(text);
    return here;
}

#endif
