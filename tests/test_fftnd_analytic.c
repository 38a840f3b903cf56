/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields whose transforms are known in closed form; no serial transform library is involved. */
#include <math.h>

#include "fft_run.h"
#include "harness.h"
#include "r2r_factor.h"

enum { NR2R = FFTND_DHT + 1 };

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- fields */

/* The value at a place of one side: real and imaginary part. */
typedef void (*fft_field)(const fft_case *given, const int index[], const void *context,
                          double value[2]);

static void *element_at(const fft_run *run, enum fftnd_side side, const fft_place *place) {
    return (unsigned char *)fft_run_data(run, side) + place->offset;
}

static void get_element(const fft_run *run, enum fftnd_side side, const fft_place *place,
                        double value[2]) {
    const unsigned char *address = element_at(run, side, place);
    value[0] = (double)fft_number_get(run->given, address);
    value[1] = 0;
    if (fft_case_components(run->given, side) == 2) {
        value[1] = (double)fft_number_get(run->given, address + fft_case_number_bytes(run->given));
    }
}

static void set_element(const fft_run *run, enum fftnd_side side, const fft_place *place,
                        const double value[2]) {
    unsigned char *address = element_at(run, side, place);
    fft_number_set(run->given, address, value[0]);
    if (fft_case_components(run->given, side) == 2) {
        fft_number_set(run->given, address + fft_case_number_bytes(run->given), value[1]);
    }
}

static void fill(fft_run *run, enum fftnd_side side, fft_field field, const void *context) {
    const fft_walk walk = fft_walk_make(&run->layout[side], run->given->options.batch);
    fft_array_poison(run->array[0]);
    fft_array_poison(run->array[1]);
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        double value[2];
        field(run->given, place.index, context, value);
        set_element(run, side, &place, value);
    }
}

/* `largest` is the largest absolute value of the field. */
static void check_field(const fft_run *run, enum fftnd_side side, fft_field field,
                        const void *context, double largest) {
    const fft_walk walk = fft_walk_make(&run->layout[side], run->given->options.batch);
    const double most = largest * fft_case_tolerance(run->given);
    double worst = 0;
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        double value[2];
        double got[2];
        field(run->given, place.index, context, value);
        get_element(run, side, &place, got);
        const double error = hypot(got[0] - value[0], got[1] - value[1]);
        worst = isnan(error) ? INFINITY : fmax(worst, error);
    }
    check_all(worst <= most, "off by %.3g, more than %.3g", worst, most);
}

/* ---------------------------------------------------------------- one Fourier mode */

/* exp(2 pi i k.x / n), or its real part for a real field. */
static void mode(const fft_case *given, const int index[], const void *context, double value[2]) {
    const int *wave = context;
    double turns = 0;
    for (int axis = 0; axis < given->ndims; axis++) {
        const int n = given->sizes[axis];
        turns += (double)(index[axis] * wave[axis] % n) / n;
    }
    value[0] = cos(2 * pi * turns);
    value[1] = given->kind == FFTND_C2C ? sin(2 * pi * turns) : 0;
}

/* Nonzero if the index is the mode's place, or with sign -1 that of its conjugate. */
static int is_place(const fft_case *given, const int index[], const int wave[], int sign) {
    int is_here = 1;
    for (int axis = 0; axis < given->ndims; axis++) {
        is_here = is_here && (index[axis] - sign * wave[axis]) % given->sizes[axis] == 0;
    }
    return is_here;
}

static void mode_coefficient(const fft_case *given, const int index[], const void *context,
                             double value[2]) {
    const int here = is_place(given, index, context, 1);
    const int conjugate = is_place(given, index, context, -1);
    value[0] = given->kind == FFTND_C2C ? here : 0.5 * (here + conjugate);
    value[1] = 0;
}

START_TEST(modes_land_in_their_coefficient) {
    for (int i = 0; harness_another(i, 3); i++) {
        fft_case given = i % 3 == 0   ? FFT_CASE(FFTND_C2C, 8, 9)
                         : i % 3 == 1 ? FFT_CASE(FFTND_C2C, 6, 5, 7)
                                      : FFT_CASE(FFTND_R2C, 5, 6, 4, 3);
        int wave[REDIST_MAX_NDIMS];
        fft_run run;
        for (int axis = 0; axis < given.ndims; axis++) {
            wave[axis] = random_between(0, given.sizes[axis] - 1);
        }
        given.options.scaling = FFTND_SCALE_FORWARD;
        given.options.halved_axis = given.kind == FFTND_R2C ? random_between(-1, 3) : -1;
        given.options.alignment = (enum fftnd_alignment)random_between(0, 1);
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        harness_case("mode %d %d ... of %s", wave[0], wave[1], fft_case_text(&given));
        fill(&run, FFTND_PHYSICAL, mode, wave);
        check_ok(fft_run_execute(&run, FFTND_PHYSICAL));
        check_field(&run, FFTND_SPECTRAL, mode_coefficient, wave, 1);
        fill(&run, FFTND_SPECTRAL, mode_coefficient, wave);
        check_ok(fft_run_execute(&run, FFTND_SPECTRAL));
        check_field(&run, FFTND_PHYSICAL, mode, wave, 1);
        fft_run_free(&run);
    }
}
END_TEST

/* ---------------------------------------------------------------- derivatives */

/* amplitude * product of sin(k x + phase) on a box of side 2 pi */
typedef struct sine_product {
    int wave[3];
    double phase[3];
    double amplitude;
} sine_product;

static void sines(const fft_case *given, const int index[], const void *context, double value[2]) {
    const sine_product *product = context;
    value[0] = product->amplitude;
    value[1] = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double x = 2 * pi * index[axis] / given->sizes[axis];
        value[0] *= sin(product->wave[axis] * x + product->phase[axis]);
    }
}

static int wave_number(const fft_case *given, const int index[], int axis) {
    const int n = given->sizes[axis];
    return index[axis] <= n / 2 ? index[axis] : index[axis] - n;
}

/* axis 0..2: times i k along it; axis 3: times -|k|^2 */
static void differentiate(fft_run *run, int axis) {
    const fft_walk walk = fft_walk_make(&run->layout[FFTND_SPECTRAL], run->given->options.batch);
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        double value[2];
        double square = 0;
        get_element(run, FFTND_SPECTRAL, &place, value);
        for (int i = 0; i < 3; i++) {
            square += pow(wave_number(run->given, place.index, i), 2);
        }
        const double k = axis < 3 ? wave_number(run->given, place.index, axis) : 0;
        const double slope[] = {-k * value[1], k * value[0]};
        const double laplacian[] = {-square * value[0], -square * value[1]};
        set_element(run, FFTND_SPECTRAL, &place, axis < 3 ? slope : laplacian);
    }
}

/* d/dx sin(kx + phase) = k sin(kx + phase + pi/2) */
static sine_product derivative_of(sine_product product, int axis) {
    if (axis < 3) {
        product.amplitude *= product.wave[axis];
        product.phase[axis] += pi / 2;
        return product;
    }
    int square = 0;
    for (int i = 0; i < 3; i++) {
        square += product.wave[i] * product.wave[i];
    }
    product.amplitude *= -square;
    return product;
}

static void check_derivative(fft_run *run, int axis) {
    const sine_product product = {{1, 2, 3}, {0.0, 0.4, 0.0}, 1.5};
    const sine_product expected = derivative_of(product, axis);
    harness_case("derivative %d of %s", axis, fft_case_text(run->given));
    fill(run, FFTND_PHYSICAL, sines, &product);
    check_ok(fft_run_execute(run, FFTND_PHYSICAL));
    differentiate(run, axis);
    check_ok(fft_run_execute(run, FFTND_SPECTRAL));
    /* wave numbers up to 6 magnify the rounding of other modes */
    check_field(run, FFTND_PHYSICAL, sines, &expected, axis < 3 ? 1.5 * 6 : 1.5 * 108);
}

START_TEST(derivatives_of_sines) {
    for (int i = 0; i < 2 * 3 * 2; i++) {
        fft_case given = FFT_CASE(i % 2 == 0 ? FFTND_R2C : FFTND_C2C, 7, 8, 12);
        fft_run run;
        given.options.halved_axis = given.kind == FFTND_R2C ? i / 2 % 3 : -1;
        given.options.in_place = i / 6;
        given.options.batch = 1 + i % 3 / 2;
        given.options.scaling = i % 2 == 0 ? FFTND_SCALE_BACKWARD : FFTND_SCALE_UNITARY;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        for (int axis = 0; axis < 4; axis++) {
            check_derivative(&run, axis);
        }
        fft_run_free(&run);
    }
}
END_TEST

/* ---------------------------------------------------------------- Parseval */

/* How often an element stands in the whole spectrum: the halved axis keeps one of each pair. */
static double weight(const fft_case *given, enum fftnd_side side, const int index[]) {
    const int halved = fft_case_halved_axis(given);
    if (side == FFTND_PHYSICAL || halved < 0) {
        return 1;
    }
    return index[halved] == 0 || 2 * index[halved] == given->sizes[halved] ? 1 : 2;
}

static double energy(const fft_run *run, enum fftnd_side side) {
    const fft_walk walk = fft_walk_make(&run->layout[side], run->given->options.batch);
    double sum = 0;
    for (size_t which = 0; which < walk.nelements * (size_t)walk.nfields; which++) {
        const fft_place place = fft_walk_place(&walk, which);
        double value[2];
        get_element(run, side, &place, value);
        sum += weight(run->given, side, place.index) * (value[0] * value[0] + value[1] * value[1]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

START_TEST(energy_is_kept) {
    for (int i = 0; i < 12; i++) {
        fft_case given = FFT_CASE(i % 2 == 0 ? FFTND_R2C : FFTND_C2C, 6, 5 + i % 4, 7 + i / 6);
        fft_run run;
        given.options.scaling = FFTND_SCALE_UNITARY;
        given.options.halved_axis = given.kind == FFTND_R2C ? i / 2 % 3 : -1;
        given.options.batch = 1 + i % 3;
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        fft_run_load(&run, FFTND_PHYSICAL, 1);
        check_ok(fft_run_execute(&run, FFTND_PHYSICAL));
        const double physical = energy(&run, FFTND_PHYSICAL);
        const double spectral = energy(&run, FFTND_SPECTRAL);
        check_all(fabs(spectral - physical) <= fft_case_tolerance(&given) * physical,
                  "energies %.17g and %.17g", physical, spectral);
        fft_run_free(&run);
    }
}
END_TEST

/* ---------------------------------------------------------------- real transforms by their sums */

static double line_value(int axis, int j) {
    return 1 / (1.0 + axis + j) + 0.3 * j * (j % 2);
}

static void lines(const fft_case *given, const int index[], const void *context, double value[2]) {
    (void)context;
    value[0] = 1;
    value[1] = 0;
    for (int axis = 0; axis < given->ndims; axis++) {
        value[0] *= line_value(axis, index[axis]);
    }
}

static void transformed_lines(const fft_case *given, const int index[], const void *context,
                              double value[2]) {
    (void)context;
    value[0] = 1;
    value[1] = 0;
    for (int axis = 0; axis < given->ndims; axis++) {
        double sum = 0;
        for (int j = 0; j < given->sizes[axis]; j++) {
            sum += line_value(axis, j) *
                   r2r_factor(given->r2r[axis], given->sizes[axis], j, index[axis]);
        }
        value[0] *= sum;
    }
}

START_TEST(real_transforms_are_their_sums) {
    for (int i = 0; i < NR2R; i++) {
        fft_case given = FFT_CASE(FFTND_R2R, 5, 6, 4);
        fft_run run;
        for (int axis = 0; axis < 3; axis++) {
            given.r2r[axis] = (enum fftnd_r2r)((i + axis * (axis + 2)) % NR2R);
        }
        fft_run_create(MPI_COMM_WORLD, &given, &run);
        harness_case("sums of %s", fft_case_text(&given));
        fill(&run, FFTND_PHYSICAL, lines, NULL);
        check_ok(fft_run_execute(&run, FFTND_PHYSICAL));
        check_field(&run, FFTND_SPECTRAL, transformed_lines, NULL, 100);
        fill(&run, FFTND_SPECTRAL, transformed_lines, NULL);
        check_ok(fft_run_execute(&run, FFTND_SPECTRAL));
        check_field(&run, FFTND_PHYSICAL, lines, NULL, 1);
        fft_run_free(&run);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {modes_land_in_their_coefficient, derivatives_of_sines,
                                  energy_is_kept, real_transforms_are_their_sums, NULL};
    return harness_run(argc, argv, "test_fftnd_analytic", tests);
}
