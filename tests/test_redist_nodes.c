/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several nodes, imitated on one machine by REDIST_NODE_SIZE: method direct refuses by name where a
 * communicator spans nodes, and works where it does not; all other methods and auto work anywhere.
 *     test_redist_nodes RANKS_PER_NODE
 */
#include <stdlib.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"

static int node_size;

static int needs_one_node(const char *method) {
    return strncmp(method, "direct", 6) == 0;
}

/* Ranks of the communicator are on one node if their numbers in it are; see libredist/comm/connect.c. */
static int spans_nodes(const exchange *given) {
    return given->nranks > node_size;
}

static void check_refused(const exchange *given, const exchange_way *way) {
    test_array arrays[2];
    redist_plan *plan = NULL;
    exchange_say(given, way);
    exchange_arrays(given, way->memory, arrays);
    check_code(exchange_plan(given, way, arrays, &plan), REDIST_ERR_METHOD);
    check_all(strstr(redist_error_message(), "direct") && strstr(redist_error_message(), "node"),
              "the message does not say why: %s", redist_error_message());
    exchange_free_arrays(arrays);
}

static void try_variants(const exchange *given) {
    static const char *const variants[] = {"kway:2", "kway:3"};
    for (int i = 0; i < 2; i++) {
        exchange_way way = random_way(variants[i]);
        exchange_try(given, 1, &way);
    }
}

static void try_methods(const exchange *given) {
    try_variants(given);
    for (int i = 0; i < request_count(); i++) {
        exchange_way way = random_way(request_name(i));
        if (way.memory[0] == MEMORY_INSIDE)
            way.memory[0] = MEMORY_SHARED;
        if (spans_nodes(given) && needs_one_node(way.method))
            check_refused(given, &way);
        else
            exchange_try(given, 1, &way);
    }
}

static exchange random_exchange(MPI_Comm comm, const test_element *element) {
    redist_index sizes[3];
    int axis = random_between(0, 2);
    random_sizes(3, 1, 12, 800, sizes);
    return exchange_between_axes(comm, element, 3, sizes, axis, (axis + random_between(1, 2)) % 3);
}

START_TEST(across_nodes) {
    for (int i = 0; harness_another(i, 2); i++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = random_exchange(MPI_COMM_WORLD, &element);
        try_methods(&given);
        element_free(&element);
    }
}
END_TEST

/* Communicators of one node each */
START_TEST(within_nodes) {
    MPI_Comm node;
    MPI_Comm_split(MPI_COMM_WORLD, harness_rank / node_size, harness_rank, &node);
    for (int i = 0; harness_another(i, 2); i++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = random_exchange(node, &element);
        try_methods(&given);
        element_free(&element);
    }
    MPI_Comm_free(&node);
}
END_TEST

/* Executions one after the other with nothing in between: ranks that are early meet buffers and counters
 * of those that are late. Ranks in reverse order, so that nodes are not in that of the ranks. */
START_TEST(repeated) {
    static const char *const methods[] = {"hier", "kway:2"};
    MPI_Comm reversed;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -harness_rank, &reversed);
    for (int i = 0; i < 2; i++) {
        test_array arrays[2];
        redist_plan *plan;
        int code = REDIST_OK;
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = random_exchange(reversed, &element);
        exchange_way way = random_way(methods[i]);
        way.use = USE_EXECUTE;
        exchange_say(&given, &way);
        exchange_arrays(&given, way.memory, arrays);
        check_ok(exchange_plan(&given, &way, arrays, &plan));
        exchange_prepare(&given, arrays, REDIST_FORWARD, 5);
        for (int round = 0; round < 20 && code == REDIST_OK; round++) {
            code = redist_plan_execute(plan, REDIST_FORWARD);
            if (code == REDIST_OK)
                code = redist_plan_execute(plan, REDIST_BACKWARD);
        }
        if (code == REDIST_OK)
            code = redist_plan_execute(plan, REDIST_FORWARD);
        check_ok(code);
        exchange_check(&given, arrays, REDIST_FORWARD, 5);
        check_ok(redist_plan_free(&plan));
        exchange_free_arrays(arrays);
        element_free(&element);
    }
    MPI_Comm_free(&reversed);
}
END_TEST

/* An array of redist_alloc over several nodes is plain memory to ranks of other nodes. */
START_TEST(exchange_across_nodes) {
    for (int i = 0; harness_another(i, 2); i++) {
        static const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
        test_element element = element_create(2);
        test_array arrays[2];
        exchange given = random_exchange(MPI_COMM_WORLD, &element);
        exchange_arrays(&given, memory, arrays);
        exchange_prepare(&given, arrays, REDIST_FORWARD, 9);
        check_ok(exchange_call(&given, arrays, REDIST_FORWARD));
        exchange_check(&given, arrays, REDIST_FORWARD, 9);
        exchange_free_arrays(arrays);
        element_free(&element);
    }
}
END_TEST

/* Where a rank of `comm` is among all when they are sorted by node, the node of rank 0 first. The n-th node
 * to appear is known by its lowest rank. */
static int place_by_node(MPI_Comm comm) {
    int world[EXCHANGE_MOST_RANKS], first[EXCHANGE_MOST_RANKS], size, rank, place = 0;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    MPI_Allgather(&harness_rank, 1, MPI_INT, world, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++)
        for (first[i] = 0; world[first[i]] / node_size != world[i] / node_size;)
            first[i]++;
    for (int i = 0; i < size; i++)
        place += first[i] < first[rank] || (first[i] == first[rank] && i < rank);
    return place;
}

/* Ranks that are dealt out to the nodes like cards; the plain grid of the same dims is another one. */
START_TEST(grids_by_node) {
    redist_grid *grid, *plain;
    MPI_Comm dealt;
    int dims[1] = {0}, place[1], rank, odd_one = harness_rank == harness_nranks - 1;
    MPI_Comm_split(MPI_COMM_WORLD, 0, harness_rank % node_size, &dealt);
    MPI_Comm_rank(dealt, &rank);
    int expected = place_by_node(dealt);
    check_ok(redist_grid_create_by_node(dealt, 1, dims, &grid));
    check_ok(redist_grid_get(grid, NULL, NULL, place));
    check_all(place[0] == expected, "rank %d is at %d, not %d", rank, place[0], expected);
    check_ok(redist_grid_create(dealt, 1, dims, &plain));
    check_ok(redist_grid_get(plain, NULL, NULL, place));
    check_all(place[0] == rank, "rank %d is at %d in rank order", rank, place[0]);
    check_ok(redist_grid_free(&plain));
    check_ok(redist_grid_free(&grid));
    check_code((odd_one ? redist_grid_create : redist_grid_create_by_node)(dealt, 1, dims, &grid),
               REDIST_ERR_DISAGREE);
    MPI_Comm_free(&dealt);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {across_nodes,  within_nodes,          repeated,
                                  grids_by_node, exchange_across_nodes, NULL};
    const char *text = argc > 1 ? argv[1] : "1";
    node_size = atoi(text);
    setenv("REDIST_NODE_SIZE", text, 1);
    return harness_run(argc, argv, "test_redist_nodes", tests);
}
