/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Poisson's equation in a channel: two walls and two periodic directions.
 *
 * On points in the middle of cells, a field whose derivative vanishes at the walls is a sum of cosines cos(pi k z / H):
 * a DCT-II along that axis. The others are periodic: waves, of which a real field needs half along one axis. Each of
 * these products the Laplacian multiplies by a number, and dividing by it solves Poisson's equation.
 */
#include "example.h"
#include <complex.h>
#include <fftnd.h>
#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* Between the walls, across, and along. */
static const double length[3] = {2, 3, 6};

/* The solution and its Laplacian: two products of a cosine between the walls and waves. */
static double field(const double x[3]) {
    return cos(2 * pi * x[0] / length[0]) * sin(2 * pi * x[1] / length[1]) +
           cos(pi * x[0] / length[0]) * cos(6 * pi * x[2] / length[2]);
}

static double laplacian_of_field(const double x[3]) {
    double a = pow(2 * pi / length[0], 2) + pow(2 * pi / length[1], 2);
    double b = pow(pi / length[0], 2) + pow(6 * pi / length[2], 2);
    return -a * cos(2 * pi * x[0] / length[0]) * sin(2 * pi * x[1] / length[1]) -
           b * cos(pi * x[0] / length[0]) * cos(6 * pi * x[2] / length[2]);
}

/* A plan and one local array for each side of it. */
struct transform {
    fftnd_plan *plan;
    fftnd_layout physical, spectral;
    double *real;
    double complex *modes;
};

static struct transform create_transform(const redist_index shape[3]) {
    static const enum fftnd_axis axes[3] = {FFTND_AXIS_R2R, FFTND_AXIS_COMPLEX, FFTND_AXIS_HALVED};
    static const enum fftnd_r2r r2r[3] = {FFTND_DCT2}; /* of the first axis: the others have none */
    struct transform t = {.physical = FFTND_LAYOUT_DEFAULT, .spectral = FFTND_LAYOUT_DEFAULT};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.axes = axes;
    options.r2r = r2r;
    check(
        fftnd_plan_create(MPI_COMM_WORLD, 3, shape, FFTND_MIXED, FFTND_DOUBLE, &options, &t.plan));
    check(fftnd_plan_layout(t.plan, FFTND_PHYSICAL, &t.physical));
    check(fftnd_plan_layout(t.plan, FFTND_SPECTRAL, &t.spectral));
    t.real = allocate(t.physical.bytes);
    t.modes = allocate(t.spectral.bytes);
    return t;
}

static ptrdiff_t place_of(const fftnd_layout *layout, const redist_index i[3]) {
    return i[0] * layout->stride[0] + i[1] * layout->stride[1] + i[2] * layout->stride[2];
}

/* The next local element, the last axis fastest; 0 after the last one. */
static int go_on(const fftnd_layout *layout, redist_index i[3]) {
    for (int axis = 2; axis >= 0; axis--) {
        if (++i[axis] < layout->count[axis])
            return 1;
        i[axis] = 0;
    }
    return 0;
}

static int has_elements(const fftnd_layout *layout) {
    return layout->count[0] > 0 && layout->count[1] > 0 && layout->count[2] > 0;
}

/* Where a local element is in the channel: between the walls in the middle of a cell. */
static void find_point(const fftnd_layout *p, const redist_index i[3], double x[3]) {
    for (int axis = 0; axis < 3; axis++)
        x[axis] = length[axis] * ((double)(p->start[axis] + i[axis]) + (axis == 0 ? 0.5 : 0)) /
                  (double)p->sizes[axis];
}

static void sample(struct transform *t, double (*f)(const double x[3])) {
    redist_index i[3] = {0};
    double x[3];
    if (has_elements(&t->physical))
        do {
            find_point(&t->physical, i, x);
            t->real[place_of(&t->physical, i)] = f(x);
        } while (go_on(&t->physical, i));
}

static double compare(const struct transform *t, double (*f)(const double x[3])) {
    redist_index i[3] = {0};
    double x[3], largest = 0;
    if (has_elements(&t->physical))
        do {
            find_point(&t->physical, i, x);
            largest = larger(largest, fabs(t->real[place_of(&t->physical, i)] - f(x)));
        } while (go_on(&t->physical, i));
    return largest_of_all(largest);
}

/* Second derivatives along an axis multiply its modes by these. */
static double *second_derivatives(const struct transform *t, int axis) {
    double *symbol = allocate((size_t)t->spectral.count[axis] * sizeof(double));
    check(fftnd_plan_wavenumbers(t->plan, axis, symbol));
    for (redist_index i = 0; i < t->spectral.count[axis]; i++) {
        double k = (axis == 0 ? 1 : 2) * pi * symbol[i] / length[axis];
        symbol[i] = -k * k;
    }
    return symbol;
}

/* The mean of the solution is open; we choose zero. */
static void divide_by_laplacian(struct transform *t) {
    double *symbols[3];
    redist_index i[3] = {0};
    for (int axis = 0; axis < 3; axis++)
        symbols[axis] = second_derivatives(t, axis);
    if (has_elements(&t->spectral))
        do {
            double laplacian = symbols[0][i[0]] + symbols[1][i[1]] + symbols[2][i[2]];
            t->modes[place_of(&t->spectral, i)] *= laplacian < 0 ? 1 / laplacian : 0;
        } while (go_on(&t->spectral, i));
    for (int axis = 0; axis < 3; axis++)
        release(symbols[axis]);
}

static int run(const redist_index shape[3]) {
    struct transform t = create_transform(shape);
    sample(&t, laplacian_of_field);
    check(fftnd_forward(t.plan, t.real, t.modes));
    divide_by_laplacian(&t);
    check(fftnd_backward(t.plan, t.modes, t.real));
    double error = compare(&t, field), bound = 1e-13;
    if (my_rank() == 0)
        printf("channel of %lld x %lld x %lld points: error %.1e, at most %.1e allowed\n",
               (long long)shape[0], (long long)shape[1], (long long)shape[2], error, bound);
    check(fftnd_plan_free(&t.plan));
    release(t.real);
    release(t.modes);
    return error <= bound ? 0 : 1;
}

int main(int argc, char *argv[]) {
    MPI_Init(&argc, &argv);
    redist_index shape[3] = {33, 48, 64};
    for (int axis = 0; axis < 3 && argc == 4; axis++)
        shape[axis] = atoi(argv[1 + axis]);
    int status = run(shape);
    MPI_Finalize();
    return status;
}
