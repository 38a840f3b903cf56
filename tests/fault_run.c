/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI is called here by its PMPI names, so that nothing of it is counted. */
#include "fault_run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"

enum { MOST_PRINTED = 30, CASE_SECONDS = 30 };

/* A call that is to fail on one rank. */
struct injection {
    enum fault fault;
    int k, guilty;
};

static double time_ends;
static int nnoted, ncases, nprinted, nstruck[FAULTS];
static char first_note[2 * FAULT_TEXT_BYTES];

/* ---------------------------------------------------------------- time, and what is found */

/* A test of faults takes longer than other loops: there are many kinds of plans. */
static double seconds(void) {
    const char *text = getenv("REDIST_TEST_SECONDS");
    return 25.0 * (text != NULL ? atof(text) : 0.3);
}

int fault_tries_all(void) {
    return seconds() >= 100.0;
}

void fault_begin(double share) {
    time_ends = MPI_Wtime() + share * seconds();
    nnoted = ncases = 0;
    memset(nstruck, 0, sizeof nstruck);
    harness_case_limit(CASE_SECONDS);
}

int fault_time_is_up(void) {
    int is_up = MPI_Wtime() > time_ends;
    PMPI_Bcast(&is_up, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_up;
}

void fault_note(const char *format, ...) {
    char text[FAULT_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (nnoted++ == 0)
        snprintf(first_note, sizeof first_note, "%.500s: %s", harness_current_case(), text);
    if (nprinted++ < MOST_PRINTED) {
        printf("rank %d: %s: %s\n", harness_rank, harness_current_case(), text);
        fflush(stdout);
    }
}

static void print_faults(void) {
    printf("%d faults tried", ncases);
    for (int fault = FAULT_CALL; fault < FAULT_DEATH; fault++)
        printf(", %d of %s", nstruck[fault], faults_name((enum fault)fault));
    printf("\n");
}

void fault_end(void) {
    harness_case("the faults of this test");
    check_all(nnoted == 0, "%d times in %d faults; the first: %s", nnoted, ncases, first_note);
    if (ncases == 0)
        harness_skip(harness_nranks == 1 ? "one rank calls nothing that can fail"
                                         : "the time was over before the first fault");
    if (harness_rank == 0 && getenv("REDIST_TEST_TIMES") != NULL)
        print_faults();
}

/* ---------------------------------------------------------------- one fault */

static int largest(int here) {
    int everywhere;
    PMPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return everywhere;
}

static void arm(const struct injection *injection) {
    int here = harness_rank == injection->guilty;
    faults_arm(here ? injection->fault : FAULT_NONE, injection->k);
}

static void name_case(const char *name, const char *when, const struct injection *injection) {
    harness_case("%s: %s, %s %d of rank %d fails", name, when, faults_name(injection->fault),
                 injection->k, injection->guilty);
    ncases++;
}

/* What is there at the beginning, to be there at the end. */
struct inventory {
    struct counters counters;
    int mappings, on_device, requests;
};

static struct inventory take_inventory(void) {
    return (struct inventory){counters, faults_mappings(), faults_device_taken(),
                              faults_active_requests()};
}

static void note_loss(const char *what, long before, long now) {
    if (now != before)
        fault_note("%ld %s left", now - before, what);
}

/* Notices that a plan is over may come when nobody has it any more: the library takes them when it waits again. */
static void take_notices(MPI_Comm comm) {
    enum { NOTICE_TAG = 1, NUMBERS = 2 };
    uint64_t notice[NUMBERS];
    for (int flag = 1; flag;) {
        PMPI_Iprobe(MPI_ANY_SOURCE, NOTICE_TAG, comm, &flag, MPI_STATUS_IGNORE);
        if (flag)
            PMPI_Recv(notice, NUMBERS, MPI_UINT64_T, MPI_ANY_SOURCE, NOTICE_TAG, comm,
                      MPI_STATUS_IGNORE);
    }
}

static void check_inventory(const struct inventory *before, const fault_subject *subject) {
    int flag = 0;
    MPI_Status status;
    note_loss("blocks of memory", before->counters.memory, counters.memory);
    note_loss("communicators", before->counters.comms, counters.comms);
    note_loss("datatypes", before->counters.types, counters.types);
    note_loss("mappings", before->mappings, faults_mappings());
    note_loss("things of the device", before->on_device, faults_device_taken());
    note_loss("requests", before->requests, faults_active_requests());
    PMPI_Barrier(MPI_COMM_WORLD);
    if (subject->messages != MPI_COMM_NULL) {
        take_notices(subject->messages);
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, subject->messages, &flag, &status);
    }
    PMPI_Barrier(MPI_COMM_WORLD); /* others go on to their next messages now */
    if (flag)
        fault_note("a message of rank %d with tag %d was never received", status.MPI_SOURCE,
                   status.MPI_TAG);
}

/* A plan without faults works; returns whether it could be made. */
static int check_healthy(const fault_subject *subject, const char *what) {
    char wrong[FAULT_TEXT_BYTES];
    int code = subject->plan(subject->data);
    if (largest(code) != REDIST_OK) {
        fault_note("%s: plan: %s", what, redist_error_message());
        if (code == REDIST_OK)
            subject->release(subject->data);
        return 0;
    }
    for (int execution = 0; execution < 2; execution++) {
        code = subject->execute(subject->data, execution, wrong);
        if (code != REDIST_OK || wrong[0] != '\0')
            fault_note("%s, execution %d: %s", what, execution,
                       code == REDIST_OK ? wrong : redist_error_message());
    }
    code = subject->release(subject->data);
    if (code != REDIST_OK)
        fault_note("%s, free: %s", what, redist_error_message());
    return 1;
}

/* What an execution said on this rank, and whether that was true. */
static int execute(const fault_subject *subject, int execution) {
    char wrong[FAULT_TEXT_BYTES];
    int code = subject->execute(subject->data, execution, wrong);
    if (code == REDIST_OK && wrong[0] != '\0')
        fault_note("execution %d is OK with %s (%s failed)", execution, wrong,
                   faults_struck() != NULL ? faults_struck() : "nothing here");
    return code;
}

/* All ranks have learnt of a failure after two executions, and there is none without a fault. */
static void check_codes(const fault_subject *subject, const int codes[2], int struck) {
    int failed = largest(codes[0] != REDIST_OK), failed_later = largest(codes[1] != REDIST_OK);
    int has_failed = codes[0] != REDIST_OK || codes[1] != REDIST_OK;
    if (failed && !has_failed && subject->spreads)
        fault_note("both executions are OK here, but not on all ranks");
    if (!failed && failed_later)
        fault_note("only the second execution failed: %s", redist_error_message());
    if (!struck && has_failed)
        fault_note("an error without a fault: %s", redist_error_message());
}

/* Nonzero if the call that was to fail was made. */
static int count_struck(const struct injection *injection, int struck) {
    struck = largest(struck);
    nstruck[injection->fault] += struck;
    return struck;
}

static void try_execution(const fault_subject *subject, const char *name,
                          const struct injection *injection) {
    int codes[2];
    name_case(name, "execution", injection);
    struct inventory before = take_inventory();
    if (largest(subject->plan(subject->data)) != REDIST_OK) {
        fault_note("plan: %s", redist_error_message());
        return;
    }
    arm(injection);
    codes[0] = execute(subject, 0);
    faults_disarm();
    int struck = faults_struck() != NULL;
    if (random_chance(50))
        PMPI_Barrier(MPI_COMM_WORLD);
    codes[1] = execute(subject, 1);
    check_codes(subject, codes, count_struck(injection, struck));
    subject->release(subject->data);
    check_healthy(subject, "the plan after it");
    check_inventory(&before, subject);
}

/* ---------------------------------------------------------------- all faults of a subject */

typedef void try_one(const fault_subject *subject, const char *name,
                     const struct injection *injection);

/* All of `n` calls on one rank, or one of them. */
static void try_each(const fault_subject *subject, const char *name, struct injection injection,
                     int n, try_one *run) {
    for (int k = 1; k <= n && !fault_time_is_up(); k++) {
        injection.k = fault_tries_all() ? k : random_between(1, n);
        run(subject, name, &injection);
        if (!fault_tries_all())
            return;
    }
}

/* The first and the last rank, and all kinds of faults. */
static void try_counted(const fault_subject *subject, const char *name, const int counted[FAULTS],
                        try_one *run) {
    for (int i = 0; i < (harness_nranks > 1 ? 2 : 1); i++) {
        int guilty = i == 0 ? 0 : harness_nranks - 1;
        for (int fault = FAULT_CALL; fault < FAULT_DEATH; fault++) {
            int n = counted[fault];
            PMPI_Bcast(&n, 1, MPI_INT, guilty, MPI_COMM_WORLD);
            n = fault == FAULT_POLL && n > 3 ? 3 : n;
            try_each(subject, name, (struct injection){(enum fault)fault, 0, guilty}, n, run);
        }
    }
}

static void read_counts(int counted[FAULTS]) {
    for (int fault = 0; fault < FAULTS; fault++)
        counted[fault] = faults_count((enum fault)fault);
}

void fault_try_executions(const fault_subject *subject, const char *name) {
    char wrong[FAULT_TEXT_BYTES];
    int counted[FAULTS];
    harness_case("%s: no fault", name);
    if (!check_healthy(subject, "without a fault"))
        return;
    check_ok(subject->plan(subject->data));
    faults_arm(FAULT_NONE, 0);
    int code = subject->execute(subject->data, 0, wrong);
    faults_disarm();
    read_counts(counted);
    check_ok(code);
    check_ok(subject->release(subject->data));
    try_counted(subject, name, counted, try_execution);
}

/* ---------------------------------------------------------------- faults in planning */

/* The same code on all ranks; a plan, if there is one, works. */
static void try_plan(const fault_subject *subject, const char *name,
                     const struct injection *injection) {
    name_case(name, "plan", injection);
    struct inventory before = take_inventory();
    arm(injection);
    int code = subject->plan(subject->data);
    faults_disarm();
    count_struck(injection, faults_struck() != NULL);
    int highest = largest(code);
    if (code != highest)
        fault_note("%s here, %s elsewhere", redist_error_name(code), redist_error_name(highest));
    for (int i = 0; i < 2 && highest == REDIST_OK; i++)
        if (execute(subject, i) != REDIST_OK)
            fault_note("execution %d: %s", i, redist_error_message());
    if (code == REDIST_OK)
        subject->release(subject->data);
    check_healthy(subject, "the plan after it");
    check_inventory(&before, subject);
}

static void try_release(const fault_subject *subject, const char *name,
                        const struct injection *injection) {
    name_case(name, "free", injection);
    struct inventory before = take_inventory();
    if (largest(subject->plan(subject->data)) != REDIST_OK)
        return;
    arm(injection);
    subject->release(subject->data);
    faults_disarm();
    count_struck(injection, faults_struck() != NULL);
    check_healthy(subject, "the plan after it");
    check_inventory(&before, subject);
}

void fault_try_allocations(const fault_subject *subject, const char *name) {
    int counted[FAULTS], only[FAULTS] = {0};
    faults_arm(FAULT_NONE, 0);
    int code = subject->plan(subject->data);
    faults_disarm();
    read_counts(counted);
    check_ok(code);
    check_ok(subject->release(subject->data));
    only[FAULT_MEMORY] = counted[FAULT_MEMORY];
    try_counted(subject, name, only, try_plan);
}

void fault_try_planning(const fault_subject *subject, const char *name) {
    int counted[FAULTS], counted_free[FAULTS];
    harness_case("%s: no fault", name);
    if (!check_healthy(subject, "without a fault"))
        return;
    faults_arm(FAULT_NONE, 0);
    int code = subject->plan(subject->data);
    faults_disarm();
    read_counts(counted);
    check_ok(code);
    faults_arm(FAULT_NONE, 0);
    code = subject->release(subject->data);
    faults_disarm();
    read_counts(counted_free);
    check_ok(code);
    counted[FAULT_MEMORY] = counted_free[FAULT_MEMORY] = 0; /* test_*_failures try these */
    try_counted(subject, name, counted, try_plan);
    try_counted(subject, name, counted_free, try_release);
}
