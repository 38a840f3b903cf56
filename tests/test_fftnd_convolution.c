/* SPDX-License-Identifier: BSD-3-Clause */
/* Convolutions and correlations with a kernel, against the direct sum, and those of larger arrays against serial FFTW
 * on all points with their zeros; test_fftnd_operators has FFTND_MULTIPLY with any factors. */
#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_array.h"
#include "fft_random.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "needs_fft_device.h"
#include "poison.h"
#include "random.h"

/* Fields of the physical side, all of each on every rank: the kernel is number 0. */
struct fields {
    const fft_case *given;
    int sizes[REDIST_MAX_NDIMS],
        turns[REDIST_MAX_NDIMS]; /* points, and 0 = not transformed, else with zeros */
    size_t n;
    double complex *values, *retained; /* and these without dropped modes */
    double complex *by_fftw;           /* results for all fields; NULL = by the direct sum */
};

static int is_transformed(const fft_case *given, int axis) {
    return given->kind != FFTND_MIXED || given->axes[axis] != FFTND_AXIS_NONE;
}

static int has_r2r(const fft_case *given) {
    int has = 0;
    for (int axis = 0; axis < given->ndims; axis++) {
        has |= fft_case_r2r(given, axis) >= 0;
    }
    return has;
}

/* How much of the point y is in the point x of a line of n points, of which fewer modes are retained. */
static double weight_of(int n, int retained, int x, int y) {
    const double angle = 2 * acos(-1) / n;
    double sum = 1;
    for (int k = 1; 2 * k <= retained; k++) {
        sum += 2 * (2 * k < retained ? cos(angle * (k * (x - y) % n))
                                     : cos(angle * (k * x % n)) * cos(angle * (k * y % n)));
    }
    return sum / n;
}

/* Drops the modes of all fields along an axis. */
static void drop_modes(const struct fields *fields, int axis, size_t all) {
    const int n = fields->sizes[axis];
    double complex *line = malloc((size_t)n * sizeof *line);
    size_t stride = 1;
    for (int i = axis + 1; i < fields->given->ndims; i++) {
        stride *= (size_t)fields->sizes[i];
    }
    for (size_t i = 0; i < all; i++) {
        if (i / stride % (size_t)n != 0) {
            continue;
        }
        double complex *first = fields->retained + i;
        for (int x = 0; x < n; x++) {
            line[x] = 0;
            for (int y = 0; y < n; y++) {
                line[x] +=
                    weight_of(n, fields->given->retained[axis], x, y) * first[(size_t)y * stride];
            }
        }
        for (int x = 0; x < n; x++) {
            first[(size_t)x * stride] = line[x];
        }
    }
    free(line);
}

static struct fields make_fields(const fft_case *given) {
    struct fields fields = {.given = given, .n = 1};
    const int numbers = fft_case_components(given, FFTND_PHYSICAL);
    const uint64_t seed = random_bits();
    fft_case_sizes(given, FFTND_PHYSICAL, fields.sizes);
    for (int axis = 0; axis < given->ndims; axis++) {
        fields.turns[axis] = is_transformed(given, axis) ? given->sizes[axis] : 0;
        fields.n *= (size_t)fields.sizes[axis];
    }
    const size_t all = fields.n * (size_t)(given->options.batch + 1);
    fields.values = malloc(all * sizeof *fields.values);
    for (size_t i = 0; i < all; i++) {
        const uint64_t bits = random_hash(seed + i);
        const double re = (double)(bits % 1001) / 500 - 1;
        const double im = (double)(bits / 1001 % 1001) / 500 - 1;
        fields.values[i] = numbers == 2 ? re + I * im : re;
    }
    fields.retained = malloc(all * sizeof *fields.retained);
    memcpy(fields.retained, fields.values, all * sizeof *fields.retained);
    for (int axis = 0; axis < given->ndims; axis++) {
        if (given->drops_modes && fields.turns[axis] > given->retained[axis] && !has_r2r(given)) {
            drop_modes(&fields, axis, all);
        }
    }
    return fields;
}

/* C order position of index +- offset along the transformed axes, -1 if a zero is there, or another axis differs. */
static ptrdiff_t shifted(const struct fields *fields, const int index[], size_t offset, int sign) {
    ptrdiff_t place = 0, stride = 1;
    for (int axis = fields->given->ndims - 1; axis >= 0; axis--) {
        const int size = fields->sizes[axis], turn = fields->turns[axis];
        const int by = (int)(offset % (size_t)size);
        const int at = turn > 0 ? (index[axis] + sign * by + turn) % turn : by;
        offset /= (size_t)size;
        if (at >= size || (turn == 0 && by != index[axis])) {
            return -1;
        }
        place += stride * at;
        stride *= size;
    }
    return place;
}

static double complex direct_sum(const struct fields *fields, int field, const int index[],
                                 int correlates) {
    const double complex *kernel = fields->retained;
    const double complex *values = kernel + (size_t)(field + 1) * fields->n;
    double complex sum = 0;
    for (size_t y = 0; y < fields->n; y++) {
        const ptrdiff_t place = shifted(fields, index, y, correlates ? 1 : -1);
        if (place >= 0) {
            sum += (correlates ? conj(kernel[y]) : kernel[y]) * values[place];
        }
    }
    return sum;
}

/* ---------------------------------------------------------------- serial FFTW */

/* The place of element i of a field among its zeros. */
static size_t place_of(const struct fields *fields, size_t i) {
    const int *sizes = fields->given->sizes, *filled = fields->sizes;
    const size_t row = i / (size_t)filled[2];
    const size_t x = row / (size_t)filled[1], y = row % (size_t)filled[1];
    return (x * (size_t)sizes[1] + y) * (size_t)sizes[2] + i % (size_t)filled[2];
}

/* Places a field among zeros and transforms it. The plan is made before, as that overwrites the array. */
static void transform_with_zeros(const struct fields *fields, int field, fftw_plan forward,
                                 double complex *whole) {
    const int *sizes = fields->given->sizes;
    const size_t all = (size_t)sizes[0] * (size_t)sizes[1] * (size_t)sizes[2];
    memset(whole, 0, all * sizeof *whole);
    for (size_t i = 0; i < fields->n; i++) {
        whole[place_of(fields, i)] = fields->values[(size_t)field * fields->n + i];
    }
    fftw_execute_dft(forward, whole, whole);
}

/* Multiplies two spectra, or one by the conjugate of the kernel's, and scales for the transform back. */
static void multiply(const double complex *kernel, double complex *whole, size_t n,
                     int correlates) {
    for (size_t i = 0; i < n; i++) {
        whole[i] *= (correlates ? conj(kernel[i]) : kernel[i]) / (double)n;
    }
}

/* Finds the results for all fields of three axes. */
static void convolve_serially(const struct fields *fields, int correlates) {
    const int *sizes = fields->given->sizes;
    const size_t all = (size_t)sizes[0] * (size_t)sizes[1] * (size_t)sizes[2];
    double complex *kernel = fftw_alloc_complex(all), *whole = fftw_alloc_complex(all);
    fftw_plan plans[2];
    for (int back = 0; back < 2; back++) {
        plans[back] = fftw_plan_dft_3d(sizes[0], sizes[1], sizes[2], whole, whole,
                                       back ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    }
    transform_with_zeros(fields, 0, plans[0], kernel);
    for (int field = 0; field < fields->given->options.batch; field++) {
        transform_with_zeros(fields, field + 1, plans[0], whole);
        multiply(kernel, whole, all, correlates);
        fftw_execute(plans[1]);
        double complex *results = fields->by_fftw + (size_t)field * fields->n;
        for (size_t i = 0; i < fields->n; i++) {
            results[i] = whole[place_of(fields, i)];
        }
    }
    fftw_destroy_plan(plans[0]);
    fftw_destroy_plan(plans[1]);
    fftw_free(kernel);
    fftw_free(whole);
}

/* ---------------------------------------------------------------- arrays */

static void write_field(const fft_case *given, const fftnd_layout *layout, char *array, int field,
                        const double complex values[]) {
    const fft_walk walk = fft_walk_make(layout, field + 1);
    const int numbers = fft_case_components(given, FFTND_PHYSICAL);
    for (size_t i = 0; i < walk.nelements; i++) {
        const fft_place place = fft_walk_place(&walk, (size_t)field * walk.nelements + i);
        const double parts[2] = {creal(values[place.global]), cimag(values[place.global])};
        for (int j = 0; j < numbers; j++) {
            fft_number_set(given,
                           array + place.offset + j * (ptrdiff_t)fft_case_number_bytes(given),
                           parts[j]);
        }
    }
}

static double complex read_element(const fft_case *given, const char *at) {
    const ptrdiff_t bytes = (ptrdiff_t)fft_case_number_bytes(given);
    const double re = (double)fft_number_get(given, at);
    return fft_case_components(given, FFTND_PHYSICAL) == 2
               ? re + I * (double)fft_number_get(given, at + bytes)
               : re;
}

/* The largest error of all fields: of all elements beside FFTW, of some beside direct sums. */
static double find_error(const struct fields *fields, const fftnd_layout *layout, const char *array,
                         int correlates, double scale) {
    const fft_walk walk = fft_walk_make(layout, fields->given->options.batch);
    const size_t n = walk.nelements * (size_t)fields->given->options.batch, most = 60;
    const size_t step = n > most && fields->by_fftw == NULL ? n / most : 1;
    double error = 0;
    for (size_t i = 0; i < n; i += step) {
        const fft_place place = fft_walk_place(&walk, i);
        const double complex expected =
            scale * (fields->by_fftw != NULL
                         ? fields->by_fftw[(size_t)place.field * fields->n + (size_t)place.global]
                         : direct_sum(fields, place.field, place.index, correlates));
        const double off = cabs(read_element(fields->given, array + place.offset) - expected);
        error = off <= error ? error : off;
    }
    return error;
}

/* ---------------------------------------------------------------- convolutions */

static fft_array allocate(const fft_case *given, size_t bytes) {
    fft_array array;
    check_ok(fft_array_create(MPI_COMM_WORLD, bytes, FFT_MEMORY_SHARED,
                              fft_case_number_bytes(given), &array));
    return array;
}

/* Sets the array before a call; fields of an operator, or its kernel alone, which are followed by others. */
static void set_fields(const struct fields *fields, const fftnd_layout *layout, fft_array *array,
                       int n, const double complex *values) {
    memset(array->data, 0, layout->bytes);
    for (int b = 0; b < n; b++) {
        write_field(fields->given, layout, array->data, b, values + (size_t)b * fields->n);
    }
    fft_array_upload(array);
}

/* Applies an operator to the fields twice, and compares the results. */
static void check_operator(fftnd_plan *plan, fftnd_operator *op, const struct fields *fields,
                           fft_array *arrays[2], const fftnd_layout *layout, int conjugated) {
    const fft_case *given = fields->given;
    const double scale =
        (double)(fft_case_scale(given, FFTND_PHYSICAL) * fft_case_scale(given, FFTND_SPECTRAL) *
                 fft_case_logical_size(given));
    const double eps = given->precision == FFTND_FLOAT ? 1e-5 : 1e-14;
    for (int turn = 0; turn < 2; turn++) {
        set_fields(fields, layout, arrays[0], given->options.batch, fields->values + fields->n);
        check_ok(fftnd_apply(plan, op, fft_array_address(arrays[0]), fft_array_address(arrays[1])));
        fft_array_download(arrays[1]);
        const double error = find_error(fields, layout, arrays[1]->data, conjugated, scale);
        check_all(error <= eps * scale * (double)fields->n, "%s is off by %g, above %g",
                  conjugated ? "a correlation" : "a convolution", error,
                  eps * scale * (double)fields->n);
    }
}

static void convolve(fftnd_plan *plan, const struct fields *fields, fft_array *arrays[2],
                     const fftnd_layout *layout) {
    const fft_case *given = fields->given;
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_operator *op = NULL;
    options.conjugated = random_chance(50);
    if (fields->by_fftw != NULL) {
        convolve_serially(fields, options.conjugated);
    }
    set_fields(fields, layout, arrays[0], 1, fields->values);
    const int code = fftnd_operator_from_kernel(plan, fft_array_address(arrays[0]), &options, &op);
    if (has_r2r(given)) {
        check_code(code, REDIST_ERR_AXIS);
        return;
    }
    check_ok(code);
    check_operator(plan, op, fields, arrays, layout, options.conjugated);
    check_ok(fftnd_operator_free(&op));
}

/* A plan of a case, and the arrays of its operators: two, or one in place. */
struct convolver {
    fftnd_plan *plan;
    fftnd_layout layout;
    fft_array own[2], *arrays[2];
};

static void open_convolver(const fft_case *given, struct convolver *convolver) {
    convolver->plan = NULL;
    convolver->layout = FFTND_LAYOUT_DEFAULT;
    check_ok(fft_case_plan(MPI_COMM_WORLD, given, &convolver->plan));
    check_ok(fftnd_plan_layout(convolver->plan, FFTND_PHYSICAL, &convolver->layout));
    for (int i = 0; i < 2; i++) {
        convolver->arrays[i] = &convolver->own[given->options.in_place ? 0 : i];
        if (convolver->arrays[i] == &convolver->own[i]) {
            convolver->own[i] = allocate(given, convolver->layout.bytes);
        }
    }
}

static void close_convolver(struct convolver *convolver) {
    check_ok(fftnd_plan_free(&convolver->plan));
    for (int i = 1; i >= 0; i--) {
        if (convolver->arrays[i] == &convolver->own[i]) {
            check_ok(fft_array_free(&convolver->own[i]));
        }
    }
}

static void free_fields(struct fields *fields) {
    free(fields->values);
    free(fields->retained);
    free(fields->by_fftw);
}

static void check_against(const fft_case *given, int fftw) {
    struct convolver own;
    harness_case("%s", fft_case_text(given));
    open_convolver(given, &own);
    struct fields fields = make_fields(given);
    fields.by_fftw =
        fftw ? calloc(fields.n * (size_t)given->options.batch, sizeof *fields.by_fftw) : NULL;
    convolve(own.plan, &fields, own.arrays, &own.layout);
    free_fields(&fields);
    close_convolver(&own);
}

/* The place of an offset x - z in a kernel, with negative ones at the ends of its axes. */
static size_t place_of_offset(const struct fields *fields, size_t x, size_t z) {
    size_t place = 0, stride = 1;
    for (int axis = fields->given->ndims - 1; axis >= 0; axis--) {
        const size_t size = (size_t)fields->sizes[axis], all = (size_t)fields->given->sizes[axis];
        place += stride * ((x % size + all - z % size) % all);
        stride *= all;
        x /= size;
        z /= size;
    }
    return place;
}

/* The results for all fields: direct sums over the points that are filled. */
static void sum_all_offsets(struct fields *fields, const double complex *kernel, int correlates) {
    const size_t batch = (size_t)fields->given->options.batch;
    fields->by_fftw = calloc(batch * fields->n, sizeof *fields->by_fftw);
    for (size_t i = 0; i < batch * fields->n; i++) {
        const double complex *values = fields->values + (i / fields->n + 1) * fields->n;
        const size_t x = i % fields->n;
        for (size_t z = 0; z < fields->n; z++) {
            fields->by_fftw[i] +=
                values[z] * (correlates ? conj(kernel[place_of_offset(fields, z, x)])
                                        : kernel[place_of_offset(fields, x, z)]);
        }
    }
}

/* Filled axes, and a kernel of a plan without, which has all offsets. */
static void check_all_offsets(const fft_case *given) {
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_operator *op = NULL;
    struct convolver own, other;
    fft_case whole = *given;
    whole.drops_points = whole.has_order = 0;
    whole.options.grid_ndims = random_between(0, 2);
    whole.options.in_place = random_chance(50);
    whole.options.batch = random_between(1, 2);
    whole.options.scaling = (enum fftnd_scaling)random_between(0, 3);
    harness_case("%s", fft_case_text(given));
    open_convolver(given, &own);
    open_convolver(&whole, &other);
    struct fields fields = make_fields(given), kernel = make_fields(&whole);
    options.kernel_plan = other.plan;
    options.conjugated = random_chance(50);
    sum_all_offsets(&fields, kernel.values, options.conjugated);
    set_fields(&kernel, &other.layout, other.arrays[0], 1, kernel.values);
    check_ok(
        fftnd_operator_from_kernel(own.plan, fft_array_address(other.arrays[0]), &options, &op));
    close_convolver(&other);
    check_operator(own.plan, op, &fields, own.arrays, &own.layout, options.conjugated);
    check_ok(fftnd_operator_free(&op));
    free_fields(&kernel);
    free_fields(&fields);
    close_convolver(&own);
}

static void check_case(const fft_case *given) {
    check_against(given, 0);
}

START_TEST(boxes) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = FFT_CASE(random_chance(50) ? FFTND_R2C : FFTND_C2C, random_between(2, 11),
                                  random_between(2, 11), random_between(2, 11));
        given.options.grid_ndims = random_between(0, 2);
        given.options.in_place = random_chance(30);
        given.options.batch = random_between(1, 2);
        given.options.batch_position = (enum fftnd_batch_position)random_between(0, 1);
        given.options.scaling = (enum fftnd_scaling)random_between(0, 3);
        given.precision = fft_case_precision((enum fftnd_precision)random_between(0, 2));
        if (random_chance(40)) {
            fft_random_filled(&given);
        } else if (random_chance(40)) {
            fft_random_kept(&given);
        }
        fft_use_device(&given);
        check_case(&given);
    }
}
END_TEST

START_TEST(kernels_of_all_offsets) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, random_between(2, 11),
                                  random_between(2, 11), random_between(2, 12));
        fft_case_fill(&given, (const int[]){(given.sizes[0] + 1) / 2, given.sizes[1] - 1,
                                            (given.sizes[2] + 1) / 2});
        given.options.grid_ndims = random_between(0, 2);
        given.options.in_place = random_chance(30);
        given.options.batch = random_between(1, 2);
        given.options.scaling = (enum fftnd_scaling)random_between(0, 3);
        given.precision = fft_case_precision((enum fftnd_precision)random_between(0, 2));
        if (given.kind == FFTND_C2C && random_chance(40)) {
            fft_random_order(&given);
        }
        fft_use_device(&given);
        check_all_offsets(&given);
    }
}
END_TEST

/* In half of the points, in one sweep along the last axis where its rank has all of its lines, in segments or not. */
START_TEST(on_device) {
    NEEDS_FFT_ARRAYS();
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, 2 * random_between(3, 8),
                                  2 * random_between(3, 8), 4 * random_between(3, 6));
        fft_case_fill(&given,
                      (const int[]){given.sizes[0] / 2, given.sizes[1] / 2, given.sizes[2] / 2});
        given.options.grid_ndims = random_between(1, 2);
        given.options.in_place = random_chance(30);
        given.options.batch = random_between(1, 2);
        given.precision = random_chance(70) ? FFTND_DOUBLE : fft_case_precision(FFTND_FLOAT);
        fft_use_chunks(random_between(1, 3), 0, random_between(1, 3), random_between(0, 2));
        fft_use_device(&given);
        check_case(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Filled to the half, more or less, with two fields, in place and not, in boxes and not. */
START_TEST(against_serial_fftw) {
    static const int filled[][3] = {{16, 15, 14}, {17, 8, 28}, {32, 30, 1}};
    for (int i = 0; i < 12; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_C2C : FFTND_R2C, 32, 30, 28);
        fft_case_fill(&given, filled[i / 2 % 3]);
        given.precision = fft_case_precision(i % 5 == 4 ? FFTND_FLOAT : FFTND_DOUBLE);
        given.options.batch = 1 + i / 2 % 2;
        given.options.in_place = i / 6;
        given.options.grid_ndims = i % 3;
        given.has_box[0] = i % 4 == 3;
        given.box_seed = random_bits();
        check_against(&given, 1);
    }
}
END_TEST

/* Modes that stand for two. */
START_TEST(half_way) {
    for (int kind = 0; kind < 2; kind++) {
        fft_case given = FFT_CASE(kind == 0 ? FFTND_C2C : FFTND_R2C, 6, 5, 12);
        const int retained[3] = {4, 2, 8};
        given.drops_modes = 1;
        memcpy(given.retained, retained, sizeof retained);
        check_case(&given);
    }
}
END_TEST

/* Any sides, orders, mixtures of axes, blocks. */
START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = fft_random_mixed_case(harness_nranks, 0);
        int transformed = 0;
        for (int axis = 0; axis < given.ndims; axis++) {
            transformed += is_transformed(&given, axis);
        }
        given.options.user_workspace = 0;
        if (transformed > 0 && !(given.drops_modes && given.drops_points)) {
            check_case(&given);
        }
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {boxes,    kernels_of_all_offsets, against_serial_fftw,
                                  half_way, random_cases,           NULL};
    const TTest *const with_device[] = {boxes, kernels_of_all_offsets, on_device, NULL};
    return harness_run(argc, argv, "test_fftnd_convolution",
                       has_fft_device() ? with_device : tests);
}
