/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The potential of a cloud of charge without boundaries: Laplacian(u) = f in free space, u -> 0 far away.
 *
 * Each axis has twice the points of the domain, the others being zeros, so that the periodic convolution of a transform
 * is the one in free space. With fftnd_options.filled these zeros are neither stored nor sent. FFTND_OPEN_POISSON has
 * the transform of Green's function, and fftnd_apply does the rest. The cloud is a Gaussian, whose potential is known:
 * -erf(r / (sqrt(2) width)) / (4 pi r). With Green's function integrated over cells the error falls by 4 when there are
 * twice the points; truncated outside of the domain it is the error of the points alone, which for a smooth cloud is
 * that of rounding.
 */
#include "command_line.h"
#include "example.h"
#include <fftnd_operators.h>
#include <stdlib.h>

static const double width = 1.0 / 16; /* of the cloud in the domain [0, 1)^3 */

struct choice {
    int points; /* of the domain along each axis */
    const char *folder;
};

/* A domain of `points` along each axis. */
struct domain {
    int points;
    fftnd_plan *plan;
    fftnd_layout layout;
    double *charge, *potential;
};

static struct domain create_domain(int points) {
    struct domain domain = {.points = points, .layout = FFTND_LAYOUT_DEFAULT};
    const redist_index sizes[3] = {2 * points, 2 * points, 2 * points};
    const redist_index filled[3] = {points, points, points};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.filled = filled;
    check(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options,
                            &domain.plan));
    check(fftnd_plan_layout(domain.plan, FFTND_PHYSICAL, &domain.layout));
    domain.charge = allocate(domain.layout.bytes);
    domain.potential = allocate(domain.layout.bytes);
    return domain;
}

static void free_domain(struct domain *domain) {
    check(fftnd_plan_free(&domain->plan));
    release(domain->charge);
    release(domain->potential);
}

/* ---------------------------------------------------------------- the cloud */

static double charge_at(double r) {
    const double bell = exp(-r * r / (2 * width * width));
    return bell / pow(2 * acos(-1) * width * width, 1.5);
}

static double potential_at(double r) {
    const double x = r / (sqrt(2) * width);
    const double quotient = x > 1e-4 ? erf(x) / x : 2 / sqrt(acos(-1)); /* its limit at 0 */
    return -quotient / (4 * acos(-1) * sqrt(2) * width);
}

/* ---------------------------------------------------------------- all points of this rank */

typedef void at_point(struct domain *domain, const redist_index at[3], ptrdiff_t place, double r,
                      void *data);

/* Calls a function for the local points, with their global indices and their distance from the centre. */
static void for_each_point(struct domain *domain, at_point *visit, void *data) {
    const fftnd_layout *l = &domain->layout;
    redist_index at[3];
    for (at[0] = l->start[0]; at[0] < l->start[0] + l->count[0]; at[0]++)
        for (at[1] = l->start[1]; at[1] < l->start[1] + l->count[1]; at[1]++)
            for (at[2] = l->start[2]; at[2] < l->start[2] + l->count[2]; at[2]++) {
                ptrdiff_t place = 0;
                double square = 0;
                for (int axis = 0; axis < 3; axis++) {
                    const double x = (double)at[axis] / domain->points - 0.5;
                    square += x * x;
                    place += (ptrdiff_t)(at[axis] - l->start[axis]) * l->stride[axis];
                }
                visit(domain, at, place, sqrt(square), data);
            }
}

static void set_charge(struct domain *domain, const redist_index at[3], ptrdiff_t place, double r,
                       void *data) {
    (void)at, (void)data;
    domain->charge[place] = charge_at(r);
}

static void compare(struct domain *domain, const redist_index at[3], ptrdiff_t place, double r,
                    void *data) {
    double *largest = data;
    (void)at;
    *largest = larger(*largest, fabs(domain->potential[place] - potential_at(r)));
}

/* Solves, and returns the largest error relative to the largest potential. */
static double solve(struct domain *domain, enum fftnd_green green) {
    const double lengths[3] = {2, 2, 2}; /* with the zeros */
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_operator *op = NULL;
    double error = 0;
    options.lengths = lengths;
    options.green = green;
    check(fftnd_operator_create(domain->plan, FFTND_OPEN_POISSON, &options, &op));
    for_each_point(domain, set_charge, NULL);
    check(fftnd_apply(domain->plan, op, domain->charge, domain->potential));
    check(fftnd_operator_free(&op));
    for_each_point(domain, compare, &error);
    return largest_of_all(error) / fabs(potential_at(0));
}

/* ---------------------------------------------------------------- a picture */

static void set_pixel(struct domain *domain, const redist_index at[3], ptrdiff_t place, double r,
                      void *data) {
    double *plane = data;
    (void)r;
    if (at[2] == domain->points / 2)
        plane[at[0] * domain->points + at[1]] = domain->potential[place];
}

static int write_plane(const struct domain *domain, const char *folder, const double plane[]) {
    char path[4096];
    snprintf(path, sizeof path, "%s/open_poisson.dat", folder);
    FILE *file = fopen(path, "w");
    for (int i = 0; file != NULL && i < domain->points; i++) {
        for (int j = 0; j < domain->points; j++)
            fprintf(file, "%.5f %.5f %.6g\n", (double)i / domain->points,
                    (double)j / domain->points, plane[i * domain->points + j]);
        fputc('\n', file);
    }
    if (file != NULL && fclose(file) == 0)
        return 0;
    fprintf(stderr, "cannot write %s: does the folder exist?\n", path);
    return 1;
}

/* Gathers the potential in the middle plane on rank 0, which writes it; returns 1 if it cannot, on all ranks. */
static int draw(struct domain *domain, const char *folder) {
    const int pixels = domain->points * domain->points;
    double *plane = calloc((size_t)pixels, sizeof *plane);
    int failed = 0;
    if (plane == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for_each_point(domain, set_pixel, plane);
    MPI_Reduce(my_rank() == 0 ? MPI_IN_PLACE : plane, plane, pixels, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    if (my_rank() == 0)
        failed = write_plane(domain, folder, plane);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    free(plane);
    return failed;
}

/* ---------------------------------------------------------------- the program */

static int report(const char *what, double value, double bound, int is_right) {
    if (my_rank() == 0)
        printf("%-52s %.1e, wanted %.1e\n", what, value, bound);
    return is_right ? 0 : 1;
}

static int run(const struct choice *choice) {
    struct domain half = create_domain(choice->points / 2), whole = create_domain(choice->points);
    const double coarse = solve(&half, FFTND_GREEN_INTEGRATED);
    const double fine = solve(&whole, FFTND_GREEN_INTEGRATED);
    const double exact = solve(&whole, FFTND_GREEN_TRUNCATED);
    int wrong = report("integrated Green's function, error:", fine, 5e-2, fine < 5e-2);
    wrong += report("its error on half the points, in these:", coarse / fine, 4, coarse > 3 * fine);
    wrong += report("truncated Green's function, error:", exact, 1e-11, exact < 1e-11);
    if (choice->folder != NULL)
        wrong += draw(&whole, choice->folder);
    free_domain(&half);
    free_domain(&whole);
    return wrong == 0 ? 0 : 1;
}

static const char usage[] =
    "usage: 12_open_poisson [--points N] [--output FOLDER] [--help]\n"
    "Potential of a Gaussian cloud of charge in free space.\n"
    "  --points N       points of the domain along each axis, even and at least 46 (48)\n"
    "  --output FOLDER  writes the potential in the middle plane there\n";

static int take(void *data, int letter, const char *value) {
    struct choice *choice = data;
    if (letter == 'o') {
        choice->folder = value;
        return 1;
    }
    return read_integer(value, &choice->points);
}

int main(int argc, char *argv[]) {
    static const struct option known[] = {{"points", required_argument, NULL, 'n'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct choice choice = {.points = 48};
    const char *refused;
    int status = read_options(argc, argv, known, take, &choice, &refused);
    MPI_Init(&argc, &argv);
    if (status == -1 && (choice.points < 46 || choice.points > 1000 || choice.points % 2 != 0))
        status = 2;
    if (status != -1 && my_rank() == 0)
        fputs(usage, status == 0 ? stdout : stderr);
    if (status == -1)
        status = run(&choice);
    MPI_Finalize();
    return status;
}
