/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Cases of ghosts, carried out: plans by all methods, executions in both directions, and the whole local array compared
 * with what the global array says. In host memory, or on a device if the program is linked with one.
 */
#ifndef TESTS_HALO_RUN_H
#define TESTS_HALO_RUN_H

#include "halo_case.h"
#include "harness.h"
#include "needs_device.h"
#include "stream_device.h"

/* NULL unless the library has a device: CUDA's, or, in a copy, one that stands in for it. */
const test_device *stream_device_memory(void) __attribute__((weak));
int stream_device_begin(void) __attribute__((weak));
int stream_device_is_for_mpi(void) __attribute__((weak));
void *stream_device_create(void) __attribute__((weak));
void stream_device_destroy(void *stream) __attribute__((weak));
void stream_device_wait(void *stream) __attribute__((weak));
void stream_device_capture(void *stream) __attribute__((weak));
void *stream_device_captured(void *stream) __attribute__((weak));
void stream_device_replay(void *graph, void *stream) __attribute__((weak));
void stream_device_free(void *graph) __attribute__((weak));

/** Ends a test without a device of this rank alone. */
#define NEEDS_STREAMS()                                                                            \
    do {                                                                                           \
        if (arrays_device() == NULL)                                                               \
            skip_test("for a device");                                                             \
        if (!stream_device_begin())                                                                \
            skip_test("fewer devices than ranks");                                                 \
    } while (0)

/** The methods that the host need not wait for; "axes" only where there are corners along several axes. */
enum { ENQUEUING = 6 };
extern const char *const enqueuing[ENQUEUING];

/** The methods of all exchanges, and those of ghosts alone. */
int ghost_request_count(void);
const char *ghost_request_name(int index);

/** Describes a case and the way to carry it out to the harness. */
void say_case(const halo_case *given, const char *method, enum test_memory memory, int later);

/** Returns the options of a case. */
redist_options options_of(const halo_case *given, const char *method, enum redist_overlap overlap);

/** Makes a plan, whose array is given to it or, if `later`, to its executions; returns its code. Collective. */
int plan_of(const halo_case *given, MPI_Datatype type, const test_array *array, const char *method,
            enum redist_overlap overlap, int later, redist_plan **plan);

/** Executes a plan of plan_of, with the array on its device during that. Collective. */
void run_plan(const halo_case *given, redist_plan *plan, int direction, int later,
              const test_array *array);

/** Executes in both directions and compares the whole array. Collective. */
void check_plan(const halo_case *given, MPI_Datatype type, redist_plan *plan, int later,
                const test_array *array);

/** Gives the boxes of a case room, and tries all methods or those drawn, each with random memory. Collective. */
void try_methods(halo_case *given);

/** The array in host memory: itself, or the copy of one on a device; and the way between these two. */
char *on_host(const test_array *array);
void copy_to_device(const test_array *array);
void copy_from_device(const test_array *array);

/** Sets an element of the array `data` to what it is before an execution (a visitor). */
visitor set_element;

/** harness_run on the device that the program is linked with, if any. */
int halo_tests_run(int argc, char **argv, const char *program, const TTest *const tests[]);

#endif
