/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that fails frees its asynchronous plan at once, while its peers are ahead: their devices wait for executions
 * that this rank will never begin. All learn of the failure, soon, and work with new plans of the same communicator.
 *     test_stream_freed [RANKS_PER_NODE]
 * On a device that stands in for CUDA, or on CUDA's (stream_device.h). With an argument nodes are imitated by
 * REDIST_NODE_SIZE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fft_case.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "redist_support.h"
#include "stream_job.h"

/* Seconds: what a device would wait for a rank of its node, and within which all have to know. */
static const double patience = 100, most_seconds = 15;

enum { IN_NODE = 2, METHODS = 6, MOST_AHEAD = 4, CASES = 3 };
static const char *const methods[METHODS] = {"signals:kernel", "signals:engines", "nccl",
                                             "nccl:plain",     "hier:nccl",       "auto"};
static int has_nodes;

static const char *draw_method(void) {
    return methods[random_between(has_nodes ? IN_NODE : 0, METHODS - 1)];
}

/* Manners of a peer that is as far ahead as it gets. */
enum manner { WAITS, QUERIES, FREES, MANNERS };

static int query_until_error(int (*query)(void *plan), void *plan) {
    int code = query(plan);
    for (int i = 0; i < 1000 && code == REDIST_OK; i++) {
        usleep(10000);
        code = query(plan);
    }
    return code;
}

/* A peer that frees its plan at once has no call that would say it. */
static int learn(int drawn, void *stream, int (*query)(void *plan), void *plan) {
    const enum manner manner = (enum manner)((drawn + harness_rank) % MANNERS);
    if (manner == FREES)
        return REDIST_ERR_PEER;
    if (manner == WAITS)
        stream_device_wait(stream);
    return manner == WAITS ? query(plan) : query_until_error(query, plan);
}

/* ---------------------------------------------------------------- exchanges */

static int query_exchange(void *plan) {
    return redist_plan_query(plan);
}

static void check_works(const exchange *given, const char *method) {
    struct job job = begin_job(given, method);
    uint64_t salt = random_bits();
    check_ok(plan_job(&job));
    exchange_prepare(given, job.arrays, REDIST_FORWARD, salt);
    check_ok(redist_plan_execute(job.plan, REDIST_FORWARD));
    check_result(&job, REDIST_FORWARD, salt);
    end_job(&job);
}

/* Plans of the same ranks work on, or have failed on all ranks with NCCL's communicator; those that hosts wait for,
 * too. */
static void check_other(struct job *other) {
    int failed = redist_plan_execute(other->plan, REDIST_FORWARD) != REDIST_OK;
    stream_device_wait(other->stream);
    failed |= redist_plan_query(other->plan) != REDIST_OK;
    int all = failed;
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    check_all(failed == all, "another plan has failed on some ranks");
    end_job(other);
}

/* The victim fails before an execution that it leaves out, or in one that informs its peers by their devices; peers may
 * have no reason to learn of it. */
static void free_exchange(const exchange *given, const char *method, int victim, int executes) {
    struct job job = begin_job(given, method),
               other = begin_job(given, strstr(method, "nccl") != NULL ? "nccl" : "auto");
    const int manner = random_between(0, MANNERS - 1), ahead = random_between(executes, MOST_AHEAD);
    int code = REDIST_OK;
    other.options.asynchronous = random_between(0, 1);
    check_ok(plan_job(&other));
    job.options.wait_seconds = patience;
    check_ok(plan_job(&job));
    if (random_chance(80))
        check_ok(redist_plan_execute(job.plan, REDIST_FORWARD));
    const double begin = MPI_Wtime();
    if (harness_rank == victim)
        (void)redist_plan_break(job.plan, REDIST_ERR_MEMORY);
    for (int i = 0; i < (harness_rank == victim ? executes : ahead); i++)
        code = redist_plan_execute(job.plan, i % 2);
    if (harness_rank != victim && ahead > 0)
        code = learn(manner, job.stream, query_exchange, job.plan);
    check_ok(redist_plan_free(&job.plan));
    check_all(MPI_Wtime() - begin < most_seconds, "it took %g s", MPI_Wtime() - begin);
    check_all(code != REDIST_OK || (harness_rank == victim ? executes : ahead) == 0,
              "rank %d does not know", harness_rank);
    check_other(&other);
    end_job(&job);
    check_works(given, method);
}

START_TEST(exchanges) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    test_element element = element_create(2);
    exchange given = small_exchange(&element);
    for (int i = 0; harness_another(i, CASES); i++) {
        int hides = !has_nodes && stream_device_hide_aborts(random_chance(50));
        harness_case_limit(40);
        free_exchange(&given, draw_method(), random_between(0, harness_nranks - 1),
                      random_between(0, 1));
        if (hides)
            (void)stream_device_hide_aborts(0);
    }
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- transforms */

struct transform {
    fftnd_plan *plan;
    fftnd_layout layout[2];
    void *array[2], *stream;
    fftnd_operator *op; /* or NULL */
};

static int query_transform(void *plan) {
    return fftnd_plan_query(plan);
}

static int run(const struct transform *own, int direction) {
    if (own->op != NULL)
        return fftnd_apply(own->plan, own->op, own->array[0], own->array[1]);
    return direction == REDIST_FORWARD ? fftnd_forward(own->plan, own->array[0], own->array[1])
                                       : fftnd_backward(own->plan, own->array[1], own->array[0]);
}

static struct transform begin_transform(const char *method, int dimensions, int applies) {
    fft_case own = FFT_CASE(FFTND_C2C, 8, 12, 10);
    struct transform made = {.layout = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT}};
    own.options.space = REDIST_SPACE_CUDA;
    own.options.asynchronous = 1;
    own.options.stream = made.stream = stream_device_create();
    own.options.wait_seconds = patience;
    own.options.effort = FFTND_ESTIMATE;
    own.options.grid_ndims = dimensions;
    own.options.method = method;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &own, &made.plan));
    for (int side = 0; side < 2; side++)
        check_ok(fftnd_plan_layout(made.plan, (enum fftnd_side)side, &made.layout[side]));
    for (int side = 0; side < 2; side++) /* the second one has room for what operators write */
        made.array[side] = stream_device_memory()->allocate(
            MPI_COMM_WORLD, made.layout[0].bytes + made.layout[1].bytes, 0);
    if (applies)
        check_ok(fftnd_operator_create(made.plan, FFTND_LAPLACIAN, NULL, &made.op));
    return made;
}

static void end_transform(struct transform *own) {
    int op = fftnd_operator_free(&own->op), plan = fftnd_plan_free(&own->plan);
    check_all(op == REDIST_OK && plan == REDIST_OK, "%s", redist_error_message());
    for (int side = 0; side < 2; side++)
        stream_device_memory()->release(own->array[side], 0);
    stream_device_destroy(own->stream);
}

/* Any of the victim's transforms fails: the last one after all exchanges. Peers run graphs from the third time on. */
static void free_transform(const char *method, int victim, int dimensions, int applies) {
    struct transform own = begin_transform(method, dimensions, applies);
    const int manner = random_between(0, MANNERS - 1), ahead = random_between(1, MOST_AHEAD);
    const int before = random_between(0, dimensions); /* the transform that fails */
    int code = REDIST_OK;
    check_ok(run(&own, REDIST_FORWARD));
    check_ok(run(&own, REDIST_BACKWARD));
    const double begin = MPI_Wtime();
    if (harness_rank == victim)
        (void)stream_device_fail_transform(before);
    for (int i = 0; i < MOST_AHEAD + (harness_rank == victim ? 0 : ahead) && code == REDIST_OK; i++)
        code = run(&own, i % 2);
    if (harness_rank != victim && code == REDIST_OK)
        code = learn(manner, own.stream, query_transform, own.plan);
    (void)stream_device_fail_transform(-1);
    end_transform(&own);
    check_all(MPI_Wtime() - begin < most_seconds, "it took %g s", MPI_Wtime() - begin);
    check_all(code != REDIST_OK, "rank %d does not know", harness_rank);
    own = begin_transform(method, dimensions, applies);
    check_ok(run(&own, REDIST_FORWARD));
    stream_device_wait(own.stream);
    check_ok(fftnd_plan_query(own.plan));
    end_transform(&own);
}

START_TEST(transforms) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks == 1 || !stream_device_fail_transform(-1))
        skip_test("one rank waits for nobody, or transforms cannot fail");
    for (int i = 0; harness_another(i, CASES); i++) {
        int dimensions = harness_nranks % 2 == 0 && random_chance(50) ? 2 : 1;
        int hides = !has_nodes && stream_device_hide_aborts(random_chance(50));
        const char *method = draw_method();
        harness_case_limit(40);
        int applies = random_between(0, 1);
        harness_case("%s, %d dimensions of the grid%s", method, dimensions,
                     applies ? ", an operator" : "");
        free_transform(method, random_between(0, harness_nranks - 1), dimensions, applies);
        if (hides)
            (void)stream_device_hide_aborts(0);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {exchanges, transforms, NULL};
    has_nodes = argc > 1;
    if (has_nodes)
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    int code = harness_run(argc, argv, "test_stream_freed", tests);
    return code != 0 || comms_are_left();
}
