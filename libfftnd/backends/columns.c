/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library that transforms lines one by one gathers the elements of a line that lies across memory, and its vectors
 * seldom fill the widest registers: FFTW of a distribution, built for all processors of a kind, takes 1.5 to 4 times as
 * long. Here vectors hold elements of neighbouring lines, the columns, and a group of these is transformed at once.
 * Only lengths of few small factors are; whether they gain is measured beside the library.
 */
#include "columns.h"
#include "redist_support.h"

#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

/* Two scratch arrays of a group are on the stack, so that any thread may execute a plan, and fit a second-level cache
 * together. */
enum { SCRATCH_BYTES = 64 << 10, ALIGNMENT = 64 };

/* Libraries transform up to 16 elements in registers, in one pass. */
enum { MOST_PASSES = 16, SHORTEST = 17, LONGEST = 1 << 12 };

/* ---------------------------------------------------------------- passes */

/* What a pass costs: a read and a write of all elements, and for 16 of them registers that most processors do not
 * have. */
static const struct {
    int radix, cost;
} radices[] = {{8, 5}, {6, 5}, {16, 8}, {5, 5}, {4, 5}, {7, 5}, {3, 5}, {2, 5}};
enum { RADICES = sizeof radices / sizeof *radices };

struct factors {
    int npasses, cost, radix[MOST_PASSES];
};

/* The cheapest passes for what is left of a length, behind those of `now`. */
static void find_cheapest(int left, struct factors *now, struct factors *best) {
    if (left == 1 && now->npasses > 1 && (best->npasses == 0 || now->cost < best->cost))
        *best = *now;
    if (left == 1 || now->npasses == MOST_PASSES || (best->npasses > 0 && now->cost >= best->cost))
        return;
    for (int i = 0; i < RADICES; i++)
        if (left % radices[i].radix == 0) {
            now->radix[now->npasses++] = radices[i].radix;
            now->cost += radices[i].cost;
            find_cheapest(left / radices[i].radix, now, best);
            now->cost -= radices[i].cost;
            now->npasses--;
        }
}

/* The widest registers. */
static const struct fftnd__column_loops *loops_here(void) {
    int i = 0;
    while (!fftnd__column_loops[i]->runs_here())
        i++;
    return fftnd__column_loops[i];
}

/* 0 passes: such a length has none. */
static struct factors factors_of(const struct fftnd__column_loops *loops, redist_index n) {
    struct factors now = {0}, best = {0};
    if (n > 1 && n <= LONGEST && 2 * n * loops->register_bytes <= SCRATCH_BYTES)
        find_cheapest((int)n, &now, &best);
    return best;
}

/* ---------------------------------------------------------------- which problems */

static int is_served(const struct fftnd__serial_problem *problem) {
    return problem->pool == NULL && problem->precision <= FFTND_FLOAT &&
           problem->library->shares_columns;
}

/* ---------------------------------------------------------------- plans */

struct plan {
    fftnd__run_columns *run;
    size_t item;
    redist_index n, columns, width; /* of a line; neighbours; of these in a group */
    struct fftnd__loop axis;        /* strides in bytes */
    int nloops;                     /* over groups, the last one along the neighbours */
    struct fftnd__loop loops[REDIST_MAX_NDIMS];
    long long ngroups;
    int backward, npasses;
    struct fftnd__column_pass passes[MOST_PASSES];
    char *factors;
};

/* Loops that go on where the neighbours end are one with them. */
static void merge_loops(const struct fftnd__serial_problem *problem, struct plan *plan,
                        int merged[REDIST_MAX_NDIMS]) {
    int neighbours = fftnd__find_neighbours(problem);
    plan->columns = problem->loops[neighbours].n;
    merged[neighbours] = 1;
    for (int i = 0; i < problem->nloops; i++) {
        const struct fftnd__loop *loop = &problem->loops[i];
        if (merged[i] || loop->in != plan->columns || loop->out != plan->columns)
            continue;
        plan->columns *= loop->n;
        merged[i] = 1;
        i = -1; /* another one may go on from there */
    }
}

/* Columns of a group. */
static redist_index width_of(const struct fftnd__column_loops *loops, size_t item) {
    return 2 * loops->register_bytes / (redist_index)item;
}

static void set_loops(struct plan *plan, const struct fftnd__serial_problem *problem) {
    ptrdiff_t item = (ptrdiff_t)plan->item;
    int merged[REDIST_MAX_NDIMS] = {0};
    merge_loops(problem, plan, merged);
    plan->axis =
        (struct fftnd__loop){plan->n, problem->axes[0].in * item, problem->axes[0].out * item};
    for (int i = 0; i < problem->nloops; i++)
        if (!merged[i])
            plan->loops[plan->nloops++] = (struct fftnd__loop){
                problem->loops[i].n, problem->loops[i].in * item, problem->loops[i].out * item};
    plan->loops[plan->nloops++] = (struct fftnd__loop){
        (plan->columns + plan->width - 1) / plan->width, plan->width * item, plan->width * item};
    plan->ngroups = 1;
    for (int i = 0; i < plan->nloops; i++)
        plan->ngroups *= plan->loops[i].n;
}

static void store_factor(char *to, size_t item, long double angle) {
    if (item == 2 * sizeof(float))
        memcpy(to, (float[]){(float)cosl(angle), (float)sinl(angle)}, item);
    else
        memcpy(to, (double[]){(double)cosl(angle), (double)sinl(angle)}, item);
}

/* Those of a pass; returns where they end. */
static char *set_factors(const struct fftnd__column_pass *pass, size_t item, char *to) {
    const long double turn = 2 * 3.141592653589793238462643383279502884L;
    for (int j = 0; j < pass->left / pass->radix; j++)
        for (int i = 1; i < pass->radix; i++, to += item)
            store_factor(to, item, turn * j * i / pass->left);
    return to;
}

static void set_passes(struct plan *plan, const struct factors *factors) {
    char *to = plan->factors;
    int left = (int)plan->n, done = 1;
    plan->npasses = factors->npasses;
    for (int i = 0; i < factors->npasses; i++) {
        int radix = factors->radix[i];
        plan->passes[i] = (struct fftnd__column_pass){radix, left, done, to};
        to = set_factors(&plan->passes[i], plan->item, to);
        left /= radix;
        done *= radix;
    }
}

static void destroy(void *data) {
    struct plan *plan = data;
    redist_release(plan->factors);
    redist_release(plan);
}

int fftnd__columns_create(const struct fftnd__column_loops *loops,
                          const struct fftnd__serial_problem *problem, void **result) {
    redist_index n = problem->axes[0].n;
    const struct factors factors = factors_of(loops, n);
    if (factors.npasses == 0)
        return redist_fail_in("libfftnd", REDIST_ERR_SERIAL, "no columns of %lld elements",
                              (long long)n);
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan != NULL) {
        plan->item = fftnd__item_bytes(problem->precision, 0);
        plan->n = n;
        plan->factors = redist_calloc((size_t)(factors.npasses * n), plan->item);
    }
    if (plan == NULL || plan->factors == NULL) {
        redist_release(plan);
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    }
    plan->run = loops->run[problem->precision];
    plan->width = width_of(loops, plan->item);
    plan->backward = problem->direction == REDIST_BACKWARD;
    set_loops(plan, problem);
    set_passes(plan, &factors);
    *result = plan;
    return REDIST_OK;
}

static int create(const struct fftnd__serial_problem *problem, void *in, void *out, void **plan) {
    (void)in;
    (void)out;
    return fftnd__columns_create(loops_here(), problem, plan);
}

/* ---------------------------------------------------------------- running */

/* Fewer columns than a group has are transformed in scratch memory, beside columns of zeros: in that which is free
 * after the first pass, and back through that which the last pass does not read. */
static void transform_few(const struct plan *plan, const char *in, char *out, redist_index columns,
                          void *const scratch[2]) {
    size_t bytes = (size_t)columns * plan->item, row = (size_t)plan->width * plan->item;
    char *before = scratch[0], *after = scratch[plan->npasses % 2];
    struct fftnd__columns group = {before, after, (ptrdiff_t)row, (ptrdiff_t)row, plan->backward};
    memset(before, 0, (size_t)plan->n * row);
    for (redist_index i = 0; i < plan->n; i++)
        memcpy(before + (size_t)i * row, in + i * plan->axis.in, bytes);
    plan->run(plan->npasses, plan->passes, &group, scratch);
    for (redist_index i = 0; i < plan->n; i++)
        memcpy(out + i * plan->axis.out, after + (size_t)i * row, bytes);
}

static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    _Alignas(ALIGNMENT) char memory[2][SCRATCH_BYTES];
    void *const scratch[2] = {memory[0], memory[1]};
    for (long long i = 0; i < plan->ngroups; i++) {
        struct fftnd__columns group = {in, out, plan->axis.in, plan->axis.out, plan->backward};
        redist_index columns = fftnd__neighbour_group(plan->nloops, plan->loops, plan->columns,
                                                      plan->width, i, &group.in, &group.out);
        if (columns == plan->width)
            plan->run(plan->npasses, plan->passes, &group, scratch);
        else
            transform_few(plan, group.in, group.out, columns, scratch);
    }
    return REDIST_OK;
}

const struct fftnd__serial fftnd__serial_columns = {.name = "columns",
                                                    .space = REDIST_SPACE_HOST,
                                                    .create = create,
                                                    .execute = execute,
                                                    .destroy = destroy};

/* ---------------------------------------------------------------- whether they gain */

/* As many columns as tiles have, at least, and a distance of rows that is no power of two, as in tiles. */
enum { TRIAL_COLUMNS = 64, TRIAL_PITCH = 68, TRIALS = 5 };

/* Percent of the library's time. */
enum { NO_GAIN = 100, GUESSED_SHARE = 60 };

/* The library has found nearly its best plan of such a length then. */
static const double trial_seconds = 0.02;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The least time of some runs, which take at least some 0.1 ms each to be above what the clock resolves. */
static void time_both(const struct fftnd__serial *const libraries[2], void *const plans[2],
                      redist_index n, void *array, double seconds[2]) {
    redist_index repeats = 1 + 1000 / n;
    for (int trial = 0; trial < 2 * TRIALS; trial++) {
        double begin = now();
        for (redist_index i = 0; i < repeats; i++)
            libraries[trial % 2]->execute(plans[trial % 2], array, array);
        double once = now() - begin;
        if (trial < 2 || once < seconds[trial % 2])
            seconds[trial % 2] = once;
    }
}

/* Percent of the library's time that columns take; 0 = this could not be tried. */
static int measure_share(const struct fftnd__serial_problem *problem, redist_index n) {
    const struct fftnd__serial *const libraries[2] = {&fftnd__serial_columns, problem->library};
    struct fftnd__serial_problem trial = *problem;
    size_t bytes = (size_t)n * TRIAL_PITCH * fftnd__item_bytes(problem->precision, 0);
    void *plans[2] = {NULL, NULL}, *memory = redist_calloc(bytes + ALIGNMENT, 1);
    double seconds[2] = {0, 0};
    if (memory == NULL)
        return 0;
    char *array = (char *)memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT);
    trial.kind = FFTND_C2C;
    trial.keep_input = 0;
    trial.seconds = trial_seconds;
    trial.naxes = trial.nloops = 1;
    trial.axes[0] = (struct fftnd__loop){n, TRIAL_PITCH, TRIAL_PITCH};
    trial.loops[0] = (struct fftnd__loop){TRIAL_COLUMNS, 1, 1};
    if (libraries[0]->create(&trial, array, array, &plans[0]) == REDIST_OK &&
        libraries[1]->create(&trial, array, array, &plans[1]) == REDIST_OK)
        time_both(libraries, plans, n, array, seconds);
    for (int i = 0; i < 2; i++)
        if (plans[i] != NULL)
            libraries[i]->destroy(plans[i]);
    redist_release(memory);
    double share = seconds[1] > 0 ? 1 + 100 * seconds[0] / seconds[1] : 0;
    return share < NO_GAIN ? (int)share : NO_GAIN;
}

/* Unmeasured, registers wider than a complex number are taken for what the library does not fill. */
static int find_share(const struct fftnd__serial_problem *problem, redist_index n) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static signed char known[FFTND_FLOAT + 1][LONGEST + 1];
    if (!is_served(problem) || n < SHORTEST || factors_of(loops_here(), n).npasses == 0)
        return NO_GAIN;
    if (problem->effort == FFTND_ESTIMATE)
        return loops_here()->register_bytes > 16 ? GUESSED_SHARE : NO_GAIN;
    signed char *share = &known[problem->precision][n];
    pthread_mutex_lock(&lock);
    if (*share == 0)
        *share = (signed char)measure_share(problem, n);
    int found = *share > 0 ? *share : NO_GAIN;
    pthread_mutex_unlock(&lock);
    return found;
}

int fftnd__columns_gain(const struct fftnd__serial_problem *problem, redist_index n) {
    return find_share(problem, n) < NO_GAIN;
}

redist_index fftnd__columns_fill(const struct fftnd__serial_problem *problem, redist_index n,
                                 redist_index columns) {
    redist_index width = width_of(loops_here(), fftnd__item_bytes(problem->precision, 0));
    return fftnd__columns_gain(problem, n) ? (columns + width - 1) / width * width : columns;
}

/* A group that is not full takes about one and a half times as long as a full one. */
int fftnd__columns_suit(const struct fftnd__serial_problem *problem, const void *in,
                        const void *out) {
    struct plan plan = {.item = fftnd__item_bytes(problem->precision, 0)};
    int merged[REDIST_MAX_NDIMS] = {0};
    if (!is_served(problem) || !fftnd__has_neighbours(problem, 1, in == out))
        return 0;
    merge_loops(problem, &plan, merged);
    redist_index width = width_of(loops_here(), plan.item), rest = plan.columns % width;
    redist_index columns = plan.columns - rest + (rest > 0 ? width + width / 2 : 0);
    return plan.columns >= width / 4 &&
           find_share(problem, problem->axes[0].n) * columns < NO_GAIN * plan.columns;
}
