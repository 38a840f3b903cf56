/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LAMMPS's functions of this project against serial FFTW and plain copies, and against those of LAMMPS's own library
 * where there is one: random grids, boxes, orders and precisions, element by element.
 */
#include <dlfcn.h>
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "lammps/single.h"

enum { AXES = 3, MOST = 9, MOST_RANKS = 8, MOST_NUMBERS = 4 * MOST * MOST * MOST, GUARD = 8 };

/* ---------------------------------------------------------------- problems */

typedef int bounds[2 * AXES]; /* ilo, ihi, jlo, jhi, klo, khi */

struct problem {
    int n[AXES], origin[AXES]; /* i, j, k */
    bounds in[MOST_RANKS], out[MOST_RANKS];
    int permute, scaled, nqty, in_place, is_float, collective;
};

static int count_of(const bounds box, int axis) {
    int count = box[2 * axis + 1] - box[2 * axis] + 1;
    return count > 0 ? count : 0;
}

static int volume_of(const bounds box) {
    return count_of(box, 0) * count_of(box, 1) * count_of(box, 2);
}

/* Cuts the grid among the ranks, in any order; parts may be empty. */
static void draw_cover(const struct problem *p, bounds all[]) {
    int order[MOST_RANKS], parts[AXES], cuts[AXES][MOST_RANKS + 1] = {{0}}, rest = harness_nranks;
    random_permutation(harness_nranks, order);
    for (int axis = 0; axis < AXES; axis++) {
        do
            parts[axis] = axis == AXES - 1 ? rest : random_between(1, rest);
        while (rest % parts[axis] != 0);
        rest /= parts[axis];
        int even = random_chance(70);
        for (int i = 1; i < parts[axis]; i++)
            cuts[axis][i] =
                even ? i * p->n[axis] / parts[axis] : random_between(cuts[axis][i - 1], p->n[axis]);
        cuts[axis][parts[axis]] = p->n[axis];
    }
    for (int rank = 0; rank < harness_nranks; rank++)
        for (int axis = 0, i = order[rank]; axis < AXES; i /= parts[axis], axis++) {
            all[rank][2 * axis] = p->origin[axis] + cuts[axis][i % parts[axis]];
            all[rank][2 * axis + 1] = p->origin[axis] + cuts[axis][i % parts[axis] + 1] - 1;
        }
}

/* Draws boxes that may overlap. */
static void draw_boxes(const struct problem *p, bounds all[]) {
    for (int rank = 0; rank < harness_nranks; rank++)
        for (int axis = 0; axis < AXES; axis++) {
            int low = random_between(0, p->n[axis] - 1);
            all[rank][2 * axis] = p->origin[axis] + low;
            all[rank][2 * axis + 1] = p->origin[axis] + random_between(low, p->n[axis] - 1);
        }
}

static struct problem draw_problem(int least_nqty, int most_nqty) {
    struct problem p = {.permute = random_between(0, 2),
                        .scaled = random_chance(50),
                        .nqty = random_between(least_nqty, most_nqty),
                        .in_place = random_chance(50),
                        .collective = random_chance(30)};
    for (int axis = 0; axis < AXES; axis++)
        p.n[axis] = random_between(1, MOST);
    draw_cover(&p, p.in);
    draw_cover(&p, p.out);
    const char *effort =
        random_chance(85) ? "estimate" : "measure"; /* which rank 0 alone has to know */
    setenv("FFTND_LAMMPS_EFFORT", harness_rank == 0 ? effort : "unknown", 1);
    return p;
}

static void name_case(const struct problem *p, const char *what) {
    const int *in = p->in[harness_rank], *out = p->out[harness_rank];
    harness_case(
        "%s %d x %d x %d, permute %d, scaled %d, nqty %d, %s, %s, in %d:%d %d:%d %d:%d, out "
        "%d:%d %d:%d %d:%d",
        what, p->n[0], p->n[1], p->n[2], p->permute, p->scaled, p->nqty,
        p->in_place ? "in place" : "out of place", p->is_float ? "float" : "double", in[0], in[1],
        in[2], in[3], in[4], in[5], out[0], out[1], out[2], out[3], out[4], out[5]);
}

/* ---------------------------------------------------------------- numbers */

static double value_at(const struct problem *p, const int index[], int q) {
    int place = 0;
    for (int axis = AXES - 1; axis >= 0; axis--)
        place = place * MOST + index[axis] - p->origin[axis];
    return (double)(random_hash((uint64_t)(4 * place + q)) % 20001) / 10000.0 - 1.0;
}

/* Calls a function for each point of a box, in the order in memory that `permute` makes. */
static void visit(const struct problem *p, const bounds box, int permute,
                  void (*function)(const struct problem *p, const int index[], int place,
                                   void *data),
                  void *data) {
    int fast = permute, mid = (permute + 1) % AXES, slow = (permute + 2) % AXES, at[AXES],
        place = 0;
    if (volume_of(box) == 0)
        return;
    for (at[slow] = box[2 * slow]; at[slow] <= box[2 * slow + 1]; at[slow]++)
        for (at[mid] = box[2 * mid]; at[mid] <= box[2 * mid + 1]; at[mid]++)
            for (at[fast] = box[2 * fast]; at[fast] <= box[2 * fast + 1]; at[fast]++)
                function(p, at, place++, data);
}

static void fill_point(const struct problem *p, const int index[], int place, void *data) {
    double *numbers = data;
    for (int q = 0; q < p->nqty; q++)
        numbers[place * p->nqty + q] = value_at(p, index, q);
}

/* An array of either precision, with a guard behind it. */
struct array {
    size_t numbers;
    int is_float;
    void *data;
};

static struct array make_array(size_t numbers, int is_float) {
    size_t bytes = (numbers + GUARD) * (is_float ? sizeof(float) : sizeof(double));
    struct array array = {numbers, is_float, malloc(bytes)};
    for (size_t i = 0; i < numbers + GUARD; i++)
        is_float ? (((float *)array.data)[i] = -7.0F) : (((double *)array.data)[i] = -7.0);
    return array;
}

static double number_in(const struct array *array, size_t i) {
    return array->is_float ? (double)((float *)array->data)[i] : ((double *)array->data)[i];
}

static void fill_array(const struct problem *p, const struct array *array) {
    static double numbers[MOST_NUMBERS];
    size_t count = (size_t)(volume_of(p->in[harness_rank]) * p->nqty);
    visit(p, p->in[harness_rank], 0, fill_point, numbers);
    for (size_t i = 0; i < count; i++)
        array->is_float ? (((float *)array->data)[i] = (float)numbers[i])
                        : (((double *)array->data)[i] = numbers[i]);
}

/* Returns whether an array of the input is as it was filled. */
static int is_unchanged(const struct problem *p, const struct array *array) {
    struct array filled = make_array(array->numbers, array->is_float);
    fill_array(p, &filled);
    int differs = 0;
    for (size_t i = 0; i < array->numbers; i++)
        differs |= number_in(array, i) != number_in(&filled, i);
    free(filled.data);
    return !differs;
}

/* Copies an array to doubles and frees it; returns whether the guard is whole. */
static int empty_array(struct array *array, double numbers[]) {
    int is_whole = 1;
    for (size_t i = 0; i < array->numbers; i++)
        numbers[i] = number_in(array, i);
    for (size_t i = array->numbers; i < array->numbers + GUARD; i++)
        is_whole &= number_in(array, i) == -7.0;
    free(array->data);
    return is_whole;
}

/* ---------------------------------------------------------------- the functions, of this project or of LAMMPS */

struct functions {
    __typeof__(&fft_3d_create_plan) fft_create;
    __typeof__(&fft_3d) fft;
    __typeof__(&fft_1d_only) lines;
    __typeof__(&fft_3d_destroy_plan) fft_destroy;
    __typeof__(&remap_3d_create_plan) remap_create;
    __typeof__(&remap_3d_double) remap_double;
    __typeof__(&remap_3d_float) remap_float;
    __typeof__(&remap_3d_destroy_plan) remap_destroy;
};

static const struct functions ours = {
    fft_3d_create_plan,   fft_3d,          fft_1d_only,    fft_3d_destroy_plan,
    remap_3d_create_plan, remap_3d_double, remap_3d_float, remap_3d_destroy_plan};

/* Finds the functions of LAMMPS's library, which are bound to each other, not to ours; zero without the library. */
static int find_theirs(struct functions *theirs) {
    static const char *const names[] = {"fft_3d_create_plan", "fft_3d",
                                        "fft_1d_only",        "fft_3d_destroy_plan",
                                        FFTND_LAMMPS_CREATE,  FFTND_LAMMPS_DOUBLE};
    void *found[8] = {0}, *library = NULL;
    if (strlen(LAMMPS_LIBRARY) > 0) /* sanitizers end a program that asks for this binding */
        library = dlopen(LAMMPS_LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    for (int i = 0; library != NULL && i < 6; i++)
        found[i] = dlsym(library, names[i]);
    if (library != NULL)
        found[7] = dlsym(library, "_Z21remap_3d_destroy_planP13remap_plan_3d");
    memcpy(theirs, found, sizeof *theirs);
    return library != NULL;
}

static struct fft_plan_3d *create(const struct functions *f, const struct problem *p, int *nbuf) {
    const int *in = p->in[harness_rank], *out = p->out[harness_rank];
    return (p->is_float ? single_create_plan : f->fft_create)(
        MPI_COMM_WORLD, p->n[0], p->n[1], p->n[2], in[0], in[1], in[2], in[3], in[4], in[5], out[0],
        out[1], out[2], out[3], out[4], out[5], p->scaled, p->permute, nbuf, p->collective);
}

static size_t larger_of(const struct problem *p) {
    int in = volume_of(p->in[harness_rank]), out = volume_of(p->out[harness_rank]);
    return (size_t)((in > out ? in : out) * p->nqty);
}

/* Transforms with both signs by one plan. Returns whether nothing else has changed. */
static int transform(const struct functions *f, const struct problem *p,
                     double results[2][MOST_NUMBERS]) {
    int nbuf = 0, is_whole = 1;
    struct fft_plan_3d *plan = create(f, p, &nbuf);
    for (int backward = 0; backward < 2; backward++) {
        struct array in = make_array(larger_of(p), p->is_float);
        struct array out = make_array(larger_of(p), p->is_float);
        fill_array(p, &in);
        f->fft(in.data, p->in_place ? in.data : out.data, backward ? -1 : 1, plan);
        is_whole &= empty_array(p->in_place ? &in : &out, results[backward]);
        is_whole &= p->in_place || f != &ours || is_unchanged(p, &in);
        free(p->in_place ? out.data : in.data);
    }
    f->fft_destroy(plan);
    return is_whole;
}

/* Moves twice by one plan. Returns whether nothing else has changed. */
static int remap(const struct functions *f, const struct problem *p, double result[]) {
    const int *a = p->in[harness_rank], *b = p->out[harness_rank];
    struct remap_plan_3d *plan =
        f->remap_create(MPI_COMM_WORLD, a[0], a[1], a[2], a[3], a[4], a[5], b[0], b[1], b[2], b[3],
                        b[4], b[5], p->nqty, p->permute, 1, p->is_float ? 1 : 2, p->collective);
    int is_whole = 1;
    for (int i = 0; i < 2; i++) {
        struct array in = make_array(larger_of(p), p->is_float);
        struct array out = make_array(larger_of(p), p->is_float);
        fill_array(p, &in);
        void *to = p->in_place ? in.data : out.data;
        p->is_float ? f->remap_float(in.data, to, NULL, plan)
                    : f->remap_double(in.data, to, NULL, plan);
        is_whole &= empty_array(p->in_place ? &in : &out, result);
        free(p->in_place ? out.data : in.data);
    }
    f->remap_destroy(plan);
    return is_whole;
}

/* ---------------------------------------------------------------- the oracle */

struct expected {
    const fftw_complex *spectrum;
    double *numbers;
};

static void expect_mode(const struct problem *p, const int index[], int place, void *data) {
    struct expected *expected = data;
    int at = (index[2] * p->n[1] + index[1]) * p->n[0] + index[0];
    for (int part = 0; part < 2; part++)
        expected->numbers[2 * place + part] = expected->spectrum[at][part];
}

/* Transforms the whole grid, and takes this rank's box of it. */
static void expect_transform(const struct problem *p, int backward, double numbers[]) {
    int points = p->n[0] * p->n[1] * p->n[2];
    bounds all = {0, p->n[0] - 1, 0, p->n[1] - 1, 0, p->n[2] - 1};
    fftw_complex *grid = fftw_alloc_complex((size_t)points);
    fftw_plan plan = fftw_plan_dft_3d(p->n[2], p->n[1], p->n[0], grid, grid,
                                      backward ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
    visit(p, all, 0, fill_point, grid);
    fftw_execute(plan);
    for (int i = 0; i < 2 * points; i++)
        ((double *)grid)[i] /= backward && p->scaled ? points : 1;
    visit(p, p->out[harness_rank], p->permute, expect_mode,
          &(struct expected){(const fftw_complex *)grid, numbers});
    fftw_destroy_plan(plan);
    fftw_free(grid);
}

static int contains(const bounds box, const int index[]) {
    int inside = 1;
    for (int axis = 0; axis < AXES; axis++)
        inside &= index[axis] >= box[2 * axis] && index[axis] <= box[2 * axis + 1];
    return inside;
}

static void expect_point(const struct problem *p, const int index[], int place, void *data) {
    double *numbers = data;
    int is_somewhere = 0;
    for (int rank = 0; rank < harness_nranks; rank++)
        is_somewhere |= contains(p->in[rank], index);
    for (int q = 0; q < p->nqty; q++)
        numbers[place * p->nqty + q] = !is_somewhere ? -7.0
                                       : p->is_float ? (double)(float)value_at(p, index, q)
                                                     : value_at(p, index, q);
}

/* Returns the largest difference of this rank's output. */
static double difference(const struct problem *p, const double a[], const double b[]) {
    double most = 0.0;
    for (int i = 0; i < volume_of(p->out[harness_rank]) * p->nqty; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static double tolerance_of(const struct problem *p) {
    return p->is_float ? 2e-4 : 1e-12;
}

/* ---------------------------------------------------------------- tests */

static double found[2][MOST_NUMBERS], wanted[2][MOST_NUMBERS];

START_TEST(transforms) {
    for (int i = 0; harness_another(i, 12); i++) {
        struct problem p = draw_problem(2, 2);
        p.is_float = random_chance(30);
        name_case(&p, "transform");
        int is_whole = transform(&ours, &p, found);
        for (int backward = 0; backward < 2; backward++) {
            expect_transform(&p, backward, wanted[backward]);
            double wrong = difference(&p, found[backward], wanted[backward]);
            check_all(wrong < tolerance_of(&p), "backward %d: wrong by %g", backward, wrong);
        }
        check_all(is_whole, "the input, or numbers behind an array, have changed");
    }
}
END_TEST

START_TEST(remaps) {
    for (int i = 0; harness_another(i, 12); i++) {
        struct problem p = draw_problem(1, 3);
        for (int axis = 0; axis < AXES; axis++)
            p.origin[axis] = random_between(-3, 3);
        p.is_float = random_chance(40);
        draw_cover(&p, p.in);
        random_chance(50) ? draw_cover(&p, p.out) : draw_boxes(&p, p.out);
        if (!p.in_place && random_chance(30)) /* leave out a part, and then perhaps all */
            p.in[random_between(0, harness_nranks - 1)][1] = p.origin[0] - 1;
        name_case(&p, "remap");
        int is_whole = remap(&ours, &p, found[0]);
        visit(&p, p.out[harness_rank], p.permute, expect_point, wanted[0]);
        check_all(difference(&p, found[0], wanted[0]) == 0.0, "wrong by %g",
                  difference(&p, found[0], wanted[0]));
        check_all(is_whole, "the input, or numbers behind an array, have changed");
    }
}
END_TEST

/* Lines of each axis in turn, as if the data were contiguous lines of it. */
static void expect_lines(const struct problem *p, int backward, fftw_complex data[]) {
    int volume = volume_of(p->in[harness_rank]);
    for (int axis = 0; axis < AXES; axis++) {
        int n = p->n[axis], count = volume / n;
        if (count == 0)
            continue;
        fftw_plan plan = fftw_plan_many_dft(1, &n, count, data, NULL, 1, n, data, NULL, 1, n,
                                            backward ? FFTW_BACKWARD : FFTW_FORWARD, FFTW_ESTIMATE);
        fftw_execute(plan);
        fftw_destroy_plan(plan);
        for (int i = 0; i < 2 * count * n; i++)
            ((double *)data)[i] /= backward && p->scaled ? n : 1;
    }
}

static double try_lines(const struct functions *f, const struct problem *p, int size,
                        int backward) {
    static double data[MOST_NUMBERS], lines[MOST_NUMBERS];
    int nbuf, volume = volume_of(p->in[harness_rank]);
    struct fft_plan_3d *plan = create(f, p, &nbuf);
    visit(p, p->in[harness_rank], 0, fill_point, data);
    memcpy(lines, data, sizeof data);
    f->lines(data, size, backward ? -1 : 1, plan);
    f->fft_destroy(plan);
    if (size >= volume)
        expect_lines(p, backward, (fftw_complex *)lines);
    double most = 0.0;
    for (int i = 0; i < 2 * volume; i++)
        most = fmax(most, fabs(data[i] - lines[i]));
    return most;
}

START_TEST(lines) {
    for (int i = 0; harness_another(i, 6); i++) {
        struct problem p = draw_problem(2, 2);
        int size = volume_of(p.in[harness_rank]) + random_between(-1, 1),
            backward = random_chance(50);
        name_case(&p, "lines");
        double wrong = try_lines(&ours, &p, size, backward);
        check_all(wrong < 1e-12, "size %d, backward %d: wrong by %g", size, backward, wrong);
    }
}
END_TEST

/* The same as LAMMPS's own functions, of which lines are of other boxes on several ranks. */
START_TEST(as_liblammps) {
    struct functions theirs;
    if (!find_theirs(&theirs))
        skip_test("a liblammps of this MPI library is missing (Debian: liblammps0, of Open MPI)");
    for (int i = 0; harness_another(i, 12); i++) {
        struct problem p = draw_problem(2, 2);
        name_case(&p, "as liblammps: transform");
        (void)transform(&ours, &p, found);
        (void)transform(&theirs, &p, wanted);
        for (int backward = 0; backward < 2; backward++) {
            double wrong = difference(&p, found[backward], wanted[backward]);
            check_all(wrong < 1e-12, "backward %d: differs by %g", backward, wrong);
        }
        name_case(&p, "as liblammps: remap");
        (void)remap(&ours, &p, found[0]);
        (void)remap(&theirs, &p, wanted[0]);
        check_all(difference(&p, found[0], wanted[0]) == 0.0, "differs by %g",
                  difference(&p, found[0], wanted[0]));
        for (int backward = 0; backward < 2 && harness_nranks == 1; backward++) {
            double wrong = try_lines(&theirs, &p, volume_of(p.in[0]), backward);
            check_all(wrong < 1e-12, "lines of liblammps differ by %g", wrong);
        }
    }
}
END_TEST

/* Calls that end the program: a box beyond the grid, or one that all ranks have; a caller with other signs. */
static int refuse(const char *what) {
    double data[2 * 8 * 8 * 8] = {0};
    int nbuf, high = strcmp(what, "bounds") == 0 ? 8 : 7;
    MPI_Init(NULL, NULL);
    fft_3d(data, data, 1,
           (strcmp(what, "old") == 0 ? old_create_plan : fft_3d_create_plan)(
               MPI_COMM_WORLD, 8, 8, 8, 0, high, 0, 7, 0, 7, 0, 7, 0, 7, 0, 7, 0, 0, &nbuf, 0));
    return MPI_Finalize();
}

int main(int argc, char **argv) {
    const TTest *const tests[] = {transforms, remaps, lines, as_liblammps, NULL};
    if (argc == 3 && strcmp(argv[1], "refuse") == 0)
        return refuse(argv[2]);
    return harness_run(argc, argv, "test_lammps", tests);
}
