/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The frame of every test program: Check without forking, on all ranks of MPI_COMM_WORLD.
 *
 * A test is written with Check's START_TEST/END_TEST and runs on all ranks at once. It must fail on
 * all ranks together, or the others would wait in a collective call for ever; so tests use
 * check_all and check_code below, never ck_assert. Both are collective over MPI_COMM_WORLD: call
 * them on every rank, the same number of times.
 *
 *     START_TEST(adds)
 *     {
 *         for (int i = 0; harness_another(i, 5); i++) {
 *             int n = random_between(0, 9);              (the same on all ranks)
 *             harness_case("n = %d", n);
 *             check_all(add(n, 1) == n + 1, "add(%d, 1) is %d", n, add(n, 1));
 *         }
 *     }
 *     END_TEST
 *
 *     int main(int argc, char **argv)
 *     {
 *         const TTest *const tests[] = {adds, NULL};
 *         return harness_run(argc, argv, "test_add", tests);
 *     }
 *
 * Environment:
 *   REDIST_TEST_SEED   seed of the random cases (else from the clock); printed in the last line
 *   REDIST_TEST_SECONDS  seconds that each loop over random cases goes on (0.3)
 *   REDIST_TEST_SCALE  factor on the number of repetitions that are counted, such as 0.1 or 10 (1)
 *   REDIST_TEST_LIMIT  seconds after which every rank says where it is and gives up (240)
 *   REDIST_TEST_CASE_LIMIT  seconds instead of those of harness_case_limit
 *   REDIST_TEST_TIMES  if set, the time of each test is printed
 *   CK_RUN_CASE        name of the only test to run
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <check.h>
#include <mpi.h>

#include "random.h"
#include "redist.h"

/** Number of ranks, and this rank, in MPI_COMM_WORLD. */
extern int harness_nranks;
extern int harness_rank;

/**
 * Initialises MPI unless the program has done so, runs the tests (a list that ends with NULL), prints one line,
 * finalises MPI. Returns the exit code of the program: 0 if no test failed.
 */
int harness_run(int argc, char **argv, const char *program, const TTest *const tests[]);

/** Says what the test is doing now; printed when a check fails or the time is up. */
void harness_case(const char *format, ...) REDIST_PRINTF(1, 2);

/** What harness_case said last. */
const char *harness_current_case(void);

/**
 * Gives each of the cases that follow at most so many seconds, from harness_case on, within the limit of the
 * program; 0 = no more than that limit.
 */
void harness_case_limit(int seconds);

/**
 * Nonzero if a loop over random cases goes on with case i, counted from 0: for REDIST_TEST_SECONDS,
 * and at least for harness_cases(least) cases. Collective over MPI_COMM_WORLD.
 */
int harness_another(int i, int least);

/**
 * Whether to run a named case, of the tests that have hundreds of them. With REDIST_TEST_SHARE (0 to 1) that
 * share of them runs, drawn anew in each run, the same on all ranks. Random cases always run.
 */
int harness_draws_case(void);

/** Duplicates MPI_COMM_WORLD with nodes of so many ranks (REDIST_NODE_SIZE), 0 = all on one, until harness_end_nodes
 * frees it: plans look at the variable, too. */
MPI_Comm harness_begin_nodes(int ranks);
void harness_end_nodes(MPI_Comm *comm);

/** How many of `count` repetitions to run under REDIST_TEST_SCALE; at least 1. */
int harness_cases(int count);

/**
 * Fails the test on all ranks, with the message of the lowest rank where `condition` is false.
 * The message is formatted only there. Collective over MPI_COMM_WORLD.
 */
#define check_all(condition, ...)                                                                  \
    do {                                                                                           \
        int check_holds = (condition) ? 1 : 0;                                                     \
        harness_agree(check_holds, __FILE__, __LINE__,                                             \
                      check_holds ? "" : harness_format(__VA_ARGS__));                             \
    } while (0)

/** Checks on all ranks that a call of the libraries returned `expected` (REDIST_OK or a code). */
#define check_code(call, expected) harness_check_code(call, expected, __FILE__, __LINE__, #call)

/** Checks on all ranks that a call of the libraries returned REDIST_OK. */
#define check_ok(call) check_code(call, REDIST_OK)

/** Ends the test here on all ranks, counted and named as skipped, for a reason. */
#define skip_test(...)                                                                             \
    do {                                                                                           \
        harness_skip(harness_format(__VA_ARGS__));                                                 \
        return;                                                                                    \
    } while (0)

/* behind the macros */
void harness_agree(int holds, const char *file, int line, const char *message);
void harness_check_code(int code, int expected, const char *file, int line, const char *call);
void harness_skip(const char *reason);
const char *harness_format(const char *format, ...) REDIST_PRINTF(1, 2);

#endif
