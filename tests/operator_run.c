/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares operators with what they are: see operator_run.h. */
#include "operator_run.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "operator_trial.h"
#include "poison.h"
#include "random.h"

/* ---------------------------------------------------------------- arrays */

static ptrdiff_t elements_of(const fftnd_layout *layout) {
    ptrdiff_t n = 1;
    for (int axis = 0; axis < layout->ndims; axis++) {
        n *= (ptrdiff_t)layout->count[axis];
    }
    return n;
}

/* Local indices of element `i` in C order; returns where it is in the array, in its first field. */
static ptrdiff_t place_of(const fftnd_layout *layout, ptrdiff_t i, redist_index at[]) {
    ptrdiff_t place = layout->offset;
    for (int axis = layout->ndims - 1; axis >= 0; axis--) {
        at[axis] = i % layout->count[axis];
        i /= (ptrdiff_t)layout->count[axis];
        place += (ptrdiff_t)at[axis] * layout->stride[axis];
    }
    return place;
}

/* A field of an array, from and to complex numbers in C order. */
struct array {
    const fftnd_layout *layout;
    void *data;
    enum fftnd_precision precision;
    int numbers;
};

/* In memory of a device only whole arrays are moved: what is written there, and read, is a copy. */
static const test_device *device, *worker;
static char *image;
static size_t image_bytes;

static void use_image(const struct array *array, int reads) {
    const size_t bytes = array->layout->bytes;
    if (device != NULL && image_bytes < bytes) {
        image = realloc(image, image_bytes = bytes);
    }
    if (device != NULL && reads && bytes > 0) {
        device->copy(image, array->data, bytes);
    }
}

static void *image_of(const struct array *array) {
    return device != NULL ? image : array->data;
}

static void set_number(const struct array *array, ptrdiff_t i, double value) {
    void *at = image_of(array);
    if (array->precision == FFTND_LONG_DOUBLE) {
        ((long double *)at)[i] = value;
    } else if (array->precision == FFTND_DOUBLE) {
        ((double *)at)[i] = value;
    } else {
        ((float *)at)[i] = (float)value;
    }
}

static double get_number(const struct array *array, ptrdiff_t i) {
    const void *at = image_of(array);
    return array->precision == FFTND_LONG_DOUBLE ? (double)((const long double *)at)[i]
           : array->precision == FFTND_DOUBLE    ? ((const double *)at)[i]
                                                 : (double)((const float *)at)[i];
}

static void read_field(const struct array *array, int field, double complex values[]) {
    redist_index at[REDIST_MAX_NDIMS];
    use_image(array, 1);
    for (ptrdiff_t i = 0; i < elements_of(array->layout); i++) {
        const ptrdiff_t place =
            array->numbers * (place_of(array->layout, i, at) + field * array->layout->batch_stride);
        double value[2] = {0, 0};
        for (int j = 0; j < array->numbers; j++) {
            value[j] = get_number(array, place + j);
        }
        values[i] = value[0] + value[1] * I;
    }
}

static void write_field(const struct array *array, int field, const double complex values[]) {
    redist_index at[REDIST_MAX_NDIMS];
    use_image(array, 1);
    for (ptrdiff_t i = 0; i < elements_of(array->layout); i++) {
        const ptrdiff_t place =
            array->numbers * (place_of(array->layout, i, at) + field * array->layout->batch_stride);
        const double value[2] = {creal(values[i]), cimag(values[i])};
        for (int j = 0; j < array->numbers; j++) {
            set_number(array, place + j, value[j]);
        }
    }
    if (device != NULL && array->layout->bytes > 0) {
        device->copy(array->data, image, array->layout->bytes);
    }
}

static void *allocate(size_t bytes) {
    void *memory = NULL;
    if (device != NULL) {
        return device->allocate(MPI_COMM_WORLD, bytes, 1);
    }
    check_ok(redist_alloc(MPI_COMM_WORLD, bytes, &memory));
    return memory;
}

/* Fills an array with what nothing may read as numbers. */
static void poison(const struct array *array, size_t bytes) {
    use_image(array, 0);
    if (bytes > 0) {
        poison_fill(image_of(array), bytes, array->layout->element_bytes / (size_t)array->numbers);
    }
    if (device != NULL && bytes > 0) {
        device->copy(array->data, image, bytes);
    }
}

static void mark(const struct array *array, unsigned char used[]) {
    const fftnd_layout *layout = array->layout;
    redist_index at[REDIST_MAX_NDIMS];
    for (int field = 0; field < layout->batch; field++) {
        for (ptrdiff_t i = 0; i < elements_of(layout); i++) {
            const ptrdiff_t place = place_of(layout, i, at) + field * layout->batch_stride;
            memset(used + (size_t)place * layout->element_bytes, 1, layout->element_bytes);
        }
    }
}

/* The number of bytes of an array that were changed beside the elements of this array and of one in the same memory. */
static size_t count_changed(const struct array *array, const struct array *other) {
    const size_t bytes = array->layout->bytes;
    unsigned char *used =
        calloc(bytes > other->layout->bytes ? bytes + 1 : other->layout->bytes + 1, 1);
    mark(array, used);
    mark(other, used);
    use_image(array, 1);
    const size_t changed =
        bytes > 0 ? poison_changed(image_of(array), bytes,
                                   array->layout->element_bytes / (size_t)array->numbers, used)
                  : 0;
    free(used);
    return changed;
}

static void release(void *memory) {
    if (device != NULL) {
        device->release(memory, 1);
    } else {
        check_ok(redist_free(&memory));
    }
}

/* ---------------------------------------------------------------- one test of an operator */

static struct array array_of(const struct trial *trial, int side) {
    return (struct array){&trial->side[side], trial->arrays[side], trial->given->precision,
                          fft_case_components(trial->given, (enum fftnd_side)side)};
}

/* ---------------------------------------------------------------- one after the other */

/* All fields of a side, in C order, `batch` of each. */
struct fields {
    int n, batch;
    ptrdiff_t elements;
    double complex *values;
};

static struct fields fields_make(const struct trial *trial, int side, int n) {
    struct fields fields = {n, trial->given->options.batch, elements_of(&trial->side[side]), NULL};
    fields.values =
        calloc((size_t)(n * fields.batch) * (size_t)fields.elements + 1, sizeof *fields.values);
    return fields;
}

static double complex *field_of(const struct fields *fields, int field, int number) {
    return fields->values + (ptrdiff_t)(field * fields->batch + number) * fields->elements;
}

/* Transforms every field by the plan. */
static void transform(const struct trial *trial, int direction, const struct fields *from,
                      const struct fields *to) {
    const struct array in = array_of(trial, direction), out = array_of(trial, !direction);
    for (int f = 0; f < from->n; f++) {
        for (int b = 0; b < from->batch; b++) {
            write_field(&in, b, field_of(from, f, b));
        }
        check_ok((direction == REDIST_FORWARD ? fftnd_forward : fftnd_backward)(trial->plan,
                                                                                in.data, out.data));
        for (int b = 0; b < from->batch; b++) {
            read_field(&out, b, field_of(to, f, b));
        }
    }
}

/* What the operator makes of all elements in the middle; returns the largest factor. */
static double operate(const struct trial *trial, const struct fields *from,
                      const struct fields *to) {
    double largest = 0;
    const int points = trial->kind == FFTND_POINTS;
    const fftnd_layout *layout = &trial->side[!points];
    for (int b = 0; b < from->batch; b++) {
        for (ptrdiff_t i = 0; i < from->elements; i++) {
            redist_index at[REDIST_MAX_NDIMS], place[REDIST_MAX_NDIMS];
            double complex values[TRIAL_MOST_FIELDS];
            place_of(layout, i, at);
            for (int axis = 0; axis < layout->ndims; axis++) {
                place[axis] = layout->start[axis] + at[axis];
            }
            for (int in = 0; in < trial->inputs; in++) {
                values[in] = field_of(from, in, b)[i];
            }
            for (int out = 0; out < trial->outputs; out++) {
                double complex sum = 0;
                for (int in = 0; in < trial->inputs && !points; in++) {
                    const double complex symbol = trial_symbol(trial, at, out, in);
                    largest = fmax(largest, cabs(symbol));
                    sum += symbol * values[in];
                }
                field_of(to, out, b)[i] =
                    points ? trial_combine(values, trial->inputs, out, place, layout->ndims) : sum;
            }
        }
    }
    return largest;
}

/* Fields that are random at grid points, but are those of a spectrum: such spectra may go backward. */
static void fill_fields(const struct trial *trial, const struct fields *physical,
                        const struct fields *spectral) {
    const int numbers = fft_case_components(trial->given, FFTND_PHYSICAL);
    uint64_t sequence = random_bits() + (uint64_t)harness_rank * 977;
    for (ptrdiff_t i = 0; i < physical->n * physical->batch * physical->elements; i++) {
        const double re = random_from(&sequence, -1000, 1000) / 1000.0;
        const double im = random_from(&sequence, -1000, 1000) / 1000.0;
        physical->values[i] = numbers == 2 ? re + im * I : re;
        if (trial->given->precision == FFTND_FLOAT) {
            physical->values[i] = (double)(float)creal(physical->values[i]) +
                                  I * (double)(float)cimag(physical->values[i]);
        }
    }
    transform(trial, REDIST_FORWARD, physical, spectral);
}

static double largest_of(const struct fields *fields) {
    double largest = 0;
    for (ptrdiff_t i = 0; i < fields->n * fields->batch * fields->elements; i++) {
        largest = fmax(largest, cabs(fields->values[i]));
    }
    return largest;
}

/* ---------------------------------------------------------------- the comparison */

/* The user's array of factors, in the first field of one of the spectral side; NULL for other kinds. */
static void *make_multiplier(struct trial *trial) {
    const fftnd_layout *layout = &trial->side[1];
    struct array array = array_of(trial, 1);
    redist_index at[REDIST_MAX_NDIMS];
    if (trial->kind != FFTND_MULTIPLY) {
        return NULL;
    }
    double complex *values = calloc((size_t)elements_of(layout) + 1, sizeof *values);
    for (ptrdiff_t i = 0; i < elements_of(layout); i++) {
        place_of(layout, i, at);
        values[i] = trial_factor(trial, at);
    }
    array.data = allocate(layout->bytes);
    poison(&array, layout->bytes);
    array.numbers = trial->options.real_multiplier ? 1 : 2;
    write_field(&array, 0, values);
    free(values);
    trial->options.multiplier = array.data;
    return array.data;
}

/* The operator has a copy of the factors. */
static void release_multiplier(struct trial *trial, void *multiplier) {
    const struct array array = {&trial->side[1], multiplier, trial->given->precision,
                                fft_case_components(trial->given, FFTND_SPECTRAL)};
    if (trial->kind == FFTND_MULTIPLY) {
        poison(&array, trial->side[1].bytes);
        release(multiplier);
    }
    trial->options.multiplier = NULL;
}

static void run_operator(struct trial *trial, const struct fields *input,
                         const struct fields *expected, double tolerance) {
    fftnd_operator *op = NULL;
    fftnd_layout layouts[2];
    const fftnd_options *options = &trial->given->options;
    const int points = trial->kind == FFTND_POINTS;
    void *multiplier = make_multiplier(trial);
    check_ok(fftnd_operator_create(trial->plan, trial->kind, &trial->options, &op));
    release_multiplier(trial, multiplier);
    for (int i = 0; i < 2; i++) {
        fftnd_layout_init(&layouts[i], sizeof layouts[i]);
        check_ok(fftnd_operator_layout(op, i, &layouts[i]));
    }
    void *in = allocate(layouts[0].bytes > layouts[1].bytes ? layouts[0].bytes : layouts[1].bytes);
    void *out = options->in_place ? in : allocate(layouts[1].bytes);
    struct array arrays[2] = {array_of(trial, points), array_of(trial, points)};
    struct fields result = fields_make(trial, points, trial->outputs);
    arrays[0].layout = &layouts[0], arrays[0].data = in;
    arrays[1].layout = &layouts[1], arrays[1].data = out;
    const int is_free = options->in_place || options->overwrite_input;
    const int halved = fft_case_halved_axis(trial->given);
    const int is_clear = !(options->in_place && halved >= 0); /* no rows with numbers to spare */
    int padded = 0;
    for (int axis = 0; axis < trial->given->ndims; axis++) {
        padded |= trial->given->padding[points][axis] != 0;
    }
    for (int turn = 0; turn < 2; turn++) {
        poison(&arrays[0], layouts[0].bytes);
        if (out != in) {
            poison(&arrays[1], layouts[1].bytes);
        }
        for (int f = 0; f < trial->inputs * input->batch; f++) {
            write_field(&arrays[0], f, input->values + f * input->elements);
        }
        poison_forget();
        check_ok((points ? fftnd_apply_physical : fftnd_apply)(trial->plan, op, in, out));
        const char *raised = poison_raised();
        check_all(raised == NULL, "operator %d raised %s", (int)trial->kind, raised);
        for (int i = 0; i < 2 && is_clear && (padded || !is_free); i++) {
            const size_t bytes = count_changed(&arrays[i], &arrays[out == in ? !i : i]);
            check_all(bytes == 0, "operator %d changed %zu bytes of padding of array %d",
                      (int)trial->kind, bytes, i);
        }
        double error = 0;
        for (int f = 0; f < trial->outputs * input->batch; f++) {
            read_field(&arrays[1], f, result.values + f * result.elements);
        }
        for (ptrdiff_t i = 0; i < result.n * result.batch * result.elements; i++) {
            const double off = cabs(result.values[i] - expected->values[i]);
            error = off <= error ? error : off; /* a NaN stays */
        }
        check_all(error <= tolerance, "operator %d: the error is %g, above %g", (int)trial->kind,
                  error, tolerance);
        double changed = 0;
        struct fields again = fields_make(trial, points, trial->inputs);
        for (int f = 0; f < trial->inputs * input->batch; f++) {
            read_field(&arrays[0], f, again.values + f * again.elements);
        }
        for (ptrdiff_t i = 0; i < again.n * again.batch * again.elements; i++) {
            changed = fmax(changed, cabs(again.values[i] - input->values[i]));
        }
        free(again.values);
        const double rounding =
            trial->given->precision == FFTND_FLOAT ? 1e-4 * largest_of(input) : 0;
        check_all(options->in_place || options->overwrite_input || changed <= rounding,
                  "operator %d changed its input by %g", (int)trial->kind, changed);
    }
    free(result.values);
    check_ok(fftnd_plan_query(trial->plan));
    check_ok(fftnd_operator_free(&op));
    if (out != in) {
        release(out);
    }
    release(in);
}

static void compare(struct trial *trial) {
    const int points = trial->kind == FFTND_POINTS;
    struct fields physical = fields_make(trial, 0, trial->inputs);
    struct fields spectral = fields_make(trial, 1, trial->inputs);
    struct fields middle = fields_make(trial, !points, trial->outputs);
    struct fields expected = fields_make(trial, points, trial->outputs);
    fill_fields(trial, &physical, &spectral);
    if (points) { /* of fields with the retained modes */
        transform(trial, REDIST_BACKWARD, &spectral, &physical);
    }
    double factor = operate(trial, points ? &physical : &spectral, &middle);
    transform(trial, points ? REDIST_FORWARD : REDIST_BACKWARD, &middle, &expected);
    double bounds[3] = {factor, largest_of(&expected), largest_of(points ? &spectral : &physical)};
    MPI_Allreduce(MPI_IN_PLACE, bounds, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    const double eps = trial->given->options.wire != REDIST_WIRE_SAME
                           ? 10 * fft_case_tolerance(trial->given)
                       : trial->given->precision == FFTND_FLOAT ? 1e-4
                                                                : 1e-12;
    double scale = 1;
    for (int side = 0; side < 2; side++) {
        scale *= (double)fft_case_scale(trial->given, (enum fftnd_side)side);
    }
    scale *= (double)fft_case_logical_size(trial->given);
    run_operator(trial, points ? &spectral : &physical, &expected,
                 eps * (bounds[1] + scale * bounds[0] * bounds[2] + 1e-30));
    free(physical.values);
    free(spectral.values);
    free(middle.values);
    free(expected.values);
}

static void open_trial(struct trial *trial, void **workspace) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    *workspace = NULL;
    check_ok(fft_case_plan(MPI_COMM_WORLD, trial->given, &trial->plan));
    check_ok(fftnd_plan_get_info(trial->plan, &info));
    if (trial->given->options.user_workspace) {
        *workspace = allocate(info.workspace_bytes);
        check_ok(fftnd_plan_set_workspace(trial->plan, *workspace, info.workspace_bytes));
    }
    for (int side = 0; side < 2; side++) {
        fftnd_layout_init(&trial->side[side], sizeof trial->side[side]);
        check_ok(fftnd_plan_layout(trial->plan, (enum fftnd_side)side, &trial->side[side]));
        trial->arrays[side] = side == 1 && trial->given->options.in_place
                                  ? trial->arrays[0]
                                  : allocate(trial->side[side].bytes);
    }
    trial_choose_options(trial);
    for (int axis = 0; axis < trial->given->ndims; axis++) {
        const redist_index n = trial->side[1].count[axis];
        trial->k[axis] = malloc((size_t)(n + 1) * sizeof(double));
        check_ok(fftnd_plan_wavenumbers(trial->plan, axis, trial->k[axis]));
        for (redist_index i = 0; i < n; i++) {
            trial->k[axis][i] *= trial_unit(trial, axis);
        }
    }
}

static void close_trial(struct trial *trial, void *workspace) {
    for (int axis = 0; axis < trial->given->ndims; axis++) {
        free(trial->k[axis]);
        free(trial->symbols[axis]);
    }
    check_ok(fftnd_plan_free(&trial->plan));
    if (trial->arrays[1] != trial->arrays[0]) {
        release(trial->arrays[1]);
    }
    release(trial->arrays[0]);
    if (workspace != NULL) {
        release(workspace);
    }
}

void operator_check(const fft_case *given) {
    struct trial trial = {.given = given, .device = worker};
    void *workspace;
    int transformed = 0;
    for (int axis = 0; axis < given->ndims; axis++) {
        transformed += trial_axis_kind(given, axis) != FFTND_AXIS_NONE;
    }
    harness_case("%s", fft_case_text(given));
    open_trial(&trial, &workspace);
    if (transformed > 0) {
        trial_choose_kind(&trial);
        harness_case("operator %d, %s", (int)trial.kind, fft_case_text(given));
        compare(&trial);
    } else {
        fftnd_operator *op = NULL;
        check_code(fftnd_operator_create(trial.plan, FFTND_SYMBOLS, NULL, &op),
                   REDIST_ERR_ARGUMENT);
    }
    close_trial(&trial, workspace);
}

void operator_use(const test_device *used, int only_work) {
    device = only_work ? NULL : used;
    worker = used;
}
