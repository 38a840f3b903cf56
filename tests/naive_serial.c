/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A serial FFT library by the definitions (FFTW's manual, "What FFTW Really Computes"), for a copy of libfftnd
 * that a test is built with. This file, r2r_factor.c and its name in the copy's list of libraries are all of it.
 */
#include "../liblines/lines.h"
#include "r2r_factor.h"

#include <complex.h>
#include <math.h>

_Atomic int naive_executions; /* what the test reads */

/* Elements of both sides: numbers of one precision, `numbers` of them in each. */
struct side {
    int numbers, halves; /* `halves`: the last axis has n / 2 + 1 elements */
};

struct plan {
    struct lines__problem problem;
    struct side input, output;
    redist_index points; /* of all axes together */
};

static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    (void)in, (void)out;
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    const struct side real = {1, 0}, full = {2, 0}, half = {2, 1};
    int is_backward = problem->direction == REDIST_BACKWARD;
    *plan = (struct plan){*problem, full, full, 1};
    if (problem->kind == FFTND_R2C) {
        plan->input = is_backward ? half : real;
        plan->output = is_backward ? real : half;
    } else if (problem->kind == FFTND_R2R)
        plan->input = plan->output = real;
    for (int i = 0; i < problem->naxes; i++)
        plan->points *= problem->axes[i].n;
    *result = plan;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- one line */

static double complex factor(const struct plan *plan, int axis, redist_index j, redist_index k) {
    const struct lines__problem *problem = &plan->problem;
    redist_index n = problem->axes[axis].n;
    if (problem->kind == FFTND_R2R)
        return r2r_factor(problem->r2r[axis], (double)n, (double)j, (double)k);
    double sign = problem->direction == REDIST_BACKWARD ? 1 : -1;
    int mirrored = axis == problem->naxes - 1 && plan->input.halves && j > 0 && 2 * j < n;
    return (mirrored ? 2 : 1) * cexp(sign * 2 * M_PI * I * (double)(j * k % n) / (double)n);
}

/* A line in the block, through `line`. Of a half spectrum it gives the real part only. */
static void transform_line(const struct plan *plan, int axis, double complex *first,
                           redist_index stride, double complex *line) {
    redist_index n = plan->problem.axes[axis].n;
    int to_real = axis == plan->problem.naxes - 1 && plan->input.halves;
    redist_index given = to_real ? n / 2 + 1 : n;
    for (redist_index k = 0; k < n; k++) {
        line[k] = 0;
        for (redist_index j = 0; j < given; j++)
            line[k] += factor(plan, axis, j, k) * first[j * stride];
    }
    for (redist_index k = 0; k < n; k++)
        first[k * stride] = to_real ? creal(line[k]) : line[k];
}

static void transform_axis(const struct plan *plan, int axis, double complex *block,
                           double complex *line) {
    redist_index n = plan->problem.axes[axis].n, stride = 1;
    for (int i = axis + 1; i < plan->problem.naxes; i++)
        stride *= plan->problem.axes[i].n;
    for (redist_index i = 0; i < plan->points; i++)
        if (i / stride % n == 0)
            transform_line(plan, axis, block + i, stride, line);
}

/* ---------------------------------------------------------------- one block, and all of them */

static void move(const struct plan *plan, int is_store, char *element, double complex *value) {
    int numbers = is_store ? plan->output.numbers : plan->input.numbers;
    double parts[2] = {creal(*value), cimag(*value)};
    if (!is_store)
        parts[1] = 0;
    for (int i = 0; i < numbers; i++) {
        double *wide = (double *)(void *)element + i;
        float *narrow = (float *)(void *)element + i;
        int is_double = plan->problem.precision == FFTND_DOUBLE;
        if (!is_store)
            parts[i] = is_double ? *wide : (double)*narrow;
        else if (is_double)
            *wide = parts[i];
        else
            *narrow = (float)parts[i];
    }
    *value = parts[0] + I * parts[1];
}

/* Between an array and the block, whose axes are in C order with all of their points. */
static void move_block(const struct plan *plan, int is_store, int axis, char *array,
                       double complex *block, redist_index rest) {
    const struct side *side = is_store ? &plan->output : &plan->input;
    if (axis == plan->problem.naxes) {
        move(plan, is_store, array, block);
        return;
    }
    const struct lines__loop *loop = &plan->problem.axes[axis];
    ptrdiff_t item = (ptrdiff_t)lines__item_bytes(plan->problem.precision, side->numbers == 1);
    redist_index n = axis == plan->problem.naxes - 1 && side->halves ? loop->n / 2 + 1 : loop->n;
    for (redist_index i = 0; i < n; i++)
        move_block(plan, is_store, axis + 1, array + i * (is_store ? loop->out : loop->in) * item,
                   block + i * (rest / loop->n), rest / loop->n);
}

/* A halved axis comes last on the way to real numbers, any order serves the others. */
static void repeat(const struct plan *plan, int level, char *in, char *out, double complex *block) {
    if (level == plan->problem.nloops) {
        move_block(plan, 0, 0, in, block, plan->points);
        for (int axis = 0; axis < plan->problem.naxes; axis++)
            transform_axis(plan, axis, block, block + plan->points);
        move_block(plan, 1, 0, out, block, plan->points);
        return;
    }
    const struct lines__loop *loop = &plan->problem.loops[level];
    enum fftnd_precision precision = plan->problem.precision;
    ptrdiff_t from = loop->in * (ptrdiff_t)lines__item_bytes(precision, plan->input.numbers == 1);
    ptrdiff_t to = loop->out * (ptrdiff_t)lines__item_bytes(precision, plan->output.numbers == 1);
    for (redist_index i = 0; i < loop->n; i++)
        repeat(plan, level + 1, in + i * from, out + i * to, block);
}

static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    double complex *block = redist_calloc(2 * (size_t)plan->points, sizeof *block);
    if (block == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    repeat(plan, 0, in, out, block);
    redist_release(block);
    naive_executions++;
    return REDIST_OK;
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    size_t item = lines__item_bytes(precision, 1);
    (void)stream;
    for (size_t i = 0; i < bytes / item; i++)
        if (precision == FFTND_DOUBLE)
            ((double *)array)[i] *= (double)factor;
        else
            ((float *)array)[i] = (float)((long double)((float *)array)[i] * factor);
    return REDIST_OK;
}

const struct lines__library lines__library_naive = {.name = "naive",
                                                    .space = REDIST_SPACE_HOST,
                                                    .create = create,
                                                    .execute = execute,
                                                    .scale = scale,
                                                    .destroy = redist_release};
