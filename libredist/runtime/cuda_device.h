/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files about CUDA only. */
#ifndef REDIST__CUDA_DEVICE_H
#define REDIST__CUDA_DEVICE_H

#include "../geometry/number.h"
#include "redist_place.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { REDIST__CUDA_LOOPS = 16 };

/* One box for a kernel: units of `width` bytes, `run` of them contiguous, and loops around that, innermost first. */
struct redist__cuda_part {
    const char *source;
    char *destination;
    uint64_t units; /* in all; 0 = nothing to copy */
    uint64_t run, run_inverse;
    int32_t width, nloops;
    int32_t adds,
        aligned; /* enum redist__number, whose units these are then; whether all are aligned */
    uint64_t count[REDIST__CUDA_LOOPS], count_inverse[REDIST__CUDA_LOOPS];
    int64_t source_stride[REDIST__CUDA_LOOPS], destination_stride[REDIST__CUDA_LOOPS];
};

/* Describes a copy, in units of at most `most_width` bytes (16). */
struct redist__copy;
void redist__cuda_describe(const struct redist__copy *copy, const void *source, void *destination,
                           int most_width, struct redist__cuda_part *part);

/* Copies up to REDIST__CUDA_PARTS boxes by one kernel, whose arguments they are: 4 KB hold so many; or adds boxes,
 * described with `adds`, to different elements. */
enum { REDIST__CUDA_PARTS = 7 };
cudaError_t redist__cuda_copy_parts(const struct redist__cuda_part parts[], int count,
                                    cudaStream_t stream);
cudaError_t redist__cuda_add_parts(const struct redist__cuda_part parts[], int count,
                                   cudaStream_t stream);

/* Narrows such boxes into a format, or widens them, and adds those described with `adds`. Units are one number or two;
 * `aligned` is also about the end in the format, which is contiguous. */
cudaError_t redist__cuda_format_parts(const struct redist__format *format, int widens,
                                      const struct redist__cuda_part parts[], int count,
                                      cudaStream_t stream);

/* Copies one box. */
cudaError_t redist__cuda_copy_part(const struct redist__cuda_part *part, cudaStream_t stream);

/* Raises a word by a kernel of one thread; as `raise` of struct redist__space. */
cudaError_t redist__cuda_raise(uint64_t *word, const uint64_t *to, cudaStream_t stream);

/* REDIST_OK, or a code and a message that names `what`; the error is cleared. */
int redist__cuda_check(cudaError_t error, const char *what);

/* Makes a call, unless the thread is in the place of a destroyed context; as redist__cuda_check. */
#define REDIST__CHECK_CUDA(call)                                                                   \
    (redist_place_is_gone() ? redist__cuda_refuse(#call) : redist__cuda_check(call, #call))
int redist__cuda_refuse(const char *what);

/* Streams of the library on the current device: a shared one, and the caller's own with a CUDA priority. */
void *redist__cuda_stream(int index);
int redist__cuda_stream_create(int priority, void **stream);
void redist__cuda_stream_destroy(void *stream);

/* As `drain` of struct redist__space. */
void redist__cuda_drain(void);

/* As those of struct redist__space (cuda_place.c). */
int redist__cuda_find_place(redist_place *place);
int redist__cuda_enter(const redist_place *place, redist_visit *visit);
void redist__cuda_leave(const redist_visit *visit);
int redist__cuda_check_stream(const char *function, const char *name, void *stream);
enum redist_capture redist__cuda_find_capture(void *stream);

/* Attributes of an address (cuda_device.c). */
struct redist__shared_memory;
int redist__cuda_is_device(const void *address);
int redist__cuda_find(const void *address,
                      struct redist__shared_memory *memory); /* 0 = not found */
/* Returns whether an address is of a device, and finds which; -1 = managed memory, of all devices. */
int redist__cuda_device_of(const void *address, int *device);
cudaMemPool_t redist__cuda_pool(const void *address); /* its pool, or NULL */
int redist__cuda_is_buffer(const void *address, uint64_t buffer);

/* Finds a function of the loaded driver; 0 = missing. */
int redist__cuda_function(const char *name, void *function);

#ifdef __cplusplus
}
#endif

#endif
