/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"
#include "report.h"

#include <stdlib.h>

_Thread_local int fftnd_fftw__is_inside;

static const char mark;

void fftnd_fftw__plan_init(struct fftnd_fftw__plan *plan, const struct fftnd_fftw__kind *kind,
                           void *in, void *out) {
    *plan =
        (struct fftnd_fftw__plan){.mark = &mark, .kind = kind, .in = in, .out = out, .holders = 1};
}

struct fftnd_fftw__plan *fftnd_fftw__plan_of(const void *plan) {
    if (plan == NULL || *(const void *const *)plan != &mark)
        return NULL;
    return (struct fftnd_fftw__plan *)(size_t)plan;
}

/* Ends the program after a failure, which FFTW's functions cannot report. */
static void insist(const struct fftnd_fftw__plan *plan, int code) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, FFTND_FFTW_LIBRARY ": %s: %s\n", plan->kind->name, redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

void fftnd_fftw__plan_execute(struct fftnd_fftw__plan *plan, void *in, void *out, int new_arrays) {
    double begin = MPI_Wtime();
    fftnd_fftw__is_inside = 1;
    int code = plan->kind->execute(plan, in, out, new_arrays);
    fftnd_fftw__is_inside = 0;
    insist(plan, code);
    fftnd_fftw__report_execution(MPI_Wtime() - begin);
}

struct fftnd_fftw__plan *fftnd_fftw__plan_copy(struct fftnd_fftw__plan *plan) {
    atomic_fetch_add(&plan->holders, 1);
    return plan;
}

void fftnd_fftw__plan_destroy(struct fftnd_fftw__plan *plan) {
    if (atomic_fetch_sub(&plan->holders, 1) == 1)
        plan->kind->destroy(plan);
}
