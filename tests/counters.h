/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Counts what the libraries take and give back, and lets a chosen taking fail: their own memory
 * through redist_set_allocator, and MPI objects through MPI's profiling interface (this file defines
 * MPI_Comm_dup and its like, which count and call PMPI_Comm_dup).
 */
#ifndef TESTS_COUNTERS_H
#define TESTS_COUNTERS_H

#include "redist.h"

/** What is taken and not yet given back on this rank, and the most communicators at any time. */
struct counters {
    long memory, comms, types;
    long mappings; /* of shared memory: only in what counters_taken returns */
    long most_comms;
};

extern struct counters counters;

/** The counters now, with the mappings that the system knows of. */
struct counters counters_taken(void);

/** Puts the counting allocator in place; call it before anything else of the libraries. */
void counters_begin(void);

/** Puts the usual allocator back in place. */
void counters_end(void);

/** Makes the n-th allocation from now on fail, and no other; 0 = none. */
void counters_fail_memory(int n);

/** Nonzero if that allocation has been asked for. */
int counters_memory_failed(void);

/** How often memory was asked for so far. */
long counters_memory_asked(void);

/** The same as counters_fail_memory for the n-th MPI datatype. */
void counters_fail_type(int n);
int counters_type_failed(void);

/** The same for the n-th call of those that make communicators or shared memory, or bring ranks together
 * (MPI_Allreduce, MPI_Reduce, MPI_Bcast, MPI_Allgather): it returns an error and does nothing. */
void counters_fail_call(int n);
int counters_call_failed(void);

/** Whether the call that is being made is the one; for those who wrap other MPI calls. */
int counters_call_fails(void);

/** Checks on all ranks that everything taken since `before` was given back. */
void counters_check(const struct counters *before, const char *what);

#endif
