/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What space_cuda.c stands on: errors, the library's streams, what the driver says of addresses, and device memory
 * that peers map by CUDA IPC. An allocation is exported once, when it is first used,
 * and imported once by each process and device that needs it. That serves arrays of redist_alloc_in and the
 * user's own of cudaMalloc alike; memory of other kinds has no handle to export.
 *
 * An import is open for as long as a plan refers to it: CUDA leaves undefined what happens if the exporter frees
 * memory that is still open elsewhere, and redist_plan_free returns on no rank before all have closed. Two things
 * close it earlier, at once for all plans: redist_free of the array, and an array at the same address of the
 * same owner that belongs to another allocation, which shows that the one before is gone.
 */
#include "cuda_device.h"
#include "../comm/comm.h"
#include "imports.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

/* ---------------------------------------------------------------- errors */

int redist__cuda_check(cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return REDIST_OK;
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
    int code = error == cudaErrorMemoryAllocation ? REDIST_ERR_MEMORY : REDIST_ERR_DEVICE;
    return redist__fail(code, "%s: %s", what, cudaGetErrorString(error));
}

/* ---------------------------------------------------------------- streams */

enum { MOST_DEVICES = 64, STREAMS = 32 };

static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    cudaStream_t stream;
    int is_made;
} streams[MOST_DEVICES][STREAMS]; /* of each device */

/* Made when first used and kept. Where none can be made, the default stream takes its place for good: who waits
 * for a stream has to find the one that has got the work. */
void *redist__cuda_stream(int index) {
    int device = 0;
    (void)redist__cuda_check(cudaGetDevice(&device), "cudaGetDevice");
    pthread_mutex_lock(&streams_lock);
    cudaStream_t *kept = &streams[device % MOST_DEVICES][index % STREAMS].stream;
    int *is_made = &streams[device % MOST_DEVICES][index % STREAMS].is_made;
    if (!*is_made && redist__cuda_check(cudaStreamCreateWithFlags(kept, cudaStreamNonBlocking),
                                        "cudaStreamCreateWithFlags") != REDIST_OK)
        *kept = NULL;
    *is_made = 1;
    cudaStream_t found = *kept;
    pthread_mutex_unlock(&streams_lock);
    return found;
}

/* CUDA documents that cudaStreamDestroy and cudaEventDestroy let work under way end by itself. It documents no
 * such thing for cudaFree, cudaFreeHost and cudaIpcCloseMemHandle, though today's wait for the device: after an
 * execution that failed half way copies may still run. So the library waits itself before it gives anything
 * back: for its streams, which may be on devices that are not current any more, and for the current device with
 * the user's streams. A failure here has been reported where the work was given. */
void redist__cuda_drain(void) {
    for (int i = 0; i < MOST_DEVICES * STREAMS; i++) {
        pthread_mutex_lock(&streams_lock);
        cudaStream_t made = streams[i / STREAMS][i % STREAMS].stream;
        pthread_mutex_unlock(&streams_lock);
        if (made != NULL)
            (void)cudaStreamSynchronize(made);
    }
    (void)cudaDeviceSynchronize();
    (void)cudaGetLastError();
}

/* ---------------------------------------------------------------- the driver */

/* What the driver says of an address. A process that has not used CUDA has not loaded the driver, and then no
 * address of it lies on a device: programs without CUDA pay nothing. */
static struct {
    CUresult (*get_attribute)(void *value, CUpointer_attribute attribute, CUdeviceptr address);
    CUresult (*get_range)(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
} driver;

static pthread_mutex_t driver_lock = PTHREAD_MUTEX_INITIALIZER;

/* POSIX lets the result of dlsym become a function by way of its bytes only. */
static void find_function(void *library, const char *name, void *function) {
    *(void **)function = dlsym(library, name);
}

/* How many libraries were loaded so far. */
static int count_loads(struct dl_phdr_info *info, size_t bytes, void *count) {
    (void)bytes;
    *(unsigned long long *)count = info->dlpi_adds;
    return 1;
}

/* To look for a library that is not there takes a search of the disk: only after others were loaded. */
static int has_driver(void) {
    static unsigned long long looked_at;
    unsigned long long loads = 0;
    pthread_mutex_lock(&driver_lock);
    if (driver.get_range == NULL)
        dl_iterate_phdr(count_loads, &loads);
    if (driver.get_range == NULL && loads != looked_at) {
        looked_at = loads;
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (library != NULL) {
            find_function(library, "cuPointerGetAttribute", &driver.get_attribute);
            find_function(library, "cuMemGetAddressRange_v2", &driver.get_range);
        }
    }
    int found = driver.get_attribute != NULL && driver.get_range != NULL;
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

static int is_buffer(const void *address, uint64_t buffer) {
    unsigned long long found = 0;
    return has_driver() && get(&found, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) && found == buffer;
}

int redist__cuda_find(const void *address, struct redist__cuda_memory *memory) {
    CUdeviceptr base = 0;
    size_t bytes = 0;
    unsigned long long buffer = 0;
    if (!redist__cuda_is_device(address) ||
        !get(&memory->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) ||
        !get(&buffer, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) ||
        driver.get_range(&base, &bytes, (CUdeviceptr)(uintptr_t)address) != CUDA_SUCCESS)
        return 0;
    memory->base = base;
    memory->bytes = bytes;
    memory->buffer = buffer;
    return 1;
}

/* ---------------------------------------------------------------- allocations */

/* The memory of shared allocations is shared in whole blocks of this size; whole blocks keep other
 * allocations out of it. */
enum { BLOCK_BITS = 21 };

/* An allocation of this process. */
struct export {
    uint64_t key; /* 0 = it cannot be mapped */
    struct redist__cuda_memory memory;
    cudaIpcMemHandle_t ipc;
    struct redist__context *context; /* of redist_alloc_in, else NULL */
    struct export *next;
};

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof((struct redist__memory_handle *)0)->ipc,
               "a memory handle has room for one of CUDA");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct export *exports;
static struct redist__process self;

/* This process does not change: what has used CUDA cannot use it after a fork. */
static void find_self(void) {
    self = redist__process_self();
}

static const struct redist__process *this_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_self);
    return &self;
}

/* ---------------------------------------------------------------- exports */

/* A number that this process gives once: with the process it names an allocation. */
static uint64_t next_key(void) {
    static uint64_t counter;
    return ++counter;
}

static int overlaps(uint64_t base, uint64_t bytes, uint64_t other, uint64_t other_bytes) {
    return base < other + other_bytes && other < base + bytes;
}

/* The export of an allocation; forgets those that lay there before it. */
static struct export *find_export(const struct redist__cuda_memory *memory) {
    struct export **link = &exports;
    while (*link != NULL) {
        struct export *export = *link;
        if (export->memory.buffer == memory->buffer && export->memory.base == memory->base)
            return export;
        if (!overlaps(export->memory.base, export->memory.bytes, memory->base, memory->bytes)) {
            link = &export->next;
            continue;
        }
        *link = export->next;
        redist_release(export);
    }
    return NULL;
}

static struct export *add_export(const struct redist__cuda_memory *memory) {
    struct export *export = redist_calloc(1, sizeof *export);
    if (export == NULL)
        return NULL;
    export->memory = *memory;
    if (cudaIpcGetMemHandle(&export->ipc, (void *)(uintptr_t)memory->base) == cudaSuccess)
        export->key = next_key();
    else
        (void)cudaGetLastError();
    export->next = exports;
    exports = export;
    return export;
}

static void describe(const struct export *export, struct redist__memory_handle *handle) {
    handle->key = export->key;
    handle->owner = *this_process();
    handle->base = export->memory.base;
    handle->bytes = export->memory.bytes;
    memcpy(handle->ipc, &export->ipc, sizeof export->ipc);
}

/* An export that is still of the allocation at this address; saves most questions to the driver. */
static struct export *find_known(const void *array, struct redist__cuda_memory *memory) {
    uint64_t address = (uint64_t)(uintptr_t)array;
    for (struct export *export = exports; export != NULL; export = export->next)
        if (address - export->memory.base < export->memory.bytes) {
            *memory = export->memory;
            return is_buffer(array, memory->buffer) ? export : NULL;
        }
    return NULL;
}

static struct export *find_or_add(const void *array, struct redist__cuda_memory *memory) {
    struct export *export = find_known(array, memory);
    if (export != NULL || !redist__cuda_find(array, memory))
        return export;
    export = find_export(memory);
    return export != NULL ? export : add_export(memory);
}

struct redist__memory_handle redist__cuda_export(const void *array, size_t bytes) {
    struct redist__memory_handle handle = {0};
    struct redist__cuda_memory memory = {0};
    if (array == NULL)
        return handle;
    pthread_mutex_lock(&lock);
    const struct export *export = find_or_add(array, &memory);
    uint64_t offset = (uint64_t)(uintptr_t)array - memory.base;
    if (export != NULL && export->key != 0 && bytes <= memory.bytes - offset) {
        describe(export, &handle);
        handle.offset = offset;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

/* ---------------------------------------------------------------- imports */

/* An owner's addresses are its own on whatever devices its allocations are. */
static int lies_there(const struct redist__import *import,
                      const struct redist__memory_handle *handle) {
    return redist__process_is_same(&import->handle.owner, &handle->owner) &&
           overlaps(import->handle.base, import->handle.bytes, handle->base, handle->bytes);
}

static char *open_import(const struct redist__memory_handle *handle) {
    void *address = NULL;
    cudaIpcMemHandle_t ipc;
    memcpy(&ipc, handle->ipc, sizeof ipc);
    if (cudaIpcOpenMemHandle(&address, ipc, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess)
        return address;
    (void)cudaGetLastError();
    return NULL;
}

/* On the device that opened it. */
static void close_import(const struct redist__import *import) {
    int current = import->device;
    (void)cudaGetDevice(&current);
    if (current != import->device)
        (void)cudaSetDevice(import->device);
    redist__cuda_drain();
    (void)cudaIpcCloseMemHandle(import->address);
    if (current != import->device)
        (void)cudaSetDevice(current);
    (void)cudaGetLastError();
}

static struct redist__importer importer = {.open = open_import,
                                           .close = close_import,
                                           .is_displaced = lies_there,
                                           .lock = PTHREAD_MUTEX_INITIALIZER};

char *redist__cuda_map(const struct redist__memory_handle *handle,
                       struct redist__mappings *mappings) {
    int device = 0;
    if (handle->key == 0 || cudaGetDevice(&device) != cudaSuccess)
        return NULL;
    if (redist__process_is_same(&handle->owner, this_process()))
        return (char *)(uintptr_t)(handle->base + handle->offset);
    char *base = redist__import(&importer, handle, device, mappings);
    return base != NULL ? base + handle->offset : NULL;
}

/* What an execution that failed has left under way may still go to the peers' arrays, or come from arrays that
 * the user is about to free. */
void redist__cuda_unmap(struct redist__mappings *mappings) {
    redist__cuda_drain();
    redist__import_drop(&importer, mappings);
}

/* ---------------------------------------------------------------- redist_alloc_in */

/* Returns 0 if the array is not known. */
static int note_context(const void *array, struct redist__context *context) {
    struct redist__cuda_memory memory;
    if (!redist__cuda_find(array, &memory))
        return 0;
    pthread_mutex_lock(&lock);
    struct export *export = find_export(&memory);
    if (export != NULL)
        export->context = context;
    pthread_mutex_unlock(&lock);
    return export != NULL;
}

/* Exported at once, since what says whose the array is, is kept there. */
static int allocate(struct redist__context *context, size_t bytes, void **array) {
    size_t blocks = (bytes >> BLOCK_BITS) + 1;
    REDIST_TRY(redist__cuda_check(cudaMalloc(array, blocks << BLOCK_BITS), "cudaMalloc"));
    redist__cuda_export(*array, bytes);
    if (note_context(*array, context))
        return REDIST_OK;
    cudaFree(*array);
    return redist__fail(REDIST_ERR_MEMORY, "no memory to note whose array this is");
}

int redist__cuda_create(struct redist__context *context, size_t bytes, void **array) {
    void *memory = NULL;
    int mine = allocate(context, bytes, &memory);
    int code = redist_agree(context->comm, mine);
    if (code == REDIST_OK)
        *array = memory;
    else if (mine == REDIST_OK) {
        (void)note_context(memory, NULL);
        cudaFree(memory);
    }
    return code;
}

/* Takes the export of an array of redist_alloc_in off the list. */
static struct export *unlink_export(const void *array) {
    pthread_mutex_lock(&lock);
    struct export **link = &exports;
    while (*link != NULL &&
           !((*link)->context != NULL && (*link)->memory.base == (uint64_t)(uintptr_t)array))
        link = &(*link)->next;
    struct export *export = *link;
    if (export != NULL)
        *link = export->next;
    pthread_mutex_unlock(&lock);
    return export;
}

/* Every rank of the node closes its imports of what is about to be freed, whichever plans refer to them. */
static void close_at_peers(const struct redist__context *context, const struct export *export) {
    redist__cuda_drain();
    for (int rank = 0; rank < context->node_size; rank++) {
        struct redist__memory_handle handle = {.key = export->key, .owner = *this_process()};
        (void)redist_insist(MPI_Bcast(&handle, sizeof handle, MPI_BYTE, rank, context->node));
        if (rank != context->node_rank && handle.key != 0)
            redist__import_close(&importer, redist__import_is_of, &handle);
    }
    (void)redist_insist(MPI_Barrier(context->node));
}

struct redist__context *redist__cuda_remove(const void *array) {
    struct export *export = unlink_export(array);
    if (export == NULL)
        return NULL;
    struct redist__context *context = export->context;
    close_at_peers(context, export);
    redist__cuda_check(cudaFree((void *)(uintptr_t)array), "cudaFree");
    redist_release(export);
    return context;
}
