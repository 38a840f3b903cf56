/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * A device whose streams a test fills: those of CUDA (gpu/stream_device.c), or of a stand-in that a copy of the
 * libraries is built with (stand_in_streams.c): threads of the host that do the work of a stream in order and beside
 * each other, and words in shared memory that ranks signal with.
 */
#ifndef TESTS_STREAM_DEVICE_H
#define TESTS_STREAM_DEVICE_H

#include "arrays.h"

/** Nonzero if each rank has a device of its own, which becomes the current one. Collective over MPI_COMM_WORLD. */
int stream_device_begin(void);

/** Nonzero if MPI takes addresses of the device. */
int stream_device_is_for_mpi(void);

/** Memory of redist_alloc_in, and memory that peers cannot map. */
const test_device *stream_device_memory(void);

/** Of the current device; the second one is never that of a thread, which is of all devices, and with `waits` one that
 * the default stream waits for. */
void *stream_device_create(void);
void *stream_device_create_own(int waits);
void stream_device_destroy(void *stream);
void stream_device_wait(void *stream);

/** Work of the user: multiplies `count` doubles. */
void stream_device_scale(double *array, size_t count, double factor, void *stream);

/** Between these two, what is enqueued in a stream, and in those that follow it, becomes a graph and is not done. */
void stream_device_capture(void *stream);
void *stream_device_captured(void *stream);

void stream_device_replay(void *graph, void *stream);
void stream_device_free(void *graph);

/** In which of CUDA's modes a stream is captured: which calls of which threads spoil the capture. */
enum stream_capture { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED, CAPTURES };

/** Captures a stream that the libraries do not know, or are not to touch; nonzero at the end if nothing spoilt it. */
void stream_device_watch(void *stream, enum stream_capture mode);
int stream_device_watched(void *stream);

/** Devices that this rank sees; the one that is current, where streams and memory are made. */
int stream_device_count(void);
void stream_device_use(int device);
int stream_device_current(void);

/** Resets the current device: its streams, its memory and all else there are gone. */
void stream_device_reset(void);

/** How many graphs have been replayed so far, by the library too; -1 = not known. */
int stream_device_replays(void);

/** How many communicators of NCCL this process has made so far, and how many of them are left; -1 = not known. */
int stream_device_comms(int *left);

/** Bytes that copies of the libraries have moved so far, beside transforms and messages of NCCL; -1 = not known. */
long stream_device_copied(void);

/** How many sweeps of the libraries have scaled an array so far, beside transforms that do; -1 = not known. */
long stream_device_scalings(void);

/** Lets this rank's next group of NCCL's messages fail; returns 0 if it cannot. */
int stream_device_refuse(void);

/** Whether NCCL hides aborts of communicators from their other ranks, as it may within a machine; returns 0 if it
 * cannot act so. */
int stream_device_hide_aborts(int hides);

/** Lets the transforms of the serial library after so many others fail on this rank, -1 = none; returns 0 if it
 * cannot. */
int stream_device_fail_transform(int transforms);

/** Lets captures fail from their call number `calls` on: 0 = the beginning, behind the last one at the end; -1 = not
 * at all. Returns 0 if it cannot. */
int stream_device_spoil(int calls);

/** Work of the user that fails: from then on the device does nothing any more, and each call says so. */
void stream_device_fault(void *stream);

/** Whether the ranks act as if they shared a device; returns 0 if they cannot. */
int stream_device_share(int shares);

/** Whether this rank's device tells its peers nothing; returns 0 if it cannot act so. */
int stream_device_hang(int hangs);

/** Ends a test where ranks share devices, or have none. */
#define NEEDS_STREAM_DEVICE()                                                                      \
    do {                                                                                           \
        if (!stream_device_begin())                                                                \
            skip_test("fewer CUDA devices than ranks");                                            \
        arrays_use(stream_device_memory());                                                        \
    } while (0)

#endif
