/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What plans and grids keep while they live: message tags, which MPI has only so many of, and
 * communicators; and what happens when a call of MPI fails on one rank while they are made.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "exchanges.h"
#include "fftnd.h"
#include "harness.h"
#include "redist_support.h"

/* ---------------------------------------------------------------- MPI, as the libraries see it */

enum { TAGS = 16, BLOCKS = 5 }; /* tags of a plan; plans that the largest tag below allows */

static int largest_tag;     /* 0 = MPI's own */
static int lowest_tag_sent; /* since it was set to INT_MAX */
static int is_isend_to_fail;

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found) {
    if (key != MPI_TAG_UB || largest_tag == 0)
        return PMPI_Comm_get_attr(comm, key, value, found);
    *(int **)value = &largest_tag;
    *found = 1;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request) {
    if (is_isend_to_fail)
        return MPI_ERR_OTHER;
    lowest_tag_sent = tag < lowest_tag_sent ? tag : lowest_tag_sent;
    return PMPI_Isend(data, count, type, rank, tag, comm, request);
}

/* ---------------------------------------------------------------- tags */

static exchange given;
static test_array arrays[2];
static const exchange_way way = {"p2p", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};

static void begin(MPI_Comm comm) {
    static test_element element;
    static const redist_index sizes[] = {2 * EXCHANGE_MOST_RANKS, 2 * EXCHANGE_MOST_RANKS};
    element = element_create(2);
    given = exchange_between_axes(comm, &element, 2, sizes, 0, 1);
    exchange_arrays(&given, way.memory, arrays);
}

/* The block of tags that a plan uses, -1 if this rank has no peer to send to. */
static int block_of(redist_plan *plan) {
    lowest_tag_sent = INT_MAX;
    exchange_execute(&given, &way, arrays, plan, REDIST_FORWARD);
    return lowest_tag_sent != INT_MAX ? lowest_tag_sent / TAGS : -1;
}

static void check_differ(int n, const int blocks[]) {
    int same = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            same |= blocks[i] >= 0 && blocks[i] == blocks[j];
    check_all(!same, "two of %d plans have the same tags", n);
}

/* Plans until the tags are used up; one is freed, and there is room for one again. */
START_TEST(tags_of_living_plans_differ) {
    redist_plan *plans[BLOCKS], *another = NULL;
    int blocks[BLOCKS];
    MPI_Comm comm;
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    largest_tag = TAGS * (BLOCKS + 1) + TAGS - 1; /* the first block is no plan's */
    begin(comm);
    for (int lap = 0; lap < 3; lap++) {
        for (int i = 0; i < BLOCKS; i++) {
            check_ok(exchange_plan(&given, &way, arrays, &plans[i]));
        }
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i] = block_of(plans[i]);
        }
        check_differ(BLOCKS, blocks);
        check_code(exchange_plan(&given, &way, arrays, &another), REDIST_ERR_LIMIT);
        check_all(strstr(redist_error_message(), "this communicator has 5 plans") != NULL, "%s",
                  redist_error_message());
        check_ok(redist_plan_free(&plans[2]));
        check_ok(exchange_plan(&given, &way, arrays, &plans[2]));
        check_all(block_of(plans[2]) == blocks[2], "not the tags that were free");
        for (int i = 0; i < BLOCKS; i++) {
            check_ok(redist_plan_free(&plans[i]));
        }
    }
    exchange_free_arrays(arrays);
    PMPI_Comm_free(&comm);
    largest_tag = 0;
}
END_TEST

/* A refused plan, on all ranks or on one, leaves the same tags free everywhere. */
START_TEST(tags_come_in_turn) {
    redist_plan *old = NULL, *plan = NULL;
    int before = -1;
    begin(MPI_COMM_WORLD);
    check_ok(exchange_plan(&given, &way, arrays, &old));
    for (int i = 0; i < 40; i++) {
        counters_fail_memory(harness_rank == i % harness_nranks && i % 2 ? 1 + i / 2 : 0);
        int code = exchange_plan(&given, &way, arrays, &plan);
        counters_fail_memory(0);
        check_all(code == REDIST_OK || code == REDIST_ERR_MEMORY, "%s", redist_error_message());
        if (code != REDIST_OK) {
            continue;
        }
        int blocks[3] = {block_of(old), before, block_of(plan)};
        check_differ(3, blocks);
        before = blocks[2];
        check_ok(redist_plan_free(&plan));
    }
    check_ok(redist_plan_free(&old));
    exchange_free_arrays(arrays);
}
END_TEST

/* ---------------------------------------------------------------- grids */

enum { KEPT_GRIDS = 2, COMMS_OF_CONTEXT = 2 };

/* All places of all ranks in grids of 1 to `most` dimensions. */
static int make_grids(int most, int *largest) {
    int count = 0, failed = 0;
    for (int ndims = 1; ndims <= most; ndims++)
        for (int place = 0; place < ndims; place++) {
            int dims[REDIST_MAX_NDIMS];
            redist_grid *grid;
            for (int i = 0; i < ndims; i++)
                dims[i] = i == place ? harness_nranks : 1;
            failed |=
                redist_grid_create(MPI_COMM_WORLD, ndims, dims, &grid) || redist_grid_free(&grid);
            count++;
        }
    *largest = 1 + most;
    check_all(!failed, "%s", redist_error_message());
    return count;
}

START_TEST(unused_grids_keep_few_communicators) {
    int largest;
    make_grids(2, &largest);
    long before = counters.most_comms = counters.comms;
    int count = make_grids(REDIST_MAX_NDIMS, &largest);
    long most = counters.most_comms - before;
    check_all(most <= (KEPT_GRIDS + 1) * largest, "%d grids took %ld communicators", count, most);
}
END_TEST

/* Plans on subgroups whose grid has gone, and its communicators with it. */
START_TEST(plans_outlive_the_communicators_of_grids) {
    const int any[2] = {0, 0};
    const redist_index sizes[] = {5, 6, 7};
    test_element element = element_create(2);
    redist_plan *plans[2];
    exchange moved[2];
    test_array both[2][2];
    redist_grid *grid;
    int largest;
    check_ok(redist_grid_create(MPI_COMM_WORLD, 2, any, &grid));
    for (int dim = 0; dim < 2; dim++) {
        MPI_Comm subcomm;
        check_ok(redist_grid_subcomm(grid, dim, &subcomm));
        moved[dim] = exchange_between_axes(subcomm, &element, 3, sizes, 0, 2);
        exchange_arrays(&moved[dim], way.memory, both[dim]);
        check_ok(exchange_plan(&moved[dim], &way, both[dim], &plans[dim]));
    }
    check_ok(redist_grid_free(&grid));
    make_grids(6, &largest);
    for (int dim = 0; dim < 2; dim++) {
        exchange_execute(&moved[dim], &way, both[dim], plans[dim], REDIST_FORWARD);
        check_ok(redist_plan_free(&plans[dim]));
        exchange_free_arrays(both[dim]);
    }
}
END_TEST

/* Of all grids that were tried, few keep their communicators. */
START_TEST(planning_keeps_few_communicators) {
    const redist_index sizes[4] = {8, 8, 8, 8};
    const int grid_dims = 3, of_subgroups = COMMS_OF_CONTEXT * grid_dims;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.effort = FFTND_PATIENT;
    options.plan_seconds = 0.5;
    fftnd_plan *plan;
    int largest;
    make_grids(2, &largest);
    long before = counters.most_comms = counters.comms;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 4, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan));
    check_ok(fftnd_plan_free(&plan));
    long most = counters.most_comms - before, left = counters.comms - before;
    const int each = 1 + grid_dims + of_subgroups;
    if (harness_rank == 0)
        printf("planning in 4-D: %ld communicators at most, %ld left\n", most, left);
    check_all(most <= (KEPT_GRIDS + 2) * each, "%ld communicators at most", most);
    check_all(left <= KEPT_GRIDS * each, "%ld communicators left", left);
}
END_TEST

/* ---------------------------------------------------------------- failures of MPI */

/* Nothing of MPI that is not about a datatype is called a datatype's fault. */
START_TEST(failures_of_mpi_are_named) {
    redist_plan *plan;
    begin(MPI_COMM_WORLD);
    is_isend_to_fail = 1;
    int code = exchange_plan(&given, &way, arrays, &plan);
    is_isend_to_fail = 0;
    check_code(code, REDIST_ERR_MPI);
    exchange_free_arrays(arrays);
}
END_TEST

typedef int attempt(MPI_Comm comm);

static int try_grid(MPI_Comm comm) {
    const int dims[2] = {0, 1};
    redist_grid *grid;
    int code = redist_grid_create(comm, 2, dims, &grid);
    return code == REDIST_OK ? redist_grid_free(&grid) : code;
}

static int try_grid_by_node(MPI_Comm comm) {
    const int dims[2] = {1, 0};
    redist_grid *grid;
    int code = redist_grid_create_by_node(comm, 2, dims, &grid);
    return code == REDIST_OK ? redist_grid_free(&grid) : code;
}

static int try_subcomms(MPI_Comm comm) {
    MPI_Comm subcomms[2];
    int code = redist_subcomm(comm, 2, subcomms);
    for (int i = 0; i < 2 && code == REDIST_OK; i++)
        MPI_Comm_free(&subcomms[i]);
    return code;
}

static int try_array(MPI_Comm comm) {
    void *array = NULL;
    int code = redist_alloc(comm, 1000, &array);
    if (code == REDIST_OK)
        memset(array, 1, 1000);
    return code == REDIST_OK ? redist_free(&array) : code;
}

static int try_nodes(MPI_Comm comm) {
    const int *node_of;
    int nnodes;
    return redist_nodes(comm, 0, &nnodes, &node_of);
}

/* The k-th call fails on one rank, for all k: all ranks return the same, and nothing is left. */
static void fail_each_call(const char *name, attempt *run) {
    int reached = 1;
    for (int k = 1; reached; k++) {
        struct counters before = counters_taken();
        int victim = k % harness_nranks, code, codes[2], both[2];
        MPI_Comm comm;
        PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        harness_case("%s: call %d of rank %d fails", name, k, victim);
        counters_fail_call(harness_rank == victim ? k : 0);
        code = run(comm);
        reached = counters_call_failed();
        counters_fail_call(0);
        PMPI_Allreduce(MPI_IN_PLACE, &reached, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        codes[0] = code, codes[1] = -code;
        PMPI_Allreduce(codes, both, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        check_all(both[0] == -both[1], "%s here, something else elsewhere",
                  redist_error_name(code));
        check_all(code == REDIST_OK || code == REDIST_ERR_MPI, "%s", redist_error_message());
        check_ok(run(comm));
        PMPI_Comm_free(&comm);
        counters_check(&before, name);
    }
}

START_TEST(calls_fail_on_one_rank) {
    fail_each_call("redist_nodes", try_nodes);
    fail_each_call("redist_grid_create", try_grid);
    fail_each_call("redist_grid_create_by_node", try_grid_by_node);
    fail_each_call("redist_subcomm", try_subcomms);
    fail_each_call("redist_alloc", try_array);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {tags_of_living_plans_differ,
                                  tags_come_in_turn,
                                  unused_grids_keep_few_communicators,
                                  plans_outlive_the_communicators_of_grids,
                                  planning_keeps_few_communicators,
                                  failures_of_mpi_are_named,
                                  calls_fail_on_one_rank,
                                  NULL};
    counters_begin();
    return harness_run(argc, argv, "test_redist_lifetimes", tests);
}
