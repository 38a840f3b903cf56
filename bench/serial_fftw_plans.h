/* SPDX-License-Identifier: BSD-3-Clause */
/* Included once for each precision, with FFTW(name) as the name of FFTW's function or type. */

static void *FFTW(bench_plan)(enum step step, const fftw_iodim64 *axis, int nrest,
                              const fftw_iodim64 rest[], void *data, unsigned flags) {
    const FFTW(r2r_kind) kind = step == DCT2 ? FFTW_REDFT10 : FFTW_REDFT01;
    switch (step) {
    case FORWARD:
    case BACKWARD:
        return FFTW(plan_guru64_dft)(1, axis, nrest, rest, data, data,
                                     step == FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, flags);
    case REAL_TO_COMPLEX:
        return FFTW(plan_guru64_dft_r2c)(1, axis, nrest, rest, data, data, flags);
    case COMPLEX_TO_REAL:
        return FFTW(plan_guru64_dft_c2r)(1, axis, nrest, rest, data, data, flags);
    case DCT2:
    case DCT3:
        return FFTW(plan_guru64_r2r)(1, axis, nrest, rest, data, data, &kind, flags);
    }
    return NULL;
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
