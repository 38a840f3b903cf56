/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many create/free cycles with steady memory, communicators, datatypes and shared memory; and communicators
 * and datatypes that the user frees before the plans that were made from them.
 *     test_lifecycle [CYCLES]
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "exchanges.h"
#include "harness.h"

static int cycles = 2000;

/* Resident memory of this rank in KiB */
static long resident(void) {
    long pages = 0, shared_pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld %ld", &pages, &shared_pages) != 2)
        pages = shared_pages = 0;
    if (file)
        fclose(file);
    return (pages - shared_pages) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Sanitizers and valgrind have allocators of their own, which keep freed memory, and find lost memory
 * by themselves. */
static int has_usual_allocator(void) {
    return mallinfo2().arena != 0;
}

/* How far memory may grow: some noise; and MPICH 4.0 itself loses 64 bytes of each derived datatype
 * that it ever made, its own in collective calls included. */
static long allowed_growth(int ncycles) {
#ifdef MPICH_VERSION
    const long lost = 64 * 2 * (harness_nranks + 1);
#else
    const long lost = 0;
#endif
    return 256 + lost * ncycles / 1024;
}

/* What one cycle does; draws nothing, checks nothing on all ranks */
typedef int cycle(int number);

static exchange given;
static test_array arrays[2];

static void begin(enum test_memory memory) {
    static test_element element;
    static const redist_index sizes[] = {4, 4};
    const enum test_memory both[2] = {memory, memory};
    element = element_create(2);
    given = exchange_between_axes(MPI_COMM_WORLD, &element, 2, sizes, 0, 1);
    exchange_arrays(&given, both, arrays);
}

/* A tenth of the cycles first, which brings what is kept; from then on nothing may grow. */
static void run_cycles(const char *name, cycle *run, int count) {
    int failed = 0, first = count / 10 + 20;
    count += first;
    for (int i = 0; i < first; i++)
        failed |= run(i);
    struct counters before = counters_taken();
    long memory = resident();
    for (int i = first; i < count; i++)
        failed |= run(i);
    long grown = resident() - memory;
    check_all(!failed, "%s: %s", name, redist_error_message());
    counters_check(&before, name);
    check_all(grown <= allowed_growth(count - first) || !has_usual_allocator(),
              "%s: memory has grown by %ld KiB in %d cycles", name, grown, count - first);
}

/* ---------------------------------------------------------------- plans */

static const char *const methods[] = {"alltoallw", "p2p-type", "p2p", "alltoallv", "direct"};

static int plan_cycle(int number) {
    exchange_way way = {methods[number % 5], {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    redist_plan *plan;
    if (exchange_plan(&given, &way, arrays, &plan) != REDIST_OK)
        return 1;
    int failed = number % 16 == 0 && redist_plan_execute(plan, REDIST_FORWARD) != REDIST_OK;
    return failed || redist_plan_free(&plan) != REDIST_OK;
}

static int boxes_cycle(int number) {
    given.axes[0] = given.axes[1] = -1;
    int failed = plan_cycle(number);
    given.axes[0] = 0;
    given.axes[1] = 1;
    return failed;
}

START_TEST(plans) {
    begin(MEMORY_PLAIN);
    run_cycles("plans", plan_cycle, harness_cases(cycles));
    exchange_free_arrays(arrays);
}
END_TEST

START_TEST(plans_between_boxes) {
    begin(MEMORY_PLAIN);
    run_cycles("plans between boxes", boxes_cycle, harness_cases(cycles / 10));
    exchange_free_arrays(arrays);
}
END_TEST

START_TEST(plans_on_mapped_arrays) {
    begin(MEMORY_SHARED);
    run_cycles("plans on mapped arrays", plan_cycle, harness_cases(cycles / 10));
    exchange_free_arrays(arrays);
}
END_TEST

/* auto measures at the first cycle and remembers */
static int auto_cycle(int number) {
    exchange_way way = {number % 2 ? "auto" : NULL, {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    redist_plan *plan;
    return exchange_plan(&given, &way, arrays, &plan) != REDIST_OK ||
           redist_plan_free(&plan) != REDIST_OK;
}

START_TEST(automatic_plans) {
    begin(MEMORY_PLAIN);
    run_cycles("automatic plans", auto_cycle, harness_cases(cycles / 10));
    exchange_free_arrays(arrays);
}
END_TEST

static int exchange_cycle(int number) {
    (void)number;
    return exchange_call(&given, arrays, REDIST_FORWARD) != REDIST_OK;
}

START_TEST(exchanges) {
    begin(MEMORY_PLAIN);
    run_cycles("exchanges", exchange_cycle, harness_cases(cycles / 10));
    exchange_free_arrays(arrays);
}
END_TEST

/* ---------------------------------------------------------------- grids, arrays, communicators */

static int grid_cycle(int number) {
    const int any[2] = {0, 0}, row[2] = {1, 0};
    redist_grid *grid;
    MPI_Comm comm;
    int failed = redist_grid_create(MPI_COMM_WORLD, 2, number % 2 ? any : row, &grid) ||
                 redist_grid_subcomm(grid, 1, &comm);
    return failed || redist_grid_free(&grid) != REDIST_OK;
}

START_TEST(grids) {
    run_cycles("grids", grid_cycle, harness_cases(cycles));
}
END_TEST

static int subcomm_cycle(int number) {
    MPI_Comm comms[2];
    (void)number;
    int code = redist_subcomm(MPI_COMM_WORLD, 2, comms);
    for (int i = 0; i < 2 && code == REDIST_OK; i++)
        MPI_Comm_free(&comms[i]);
    return code != REDIST_OK;
}

START_TEST(subcomms) {
    run_cycles("subcomms", subcomm_cycle, harness_cases(cycles / 20));
}
END_TEST

static int alloc_cycle(int number) {
    void *array = NULL;
    size_t bytes = (size_t)(number % 7 * 1000 + harness_rank);
    int code = redist_alloc(MPI_COMM_WORLD, bytes, &array);
    if (code == REDIST_OK && bytes)
        memset(array, 1, bytes);
    return code != REDIST_OK || redist_free(&array) != REDIST_OK;
}

START_TEST(arrays_of_alloc) {
    run_cycles("arrays", alloc_cycle, harness_cases(cycles / 20));
}
END_TEST

/* All that a communicator brought goes with it. */
static int communicator_cycle(int number) {
    const int any[2] = {0, 0};
    redist_grid *grid;
    MPI_Comm comm, subcomm;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    given.comm = comm;
    int failed = plan_cycle(number) || redist_grid_create(comm, 2, any, &grid) ||
                 redist_grid_subcomm(grid, 0, &subcomm) || redist_grid_free(&grid);
    PMPI_Comm_free(&comm);
    given.comm = MPI_COMM_WORLD;
    return failed;
}

START_TEST(communicators) {
    begin(MEMORY_PLAIN);
    run_cycles("communicators", communicator_cycle, harness_cases(cycles / 20));
    exchange_free_arrays(arrays);
}
END_TEST

/* ---------------------------------------------------------------- order of freeing */

/* The user frees the communicator and the datatype while plan, array and grid still live. */
START_TEST(communicator_freed_first) {
    struct counters before = counters_taken();
    for (int i = 0; i < request_count(); i++) {
        const int any[2] = {0, 0};
        const redist_index sizes[] = {5, 6, 7};
        exchange_way way = {request_name(i), {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
        test_element element = element_create(6);
        test_array mapped[2];
        redist_plan *plan;
        redist_grid *grid;
        MPI_Comm comm;
        PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
        exchange moved = exchange_between_axes(comm, &element, 3, sizes, 0, 2);
        exchange_say(&moved, &way);
        exchange_arrays(&moved, way.memory, mapped);
        check_ok(redist_grid_create(comm, 2, any, &grid));
        check_ok(exchange_plan(&moved, &way, mapped, &plan));
        PMPI_Comm_free(&comm);
        element_free(&element);
        exchange_execute(&moved, &way, mapped, plan, REDIST_FORWARD);
        exchange_execute(&moved, &way, mapped, plan, REDIST_BACKWARD);
        check_ok(redist_grid_get(grid, NULL, NULL, NULL));
        check_ok(redist_grid_free(&grid));
        exchange_execute(&moved, &way, mapped, plan, REDIST_FORWARD);
        check_ok(redist_plan_free(&plan));
        exchange_free_arrays(mapped);
    }
    redist_forget_wisdom();
    check_all(counters.comms == before.comms, "%ld communicators left",
              counters.comms - before.comms);
    check_all(counters.types == before.types, "%ld datatypes left", counters.types - before.types);
    long mappings = counters_taken().mappings;
    check_all(mappings == before.mappings, "%ld mappings left", mappings - before.mappings);
}
END_TEST

/* Plans on the subgroups of a grid outlive the grid. */
START_TEST(grid_freed_first) {
    const int any[2] = {0, 0};
    const redist_index sizes[] = {5, 6, 7};
    test_element element = element_create(2);
    for (int dim = 0; dim < 2; dim++) {
        exchange_way way = {"auto", {MEMORY_PLAIN, MEMORY_SHARED}, USE_EXECUTE};
        test_array mapped[2];
        redist_plan *plan;
        redist_grid *grid;
        MPI_Comm subcomm;
        check_ok(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
        check_ok(redist_grid_subcomm(grid, dim, &subcomm));
        exchange moved = exchange_between_axes(subcomm, &element, 3, sizes, 0, 2);
        exchange_arrays(&moved, way.memory, mapped);
        check_ok(exchange_plan(&moved, &way, mapped, &plan));
        check_ok(redist_grid_free(&grid));
        exchange_execute(&moved, &way, mapped, plan, REDIST_FORWARD);
        check_ok(redist_plan_free(&plan));
        exchange_free_arrays(mapped);
    }
}
END_TEST

/* What the user forgets to free must not disturb MPI_Finalize, which follows. */
START_TEST(left_at_the_end) {
    const int any[2] = {0, 0};
    static redist_grid *grid; /* static: left, but not lost */
    static redist_plan *plan;
    begin(MEMORY_SHARED);
    exchange_way way = {"direct", {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
    check_ok(exchange_plan(&given, &way, arrays, &plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {plans,
                                  plans_between_boxes,
                                  plans_on_mapped_arrays,
                                  automatic_plans,
                                  exchanges,
                                  grids,
                                  subcomms,
                                  arrays_of_alloc,
                                  communicators,
                                  communicator_freed_first,
                                  grid_freed_first,
                                  left_at_the_end,
                                  NULL};
    if (argc > 1)
        cycles = atoi(argv[1]);
    counters_begin();
    return harness_run(argc, argv, "test_lifecycle", tests);
}
