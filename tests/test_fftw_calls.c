/* SPDX-License-Identifier: BSD-3-Clause */
/* What FFTW's MPI interface promises besides numbers: flags, limits, threads, orders of its own, plans of both
 * libraries. */
#include <unistd.h>

#include "fftw/both.h"

static const ptrdiff_t shape[3] = {12, 10, 8};

static X(plan) plan_3d(complex_number *in, unsigned flags) {
    return XM(plan_dft)(3, shape, in, in, MPI_COMM_WORLD, FFTW_FORWARD, flags);
}

static complex_number *array_3d(void) {
    ptrdiff_t count, start;
    return X(alloc_complex)((size_t)XM(local_size)(3, shape, MPI_COMM_WORLD, &count, &start));
}

/* ---------------------------------------------------------------- wisdom */

/* FFTW knows a plan that was made before, with that effort or less. */
START_TEST(wisdom_only) {
    static const unsigned efforts[] = {FFTW_ESTIMATE, FFTW_MEASURE, FFTW_PATIENT};
    static const char *const names[] = {"estimate", "measure", "patient"};
    complex_number *array = array_3d();
    for (int made = 0; made < 3; made++) {
        X(forget_wisdom)();
        for (int round = 0; round < 2; round++) {
            for (int asked = 0; asked < 3; asked++) {
                X(plan) plan = plan_3d(array, efforts[asked] | FFTW_WISDOM_ONLY);
                harness_case("%s, asked for %s", round ? names[made] : "nothing", names[asked]);
                check_all((plan != NULL) == (round && asked <= made), "a plan: %d", plan != NULL);
                check_all(plan == NULL || is_here(plan), "it is FFTW's");
                if (plan != NULL)
                    X(destroy_plan)(plan);
            }
            if (round == 0)
                X(destroy_plan)(plan_3d(array, efforts[made]));
        }
        X(plan)
        other = XM(plan_dft)(2, shape, array, array, MPI_COMM_WORLD, FFTW_FORWARD,
                             FFTW_ESTIMATE | FFTW_WISDOM_ONLY);
        check_all(other == NULL, "a plan of another shape");
    }
    X(free)(array);
}
END_TEST

/* What was measured: lines about exchanges (of methods), or about transforms. On rank 0, which writes the file. */
static int count_lines(const char *file, const char *beginning) {
    char *line = NULL;
    size_t room = 0;
    int lines = 0;
    FILE *stream = harness_rank == 0 ? fopen(file, "r") : NULL;
    while (stream != NULL && getline(&line, &room, stream) > 0)
        lines += strncmp(line, beginning, strlen(beginning)) == 0;
    free(line);
    if (stream != NULL)
        fclose(stream);
    return lines;
}

/* Methods compete once for each exchange, three there and three back, however many candidates have it; a plan like one
 * before measures nothing. */
START_TEST(one_axis_is_measured_once) {
    enum { N = 900, EXCHANGES = 6 };
    char file[300];
    size_t bytes = 2 * N * sizeof(complex_number);
    complex_number *in = calloc(bytes, 1), *out = calloc(bytes, 1); /* which peers cannot map */
    const char *folder = getenv("TMPDIR");
    snprintf(file, sizeof file, "%.250s/fftw-calls-XXXXXX", folder != NULL ? folder : "/tmp");
    int descriptor = harness_rank == 0 ? mkstemp(file) : -1;
    check_all(harness_rank != 0 || descriptor >= 0, "no file %s", file);
    MPI_Bcast(file, sizeof file, MPI_CHAR, 0, MPI_COMM_WORLD);
    X(forget_wisdom)();
    setenv("REDIST_WISDOM", file, 1);
    for (int i = 0; i < 4; i++) {
        int signs = i < 2 ? i + 1 : 2;
        X(plan)
        plan = XM(plan_dft_1d)(N, in, out, MPI_COMM_WORLD, i % 2 ? FFTW_BACKWARD : FFTW_FORWARD,
                               FFTW_MEASURE);
        int exchanges = count_lines(file, "auto/"), transforms = count_lines(file, "fft/");
        check_all(is_here(plan), "no plan here");
        check_all(exchanges <= EXCHANGES * signs, "%d contests of %d plans", exchanges, i + 1);
        check_all(transforms <= signs, "%d transforms of %d plans", transforms, i + 1);
        X(destroy_plan)(plan);
    }
    unsetenv("REDIST_WISDOM");
    if (descriptor >= 0) {
        close(descriptor);
        remove(file);
    }
    free(in);
    free(out);
}
END_TEST

/* ---------------------------------------------------------------- limits and threads */

/* With no time at all nothing is measured: the first candidates alone take longer than this. */
START_TEST(time_limits) {
    static const double limits[] = {0, 1e-6, FFTW_NO_TIMELIMIT};
    complex_number *array = array_3d();
    for (int i = 0; i < 3; i++) {
        harness_case("%g s", limits[i]);
        X(forget_wisdom)();
        X(set_timelimit)(limits[i]);
        X(plan) plan = plan_3d(array, FFTW_PATIENT);
        check_all(is_here(plan), "no plan here");
        X(execute)(plan);
        X(destroy_plan)(plan);
        X(set_timelimit)(FFTW_NO_TIMELIMIT);
        plan = plan_3d(array, FFTW_MEASURE | FFTW_WISDOM_ONLY);
        check_all((plan != NULL) == (limits[i] != 0), "measured: %d", plan != NULL);
        if (plan != NULL)
            X(destroy_plan)(plan);
    }
    X(free)(array);
}
END_TEST

START_TEST(threads) {
    complex_number *array = array_3d();
    ptrdiff_t count, start;
    (void)XM(local_size)(3, shape, MPI_COMM_WORLD, &count, &start);
    check_all(X(init_threads)() != 0, "FFTW has no threads");
    for (int n = 3; n >= 1; n -= 2) {
        harness_case("%d threads", n);
        X(plan_with_nthreads)(n);
        X(plan) plan = plan_3d(array, FFTW_ESTIMATE);
        check_all(is_here(plan), "no plan here");
        check_all(X(planner_nthreads)() == n, "FFTW plans with %d threads", X(planner_nthreads)());
        char *text = X(sprint_plan)(plan);
        check_all((strstr(text, " 3 threads") != NULL) == (n == 3), "the plan is %s", text);
        free(text);
        double wrong = 0;
        for (ptrdiff_t i = 0; i < count * shape[1] * shape[2]; i++)
            array[i][0] = 1, array[i][1] = 0;
        X(execute)(plan);
        for (ptrdiff_t i = 0; i < count * shape[1] * shape[2]; i++)
            wrong = fmax(wrong, fabs((double)array[i][0] - (start == 0 && i == 0 ? 960 : 0)));
        check_all(wrong <= 960 * tolerance, "wrong by %g", wrong);
        X(destroy_plan)(plan);
    }
    X(free)(array);
}
END_TEST

/* ---------------------------------------------------------------- scrambled modes */

/* What this rank has of one axis in input and output, and the elements to allocate. */
struct parts {
    ptrdiff_t all, count[2], start[2];
};

static struct parts find_parts(ptrdiff_t n, ptrdiff_t howmany, int sign, unsigned flags) {
    struct parts parts;
    parts.all = XM(local_size_many_1d)(n, howmany, MPI_COMM_WORLD, sign, flags, &parts.count[0],
                                       &parts.start[0], &parts.count[1], &parts.start[1]);
    return parts;
}

static X(plan) plan_axis(ptrdiff_t n, ptrdiff_t howmany, complex_number *in, complex_number *out,
                         int sign, unsigned flags) {
    return XM(plan_many_dft)(1, &n, howmany, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK, in,
                             out, MPI_COMM_WORLD, sign, flags);
}

static int compare_reals(const void *left, const void *right) {
    real a = *(const real *)left, b = *(const real *)right;
    return (a > b) - (a < b);
}

/* The real or imaginary parts of a field, in ascending order. */
static real *sort_parts(complex_number *array, ptrdiff_t n, ptrdiff_t howmany, int field,
                        int part) {
    real *sorted = malloc((size_t)n * sizeof *sorted);
    for (ptrdiff_t i = 0; i < n; i++)
        sorted[i] = array[i * howmany + field][part];
    qsort(sorted, (size_t)n, sizeof *sorted, compare_reals);
    return sorted;
}

/* The largest difference of two arrays of n tuples whose orders may differ. */
static double difference(complex_number *a, complex_number *b, ptrdiff_t n, ptrdiff_t howmany) {
    double most = 0;
    for (int i = 0; i < 2 * howmany; i++) {
        real *x = sort_parts(a, n, howmany, i / 2, i % 2);
        real *y = sort_parts(b, n, howmany, i / 2, i % 2);
        for (ptrdiff_t k = 0; k < n; k++)
            most = fmax(most, fabs((double)(x[k] - y[k])));
        free(x);
        free(y);
    }
    return most;
}

static void gather(complex_number *part, ptrdiff_t elements, complex_number *all) {
    int bytes = (int)((size_t)elements * sizeof *part), *counts, *starts;
    counts = malloc((size_t)harness_nranks * sizeof *counts);
    starts = malloc((size_t)harness_nranks * sizeof *starts);
    MPI_Allgather(&bytes, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < harness_nranks; i++)
        starts[i] = i > 0 ? starts[i - 1] + counts[i - 1] : 0;
    MPI_Allgatherv(part, bytes, MPI_BYTE, all, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
    free(counts);
    free(starts);
}

/* Modes of either sign in this library's order, and back. The modes are those of a serial plan of FFTW's. */
static void check_scrambled(int n, ptrdiff_t howmany, int sign, int in_place, unsigned effort) {
    size_t elements = (size_t)n * (size_t)howmany;
    struct parts forth = find_parts(n, howmany, sign, FFTW_MPI_SCRAMBLED_OUT);
    struct parts back = find_parts(n, howmany, -sign, FFTW_MPI_SCRAMBLED_IN);
    size_t room = (size_t)(forth.all > back.all ? forth.all : back.all);
    complex_number *field = X(alloc_complex)(elements), *modes = X(alloc_complex)(elements);
    complex_number *found = X(alloc_complex)(elements), *in = X(alloc_complex)(room);
    complex_number *out = in_place ? in : X(alloc_complex)(room);
    X(plan)
    serial = X(plan_many_dft)(1, &n, (int)howmany, field, NULL, (int)howmany, 1, modes, NULL,
                              (int)howmany, 1, sign, FFTW_ESTIMATE);
    X(plan)
    plans[2] = {plan_axis(n, howmany, in, out, sign, effort | FFTW_MPI_SCRAMBLED_OUT),
                plan_axis(n, howmany, out, in, -sign, effort | FFTW_MPI_SCRAMBLED_IN)};
    check_all(is_here(plans[0]) && is_here(plans[1]), "FFTW's plans, or none");
    check_all(forth.count[1] == back.count[0] && forth.count[0] == back.count[1], "other parts");
    for (size_t i = 0; i < 2 * elements; i++)
        field[i / 2][i % 2] = (real)ldexp((double)(random_bits() >> 44), -19) - 1;
    complex_number *mine = field + forth.start[0] * howmany;
    size_t bytes = (size_t)(forth.count[0] * howmany) * sizeof *mine;
    memcpy(in, mine, bytes);
    X(execute)(serial);
    X(execute)(plans[0]);
    gather(out, forth.count[1] * howmany, found);
    double wrong = difference(found, modes, n, howmany);
    check_all(wrong <= tolerance * n, "modes are wrong by %g", wrong);
    X(execute)(plans[1]);
    wrong = 0;
    for (size_t i = 0; i < bytes / sizeof(real); i++)
        wrong = fmax(wrong, fabs((double)(in[i / 2][i % 2] / (real)n - mine[i / 2][i % 2])));
    check_all(wrong <= tolerance * n, "there and back is wrong by %g", wrong);
    X(destroy_plan)(serial);
    X(destroy_plan)(plans[0]);
    X(destroy_plan)(plans[1]);
    complex_number *arrays[] = {field, modes, found, in, in_place ? NULL : out};
    for (int i = 0; i < 5; i++)
        X(free)(arrays[i]);
}

START_TEST(scrambled_modes) {
    for (int i = 0; harness_another(i, 10); i++) {
        int n = random_between(1, 2000), sign = random_chance(50) ? 1 : -1;
        int howmany = random_between(1, 3), in_place = random_chance(50);
        unsigned effort = random_chance(70) ? FFTW_ESTIMATE : FFTW_MEASURE;
        harness_case("%d x %d, sign %d, in place %d, effort %u", n, howmany, sign, in_place,
                     effort);
        check_scrambled(n, howmany, sign, in_place, effort);
    }
}
END_TEST

/* ---------------------------------------------------------------- copies */

/* Ones become one mode, and stay ones when they are transposed. */
static void check_ones(X(plan) plan, complex_number *array, int transposes) {
    ptrdiff_t count, start, here = XM(local_size)(3, shape, MPI_COMM_WORLD, &count, &start);
    double wrong = 0;
    for (ptrdiff_t i = 0; i < here; i++)
        array[i][0] = 1, array[i][1] = (real)transposes;
    X(execute)(plan);
    for (ptrdiff_t i = 0; i < count * shape[1] * (transposes ? 1 : shape[2]); i++)
        wrong = fmax(wrong, fabs((double)array[i][0] - (transposes             ? 1
                                                        : start == 0 && i == 0 ? 960
                                                                               : 0)));
    check_all(wrong <= 960 * tolerance, "wrong by %g", wrong);
}

/* A copy is executed and destroyed on its own, before or behind the plan it was made of. FFTW has copies since 3.3.11,
 * whose headers are not needed for this. */
START_TEST(copies) {
    X(plan) (*copy)(X(plan)) = (X(plan)(*)(X(plan)))(size_t)dlsym(RTLD_DEFAULT, TEXT(X(copy_plan)));
    check_all(copy != NULL, "there is no %s", TEXT(X(copy_plan)));
    for (int transposes = 0; transposes < 2; transposes++) {
        complex_number *array = array_3d();
        real *numbers = (real *)array;
        X(plan)
        first = transposes ? XM(plan_many_transpose)(shape[0], shape[1], 2, 0, 0, numbers, numbers,
                                                     MPI_COMM_WORLD, FFTW_ESTIMATE)
                           : plan_3d(array, FFTW_ESTIMATE);
        X(plan) second = copy(first), third = copy(second);
        harness_case("transposes: %d", transposes);
        check_all(is_here(first) && is_here(second) && is_here(third), "a plan of FFTW's");
        X(destroy_plan)(first);
        check_ones(second, array, transposes);
        X(destroy_plan)(third);
        check_ones(second, array, transposes);
        X(destroy_plan)(second);
        X(free)(array);
    }
}
END_TEST

/* ---------------------------------------------------------------- what cannot be */

/* No plan on all ranks alike, or one of FFTW's, and no signal. */
START_TEST(impossible_plans) {
    complex_number *array = array_3d();
    ptrdiff_t n = 16;
    for (unsigned flags = 0; flags < 3; flags++) {
        static const unsigned all[] = {FFTW_MPI_SCRAMBLED_IN | FFTW_MPI_SCRAMBLED_OUT,
                                       FFTW_MPI_TRANSPOSED_IN, FFTW_MPI_TRANSPOSED_OUT};
        X(plan) plan = plan_axis(n, 1, array, array, FFTW_FORWARD, FFTW_ESTIMATE | all[flags]);
        check_all(plan == NULL || harness_nranks == 1, "a plan with flags %#x", all[flags]);
        if (plan != NULL)
            X(destroy_plan)(plan);
    }
    check_all(plan_3d(array, FFTW_ESTIMATE | FFTW_MPI_SCRAMBLED_OUT) == NULL, "three axes");
    for (int kind = -1; kind < 12; kind += 12) {
        X(r2r_kind) kinds[3] = {FFTW_REDFT10, FFTW_REDFT10, (X(r2r_kind))kind};
        X(plan)
        plan = XM(plan_r2r)(3, shape, (real *)array, (real *)array, MPI_COMM_WORLD, kinds,
                            FFTW_ESTIMATE);
        check_all(!is_here(plan), "a plan of kind %d", kind);
        if (plan != NULL)
            X(destroy_plan)(plan);
    }
    X(free)(array);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        wisdom_only, one_axis_is_measured_once, time_limits, threads, scrambled_modes,
        copies,      impossible_plans,          NULL};
    MPI_Init(&argc, &argv);
    XM(init)();
    return harness_run(argc, argv, "test_fftw_calls", tests);
}
