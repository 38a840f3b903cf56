/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fails while hosts wait for nothing: a kernel of the user's on one rank's device, a rank that is killed, one that
 * comes too late. Everybody learns of it within a bound, from the plan's query and from each later call, and can free
 * the plan.
 *     test_stream_survivors WORK METHOD FAULT VICTIM FILE
 * WORK is execute, put, transform, pencils or operator; with a method "signals..." or "enqueued:..." it is
 * asynchronous. FAULT is kernel (it fails, and the rank queries its plan), call (it fails, and the rank goes on), kill
 * or late. All but a killed rank append "rank R: CODE after S s" to FILE. REDIST_TEST_LIMIT is the bound in seconds of
 * all that a rank does. On a device that stands in for CUDA, or on CUDA's (stream_device.h). test_stream_survivors.sh
 * counts what they print.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stream_device.h"
#include "survivor.h"

enum { BEFORE = 5, ENQUEUED = 6, AFTER = 200, AGAIN = 2, LIMIT = 30 };

/* Seconds: the patience of a device that is not to be needed, and that for the one who is late; how long an error may
 * take in both cases. */
static const double patient = 60, impatient = 2, bound = 15, late_bound = 6;

static int is_late;

static const struct survivor_work works[] = {
    {"execute", survivor_make_whole, survivor_execute},
    {"put", survivor_make_put, survivor_put},
    {"transform", survivor_make_transform, survivor_transform},
    {"pencils", survivor_make_pencils, survivor_transform},
    {"operator", survivor_make_operator, survivor_apply},
    {"ghosts", survivor_make_ghosts, survivor_transform},
    {NULL, NULL, NULL}};

static int query(void) {
    return survivor.exchange != NULL ? redist_plan_query(survivor.exchange)
                                     : fftnd_plan_query(survivor.transform);
}

static void prepare(const struct survivor_work *work) {
    survivor_allocate();
    (void)stream_device_create();
    survivor.stream = stream_device_create(); /* the second kind: transforms become graphs */
    survivor_must(work->make(), work->name);
    for (int i = 0; i < BEFORE; i++)
        survivor_must(work->run(i % 2), work->name);
    stream_device_wait(survivor.stream);
    survivor_must(query(), "query");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Enqueues, and waits as a program does that knows nothing of the plan. A host that waits itself learns of it in one of
 * its calls. */
static int run_beside(const struct survivor_work *work) {
    int code = REDIST_OK;
    for (int i = 0; i < (survivor.asynchronous ? ENQUEUED : AFTER) && code == REDIST_OK; i++)
        code = work->run(i % 2);
    if (survivor.asynchronous)
        stream_device_wait(survivor.stream);
    return code == REDIST_OK ? query() : code;
}

static int query_until_error(void) {
    int code = query();
    for (int i = 0; i < AFTER && code == REDIST_OK; i++) {
        usleep(50000);
        code = query();
    }
    return code;
}

static int run_until_error(const struct survivor_work *work) {
    int code = REDIST_OK;
    for (int i = 0; i < AFTER && code == REDIST_OK; i++) {
        usleep(50000);
        code = work->run(i % 2);
    }
    return code;
}

/* Others may wait for the next call of who has queried its plan. */
static int query_and_run(const struct survivor_work *work) {
    int code = query_until_error();
    if (!survivor.asynchronous)
        (void)work->run(0);
    return code;
}

/* What the victim does; who is late does nothing yet. */
static int fail(const struct survivor_work *work, const char *fault) {
    if (strcmp(fault, "kill") == 0)
        raise(SIGKILL);
    if (is_late)
        return REDIST_OK;
    stream_device_fault(survivor.stream);
    return strcmp(fault, "kernel") == 0 ? query_and_run(work) : run_until_error(work);
}

static int run_all(const struct survivor_work *work, const char *fault, int victim,
                   const char *file) {
    char message[300], line[512];
    prepare(work);
    survivor_watch(LIMIT);
    double begin = MPI_Wtime();
    int code = survivor.rank == victim ? fail(work, fault) : run_beside(work);
    double learnt = MPI_Wtime() - begin;
    if (is_late) { /* who is late comes when all others have waited, and learns that he is */
        MPI_Barrier(MPI_COMM_WORLD);
        code = survivor.rank == victim ? run_beside(work) : code;
    }
    snprintf(message, sizeof(message), "%s", redist_error_message());
    if (learnt > (is_late ? late_bound : bound))
        snprintf(message, sizeof(message), "too late");
    for (int i = 0; i < AGAIN; i++) /* with a plan that is broken */
        if (work->run(i % 2) == REDIST_OK || (survivor.asynchronous && query() == REDIST_OK))
            snprintf(message, sizeof(message), "a broken plan says that all is well");
    begin = MPI_Wtime();
    (void)survivor_release();
    survivor_release_arrays();
    snprintf(line, sizeof(line), "rank %d: %s after %.1f s, freed after %.1f s: %s\n",
             survivor.rank, redist_error_name(code), learnt, MPI_Wtime() - begin, message);
    survivor_report(file, line, survivor.nranks - (strcmp(fault, "kill") == 0));
    _exit(EXIT_SUCCESS);
}

int main(int argc, char **argv) {
    survivor_begin(argc, argv, 5,
                   "test_stream_survivors WORK METHOD kernel|call|kill|late VICTIM FILE");
    if (!stream_device_begin()) {
        printf("skipped: fewer CUDA devices than ranks\n");
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    is_late = strcmp(argv[3], "late") == 0;
    const char *enqueued = "enqueued:";
    int is_told = strncmp(argv[2], enqueued, strlen(enqueued)) == 0;
    survivor.method = argv[2] + (is_told ? strlen(enqueued) : 0);
    survivor.asynchronous = is_told || strncmp(argv[2], "signals", 7) == 0;
    survivor.wait_seconds = is_late ? impatient : patient;
    survivor.space = REDIST_SPACE_CUDA;
    survivor.estimates = survivor.grid_ndims = 1;
    return run_all(survivor_find(works, argv[1]), argv[3], atoi(argv[4]), argv[5]);
}
