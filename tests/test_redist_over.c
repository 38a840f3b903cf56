/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank fails alone when all of its messages have left, and frees its plan, while the others execute theirs once more:
 * they get an error, and what is made afterwards on the same communicator works. By every method, on whole arrays.
 */
#include <stdlib.h>

#include "exchanges.h"
#include "harness.h"
#include "redist_support.h"

static const redist_index sizes[3] = {12, 10, 6};

/* An array that every use accepts */
static const enum test_memory memory[2] = {MEMORY_PLAIN, MEMORY_PLAIN};

/* On the rank that fails, what a failure behind its last message leaves */
static void fail_alone(redist_plan *plan) {
    (void)redist_plan_break(plan, REDIST_ERR_MEMORY);
}

/* The others have two executions with an error: the one that the rank does not make, and the next one. */
static void free_alone(const exchange *given, const exchange_way *way, const test_array arrays[2],
                       int victim) {
    redist_plan *plan = NULL;
    int code = exchange_plan(given, way, arrays, &plan), freed = REDIST_OK,
        codes[2] = {REDIST_ERR_PEER, REDIST_ERR_PEER};
    check_ok(code);
    exchange_execute(given, way, arrays, plan, REDIST_FORWARD);
    if (harness_rank == victim)
        fail_alone(plan);
    else
        for (int i = 0; i < 2; i++)
            codes[i] = exchange_run(way, arrays, plan, REDIST_BACKWARD);
    freed = redist_plan_free(&plan);
    code = exchange_plan(given, way, arrays, &plan);
    check_all(codes[0] == REDIST_ERR_PEER && codes[1] == REDIST_ERR_PEER, "%s, then %s",
              redist_error_name(codes[0]), redist_error_name(codes[1]));
    check_ok(freed);
    check_ok(code);
    exchange_execute(given, way, arrays, plan, REDIST_BACKWARD);
    exchange_execute(given, way, arrays, plan, REDIST_FORWARD);
    check_ok(redist_plan_free(&plan));
}

static void try_ways(MPI_Comm comm) {
    test_element element = element_create(4);
    exchange given = exchange_between_axes(comm, &element, 3, sizes, 0, 1);
    for (int i = 0; i < request_count(); i++)
        for (enum exchange_use use = USE_EXECUTE; use < USES; use++) {
            const exchange_way way = {request_name(i), {memory[0], memory[1]}, use};
            test_array arrays[2];
            redist_plan *plan = NULL;
            exchange_arrays(&given, memory, arrays);
            harness_case("%s, use %d", way.method, (int)use);
            int code = exchange_plan(&given, &way, arrays, &plan);
            check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
            check_ok(redist_plan_free(&plan));
            if (code == REDIST_OK)
                free_alone(&given, &way, arrays, random_between(0, harness_nranks - 1));
            exchange_free_arrays(arrays);
        }
    element_free(&element);
}

START_TEST(on_one_node) {
    try_ways(MPI_COMM_WORLD);
}
END_TEST

START_TEST(between_nodes) {
    MPI_Comm comm;
    for (int size = 1; size < 3; size++) {
        setenv("REDIST_NODE_SIZE", size == 1 ? "1" : "2", 1);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        try_ways(comm);
        MPI_Comm_free(&comm);
    }
    unsetenv("REDIST_NODE_SIZE");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {on_one_node, between_nodes, NULL};
    return harness_run(argc, argv, "test_redist_over", tests);
}
