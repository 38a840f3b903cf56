/* SPDX-License-Identifier: BSD-3-Clause */
/** One asynchronous plan of an exchange, with its arrays on a device and its stream. */
#ifndef TESTS_STREAM_JOB_H
#define TESTS_STREAM_JOB_H

#include "exchanges.h"
#include "stream_device.h"

struct job {
    const exchange *given;
    test_array arrays[2];
    redist_options options;
    redist_plan *plan;
    void *stream;
};

extern const enum test_memory both_shared[2];

/** Describes a small exchange between axes 0 and 1 among all ranks. */
exchange small_exchange(const test_element *element);

/** Makes arrays and options, in a stream of the job's own or in the default one. Collective. */
struct job begin_job(const exchange *given, const char *method);

/** Makes the plan with the options that the job has now; returns the library's code. Collective. */
int plan_job(struct job *job);

/** Frees all that the job has. Collective. */
void end_job(struct job *job);

/** Returns the address of an array. */
void *address(const struct job *job, int side);

/** Waits for the stream and compares the destination, in the default stream. Collective. */
void check_result(const struct job *job, int direction, uint64_t salt);

/** Returns nonzero, and prints how many, if communicators of NCCL are left. After MPI_Finalize. */
int comms_are_left(void);

#endif
