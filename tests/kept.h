/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that tests of kept plans share. A plan is kept if making it again takes nearly no memory. */
#ifndef TESTS_KEPT_H
#define TESTS_KEPT_H

#include <stdlib.h>

#include "counters.h"
#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

enum { FEW_ALLOCATIONS = 8 };

/* Plans; returns nonzero if the plan is one that was kept. */
static inline int plan_again(MPI_Comm comm, const fft_case *given, fftnd_plan **plan) {
    long before = counters_memory_asked();
    check_ok(fft_case_plan(comm, given, plan));
    int is_kept = counters_memory_asked() - before < FEW_ALLOCATIONS, everywhere;
    MPI_Allreduce(&is_kept, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    check_all(is_kept == everywhere, "a kept plan on some ranks only");
    return is_kept;
}

static inline int plan_and_free(MPI_Comm comm, const fft_case *given) {
    fftnd_plan *plan = NULL;
    int is_kept = plan_again(comm, given, &plan);
    check_ok(fftnd_plan_free(&plan));
    return is_kept;
}

static inline void clear(void) {
    check_ok(fftnd_cache_clear(MPI_COMM_WORLD));
}

/* A random case that plans are kept for, except with work space of the user, phases, or mapped arrays that are not. */
static inline fft_case draw_case(void) {
    fft_case given = fft_random_mixed_case(harness_nranks, 0);
    unsetenv("FFTND_CONFIGURATION");
    if (given.precision == FFTND_LONG_DOUBLE) /* valgrind has no long double */
        given.precision = FFTND_DOUBLE;
    given.options.effort = FFTND_ESTIMATE;
    given.options.keep = 1;
    return given;
}

static inline int is_keepable(const fft_case *given) {
    return !given->options.user_workspace && !given->options.phases &&
           given->options.device_bytes == 0 && given->options.device == REDIST_SPACE_AUTO;
}

#endif
