/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * A valid call of redist_plan_exchange or redist_exchange, which a test then spoils in one argument,
 * and the checks that follow. All functions but call_is_culprit are collective.
 */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include "exchanges.h"

struct call {
    MPI_Comm comm;
    MPI_Datatype datatype;
    int ndims, axis_a, axis_b;
    redist_index sizes_a[REDIST_MAX_NDIMS + 2], sizes_b[REDIST_MAX_NDIMS + 2];
    void *a, *b;
    redist_options options;
    int null_sizes_a, null_sizes_b, null_plan;
};

/** Which function is called. */
enum entry { PLAN_EXCHANGE, EXCHANGE, ENTRIES };

/** Where the fault is: on all ranks, on rank 0, on the last rank. */
enum place { EVERYWHERE, FIRST, LAST, PLACES };

/** Nonzero if the fault is on this rank. */
int call_is_culprit(enum place place);

/** The exchange behind the valid call, axis 0 to axis 1 of 9x10x4 doubles, and its arrays. */
extern exchange call_exchange;
extern test_array call_arrays[2];

/** Sets up and fills the arrays. */
void call_begin(void);

/** The valid call. */
struct call call_valid(void);

/** Makes a call, and frees the plan if there is one. Returns the library's code. */
int call_make(enum entry entry, const struct call *call);

/** Checks that both arrays are still as call_begin filled them. */
void call_check_untouched(void);

/** Checks that the message of the failed call has the word in it; NULL: any message will do. */
void call_check_message(const char *word);

/** Checks that the message names the rank at fault. */
void call_check_rank(enum place place);

#endif
