/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Example 9: the Laplacian of one field in a periodic box, by central differences of second to eighth order, which read
 * ghosts, and by libfftnd's operator. The ghosts travel while the operator is applied.
 *
 *     mpirun -n 2 9_finite_differences [--output FOLDER]
 *
 * Prints the largest errors on some numbers of points, and writes them to FOLDER for draw.gp.
 */
#include "../example.h"
#include "../periodic_box.h"

#include <fftnd_operators.h>
#include <redist_halo.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 4, METHODS = WIDTH + 1, GRIDS = 3 };

/* Orders of differences, which read up to WIDTH ghosts on each side, and the operator. */
static const char *const methods[METHODS] = {"2", "4", "6", "8", "spectral"};
static const int points_of[GRIDS] = {16, 32, 64};

/* ---------------------------------------------------------------- the field */

static double field_at(double x, double y, double z) {
    return exp(sin(x) + sin(y) + sin(z));
}

static double laplacian_at(double x, double y, double z) {
    return field_at(x, y, z) *
           (pow(cos(x), 2) + pow(cos(y), 2) + pow(cos(z), 2) - sin(x) - sin(y) - sin(z));
}

/* One field as the transform has it, and as differences read it. */
struct solver {
    int points;
    fftnd_plan *transform;
    fftnd_operator *laplacian;
    fftnd_layout layout;
    double *field, *result; /* of the operator */
    redist_box box;         /* the same points in the array with ghosts */
    redist_plan *ghosts;
    double *padded;
};

static void create_transform(struct solver *s) {
    const redist_index sizes[3] = {s->points, s->points, s->points};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.effort = FFTND_ESTIMATE;
    check(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options,
                            &s->transform));
    check(fftnd_operator_create(s->transform, FFTND_LAPLACIAN, NULL, &s->laplacian));
    check(fftnd_plan_layout(s->transform, FFTND_PHYSICAL, &s->layout));
    s->field = allocate(s->layout.bytes);
    s->result = allocate(s->layout.bytes);
}

/* Each rank has the points that it has of the transform, in an array with ghosts around them. */
static void create_ghosts(struct solver *s) {
    redist_halo halo = REDIST_HALO_DEFAULT;
    size_t elements = 1;
    for (int axis = 0; axis < 3; axis++) {
        halo.low[axis] = halo.high[axis] = s->box.offset[axis] = WIDTH;
        halo.periodic[axis] = 1;
        s->box.start[axis] = s->layout.start[axis];
        s->box.count[axis] = s->layout.count[axis];
        s->box.extent[axis] = s->layout.count[axis] + 2 * WIDTH;
        elements *= (size_t)s->box.extent[axis];
    }
    s->padded = allocate(elements * sizeof(double));
    check(redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 3, s->layout.sizes, &s->box, s->padded,
                           &halo, NULL, &s->ghosts));
}

static void free_solver(struct solver *s) {
    check(redist_plan_free(&s->ghosts));
    check(fftnd_operator_free(&s->laplacian));
    check(fftnd_plan_free(&s->transform));
    release(s->padded);
    release(s->result);
    release(s->field);
}

/* ---------------------------------------------------------------- points */

/* Calls a function for each point of this rank. */
typedef void visitor(struct solver *s, const redist_index at[3], const double x[3], void *data);

static void visit_all(struct solver *s, visitor *visit, void *data) {
    const redist_index *count = s->layout.count;
    for (redist_index i = 0; i < count[0]; i++)
        for (redist_index j = 0; j < count[1]; j++)
            for (redist_index k = 0; k < count[2]; k++) {
                const redist_index at[3] = {i, j, k};
                double x[3];
                for (int axis = 0; axis < 3; axis++)
                    x[axis] = box_coordinate(s->points, s->layout.start[axis] + at[axis]);
                visit(s, at, x, data);
            }
}

static ptrdiff_t place_of(const struct solver *s, const redist_index at[3]) {
    return at[0] * s->layout.stride[0] + at[1] * s->layout.stride[1] + at[2] * s->layout.stride[2];
}

static double *padded_at(const struct solver *s, const redist_index at[3]) {
    return &s->padded[((at[0] + WIDTH) * s->box.extent[1] + at[1] + WIDTH) * s->box.extent[2] +
                      at[2] + WIDTH];
}

static void set_point(struct solver *s, const redist_index at[3], const double x[3], void *data) {
    (void)data;
    s->field[place_of(s, at)] = *padded_at(s, at) = field_at(x[0], x[1], x[2]);
}

/* ---------------------------------------------------------------- differences */

/* One way to the Laplacian, with its largest error and the largest exact value. */
struct comparison {
    int reach; /* points on each side, half the order; 0 = the operator's result */
    double coefficients[WIDTH + 1]; /* of points at a distance, which is 1 between neighbours */
    double error, largest;
};

/* The coefficients for which the second derivative of a polynomial of degree 2 * reach + 1 is exact. */
static struct comparison create_comparison(int reach) {
    struct comparison made = {.reach = reach};
    double product = 1; /* reach!^2 / (reach - k)! / (reach + k)! */
    for (int k = 1; k <= reach; k++) {
        product *= (double)(reach - k + 1) / (reach + k);
        made.coefficients[k] = (k % 2 ? 2 : -2) * product / (k * k);
        made.coefficients[0] -= 2 * made.coefficients[k];
    }
    return made;
}

static double differences(const struct solver *s, const redist_index at[3],
                          const struct comparison *comparison) {
    const ptrdiff_t strides[3] = {s->box.extent[1] * s->box.extent[2], s->box.extent[2], 1};
    const double *point = padded_at(s, at), h = box_coordinate(s->points, 1);
    double sum = 3 * comparison->coefficients[0] * *point;
    for (int k = 1; k <= comparison->reach; k++)
        for (int axis = 0; axis < 3; axis++)
            sum += comparison->coefficients[k] *
                   (point[k * strides[axis]] + point[-k * strides[axis]]);
    return sum / (h * h);
}

static void compare_point(struct solver *s, const redist_index at[3], const double x[3],
                          void *data) {
    struct comparison *comparison = data;
    double exact = laplacian_at(x[0], x[1], x[2]);
    double found =
        comparison->reach > 0 ? differences(s, at, comparison) : s->result[place_of(s, at)];
    comparison->error = larger(comparison->error, fabs(found - exact));
    comparison->largest = larger(comparison->largest, fabs(exact));
}

static void find_errors(int points, double errors[METHODS]) {
    struct solver s = {.points = points, .layout = FFTND_LAYOUT_DEFAULT, .box = REDIST_BOX_DEFAULT};
    create_transform(&s);
    create_ghosts(&s);
    visit_all(&s, set_point, NULL);
    check(redist_plan_start(s.ghosts, REDIST_FILL));
    check(fftnd_apply(s.transform, s.laplacian, s.field, s.result));
    check(redist_plan_wait(s.ghosts));
    for (int i = 0; i < METHODS; i++) {
        struct comparison comparison = create_comparison((i + 1) % METHODS);
        visit_all(&s, compare_point, &comparison);
        errors[i] = largest_of_all(comparison.error) / largest_of_all(comparison.largest);
    }
    free_solver(&s);
}

/* ---------------------------------------------------------------- results */

/* A line for each way, a column for each number of points. */
static void print(FILE *file, double errors[GRIDS][METHODS]) {
    fprintf(file, "order   ");
    for (int grid = 0; grid < GRIDS; grid++)
        fprintf(file, "   %d^3", points_of[grid]);
    for (int i = 0; i < METHODS; i++) {
        fprintf(file, "\n%-8s", methods[i]);
        for (int grid = 0; grid < GRIDS; grid++)
            fprintf(file, " %.1e", errors[grid][i]);
    }
    fprintf(file, "\n");
}

static int write_file(const char *folder, double errors[GRIDS][METHODS]) {
    char name[4096];
    snprintf(name, sizeof(name), "%s/finite_differences.dat", folder);
    FILE *file = fopen(name, "w");
    if (file == NULL) {
        perror(name);
        return 1;
    }
    print(file, errors);
    return fclose(file) != 0;
}

/* On twice the points an error of order n is smaller by 2^n; the operator is exact but for rounding. */
static int are_wrong(double errors[GRIDS][METHODS]) {
    int wrong = !(errors[GRIDS - 1][WIDTH] < 1e-11);
    for (int i = 0; i < WIDTH; i++) {
        double order = log2(errors[GRIDS - 2][i] / errors[GRIDS - 1][i]);
        wrong += !(fabs(order - 2 * (i + 1)) < 0.5);
    }
    return wrong;
}

int main(int argc, char *argv[]) {
    double errors[GRIDS][METHODS];
    int writes = argc == 3 && strcmp(argv[1], "--output") == 0, wrong = 0;
    if (argc > 1 && !writes) {
        fprintf(stderr, "usage: 9_finite_differences [--output FOLDER]\n");
        return EXIT_FAILURE;
    }
    MPI_Init(&argc, &argv);
    for (int grid = 0; grid < GRIDS; grid++)
        find_errors(points_of[grid], errors[grid]);
    if (my_rank() == 0) {
        print(stdout, errors);
        wrong = are_wrong(errors) + (writes && write_file(argv[2], errors));
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
