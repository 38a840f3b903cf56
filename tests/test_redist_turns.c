/* SPDX-License-Identifier: BSD-3-Clause */
/* Candidates in turns amid other data, with candidates whose times are written down here. */
#include <stdlib.h>
#include <time.h>

#include "../libredist/planner/planner.h"
#include "harness.h"

enum { MOST_RUNS = 200, FOREVER = 1000 };

/* What candidates do, and what was seen of them. Their times repeat after PERIOD runs. */
enum { PERIOD = 4 };

struct script {
    double seconds[REDIST__MOST_TURNS][PERIOD];
    int refuses[REDIST__MOST_TURNS]; /* to be opened */
    size_t buffers[REDIST__MOST_TURNS];
    int fails[REDIST__MOST_TURNS]; /* in this run, from 1; 0 = never */
    int milliseconds;              /* that a run really takes, at least */
    int opened, closed, runs[REDIST__MOST_TURNS], count, order[MOST_RUNS], unwritten;
};

/* ---------------------------------------------------------------- memory */

static size_t too_many = SIZE_MAX, largest;
static char *largest_memory;

static void *allocate(size_t bytes) {
    char *memory = bytes >= too_many ? NULL : malloc(bytes);
    if (memory != NULL && bytes >= largest) {
        largest = bytes;
        largest_memory = memory;
    }
    return memory;
}

/* ---------------------------------------------------------------- candidates */

static int open_script(void *context, int i, size_t *buffers) {
    struct script *script = context;
    script->opened++;
    *buffers = harness_rank == harness_nranks - 1 ? script->buffers[i] : 0;
    return script->refuses[i] ? REDIST_ERR_MEMORY : REDIST_OK;
}

static int time_script(void *context, int i, double *seconds) {
    struct script *script = context;
    const struct timespec pause = {.tv_nsec = script->milliseconds * 1000000L};
    int run = script->runs[i]++;
    for (size_t k = 0; largest > 1 && k < largest - 1; k += largest - 2)
        script->unwritten += run > 0 && largest_memory[k] != i + 1;
    if (script->count < MOST_RUNS)
        script->order[script->count] = i;
    script->count++;
    nanosleep(&pause, NULL);
    *seconds = script->seconds[i][run % PERIOD];
    return run + 1 == script->fails[i] ? REDIST_ERR_DEVICE : REDIST_OK;
}

static void close_script(void *context, int i) {
    (void)i;
    ((struct script *)context)->closed++;
}

static int run_turns(struct script *script, const struct redist__turns *turns, double medians[]) {
    largest = 0;
    int winner = redist__take_turns(turns, medians);
    int least = winner;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    check_all(winner == least, "candidate %d here, %d elsewhere", winner, least);
    check_all(script->opened == script->closed, "%d opened, %d closed", script->opened,
              script->closed);
    return winner;
}

static struct redist__turns describe(struct script *script, int count, size_t bytes, double limit) {
    return (struct redist__turns){.comm = MPI_COMM_WORLD,
                                  .count = count,
                                  .array_bytes = bytes,
                                  .seconds = limit,
                                  .context = script,
                                  .open = open_script,
                                  .time = time_script,
                                  .close = close_script};
}

static int take_turns(struct script *script, int count, size_t bytes, double limit,
                      double medians[]) {
    const struct redist__turns turns = describe(script, count, bytes, limit);
    return run_turns(script, &turns, medians);
}

static int is(double seconds, double expected) {
    return seconds > 0.999 * expected && seconds < 1.001 * expected;
}

/* ---------------------------------------------------------------- tests */

/* Not the best run of each. */
START_TEST(usual_run_decides) {
    struct script script = {.seconds = {{3, 3, 3, 3}, {4, 1, 4, 4}, {2, 2, 2, 9}}};
    double medians[REDIST__MOST_TURNS];
    int winner = take_turns(&script, 3, 1000, FOREVER, medians);
    check_all(winner == 2 && is(medians[2], 2), "winner %d, %g", winner, medians[2]);
    check_all(is(medians[1], 4), "%g instead of 4", medians[1]);
}
END_TEST

/* Other data may change what is fastest; without it candidates that are behind alone get no turn. */
START_TEST(alone_and_in_turns) {
    static const double alone[] = {1, 1.2, 1.9};
    for (int small = 0; small < 2; small++) {
        struct script script = {.seconds = {{3, 3, 3, 3}, {2, 2, 2, 2}, {1, 1, 1, 1}}};
        struct redist__turns turns = describe(&script, 3, small ? 1000 : (size_t)1 << 50, FOREVER);
        double medians[REDIST__MOST_TURNS];
        turns.alone = alone;
        int winner = run_turns(&script, &turns, medians);
        harness_case("small %d", small);
        check_all(winner == (small ? 2 : 1) && (script.runs[2] > 0) == small, "winner %d", winner);
    }
}
END_TEST

START_TEST(hopeless_ones_stop) {
    struct script script = {.seconds = {{3, 3, 3, 3}, {1, 1, 1, 1}, {1, 2, 1, 2}}};
    double medians[REDIST__MOST_TURNS];
    int winner = take_turns(&script, 3, 1000, FOREVER, medians);
    check_all(winner == 1, "winner %d", winner);
    check_all(medians[0] < 0 && script.runs[0] < script.runs[1] - 2, "%d and %d runs",
              script.runs[0], script.runs[1]);
}
END_TEST

/* Each has its turn as the first one and as the last one, and as often as the others. */
START_TEST(order_changes) {
    enum { N = REDIST__MOST_TURNS };
    struct script script = {0};
    double medians[N];
    int first[N] = {0}, last[N] = {0};
    take_turns(&script, N, 1000, FOREVER, medians);
    for (int k = 2 * N /* before the rounds */; k + N <= script.count && k + N <= MOST_RUNS;
         k += N) {
        first[script.order[k]]++;
        last[script.order[k + N - 1]]++;
    }
    for (int i = 0; i < N; i++)
        check_all(first[i] > 0 && last[i] > 0 && script.runs[i] == script.runs[0],
                  "candidate %d: %d times first, %d last, %d runs", i, first[i], last[i],
                  script.runs[i]);
}
END_TEST

START_TEST(failures) {
    struct script script = {.seconds = {{1, 1, 1, 1}, {1, 1, 1, 1}, {4, 4, 4, 4}, {3, 3, 3, 3}},
                            .refuses = {1},
                            .fails = {0, 4}};
    double medians[REDIST__MOST_TURNS];
    int winner = take_turns(&script, 4, 1000, FOREVER, medians);
    check_all(winner == 3, "winner %d", winner);
    check_all(medians[0] < 0 && medians[1] < 0 && script.runs[0] == 0 && script.runs[1] == 4,
              "%g, %g", medians[0], medians[1]);
}
END_TEST

/* What would hold too much beside the first one is left out, on all ranks. */
START_TEST(large_buffers) {
    enum { MIB = 1 << 20 };
    for (int arrays = 1; arrays <= 100; arrays += 99) {
        struct script script = {.seconds = {{4, 4, 4, 4}, {3, 3, 3, 3}, {1, 1, 1, 1}, {2, 2, 2, 2}},
                                .buffers = {(size_t)900 * MIB, 50 * MIB, 40 * MIB, 10 * MIB}};
        double medians[REDIST__MOST_TURNS];
        harness_case("arrays of %d MiB", arrays);
        int winner = take_turns(&script, 4, (size_t)arrays * MIB, FOREVER, medians);
        check_all(winner == (arrays == 100 ? 2 : 3), "winner %d", winner);
        check_all((script.runs[2] > 0) == (arrays == 100), "%d runs", script.runs[2]);
    }
}
END_TEST

/* Written before each run, and as much of it on all ranks; without memory for it nothing runs. */
START_TEST(other_data) {
    double medians[REDIST__MOST_TURNS];
    for (int without = 0; without < 4; without++) {
        struct script script = {.seconds = {{2, 2, 2, 2}, {1, 1, 1, 1}}};
        size_t bytes = 1000 * (size_t)(harness_rank + 1), all = 1000 * (size_t)harness_nranks;
        struct redist__turns turns =
            describe(&script, 2, without == 2 ? (size_t)1 << 50 : bytes, FOREVER);
        harness_case("without %d", without);
        too_many = without == 1 && harness_rank == harness_nranks - 1 ? 2 * all : SIZE_MAX;
        turns.on_device = without == 3;
        int winner = run_turns(&script, &turns, medians);
        too_many = SIZE_MAX;
        check_all(winner == (without == 1 ? -1 : 1), "winner %d", winner);
        check_all(without != 1 || script.opened == 0, "%d candidates ran", script.opened);
        check_all(script.unwritten == 0, "%d bytes were not written", script.unwritten);
        check_all(without == 1 || (largest >= 4 * all) == (without == 0), "%zu bytes", largest);
    }
}
END_TEST

/* Runs take at least as long as they wait here, so that the limit says how many there can be. */
START_TEST(limit_is_kept) {
    static const double limits[] = {0.5, 0.001};
    for (int k = 0; k < 2; k++) {
        struct script script = {.seconds = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
                                .milliseconds = 20};
        double medians[REDIST__MOST_TURNS];
        int winner = take_turns(&script, 4, 1000, limits[k], medians);
        int most = (int)(limits[k] / 0.02) + REDIST__MOST_TURNS + 2;
        check_all(script.count <= most, "%d runs in %g s", script.count, limits[k]);
        check_all(k == 0 || winner == -1, "a winner without time: %d", winner);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {usual_run_decides, alone_and_in_turns, hopeless_ones_stop,
                                  order_changes,     failures,           large_buffers,
                                  other_data,        limit_is_kept,      NULL};
    redist_set_allocator(allocate, free);
    return harness_run(argc, argv, "test_redist_turns", tests);
}
