/* SPDX-License-Identifier: BSD-3-Clause */
/** Plans of all kinds on a device, with their arrays, for tests of which device is current meanwhile. */
#ifndef TESTS_DEVICE_JOB_H
#define TESTS_DEVICE_JOB_H

#include "fftnd.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "stream_device.h"

enum { SIZE_0 = 16, SIZE_1 = 12, SIZE_2 = 10, NUMBERS = 2 * SIZE_0 * SIZE_1 * SIZE_2 };
enum { BYTES = NUMBERS * (int)sizeof(double) };

enum work { EXCHANGE, TRANSFORM, OPERATOR, TILES, WORKS };
extern const char *const work_names[WORKS];

struct job {
    enum work work;
    const char *method;
    int asynchronous, device, user_workspace;
    void *stream;
    redist_plan *exchange;
    fftnd_plan *plan;
    fftnd_operator *op;
    double *arrays[2];
    size_t bytes[2];
};

/** Makes arrays and a stream on the device that is current. */
struct job begin_job(enum work work, int asynchronous);

/** Makes the plan of a job; returns the library's code. Collective. */
int make_plan(struct job *job);

/** Does both. Collective. */
struct job begin_planned(enum work work, int asynchronous);

/** Frees the plan; returns the library's code. Collective. */
int free_plan(struct job *job);

/** Frees arrays and stream. */
void end_job(struct job *job);

/** Frees the arrays of a job whose device was reset: what is left of it is on the host. */
void end_gone(struct job *job);

/** Allocates an array like those of a job on the current device; frees it. */
double *allocate_array(const struct job *job);
void release_array(const struct job *job, double *array);

/** Sets the shapes of both arrays of an exchange: all of axis 0, then of axis 1. */
void set_shapes(redist_index a[3], redist_index b[3]);

/** Executes there, or back, between the arrays of the job or others; returns the library's code. */
int run_job(const struct job *job, int back);
int run_job_on(const struct job *job, int back, double *from, double *to);

/** Returns what the plan's query does. */
int query_job(const struct job *job);

/** Overwrites array A. */
void poison(const struct job *job);

/** Checks array A, which there and back have made anew. Collective. */
void check_result(const struct job *job);

/** Goes there and back while another device is the current one, which it stays. Collective. */
void check_pair(const struct job *job, int current);

/** Calls `try` for all kinds of work on the device of this rank. */
void try_all(void (*try)(enum work work, int asynchronous));

#endif
