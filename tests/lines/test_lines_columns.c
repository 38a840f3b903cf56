/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms along columns, with all registers that this processor has, against the sum that defines them. */
#include "../../liblines/host/columns.h"
#include "../harness.h"
#include "../random.h"

#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 29000, THREADS = LINES__SPARES + 4 };

static double _Complex input[MOST], expected[MOST], found[MOST];
static const double GAP = 77; /* between columns */
static double _Complex roots[LINES__LONGEST];
static int abreast; /* groups transformed at once */

/* Lengths in which each radix is first, last and between others, as far as possible. */
static const int lengths[] = {4,   6,   8,   9,   10,  12,  14,   16,   20,   25,   32,   35,  42,
                              48,  49,  63,  64,  70,  96,  100,  105,  120,  125,  128,  144, 150,
                              168, 175, 192, 210, 216, 240, 245,  250,  256,  288,  294,  320, 343,
                              350, 384, 448, 512, 625, 960, 1000, 1024, 1440, 1536, 2048, 4096};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static ptrdiff_t at(const struct lines__problem *problem, int element, int column, int group,
                    int out) {
    const struct lines__loop loops[] = {problem->axes[0], problem->loops[0], problem->loops[1]};
    const int index[] = {element, column, group};
    ptrdiff_t offset = 0;
    for (int i = 0; i < 3; i++)
        offset += index[i] * (out ? loops[i].out : loops[i].in);
    return offset;
}

static void transform_plainly(const struct lines__problem *problem) {
    int n = (int)problem->axes[0].n;
    for (int i = 0; i < n; i++)
        roots[i] = (double _Complex)cexpl((problem->direction == REDIST_FORWARD ? -2 : 2) *
                                          acosl(-1) * I * i / n);
    for (int group = 0; group < problem->loops[1].n; group++)
        for (int column = 0; column < problem->loops[0].n; column++)
            for (int k = 0; k < n; k++) {
                double re = 0, im = 0;
                for (int j = 0, turn = 0; j < n; j++, turn = (turn + k) % n) {
                    double _Complex x = input[at(problem, j, column, group, 0)], w = roots[turn];
                    re += creal(x) * creal(w) - cimag(x) * cimag(w);
                    im += creal(x) * cimag(w) + cimag(x) * creal(w);
                }
                expected[at(problem, k, column, group, 1)] = re + I * im;
            }
}

/* A number that is exact in single precision. */
static double random_number(void) {
    return random_between(-512, 512) / 512.0;
}

/* Makes a few columns, in one or several groups with or without gaps, in place or between arrays. */
static void make_problem(int n, struct lines__problem *problem, int *in_place) {
    int fits = n <= 512; /* the others fit with few columns */
    int columns = random_between(fits ? 4 : 1, n <= 128 ? 80 : fits ? 20 : MOST / n - 3);
    int groups = random_between(1, 1 + fits),
        gap = fits && random_chance(50) ? random_between(1, 5) : 0;
    int pad = random_between(0, fits ? 3 : 0);
    ptrdiff_t group = columns + gap, line = group * groups + pad;
    *in_place = random_chance(50);
    *problem = (struct lines__problem){.kind = FFTND_C2C,
                                       .precision = random_chance(50) ? FFTND_DOUBLE : FFTND_FLOAT,
                                       .direction = random_between(0, 1),
                                       .naxes = 1,
                                       .nloops = 2};
    problem->axes[0] = (struct lines__loop){n, line, *in_place ? line : line + 3};
    problem->loops[0] = (struct lines__loop){columns, 1, 1};
    problem->loops[1] = (struct lines__loop){groups, group, group};
}

/* Transforms input to found, which has the former output. */
static void run(const struct lines__column_loops *loops, const struct lines__problem *problem,
                const struct lines__radices *radices, int in_place) {
    static float _Complex from[MOST], to[MOST];
    int single = problem->precision == FFTND_FLOAT;
    void *plan, *source = single ? (void *)from : input, *target = single ? (void *)to : found;
    for (int i = 0; i < MOST; i++) {
        from[i] = (float _Complex)input[i];
        to[i] = (float _Complex)found[i];
    }
    check_code(lines__columns_create(loops, problem, radices, abreast, &plan), REDIST_OK);
    source = in_place ? target : source;
    check_code(lines__library_columns.execute(plan, source, target), REDIST_OK);
    lines__library_columns.destroy(plan);
    for (int i = 0; i < MOST && single; i++)
        found[i] = to[i];
}

/* Checks results, and that all between columns is unchanged. */
static void check_way(int kind, const struct lines__problem *problem,
                      const struct lines__radices *radices, int in_place) {
    double most = (problem->precision == FFTND_FLOAT ? 4e-6 : 8e-15) * (double)problem->axes[0].n;
    int wrong = 0;
    for (int i = 0; i < MOST; i++)
        found[i] = in_place ? input[i] : GAP;
    run(lines__column_loops[kind], problem, radices, in_place);
    while (wrong < MOST && cabs(found[wrong] - expected[wrong]) <= most)
        wrong++;
    check_all(
        wrong == MOST, "registers %d, %d passes, first %d: element %d is %g + %g i, not %g + %g i",
        kind, radices->n, radices->radix[0], wrong, creal(found[wrong % MOST]),
        cimag(found[wrong % MOST]), creal(expected[wrong % MOST]), cimag(expected[wrong % MOST]));
}

/* Checks all ways through a length, none like the one before it. */
static void check_registers(int kind, const struct lines__problem *problem, int in_place) {
    const struct lines__column_loops *loops = lines__column_loops[kind];
    redist_index n = problem->axes[0].n;
    struct lines__radices before = {0}, radices;
    int ways = 0;
    for (; lines__radices_at(loops, n, ways, &radices); ways++) {
        redist_index product = 1;
        for (int i = 0; i < radices.n; i++)
            product *= radices.radix[i];
        check_all(product == n && memcmp(&before, &radices, sizeof radices) != 0,
                  "registers %d, way %d: product %lld", kind, ways, (long long)product);
        check_way(kind, problem, &radices, in_place);
        before = radices;
    }
    check_all(ways > 0 && ways <= LINES__WAYS, "registers %d: %d ways", kind, ways);
}

static void check_length(int n) {
    struct lines__problem problem;
    int in_place;
    make_problem(n, &problem, &in_place);
    abreast = random_chance(50) ? 1 : random_between(2, 9);
    harness_case("%d elements, %lld columns, %lld groups%s, %s, direction %d, %d abreast", n,
                 (long long)problem.loops[0].n, (long long)problem.loops[1].n,
                 in_place ? ", in place" : "",
                 problem.precision == FFTND_FLOAT ? "float" : "double", problem.direction, abreast);
    for (int i = 0; i < MOST; i++) {
        input[i] = random_number() + I * random_number();
        expected[i] = in_place ? input[i] : GAP;
    }
    transform_plainly(&problem);
    for (int i = 0; lines__column_loops[i] != NULL; i++)
        if (lines__column_loops[i]->runs_here())
            check_registers(i, &problem, in_place);
}

START_TEST(all_registers) {
    int first = random_between(0, LENGTHS - 1);
    for (int i = 0; harness_another(i, LENGTHS); i++)
        check_length(lengths[(first + i) % LENGTHS]);
}
END_TEST

/* ---------------------------------------------------------------- threads */

/* Executions of one plan, more at once than it keeps scratch memory for. */
struct thread {
    pthread_t id;
    void *plan;
    double _Complex data[48 * 4];
    int code;
};

static void *execute_often(void *given) {
    struct thread *thread = given;
    for (int i = 0; i < 50 && thread->code == REDIST_OK; i++)
        thread->code = lines__library_columns.execute(thread->plan, thread->data, thread->data);
    return NULL;
}

START_TEST(threads) {
    static struct thread all[THREADS];
    struct lines__problem problem = {.kind = FFTND_C2C, .naxes = 1, .nloops = 1};
    void *plan;
    problem.axes[0] = (struct lines__loop){48, 4, 4};
    problem.loops[0] = (struct lines__loop){4, 1, 1};
    const struct lines__radices radices = lines__columns_radices(&problem, problem.axes[0].n);
    check_code(lines__columns_create(lines__column_loops_here(), &problem, &radices, 1, &plan),
               REDIST_OK);
    for (int i = 0; i < THREADS; i++) {
        all[i] = (struct thread){.plan = plan};
        for (int j = 0; j < 48 * 4; j++)
            all[i].data[j] = j % 7 - 3;
        if (pthread_create(&all[i].id, NULL, execute_often, &all[i]) != 0)
            check_all(0, "no thread %d", i);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(all[i].id, NULL);
        check_all(all[i].code == REDIST_OK, "thread %d returned %d", i, all[i].code);
        check_all(memcmp(all[i].data, all[0].data, sizeof all[i].data) == 0,
                  "thread %d has other results", i);
    }
    lines__library_columns.destroy(plan);
}
END_TEST

/* ---------------------------------------------------------------- which way */

static int is_way(redist_index n, int which, const struct lines__radices *radices) {
    struct lines__radices way;
    return lines__radices_at(lines__column_loops_here(), n, which, &way) &&
           memcmp(&way, radices, sizeof way) == 0;
}

/* Ways are guessed, or measured and then kept. */
START_TEST(ways) {
    static const redist_index tried[] = {48, 128, 192, 1000};
    for (int i = 0; i < 8; i++) {
        redist_index n = tried[i / 2];
        struct lines__problem problem = {.precision = i % 2 ? FFTND_DOUBLE : FFTND_FLOAT};
        struct lines__radices radices = lines__columns_radices(&problem, n);
        int which = 0;
        check_all(is_way(n, 0, &radices), "%lld is not guessed", (long long)n);
        problem.effort = FFTND_MEASURE;
        radices = lines__columns_radices(&problem, n);
        while (which < LINES__WAYS && !is_way(n, which, &radices))
            which++;
        check_all(which < LINES__WAYS, "%lld: another way, of %d", (long long)n, radices.n);
        radices = lines__columns_radices(&problem, n);
        check_all(is_way(n, which, &radices), "%lld is measured again", (long long)n);
        radices = lines__columns_radices(&problem, 11 * n);
        check_all(radices.n == 0, "a way through 11 * %lld", (long long)n);
    }
}
END_TEST

/* ---------------------------------------------------------------- where columns are faster */

START_TEST(lengths_that_are_refused) {
    const struct lines__library library = {.yields_lines = 1};
    struct lines__problem problem = {.general = &library, .effort = FFTND_ESTIMATE};
    static const redist_index refused[] = {1, 2, 7, 16, 22, 39, 1L << 13, 1L << 20};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        for (int far = 0; far < 2; far++)
            check_all(!lines__columns_gain(&problem, refused[i], far), "%lld elements gain",
                      (long long)refused[i]);
}
END_TEST

/* Groups that are not full are faster only beside others. Columns are not where registers hold one number. */
START_TEST(few_columns) {
    const struct lines__library library = {.yields_lines = 1};
    struct lines__problem problem = {.general = &library, .effort = FFTND_ESTIMATE};
    int gains = lines__columns_gain(&problem, 48, 0);
    problem.kind = FFTND_C2C;
    problem.naxes = problem.nloops = 1;
    static const redist_index columns[] = {1, 2, 3, 1024};
    for (int i = 0; i < 4; i++) {
        redist_index n = columns[i];
        problem.axes[0] = (struct lines__loop){48, n, n};
        problem.loops[0] = (struct lines__loop){n, 1, 1};
        int percent = lines__library_columns.percent(&problem, input, input);
        check_all((percent > 0 && percent < 100) == (gains && n == 1024),
                  "%lld columns: %d percent", (long long)n, percent);
    }
}
END_TEST

/* Measurements of another process are not repeated; they replace none of this one, and nonsense is not taken. */
START_TEST(found_elsewhere) {
    const struct lines__library library = {.yields_lines = 1};
    const struct lines__problem problem = {.general = &library, .effort = FFTND_MEASURE};
    static const char *const texts[] = {
        "1 480 50\n1 500 1000\n0 480 2\n0 500 99\n",
        "1 480 1000 1 -1 7 1 99999 7 10 480 7 -1 480 7 0 480 1 1 640 x"};
    for (int i = 0; i < 2; i++)
        lines__library_columns.take_found(FFTND_DOUBLE, texts[i]);
    check_all(lines__columns_gain(&problem, 480, 0) && !lines__columns_gain(&problem, 500, 1),
              "found elsewhere, and measured here");
    struct lines__radices second, told = lines__columns_radices(&problem, 480),
                                  none = lines__columns_radices(&problem, 500);
    check_all(lines__radices_at(lines__column_loops_here(), 480, 1, &second) == 0 ||
                  memcmp(&told, &second, sizeof told) == 0,
              "another way than that found elsewhere");
    check_all(none.n > 0, "no way through 500 points");
    char *text = lines__library_columns.tell_found(FFTND_DOUBLE);
    check_all(text != NULL && strstr(text, "1 480 50\n") != NULL &&
                  strstr(text, "0 480 2\n") != NULL && strstr(text, "640") == NULL,
              "%s", text);
    free(text);
    check_all(lines__library_columns.tell_found(FFTND_LONG_DOUBLE) == NULL, "long double");
}
END_TEST

static redist_index filled_in_trial = -1;

static int note_filled(const struct lines__problem *trial, void *in, void *out, void **plan) {
    (void)in, (void)out, (void)plan;
    filled_in_trial = trial->filled[0];
    return REDIST_ERR_SERIAL;
}

/* A trial for columns filled in part decides for all, and so has all points. */
START_TEST(trials_have_all_points) {
    const struct lines__library library = {.yields_lines = 1, .create = note_filled};
    const struct lines__problem problem = {
        .general = &library, .effort = FFTND_MEASURE, .filled = {24}};
    (void)lines__columns_gain(&problem, 96, 0);
    check_all(filled_in_trial == 0, "a trial with %lld points", (long long)filled_in_trial);
}
END_TEST

/* Rows that share sets of a cache make columns faster, beside FFTW, than others that are as near. */
START_TEST(rows_that_conflict) {
    const struct lines__library library = {.yields_lines = 1};
    struct lines__problem problem = {
        .general = &library, .effort = FFTND_ESTIMATE, .kind = FFTND_C2C, .naxes = 1, .nloops = 1};
    static const redist_index apart[] = {260, 256}; /* multiples of 64 bytes and of 4 KiB */
    int percent[2];
    problem.loops[0] = (struct lines__loop){64, 1, 1};
    for (int i = 0; i < 2; i++) {
        problem.axes[0] = (struct lines__loop){48, apart[i], apart[i]};
        percent[i] = lines__library_columns.percent(&problem, input, input);
    }
    check_all(percent[0] == 0 ? percent[1] == 0 : percent[1] < percent[0], "%d and %d percent",
              percent[0], percent[1]);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {all_registers,
                                  threads,
                                  ways,
                                  lengths_that_are_refused,
                                  few_columns,
                                  found_elsewhere,
                                  rows_that_conflict,
                                  trials_have_all_points,
                                  NULL};
    return harness_run(argc, argv, "test_lines_columns", tests);
}
