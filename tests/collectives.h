/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Counts the collective calls of this rank through MPI's profiling interface, and lets a chosen one report
 * an error after it has done its work.
 */
#ifndef TESTS_COLLECTIVES_H
#define TESTS_COLLECTIVES_H

/** Collective calls so far: barriers, broadcasts, reductions, all-to-alls, new communicators. */
extern long collectives;

/** The n-th call of MPI_Ialltoallw from now on fails, and does nothing; 0 = none. */
extern int collectives_until_error;

/** Nonzero: there is no shared memory; set it on all ranks. */
extern int collectives_no_memory;

#endif
