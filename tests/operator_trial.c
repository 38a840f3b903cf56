/* SPDX-License-Identifier: BSD-3-Clause */
#include "operator_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "redist_support.h"

static const double pi = 3.14159265358979323846;

enum fftnd_axis trial_axis_kind(const fft_case *given, int axis) {
    if (given->kind == FFTND_MIXED) {
        return given->axes[axis];
    }
    return fft_case_r2r(given, axis) >= 0        ? FFTND_AXIS_R2R
           : fft_case_halved_axis(given) == axis ? FFTND_AXIS_HALVED
                                                 : FFTND_AXIS_COMPLEX;
}

static int is_cosine(const fft_case *given, int axis) {
    return trial_axis_kind(given, axis) == FFTND_AXIS_R2R &&
           fft_case_r2r(given, axis) <= FFTND_DST4;
}

static int has_wavenumbers(const fft_case *given, int axis) {
    return trial_axis_kind(given, axis) != FFTND_AXIS_NONE &&
           !(trial_axis_kind(given, axis) == FFTND_AXIS_R2R &&
             fft_case_r2r(given, axis) == FFTND_HC2R);
}

static int is_wave(const fft_case *given, int axis) {
    return trial_axis_kind(given, axis) == FFTND_AXIS_COMPLEX ||
           trial_axis_kind(given, axis) == FFTND_AXIS_HALVED;
}

double trial_unit(const struct trial *trial, int axis) {
    const double turn = is_cosine(trial->given, axis) ? pi : 2 * pi;
    return trial->options.lengths != NULL ? turn / trial->lengths[axis] : 1;
}

/* A derivative of odd order multiplies the mode half-way by 0. */
static double odd_of(const struct trial *trial, int axis, double k) {
    const double n = fabs(k) / trial_unit(trial, axis);
    return is_wave(trial->given, axis) &&
                   2 * n < (double)fft_case_retained(trial->given, axis) - 0.25
               ? k
               : 0;
}

static double complex power_of(const struct trial *trial, int axis, double k) {
    const int order = trial->orders[axis];
    return cpow(I, order) * pow(order % 2 != 0 ? odd_of(trial, axis, k) : k, order);
}

/* The real part is even in each wavenumber, the imaginary one is odd. */
double complex trial_factor(const struct trial *trial, const redist_index at[]) {
    double re = 1, im = 0;
    for (int axis = 0; axis < trial->given->ndims; axis++) {
        const double k = trial->k[axis][at[axis]];
        re += has_wavenumbers(trial->given, axis)
                  ? cos((axis + 1) * fabs(k))
                  : 0.01 * (double)(trial->side[1].start[axis] + at[axis]);
        im += 0.3 * odd_of(trial, axis, k);
    }
    return trial->options.real_multiplier ? re : re + I * im;
}

/* What the operator multiplies input `in` of a mode by on its way to output `out`. */
double complex trial_symbol(const struct trial *trial, const redist_index at[], int out, int in) {
    double k[REDIST_MAX_NDIMS] = {0}, odd[REDIST_MAX_NDIMS] = {0}, q = 0, odd_q = 0, odd_sum = 0;
    double complex product = 1;
    for (int a = 0; a < trial->naxes; a++) {
        const int axis = trial->listed[a];
        k[a] = trial->k[axis][at[axis]];
        odd[a] = odd_of(trial, axis, k[a]);
        q += k[a] * k[a];
        odd_q += odd[a] * odd[a];
        odd_sum += odd[a];
        if (trial->kind == FFTND_DERIVATIVE) {
            product *= power_of(trial, axis, k[a]);
        } else if (trial->kind == FFTND_SHIFT) {
            product *= cos(k[a] * trial->shift[axis]) + I * sin(odd[a] * trial->shift[axis]);
        } else if (trial->kind == FFTND_SYMBOLS && trial->symbols[axis] != NULL) {
            product *= trial->symbols[axis][trial->side[1].start[axis] + at[axis]];
        }
    }
    const double c = trial->options.coefficient, zero = trial->options.zero_mode;
    switch (trial->kind) {
    case FFTND_GRADIENT:
        return I * odd[out];
    case FFTND_DIVERGENCE:
        return I * odd[in];
    case FFTND_CURL:
        if (trial->naxes == 2) {
            return in == 1 ? I * odd[0] : -I * odd[1];
        }
        return in == out                 ? 0
               : (in - out + 3) % 3 == 2 ? I * odd[(out + 1) % 3]
                                         : -I * odd[(out + 2) % 3];
    case FFTND_LERAY:
        return (in == out) - (odd_q > 0 ? odd[in] * odd[out] / odd_q : 0);
    case FFTND_LAPLACIAN:
        return -q;
    case FFTND_INVERSE_LAPLACIAN:
        return q > 0 ? -1 / q : zero;
    case FFTND_HELMHOLTZ:
        return c - q;
    case FFTND_INVERSE_HELMHOLTZ:
        return 1 / (c - q);
    case FFTND_BIHARMONIC:
        return q * q;
    case FFTND_INVERSE_BIHARMONIC:
        return q > 0 ? 1 / (q * q) : zero;
    case FFTND_SHELL:
        return sqrt(q) >= trial->options.shell[0] && sqrt(q) < trial->options.shell[1];
    case FFTND_MULTIPLY:
        return trial->options.conjugated ? conj(trial_factor(trial, at)) : trial_factor(trial, at);
    case FFTND_MODES:
        return (out + 1) * (in + 2) + I * odd_sum - 0.5 * fabs(k[in % trial->naxes]);
    default:
        return product;
    }
}

/* FFTND_MODES: the same by a function. */
static int multiply_row(void *data, const fftnd_row *row) {
    const struct trial *trial = data;
    if (row->ninputs != trial->inputs || row->noutputs != trial->outputs || row->numbers != 2 ||
        row->ndims != trial->given->ndims || row->n < 1) {
        return 1;
    }
    for (int out = 0; out < row->noutputs; out++) {
        for (int i = 0; i < row->n; i++) {
            double complex sum = 0;
            for (int in = 0; in < row->ninputs; in++) {
                double odd_sum = 0;
                for (int a = 0; a < trial->naxes; a++) {
                    odd_sum += row->odd[trial->listed[a]][i];
                }
                sum += ((out + 1) * (in + 2) + I * odd_sum -
                        0.5 * fabs(row->k[trial->listed[in % trial->naxes]][i])) *
                       (row->inputs[in][2 * i] + I * row->inputs[in][2 * i + 1]);
            }
            row->outputs[out][2 * i] = creal(sum);
            row->outputs[out][2 * i + 1] = cimag(sum);
        }
    }
    return 0;
}

/* FFTND_POINTS: a product of fields, and of where the point is. */
double complex trial_combine(const double complex values[], int inputs, int out,
                             const redist_index at[], int ndims) {
    double weight = 1;
    for (int axis = 0; axis < ndims; axis++) {
        weight += (axis + 1) * 0.1 * (double)at[axis];
    }
    return values[out % inputs] * values[(out + 1) % inputs] + weight * values[0];
}

static int combine_row(void *data, const fftnd_row *row) {
    const struct trial *trial = data;
    if (row->k != NULL || row->numbers != fft_case_components(trial->given, FFTND_PHYSICAL)) {
        return 1;
    }
    for (int i = 0; i < row->n; i++) {
        double complex values[TRIAL_MOST_FIELDS];
        redist_index at[REDIST_MAX_NDIMS];
        memcpy(at, row->start, (size_t)row->ndims * sizeof *at);
        at[row->axis] += i;
        for (int in = 0; in < row->ninputs; in++) {
            values[in] = row->inputs[in][row->numbers * i] +
                         (row->numbers == 2 ? I * row->inputs[in][2 * i + 1] : 0);
        }
        for (int out = 0; out < row->noutputs; out++) {
            const double complex value = trial_combine(values, row->ninputs, out, at, row->ndims);
            row->outputs[out][row->numbers * i] = creal(value);
            if (row->numbers == 2) {
                row->outputs[out][2 * i + 1] = cimag(value);
            }
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- functions of boxes */

/* Bytes from the first element of a field to the end of the last one. */
static size_t span_of(const fftnd_box *box, const ptrdiff_t stride[]) {
    static const size_t bytes[] = {sizeof(double), sizeof(float), sizeof(long double)};
    ptrdiff_t last = 0;
    for (int axis = 0; axis < box->ndims; axis++) {
        last += (ptrdiff_t)(box->count[axis] - 1) * stride[axis];
    }
    return (size_t)(last + 1) * (size_t)box->numbers * bytes[box->precision];
}

static void move(const struct trial *trial, void *to, const void *from, size_t bytes) {
    if (trial->device != NULL) {
        trial->device->copy(to, from, bytes);
    } else {
        memcpy(to, from, bytes);
    }
}

static void *fetch(const struct trial *trial, const void *from, size_t bytes) {
    void *copy = malloc(bytes);
    move(trial, copy, from, bytes);
    return copy;
}

static double complex get_element(const fftnd_box *box, const void *field, ptrdiff_t place) {
    double parts[2] = {0, 0};
    for (int j = 0; j < box->numbers; j++) {
        const ptrdiff_t at = box->numbers * place + j;
        parts[j] = box->precision == FFTND_DOUBLE  ? ((const double *)field)[at]
                   : box->precision == FFTND_FLOAT ? (double)((const float *)field)[at]
                                                   : (double)((const long double *)field)[at];
    }
    return parts[0] + I * parts[1];
}

static void set_element(const fftnd_box *box, void *field, ptrdiff_t place, double complex value) {
    const double parts[2] = {creal(value), cimag(value)};
    for (int j = 0; j < box->numbers; j++) {
        const ptrdiff_t at = box->numbers * place + j;
        if (box->precision == FFTND_DOUBLE) {
            ((double *)field)[at] = parts[j];
        } else if (box->precision == FFTND_FLOAT) {
            ((float *)field)[at] = (float)parts[j];
        } else {
            ((long double *)field)[at] = parts[j];
        }
    }
}

/* What the host has of a box: all inputs, and the tables. */
struct fetched {
    void *inputs[TRIAL_MOST_FIELDS];
    double *k[REDIST_MAX_NDIMS], *odd[REDIST_MAX_NDIMS];
};

/* What output `out` is of the element at `at`, counted from the box's first one. */
static double complex combine_element(const struct trial *trial, const fftnd_box *box,
                                      const struct fetched *fetched, int out,
                                      const redist_index at[]) {
    double complex values[TRIAL_MOST_FIELDS], sum = 0;
    redist_index global[REDIST_MAX_NDIMS];
    ptrdiff_t place = 0;
    double odd_sum = 0;
    for (int axis = 0; axis < box->ndims; axis++) {
        place += (ptrdiff_t)at[axis] * box->input_stride[axis];
        global[axis] = box->start[axis] + at[axis];
    }
    for (int in = 0; in < box->ninputs; in++) {
        values[in] = get_element(box, fetched->inputs[in], place);
    }
    if (trial->kind == FFTND_POINTS) {
        return trial_combine(values, box->ninputs, out, global, box->ndims);
    }
    for (int a = 0; a < trial->naxes; a++) {
        odd_sum += fetched->odd[trial->listed[a]][at[trial->listed[a]]];
    }
    for (int in = 0; in < box->ninputs; in++) {
        const int axis = trial->listed[in % trial->naxes];
        const double k = fabs(fetched->k[axis][at[axis]]);
        sum += ((out + 1) * (in + 2) + I * odd_sum - 0.5 * k) * values[in];
    }
    return sum;
}

static void fill_output(const struct trial *trial, const fftnd_box *box,
                        const struct fetched *fetched, int out) {
    const size_t bytes = span_of(box, box->output_stride);
    void *field = fetch(trial, box->outputs[out], bytes);
    redist_index n = 1;
    for (int axis = 0; axis < box->ndims; axis++) {
        n *= box->count[axis];
    }
    for (redist_index i = 0; i < n; i++) {
        redist_index at[REDIST_MAX_NDIMS], rest = i;
        ptrdiff_t place = 0;
        for (int axis = box->ndims - 1; axis >= 0; axis--) {
            at[axis] = rest % box->count[axis];
            rest /= box->count[axis];
            place += (ptrdiff_t)at[axis] * box->output_stride[axis];
        }
        set_element(box, field, place, combine_element(trial, box, fetched, out, at));
    }
    move(trial, box->outputs[out], field, bytes);
    free(field);
}

/* On a device too, whose work it waits for: it does its own on the host. */
static int run_box(void *data, const fftnd_box *box) {
    const struct trial *trial = data;
    const redist__space *space =
        redist_space_at(trial->device != NULL ? trial->device->space : REDIST_SPACE_HOST);
    struct fetched fetched = {{NULL}, {NULL}, {NULL}};
    if (box->ninputs != trial->inputs || box->noutputs != trial->outputs ||
        box->ndims != trial->given->ndims || (box->k == NULL) != (trial->kind == FFTND_POINTS) ||
        space->stream_wait(box->stream) != REDIST_OK) {
        return 1;
    }
    for (int in = 0; in < box->ninputs; in++) {
        fetched.inputs[in] = fetch(trial, box->inputs[in], span_of(box, box->input_stride));
    }
    for (int a = 0; a < trial->naxes && box->k != NULL; a++) {
        const int axis = trial->listed[a];
        const size_t bytes = (size_t)box->count[axis] * sizeof(double);
        fetched.k[axis] = fetch(trial, box->k[axis], bytes);
        fetched.odd[axis] = fetch(trial, box->odd[axis], bytes);
    }
    for (int out = 0; out < box->noutputs; out++) {
        fill_output(trial, box, &fetched, out);
    }
    for (int i = 0; i < TRIAL_MOST_FIELDS; i++) {
        free(fetched.inputs[i]);
    }
    for (int axis = 0; axis < box->ndims; axis++) {
        free(fetched.k[axis]);
        free(fetched.odd[axis]);
    }
    return 0;
}

/* ---------------------------------------------------------------- an operator at random */

static void reverse(struct trial *trial) {
    for (int a = 0; a < trial->naxes / 2; a++) {
        const int axis = trial->listed[a];
        trial->listed[a] = trial->listed[trial->naxes - 1 - a];
        trial->listed[trial->naxes - 1 - a] = axis;
    }
}

void trial_choose_options(struct trial *trial) {
    const fft_case *given = trial->given;
    fftnd_operator_options_init(&trial->options, sizeof trial->options);
    trial->options.lengths = random_chance(60) ? trial->lengths : NULL;
    const int lists_axes = random_chance(30);
    trial->options.axes = lists_axes ? trial->axes : NULL;
    for (int axis = 0; axis < given->ndims; axis++) {
        trial->lengths[axis] = 1 + 0.25 * random_between(0, 20);
        trial->shift[axis] = is_wave(given, axis) ? 0.1 * random_between(-9, 9) : 0;
        trial->orders[axis] = !has_wavenumbers(given, axis) ? 0
                              : is_wave(given, axis)        ? random_between(0, 3)
                                                            : 2 * random_between(0, 1);
        trial->axes[axis] = has_wavenumbers(given, axis) && random_chance(70);
        if (lists_axes && !trial->axes[axis]) {
            trial->orders[axis] = 0;
            trial->shift[axis] = 0;
        }
        const int takes_part =
            lists_axes ? trial->axes[axis] : trial_axis_kind(given, axis) != FFTND_AXIS_NONE;
        if (takes_part) {
            trial->listed[trial->naxes++] = axis;
        }
    }
    trial->options.last_axis_first = random_chance(50);
    if (trial->options.last_axis_first) {
        reverse(trial);
    }
    trial->options.orders = trial->orders;
    trial->options.shift = trial->shift;
    trial->options.zero_mode = random_between(0, 2);
    trial->options.coefficient = -0.37;
    trial->options.shell[0] = 0.9;
    trial->options.shell[1] = 3.1;
    trial->options.inputs = random_between(1, 3);
    trial->options.outputs = random_between(1, 3);
    trial->options.data = trial;
}

static int all_have(const struct trial *trial, int (*property)(const fft_case *, int)) {
    for (int a = 0; a < trial->naxes; a++) {
        if (!property(trial->given, trial->listed[a])) {
            return 0;
        }
    }
    return trial->naxes > 0;
}

/* Whether there is such an operator for the plan's axes. */
static int is_possible(const struct trial *trial, enum fftnd_operator_kind kind) {
    switch (kind) {
    case FFTND_GRADIENT:
    case FFTND_DIVERGENCE:
    case FFTND_LERAY:
        return all_have(trial, is_wave);
    case FFTND_CURL:
        return all_have(trial, is_wave) && (trial->naxes == 2 || trial->naxes == 3);
    case FFTND_MODES:
        return trial->naxes > 0;
    case FFTND_POINTS:
    case FFTND_SYMBOLS:
    case FFTND_MULTIPLY:
        return 1;
    default:
        return all_have(trial, has_wavenumbers);
    }
}

/* With a halved axis a table multiplies the mirror image of a mode by the conjugate, so that the field stays real. */
static void keep_real(const struct trial *trial, int axis) {
    const enum fftnd_axis kind = trial_axis_kind(trial->given, axis);
    const redist_index n = trial->side[1].sizes[axis];
    const redist_index modes = fft_case_retained(trial->given, axis);
    double complex *table = trial->symbols[axis];
    if (fft_case_halved_axis(trial->given) < 0) {
        return;
    }
    for (redist_index i = 0; i < n; i++) {
        const redist_index mirror = is_wave(trial->given, axis) ? (modes - i) % modes : i;
        if (mirror == i) {
            table[i] = creal(table[i]);
        } else if (kind == FFTND_AXIS_COMPLEX) {
            table[mirror] = conj(table[i]);
        }
    }
}

void trial_choose_kind(struct trial *trial) {
    do {
        trial->kind = (enum fftnd_operator_kind)random_between(0, FFTND_MULTIPLY);
    } while (!is_possible(trial, trial->kind));
    trial->options.function = trial->kind == FFTND_POINTS ? combine_row : multiply_row;
    if (trial->device != NULL || random_chance(40)) {
        trial->options.box_function = run_box;
    }
    trial->inputs = trial->outputs = 1;
    if (trial->kind == FFTND_MODES || trial->kind == FFTND_POINTS) {
        trial->inputs = trial->options.inputs;
        trial->outputs = trial->options.outputs;
    }
    if (trial->kind == FFTND_DIVERGENCE || trial->kind == FFTND_CURL ||
        trial->kind == FFTND_LERAY) {
        trial->inputs = trial->naxes;
    }
    if (trial->kind == FFTND_GRADIENT || trial->kind == FFTND_LERAY ||
        (trial->kind == FFTND_CURL && trial->naxes == 3)) {
        trial->outputs = trial->naxes;
    }
    for (int axis = 0; axis < trial->given->ndims && trial->kind == FFTND_SYMBOLS; axis++) {
        const redist_index n = trial->side[1].sizes[axis];
        trial->symbols[axis] = NULL;
        if (random_chance(70)) {
            trial->symbols[axis] = malloc((size_t)n * sizeof *trial->symbols[axis]);
            for (redist_index i = 0; i < n; i++) {
                trial->symbols[axis][i] =
                    0.1 * random_between(-9, 9) + 0.1 * I * random_between(-9, 9);
            }
            keep_real(trial, axis);
        }
        trial->symbol_lists[axis] = (const double *)trial->symbols[axis];
    }
    if (trial->kind == FFTND_MULTIPLY) {
        trial->options.axes = NULL;
        trial->options.conjugated = random_chance(30);
        trial->options.real_multiplier =
            random_chance(30) || fft_case_components(trial->given, FFTND_SPECTRAL) == 1;
    }
    if (trial->kind == FFTND_SYMBOLS) { /* all axes with a table */
        trial->options.axes = NULL;
        trial->options.symbols = trial->symbol_lists;
        trial->naxes = 0;
        for (int axis = 0; axis < trial->given->ndims; axis++) {
            trial->listed[trial->naxes++] = axis;
        }
    }
}
