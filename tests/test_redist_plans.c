/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans between two axes: all methods on all cases, every byte compared. */
#include <string.h>
#include <unistd.h>

#include "exchanges.h"
#include "harness.h"

static test_element random_element(void) {
    return element_create(random_between(0, element_count() - 1));
}

static void try_axes(int ndims, const redist_index sizes[], int axis_a, int axis_b) {
    test_element element = random_element();
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, axis_a, axis_b);
    exchange_try_methods(&given);
    element_free(&element);
}

static void try_all_pairs(int ndims, int low, int high) {
    for (int pair = 0; pair < ndims * ndims; pair++) {
        redist_index sizes[REDIST_MAX_NDIMS];
        random_sizes(ndims, low, high, 800, sizes);
        if (pair / ndims != pair % ndims)
            try_axes(ndims, sizes, pair / ndims, pair % ndims);
    }
}

/* Every ordered pair of axes of 2 to 5 */
START_TEST(pairs_2d) {
    try_all_pairs(2, 1, 30);
}
END_TEST

START_TEST(pairs_3d) {
    try_all_pairs(3, 1, 17);
}
END_TEST

START_TEST(pairs_4d) {
    try_all_pairs(4, 1, 11);
}
END_TEST

START_TEST(pairs_5d) {
    try_all_pairs(5, 1, 7);
}
END_TEST

/* Random axes of 6 or more */
START_TEST(many_axes) {
    for (int i = 0; harness_another(i, 3); i++) {
        redist_index sizes[REDIST_MAX_NDIMS];
        int ndims = i % 3 == 2 ? REDIST_MAX_NDIMS : random_between(6, 9);
        random_sizes(ndims, 1, 4, 1000, sizes);
        int axis_a = random_between(0, ndims - 1);
        int axis_b = (axis_a + random_between(1, ndims - 1)) % ndims;
        try_axes(ndims, sizes, axis_a, axis_b);
    }
}
END_TEST

/* Extents of 1, primes, fewer rows than ranks, no elements at all */
START_TEST(uneven_shapes) {
    static const redist_index shapes[][3] = {
        {1, 1, 1}, {1, 13, 1}, {3, 1, 2},   {2, 3, 5}, {7, 11, 13}, {8, 8, 1},  {0, 4, 3},
        {9, 0, 0}, {4, 5, 0},  {17, 2, 19}, {1, 2, 1}, {31, 1, 3},  {64, 1, 1}, {5, 5, 5}};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        int axis_a = random_between(0, 2);
        try_axes(3, shapes[i], axis_a, (axis_a + random_between(1, 2)) % 3);
    }
}
END_TEST

/* Each kind of element, with the last axis among the two: its part of a row is of any length */
START_TEST(elements) {
    for (int i = 0; i < element_count(); i++) {
        test_element element = element_create(i);
        redist_index sizes[3];
        random_sizes(3, 2, 20, 1500, sizes);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 2, i % 2);
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

/* Every method, memory on both sides and use, crossed */
START_TEST(crossed) {
    static const enum test_memory memories[] = {MEMORY_PLAIN, MEMORY_SHARED};
    redist_index sizes[] = {random_between(1, 9), random_between(4, 9), random_between(3, 12)};
    test_element element = element_create(random_between(0, copyable_element_count() - 1));
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 1, 2);
    enum { MOST_WAYS = 400 };
    exchange_way ways[MOST_WAYS];
    int nways = request_count() * 4 * USES;
    check_all(nways <= MOST_WAYS, "%d ways", nways);
    for (int i = 0; i < nways; i++)
        ways[i] = (exchange_way){request_name(i / (4 * USES)),
                                 {memories[i / USES % 2], memories[i / USES / 2 % 2]},
                                 (enum exchange_use)(i % USES)};
    exchange_try(&given, nways, ways);
    element_free(&element);
}
END_TEST

/* Larger rows, at which the copies of method direct pass by the caches */
START_TEST(long_rows) {
    for (int axis = 0; axis < 3; axis++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        redist_index sizes[3] = {random_between(4, 6), random_between(4, 6), random_between(4, 6)};
        sizes[axis] = random_between(300, 700);
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, axis, (axis + 2) % 3);
        exchange_try_methods(&given);
        element_free(&element);
    }
}
END_TEST

/* ---------------------------------------------------------------- subgroups */

/* Each row and each column of a grid exchanges for itself, at the same time, arrays of other sizes.
 */
START_TEST(subgroups) {
    redist_grid *grid;
    int dims[2], coords[2], any[2] = {0, 0};
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
    check_ok(redist_grid_get(grid, NULL, dims, coords));
    for (int i = 0; harness_another(i, 2); i++) {
        MPI_Comm subcomm;
        test_element element = random_element();
        redist_index sizes[4];
        int axis_a = random_between(0, 3), axis_b = (axis_a + random_between(1, 3)) % 4;
        random_sizes(4, 1, 9, 700, sizes);
        sizes[(axis_a + 1) % 4] += coords[!(i % 2)]; /* the same within a subgroup */
        check_ok(redist_grid_subcomm(grid, i % 2, &subcomm));
        exchange given = exchange_between_axes(subcomm, &element, 4, sizes, axis_a, axis_b);
        exchange_try_methods(&given);
        element_free(&element);
    }
    check_ok(redist_grid_free(&grid));
}
END_TEST

/* ---------------------------------------------------------------- one plan, many executions */

/* Ranks come early and late, use their arrays again at once, and never meet in between: what a
 * method does too early or too late in a peer's array shows. */
static void repeat(const exchange *given, const exchange_way *way, const test_array arrays[2],
                   redist_plan *plan) {
    char text[512] = "";
    size_t wrong = 0;
    int failed = 0;
    for (int round = 0; round < 12; round++) {
        int direction = random_chance(50), late = random_between(0, 2 * given->nranks);
        uint64_t salt = random_bits();
        exchange_prepare(given, arrays, direction, salt);
        if (late == given->rank)
            usleep(300);
        if (way->use == USE_START) {
            failed |= redist_plan_start(plan, direction);
            failed |= redist_plan_wait(plan);
        } else {
            failed |= redist_plan_execute(plan, direction);
        }
        wrong += exchange_wrong(given, arrays, direction, salt, text);
    }
    check_all(!failed, "%s", redist_error_message());
    check_all(wrong == 0, "%s", text);
}

static void repeat_with(const exchange *given, const exchange_way *way) {
    test_array arrays[2];
    redist_plan *plan;
    exchange_say(given, way);
    exchange_arrays(given, way->memory, arrays);
    int code = exchange_plan(given, way, arrays, &plan);
    int refused = code == REDIST_ERR_METHOD && may_be_refused(given, way);
    check_all(refused || code == REDIST_OK, "%s", redist_error_message());
    if (!refused) {
        repeat(given, way, arrays, plan);
        check_ok(redist_plan_free(&plan));
    }
    exchange_free_arrays(arrays);
}

START_TEST(repeated) {
    test_element element = element_create(2);
    for (int i = 0; harness_another(i, 4); i++) {
        redist_index sizes[3];
        random_sizes(3, 1, 12, 800, sizes);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 3,
                                               (i + random_between(1, 2)) % 3);
        exchange_way way = random_way(request_name(i % request_count()));
        way.use = random_chance(50) ? USE_START : USE_EXECUTE;
        way.memory[0] = i / request_count() % 2 ? MEMORY_SHARED : MEMORY_PLAIN;
        way.memory[1] = i / request_count() / 2 % 2 ? MEMORY_SHARED : MEMORY_PLAIN;
        repeat_with(&given, &way);
    }
    element_free(&element);
}
END_TEST

/* Some ranks have no elements: a non-blocking collective call of MPI may never end then. */
START_TEST(started_without_elements) {
    static const char *const methods[] = {"alltoallw", "alltoallv", "p2p-type"};
    static const redist_index sizes[] = {7, 6, 9};
    test_element element = element_create(2);
    for (int i = 0; i < 9; i++) {
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 3, (i + 1 + i / 6) % 3);
        exchange_way way = {methods[i / 3], {MEMORY_PLAIN, MEMORY_PLAIN}, USE_START};
        repeat_with(&given, &way);
    }
    element_free(&element);
}
END_TEST

/* Messages that are too long for MPI to take at once */
START_TEST(repeated_long_messages) {
    test_element element = element_create(4);
    for (int i = 0; i < request_count(); i++) {
        const redist_index sizes[3] = {24, 26, 28};
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 3,
                                               (i + random_between(1, 2)) % 3);
        exchange_way way = random_way(request_name(i));
        way.use = random_chance(50) ? USE_START : USE_EXECUTE;
        repeat_with(&given, &way);
    }
}
END_TEST

/* ---------------------------------------------------------------- several plans at once */

enum { PLANS = 5 };

struct flight {
    exchange given;
    exchange_way way;
    test_array arrays[2];
    redist_plan *plan;
    int direction;
    uint64_t salt;
};

static void make_flight(struct flight *flight, const test_element *element) {
    redist_index sizes[3];
    int axis = random_between(0, 2);
    random_sizes(3, 1, 14, 800, sizes);
    flight->given = exchange_between_axes(MPI_COMM_WORLD, element, 3, sizes, axis,
                                          (axis + random_between(1, 2)) % 3);
    do {
        flight->way = random_way(request_name(random_between(0, request_count() - 1)));
        flight->way.use = USE_START;
    } while (may_be_refused(&flight->given, &flight->way));
    exchange_say(&flight->given, &flight->way);
    exchange_arrays(&flight->given, flight->way.memory, flight->arrays);
    check_ok(exchange_plan(&flight->given, &flight->way, flight->arrays, &flight->plan));
}

static void start_flight(struct flight *flight) {
    flight->direction = random_chance(50);
    flight->salt = random_bits();
    exchange_prepare(&flight->given, flight->arrays, flight->direction, flight->salt);
    exchange_say(&flight->given, &flight->way);
    check_ok(redist_plan_start(flight->plan, flight->direction));
}

static void land_flight(struct flight *flight) {
    char text[512];
    exchange_say(&flight->given, &flight->way);
    check_ok(redist_plan_wait(flight->plan));
    size_t wrong =
        exchange_wrong(&flight->given, flight->arrays, flight->direction, flight->salt, text);
    check_all(wrong == 0, "%s", text);
}

static void fly(struct flight flights[PLANS]) {
    int order[PLANS];
    random_permutation(PLANS, order);
    for (int i = 0; i < PLANS; i++)
        start_flight(&flights[i]);
    for (int i = 0; i < PLANS; i++)
        land_flight(&flights[order[i]]);
    for (int i = 0; i < PLANS - 1; i++) { /* one in the air while others come and go */
        start_flight(&flights[i]);
        start_flight(&flights[PLANS - 1]);
        land_flight(&flights[PLANS - 1]);
        land_flight(&flights[i]);
    }
}

START_TEST(several_at_once) {
    for (int i = 0; harness_another(i, 1); i++) {
        struct flight flights[PLANS];
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        for (int j = 0; j < PLANS; j++)
            make_flight(&flights[j], &element);
        fly(flights);
        for (int j = 0; j < PLANS; j++) {
            check_ok(redist_plan_free(&flights[j].plan));
            exchange_free_arrays(flights[j].arrays);
        }
        element_free(&element);
    }
}
END_TEST

/* A plan that is freed while started is completed first. */
START_TEST(freed_while_started) {
    test_element element = element_create(2);
    for (int i = 0; i < request_count(); i++) {
        const redist_index sizes[] = {5, 6, 7};
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
        exchange_way way = {request_name(i), {MEMORY_SHARED, MEMORY_SHARED}, USE_START};
        test_array arrays[2];
        redist_plan *plan;
        exchange_say(&given, &way);
        exchange_arrays(&given, way.memory, arrays);
        check_ok(exchange_plan(&given, &way, arrays, &plan));
        exchange_prepare(&given, arrays, REDIST_BACKWARD, 1);
        check_ok(redist_plan_start(plan, REDIST_BACKWARD));
        check_ok(redist_plan_free(&plan));
        exchange_check(&given, arrays, REDIST_BACKWARD, 1);
        exchange_free_arrays(arrays);
    }
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- other truths */

/* All bytes that any method leaves in the two arrays are those that alltoallw leaves. */
static void compare_with_reference(const exchange *given, const test_array reference[2],
                                   const char *method) {
    exchange_way way = {method, {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    test_array arrays[2];
    redist_plan *plan;
    exchange_say(given, &way);
    exchange_arrays(given, way.memory, arrays);
    exchange_prepare(given, arrays, REDIST_FORWARD, 5);
    check_ok(exchange_plan(given, &way, arrays, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FORWARD));
    for (int side = 0; side < 2; side++)
        check_all(memcmp(arrays[side].allocation, reference[side].allocation,
                         reference[side].allocation_bytes) == 0,
                  "array %c differs from that of alltoallw", 'A' + side);
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
}

START_TEST(same_as_alltoallw) {
    for (int i = 0; i < harness_cases(3); i++) {
        exchange_way way = {"alltoallw", {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
        test_element element = element_create(i);
        test_array reference[2];
        redist_plan *plan;
        redist_index sizes[4];
        random_sizes(4, 1, 9, 800, sizes);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 4, sizes, i, i + 1);
        exchange_arrays(&given, way.memory, reference);
        exchange_prepare(&given, reference, REDIST_FORWARD, 5);
        check_ok(exchange_plan(&given, &way, reference, &plan));
        check_ok(redist_plan_execute(plan, REDIST_FORWARD));
        for (int m = 0; m < request_count(); m++)
            compare_with_reference(&given, reference, request_name(m));
        check_ok(redist_plan_free(&plan));
        exchange_free_arrays(reference);
        element_free(&element);
    }
}
END_TEST

static void check_info(const exchange *given, const char *method) {
    exchange_way way = {method, {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    test_array arrays[2];
    redist_plan *plan;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    exchange_say(given, &way);
    exchange_arrays(given, way.memory, arrays);
    check_ok(exchange_plan(given, &way, arrays, &plan));
    check_ok(redist_plan_get_info(plan, &info));
    int named = strcmp(method, "auto") == 0 || strncmp(info.method, method, strlen(method)) == 0;
    check_all(named, "method is %s", info.method);
    check_all(info.moved_bytes == arrays[0].bytes, "%zu bytes are said to move, not %zu",
              info.moved_bytes, arrays[0].bytes);
    check_all(info.sent_bytes <= info.moved_bytes && (harness_nranks > 1 || info.sent_bytes == 0),
              "%zu bytes are said to be sent", info.sent_bytes);
    if (strcmp(method, "alltoallw") == 0 || strcmp(method, "p2p-type") == 0)
        check_all(info.workspace_bytes == 0, "%zu bytes of buffers", info.workspace_bytes);
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
}

START_TEST(info) {
    test_element element = element_create(4);
    const redist_index sizes[] = {6, 5, 9};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 2, 0);
    for (int i = 0; i < request_count(); i++)
        check_info(&given, request_name(i));
    element_free(&element);
}
END_TEST

START_TEST(method_table) {
    int count = redist_method_count();
    check_all(count >= 5, "%d methods", count);
    for (int i = 0; i < count; i++) {
        const char *name = redist_method_name(i), *summary = redist_method_summary(i);
        check_all(name && *name, "method %d has no name", i);
        check_all(summary && strlen(summary) > 10, "method %d has no summary", i);
        for (int j = 0; j < i; j++)
            check_all(strcmp(name, redist_method_name(j)) != 0, "methods %d and %d have one name",
                      i, j);
    }
    check_all(!redist_method_name(-1) && !redist_method_name(count), "a name out of range");
    check_all(!redist_method_summary(-1) && !redist_method_summary(count),
              "a summary out of range");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {method_table,
                                  pairs_2d,
                                  pairs_3d,
                                  pairs_4d,
                                  pairs_5d,
                                  many_axes,
                                  uneven_shapes,
                                  elements,
                                  crossed,
                                  long_rows,
                                  subgroups,
                                  repeated,
                                  repeated_long_messages,
                                  several_at_once,
                                  started_without_elements,
                                  freed_while_started,
                                  same_as_alltoallw,
                                  info,
                                  NULL};
    return harness_run(argc, argv, "test_redist_plans", tests);
}
