/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of NCCL: made, kept for the next plan, given up. As in test_redist_signals, on a device that stands in
 * for CUDA, or on CUDA's. */
#include <string.h>
#include <unistd.h>

#include "fftnd.h"
#include "harness.h"
#include "stream_job.h"

enum { MOST_IDLE = 4, MANY = MOST_IDLE + 2 }; /* the library keeps so many that no plan uses */

static int comms_made(void) {
    int left;
    return stream_device_comms(&left);
}

/* Communicators end in threads. */
static void check_left(int least, int most) {
    int left = -1;
    for (int i = 0; i < 1000; i++) {
        if (stream_device_comms(&left) < 0 || left <= most)
            break;
        usleep(10000);
    }
    check_all(left < 0 || (left >= least && left <= most), "%d communicators are left", left);
}

static void execute_both(struct job *job) {
    for (int direction = 0; direction < 2; direction++) {
        uint64_t salt = random_bits();
        exchange_prepare(job->given, job->arrays, direction, salt);
        check_ok(redist_plan_execute(job->plan, direction));
        check_result(job, direction, salt);
    }
}

struct living {
    MPI_Comm comm;
    exchange given;
    struct job job;
};

/* Makes a plan of the ranks of a group, with a communicator of its own. */
static void begin_living(struct living *living, const test_element *element, int color, int key,
                         const char *method) {
    const redist_index sizes[] = {6, 7, 8};
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &living->comm);
    living->given = exchange_between_axes(living->comm, element, 3, sizes, 0, 1);
    living->job = begin_job(&living->given, method);
    check_ok(plan_job(&living->job));
}

static void end_living(struct living *living) {
    end_job(&living->job);
    MPI_Comm_free(&living->comm);
}

static void use_once(const test_element *element, int color, int key) {
    struct living living;
    begin_living(&living, element, color, key, "nccl");
    execute_both(&living.job);
    end_living(&living);
}

/* Holds several plans of a group at a time, so that others are no longer kept. */
static void use_many(const test_element *element, int color, const char *method) {
    struct living living[MANY];
    int least = strcmp(method, "nccl") == 0 ? MANY : 0;
    for (int i = 0; i < MANY; i++)
        begin_living(&living[i], element, color, 0, method);
    for (int i = 0; i < MANY; i++)
        execute_both(&living[i].job);
    check_left(least, MANY + MOST_IDLE);
    for (int i = 0; i < MANY; i++)
        end_living(&living[i]);
    check_left(0, MOST_IDLE);
}

/* The next plan of the same ranks in the same order takes the communicator that an earlier one has left. */
START_TEST(communicators) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    int before = comms_made();
    for (int i = 0; i < 5; i++)
        use_once(&element, 0, 0);
    check_all(comms_made() <= before + 1, "%d plans made %d communicators", 5,
              comms_made() - before);
    for (int i = 0; i < 5; i++)
        use_once(&element, harness_rank % 2, 0);
    for (int i = 0; i < 5; i++)
        use_once(&element, 0, -harness_rank);
    check_all(comms_made() <= before + 3, "%d groups made %d communicators", 3,
              comms_made() - before);
    element_free(&element);
}
END_TEST

/* Plans of several communicators of the user at a time share none, and few are kept afterwards. */
START_TEST(communicators_apart) {
    NEEDS_STREAM_DEVICE();
    test_element element = element_create(2);
    use_many(&element, 0, "nccl");
    int before = comms_made();
    use_many(&element, 0, "nccl");
    check_all(before < 0 || comms_made() == before + MANY - MOST_IDLE, "made %d communicators",
              comms_made() - before);
    element_free(&element);
}
END_TEST

/* A rank has ended what the others have kept: they do not take it, and end it too. */
START_TEST(communicators_of_some) {
    NEEDS_STREAM_DEVICE();
    if (harness_nranks == 1)
        skip_test("one rank has what it has kept");
    test_element element = element_create(2);
    for (int some = 0; some < harness_nranks; some++) {
        use_once(&element, 0, 0);
        use_many(&element, harness_rank, harness_rank == some ? "nccl" : "signals");
        int before = comms_made();
        use_once(&element, 0, 0);
        use_once(&element, 0, 0);
        check_all(before < 0 || comms_made() == before + 1, "made %d communicators",
                  comms_made() - before);
        check_left(0, MOST_IDLE);
    }
    element_free(&element);
}
END_TEST

/* A communicator that was given up never comes back. */
START_TEST(communicators_given_up) {
    NEEDS_STREAM_DEVICE();
    if (comms_made() < 0)
        skip_test("calls of NCCL cannot be refused");
    if (harness_nranks == 1)
        skip_test("one rank sends nothing");
    test_element element = element_create(2);
    for (int i = 0; i < 3; i++) {
        const redist_index sizes[] = {6, 7, 8};
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
        struct job job = begin_job(&given, "nccl");
        job.options.asynchronous = 0;
        check_ok(plan_job(&job));
        int before = comms_made();
        if (harness_rank == i % harness_nranks)
            (void)stream_device_refuse();
        int code = redist_plan_execute(job.plan, REDIST_FORWARD);
        check_all(code != REDIST_OK, "messages of rank %d failed", i % harness_nranks);
        end_job(&job);
        use_once(&element, 0, 0);
        check_all(comms_made() == before + 1, "made %d communicators", comms_made() - before);
        check_left(0, MOST_IDLE);
    }
    element_free(&element);
}
END_TEST

static int query_until_error(fftnd_plan *plan) {
    int code = REDIST_OK;
    for (int i = 0; i < 100 && code == REDIST_OK; i++) {
        usleep(20000);
        code = fftnd_plan_query(plan);
    }
    return code;
}

/* Pencils of 2 x 2 ranks: rank 1 fails and rank 2 goes on, whose kernels wait for rank 3. That one learns of it from
 * rank 1, frees its plan, and waits for rank 2 then, which shares no exchange with rank 1. The last test: ranks have
 * given up afterwards. */
START_TEST(given_up_in_pencils) {
    NEEDS_STREAM_DEVICE();
    if (comms_made() < 0 || harness_nranks != 4)
        skip_test("calls of NCCL cannot be refused, or there are no 2 x 2 ranks");
    const redist_index sizes[] = {8, 6, 8};
    const int grid[] = {2, 2};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_layout layout[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    fftnd_plan *plan = NULL;
    void *arrays[2];
    options.space = REDIST_SPACE_CUDA;
    options.stream = stream_device_create();
    options.asynchronous = 1;
    options.effort = FFTND_ESTIMATE;
    options.method = "nccl";
    options.grid = grid;
    options.grid_ndims = 2;
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan));
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layout[side]));
        arrays[side] = stream_device_memory()->allocate(MPI_COMM_WORLD, layout[side].bytes, 0);
    }
    harness_case_limit(20);
    harness_case("a rank that goes on, one that frees its plan");
    if (harness_rank == 1)
        (void)stream_device_refuse();
    int code = fftnd_forward(plan, arrays[0], arrays[1]);
    for (int i = 0; i < 3 && code == REDIST_OK && harness_rank == 2; i++)
        code = fftnd_forward(plan, arrays[0], arrays[1]);
    code = code == REDIST_OK ? query_until_error(plan) : code;
    (void)fftnd_plan_free(&plan);
    check_all(code != REDIST_OK, "rank 1 has failed");
    for (int side = 0; side < 2; side++)
        stream_device_memory()->release(arrays[side], 0);
    stream_device_destroy(options.stream);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {communicators,         communicators_apart,
                                  communicators_of_some, communicators_given_up,
                                  given_up_in_pencils,   NULL};
    int code = harness_run(argc, argv, "test_nccl_communicators", tests);
    return code != 0 || comms_are_left();
}
