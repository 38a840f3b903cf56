/* SPDX-License-Identifier: BSD-3-Clause */
/* CUDA memory, its streams and events, and copies of boxes. */
#include "../comm/comm.h"
#include "cuda_device.h"
#include "shares.h"

#include <ctype.h>
#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Limits of the copy engines: a box with more copies is copied by a kernel; not between host and device with runs this
 * long, where a kernel is slower across the bus. */
enum { MOST_ENGINE_COPIES = 1024, LONG_RUN = 16 << 10 };

/* Largest unit that a thread of a kernel copies, in bytes. */
enum { MOST_WIDTH = 16 };

#define CHECK(call) REDIST__CHECK_CUDA(call)

static int check_call(int error, const char *what) {
    return redist__cuda_check((cudaError_t)error, what);
}

static const char *absent(void) {
    static _Thread_local char reason[160];
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess && count > 0)
        return NULL;
    (void)cudaGetLastError();
    (void)snprintf(reason, sizeof reason, "no usable device (the driver says: %s)",
                   error != cudaSuccess ? cudaGetErrorString(error) : "0 devices");
    return reason;
}

static int check_array(const char *function, const char *name, const void *array) {
    const redist_place *entered = redist_place_entered();
    int current = entered != NULL ? entered->device : 0, device = -1;
    if (!redist__cuda_device_of(array, &device))
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "%s = %p is not an address of CUDA memory", name, array);
    if (entered == NULL)
        REDIST_TRY(CHECK(cudaGetDevice(&current)));
    if (device < 0 || device == current)
        return REDIST_OK;
    return redist_fail_in(
        function, REDIST_ERR_ARGUMENT,
        "%s = %p is on device %d, but the plan's device is %d: the one that is current when the "
        "plan is made",
        name, array, device, current);
}

/* ---------------------------------------------------------------- memory */

static int find_free(size_t *bytes, unsigned long long *identity) {
    struct cudaDeviceProp properties;
    size_t all;
    int device = 0;
    REDIST_TRY(CHECK(cudaGetDevice(&device)));
    REDIST_TRY(CHECK(cudaGetDeviceProperties(&properties, device)));
    REDIST_TRY(CHECK(cudaMemGetInfo(bytes, &all)));
    memcpy(identity, properties.uuid.bytes, sizeof *identity);
    return REDIST_OK;
}

/* CUDA writes capital letters. */
static int find_address(int device, size_t bytes, char text[]) {
    if (device < 0 && CHECK(cudaGetDevice(&device)) != REDIST_OK)
        return 0;
    if (CHECK(cudaDeviceGetPCIBusId(text, (int)bytes, device)) != REDIST_OK)
        return 0;
    for (char *letter = text; *letter != '\0'; letter++)
        *letter = (char)tolower((unsigned char)*letter);
    return 1;
}

static int note_bytes(int code, const char *where, size_t bytes) {
    return code != REDIST_ERR_MEMORY
               ? code
               : redist__fail(code, "no memory %s for %zu bytes", where, bytes);
}

static int allocate(size_t bytes, void **memory) {
    *memory = NULL;
    return note_bytes(CHECK(cudaMalloc(memory, bytes != 0 ? bytes : 1)), "on the device", bytes);
}

static void release(void *memory) {
    if (memory == NULL)
        return;
    redist__cuda_drain();
    (void)CHECK(cudaFree(memory));
}

static int allocate_pinned(size_t bytes, void **memory) {
    *memory = NULL;
    return note_bytes(CHECK(cudaHostAlloc(memory, bytes != 0 ? bytes : 1, cudaHostAllocPortable)),
                      "that is pinned", bytes);
}

static void release_pinned(void *memory) {
    if (memory == NULL)
        return;
    redist__cuda_drain();
    (void)CHECK(cudaFreeHost(memory));
}

static int pin(void *array, size_t bytes) {
    return CHECK(cudaHostRegister(array, bytes, cudaHostRegisterPortable)) == REDIST_OK;
}

static void unpin(void *array) {
    redist__cuda_drain();
    (void)CHECK(cudaHostUnregister(array));
}

static int is_pinned_at(const void *address) {
    struct cudaPointerAttributes attributes;
    if (CHECK(cudaPointerGetAttributes(&attributes, address)) != REDIST_OK)
        return 0;
    return attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeManaged;
}

static int is_pinned(const void *array, size_t bytes) {
    return is_pinned_at(array) && is_pinned_at((const char *)array + bytes - 1);
}

static int clear(void *memory, size_t bytes) {
    cudaStream_t stream = redist__cuda_stream(0);
    REDIST_TRY(CHECK(cudaMemsetAsync(memory, 0, bytes, stream)));
    return CHECK(cudaStreamSynchronize(stream));
}

static int raise_word(uint64_t *word, const uint64_t *to, void *stream) {
    return CHECK(redist__cuda_raise(word, to, stream));
}

/* ---------------------------------------------------------------- streams and events */

static int stream_create(void **made) {
    return redist__cuda_stream_create(0, made);
}

/* Creates a stream of high priority: else a kernel of a single block waits for all blocks of earlier kernels. */
static int stream_create_urgent(void **made) {
    int least = 0, greatest = 0;
    *made = NULL;
    int code = CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    return code == REDIST_OK ? redist__cuda_stream_create(greatest, made) : code;
}

/* Ends a call in a stream: after a failure waits for pending work, unless the stream is captured. */
static int settle(int code, cudaStream_t in_stream) {
    if (code != REDIST_OK && !redist_place_is_gone() &&
        redist__cuda_find_capture(in_stream) == REDIST_NOT_CAPTURED) {
        (void)cudaStreamSynchronize(in_stream);
        (void)cudaGetLastError();
    }
    return code;
}

/* Reads an answer of CUDA, in which "not ready" is no error. */
static int take_answer(cudaError_t error, const char *what, int *yes) {
    *yes = error == cudaSuccess;
    if (error == cudaErrorNotReady) {
        (void)cudaGetLastError();
        return REDIST_OK;
    }
    return redist__cuda_check(error, what);
}

/* Queries a stream: an idle one needs no event, which would take longer. */
static int stream_is_idle(void *in_stream, int *idle) {
    if (redist_place_is_gone())
        return redist__cuda_refuse("cudaStreamQuery");
    return settle(take_answer(cudaStreamQuery(in_stream), "cudaStreamQuery", idle), in_stream);
}

/* Checks a stream, not a captured one, which has no work that could have failed: a query would end the capture, as
 * would one of the default stream that waits for it, or of any stream in global mode unless this thread is in relaxed
 * mode. */
static int stream_check(void *in_stream) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    int idle;
    cudaError_t error = cudaStreamIsCapturing(in_stream, &status);
    if (error == cudaSuccess && status != cudaStreamCaptureStatusNone)
        return REDIST_OK;
    if (error == cudaErrorStreamCaptureImplicit)
        error = cudaErrorNotReady;
    if (error == cudaSuccess)
        error = cudaThreadExchangeStreamCaptureMode(&mode);
    if (error == cudaSuccess) {
        error = cudaStreamQuery(in_stream);
        (void)cudaThreadExchangeStreamCaptureMode(&mode);
    }
    return take_answer(error, "work in options.stream", &idle);
}

/* Waits until a stream is idle, also after a failure, as far as the device allows. */
static int stream_wait(void *in_stream) {
    int code = CHECK(cudaStreamSynchronize(in_stream));
    if (code != REDIST_OK)
        redist__cuda_drain();
    return code;
}

static void host_waits(cudaEvent_t event) {
    if (redist_place_is_gone())
        return;
    (void)cudaEventSynchronize(event);
    (void)cudaGetLastError();
}

/* Makes a stream wait for an event. After a failure the host waits, else later work would not be ordered. */
static int stream_follow(void *in_stream, void *event) {
    int code = CHECK(cudaStreamWaitEvent(in_stream, event, 0));
    if (code != REDIST_OK)
        host_waits(event);
    return code;
}

static int event_create(void **event) {
    *event = NULL;
    return CHECK(cudaEventCreateWithFlags((cudaEvent_t *)event, cudaEventDisableTiming));
}

static void event_destroy(void *event) {
    if (event != NULL)
        (void)CHECK(cudaEventDestroy(event));
}

static int event_record(void *event, void *in_stream) {
    return settle(CHECK(cudaEventRecord(event, in_stream)), in_stream);
}

static int event_is_reached(void *event, int *reached) {
    if (redist_place_is_gone())
        return redist__cuda_refuse("cudaEventQuery");
    int code = take_answer(cudaEventQuery(event), "cudaEventQuery", reached);
    if (code != REDIST_OK)
        host_waits(event);
    return code;
}

static int event_wait(void *event) {
    return CHECK(cudaEventSynchronize(event));
}

/* ---------------------------------------------------------------- graphs */

/* Returns whether work of a stream can become a graph: not if the default stream waits for it, which would end a
 * capture, nor if the user captures it. */
static int stream_can_keep(void *in_stream) {
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned flags = 0;
    if (in_stream == NULL || in_stream == (void *)cudaStreamLegacy ||
        in_stream == (void *)cudaStreamPerThread)
        return 0;
    /* in this order: a query of its flags ends a stream's capture */
    return CHECK(cudaStreamIsCapturing(in_stream, &status)) == REDIST_OK &&
           status == cudaStreamCaptureStatusNone &&
           CHECK(cudaStreamGetFlags(in_stream, &flags)) == REDIST_OK &&
           (flags & cudaStreamNonBlocking) != 0;
}

/* Begins a capture in the mode that restricts other threads least. */
static int graph_begin(void *in_stream) {
    return CHECK(cudaStreamBeginCapture(in_stream, cudaStreamCaptureModeThreadLocal));
}

static int graph_end(void *in_stream, void **result) {
    cudaGraph_t graph = NULL;
    *result = NULL;
    REDIST_TRY(CHECK(cudaStreamEndCapture(in_stream, &graph)));
    int code = CHECK(cudaGraphInstantiateWithFlags((cudaGraphExec_t *)result, graph,
                                                   cudaGraphInstantiateFlagUseNodePriority));
    (void)CHECK(cudaGraphDestroy(graph));
    if (code != REDIST_OK)
        *result = NULL;
    return code;
}

static int graph_replay(void *graph, void *in_stream) {
    return settle(CHECK(cudaGraphLaunch(graph, in_stream)), in_stream);
}

static void graph_free(void *graph) {
    if (graph != NULL)
        (void)CHECK(cudaGraphExecDestroy(graph));
}

/* ---------------------------------------------------------------- copies by kernels */

/* Returns m with n / divisor = n * m / 2^64, rounded down, for all n up to `most`; 0 without one. The error of m is
 * below 1 in 2^64, that of the quotient below n / 2^64, and that must not reach 1 / divisor. */
static uint64_t inverse_of(uint64_t divisor, uint64_t most) {
    uint64_t product;
    if (divisor <= 1 || __builtin_mul_overflow(divisor, most, &product))
        return 0;
    return UINT64_MAX / divisor + 1;
}

/* Returns the largest power of two up to `most` that divides all terms of a unit's address. */
static int find_width(const struct redist__copy *copy, const void *source, const void *destination,
                      int most) {
    uint64_t bits = copy->run | (uintptr_t)source | (uintptr_t)destination | (uint64_t)most;
    for (int i = 0; i < copy->ndims; i++)
        bits |= (uint64_t)copy->source[i] | (uint64_t)copy->destination[i];
    return (int)(bits & -bits);
}

/* Describes a copy in units of a width. */
static void describe(const struct redist__copy *copy, const void *source, void *destination,
                     int width, struct redist__cuda_part *part) {
    memset(part, 0, sizeof *part);
    if (copy->run == 0)
        return;
    part->source = source;
    part->destination = destination;
    part->width = width;
    part->units = redist__copy_bytes(copy) / (unsigned)part->width;
    part->run = copy->run / (unsigned)part->width;
    part->run_inverse = inverse_of(part->run, part->units);
    part->nloops = copy->ndims;
    for (int i = 0; i < copy->ndims; i++) {
        int loop = copy->ndims - 1 - i;
        part->count[i] = copy->count[loop];
        part->count_inverse[i] = inverse_of(copy->count[loop], part->units);
        part->source_stride[i] = copy->source[loop];
        part->destination_stride[i] = copy->destination[loop];
    }
}

void redist__cuda_describe(const struct redist__copy *copy, const void *source, void *destination,
                           int most_width, struct redist__cuda_part *part) {
    describe(copy, source, destination, find_width(copy, source, destination, most_width), part);
}

static void describe_sum(const struct redist__copy *copy, const void *source, void *destination,
                         struct redist__cuda_part *part) {
    int width = (int)copy->adds->bytes;
    describe(copy, source, destination, width, part);
    part->adds = (int)copy->adds->number;
    part->aligned = find_width(copy, source, destination, width) == width;
}

/* Describes a copy to or from a format, in units of two numbers if they can be loaded at once. */
static void describe_format(const struct redist__copy *copy, const void *source, void *destination,
                            struct redist__cuda_part *part) {
    const struct redist__format *format = copy->format;
    const void *array = copy->widens ? destination : source;
    uintptr_t packed = (uintptr_t)(copy->widens ? source : destination);
    int number = (int)format->bytes, width = find_width(copy, array, array, 2 * number);
    describe(copy, source, destination, width > number ? width : number, part);
    part->adds = (int)redist__added(copy->adds);
    part->aligned = width >= number && packed % format->each == 0;
}

/* Boxes for one kernel, all of one format and direction, or all added. */
struct wave {
    struct redist__cuda_part parts[REDIST__CUDA_PARTS];
    int count, adds, widens;
    const struct redist__format *format;
};

static int launch_wave(struct wave *wave, cudaStream_t stream) {
    int count = wave->count;
    wave->count = 0;
    if (count == 0)
        return REDIST_OK;
    if (wave->format != NULL)
        return CHECK(
            redist__cuda_format_parts(wave->format, wave->widens, wave->parts, count, stream));
    return CHECK((wave->adds ? redist__cuda_add_parts : redist__cuda_copy_parts)(wave->parts, count,
                                                                                 stream));
}

/* Adds a box to a wave, and launches those before it if it has to follow them. */
static int join_wave(struct wave *wave, const struct redist__copy *copy, const void *source,
                     void *destination, cudaStream_t stream) {
    int adds = copy->adds != NULL;
    if (wave->count == REDIST__CUDA_PARTS || adds != wave->adds || (adds && !copy->beside) ||
        copy->format != wave->format || copy->widens != wave->widens)
        REDIST_TRY(launch_wave(wave, stream));
    wave->adds = adds;
    wave->format = copy->format;
    wave->widens = copy->widens;
    struct redist__cuda_part *part = &wave->parts[wave->count++];
    if (copy->format != NULL)
        describe_format(copy, source, destination, part);
    else if (adds)
        describe_sum(copy, source, destination, part);
    else
        redist__cuda_describe(copy, source, destination, MOST_WIDTH, part);
    return REDIST_OK;
}

static int copy_by_kernel(const struct redist__copy *copy, const void *source, void *destination,
                          cudaStream_t stream) {
    struct wave wave = {.count = 0};
    REDIST_TRY(join_wave(&wave, copy, source, destination, stream));
    return launch_wave(&wave, stream);
}

/* ---------------------------------------------------------------- copies by engines */

static int is_pitch(ptrdiff_t stride, size_t run) {
    return stride > 0 && (size_t)stride >= run && stride <= INT_MAX;
}

static int is_slice(ptrdiff_t stride, ptrdiff_t row, size_t rows) {
    return stride > 0 && stride % row == 0 && (size_t)(stride / row) >= rows;
}

/* Returns the number of innermost loops in one call of an engine: two, one, or none. */
static int engine_loops(const struct redist__copy *copy) {
    int row = copy->ndims - 1, slice = row - 1;
    if (row < 0 || !is_pitch(copy->source[row], copy->run) ||
        !is_pitch(copy->destination[row], copy->run))
        return 0;
    if (slice < 0 || !is_slice(copy->source[slice], copy->source[row], copy->count[row]) ||
        !is_slice(copy->destination[slice], copy->destination[row], copy->count[row]))
        return 1;
    return 2;
}

/* Copies the innermost loops of a box, by one call. */
static cudaError_t copy_inner(const struct redist__copy *copy, int loops, const char *source,
                              char *destination, cudaStream_t stream) {
    int row = copy->ndims - 1, slice = row - 1;
    if (loops == 0)
        return cudaMemcpyAsync(destination, source, copy->run, cudaMemcpyDefault, stream);
    size_t from = (size_t)copy->source[row], to = (size_t)copy->destination[row];
    if (loops == 1)
        return cudaMemcpy2DAsync(destination, to, source, from, copy->run, copy->count[row],
                                 cudaMemcpyDefault, stream);
    const struct cudaMemcpy3DParms all = {
        .srcPtr = {(void *)(uintptr_t)source, from, copy->run, (size_t)copy->source[slice] / from},
        .dstPtr = {destination, to, copy->run, (size_t)copy->destination[slice] / to},
        .extent = {copy->run, copy->count[row], copy->count[slice]},
        .kind = cudaMemcpyDefault};
    return cudaMemcpy3DAsync(&all, stream);
}

static size_t outer_iterations(const struct redist__copy *copy, int outer) {
    size_t iterations = 1;
    for (int i = 0; i < outer; i++)
        iterations *= copy->count[i];
    return iterations;
}

static int copy_by_engines(const struct redist__copy *copy, const char *source, char *destination,
                           size_t most, cudaStream_t stream) {
    int loops = engine_loops(copy), outer = copy->ndims - loops;
    size_t iterations = outer_iterations(copy, outer);
    if (iterations > most)
        return copy_by_kernel(copy, source, destination, stream);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < iterations && error == cudaSuccess; i++) {
        const char *from = source;
        char *to = destination;
        size_t rest = i;
        for (int axis = outer - 1; axis >= 0; axis--) {
            ptrdiff_t index = (ptrdiff_t)(rest % copy->count[axis]);
            rest /= copy->count[axis];
            from += index * copy->source[axis];
            to += index * copy->destination[axis];
        }
        error = copy_inner(copy, loops, from, to, stream);
    }
    return redist__cuda_check(error, "copying a box");
}

static int copy(const struct redist__copy *box, const void *source, void *destination,
                enum redist__copier copier, void *in_stream) {
    size_t most = copier == REDIST__LINK && box->run >= LONG_RUN ? SIZE_MAX : MOST_ENGINE_COPIES;
    if (box->run == 0)
        return REDIST_OK;
    if (redist_place_is_gone())
        return redist__cuda_refuse("copying a box");
    return settle(copier == REDIST__KERNEL || box->adds != NULL || box->format != NULL
                      ? copy_by_kernel(box, source, destination, in_stream)
                      : copy_by_engines(box, source, destination, most, in_stream),
                  in_stream);
}

/* ---------------------------------------------------------------- batches */

/* Passes the boxes to kernels by value: nothing has to stay as it is until these run. */
static int batch_run(struct redist__batch *batch, int first, int count, void *in_stream) {
    struct wave wave = {.count = 0};
    int code = redist_place_is_gone() ? redist__cuda_refuse("copying boxes") : REDIST_OK;
    for (int i = first; i < first + count && code == REDIST_OK; i++)
        if (batch->copies[i].run != 0)
            code = join_wave(&wave, &batch->copies[i], batch->sources[i], batch->destinations[i],
                             in_stream);
    return settle(code == REDIST_OK ? launch_wave(&wave, in_stream) : code, in_stream);
}

const struct redist__space redist__space_cuda = {
    .name = "cuda",
    .id = REDIST_SPACE_CUDA,
    .asynchronous = 1,
    .find_place = redist__cuda_find_place,
    .enter = redist__cuda_enter,
    .leave = redist__cuda_leave,
    .check_stream = redist__cuda_check_stream,
    .find_capture = redist__cuda_find_capture,
    .absent = absent,
    .recognises = redist__cuda_is_device,
    .check_array = check_array,
    .check_call = check_call,
    .find_free = find_free,
    .find_address = find_address,
    .allocate = allocate,
    .release = release,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .clear = clear,
    .raise = raise_word,
    .pin = pin,
    .unpin = unpin,
    .is_pinned = is_pinned,
    .stream = redist__cuda_stream,
    .stream_create = stream_create,
    .stream_create_urgent = stream_create_urgent,
    .stream_destroy = redist__cuda_stream_destroy,
    .stream_is_idle = stream_is_idle,
    .stream_check = stream_check,
    .stream_wait = stream_wait,
    .stream_follow = stream_follow,
    .drain = redist__cuda_drain,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_is_reached = event_is_reached,
    .event_wait = event_wait,
    .create = redist__shares_create,
    .remove = redist__shares_remove,
    .expect = redist__shares_expect,
    .export_memory = redist__shares_export,
    .map = redist__shares_map,
    .unmap = redist__shares_unmap,
    .copy = copy,
    .batch_run = batch_run,
    .stream_can_keep = stream_can_keep,
    .graph_begin = graph_begin,
    .graph_end = graph_end,
    .graph_replay = graph_replay,
    .graph_free = graph_free,
};
