/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous executions: enqueued, in any number and with the user's work in between, replayed, in tiles, and when a
 * rank fails or never comes. On a device that stands in for CUDA, or on CUDA's (see stream_device.h).
 *     test_redist_signals [RANKS_PER_NODE]
 * With an argument nodes are imitated by REDIST_NODE_SIZE.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "redist_support.h"
#include "stream_job.h"
#include "stream_tiles.h"

static const char *const all_methods[] = {"signals:kernel", "signals:engines", "nccl",
                                          "nccl:plain",     "hier:nccl",       "auto"};
enum {
    IN_NODE = 2,
    ALL_METHODS = sizeof all_methods / sizeof all_methods[0],
    MOST_PARTITIONS = 5,
    MOST_SEGMENTS = 4
};

/* The methods that work on the nodes here, and one of them that copies into the peers' arrays. */
static const char *const *methods = all_methods, *copies_directly = "signals";
static int nmethods = ALL_METHODS;

static void imitate_nodes(const char *size) {
    setenv("REDIST_NODE_SIZE", size, 1);
    methods = &all_methods[IN_NODE];
    nmethods = ALL_METHODS - IN_NODE;
    copies_directly = "hier:nccl";
}

/* ---------------------------------------------------------------- random shapes */

static void try_directions(const exchange *given, const char *method) {
    struct job job = begin_job(given, method);
    check_ok(plan_job(&job));
    for (int round = 0; round < 4; round++) {
        int direction = round % 2;
        uint64_t salt = random_bits();
        exchange_prepare(given, job.arrays, direction, salt);
        for (int again = random_between(1, 3); again > 0; again--)
            check_ok(redist_plan_execute(job.plan, direction));
        check_result(&job, direction, salt);
    }
    end_job(&job);
}

/* Random exchanges between axes, with every method. */
static void try_random(int most_ndims, int least, int most,
                       void (*try)(const exchange *given, const char *method)) {
    for (int i = 0; harness_another(i, 2 * nmethods); i++) {
        int ndims = random_between(2, most_ndims), axis = random_between(0, ndims - 1);
        redist_index sizes[REDIST_MAX_NDIMS];
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        random_sizes(ndims, least, most, 1500, sizes);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, axis,
                                               (axis + random_between(1, ndims - 1)) % ndims);
        try(&given, methods[i % nmethods]);
        element_free(&element);
    }
}

START_TEST(between_axes) {
    NEEDS_STREAM_DEVICE();
    try_random(5, 0, 14, try_directions);
}
END_TEST

START_TEST(between_boxes) {
    NEEDS_STREAM_DEVICE();
    for (int i = 0; harness_another(i, 2 * nmethods); i++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = exchange_between_slabs(MPI_COMM_WORLD, &element, i % 3, (i + 1) % 3);
        for (int side = 0; side < 2; side++)
            for (int rank = 0; rank < given.nranks; rank++)
                exchange_pad(&given.boxes[side][rank]);
        given.is_complete = 1;
        try_directions(&given, methods[i % nmethods]);
        element_free(&element);
    }
}
END_TEST

/* ---------------------------------------------------------------- work of the user in between */

static exchange choose_doubles(const test_element *element) {
    redist_index sizes[3];
    random_sizes(3, 1, 12, 900, sizes);
    return exchange_between_axes(MPI_COMM_WORLD, element, 3, sizes, random_between(0, 1), 2);
}

static void scale(const struct job *job, int side, double factor) {
    stream_device_scale(address(job, side), job->arrays[side].bytes / sizeof(double), factor,
                        job->stream);
}

static int enqueue_pair(const struct job *job) {
    int forth = redist_plan_execute(job->plan, REDIST_FORWARD);
    scale(job, 1, 2);
    int back = redist_plan_execute(job->plan, REDIST_BACKWARD);
    scale(job, 0, 0.5);
    return forth == REDIST_OK ? back : forth;
}

/* Powers of two go and come without rounding. */
static void prepare_doubles(const struct job *job) {
    double *values = (void *)((char *)job->arrays[0].allocation + job->arrays[0].before);
    for (size_t i = 0; i < job->arrays[0].bytes / sizeof(double); i++)
        values[i] = (double)(1 + i) + harness_rank;
    arrays_device()->copy(job->arrays[0].on_device, job->arrays[0].allocation,
                          job->arrays[0].allocation_bytes);
}

static void check_doubles(const struct job *job) {
    double *found = malloc(job->arrays[0].allocation_bytes);
    stream_device_wait(job->stream);
    arrays_device()->copy(found, job->arrays[0].on_device, job->arrays[0].allocation_bytes);
    check_all(memcmp(found, job->arrays[0].allocation, job->arrays[0].allocation_bytes) == 0,
              "array A is not what it was");
    check_ok(redist_plan_query(job->plan));
    free(found);
}

START_TEST(enqueued) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    for (int i = 0; harness_another(i, nmethods); i++) {
        exchange given = choose_doubles(&element);
        struct job job = begin_job(&given, methods[i % nmethods]);
        int failed = 0;
        check_ok(plan_job(&job));
        prepare_doubles(&job);
        for (int pair = 0; pair < 10; pair++) {
            if (random_chance(20) && pair % harness_nranks == harness_rank)
                usleep(300);
            failed |= enqueue_pair(&job);
        }
        check_all(!failed, "%s", redist_error_message());
        check_doubles(&job);
        end_job(&job);
    }
    element_free(&element);
}
END_TEST

START_TEST(replayed) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    for (int i = 0; harness_another(i, nmethods); i++) {
        exchange given = choose_doubles(&element);
        struct job job = begin_job(&given, methods[i % nmethods]);
        if (job.stream == NULL)
            job.options.stream = job.stream = stream_device_create();
        check_ok(plan_job(&job));
        prepare_doubles(&job);
        stream_device_capture(job.stream);
        int code = enqueue_pair(&job);
        void *graph = stream_device_captured(job.stream);
        check_all(code == REDIST_OK && graph != NULL, "%s", redist_error_message());
        for (int replay = 0; replay < 7; replay++) {
            stream_device_replay(graph, job.stream);
            if (replay == 3)
                check_ok(enqueue_pair(&job));
        }
        check_doubles(&job);
        stream_device_free(graph);
        end_job(&job);
    }
    element_free(&element);
}
END_TEST

/* Started, then waited for by the host. */
START_TEST(waited_for) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    exchange given = choose_doubles(&element);
    struct job job = begin_job(&given, "auto");
    uint64_t salt = random_bits();
    check_ok(plan_job(&job));
    exchange_prepare(&given, job.arrays, REDIST_FORWARD, salt);
    check_ok(redist_plan_start(job.plan, REDIST_FORWARD));
    check_ok(redist_plan_wait(job.plan));
    check_result(&job, REDIST_FORWARD, salt);
    end_job(&job);
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- tiles */

static void try_tiles(const exchange *given, const char *method) {
    struct job job = begin_job(given, method);
    job.options.tiles = REDIST_PUT;
    job.options.partitions = random_between(1, MOST_PARTITIONS);
    job.options.partition_axis = random_between(0, given->ndims - 1);
    job.options.segments = random_between(0, MOST_SEGMENTS);
    job.options.segment_axis = random_between(0, given->ndims - 1);
    if (strcmp(method, "nccl:plain") == 0) {
        check_code(plan_job(&job), REDIST_ERR_METHOD);
        end_job(&job);
        return;
    }
    if (job.stream == NULL)
        job.options.stream = job.stream = stream_device_create();
    check_ok(plan_job(&job));
    uint64_t sequence = random_bits() ^ random_hash((uint64_t)given->rank);
    char *taken = arrays_device()->allocate(given->comm, job.arrays[1].bytes + 1, 0);
    for (int round = 0; round < 2; round++)
        check_tiles(&job, &sequence, NULL, taken);
    void *graph = capture_tiles(&job, &sequence, taken);
    for (int replay = 0; replay < 6; replay++)
        check_tiles(&job, &sequence, graph, taken);
    stream_device_free(graph);
    arrays_device()->release(taken, 0);
    end_job(&job);
}

START_TEST(tiles) {
    NEEDS_STREAM_DEVICE();
    try_random(4, 1, 12, try_tiles);
}
END_TEST

/* Many replays of an exchange in which each rank sends and receives in each wave and partition: none waits for what
 * its peers do only after what waits for it. */
START_TEST(tiles_in_any_order) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    const redist_index n = 3 * harness_nranks, sizes[] = {n, n, 5};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    for (int i = 0; i < nmethods; i++) {
        struct job job = begin_job(&given, methods[i]);
        uint64_t sequence = random_bits() ^ random_hash((uint64_t)harness_rank);
        job.options.tiles = REDIST_PUT;
        job.options.partitions = 3;
        job.options.partition_axis = 2;
        if (job.stream == NULL)
            job.options.stream = job.stream = stream_device_create();
        if (strcmp(methods[i], "nccl:plain") != 0 && plan_job(&job) == REDIST_OK) {
            char *taken = arrays_device()->allocate(given.comm, job.arrays[1].bytes + 1, 0);
            check_tiles(&job, &sequence, NULL, taken);
            void *graph = capture_tiles(&job, &sequence, taken);
            for (int replay = 0; replay < harness_cases(50); replay++)
                stream_device_replay(graph, job.stream);
            check_tiles(&job, &sequence, graph, taken);
            stream_device_free(graph);
            arrays_device()->release(taken, 0);
        }
        end_job(&job);
    }
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- failures */

static struct job plan_small(const exchange *given, const char *method, double wait_seconds) {
    struct job job = begin_job(given, method);
    job.options.wait_seconds = wait_seconds;
    check_ok(plan_job(&job));
    return job;
}

/* Rank 0 stays away; whoever waits for it gives up, and all know that it failed by the next call. */
static void check_late(const exchange *given, const char *method) {
    struct job job = plan_small(given, method, 0.05);
    if (harness_rank != 0)
        (void)redist_plan_execute(job.plan, REDIST_FORWARD);
    stream_device_wait(job.stream);
    int code = redist_plan_query(job.plan);
    check_all(harness_rank == 0 || code == REDIST_ERR_PEER, "query said %d", code);
    (void)redist_plan_execute(job.plan, REDIST_BACKWARD);
    stream_device_wait(job.stream);
    check_code(redist_plan_query(job.plan), REDIST_ERR_PEER);
    check_code(redist_plan_execute(job.plan, REDIST_FORWARD), REDIST_ERR_PEER);
    end_job(&job);
}

/* One rank fails before it enqueues anything; nobody waits in vain, though he would for long. */
static void check_broken(const exchange *given, const char *method) {
    struct job job = plan_small(given, method, 0);
    if (harness_rank == harness_nranks - 1)
        (void)redist_plan_break(job.plan, REDIST_ERR_DEVICE);
    int code = redist_plan_execute(job.plan, REDIST_FORWARD);
    stream_device_wait(job.stream);
    int known = redist_plan_query(job.plan);
    check_all(harness_rank < harness_nranks - 1 || code == REDIST_ERR_DEVICE, "it returned %d",
              code);
    check_all(known != REDIST_OK, "the failure of another rank is not known");
    end_job(&job);
}

START_TEST(failures) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks == 1)
        skip_test("one rank waits for nobody");
    test_element element = element_create(2);
    exchange given = small_exchange(&element);
    for (int i = 0; i < nmethods; i++) {
        /* whose kernels wait without limit */
        if (strstr(methods[i], "nccl") == NULL && strcmp(copies_directly, "signals") == 0)
            check_late(&given, methods[i]);
        check_broken(&given, methods[i]);
    }
    element_free(&element);
}
END_TEST

/* Rank 0 is later than its peers within the node wait, on their devices: for it to begin, or to put its tiles. Those
 * between nodes, which wait without limit, know of that at the end of the same execution. */
static void come_late(void) {
    if (harness_rank == 0)
        usleep(500000);
}

static void put_late(const struct job *job, uint64_t sequence) {
    (void)redist_plan_put_begin(job->plan, address(job, 1));
    come_late();
    (void)put_all(job, &sequence);
    (void)redist_plan_put_end(job->plan);
}

START_TEST(late_inside) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks < 3 || strcmp(getenv("REDIST_NODE_SIZE"), "1") == 0)
        skip_test("no other node, or no other rank in a node");
    test_element element = element_create(2);
    exchange given = small_exchange(&element);
    for (int i = 0; i < 3; i++) {
        struct job job = begin_job(&given, "hier:nccl");
        job.options.wait_seconds = 0.05;
        job.options.tiles = i < 2 ? REDIST_WHOLE : REDIST_PUT;
        check_ok(plan_job(&job));
        if (i == 2) {
            put_late(&job, random_bits());
        } else {
            come_late();
            (void)redist_plan_execute(job.plan, i);
        }
        stream_device_wait(job.stream);
        check_code(redist_plan_query(job.plan), REDIST_ERR_PEER);
        end_job(&job);
    }
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- refusals */

static void check_refused(struct job *job, int code, const char *words) {
    check_code(plan_job(job), code);
    check_all(strstr(redist_error_message(), words) != NULL, "%s", redist_error_message());
}

START_TEST(refusals) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    const redist_index sizes[] = {5, 6, 7};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    struct job job = begin_job(&given, "direct");
    check_refused(&job, REDIST_ERR_METHOD, "needs the host");
    job.options.method = "signals";
    job.options.asynchronous = 0;
    check_refused(&job, REDIST_ERR_METHOD, "options.asynchronous");
    job.options.asynchronous = 1;
    job.options.bind_b = REDIST_BIND_AT_EXECUTION;
    check_refused(&job, REDIST_ERR_METHOD, "array b");
    job.options.bind_b = REDIST_BIND_AT_PLAN;
    job.options.tiles = REDIST_PUT;
    job.options.partitions = 1 << 20;
    check_refused(&job, REDIST_ERR_LIMIT, "partitions");
    job.options.tiles = REDIST_WHOLE;
    job.options.partitions = 0;
    if (harness_nranks > 1 && stream_device_share(1)) {
        check_refused(&job, REDIST_ERR_METHOD, "share one");
        (void)stream_device_share(0);
    }
    job.options.asynchronous = harness_rank > 0;
    if (harness_nranks > 1)
        check_code(plan_job(&job), REDIST_ERR_DISAGREE);
    end_job(&job);
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- methods */

/* Copies in `chosen` the method of a plan that measures nothing. */
static void find_method(MPI_Comm comm, const char *request, int asynchronous, char chosen[64]) {
    const redist_index sizes[] = {8, 9, 10};
    test_element element = element_create(2);
    exchange given = exchange_between_axes(comm, &element, 3, sizes, 0, 1);
    struct job job = begin_job(&given, request);
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    job.options.asynchronous = asynchronous;
    job.options.effort = REDIST_ESTIMATE;
    check_ok(plan_job(&job));
    check_ok(redist_plan_get_info(job.plan, &info));
    (void)snprintf(chosen, 64, "%s", info.method);
    end_job(&job);
    element_free(&element);
}

/* Method nccl:plain is chosen by name only, within a node and between nodes. */
START_TEST(never_plain) {
    NEEDS_STREAM_DEVICE();
    for (int i = 0; i < 4; i++) {
        int has_nodes = i / 2, asynchronous = i % 2;
        char chosen[3][64];
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if (has_nodes)
            setenv("REDIST_NODE_SIZE", "1", 1);
        find_method(comm, "auto", asynchronous, chosen[0]);
        find_method(comm, "nccl", asynchronous, chosen[1]);
        find_method(comm, "nccl:plain", asynchronous, chosen[2]);
        unsetenv("REDIST_NODE_SIZE");
        MPI_Comm_free(&comm);
        check_all(strcmp(chosen[0], "nccl:plain") != 0, "auto is nccl:plain");
        check_all(!has_nodes || harness_nranks == 1 || strcmp(chosen[0], "nccl") == 0, "auto is %s",
                  chosen[0]);
        check_all(strcmp(chosen[1], "nccl") == 0, "nccl is %s", chosen[1]);
        check_all(strcmp(chosen[2], "nccl:plain") == 0, "nccl:plain is %s", chosen[2]);
    }
}
END_TEST

/* Messages that are contiguous in both arrays are sent from there and received there. */
START_TEST(not_packed) {
    NEEDS_STREAM_DEVICE();
    const redist_index sizes[] = {harness_nranks, harness_nranks, 5};
    test_element element = element_create(2);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 1, 0);
    for (int i = 0; i < 2; i++) {
        struct job job = begin_job(&given, i ? "nccl:plain" : "nccl");
        redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
        check_ok(plan_job(&job));
        check_ok(redist_plan_get_info(job.plan, &info));
        check_all(info.workspace_bytes == 0, "%zu bytes of buffers", (size_t)info.workspace_bytes);
        end_job(&job);
    }
    element_free(&element);
}
END_TEST

/* The source may be any array, the destination only that of the plan. */
START_TEST(other_arrays) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    const redist_index sizes[] = {8, 9, 10};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    struct job job = begin_job(&given, copies_directly);
    uint64_t salt = random_bits();
    job.options.bind_a = REDIST_BIND_AT_EXECUTION;
    check_ok(plan_job(&job));
    exchange_prepare(&given, job.arrays, REDIST_FORWARD, salt);
    check_ok(
        redist_plan_execute_arrays(job.plan, REDIST_FORWARD, address(&job, 0), address(&job, 1)));
    check_result(&job, REDIST_FORWARD, salt);
    check_code(
        redist_plan_execute_arrays(job.plan, REDIST_BACKWARD, address(&job, 0), address(&job, 1)),
        REDIST_ERR_STATE);
    check_code(redist_plan_execute_arrays(job.plan, REDIST_FORWARD, address(&job, 0),
                                          (char *)address(&job, 1) + 8),
               REDIST_ERR_ARGUMENT);
    check_ok(redist_plan_query(job.plan));
    end_job(&job);
    element_free(&element);
}
END_TEST

/* The same on all ranks: the first one always has elements. */
static int is_unmapped(const struct job *job) {
    int unmapped = !redist_is_mappable(REDIST_SPACE_CUDA, address(job, 0), 1);
    MPI_Bcast(&unmapped, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return unmapped;
}

/* Of array A peers have to know where it is for the way back only. */
START_TEST(unmapped_source) {
    static const enum test_memory kinds[2] = {MEMORY_PLAIN, MEMORY_SHARED};
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    const redist_index sizes[] = {8, 9, 10};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    for (int i = 0; i < nmethods; i++) {
        struct job job = begin_job(&given, methods[i]);
        exchange_free_arrays(job.arrays);
        exchange_arrays(&given, kinds, job.arrays);
        uint64_t salt = random_bits();
        const char *method;
        check_ok(plan_job(&job));
        check_ok(redist_plan_get_method(job.plan, &method));
        exchange_prepare(&given, job.arrays, REDIST_FORWARD, salt);
        check_ok(redist_plan_execute(job.plan, REDIST_FORWARD));
        check_result(&job, REDIST_FORWARD, salt);
        if (harness_nranks > 1 && is_unmapped(&job) && /* CUDA's devices map all their memory */
            strncmp(method, "nccl", 4) != 0)
            check_code(redist_plan_execute(job.plan, REDIST_BACKWARD), REDIST_ERR_STATE);
        exchange_prepare(&given, job.arrays, REDIST_FORWARD, salt + 1);
        check_ok(redist_plan_execute(job.plan, REDIST_FORWARD));
        check_result(&job, REDIST_FORWARD, salt + 1);
        end_job(&job);
    }
    element_free(&element);
}
END_TEST

/* A plan goes whatever its last execution returns. */
START_TEST(freed_unfinished) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    const redist_index sizes[] = {8, 9, 10};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    struct job job = begin_job(&given, copies_directly);
    job.options.tiles = REDIST_PUT;
    check_ok(plan_job(&job));
    check_ok(redist_plan_put_begin(job.plan, address(&job, 1)));
    int code = redist_plan_free(&job.plan);
    check_all(job.plan == NULL && (code != REDIST_OK || job.arrays[0].bytes == 0),
              "%s, the plan is %p", redist_error_name(code), (void *)job.plan);
    end_job(&job);
    element_free(&element);
}
END_TEST

/* Host memory has no streams. */
START_TEST(on_the_host) {
    test_element element = element_create(2);
    const redist_index sizes[] = {8, 9, 10};
    arrays_use(NULL);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    struct job job = {.given = &given, .options = REDIST_OPTIONS_DEFAULT};
    exchange_arrays(&given, both_shared, job.arrays);
    job.options.asynchronous = 1;
    check_ok(redist_plan_exchange(
        MPI_COMM_WORLD, element.type, 3, given.boxes[0][harness_rank].count, job.arrays[0].data, 0,
        given.boxes[1][harness_rank].count, job.arrays[1].data, 1, &job.options, &job.plan));
    exchange_prepare(&given, job.arrays, REDIST_FORWARD, 3);
    check_ok(redist_plan_execute(job.plan, REDIST_FORWARD));
    check_ok(redist_plan_query(job.plan));
    exchange_check(&given, job.arrays, REDIST_FORWARD, 3);
    end_job(&job);
    element_free(&element);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        between_axes,       between_boxes,    enqueued,    replayed,    waited_for, tiles,
        tiles_in_any_order, failures,         refusals,    never_plain, not_packed, other_arrays,
        unmapped_source,    freed_unfinished, on_the_host, NULL};
    const TTest *const between_nodes[] = {
        between_axes,    between_boxes,      enqueued, replayed,    waited_for,
        tiles,           tiles_in_any_order, failures, late_inside, other_arrays,
        unmapped_source, freed_unfinished,   NULL};
    if (argc > 1)
        imitate_nodes(argv[1]);
    int code = harness_run(argc, argv, "test_redist_signals", argc > 1 ? between_nodes : tests);
    return code != 0 || comms_are_left();
}
