/* SPDX-License-Identifier: BSD-3-Clause */
/* Included once for each precision, with FFTW(name) as the name of FFTW's function or type. */

static void *FFTW(bench_plan)(struct step step, const fftw_iodim64 *axis, int nrest,
                              const fftw_iodim64 rest[], void *data, unsigned flags) {
    if (step.axis == FFTND_AXIS_COMPLEX)
        return FFTW(plan_guru64_dft)(1, axis, nrest, rest, data, data,
                                     step.backward ? FFTW_BACKWARD : FFTW_FORWARD, flags);
    if (step.axis == FFTND_AXIS_R2R)
        return FFTW(plan_guru64_r2r)(1, axis, nrest, rest, data, data, &step.r2r, flags);
    if (step.backward)
        return FFTW(plan_guru64_dft_c2r)(1, axis, nrest, rest, data, data, flags);
    return FFTW(plan_guru64_dft_r2c)(1, axis, nrest, rest, data, data, flags);
}

/* FFTW's planner makes plans for n threads from now on. */
static void FFTW(bench_set_threads)(int threads) {
    FFTW(init_threads)();
    FFTW(plan_with_nthreads)(threads);
}

static void FFTW(bench_execute)(void *plan) {
    FFTW(execute)(plan);
}

static void FFTW(bench_destroy)(void *plan) {
    FFTW(destroy_plan)(plan);
}
