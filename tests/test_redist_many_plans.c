/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of plans that live at the same time:
 *     test_redist_many_plans
 * It prints how long their first and second halves took; with walks over all that live the second
 * would take longer and longer.
 */
#include <stdio.h>

#include "counters.h"
#include "exchanges.h"
#include "harness.h"

enum { MANY = 10000 };

static const char *const names[] = {"p2p", "direct"};
static test_element element;
static exchange given;
static test_array arrays[2][2];
static redist_plan *plans[MANY];

static exchange_way way_of(int i) {
    enum test_memory memory = i % 2 ? MEMORY_SHARED : MEMORY_PLAIN;
    return (exchange_way){names[i % 2], {memory, memory}, USE_EXECUTE};
}

typedef int deed(int i);

static int make(int i) {
    exchange_way way = way_of(i);
    return exchange_plan(&given, &way, arrays[i % 2], &plans[i]);
}

static int use(int i) {
    return redist_plan_execute(plans[i], i % 3 == 0);
}

static int give(int i) {
    return redist_plan_free(&plans[i]);
}

/* In two halves, timed. Which of them do it right is counted. */
static void do_all(const char *name, deed *act, int count) {
    double seconds[2];
    int done = 0;
    for (int half = 0; half < 2; half++) {
        double start = MPI_Wtime();
        for (int i = half * (count / 2); i < (half + 1) * (count / 2); i++)
            done += act(i) == REDIST_OK;
        seconds[half] = MPI_Wtime() - start;
    }
    if (harness_rank == 0)
        printf("%d plans %s: %.3f s for the first half, %.3f s for the second\n", count, name,
               seconds[0], seconds[1]);
    check_all(done == count, "%d of %d plans %s: %s", done, count, name, redist_error_message());
}

START_TEST(many_plans) {
    static const redist_index sizes[] = {4, 4};
    int count = harness_cases(MANY) / 2 * 2;
    count = count < MANY ? count : MANY;
    element = element_create(2);
    given = exchange_between_axes(MPI_COMM_WORLD, &element, 2, sizes, 0, 1);
    for (int i = 0; i < 2; i++) {
        exchange_way way = way_of(i);
        exchange_arrays(&given, way.memory, arrays[i]);
    }
    struct counters before = counters_taken();
    do_all("made", make, count);
    do_all("used", use, count);
    for (int i = 0; i < count; i += count / 20 + 1) { /* each with its own messages and flags */
        exchange_way way = way_of(i);
        exchange_execute(&given, &way, arrays[i % 2], plans[i], REDIST_FORWARD);
    }
    do_all("freed", give, count);
    check_all(counters.comms - before.comms <= 2, "%ld communicators left",
              counters.comms - before.comms);
    check_all(counters.types == before.types, "%ld datatypes left", counters.types - before.types);
    for (int i = 0; i < 2; i++)
        exchange_free_arrays(arrays[i]);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {many_plans, NULL};
    counters_begin();
    return harness_run(argc, argv, "test_redist_many_plans", tests);
}
