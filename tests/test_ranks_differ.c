/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks that differ where all have to decide alike: in their locale, their environment, and in arguments. They get the
 * same error, or go on together; nobody waits for another rank.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comma_locale.h"
#include "exchanges.h"
#include "fft_run.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "redist_support.h"

/* Which ranks have something: a bit for each of the first, the last and the others. */
enum { FIRST = 1, LAST = 2, OTHERS = 4, ALL = 7 };

static int is_among(int ranks) {
    return ranks & (harness_rank == 0 ? FIRST : harness_rank == harness_nranks - 1 ? LAST : OTHERS);
}

/* Whether some ranks are among these and others are not. Collective. */
static int tells_ranks_apart(int ranks) {
    int mine = is_among(ranks) != 0, count;
    MPI_Allreduce(&mine, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return count != 0 && count != harness_nranks;
}

/* ---------------------------------------------------------------- what all of them do */

static char file[300];

static void make_file(void) {
    snprintf(file, sizeof file, "/tmp/ranks-differ-XXXXXX");
    int descriptor = harness_rank == 0 ? mkstemp(file) : -1;
    if (harness_rank == 0)
        close(descriptor);
    MPI_Bcast(file, sizeof file, MPI_CHAR, 0, MPI_COMM_WORLD);
    redist_forget_wisdom();
}

static void remove_file(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    redist_forget_wisdom();
    if (harness_rank == 0)
        unlink(file);
}

static void try_exchange(MPI_Comm comm, redist_index n) {
    const redist_index sizes[] = {n, 7, 8};
    const exchange_way ways[] = {{"auto", {MEMORY_SHARED, MEMORY_PLAIN}, USE_EXECUTE}};
    test_element element = element_create(2);
    exchange given = exchange_between_axes(comm, &element, 3, sizes, 0, 1);
    exchange_try(&given, 1, ways);
    element_free(&element);
}

/* Enough to try other grids than the first one. */
static const double plan_seconds = 0.3;

/* Four ranks have grids of one dimension and of two to choose from. */
static void try_transform(MPI_Comm comm, int n) {
    fft_case given = FFT_CASE(FFTND_C2C, n, 8, 12);
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = plan_seconds;
    fft_check_once(comm, &given);
}

/* ---------------------------------------------------------------- locales */

/* What one plan has measured the next ones find, in the process or in the file. */
START_TEST(locales) {
    static const int with_comma[] = {FIRST, LAST | OTHERS, ALL};
    for (size_t i = 0; i < 6; i++) {
        if (!comma_locale_set(is_among(with_comma[i / 2])))
            skip_test("no locale to make one with a comma from");
        make_file();
        if (i % 2)
            setenv("REDIST_WISDOM", file, 1);
        for (int n = 0; n < 3; n++) {
            harness_case("case %zu, plan %d", i, n);
            try_exchange(MPI_COMM_WORLD, 6 + n);
            try_transform(MPI_COMM_WORLD, 12 + 2 * n);
            if (i % 2)
                redist_forget_wisdom();
        }
        unsetenv("REDIST_WISDOM");
        comma_locale_reset();
        remove_file();
    }
}
END_TEST

/* ---------------------------------------------------------------- the environment */

/* Rank 0's counts, or nobody's. */
START_TEST(variables) {
    static const char *const known[][2] = {
        {"FFTND_CONFIGURATION", " fused=0 tiled=1 tile=3333 group=1000 nontemporal=1"},
        {"FFTND_LINES", "cufft"},
        {"REDIST_VERBOSE", "0"},
        {"REDIST_WISDOM", NULL}};
    static const int with[] = {FIRST, LAST, OTHERS | LAST, ALL};
    for (size_t i = 0; i < 4 * sizeof known / sizeof *known; i++) {
        const char *name = known[i / 4][0], *value = known[i / 4][1];
        harness_case("%s, case %zu", name, i % 4);
        make_file();
        if (is_among(with[i % 4]))
            setenv(name, value != NULL ? value : file, 1);
        for (int n = 0; n < 2; n++) {
            try_exchange(MPI_COMM_WORLD, 6);
            try_transform(MPI_COMM_WORLD, 12);
            redist_forget_wisdom();
        }
        unsetenv(name);
        remove_file();
    }
}
END_TEST

/* Makes a duplicate whose nodes are found anew, which has to end with `expected` on all ranks. */
static void find_nodes(int expected) {
    MPI_Comm comm;
    int node_size = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    check_code(redist_node_size(comm, &node_size), expected);
    if (expected != REDIST_OK)
        check_all(strstr(redist_error_message(), "REDIST_NODE_SIZE") != NULL, "%s",
                  redist_error_message());
    MPI_Comm_free(&comm);
}

/* All communicators see the same nodes: their size has to be one for all. */
START_TEST(node_sizes) {
    for (int ranks = 1; ranks <= ALL; ranks++) {
        harness_case("1 on ranks %d", ranks);
        if (is_among(ranks))
            setenv("REDIST_NODE_SIZE", "1", 1);
        find_nodes(tells_ranks_apart(ranks) ? REDIST_ERR_DISAGREE : REDIST_OK);
        unsetenv("REDIST_NODE_SIZE");
    }
    setenv("REDIST_NODE_SIZE", harness_rank == 0 ? "2" : "1", 1);
    find_nodes(REDIST_ERR_DISAGREE);
    unsetenv("REDIST_NODE_SIZE");
    find_nodes(REDIST_OK);
}
END_TEST

START_TEST(nonsense_as_node_size) {
    static const char *const values[] = {"two", "2x", "-1", "1.5", "99999999999", " ", "0x2"};
    for (size_t i = 0; i < 2 * sizeof values / sizeof *values; i++) {
        harness_case("\"%s\"", values[i / 2]);
        if (i % 2 || harness_rank == harness_nranks - 1)
            setenv("REDIST_NODE_SIZE", values[i / 2], 1);
        find_nodes(REDIST_ERR_ARGUMENT);
        check_all(strstr(redist_error_message(), values[i / 2]) != NULL &&
                      strstr(redist_error_message(), "in 0..2147483647") != NULL,
                  "%s", redist_error_message());
        unsetenv("REDIST_NODE_SIZE");
    }
    static const char *const none[] = {"", "0"};
    for (int i = 0; i < 2; i++) {
        if (harness_rank == 0)
            setenv("REDIST_NODE_SIZE", none[i], 1);
        find_nodes(REDIST_OK);
        unsetenv("REDIST_NODE_SIZE");
    }
}
END_TEST

/* ---------------------------------------------------------------- arguments */

static fftnd_plan *plan_square(void) {
    const redist_index sizes[2] = {12, 16};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    options.effort = FFTND_ESTIMATE;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 2, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan));
    return plan;
}

/* An operator of `kind` whose options are `mine` on rank 0 and `theirs` on the others. */
static void differ(enum fftnd_operator_kind kind, const fftnd_operator_options *mine,
                   const fftnd_operator_options *theirs, const char *named) {
    fftnd_plan *plan = plan_square();
    fftnd_operator *op = NULL;
    harness_case("kind %d: %s", (int)kind, named);
    check_code(fftnd_operator_create(plan, kind, harness_rank == 0 ? mine : theirs, &op),
               REDIST_ERR_DISAGREE);
    check_all(strstr(redist_error_message(), named) != NULL, "%s", redist_error_message());
    check_ok(fftnd_plan_free(&plan));
}

START_TEST(operators) {
    static const int lists[][2] = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {256, 1}};
    static const double numbers[][2] = {{1, 2}, {2, 1}, {5e-324, 0}, {1, 5e-324}};
    for (size_t i = 0; i < 5; i++) {
        fftnd_operator_options mine = FFTND_OPERATOR_OPTIONS_DEFAULT, theirs = mine;
        theirs.axes = lists[i];
        differ(FFTND_LAPLACIAN, &mine, &theirs, "axes");
        differ(FFTND_LAPLACIAN, &theirs, &mine, "axes");
    }
    for (size_t i = 0; i < 2; i++) {
        fftnd_operator_options mine = FFTND_OPERATOR_OPTIONS_DEFAULT, theirs = mine;
        mine.orders = lists[i];
        theirs.orders = lists[!i];
        differ(FFTND_DERIVATIVE, &mine, &theirs, "orders");
    }
    for (size_t i = 0; i < 4; i++) {
        fftnd_operator_options mine = FFTND_OPERATOR_OPTIONS_DEFAULT, theirs = mine;
        mine.shift = numbers[i];
        theirs.shift = numbers[(i + 1) % 4];
        differ(FFTND_SHIFT, &mine, &theirs, "shift");
        mine.shift = theirs.shift = numbers[i];
        theirs.lengths = numbers[i % 2];
        differ(FFTND_SHIFT, &mine, &theirs, "lengths");
    }
}
END_TEST

/* Tables of symbols: nothing, or numbers, along an axis. */
START_TEST(symbols) {
    static const double tables[][2 * 16] = {{1}, {5e-324}, {0}};
    for (int i = 0; i < 9; i++) {
        const double *first[2] = {tables[i / 3], tables[2]}, *second[2] = {tables[i % 3], NULL};
        fftnd_operator_options mine = FFTND_OPERATOR_OPTIONS_DEFAULT, theirs = mine;
        mine.symbols = first;
        theirs.symbols = second;
        differ(FFTND_SYMBOLS, &mine, &theirs, "symbols");
    }
}
END_TEST

/* Lists of a plan's options that say on some ranks what is the default on the others. */
START_TEST(option_arrays) {
    const redist_index sizes[3] = {12, 8, 12}, none[3] = {0};
    const int open_grid[2] = {0, 0}, axes[3] = {0, 1, 2};
    static const int with[] = {FIRST, LAST, OTHERS | LAST, ALL};
    for (int i = 0; i < 8 * 4; i++) {
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        fftnd_plan *plan = NULL;
        int given = is_among(with[i % 4]) != 0, least, most;
        options.effort = FFTND_MEASURE;
        options.plan_seconds = i / 4 == 0 ? plan_seconds : 0.01;
        options.grid_ndims = 2;
        if (given && i / 4 == 0)
            options.grid = open_grid;
        if (given && i / 4 == 1)
            options.order = axes;
        if (given && i / 4 == 2)
            options.retained_modes = sizes;
        if (given && i / 4 >= 3 && i / 4 < 5)
            options.memory_order[i / 4 - 3] = axes;
        if (given && i / 4 == 7)
            options.filled = sizes;
        if (given && i / 4 >= 5 && i / 4 < 7)
            options.padding[i / 4 - 5] = none;
        harness_case("list %d, case %d", i / 4, i % 4);
        redist_forget_wisdom();
        int code =
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan);
        MPI_Allreduce(&code, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        MPI_Allreduce(&code, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        check_all(least == most, "codes from %d to %d", least, most);
        check_all(code == REDIST_OK || code == REDIST_ERR_DISAGREE, "%s", redist_error_message());
        check_all(i % 4 < 3 || code == REDIST_OK, "%s", redist_error_message());
        check_ok(fftnd_plan_free(&plan));
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {locales,   variables, node_sizes,    nonsense_as_node_size,
                                  operators, symbols,   option_arrays, NULL};
    unsetenv("REDIST_TEST_SHARE");
    return harness_run(argc, argv, "test_ranks_differ", tests);
}
