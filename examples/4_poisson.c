/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Derivatives and Poisson's equation by a distributed real-to-complex transform.
 *
 * A periodic field is a sum of waves exp(i k.x). The Laplacian multiplies each wave by -|k|^2, so
 * it costs a forward transform, a product and a backward transform, which fftnd_apply does in one;
 * dividing instead solves Poisson's equation. Validation by the Laplacian follows section 2.6 of Egger's thesis
 * "Distributed FFT for Heterogeneous GPU Systems"; the field is equation (5) of Verma et al., "Scalable Multi-node Fast
 * Fourier Transform on GPUs", whose two terms the Laplacian multiplies by -14 and -77.
 */
#include "field.h"
#include "periodic_box.h"
#include <complex.h>
#include <fftnd_operators.h>
#include <math.h>

static const double first_eigenvalue = -(1.0 + 4.0 + 9.0);
static const double second_eigenvalue = -(16.0 + 25.0 + 36.0);

/* The two terms of the field, with a factor for each. */
static double two_waves(double x, double y, double z, double first, double second) {
    return first * 8 * sin(x) * sin(2 * y) * sin(3 * z) +
           second * 8 * sin(4 * x) * sin(5 * y) * sin(6 * z);
}

static double field(double x, double y, double z) {
    return two_waves(x, y, z, 1, 1);
}

static double laplacian_of_field(double x, double y, double z) {
    return two_waves(x, y, z, first_eigenvalue, second_eigenvalue);
}

/* A transform, one local array for each side of it, and one more for what comes back. */
struct transform {
    fftnd_plan *plan;
    fftnd_layout physical, spectral;
    struct field real, result;
    double complex *waves;
};

static struct transform create_transform(const struct setting *setting) {
    struct transform t = {.physical = FFTND_LAYOUT_DEFAULT, .spectral = FFTND_LAYOUT_DEFAULT};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.space = setting->space;
    check(fftnd_plan_create(MPI_COMM_WORLD, 3, setting->shape, FFTND_R2C, FFTND_DOUBLE, &options,
                            &t.plan));
    check(fftnd_plan_layout(t.plan, FFTND_PHYSICAL, &t.physical));
    check(fftnd_plan_layout(t.plan, FFTND_SPECTRAL, &t.spectral));
    t.real = create_field(setting->space, t.physical.bytes);
    t.result = create_field(setting->space, t.physical.bytes);
    t.waves = allocate_in(setting->space, t.spectral.bytes);
    return t;
}

static void free_transform(struct transform *t) {
    check(fftnd_plan_free(&t->plan));
    free_field(&t->real);
    free_field(&t->result);
    release(t->waves);
}

typedef double function(double x, double y, double z);

/* Where a local element stands in the local array. */
static ptrdiff_t place_of(const fftnd_layout *layout, redist_index i, redist_index j,
                          redist_index k) {
    return i * layout->stride[0] + j * layout->stride[1] + k * layout->stride[2];
}

static double coordinate(const fftnd_layout *physical, int axis, redist_index index) {
    return box_coordinate(physical->sizes[axis], physical->start[axis] + index);
}

/* Calls `point` for each local grid point with its element and the function's value there; returns
 * the largest result. */
static double at_each_point(struct transform *t, double *array, function *f,
                            double (*point)(double *, double)) {
    const fftnd_layout *p = &t->physical;
    double largest = 0;
    for (redist_index i = 0; i < p->count[0]; i++)
        for (redist_index j = 0; j < p->count[1]; j++)
            for (redist_index k = 0; k < p->count[2]; k++) {
                double value = f(coordinate(p, 0, i), coordinate(p, 1, j), coordinate(p, 2, k));
                largest = larger(largest, point(&array[place_of(p, i, j, k)], value));
            }
    return largest_of_all(largest);
}

static double store(double *element, double value) {
    *element = value;
    return fabs(value);
}

static double difference(double *element, double value) {
    return fabs(*element - value);
}

/* Samples `given`, applies an operator (NULL = forward and backward), and compares with `expected`;
 * returns the largest error relative to the largest expected value. */
static double error_of(struct transform *t, function *given, fftnd_operator *op,
                       function *expected) {
    double largest = at_each_point(t, t->result.host, expected, store);
    at_each_point(t, t->real.host, given, store);
    upload(&t->real);
    if (op != NULL) {
        check(fftnd_apply(t->plan, op, t->real.array, t->result.array));
    } else {
        check(fftnd_forward(t->plan, t->real.array, t->waves));
        check(fftnd_backward(t->plan, t->waves, t->result.array));
    }
    download(&t->result);
    return at_each_point(t, t->result.host, expected, difference) / largest;
}

/* Prints one line of the result; returns 1 if the error is too large. */
static int report(const char *what, double error, double bound) {
    if (my_rank() == 0)
        printf("%-40s relative error %.1e, at most %.1e allowed\n", what, error, bound);
    return error <= bound ? 0 : 1;
}

static int run(const struct setting *setting) {
    struct transform t = create_transform(setting);
    fftnd_operator *laplacian, *inverse; /* of the box [0, 2 pi)^3; the solution has the mean 0 */
    check(fftnd_operator_create(t.plan, FFTND_LAPLACIAN, NULL, &laplacian));
    check(fftnd_operator_create(t.plan, FFTND_INVERSE_LAPLACIAN, NULL, &inverse));
    double round_trip = error_of(&t, field, NULL, field);
    double derivative = error_of(&t, field, laplacian, laplacian_of_field);
    double solution = error_of(&t, laplacian_of_field, inverse, field);
    check(fftnd_operator_free(&laplacian));
    check(fftnd_operator_free(&inverse));
    free_transform(&t);

    /* The Laplacian enlarges the rounding errors of the shortest waves the most. */
    double shortest = 0;
    for (int axis = 0; axis < 3; axis++)
        shortest += 0.25 * (double)(setting->shape[axis] * setting->shape[axis]);
    double enlarged = fmax(1, shortest / -second_eigenvalue);

    int wrong = report("field after forward and backward:", round_trip, 1e-14);
    wrong += report("Laplacian of the field:", derivative, 1e-14 * enlarged);
    wrong += report("solution of Poisson's equation:", solution, 1e-14);
    return wrong == 0 ? 0 : 1;
}

static const char usage[] =
    "usage: 4_poisson [--shape N0,N1,N2] [--space SPACE] [--help]\n"
    "Laplacian and Poisson's equation on the periodic box [0, 2 pi)^3 by libfftnd.\n"
    "  --shape N0,N1,N2  grid points along each axis, more than 8, 10 and 12 (64,64,64)\n"
    "  --space SPACE     host, or cuda: fields live on devices, which ranks take in turn (host)\n";

/* A wave that turns k times around the box needs more than 2 k points. */
static int is_enough(const redist_index shape[3]) {
    return shape[0] > 8 && shape[1] > 10 && shape[2] > 12;
}

int main(int argc, char *argv[]) {
    const struct setting setting = {.shape = {64, 64, 64}, .space = REDIST_SPACE_HOST};
    return run_example(argc, argv, setting, usage, is_enough, run);
}
