/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW's functions for plans of all kinds: ours are recognised, all others are passed to FFTW. */
#include "names.h"

#include <stdlib.h>

#define OURS(plan) struct fftnd_fftw__plan *ours = fftnd_fftw__plan_of(plan)

EXPORT void X(execute)(const X(plan) plan) {
    OURS(plan);
    if (ours != NULL)
        fftnd_fftw__plan_execute(ours, ours->in, ours->out, 0);
    else
        FFTW(execute)(plan);
}

/* Executions on other arrays: of FFTW's core, and of its MPI part. */
#define EXECUTE(name, source, target)                                                              \
    EXPORT void X(name)(const X(plan) plan, source *in, target *out) {                             \
        OURS(plan);                                                                                \
        if (ours != NULL)                                                                          \
            fftnd_fftw__plan_execute(ours, in, out, 1);                                            \
        else                                                                                       \
            FFTW(name)(plan, in, out);                                                             \
    }                                                                                              \
    EXPORT void XM(name)(X(plan) plan, source * in, target * out) {                                \
        OURS(plan);                                                                                \
        if (ours != NULL)                                                                          \
            fftnd_fftw__plan_execute(ours, in, out, 1);                                            \
        else                                                                                       \
            FFTW_MPI(name)(plan, in, out);                                                         \
    }
EXECUTE(execute_dft, complex_number, complex_number)
EXECUTE(execute_dft_r2c, real, complex_number)
EXECUTE(execute_dft_c2r, complex_number, real)
EXECUTE(execute_r2r, real, real)

/* A function of FFTW 3.3.11; headers of earlier versions do not declare it. */
X(plan) X(copy_plan)(X(plan) plan);

EXPORT X(plan) X(copy_plan)(X(plan) plan) {
    OURS(plan);
    return ours != NULL ? (X(plan))(void *)fftnd_fftw__plan_copy(ours) : FFTW(copy_plan)(plan);
}

EXPORT void X(destroy_plan)(X(plan) plan) {
    OURS(plan);
    if (ours != NULL)
        fftnd_fftw__plan_destroy(ours);
    else
        FFTW(destroy_plan)(plan);
}

/* Frees the plans that are kept first: they have plans of FFTW's, which cannot be freed afterwards. fftw_mpi_cleanup
 * and fftw_cleanup_threads call this function. */
EXPORT void X(cleanup)(void) {
    (void)fftnd_cache_clear(MPI_COMM_NULL);
    FFTW(cleanup)();
}

/* ---------------------------------------------------------------- questions */

static void describe(const struct fftnd_fftw__plan *ours, size_t bytes, char text[]) {
    ours->kind->describe(ours, bytes, text);
}

enum { TEXT_BYTES = 512 };

EXPORT void X(fprint_plan)(const X(plan) plan, FILE *file) {
    OURS(plan);
    char text[TEXT_BYTES];
    if (ours == NULL) {
        FFTW(fprint_plan)(plan, file);
        return;
    }
    describe(ours, sizeof text, text);
    fputs(text, file);
}

EXPORT void X(print_plan)(const X(plan) plan) {
    if (fftnd_fftw__plan_of(plan) != NULL)
        X(fprint_plan)(plan, stdout);
    else
        FFTW(print_plan)(plan);
}

EXPORT char *X(sprint_plan)(const X(plan) plan) {
    OURS(plan);
    if (ours == NULL)
        return FFTW(sprint_plan)(plan);
    char *text = malloc(TEXT_BYTES); /* freed by the caller, as FFTW's */
    if (text != NULL)
        describe(ours, TEXT_BYTES, text);
    return text;
}

/* Counts operations; FFTW separates additions, multiplications and fused ones, here only the sum is known. */
EXPORT void X(flops)(const X(plan) plan, double *add, double *multiply, double *fused) {
    OURS(plan);
    if (ours == NULL) {
        FFTW(flops)(plan, add, multiply, fused);
        return;
    }
    *add = ours->flops;
    *multiply = *fused = 0;
}

EXPORT double X(estimate_cost)(const X(plan) plan) {
    OURS(plan);
    return ours != NULL ? ours->flops : FFTW(estimate_cost)(plan);
}

EXPORT double X(cost)(const X(plan) plan) {
    OURS(plan);
    return ours != NULL ? ours->flops : FFTW(cost)(plan);
}
