/* SPDX-License-Identifier: BSD-3-Clause */
/* FFTW as the serial library, through its 64-bit guru interface. */
#include "lines.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdatomic.h>

/* Runs the jobs of a transform, `work` on each: a callback of FFTW. */
typedef void run_loop(void *(*work)(char *), char *jobs, size_t bytes, int njobs, void *data);

static const fftw_r2r_kind kinds[] = {
    [FFTND_DCT1] = FFTW_REDFT00, [FFTND_DCT2] = FFTW_REDFT10, [FFTND_DCT3] = FFTW_REDFT01,
    [FFTND_DCT4] = FFTW_REDFT11, [FFTND_DST1] = FFTW_RODFT00, [FFTND_DST2] = FFTW_RODFT10,
    [FFTND_DST3] = FFTW_RODFT01, [FFTND_DST4] = FFTW_RODFT11, [FFTND_R2HC] = FFTW_R2HC,
    [FFTND_HC2R] = FFTW_HC2R,    [FFTND_DHT] = FFTW_DHT};

static const unsigned efforts[] = {[FFTND_ESTIMATE] = FFTW_ESTIMATE,
                                   [FFTND_MEASURE] = FFTW_MEASURE,
                                   [FFTND_PATIENT] = FFTW_PATIENT};

/* A plan, with what is needed of its problem. */
struct plan {
    const struct precision *precision;
    void *aligned;             /* for arrays as aligned as the planner's */
    _Atomic(void *) unaligned; /* for any others; made when first needed */
    enum fftnd_kind kind;
    enum fftnd_precision number; /* of the precision */
    int direction, keep_input, naxes, nloops;
    double seconds;
    const struct lines__threads *threads;
    fftw_r2r_kind r2r[REDIST_MAX_NDIMS];
    fftw_iodim64 loops[]; /* of the axes, then over these */
};

struct precision {
    void *(*make)(const struct plan *plan, void *in, void *out, unsigned flags);
    void (*run)(const struct plan *plan, void *made, void *in, void *out);
    void (*scale)(void *array, size_t bytes, long double factor);
    void (*destroy)(void *plan);
    int (*alignment)(void *array);
    void (*limit_time)(double seconds); /* of planning */
    void (*make_safe)(void);            /* for planning in several threads */
    int (*init_threads)(void);
    void (*set_threads)(int n);
    int (*threads)(void);
    void (*set_loop)(run_loop *loop, void *data);
    char *(*tell)(void);
    int (*learn)(const char *wisdom);
};

/* fftw_iodim64, fftwf_iodim64, fftwl_iodim64 and the r2r kinds are the same types. */
#define PRECISION(X, number, name)                                                                 \
    static void *X##_make(const struct plan *p, void *in, void *out, unsigned flags) {             \
        int sign = p->direction == REDIST_BACKWARD ? FFTW_BACKWARD : FFTW_FORWARD, n = p->naxes,   \
            m = p->nloops;                                                                         \
        const fftw_iodim64 *axes = p->loops, *loops = axes + n;                                    \
        if (p->kind == FFTND_C2C)                                                                  \
            return X##_plan_guru64_dft(n, axes, m, loops, in, out, sign, flags);                   \
        if (p->kind == FFTND_R2R)                                                                  \
            return X##_plan_guru64_r2r(n, axes, m, loops, in, out, p->r2r, flags);                 \
        if (p->direction == REDIST_BACKWARD)                                                       \
            return X##_plan_guru64_dft_c2r(n, axes, m, loops, in, out, flags);                     \
        return X##_plan_guru64_dft_r2c(n, axes, m, loops, in, out, flags);                         \
    }                                                                                              \
    static void X##_run(const struct plan *p, void *made, void *in, void *out) {                   \
        if (p->kind == FFTND_C2C)                                                                  \
            X##_execute_dft(made, in, out);                                                        \
        else if (p->kind == FFTND_R2R)                                                             \
            X##_execute_r2r(made, in, out);                                                        \
        else if (p->direction == REDIST_BACKWARD)                                                  \
            X##_execute_dft_c2r(made, in, out);                                                    \
        else                                                                                       \
            X##_execute_dft_r2c(made, in, out);                                                    \
    }                                                                                              \
    static void X##_scale(void *array, size_t bytes, long double factor) {                         \
        number *values = array, rounded = (number)factor;                                          \
        for (size_t i = 0; i < bytes / sizeof *values; i++)                                        \
            values[i] *= rounded;                                                                  \
    }                                                                                              \
    static void X##_destroy(void *plan) {                                                          \
        X##_destroy_plan(plan);                                                                    \
    }                                                                                              \
    static int X##_alignment(void *array) {                                                        \
        return X##_alignment_of(array);                                                            \
    }                                                                                              \
    static const struct precision X##_table = {.make = X##_make,                                   \
                                               .run = X##_run,                                     \
                                               .scale = X##_scale,                                 \
                                               .destroy = X##_destroy,                             \
                                               .alignment = X##_alignment,                         \
                                               .limit_time = X##_set_timelimit,                    \
                                               .make_safe = X##_make_planner_thread_safe,          \
                                               .init_threads = X##_init_threads,                   \
                                               .set_threads = X##_plan_with_nthreads,              \
                                               .threads = X##_planner_nthreads,                    \
                                               .set_loop = X##_threads_set_callback,               \
                                               .tell = X##_export_wisdom_to_string,                \
                                               .learn = X##_import_wisdom_from_string};
LINES__FFTW_PRECISIONS(PRECISION)

enum { PRECISIONS = FFTND_LONG_DOUBLE + 1 };
#define ADDRESS(X, number, precision) [precision] = &X##_table,
/* NULL = the build has no library of FFTW in that precision. */
static const struct precision *const precisions[PRECISIONS] = {LINES__FFTW_PRECISIONS(ADDRESS)};

#define LACKS(precision, words, option)                                                            \
    "precision = " #precision ", but libfftnd was built without FFTW in " words                    \
    ": install Debian's libfftw3-dev, or FFTW configured with --enable-" option                    \
    " --enable-threads, and build libfftnd again"

static const char *lacks(enum fftnd_precision precision) {
    static const char *const reasons[PRECISIONS] = {
        [FFTND_FLOAT] = LACKS(FFTND_FLOAT, "float", "float"),
        [FFTND_LONG_DOUBLE] = LACKS(FFTND_LONG_DOUBLE, "long double", "long-double")};
    return precisions[precision] == NULL ? reasons[precision] : NULL;
}

/* ---------------------------------------------------------------- threads */

/* FFTW's planner works for one thread at a time, and its settings of threads and time are global. This lock is for the
 * library's own plans; FFTW's, which fftw_make_planner_thread_safe installs, is for those of the program too. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;
static int users[PRECISIONS]; /* executions of plans with threads, by precision */

/* Threads of the transform that this thread executes; NULL = none, or FFTW is in one of its loops. */
static _Thread_local const struct lines__threads *threads_here;

struct jobs {
    void *(*work)(char *);
    char *first;
    size_t bytes;
    int count, step;
};

static int do_jobs(void *data, int thread) {
    const struct jobs *jobs = data;
    for (int job = thread; job < jobs->count; job += jobs->step)
        jobs->work(jobs->first + (size_t)job * jobs->bytes);
    return REDIST_OK;
}

/* Runs FFTW's jobs in threads of the problem: its own would outlive the plans. */
static void run_jobs(void *(*work)(char *), char *first, size_t bytes, int njobs, void *data) {
    (void)data;
    const struct lines__threads *threads = threads_here;
    struct jobs jobs = {work, first, bytes, njobs, threads != NULL ? threads->count : 1};
    threads_here = NULL;
    if (threads == NULL)
        do_jobs(&jobs, 0);
    else
        threads->run(threads, do_jobs, &jobs);
    threads_here = threads;
}

/* Has FFTW's loops run in threads of the problem while a plan with threads executes, else as the program set them. */
static void use_threads(const struct plan *plan, int begins) {
    if (plan->threads == NULL)
        return;
    int *n = &users[plan->number];
    pthread_mutex_lock(&planner);
    *n += begins ? 1 : -1;
    if (*n == begins) /* the first to begin, the last to end */
        plan->precision->set_loop(begins ? run_jobs : NULL, NULL);
    pthread_mutex_unlock(&planner);
    threads_here = begins ? plan->threads : NULL;
}

/* ---------------------------------------------------------------- planning */

static void copy_loops(int n, const struct lines__loop from[], fftw_iodim64 to[]) {
    for (int i = 0; i < n; i++)
        to[i] = (fftw_iodim64){from[i].n, from[i].in, from[i].out};
}

/* NULL without memory. */
static struct plan *describe(const struct lines__problem *problem) {
    size_t n = (size_t)(problem->naxes + problem->nloops);
    struct plan *plan = redist_calloc(1, sizeof *plan + n * sizeof *plan->loops);
    if (plan == NULL)
        return NULL;
    plan->precision = precisions[problem->precision];
    plan->kind = problem->kind;
    plan->number = problem->precision;
    plan->direction = problem->direction;
    plan->keep_input = problem->keep_input;
    plan->naxes = problem->naxes;
    plan->nloops = problem->nloops;
    plan->seconds = problem->seconds;
    plan->threads = problem->threads;
    copy_loops(problem->naxes, problem->axes, plan->loops);
    copy_loops(problem->nloops, problem->loops, plan->loops + problem->naxes);
    for (int i = 0; i < problem->naxes && problem->kind == FFTND_R2R; i++)
        plan->r2r[i] = kinds[problem->r2r[i]];
    return plan;
}

static void *make(const struct plan *plan, void *in, void *out, unsigned flags) {
    return plan->precision->make(plan, in, out,
                                 flags | (plan->keep_input ? FFTW_PRESERVE_INPUT : 0));
}

static void make_planners_safe(void) {
    for (int i = 0; i < PRECISIONS; i++)
        if (precisions[i] != NULL)
            precisions[i]->make_safe();
}

/* Plans for the problem's threads, whatever number the program has set. */
static void *make_locked(const struct plan *plan, void *in, void *out, unsigned flags) {
    const struct precision *precision = plan->precision;
    int wanted = plan->threads != NULL ? plan->threads->count : 1;
    static pthread_once_t safe = PTHREAD_ONCE_INIT;
    pthread_once(&safe, make_planners_safe);
    use_threads(plan, 1);
    pthread_mutex_lock(&planner);
    if (wanted > 1)
        precision->init_threads();
    int before = precision->threads();
    if (before != wanted)
        precision->set_threads(wanted);
    int measures = (flags & FFTW_ESTIMATE) == 0; /* else the program's limit can stay */
    if (measures)
        precision->limit_time(plan->seconds);
    void *made = make(plan, in, out, flags);
    if (measures)
        precision->limit_time(FFTW_NO_TIMELIMIT);
    if (before != wanted)
        precision->set_threads(before);
    pthread_mutex_unlock(&planner);
    use_threads(plan, 0);
    return made;
}

/* Nonzero for contiguous lines of complex floats from neighbouring lines whose results are an odd number of elements
 * apart: codelets of FFTW 3.3.10 that expect aligned arrays (n2fv, n2bv) crash there. */
static int needs_unaligned(const struct lines__problem *problem) {
    int contiguous = 0, odd = 0;
    for (int i = 0; i < problem->naxes + problem->nloops; i++) {
        const struct lines__loop *loop = lines__loop_at(problem, i);
        contiguous |= i < problem->naxes && loop->n > 1 && loop->out == 1;
        odd |= loop->n > 1 && loop->in == 1 && loop->out != 1 && loop->out % 2 != 0;
    }
    return problem->kind == FFTND_C2C && problem->precision == FFTND_FLOAT && contiguous && odd;
}

/* Lengths that FFTW transforms in one sweep, by a codelet. */
static int has_codelet(redist_index n) {
    return n <= 16 || n == 20 || n == 25 || n == 32;
}

/* Nonzero for complex lines of such lengths in arrays of second-level caches: FFTW takes up to 40 ms to measure plans
 * that are as fast as its estimated ones (docs/performance-notebook.md, "Trials beside estimates"). */
static int needs_no_measurement(const struct lines__problem *problem) {
    enum { CACHE_BYTES = 1 << 20 };
    size_t bytes = lines__item_bytes(problem->precision, 0);
    int is_simple = problem->kind == FFTND_C2C && problem->threads == NULL;
    for (int i = 0; i < problem->naxes + problem->nloops; i++) {
        redist_index n = lines__loop_at(problem, i)->n;
        bytes *= (size_t)n;
        is_simple &= i >= problem->naxes || has_codelet(n);
    }
    return is_simple && bytes <= CACHE_BYTES;
}

static unsigned effort_of(const struct lines__problem *problem) {
    int estimates = problem->effort == FFTND_MEASURE && needs_no_measurement(problem);
    return efforts[estimates ? FFTND_ESTIMATE : problem->effort];
}

static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    struct plan *plan = describe(problem);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->aligned = make_locked(
        plan, in, out, effort_of(problem) | (needs_unaligned(problem) ? FFTW_UNALIGNED : 0));
    if (plan->aligned == NULL) {
        redist_release(plan);
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL,
                              "FFTW made no plan for a transform over %d axes", problem->naxes);
    }
    *result = plan;
    return REDIST_OK;
}

/* Plans once for unaligned arrays; several threads may call it at once. */
static void *make_unaligned(struct plan *plan, void *in, void *out) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    void *made = atomic_load(&plan->unaligned);
    if (made == NULL) /* FFTW_ESTIMATE leaves the user's arrays alone */
        made = make_locked(plan, in, out, FFTW_ESTIMATE | FFTW_UNALIGNED);
    atomic_store(&plan->unaligned, made);
    pthread_mutex_unlock(&one_at_a_time);
    return made;
}

static int execute(void *data, void *in, void *out) {
    struct plan *plan = data;
    void *suited = plan->aligned;
    if (plan->precision->alignment(in) != 0 || plan->precision->alignment(out) != 0) {
        suited = atomic_load(&plan->unaligned);
        if (suited == NULL)
            suited = make_unaligned(plan, in, out);
        if (suited == NULL)
            return redist_fail_in("libfftnd", REDIST_ERR_SERIAL,
                                  "FFTW made no plan for unaligned arrays");
    }
    use_threads(plan, 1);
    plan->precision->run(plan, suited, in, out);
    use_threads(plan, 0);
    return REDIST_OK;
}

static void destroy_made(const struct plan *plan, void *made) {
    pthread_mutex_lock(&planner);
    if (made != NULL)
        plan->precision->destroy(made);
    pthread_mutex_unlock(&planner);
}

static void destroy(void *data) {
    struct plan *plan = data;
    destroy_made(plan, plan->aligned);
    destroy_made(plan, plan->unaligned);
    redist_release(plan);
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    (void)stream;
    precisions[precision]->scale(array, bytes, factor);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- wisdom of FFTW */

static char *tell_found(enum fftnd_precision precision) {
    pthread_mutex_lock(&planner);
    char *text = precisions[precision]->tell();
    pthread_mutex_unlock(&planner);
    return text;
}

static void take_found(enum fftnd_precision precision, const char *text) {
    pthread_mutex_lock(&planner);
    (void)precisions[precision]->learn(text); /* else plans are measured */
    pthread_mutex_unlock(&planner);
}

const struct lines__library lines__library_fftw = {.name = "fftw",
                                                   .space = REDIST_SPACE_HOST,
                                                   .yields_lines = 1,
                                                   .lacks = lacks,
                                                   .create = create,
                                                   .execute = execute,
                                                   .scale = scale,
                                                   .destroy = destroy,
                                                   .tell_found = tell_found,
                                                   .take_found = take_found};
