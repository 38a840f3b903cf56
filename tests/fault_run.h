/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * What a failure in an execution may and may not do, tried on any kind of plan: a fresh plan, an execution
 * in which the k-th call fails on one rank, another execution without a fault, and then a new plan.
 *
 * Each execution on each rank ends with the right result or with an error; if there was an error on any
 * rank, then every rank has seen one after the second execution; the plan can be freed, nothing is lost,
 * and the new plan works. What is found wrong is noted and printed, and the tests go on.
 */
#ifndef TESTS_FAULT_RUN_H
#define TESTS_FAULT_RUN_H

#include "faults.h"
#include "harness.h"

enum { FAULT_TEXT_BYTES = 512 };

/** A kind of plan to try, with its arrays. The functions are collective over MPI_COMM_WORLD. */
typedef struct fault_subject {
    void *data;
    int spreads; /**< nonzero: each rank exchanges something with each other one, so that all of them learn
                      of a failure */
    /** Makes a plan. */
    int (*plan)(void *data);
    /** Execution 0 or 1 of the plan: fills the arrays, executes, and looks at the result. Calls MPI only
     * through the libraries. Returns the library's code; `wrong` is "" if the result is right. */
    int (*execute)(void *data, int execution, char wrong[FAULT_TEXT_BYTES]);
    /** Frees the plan. */
    int (*release)(void *data);
    MPI_Comm messages; /**< where no message may be left, or MPI_COMM_NULL */
} fault_subject;

/**
 * Begins a test that takes at most `share` of the time that faults get in a program, which is 25 times
 * REDIST_TEST_SECONDS. Some faults are drawn for each plan, or, if that is 4 or more, all are tried.
 */
void fault_begin(double share);

/** Nonzero on all ranks when that time is over. */
int fault_time_is_up(void);

/** Nonzero if all faults are to be tried, not some of them. */
int fault_tries_all(void);

/** Lets calls in executions fail; `name` says what is tried. Returns after the case in which time is up. */
void fault_try_executions(const fault_subject *subject, const char *name);

/** Lets MPI calls fail while a plan is made, and while it is freed. */
void fault_try_planning(const fault_subject *subject, const char *name);

/** Lets allocations of the libraries' own memory fail while a plan is made. */
void fault_try_allocations(const fault_subject *subject, const char *name);

/** Notes that something is wrong on this rank. Not collective. */
void fault_note(const char *format, ...) REDIST_PRINTF(1, 2);

/** Checks on all ranks that nothing wrong was noted since fault_begin, and that faults were tried. */
void fault_end(void);

#endif
