/* SPDX-License-Identifier: BSD-3-Clause */
/** Common part of all public headers: version, extents, memory spaces, directions, errors; without MPI. Included by
 * redist.h and fftnd.h. */
#ifndef REDIST_BASE_H
#define REDIST_BASE_H

#include <stdint.h>

/* MPI's own C++ functions, dropped by the standard in 2012, need another library */
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define REDIST_API                       __attribute__((visibility("default")))
#define REDIST_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))
#else
#define REDIST_API
#define REDIST_PRINTF(text_index, first)
#endif

/** Begins a value of a structure, with which a variable is initialised or assigned. */
#ifdef __cplusplus
#define REDIST_VALUE(type) type
#else
#define REDIST_VALUE(type) (type)
#endif

/** The version of this header. */
#define REDIST_VERSION_MAJOR 0
#define REDIST_VERSION_MINOR 3
#define REDIST_VERSION_PATCH 0

/** Returns the version of the loaded library; arguments may be NULL. Not collective. */
REDIST_API void redist_version(int *major, int *minor, int *patch);

/** Extents, counts and indices of array axes, in elements. */
typedef int64_t redist_index;

/** The largest number of array axes, and of process grid dimensions. */
#define REDIST_MAX_NDIMS 16

/** Kinds of memory of arrays. */
enum redist_space {
    /** by the addresses of the arrays; host memory without any */
    REDIST_SPACE_AUTO = 0,
    REDIST_SPACE_HOST = 1, /**< host memory */
    REDIST_SPACE_CUDA = 2  /**< memory of the current CUDA device */
};

/** Directions of a plan. */
enum redist_direction {
    REDIST_FORWARD = 0, /**< from array A to array B */
    REDIST_BACKWARD = 1 /**< from array B to array A */
};

/** Codes that functions return: name, number and sentence. The numbers never change. */
#define REDIST_ERRORS(X)                                                                           \
    X(OK, 0, "no error")                                                                           \
    X(ERR_ARGUMENT, 1, "an argument has a value that is not allowed")                              \
    X(ERR_NULL, 2, "a pointer that must not be null is null")                                      \
    X(ERR_OVERLAP, 3, "two arrays or boxes overlap")                                               \
    X(ERR_SIZE, 4, "an extent is negative or does not fit the other extents")                      \
    X(ERR_AXIS, 5, "an axis is out of range or given twice")                                       \
    X(ERR_COMM, 6, "the communicator is null or of the wrong kind")                                \
    X(ERR_GRID, 7, "the process grid does not fit the communicator or the array")                  \
    X(ERR_DATATYPE, 8, "the datatype is null, not committed, or of size zero")                     \
    X(ERR_DISAGREE, 9, "ranks disagree on an argument that must be the same on all")               \
    X(ERR_LIMIT, 10, "a total is larger than this method or this machine can carry")               \
    X(ERR_METHOD, 11, "the method does not exist or does not apply here")                          \
    X(ERR_STATE, 12, "called in the wrong state: before MPI_Init, after free, or out of order")    \
    X(ERR_MEMORY, 13, "out of memory")                                                             \
    X(ERR_MPI, 14, "an MPI call failed")                                                           \
    X(ERR_FILE, 15, "a file could not be read or written")                                         \
    X(ERR_SERIAL, 16, "the serial transform library failed")                                       \
    X(ERR_DEVICE, 17, "a call of the device's library failed")                                     \
    X(ERR_PEER, 18, "an execution failed on another rank, or its process is gone")

enum redist_error {
#define REDIST_ERROR_CODE(name, number, sentence) REDIST_##name = number,
    REDIST_ERRORS(REDIST_ERROR_CODE)
#undef REDIST_ERROR_CODE
};

/** Returns the name of a code, such as "REDIST_ERR_AXIS"; "unknown" for other values. Not collective. */
REDIST_API const char *redist_error_name(int code);

/** Returns the sentence that explains a code. Not collective. */
REDIST_API const char *redist_error_string(int code);

/**
 * Returns the message of this thread's last failed call: function, argument, value and rank. The library owns the
 * string; the next failing call of this thread overwrites it. Not collective.
 */
REDIST_API const char *redist_error_message(void);

/**
 * Makes the next collective call of this thread fail on all ranks with REDIST_ERR_ARGUMENT and the caller's text.
 * Wrappers and bindings call it for a wrong argument that they cannot pass on, and then the function itself, with null
 * pointers: no rank waits for this one, no array is changed, and every rank gets the reason. A function that returns
 * without an agreement (options.skip_agreement, an invalid handle, one rank) leaves the refusal to the next call:
 * withdraw it after the call.
 *   text  the error, copied, at most 400 characters; "(rank N)" is appended. NULL = withdraw the refusal
 * Not collective.
 */
REDIST_API void redist_refuse(const char *text);

#ifdef __cplusplus
}
#endif

#endif
