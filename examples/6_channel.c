/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Poisson's equation in a channel: two walls and two periodic directions.
 *
 * On points in the middle of cells, a field whose derivative vanishes at the walls is a sum of cosines cos(pi k z / H):
 * a DCT-II along that axis. The others are periodic: waves, of which a real field needs half along one axis. Each of
 * these products the Laplacian multiplies by a number, and dividing by it solves Poisson's equation: an operator that
 * knows the kind of each axis, between a transform and the one back.
 */
#include "field.h"
#include <fftnd_operators.h>
#include <math.h>

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

/* A plan, what this rank has on its physical side, and a field there. */
struct transform {
    fftnd_plan *plan;
    fftnd_layout physical;
    struct field field;
};

static struct transform create_transform(const struct setting *setting) {
    static const enum fftnd_axis axes[3] = {FFTND_AXIS_R2R, FFTND_AXIS_COMPLEX, FFTND_AXIS_HALVED};
    static const enum fftnd_r2r r2r[3] = {FFTND_DCT2}; /* of the first axis: the others have none */
    struct transform t = {.physical = FFTND_LAYOUT_DEFAULT};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.axes = axes;
    options.r2r = r2r;
    options.space = setting->space;
    options.in_place = 1;
    check(fftnd_plan_create(MPI_COMM_WORLD, 3, setting->shape, FFTND_MIXED, FFTND_DOUBLE, &options,
                            &t.plan));
    check(fftnd_plan_layout(t.plan, FFTND_PHYSICAL, &t.physical));
    t.field = create_field(setting->space, t.physical.bytes);
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
            t->field.host[place_of(&t->physical, i)] = f(x);
        } while (go_on(&t->physical, i));
}

static double compare(const struct transform *t, double (*f)(const double x[3])) {
    redist_index i[3] = {0};
    double x[3], largest = 0;
    if (has_elements(&t->physical))
        do {
            find_point(&t->physical, i, x);
            largest = larger(largest, fabs(t->field.host[place_of(&t->physical, i)] - f(x)));
        } while (go_on(&t->physical, i));
    return largest_of_all(largest);
}

/* The mean of the solution is open, and an inverse Laplacian makes it zero. */
static void divide_by_laplacian(const struct transform *t) {
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_operator *inverse;
    options.lengths = length;
    check(fftnd_operator_create(t->plan, FFTND_INVERSE_LAPLACIAN, &options, &inverse));
    check(fftnd_apply(t->plan, inverse, t->field.array, t->field.array));
    check(fftnd_operator_free(&inverse));
}

static int run(const struct setting *setting) {
    struct transform t = create_transform(setting);
    sample(&t, laplacian_of_field);
    upload(&t.field);
    divide_by_laplacian(&t);
    download(&t.field);
    double error = compare(&t, field), bound = 1e-13;
    if (my_rank() == 0)
        printf("channel of %lld x %lld x %lld points: error %.1e, at most %.1e allowed\n",
               (long long)setting->shape[0], (long long)setting->shape[1],
               (long long)setting->shape[2], error, bound);
    check(fftnd_plan_free(&t.plan));
    free_field(&t.field);
    return error <= bound ? 0 : 1;
}

static const char usage[] =
    "usage: 6_channel [--shape N0,N1,N2] [--space SPACE] [--help]\n"
    "Poisson's equation between two walls, at the ends of the first axis, by libfftnd.\n"
    "  --shape N0,N1,N2  grid points along each axis, more than 2, 2 and 6 (33,48,64)\n"
    "  --space SPACE     host, or cuda: the field lives on devices, which ranks take in turn "
    "(host)\n";

/* What the waves of the field need. */
static int is_enough(const redist_index shape[3]) {
    return shape[0] > 2 && shape[1] > 2 && shape[2] > 6;
}

int main(int argc, char *argv[]) {
    const struct setting setting = {.shape = {33, 48, 64}, .space = REDIST_SPACE_HOST};
    return run_example(argc, argv, setting, usage, is_enough, run);
}
