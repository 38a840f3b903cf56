/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms of neighbouring lines of prime length n, by Rader's cyclic convolution (C. M. Rader, Proc. IEEE 56, 1968,
 * page 1107): the indices of all elements but the first are the powers of a primitive root, so that the transform is a
 * cyclic convolution of n - 1 elements. FFTW does that line by line, or with lines of more than twice the length; here
 * rows of neighbouring lines are put in order, so that vectors hold elements of several lines.
 */
#include "../neighbours.h"
#include "columns.h"
#include "measure.h"

#include <math.h>
#include <string.h>

/* Rows are on the stack, so that any thread may execute a plan, and fit a second-level cache. FFTW transforms shorter
 * lines in registers, and fewer lines do not fill vectors. PERCENT: lines of 17 to 257 elements take 29 to 75 percent
 * of FFTW's time (docs/performance-notebook.md, "Lines of prime length"). */
enum {
    ROWS_BYTES = 64 << 10,
    ALIGNMENT = 64,
    FEWEST_LINES = 4,
    SHORTEST = 17,
    MOST_FACTOR = 13,
    PERCENT = 50
};

/* ---------------------------------------------------------------- numbers of each precision */

/* Multiplies `m` transformed rows by factors. Row -1 is element 0 of each line, and becomes element 0 of its transform;
 * before, it is added to row 0, and so to all elements when the rows are transformed back. */
typedef void multiply_rows(void *rows, redist_index m, redist_index pitch, redist_index width,
                           const void *factors);

#define NUMBERS(name, T)                                                                           \
    static void name##_first(T *restrict row, T *restrict first, redist_index width, T re, T im) { \
        for (redist_index i = 0; i < width; i++) {                                                 \
            T a = row[2 * i], b = row[2 * i + 1], x = first[2 * i], y = first[2 * i + 1];          \
            first[2 * i] = x + a;                                                                  \
            first[2 * i + 1] = y + b;                                                              \
            row[2 * i] = x + a * re - b * im;                                                      \
            row[2 * i + 1] = y + a * im + b * re;                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name##_row(T *row, redist_index width, T re, T im) {                               \
        for (redist_index i = 0; i < width; i++) {                                                 \
            T a = row[2 * i], b = row[2 * i + 1];                                                  \
            row[2 * i] = a * re - b * im;                                                          \
            row[2 * i + 1] = a * im + b * re;                                                      \
        }                                                                                          \
    }                                                                                              \
    static void name##_multiply(void *rows, redist_index m, redist_index pitch,                    \
                                redist_index width, const void *factors) {                         \
        const T *factor = factors;                                                                 \
        T *row = rows;                                                                             \
        name##_first(row, row - 2 * pitch, width, factor[0], factor[1]);                           \
        for (redist_index k = 1; k < m; k++)                                                       \
            name##_row(row + 2 * k * pitch, width, factor[2 * k], factor[2 * k + 1]);              \
    }
NUMBERS(single, float)
NUMBERS(real, double)
NUMBERS(extended, long double)

static multiply_rows *const multiply[] = {[FFTND_DOUBLE] = real_multiply,
                                          [FFTND_FLOAT] = single_multiply,
                                          [FFTND_LONG_DOUBLE] = extended_multiply};

/* ---------------------------------------------------------------- which problems */

static int is_prime(redist_index n) {
    for (redist_index factor = 2; factor * factor <= n; factor++)
        if (n % factor == 0)
            return 0;
    return n > 1;
}

/* Lines that fit the rows at once. */
static redist_index most_lines(redist_index n, size_t item) {
    redist_index most = ROWS_BYTES / (redist_index)item / n,
                 aligned = ALIGNMENT / (redist_index)item;
    return most / aligned * aligned;
}

/* Nonzero for a prime number of elements of `item` bytes if libraries transform one element less fast. */
static int is_fast(redist_index n, size_t item) {
    redist_index rest = n - 1;
    if (n < SHORTEST || most_lines(n, item) < FEWEST_LINES || !is_prime(n))
        return 0;
    for (redist_index factor = 2; factor <= MOST_FACTOR; factor++)
        while (rest % factor == 0)
            rest /= factor;
    return rest == 1;
}

static int percent(const struct lines__problem *problem, const void *in, const void *out) {
    int is_suited = problem->threads == NULL && problem->general->space == REDIST_SPACE_HOST &&
                    lines__has_neighbours(problem, FEWEST_LINES, in == out) &&
                    is_fast(problem->axes[0].n, lines__item_bytes(problem->precision, 0));
    return is_suited ? PERCENT : 0;
}

/* ---------------------------------------------------------------- plans */

struct plan {
    enum fftnd_precision precision;
    size_t item;
    redist_index n, lines, width,
        pitch; /* neighbouring lines; lines of a block of rows; elements between rows */
    struct lines__loop axis; /* strides in bytes */
    int nloops;              /* over blocks of rows, the last one along the lines */
    struct lines__loop loops[REDIST_MAX_NDIMS];
    long long nblocks;
    struct lines__plan serial[2]; /* of rows, forward and backward */
    char *factors;                /* the transform of the roots of one, n - 1 elements */
    redist_index *
        to; /* row k is read from element to[n - 1 - k], to[0] for k = 0, and written to element to[k] */
};

static redist_index find_primitive_root(redist_index n) {
    for (redist_index root = 2;; root++) {
        redist_index power = root, order = 1;
        for (; power != 1; order++)
            power = power * root % n;
        if (order == n - 1)
            return root;
    }
}

/* The powers of a primitive root. */
static void set_order(struct plan *plan) {
    redist_index root = find_primitive_root(plan->n), power = 1;
    for (redist_index k = 0; k < plan->n - 1; k++, power = power * root % plan->n)
        plan->to[k] = power;
}

static redist_index row_from(const struct plan *plan, redist_index k) {
    return plan->to[k == 0 ? 0 : plan->n - 1 - k];
}

/* Sets the loops for `width` lines in a block of rows. */
static void set_loops(struct plan *plan, const struct lines__problem *problem, redist_index width) {
    ptrdiff_t item = (ptrdiff_t)plan->item;
    int neighbours = lines__find_neighbours(problem);
    redist_index aligned = ALIGNMENT / item, blocks = (plan->lines + width - 1) / width;
    plan->width = width;
    plan->pitch = (width + aligned - 1) / aligned * aligned;
    plan->nloops = 0;
    for (int i = 0; i < problem->nloops; i++)
        if (i != neighbours)
            plan->loops[plan->nloops++] = (struct lines__loop){
                problem->loops[i].n, problem->loops[i].in * item, problem->loops[i].out * item};
    plan->loops[plan->nloops++] = (struct lines__loop){blocks, width * item, width * item};
    plan->nblocks = 1;
    for (int i = 0; i < plan->nloops; i++)
        plan->nblocks *= plan->loops[i].n;
}

static struct lines__problem rows_of(const struct plan *plan,
                                     const struct lines__problem *problem) {
    struct lines__problem rows = *problem;
    rows.nloops = 1;
    rows.axes[0] = (struct lines__loop){plan->n - 1, plan->pitch, plan->pitch};
    rows.loops[0] = (struct lines__loop){plan->width, 1, 1};
    return rows;
}

/* Chooses the lines of a block, and the library of its rows: a group of columns, which the first-level cache holds,
 * where columns are faster; else as many lines as fit, equally many in all blocks. */
static const struct lines__library *
choose_width(struct plan *plan, const struct lines__problem *problem, const char *rows) {
    redist_index most = most_lines(plan->n, plan->item);
    redist_index group = lines__group_width(lines__column_loops_here(), problem->precision);
    group = group < most ? group : most;
    set_loops(plan, problem, group < plan->lines ? group : plan->lines);
    const struct lines__problem columns = rows_of(plan, problem);
    int percent = lines__library_columns.percent(&columns, rows, rows);
    redist_index blocks = (plan->lines + most - 1) / most;
    if (percent > 0 && percent < LINES__AS_FAST)
        return &lines__library_columns;
    set_loops(plan, problem, (plan->lines + blocks - 1) / blocks);
    return problem->general;
}

static int create_serial(struct plan *plan, const struct lines__library *library,
                         const struct lines__problem *problem, char *rows) {
    struct lines__problem own = rows_of(plan, problem);
    for (int i = 0; i < 2; i++) {
        own.direction = i == 0 ? REDIST_FORWARD : REDIST_BACKWARD;
        REDIST_TRY(lines__create(library, &own, rows, rows, &plan->serial[i]));
    }
    return REDIST_OK;
}

/* Sets the factors: the transform of the roots, as the first line of a block. */
static int set_factors(struct plan *plan, int direction, char *rows) {
    const long double turn = 2 * 3.141592653589793238462643383279502884L / (long double)plan->n;
    redist_index m = plan->n - 1;
    size_t row = (size_t)plan->pitch * plan->item;
    memset(rows, 0, (size_t)m * row);
    for (redist_index k = 0; k < m; k++) {
        long double angle = turn * (long double)plan->to[k];
        lines__store(rows + (size_t)k * row, plan->precision, cosl(angle) / (long double)m,
                     (direction == REDIST_FORWARD ? -sinl(angle) : sinl(angle)) / (long double)m);
    }
    REDIST_TRY(lines__execute(&plan->serial[0], rows, rows));
    for (redist_index k = 0; k < m; k++)
        memcpy(plan->factors + (size_t)k * plan->item, rows + (size_t)k * row, plan->item);
    return REDIST_OK;
}

static int fill(struct plan *plan, const struct lines__problem *problem) {
    size_t m = (size_t)plan->n - 1;
    _Alignas(ALIGNMENT) char rows[ROWS_BYTES];
    plan->to = redist_calloc(m, sizeof *plan->to);
    plan->factors = redist_calloc(m, plan->item);
    if (plan->to == NULL || plan->factors == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    set_order(plan);
    REDIST_TRY(create_serial(plan, choose_width(plan, problem, rows), problem, rows));
    return set_factors(plan, problem->direction, rows);
}

static void destroy(void *data) {
    struct plan *plan = data;
    for (int i = 0; i < 2; i++)
        lines__destroy(&plan->serial[i]);
    redist_release(plan->to);
    redist_release(plan->factors);
    redist_release(plan);
}

static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    struct plan *plan = redist_calloc(1, sizeof *plan);
    (void)in;
    (void)out;
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->precision = problem->precision;
    plan->item = lines__item_bytes(problem->precision, 0);
    plan->n = problem->axes[0].n;
    plan->lines = problem->loops[lines__find_neighbours(problem)].n;
    plan->axis = (struct lines__loop){plan->n, problem->axes[0].in * (ptrdiff_t)plan->item,
                                      problem->axes[0].out * (ptrdiff_t)plan->item};
    int code = fill(plan, problem);
    if (code == REDIST_OK)
        *result = plan;
    else
        destroy(plan);
    return code;
}

/* ---------------------------------------------------------------- running */

static int transform_block(const struct plan *plan, long long number, const char *in, char *out) {
    _Alignas(ALIGNMENT) char rows[ROWS_BYTES];
    redist_index m = plan->n - 1;
    redist_index lines = lines__neighbour_group(plan->nloops, plan->loops, plan->lines, plan->width,
                                                number, &in, &out);
    size_t bytes = (size_t)lines * plan->item, row = (size_t)plan->pitch * plan->item;
    char *second = rows + row;
    if (lines < plan->width) /* their values matter for speed alone */
        memset(rows, 0, (size_t)plan->n * row);
    memcpy(rows, in, bytes);
    for (redist_index k = 0; k < m; k++)
        memcpy(second + (size_t)k * row, in + row_from(plan, k) * plan->axis.in, bytes);
    REDIST_TRY(lines__execute(&plan->serial[0], second, second));
    multiply[plan->precision](second, m, plan->pitch, lines, plan->factors);
    REDIST_TRY(lines__execute(&plan->serial[1], second, second));
    memcpy(out, rows, bytes);
    for (redist_index k = 0; k < m; k++)
        memcpy(out + plan->to[k] * plan->axis.out, second + (size_t)k * row, bytes);
    return REDIST_OK;
}

static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    for (long long i = 0; i < plan->nblocks; i++)
        REDIST_TRY(transform_block(plan, i, in, out));
    return REDIST_OK;
}

const struct lines__library lines__library_primes = {.name = "primes",
                                                     .percent = percent,
                                                     .space = REDIST_SPACE_HOST,
                                                     .create = create,
                                                     .execute = execute,
                                                     .destroy = destroy};
