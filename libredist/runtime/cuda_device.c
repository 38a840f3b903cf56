/* SPDX-License-Identifier: BSD-3-Clause */
/* Base of space_cuda.c: the library's streams, and the driver's attributes of addresses. */
#include "cuda_device.h"
#include "shares.h"

#include <cuda.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- streams */

/* A stream of the library. Those of destroyed contexts are only forgotten. */
struct kept {
    cudaStream_t stream;
    unsigned long long context;
    int index; /* -1 = used by one plan */
    int waits; /* waiting threads */
    struct kept *next;
};

/* Shared streams of each context. */
enum { STREAMS = 32 };

static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *streams;

static unsigned long long current_context(void) {
    const redist_place *entered = redist_place_entered();
    redist_place place = {.context = 0};
    if (entered != NULL)
        return entered->context;
    return redist__cuda_find_place(&place) == REDIST_OK ? place.context : 0;
}

/* Makes a stream, with the lock held. The list is in memory of the C library, as it outlives the user's allocator. */
static int make_stream(int index, int priority, unsigned long long context, cudaStream_t *made) {
    struct kept *kept = calloc(1, sizeof *kept);
    *made = NULL;
    if (kept == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for a stream");
    int code =
        REDIST__CHECK_CUDA(cudaStreamCreateWithPriority(made, cudaStreamNonBlocking, priority));
    if (code != REDIST_OK)
        *made = NULL;
    if (code != REDIST_OK && index < 0) {
        free(kept);
        return code;
    }
    *kept = (struct kept){*made, context, index, 0, streams};
    streams = kept;
    return REDIST_OK;
}

/* Makes the stream at first use and keeps it. After a failure the default stream replaces it permanently, so that waits
 * find the stream with the work. */
void *redist__cuda_stream(int index) {
    unsigned long long context = current_context();
    cudaStream_t found = NULL;
    index %= STREAMS;
    if (redist_place_is_gone())
        return NULL;
    pthread_mutex_lock(&streams_lock);
    struct kept *kept = streams;
    while (kept != NULL && (kept->context != context || kept->index != index))
        kept = kept->next;
    if (kept != NULL)
        found = kept->stream;
    else
        (void)make_stream(index, 0, context, &found);
    pthread_mutex_unlock(&streams_lock);
    return found;
}

int redist__cuda_stream_create(int priority, void **stream) {
    unsigned long long context = current_context();
    cudaStream_t made;
    pthread_mutex_lock(&streams_lock);
    int code = make_stream(-1, priority, context, &made);
    pthread_mutex_unlock(&streams_lock);
    *stream = made;
    return code;
}

/* Finds a stream of one plan in the list, with the lock held; the end of the list = absent. */
static struct kept **find_kept(const void *stream) {
    struct kept **link = &streams;
    while (*link != NULL && ((*link)->index >= 0 || (const void *)(*link)->stream != stream))
        link = &(*link)->next;
    return link;
}

/* Destroys a stream after the threads that wait for it. */
void redist__cuda_stream_destroy(void *stream) {
    if (stream == NULL)
        return;
    pthread_mutex_lock(&streams_lock);
    struct kept **link = find_kept(stream);
    for (; *link != NULL && (*link)->waits > 0; link = find_kept(stream)) {
        pthread_mutex_unlock(&streams_lock);
        sched_yield();
        pthread_mutex_lock(&streams_lock);
    }
    struct kept *kept = *link;
    if (kept != NULL)
        *link = kept->next;
    pthread_mutex_unlock(&streams_lock);
    free(kept);
    (void)REDIST__CHECK_CUDA(cudaStreamDestroy(stream));
}

/* Waits for a stream, not for a captured one, whose work is not pending. A failed call may not have waited. */
static void wait_for_stream(cudaStream_t stream) {
    if (redist__cuda_find_capture(stream) == REDIST_NOT_CAPTURED &&
        cudaStreamSynchronize(stream) != cudaSuccess)
        (void)cudaStreamSynchronize(stream);
}

/* Waits for the streams of the current context, without the lock, as their end may depend on another thread. */
static void wait_for_streams(void) {
    unsigned long long context = current_context();
    pthread_mutex_lock(&streams_lock);
    for (struct kept *kept = streams; kept != NULL; kept = kept->next) {
        if (kept->context != context)
            continue;
        kept->waits++;
        pthread_mutex_unlock(&streams_lock);
        wait_for_stream(kept->stream);
        pthread_mutex_lock(&streams_lock);
        kept->waits--;
    }
    pthread_mutex_unlock(&streams_lock);
}

/* Waits for the library's streams before memory is freed. CUDA documents that cudaStreamDestroy and cudaEventDestroy
 * let pending work complete, but not that cudaFree, cudaFreeHost and cudaIpcCloseMemHandle do, though today's wait for
 * the device: after an execution that failed half way copies may still run. Waiting for the whole device would end
 * captures of the user's streams. Failures have been reported where the work was enqueued. */
void redist__cuda_drain(void) {
    if (redist_place_is_gone())
        return;
    const redist_place *place = redist_place_entered();
    if (place == NULL)
        (void)cudaDeviceSynchronize();
    else
        wait_for_streams();
    if (place != NULL && place->has_stream)
        wait_for_stream(place->stream);
    (void)cudaGetLastError();
}

/* ---------------------------------------------------------------- the driver */

/* Attributes of addresses. A process that has not used CUDA has not loaded the driver, so that no address is a
 * device's: programs without CUDA have no cost. */
static struct {
    CUresult (*get_attribute)(void *value, CUpointer_attribute attribute, CUdeviceptr address);
    CUresult (*get_attributes)(unsigned count, CUpointer_attribute attributes[], void *values[],
                               CUdeviceptr address);
    CUresult (*get_range)(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
    int is_complete;
} driver;

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

/* Counts the libraries loaded so far. */
static int count_loads(struct dl_phdr_info *info, size_t bytes, void *count) {
    (void)bytes;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

/* Looks for the driver, which takes a search of the disk if it is missing: only after other libraries were loaded. */
static int has_driver(void) {
    static unsigned long long looked_at;
    unsigned long long loads = 0;
    pthread_mutex_lock(&driver_lock);
    if (!driver.is_complete)
        dl_iterate_phdr(count_loads, &loads);
    if (!driver.is_complete && loads != looked_at) {
        looked_at = loads;
        driver.is_complete =
            redist__cuda_function("cuPointerGetAttribute", &driver.get_attribute) &&
            redist__cuda_function("cuPointerGetAttributes", &driver.get_attributes) &&
            redist__cuda_function("cuMemGetAddressRange_v2", &driver.get_range);
    }
    int found = driver.is_complete;
    pthread_mutex_unlock(&driver_lock);
    return found;
}

static int get(void *value, CUpointer_attribute attribute, const void *address) {
    return driver.get_attribute(value, attribute, (CUdeviceptr)(uintptr_t)address) == CUDA_SUCCESS;
}

int redist__cuda_is_device(const void *address) {
    unsigned type = 0;
    return address != NULL && has_driver() &&
           get(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) && type == CU_MEMORYTYPE_DEVICE;
}

/* Finds the device of an address in one call, as each execution does so for each array. */
int redist__cuda_device_of(const void *address, int *device) {
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                    CU_POINTER_ATTRIBUTE_IS_MANAGED};
    unsigned type = 0, managed = 0;
    void *answers[] = {&type, device, &managed};
    if (address == NULL || !has_driver() ||
        driver.get_attributes(sizeof wanted / sizeof *wanted, wanted, answers,
                              (CUdeviceptr)(uintptr_t)address) != CUDA_SUCCESS ||
        type != CU_MEMORYTYPE_DEVICE)
        return 0;
    if (managed)
        *device = -1;
    return 1;
}

/* Attributes without names in toolkits before 12: the mapping of an address of virtual memory, and its allocation. */
enum { MAPPING_BYTES = 18, MAPPING_BASE = 19, MEMORY_BLOCK = 20, FABRIC = 8 };

/* Identifies addresses and memory, both of which the user of virtual memory may change. */
static int find_buffer(const void *address, uint64_t *buffer) {
    unsigned long long range = 0, block = 0;
    if (!get(&range, CU_POINTER_ATTRIBUTE_BUFFER_ID, address))
        return 0;
    if (!get(&block, (CUpointer_attribute)MEMORY_BLOCK, address))
        block = 0;
    *buffer = range ^ block << 32 ^ block >> 32;
    return 1;
}

int redist__cuda_is_buffer(const void *address, uint64_t buffer) {
    uint64_t found = 0;
    return has_driver() && find_buffer(address, &found) && found == buffer;
}

cudaMemPool_t redist__cuda_pool(const void *address) {
    cudaMemPool_t pool = NULL;
    return get(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address) ? pool : NULL;
}

/* Finds the kinds: virtual memory and pools allow those of their creation; for other memory IPC can be tried. */
static unsigned find_kinds(const void *address) {
    int has_ipc = 0, is_pooled = redist__cuda_pool(address) != NULL;
    unsigned kinds = 0, types = 0;
    if (!get(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, address))
        types = 0;
    if (!get(&has_ipc, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, address) || has_ipc ||
        types == 0)
        kinds |= 1U << REDIST__BY_IPC;
    if (types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        kinds |= 1U << (is_pooled ? REDIST__BY_POOL : REDIST__BY_DESCRIPTOR);
    if (types & FABRIC && !is_pooled)
        kinds |= 1U << REDIST__BY_FABRIC;
    return kinds;
}

/* Finds the range; for virtual memory one mapping, all of one allocation. */
static int find_range(const void *address, struct redist__shared_memory *memory) {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    int is_virtual = (memory->kinds & (1U << REDIST__BY_DESCRIPTOR | 1U << REDIST__BY_FABRIC)) != 0;
    if (!(is_virtual && get(&base, (CUpointer_attribute)MAPPING_BASE, address) &&
          get(&bytes, (CUpointer_attribute)MAPPING_BYTES, address)) &&
        driver.get_range(&base, &bytes, (CUdeviceptr)(uintptr_t)address) != CUDA_SUCCESS)
        return 0;
    memory->base = base;
    memory->bytes = bytes;
    return 1;
}

int redist__cuda_find(const void *address, struct redist__shared_memory *memory) {
    if (!redist__cuda_is_device(address) ||
        !get(&memory->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ||
        !find_buffer(address, &memory->buffer))
        return 0;
    memory->kinds = find_kinds(address);
    return find_range(address, memory);
}
