/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW as the serial library, through its guru interface. */
#include "redist_support.h"
#include "serial.h"

#include <fftw3.h>
#include <string.h>

/* What FFTW calls differently for each precision, as functions of one type. */
struct precision {
    void *(*c2c)(int, const fftw_iodim64 *, int, const fftw_iodim64 *, void *, void *, int,
                 unsigned);
    void *(*r2c)(int, const fftw_iodim64 *, int, const fftw_iodim64 *, void *, void *, unsigned);
    void *(*c2r)(int, const fftw_iodim64 *, int, const fftw_iodim64 *, void *, void *, unsigned);
    void *(*r2r)(int, const fftw_iodim64 *, int, const fftw_iodim64 *, void *, void *,
                 const fftw_r2r_kind *, unsigned);
    void (*run_c2c)(void *, void *, void *);
    void (*run_r2c)(void *, void *, void *);
    void (*run_c2r)(void *, void *, void *);
    void (*run_r2r)(void *, void *, void *);
    void (*destroy)(void *);
    int (*alignment)(void *);
    void (*limit_time)(double seconds); /* of planning */
};

/* fftw_iodim64, fftwf_iodim64 and the r2r kinds are the same types in both. */
#define PRECISION(X)                                                                               \
    static void *X##_c2c(int rank, const fftw_iodim64 *dims, int nloops,                           \
                         const fftw_iodim64 *loops, void *in, void *out, int sign,                 \
                         unsigned flags) {                                                         \
        return X##_plan_guru64_dft(rank, dims, nloops, loops, in, out, sign, flags);               \
    }                                                                                              \
    static void *X##_r2c(int rank, const fftw_iodim64 *dims, int nloops,                           \
                         const fftw_iodim64 *loops, void *in, void *out, unsigned flags) {         \
        return X##_plan_guru64_dft_r2c(rank, dims, nloops, loops, in, out, flags);                 \
    }                                                                                              \
    static void *X##_c2r(int rank, const fftw_iodim64 *dims, int nloops,                           \
                         const fftw_iodim64 *loops, void *in, void *out, unsigned flags) {         \
        return X##_plan_guru64_dft_c2r(rank, dims, nloops, loops, in, out, flags);                 \
    }                                                                                              \
    static void *X##_r2r(int rank, const fftw_iodim64 *dims, int nloops,                           \
                         const fftw_iodim64 *loops, void *in, void *out,                           \
                         const fftw_r2r_kind *kinds, unsigned flags) {                             \
        return X##_plan_guru64_r2r(rank, dims, nloops, loops, in, out, kinds, flags);              \
    }                                                                                              \
    static void X##_run_c2c(void *plan, void *in, void *out) {                                     \
        X##_execute_dft(plan, in, out);                                                            \
    }                                                                                              \
    static void X##_run_r2c(void *plan, void *in, void *out) {                                     \
        X##_execute_dft_r2c(plan, in, out);                                                        \
    }                                                                                              \
    static void X##_run_c2r(void *plan, void *in, void *out) {                                     \
        X##_execute_dft_c2r(plan, in, out);                                                        \
    }                                                                                              \
    static void X##_run_r2r(void *plan, void *in, void *out) {                                     \
        X##_execute_r2r(plan, in, out);                                                            \
    }                                                                                              \
    static void X##_destroy(void *plan) {                                                          \
        X##_destroy_plan(plan);                                                                    \
    }                                                                                              \
    static int X##_alignment(void *array) {                                                        \
        return X##_alignment_of(array);                                                            \
    }                                                                                              \
    static void X##_limit_time(double seconds) {                                                   \
        X##_set_timelimit(seconds);                                                                \
    }                                                                                              \
    static const struct precision X##_table = {                                                    \
        X##_c2c,     X##_r2c,     X##_c2r,     X##_r2r,       X##_run_c2c,   X##_run_r2c,          \
        X##_run_c2r, X##_run_r2r, X##_destroy, X##_alignment, X##_limit_time};
PRECISION(fftw)
PRECISION(fftwf)

static const fftw_r2r_kind kinds[] = {
    [FFTND_DCT1] = FFTW_REDFT00, [FFTND_DCT2] = FFTW_REDFT10, [FFTND_DCT3] = FFTW_REDFT01,
    [FFTND_DCT4] = FFTW_REDFT11, [FFTND_DST1] = FFTW_RODFT00, [FFTND_DST2] = FFTW_RODFT10,
    [FFTND_DST3] = FFTW_RODFT01, [FFTND_DST4] = FFTW_RODFT11};

static const unsigned efforts[] = {[FFTND_ESTIMATE] = FFTW_ESTIMATE,
                                   [FFTND_MEASURE] = FFTW_MEASURE,
                                   [FFTND_PATIENT] = FFTW_PATIENT};

struct plan {
    struct fftnd__serial_problem problem;
    const struct precision *precision;
    void *aligned;   /* for arrays as aligned as the planner's */
    void *unaligned; /* for any others; made when first needed */
    void (*run)(void *plan, void *in, void *out);
};

static void copy_loops(int n, const struct fftnd__loop from[], fftw_iodim64 to[]) {
    for (int i = 0; i < n; i++)
        to[i] = (fftw_iodim64){from[i].n, from[i].in, from[i].out};
}

static void *make(const struct plan *plan, void *in, void *out, unsigned flags) {
    const struct fftnd__serial_problem *problem = &plan->problem;
    const struct precision *precision = plan->precision;
    fftw_iodim64 dims[REDIST_MAX_NDIMS], loops[REDIST_MAX_NDIMS];
    fftw_r2r_kind r2r[REDIST_MAX_NDIMS];
    copy_loops(problem->naxes, problem->axes, dims);
    copy_loops(problem->nloops, problem->loops, loops);
    switch (problem->kind) {
    case FFTND_C2C:
        return precision->c2c(problem->naxes, dims, problem->nloops, loops, in, out,
                              problem->direction == REDIST_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD,
                              flags);
    case FFTND_R2C:
        return (problem->direction == REDIST_FORWARD ? precision->r2c : precision->c2r)(
            problem->naxes, dims, problem->nloops, loops, in, out, flags);
    default:
        for (int i = 0; i < problem->naxes; i++)
            r2r[i] = kinds[problem->r2r[i]];
        return precision->r2r(problem->naxes, dims, problem->nloops, loops, in, out, r2r, flags);
    }
}

static void (*choose_run(const struct plan *plan))(void *, void *, void *) {
    const struct precision *precision = plan->precision;
    switch (plan->problem.kind) {
    case FFTND_C2C:
        return precision->run_c2c;
    case FFTND_R2C:
        return plan->problem.direction == REDIST_FORWARD ? precision->run_r2c : precision->run_c2r;
    default:
        return precision->run_r2r;
    }
}

static unsigned keep_flag(const struct fftnd__serial_problem *problem) {
    return problem->keep_input ? FFTW_PRESERVE_INPUT : 0;
}

static int create(const struct fftnd__serial_problem *problem, void *in, void *out, void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->problem = *problem;
    plan->precision = problem->precision == FFTND_DOUBLE ? &fftw_table : &fftwf_table;
    plan->run = choose_run(plan);
    plan->precision->limit_time(problem->seconds);
    plan->aligned = make(plan, in, out, efforts[problem->effort] | keep_flag(problem));
    plan->precision->limit_time(FFTW_NO_TIMELIMIT);
    if (plan->aligned == NULL) {
        redist_release(plan);
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL,
                              "FFTW made no plan for a transform over %d axes", problem->naxes);
    }
    *result = plan;
    return REDIST_OK;
}

static int make_unaligned(struct plan *plan, void *in, void *out) {
    if (plan->unaligned == NULL) /* FFTW_ESTIMATE leaves the user's arrays alone */
        plan->unaligned =
            make(plan, in, out, FFTW_ESTIMATE | FFTW_UNALIGNED | keep_flag(&plan->problem));
    if (plan->unaligned == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL,
                              "FFTW made no plan for unaligned arrays");
    return REDIST_OK;
}

static int execute(void *data, void *in, void *out) {
    struct plan *plan = data;
    if (plan->precision->alignment(in) == 0 && plan->precision->alignment(out) == 0) {
        plan->run(plan->aligned, in, out);
        return REDIST_OK;
    }
    int code = make_unaligned(plan, in, out);
    if (code == REDIST_OK)
        plan->run(plan->unaligned, in, out);
    return code;
}

static void destroy(void *data) {
    struct plan *plan = data;
    if (plan->aligned != NULL)
        plan->precision->destroy(plan->aligned);
    if (plan->unaligned != NULL)
        plan->precision->destroy(plan->unaligned);
    redist_release(plan);
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, double factor,
                 void *stream) {
    (void)stream;
    if (precision == FFTND_DOUBLE) {
        double *values = array;
        for (size_t i = 0; i < bytes / sizeof *values; i++)
            values[i] *= factor;
    } else {
        float *values = array, single = (float)factor;
        for (size_t i = 0; i < bytes / sizeof *values; i++)
            values[i] *= single;
    }
    return REDIST_OK;
}

static const char *absent(void) {
    return NULL;
}

static int check(const char *function, const char *name, const void *array, size_t bytes) {
    (void)function, (void)name, (void)array, (void)bytes;
    return REDIST_OK;
}

const struct fftnd__serial fftnd__serial_fftw = {.name = "fftw",
                                                 .space = REDIST_SPACE_HOST,
                                                 .absent = absent,
                                                 .check = check,
                                                 .create = create,
                                                 .execute = execute,
                                                 .scale = scale,
                                                 .destroy = destroy};
