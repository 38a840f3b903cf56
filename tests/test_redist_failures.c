/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that runs out at any point, and MPI types that cannot be made: the call fails on all ranks
 * with the same code, nothing is lost, and the next try works. Objects are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "exchanges.h"
#include "harness.h"
#include "methods.h"

enum { MOST_FAILURES = 2000 };

/* Something that takes memory: returns the code, and gives back all that it took. */
struct job {
    const char *name;
    int (*run)(const struct job *job);
    const char *method;
    enum test_memory memory[2];
};

/* ---------------------------------------------------------------- jobs */

static int run_grid(const struct job *job) {
    const int dims[3] = {0};
    redist_grid *grid = NULL;
    MPI_Comm comm;
    (void)job;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm); /* a new one, so that nothing is remembered */
    int code = redist_grid_create(comm, 3, dims, &grid);
    if (code == REDIST_OK)
        code = redist_grid_free(&grid);
    PMPI_Comm_free(&comm);
    return code;
}

static int run_alloc(const struct job *job) {
    void *arrays[2] = {NULL};
    MPI_Comm comm;
    (void)job;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int code = redist_alloc(comm, 1000, &arrays[0]);
    if (code == REDIST_OK)
        code = redist_alloc(comm, (size_t)harness_rank, &arrays[1]);
    redist_free(&arrays[1]);
    redist_free(&arrays[0]);
    PMPI_Comm_free(&comm);
    return code;
}

static exchange given;
static test_array arrays[2];

static int run_plan(const struct job *job) {
    exchange_way way = {job->method, {job->memory[0], job->memory[1]}, USE_EXECUTE};
    exchange fresh = given;
    redist_plan *plan = NULL;
    PMPI_Comm_dup(MPI_COMM_WORLD, &fresh.comm);
    int code = exchange_plan(&fresh, &way, arrays, &plan);
    if (code == REDIST_OK)
        code = redist_plan_free(&plan);
    PMPI_Comm_free(&fresh.comm);
    return code;
}

static int run_boxes(const struct job *job) {
    exchange axes = given;
    given.axes[0] = given.axes[1] = -1;
    int code = run_plan(job);
    given = axes;
    return code;
}

static int run_exchange(const struct job *job) {
    const redist_box *a = &given.boxes[0][given.rank], *b = &given.boxes[1][given.rank];
    MPI_Comm comm;
    (void)job;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int code = redist_exchange(comm, given.element->type, given.ndims, a->count, arrays[0].data,
                               given.axes[0], b->count, arrays[1].data, given.axes[1]);
    PMPI_Comm_free(&comm);
    return code;
}

/* ---------------------------------------------------------------- failures */

/* Who runs out of memory: all, the first rank or the last */
enum victims { ALL, FIRST, LAST, VICTIMS };

static int is_victim(enum victims victims) {
    return victims == ALL || harness_rank == (victims == FIRST ? 0 : harness_nranks - 1);
}

static int any(int here) {
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return here;
}

/* Lets the n-th allocation fail for n = 1, 2, ..., or some of them, until the job no longer asks for that many. */
static void starve(const struct job *job, enum victims victims) {
    int failures = 0, failed = 1, left_out = 0;
    redist_forget_wisdom();
    struct counters before = counters_taken();
    for (int n = 1; failed && n < MOST_FAILURES; n++) {
        if (n > 1 && !harness_draws_case()) {
            left_out = 1;
            continue;
        }
        harness_case("%s, allocation %d fails on %s", job->name, n,
                     victims == ALL     ? "all ranks"
                     : victims == FIRST ? "rank 0"
                                        : "the last rank");
        counters_fail_memory(is_victim(victims) ? n : 0);
        int code = job->run(job);
        failed = any(counters_memory_failed());
        counters_fail_memory(0);
        failures += code != REDIST_OK;
        redist_forget_wisdom();
        check_all(code == REDIST_OK || code == REDIST_ERR_MEMORY, "%s: %s", redist_error_name(code),
                  redist_error_message());
        check_all(failed || code == REDIST_OK, "%s without reason", redist_error_message());
        int highest = any(code);
        check_all(code == highest, "%s here, %s elsewhere", redist_error_name(code),
                  redist_error_name(highest));
        counters_check(&before, job->name);
    }
    check_all(!failed, "no end of allocations");
    check_all(failures > 0 || left_out, "no allocation failed"); /* the first ones may do without */
}

static void starve_all(const struct job *job) {
    int code = job->run(job); /* sets up what is kept for the whole run */
    check_all(code == REDIST_OK, "%s: %s", job->name, redist_error_message());
    for (int victims = ALL; victims < VICTIMS; victims++)
        if (victims < LAST || harness_nranks > 1)
            starve(job, (enum victims)victims);
}

static void begin_exchange(enum test_memory a, enum test_memory b) {
    static const redist_index sizes[] = {5, 6, 7};
    static test_element element;
    const enum test_memory memory[2] = {a, b};
    element = element_create(4);
    given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 2);
    exchange_arrays(&given, memory, arrays);
}

START_TEST(grids) {
    const struct job job = {"grid", run_grid, NULL, {MEMORY_PLAIN, MEMORY_PLAIN}};
    starve_all(&job);
}
END_TEST

START_TEST(arrays_of_alloc) {
    const struct job job = {"redist_alloc", run_alloc, NULL, {MEMORY_PLAIN, MEMORY_PLAIN}};
    starve_all(&job);
}
END_TEST

/* One way: of several that compete, one that fails would drop out. */
static const char *way_of(const char *method) {
    return strcmp(method, "kway") != 0 ? method : "kway:2";
}

START_TEST(plans) {
    begin_exchange(MEMORY_PLAIN, MEMORY_PLAIN);
    for (int i = 0; i < host_method_count(); i++) {
        const char *way = way_of(host_method_name(i));
        const struct job job = {way, run_plan, way, {MEMORY_PLAIN, MEMORY_PLAIN}};
        starve_all(&job);
    }
    exchange_free_arrays(arrays);
}
END_TEST

START_TEST(direct_plan_on_mapped_arrays) {
    const struct job job = {"direct", run_plan, "direct", {MEMORY_SHARED, MEMORY_SHARED}};
    begin_exchange(MEMORY_SHARED, MEMORY_SHARED);
    starve_all(&job);
    exchange_free_arrays(arrays);
}
END_TEST

START_TEST(plan_between_boxes) {
    const struct job job = {"boxes", run_boxes, "p2p", {MEMORY_PLAIN, MEMORY_PLAIN}};
    begin_exchange(MEMORY_PLAIN, MEMORY_PLAIN);
    starve_all(&job);
    exchange_free_arrays(arrays);
}
END_TEST

START_TEST(exchange_without_plan) {
    const struct job job = {"exchange", run_exchange, NULL, {MEMORY_PLAIN, MEMORY_PLAIN}};
    begin_exchange(MEMORY_PLAIN, MEMORY_PLAIN);
    starve_all(&job);
    exchange_free_arrays(arrays);
}
END_TEST

/* A choice that auto cannot set up may drop out, so a failure need not be one of the plan. */
START_TEST(automatic_plan) {
    const struct job job = {"auto", run_plan, "auto", {MEMORY_PLAIN, MEMORY_PLAIN}};
    begin_exchange(MEMORY_PLAIN, MEMORY_PLAIN);
    starve_all(&job);
    exchange_free_arrays(arrays);
}
END_TEST

/* ---------------------------------------------------------------- failing MPI calls */

static void fail_types(const struct job *job, enum victims victims) {
    int failed = 1;
    redist_forget_wisdom();
    struct counters before = counters_taken();
    for (int n = 1; failed && n < MOST_FAILURES; n++) {
        harness_case("%s, MPI datatype %d cannot be made, victims %d", job->name, n, victims);
        counters_fail_type(is_victim(victims) ? n : 0);
        int code = job->run(job);
        failed = any(counters_type_failed());
        counters_fail_type(0);
        redist_forget_wisdom();
        check_all(code == (failed ? REDIST_ERR_MPI : REDIST_OK), "%s: %s", redist_error_name(code),
                  redist_error_message());
        counters_check(&before, job->name);
    }
    check_all(!failed, "no end of datatypes");
}

START_TEST(datatypes) {
    begin_exchange(MEMORY_PLAIN, MEMORY_PLAIN);
    for (int i = 0; i < host_method_count(); i++) {
        const char *way = way_of(host_method_name(i));
        const struct job job = {way, run_plan, way, {MEMORY_PLAIN, MEMORY_PLAIN}};
        for (int victims = ALL; victims < VICTIMS; victims++)
            fail_types(&job, (enum victims)victims);
    }
    exchange_free_arrays(arrays);
}
END_TEST

/* On nodes of two ranks */
START_TEST(plans_between_nodes) {
    const struct job job = {"hier", run_plan, "hier", {MEMORY_PLAIN, MEMORY_PLAIN}};
    setenv("REDIST_NODE_SIZE", "2", 1);
    begin_exchange(MEMORY_PLAIN, MEMORY_PLAIN);
    if (harness_nranks < 8) {
        check_ok(job.run(&job));
        starve(&job, LAST);
        fail_types(&job, LAST);
    }
    exchange_free_arrays(arrays);
    unsetenv("REDIST_NODE_SIZE");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {grids,
                                  arrays_of_alloc,
                                  plans,
                                  direct_plan_on_mapped_arrays,
                                  plan_between_boxes,
                                  exchange_without_plan,
                                  automatic_plan,
                                  datatypes,
                                  plans_between_nodes,
                                  NULL};
    counters_begin();
    return harness_run(argc, argv, "test_redist_failures", tests);
}
