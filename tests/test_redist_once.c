/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_exchange called again and again: what it keeps is for exactly these arguments, on all ranks. */
#include <string.h>

#include "collectives.h"
#include "exchanges.h"
#include "harness.h"

/* One exchange, every byte checked; returns the collectives that it took on this rank. */
static long check_call(const exchange *given, const test_array arrays[2], int direction) {
    uint64_t salt = random_bits();
    exchange_prepare(given, arrays, direction, salt);
    long before = collectives;
    int code = exchange_call(given, arrays, direction);
    long taken = collectives - before;
    check_ok(code);
    exchange_check(given, arrays, direction, salt);
    return taken;
}

/* One for the agreement, none with a single rank; and the method's own, MPI_Ialltoallw and its agreement at most. */
static void check_kept(const exchange *given, const test_array arrays[2], int direction, int own) {
    long taken = check_call(given, arrays, direction);
    long most = (harness_nranks > 1) + 2 * own;
    check_all(taken <= most, "%ld collectives instead of %ld", taken, most);
}

static exchange make(const test_element *element, const redist_index sizes[3], int axis_a,
                     int axis_b) {
    return exchange_between_axes(MPI_COMM_WORLD, element, 3, sizes, axis_a, axis_b);
}

static const redist_index usual_sizes[3] = {7, 9, 8};

/* An exchange of the usual sizes and its arrays. */
struct setup {
    test_element element;
    exchange given;
    test_array arrays[2];
};

static void begin_setup(struct setup *setup, MPI_Comm comm, int element, int axis_a, int axis_b,
                        enum test_memory memory_a, enum test_memory memory_b) {
    const enum test_memory memory[2] = {memory_a, memory_b};
    setup->element = element_create(element);
    setup->given = exchange_between_axes(comm, &setup->element, 3, usual_sizes, axis_a, axis_b);
    exchange_arrays(&setup->given, memory, setup->arrays);
}

static void end_setup(struct setup *setup) {
    exchange_free_arrays(setup->arrays);
    element_free(&setup->element);
}

START_TEST(kept) {
    for (int i = 0; i < 4; i++) {
        struct setup setup;
        harness_case("memory %d", i);
        begin_setup(&setup, MPI_COMM_WORLD, i, 1, 0, i & 1 ? MEMORY_SHARED : MEMORY_PLAIN,
                    i & 2 ? MEMORY_SHARED : MEMORY_PLAIN);
        for (int direction = 0; direction < 2; direction++)
            check_call(&setup.given, setup.arrays, direction);
        for (int call = 0; call < 10; call++)
            check_kept(&setup.given, setup.arrays, call % 2, i == 0);
        end_setup(&setup);
    }
}
END_TEST

/* Each call with arrays of its own, in memory that peers cannot map */
START_TEST(other_arrays) {
    for (int call = 0; call < 6; call++) {
        struct setup setup;
        begin_setup(&setup, MPI_COMM_WORLD, 4, 0, 2, MEMORY_PLAIN, MEMORY_UNALIGNED);
        if (call == 0)
            check_call(&setup.given, setup.arrays, 0);
        else
            check_kept(&setup.given, setup.arrays, 0, 1);
        end_setup(&setup);
    }
}
END_TEST

/* Shared memory is unavailable: another method is chosen, once. */
START_TEST(no_shared_memory) {
    struct setup setup;
    MPI_Comm comm;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    begin_setup(&setup, comm, 2, 2, 1, MEMORY_PLAIN, MEMORY_PLAIN);
    collectives_no_memory = 1;
    for (int direction = 0; direction < 2; direction++)
        check_call(&setup.given, setup.arrays, direction);
    for (int call = 0; call < 4; call++)
        check_kept(&setup.given, setup.arrays, call % 2, 1);
    collectives_no_memory = 0;
    end_setup(&setup);
    PMPI_Comm_free(&comm);
}
END_TEST

/* More shapes than are kept, in turn and in random order */
START_TEST(many_shapes) {
    enum { SHAPES = 12 };
    exchange shapes[SHAPES];
    test_array arrays[SHAPES][2];
    test_element elements[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        redist_index sizes[3];
        const enum test_memory memory[2] = {MEMORY_PLAIN, i % 3 ? MEMORY_PLAIN : MEMORY_SHARED};
        random_sizes(3, 0, 12, 900, sizes);
        elements[i] = element_create(i % element_count());
        shapes[i] = make(&elements[i], sizes, i % 3, (i + 1 + i / 3 % 2) % 3);
        exchange_arrays(&shapes[i], memory, arrays[i]);
    }
    for (int call = 0; call < harness_cases(100); call++) {
        int i = call < 2 * SHAPES ? call % SHAPES : random_between(0, SHAPES - 1);
        harness_case("call %d, shape %d", call, i);
        check_call(&shapes[i], arrays[i], random_between(0, 1));
    }
    for (int i = 0; i < SHAPES; i++) {
        exchange_free_arrays(arrays[i]);
        element_free(&elements[i]);
    }
}
END_TEST

/* The memory of one rank changes from call to call. */
START_TEST(memory_of_one_rank) {
    const enum test_memory kinds[2][2] = {{MEMORY_PLAIN, MEMORY_PLAIN},
                                          {MEMORY_SHARED, MEMORY_SHARED}};
    test_element element = element_create(2);
    exchange given = make(&element, usual_sizes, 1, 2);
    test_array arrays[2][2];
    for (int kind = 0; kind < 2; kind++)
        exchange_arrays(&given, kinds[kind], arrays[kind]);
    for (int call = 0; call < harness_cases(60); call++) {
        int other = random_between(0, harness_nranks), usual = random_between(0, 1);
        int bits = random_between(0, 3), mine = harness_rank == other ? bits : 3 * usual;
        const test_array mixed[2] = {arrays[mine & 1][0], arrays[mine >> 1][1]};
        harness_case("call %d: rank %d has memory %d, the others %d", call, other, bits, usual);
        check_call(&given, mixed, call % 2);
    }
    for (int kind = 0; kind < 2; kind++)
        exchange_free_arrays(arrays[kind]);
    element_free(&element);
}
END_TEST

/* Memory of redist_alloc that the peers do not have, after calls with some that they have */
START_TEST(memory_of_another_communicator) {
    const enum test_memory shared[2] = {MEMORY_SHARED, MEMORY_SHARED};
    test_element element = element_create(2);
    exchange given = make(&element, usual_sizes, 1, 2), alone = given;
    test_array arrays[2], own[2];
    alone.comm = MPI_COMM_SELF;
    exchange_arrays(&given, shared, arrays);
    exchange_arrays(&alone, shared, own);
    for (int call = 0; call < 6; call++) {
        harness_case("call %d", call);
        check_call(&given, call % 2 ? own : arrays, 0);
    }
    exchange_free_arrays(own);
    exchange_free_arrays(arrays);
    exchange_arrays(&given, shared, arrays); /* perhaps where the others were */
    check_call(&given, arrays, 1);
    check_call(&given, arrays, 0);
    exchange_free_arrays(arrays);
}
END_TEST

/* An element of so many ints. */
static test_element make_ints(int items) {
    test_element element = {.name = "ints", .extent = (size_t)items * sizeof(int), .copyable = 1};
    memset(element.holds, HOLDS_DATA, element.extent);
    PMPI_Type_contiguous(items, MPI_INT, &element.type);
    PMPI_Type_commit(&element.type);
    return element;
}

/* MPI may give the handle of a freed type to the next one. Methods that make types of it keep it alive, so
 * this is for one that does not; and all have the same memory, so that nothing else changes. */
START_TEST(types_freed_and_remade) {
    enum { MOST = 3 };
    const enum test_memory memory[2] = {MEMORY_SHARED, MEMORY_SHARED};
    int reused = 0;
    MPI_Datatype last = MPI_DATATYPE_NULL;
    test_element largest = make_ints(MOST);
    exchange given = make(&largest, usual_sizes, 1, 2);
    test_array arrays[2];
    exchange_arrays(&given, memory, arrays);
    const size_t bytes[2] = {arrays[0].bytes, arrays[1].bytes};
    element_free(&largest);
    for (int i = 0; i < 40; i++) {
        int items = 1 + i % MOST;
        test_element element = make_ints(items);
        reused += element.type == last;
        last = element.type;
        given = make(&element, usual_sizes, 1, 2);
        for (int side = 0; side < 2; side++)
            arrays[side].bytes = bytes[side] / MOST * (size_t)items;
        harness_case("type %d of %d ints", i, items);
        check_call(&given, arrays, 0);
        check_kept(&given, arrays, 0, 1);
        element_free(&element);
    }
    exchange_free_arrays(arrays);
    MPI_Allreduce(MPI_IN_PLACE, &reused, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (reused == 0)
        skip_test("this MPI gives no handle of a freed type to the next one");
}
END_TEST

/* Communicators come and go, with what they keep. */
START_TEST(communicators) {
    for (int i = 0; i < 8; i++) {
        struct setup setup;
        MPI_Comm comm;
        PMPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? harness_rank : -harness_rank, &comm);
        begin_setup(&setup, comm, 5, 0, 1, MEMORY_PLAIN, MEMORY_PLAIN);
        redist_plan *plan = NULL;
        if (i % 4 == 3) { /* it outlives the communicator */
            const exchange_way way = {"p2p", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
            check_ok(exchange_plan(&setup.given, &way, setup.arrays, &plan));
        }
        for (int call = 0; call < 4; call++)
            check_call(&setup.given, setup.arrays, call % 2);
        end_setup(&setup);
        PMPI_Comm_free(&comm);
        check_ok(redist_plan_free(&plan));
    }
}
END_TEST

/* What is wrong on one rank is said on all, and the next call is as the one before. */
START_TEST(errors_after_success) {
    struct setup setup;
    begin_setup(&setup, MPI_COMM_WORLD, 2, 0, 1, MEMORY_PLAIN, MEMORY_PLAIN);
    const exchange given = setup.given;
    const test_array *arrays = setup.arrays;
    check_call(&given, arrays, 0);
    for (int rank = 0; rank<harness_nranks; rank += harness_nranks> 1 ? harness_nranks - 1 : 1) {
        exchange wrong = given;
        test_array nowhere[2] = {arrays[0], arrays[1]}, same[2] = {arrays[0], arrays[0]};
        int mine = harness_rank == rank;
        wrong.boxes[0][given.rank].count[2] += mine;
        nowhere[1].data = mine ? NULL : arrays[1].data;
        same[1].data = mine ? arrays[0].data : arrays[1].data;
        exchange_prepare(&given, arrays, 0, 17);
        check_code(exchange_call(&wrong, arrays, 0), REDIST_ERR_SIZE);
        int holds = given.boxes[1][rank].count[0] != 0 && given.boxes[0][rank].count[1] != 0;
        if (holds) { /* an array without elements may be NULL, or anywhere */
            check_code(exchange_call(&given, nowhere, 0), REDIST_ERR_NULL);
            check_code(exchange_call(&given, same, 0), REDIST_ERR_OVERLAP);
        }
        check_all(strstr(redist_error_message(), "redist_exchange") != NULL, "%s",
                  redist_error_message());
        check_kept(&given, arrays, 0, 1);
        if (harness_nranks == 1)
            break;
    }
    end_setup(&setup);
}
END_TEST

/* An execution that fails on one rank fails on the others in the next call, and the one after works. */
START_TEST(failed_execution) {
    struct setup setup; /* the last kind of element travels by MPI's datatypes */
    begin_setup(&setup, MPI_COMM_WORLD, element_count() - 1, 0, 1, MEMORY_PLAIN, MEMORY_PLAIN);
    const exchange *given = &setup.given;
    const test_array *arrays = setup.arrays;
    check_call(given, arrays, 0);
    for (int victim = 0; victim <= harness_nranks; victim++) {
        int mine = harness_rank == victim || victim == harness_nranks; /* at last all fail */
        collectives_until_error = mine;
        int code = exchange_call(given, arrays, 0);
        collectives_until_error = 0;
        check_all(mine ? code == REDIST_ERR_MPI : code == REDIST_ERR_PEER || code == REDIST_OK,
                  "%s", redist_error_name(code));
        int known = code != REDIST_OK;
        MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (!known)
            check_code(exchange_call(given, arrays, 0), REDIST_ERR_MPI);
        check_call(given, arrays, 0);
        check_kept(given, arrays, 0, 1);
    }
    end_setup(&setup);
}
END_TEST

/* What was forgotten does not choose any more. */
START_TEST(forgotten) {
    struct setup setup;
    begin_setup(&setup, MPI_COMM_WORLD, 2, 0, 1, MEMORY_PLAIN, MEMORY_PLAIN);
    check_call(&setup.given, setup.arrays, 0);
    check_kept(&setup.given, setup.arrays, 0, 1);
    redist_forget_wisdom();
    long taken = check_call(&setup.given, setup.arrays, 0);
    check_all(taken > 2 || harness_nranks == 1, "%ld collectives: nothing was chosen anew", taken);
    check_kept(&setup.given, setup.arrays, 0, 1);
    end_setup(&setup);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {kept,
                                  other_arrays,
                                  no_shared_memory,
                                  many_shapes,
                                  memory_of_one_rank,
                                  memory_of_another_communicator,
                                  types_freed_and_remade,
                                  communicators,
                                  errors_after_success,
                                  failed_execution,
                                  forgotten,
                                  NULL};
    return harness_run(argc, argv, "test_redist_once", tests);
}
