/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of all sorts, and arrays that were allocated over other ranks than the plan's. */
#include <string.h>

#include "exchanges.h"
#include "harness.h"

/* ---------------------------------------------------------------- communicators */

static MPI_Comm same_ranks(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

static MPI_Comm reversed_ranks(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -harness_rank, &comm);
    return comm;
}

static MPI_Comm odd_and_even(void) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, harness_rank % 2, -harness_rank, &comm);
    return comm;
}

static MPI_Comm alone(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return comm;
}

/* With a topology, whose neighbours must not be mistaken for the ranks */
static MPI_Comm cartesian(void) {
    MPI_Comm comm;
    int dims[3] = {0}, periods[3] = {1, 0, 1};
    MPI_Dims_create(harness_nranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &comm);
    return comm;
}

/* Errors in MPI calls of the library must not become the user's. */
static MPI_Comm returning_errors(void) {
    MPI_Comm comm = same_ranks();
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}

static const struct {
    const char *name;
    MPI_Comm (*make)(void);
} sorts[] = {{"a duplicate", same_ranks},    {"in reverse", reversed_ranks},
             {"odd or even", odd_and_even},  {"alone", alone},
             {"with a topology", cartesian}, {"returning errors", returning_errors}};

enum { SORTS = sizeof(sorts) / sizeof(sorts[0]) };

static exchange random_exchange(MPI_Comm comm, const test_element *element) {
    redist_index sizes[3];
    int axis = random_between(0, 2);
    random_sizes(3, 1, 14, 800, sizes);
    return exchange_between_axes(comm, element, 3, sizes, axis, (axis + random_between(1, 2)) % 3);
}

START_TEST(sorts_of_communicators) {
    for (int i = 0; i < SORTS; i++) {
        MPI_Comm comm = sorts[i].make();
        test_element element = element_create(random_between(0, element_count() - 1));
        exchange given = random_exchange(comm, &element);
        exchange_try_methods(&given);
        element_free(&element);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* ---------------------------------------------------------------- arrays over other ranks */

static size_t bytes_of(const exchange *given, int side) {
    test_place place = exchange_place(given, side);
    return place_elements(&place) * given->element->extent;
}

static void arrays_over(MPI_Comm comm, const exchange *given, test_array arrays[2]) {
    for (int side = 0; side < 2; side++)
        arrays[side] = array_create(comm, random_chance(70) ? MEMORY_SHARED : MEMORY_INSIDE,
                                    bytes_of(given, side));
}

static int spans(MPI_Comm wide, MPI_Comm narrow) {
    MPI_Group groups[2], common;
    int size, common_size;
    MPI_Comm_group(wide, &groups[0]);
    MPI_Comm_group(narrow, &groups[1]);
    MPI_Group_intersection(groups[0], groups[1], &common);
    MPI_Group_size(groups[1], &size);
    MPI_Group_size(common, &common_size);
    for (int i = 0; i < 2; i++)
        MPI_Group_free(&groups[i]);
    MPI_Group_free(&common);
    return common_size == size;
}

/* Whether or not the plan's ranks can map the arrays, the result is right; where they can, the
 * variants that need it apply. */
static void try_arrays_over(const exchange *given, MPI_Comm comm, const char *method) {
    exchange_way way = {method, {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    test_array arrays[2];
    redist_plan *plan = NULL;
    exchange_say(given, &way);
    arrays_over(comm, given, arrays);
    int code = exchange_plan(given, &way, arrays, &plan);
    int refused = code == REDIST_ERR_METHOD && !strncmp(method, "direct:push", 11);
    check_all(code == REDIST_OK || (refused && !spans(comm, given->comm)), "%s",
              redist_error_message());
    if (code == REDIST_OK) {
        exchange_execute(given, &way, arrays, plan, REDIST_FORWARD);
        exchange_execute(given, &way, arrays, plan, REDIST_BACKWARD);
    } else { /* the ranks of other communicators draw and check as often */
        for (int direction = 0; direction < 2; direction++) {
            random_bits();
            check_all(1, "refused");
        }
    }
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
}

START_TEST(arrays_over_other_ranks) {
    static const char *const methods[] = {"direct", "auto", "direct:push-cached", "p2p"};
    for (int i = 0; i < SORTS * SORTS; i++) {
        MPI_Comm comm = sorts[i / SORTS].make(), other = sorts[i % SORTS].make();
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = random_exchange(comm, &element);
        try_arrays_over(&given, other, methods[i % 4]);
        element_free(&element);
        MPI_Comm_free(&other);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* A plan made on arrays over its own ranks is executed on arrays over more ranks. */
START_TEST(execution_on_arrays_over_more_ranks) {
    for (int i = 0; i < 2; i++) {
        MPI_Comm comm = odd_and_even();
        exchange_way way = {"direct", {MEMORY_SHARED, MEMORY_SHARED}, USE_OTHER_ARRAYS};
        test_element element = element_create(2);
        exchange given = random_exchange(comm, &element);
        test_array arrays[2], others[2];
        redist_plan *plan;
        exchange_say(&given, &way);
        arrays_over(comm, &given, arrays);
        arrays_over(MPI_COMM_WORLD, &given, others);
        check_ok(exchange_plan(&given, &way, arrays, &plan));
        for (int n = 0; n < 3; n++) {
            exchange_execute(&given, &way, others, plan, n % 2);
            exchange_execute(&given, &way, arrays, plan, n % 2);
        }
        check_ok(redist_plan_free(&plan));
        exchange_free_arrays(others);
        exchange_free_arrays(arrays);
        MPI_Comm_free(&comm);
    }
}
END_TEST

/* ---------------------------------------------------------------- many at once */

enum { MANY = 150 };

/* More plans alive, and under way, than any table of fixed size would hold */
START_TEST(many_plans) {
    static const char *const methods[] = {"direct", "direct", "p2p", "alltoallw"};
    static redist_plan *plans[MANY];
    static test_array arrays[MANY][2];
    static exchange given[MANY];
    char text[512] = "";
    size_t wrong = 0;
    int failed = 0;
    test_element element = element_create(2);
    for (int i = 0; i < MANY; i++) {
        exchange_way way = {methods[i % 4], {MEMORY_PLAIN, MEMORY_PLAIN}, USE_START};
        const redist_index sizes[2] = {random_between(1, 9), random_between(1, 9)};
        given[i] = exchange_between_axes(MPI_COMM_WORLD, &element, 2, sizes, i % 2, !(i % 2));
        exchange_say(&given[i], &way);
        exchange_arrays(&given[i], way.memory, arrays[i]);
        check_ok(exchange_plan(&given[i], &way, arrays[i], &plans[i]));
        exchange_prepare(&given[i], arrays[i], REDIST_FORWARD, (uint64_t)i);
    }
    for (int i = 0; i < MANY; i++)
        failed |= redist_plan_start(plans[i], REDIST_FORWARD);
    for (int i = MANY - 1; i >= 0; i--)
        failed |= redist_plan_wait(plans[i]);
    for (int i = 0; i < MANY; i++)
        wrong += exchange_wrong(&given[i], arrays[i], REDIST_FORWARD, (uint64_t)i, text);
    check_all(!failed, "%s", redist_error_message());
    check_all(wrong == 0, "%s", text);
    for (int i = 0; i < MANY; i++) {
        check_ok(redist_plan_free(&plans[i]));
        exchange_free_arrays(arrays[i]);
    }
}
END_TEST

/* Arrays of redist_alloc side by side: each keeps its own contents. */
START_TEST(many_arrays) {
    static void *arrays[MANY];
    int wrong = 0;
    for (int i = 0; i < MANY; i++) {
        size_t bytes = (size_t)((i * 37 + harness_rank * 11) % 5000);
        check_ok(redist_alloc(MPI_COMM_WORLD, bytes, &arrays[i]));
        memset(arrays[i], i + harness_rank, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) {
        size_t bytes = (size_t)((i * 37 + harness_rank * 11) % 5000);
        for (size_t n = 0; n < bytes; n++)
            wrong += ((unsigned char *)arrays[i])[n] != (unsigned char)(i + harness_rank);
    }
    check_all(wrong == 0, "%d bytes are wrong", wrong);
    for (int i = 0; i < MANY; i++)
        check_ok(redist_free(&arrays[i * 7 % MANY]));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {sorts_of_communicators,
                                  arrays_over_other_ranks,
                                  execution_on_arrays_over_more_ranks,
                                  many_plans,
                                  many_arrays,
                                  NULL};
    return harness_run(argc, argv, "test_redist_comms", tests);
}
