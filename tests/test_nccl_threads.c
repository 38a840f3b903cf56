/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of each rank under MPI_THREAD_MULTIPLE, each with communicators of its own of the same ranks. Their plans use
 * one stream, and take what plans of the other threads have left of NCCL, never what those use. On a device that stands
 * in for CUDA.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "stream_device.h"

enum { THREADS = 3, LAPS = 30, ROWS = 12, COLUMNS = 10, MOST_IDLE = 4 };

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    int number, failed;
    char message[400];
};

static void expect(struct worker *worker, int holds, const char *what) {
    if (!holds && !worker->failed) {
        worker->failed = 1;
        snprintf(worker->message, sizeof worker->message, "%.60s: %.300s", what,
                 redist_error_message());
    }
}

/* There and back: values of this thread and rank. */
static void use_plan(struct worker *worker, redist_plan *plan, double *arrays[2], size_t bytes) {
    const test_device *memory = stream_device_memory();
    double *values = malloc(bytes + 1), *found = malloc(bytes + 1);
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        values[i] = (double)i + 1000 * harness_rank + 1e6 * worker->number;
    memory->copy(arrays[0], values, bytes);
    expect(worker, redist_plan_execute(plan, REDIST_FORWARD) == REDIST_OK, "forward");
    memset(found, 0, bytes);
    memory->copy(arrays[0], found, bytes);
    expect(worker, redist_plan_execute(plan, REDIST_BACKWARD) == REDIST_OK, "backward");
    memory->copy(found, arrays[0], bytes);
    expect(worker, memcmp(values, found, bytes) == 0, "other values came back");
    free(values);
    free(found);
}

static void use_once(struct worker *worker, MPI_Comm comm) {
    redist_index counts[2][2] = {{0, COLUMNS}, {ROWS, 0}}, start;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    double *arrays[2];
    redist_plan *plan = NULL;
    (void)redist_decompose(ROWS, harness_nranks, harness_rank, &counts[0][0], &start);
    (void)redist_decompose(COLUMNS, harness_nranks, harness_rank, &counts[1][1], &start);
    for (int side = 0; side < 2; side++)
        arrays[side] = stream_device_memory()->allocate(
            comm, (size_t)(counts[side][0] * counts[side][1]) * sizeof(double), 0);
    options.method = "nccl";
    options.space = REDIST_SPACE_CUDA;
    int code = redist_plan_exchange(comm, MPI_DOUBLE, 2, counts[0], arrays[0], 1, counts[1],
                                    arrays[1], 0, &options, &plan);
    expect(worker, code == REDIST_OK, "planning");
    if (code == REDIST_OK)
        use_plan(worker, plan, arrays, (size_t)(counts[0][0] * counts[0][1]) * sizeof(double));
    expect(worker, redist_plan_free(&plan) == REDIST_OK, "freeing");
    for (int side = 0; side < 2; side++)
        stream_device_memory()->release(arrays[side], 0);
}

static void *work(void *data) {
    struct worker *worker = data;
    for (int lap = 0; lap < harness_cases(LAPS); lap++) {
        MPI_Comm comm;
        MPI_Comm_dup(worker->comm, &comm);
        use_once(worker, comm);
        MPI_Comm_free(&comm);
    }
    return NULL;
}

START_TEST(threads_with_plans) {
    struct worker workers[THREADS] = {{0}};
    int level, started = 0, left;
    MPI_Query_thread(&level);
    if (level != MPI_THREAD_MULTIPLE)
        skip_test("this MPI has no MPI_THREAD_MULTIPLE");
    NEEDS_STREAM_DEVICE();
    for (int i = 0; i < THREADS; i++) {
        workers[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
    }
    while (started < THREADS &&
           pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    check_all(started == THREADS, "only %d threads could be started", started);
    for (int i = 0; i < THREADS; i++) {
        check_all(!workers[i].failed, "thread %d: %s", i, workers[i].message);
        MPI_Comm_free(&workers[i].comm);
    }
    for (int i = 0; i < 1000 && stream_device_comms(&left) > 0 && left > MOST_IDLE; i++)
        usleep(10000);
    check_all(left <= MOST_IDLE, "%d communicators are left", left);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {threads_with_plans, NULL};
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    return harness_run(argc, argv, "test_nccl_threads", tests);
}
