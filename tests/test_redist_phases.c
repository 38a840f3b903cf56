/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of executions goes: what plans say with options.phases. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

/* An exchange of rows for columns; parts are cut across the rows of A and are contiguous in B. */
struct setup {
    MPI_Comm comm;
    redist_index sizes[2][3];
    void *arrays[2];
    redist_plan *plan;
};

static const redist_index whole[3] = {24, 18, 40};

static int local(int axis) {
    redist_index count, start;
    redist_decompose(whole[axis], harness_nranks, harness_rank, &count, &start);
    return (int)count;
}

/* A communicator that shows nodes of `node_size` ranks each to hier, and to all others the node as it is. */
static MPI_Comm create_comm(const char *method, const char *node_size) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (strncmp(method, "hier", 4) == 0)
        setenv("REDIST_NODE_SIZE", node_size, 1);
    return comm;
}

static void create_arrays(struct setup *setup) {
    for (int side = 0; side < 2; side++) {
        memcpy(setup->sizes[side], whole, sizeof whole);
        setup->sizes[side][side] = local(side);
        size_t bytes = sizeof(double);
        for (int i = 0; i < 3; i++)
            bytes *= (size_t)setup->sizes[side][i];
        check_ok(redist_alloc(setup->comm, bytes, &setup->arrays[side]));
        memset(setup->arrays[side], 0, bytes);
    }
}

/* 0 = the method does not apply. */
static int create_plan_on_nodes(struct setup *setup, const char *method, int phases,
                                const char *node_size) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.phases = phases;
    setup->comm = create_comm(method, node_size);
    create_arrays(setup);
    int code =
        redist_plan_exchange(setup->comm, MPI_DOUBLE, 3, setup->sizes[0], setup->arrays[0], 1,
                             setup->sizes[1], setup->arrays[1], 0, &options, &setup->plan);
    unsetenv("REDIST_NODE_SIZE");
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
    return code == REDIST_OK;
}

static int create_plan(struct setup *setup, const char *method, int phases) {
    return create_plan_on_nodes(setup, method, phases, "1");
}

static void free_setup(struct setup *setup) {
    check_ok(redist_plan_free(&setup->plan));
    check_ok(redist_free(&setup->arrays[0]));
    check_ok(redist_free(&setup->arrays[1]));
    MPI_Comm_free(&setup->comm);
}

static redist_phases read_phases(const redist_plan *plan) {
    redist_phases phases = REDIST_PHASES_DEFAULT;
    check_ok(redist_plan_get_phases(plan, &phases));
    return phases;
}

static int is_near(double a, double b) {
    return a - b < 1e-9 && b - a < 1e-9;
}

static void check_sum(const redist_phases *phases) {
    double sum = phases->pack + phases->first_message + phases->communicate + phases->unpack +
                 phases->own_part;
    check_all(is_near(sum, phases->total), "the phases are %g, the total is %g", sum,
              phases->total);
    check_all(phases->pack >= 0 && phases->first_message >= 0 && phases->communicate >= 0 &&
                  phases->unpack >= 0 && phases->own_part >= 0,
              "a phase is negative");
}

/* Phases add up to the total, which is no more than the time of the calls. */
START_TEST(sums) {
    for (int i = 0; i < redist_method_count(); i++) {
        struct setup setup;
        harness_case("method %s", redist_method_name(i));
        if (create_plan(&setup, redist_method_name(i), 1)) {
            double begin = MPI_Wtime();
            for (int turn = 0; turn < 4; turn++)
                check_ok(redist_plan_execute(setup.plan, turn % 2));
            check_ok(redist_plan_start(setup.plan, REDIST_FORWARD));
            check_ok(redist_plan_wait(setup.plan));
            double seconds = MPI_Wtime() - begin;
            redist_phases phases = read_phases(setup.plan);
            check_sum(&phases);
            check_all(phases.executions == 5, "%lld executions", phases.executions);
            check_all(phases.total > 0 && phases.total <= seconds, "total %g of %g s", phases.total,
                      seconds);
        }
        free_setup(&setup);
    }
}
END_TEST

static int is_one_of(const char *name, const char *const names[]) {
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

/* Who waits for a late rank does so while it communicates, and methods that see single messages wait for
 * the first. */
START_TEST(late_rank) {
    static const char *const collective[] = {"alltoallw", "alltoallv", "kway", NULL};
    static const char *const single[] = {"direct", "p2p", "p2p-type", "p2p-streams", "hier", NULL};
    for (int i = 0; i < redist_method_count(); i++) {
        struct setup setup;
        const char *name = redist_method_name(i);
        harness_case("method %s", name);
        if (create_plan(&setup, name, 1)) {
            MPI_Barrier(MPI_COMM_WORLD);
            if (harness_rank == 0)
                usleep(30000);
            check_ok(redist_plan_execute(setup.plan, REDIST_FORWARD));
            redist_phases phases = read_phases(setup.plan);
            check_sum(&phases);
            int waits = harness_rank != 0 && harness_nranks > 1;
            check_all(!waits || phases.first_message + phases.communicate > 0.02,
                      "first message %g s, communication %g s", phases.first_message,
                      phases.communicate);
            check_all(!waits || harness_nranks > 2 || !is_one_of(name, single) ||
                          phases.first_message > 0.02,
                      "first message %g s", phases.first_message);
            check_all(!is_one_of(name, collective) || phases.first_message == 0,
                      "first message %g s", phases.first_message);
        }
        free_setup(&setup);
    }
}
END_TEST

/* With three ranks, one of them late, the first message is in long before the last. */
START_TEST(last_message) {
    static const char *const methods[] = {"p2p", "p2p-type", "hier"};
    for (int i = 0; i < 3 && harness_nranks > 2; i++) {
        struct setup setup;
        harness_case("method %s", methods[i]);
        check_all(create_plan(&setup, methods[i], 1), "%s", redist_error_message());
        MPI_Barrier(MPI_COMM_WORLD);
        if (harness_rank == 0)
            usleep(120000);
        check_ok(redist_plan_execute(setup.plan, REDIST_FORWARD));
        redist_phases phases = read_phases(setup.plan);
        check_all(harness_rank == 0 || phases.communicate > 0.02, "communication %g s",
                  phases.communicate);
        free_setup(&setup);
    }
}
END_TEST

/* Packing methods pack where parts lie across the rows, and unpack on the way back. */
START_TEST(packing) {
    static const char *const methods[] = {"direct", "p2p", "alltoallv", "kway", "hier"};
    for (int i = 0; i < 5 && harness_nranks > 1; i++) {
        struct setup setup;
        int packs = i > 0;
        harness_case("method %s", methods[i]);
        check_all(create_plan(&setup, methods[i], 1), "%s", redist_error_message());
        for (int turn = 0; turn < 20; turn++)
            check_ok(redist_plan_execute(setup.plan, REDIST_FORWARD));
        redist_phases forward = read_phases(setup.plan);
        check_all((forward.pack > 0) == packs, "pack %g s", forward.pack);
        check_all(!packs || forward.own_part > 0, "own part %g s", forward.own_part);
        for (int turn = 0; turn < 20; turn++)
            check_ok(redist_plan_execute(setup.plan, REDIST_BACKWARD));
        redist_phases both = read_phases(setup.plan);
        check_all((both.unpack > forward.unpack) == packs, "unpack %g s, then %g s", forward.unpack,
                  both.unpack);
        free_setup(&setup);
    }
}
END_TEST

/* A node of two ranks: each of them receives a message from the third, which is late. */
START_TEST(messages_of_a_node) {
    struct setup setup;
    if (harness_nranks < 3)
        return;
    check_all(create_plan_on_nodes(&setup, "hier", 1, "2"), "%s", redist_error_message());
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 2)
        usleep(120000);
    check_ok(redist_plan_execute(setup.plan, REDIST_BACKWARD));
    redist_phases phases = read_phases(setup.plan);
    check_sum(&phases);
    check_all(phases.pack > 0 && phases.unpack > 0, "pack %g s, unpack %g s", phases.pack,
              phases.unpack);
    check_all(harness_rank == 2 || phases.first_message + phases.communicate > 0.02,
              "first message %g s, communication %g s", phases.first_message, phases.communicate);
    free_setup(&setup);
}
END_TEST

START_TEST(off) {
    struct setup setup;
    check_all(create_plan(&setup, "alltoallw", 0), "%s", redist_error_message());
    check_ok(redist_plan_execute(setup.plan, REDIST_FORWARD));
    redist_phases phases = read_phases(setup.plan);
    check_all(phases.executions == 0 && phases.total == 0, "%lld executions, %g s",
              phases.executions, phases.total);
    free_setup(&setup);
}
END_TEST

static void check_text(const char *text) {
    check_all(strstr(redist_error_message(), text) != NULL, "no '%s' in: %s", text,
              redist_error_message());
}

START_TEST(refused) {
    struct setup setup;
    redist_phases phases = REDIST_PHASES_DEFAULT, wrong = {0};
    check_all(create_plan(&setup, "p2p", 1), "%s", redist_error_message());
    check_code(redist_plan_get_phases(setup.plan, NULL), REDIST_ERR_NULL);
    check_text("phases = NULL");
    check_code(redist_plan_get_phases(setup.plan, &wrong), REDIST_ERR_ARGUMENT);
    check_text("phases->size = 0");
    redist_plan *gone = setup.plan;
    free_setup(&setup);
    check_code(redist_plan_get_phases(gone, &phases), REDIST_ERR_STATE);
    check_code(redist_plan_get_phases(NULL, &phases), REDIST_ERR_STATE);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {sums, late_rank, last_message, packing, messages_of_a_node,
                                  off,  refused,   NULL};
    return harness_run(argc, argv, "test_redist_phases", tests);
}
