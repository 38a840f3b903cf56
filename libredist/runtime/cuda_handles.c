/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Export of CUDA allocations to other processes, for each kind of shares.h. IPC and descriptors of virtual memory ran
 * on GPUs; pools and fabrics were only compiled, and the logic around all kinds is also tested with another driver
 * (tests/test_redist_shares.c).
 */
#include "cuda_device.h"
#include "shares.h"

#include <cuda.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* CU_MEM_HANDLE_TYPE_FABRIC, absent in older toolkits. */
enum { FABRIC = 8 };

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof((struct redist__memory_handle *)0)->ipc &&
                   sizeof(struct cudaMemPoolPtrExportData) <= sizeof(cudaIpcMemHandle_t),
               "a memory handle has room for those of CUDA");

/* Functions of the driver; the runtime library has none for virtual memory. */
static struct {
    CUresult (*retain)(CUmemGenericAllocationHandle *handle, void *address);
    CUresult (*release)(CUmemGenericAllocationHandle handle);
    CUresult (*export)(void *result, CUmemGenericAllocationHandle handle,
                       CUmemAllocationHandleType type, unsigned long long flags);
    CUresult (*import)(CUmemGenericAllocationHandle *handle, void *given,
                       CUmemAllocationHandleType type);
    CUresult (*reserve)(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish,
                        unsigned long long flags);
    CUresult (*unreserve)(CUdeviceptr address, size_t bytes);
    CUresult (*map)(CUdeviceptr address, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags);
    CUresult (*unmap)(CUdeviceptr address, size_t bytes);
    CUresult (*set_access)(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access,
                           size_t count);
    int is_complete;
} virtual_memory;

static void find_functions(void) {
    virtual_memory.is_complete =
        redist__cuda_function("cuMemRetainAllocationHandle", &virtual_memory.retain) &&
        redist__cuda_function("cuMemRelease", &virtual_memory.release) &&
        redist__cuda_function("cuMemExportToShareableHandle", &virtual_memory.export) &&
        redist__cuda_function("cuMemImportFromShareableHandle", &virtual_memory.import) &&
        redist__cuda_function("cuMemAddressReserve", &virtual_memory.reserve) &&
        redist__cuda_function("cuMemAddressFree", &virtual_memory.unreserve) &&
        redist__cuda_function("cuMemMap", &virtual_memory.map) &&
        redist__cuda_function("cuMemUnmap", &virtual_memory.unmap) &&
        redist__cuda_function("cuMemSetAccess", &virtual_memory.set_access);
}

/* Finds the functions; the driver is loaded, since an address of a device was seen before. */
static int has_virtual_memory(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_functions);
    return virtual_memory.is_complete;
}

/* Returns nonzero after success; clears a failure for the user's own checks. */
static int succeeds(cudaError_t error) {
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return error == cudaSuccess;
}

/* ---------------------------------------------------------------- virtual memory */

static CUmemAllocationHandleType type_of(int kind) {
    return kind == REDIST__BY_FABRIC ? (CUmemAllocationHandleType)FABRIC
                                     : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

static int export_virtual(const struct redist__shared_memory *memory,
                          struct redist__memory_handle *handle, int *descriptor) {
    CUmemGenericAllocationHandle allocation;
    if (!has_virtual_memory() ||
        virtual_memory.retain(&allocation, (void *)(uintptr_t)memory->base) != CUDA_SUCCESS)
        return 0;
    void *result = handle->kind == REDIST__BY_FABRIC ? (void *)handle->ipc : (void *)descriptor;
    CUresult error = virtual_memory.export(result, allocation, type_of(handle->kind), 0);
    (void)virtual_memory.release(allocation);
    return error == CUDA_SUCCESS;
}

/* Maps an allocation, which the mapping then keeps. */
static int map_allocation(CUdeviceptr address, size_t bytes,
                          CUmemGenericAllocationHandle allocation) {
    CUmemAccessDesc access = {.location.type = CU_MEM_LOCATION_TYPE_DEVICE,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (cudaGetDevice(&access.location.id) != cudaSuccess ||
        virtual_memory.map(address, bytes, 0, allocation, 0) != CUDA_SUCCESS)
        return 0;
    if (virtual_memory.set_access(address, bytes, &access, 1) == CUDA_SUCCESS)
        return 1;
    (void)virtual_memory.unmap(address, bytes);
    return 0;
}

static char *open_virtual(const struct redist__memory_handle *handle, int descriptor) {
    CUmemGenericAllocationHandle allocation;
    CUdeviceptr address = 0;
    struct redist__memory_handle copy = *handle;
    void *given =
        handle->kind == REDIST__BY_FABRIC ? (void *)copy.ipc : (void *)(intptr_t)descriptor;
    if (!has_virtual_memory() ||
        virtual_memory.import(&allocation, given, type_of(handle->kind)) != CUDA_SUCCESS)
        return NULL;
    if (virtual_memory.reserve(&address, handle->bytes, 0, 0, 0) != CUDA_SUCCESS)
        address = 0;
    else if (!map_allocation(address, handle->bytes, allocation)) {
        (void)virtual_memory.unreserve(address, handle->bytes);
        address = 0;
    }
    (void)virtual_memory.release(allocation);
    return (char *)(uintptr_t)address;
}

/* ---------------------------------------------------------------- pools */

/* Exports memory of a pool, after the pool itself, which the driver may require. */
static int export_pooled(const struct redist__shared_memory *memory,
                         struct redist__memory_handle *handle, int *descriptor) {
    struct cudaMemPoolPtrExportData data;
    cudaMemPool_t pool = redist__cuda_pool((void *)(uintptr_t)memory->base);
    int file = -1;
    if (pool == NULL || !succeeds(cudaMemPoolExportToShareableHandle(
                            &file, pool, cudaMemHandleTypePosixFileDescriptor, 0)))
        return 0;
    if (!succeeds(cudaMemPoolExportPointer(&data, (void *)(uintptr_t)memory->base))) {
        close(file);
        return 0;
    }
    *descriptor = file;
    memcpy(handle->ipc, &data, sizeof data);
    return 1;
}

/* Opens memory of a pool, which at first only the pool's device can access. */
static char *open_pooled(const struct redist__memory_handle *handle, int descriptor, void **kept) {
    struct cudaMemAccessDesc access = {.location.type = cudaMemLocationTypeDevice,
                                       .flags = cudaMemAccessFlagsProtReadWrite};
    struct cudaMemPoolPtrExportData data;
    cudaMemPool_t pool;
    void *address = NULL;
    memcpy(&data, handle->ipc, sizeof data);
    if (!succeeds(cudaGetDevice(&access.location.id)) ||
        !succeeds(cudaMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)descriptor,
                                                       cudaMemHandleTypePosixFileDescriptor, 0)))
        return NULL;
    if (succeeds(cudaMemPoolSetAccess(pool, &access, 1)) &&
        succeeds(cudaMemPoolImportPointer(&address, pool, &data))) {
        *kept = pool;
        return address;
    }
    (void)succeeds(cudaMemPoolDestroy(pool));
    return NULL;
}

/* ---------------------------------------------------------------- all kinds */

static int export_memory(const struct redist__shared_memory *memory,
                         struct redist__memory_handle *handle, int *descriptor) {
    if (handle->kind == REDIST__BY_POOL)
        return export_pooled(memory, handle, descriptor);
    if (handle->kind != REDIST__BY_IPC)
        return export_virtual(memory, handle, descriptor);
    cudaIpcMemHandle_t ipc;
    if (!succeeds(cudaIpcGetMemHandle(&ipc, (void *)(uintptr_t)memory->base)))
        return 0;
    memcpy(handle->ipc, &ipc, sizeof ipc);
    return 1;
}

static char *open_memory(const struct redist__memory_handle *handle, int descriptor, void **kept) {
    cudaIpcMemHandle_t ipc;
    void *address = NULL;
    if (handle->kind == REDIST__BY_POOL)
        return open_pooled(handle, descriptor, kept);
    if (handle->kind != REDIST__BY_IPC)
        return open_virtual(handle, descriptor);
    memcpy(&ipc, handle->ipc, sizeof ipc);
    return succeeds(cudaIpcOpenMemHandle(&address, ipc, cudaIpcMemLazyEnablePeerAccess)) ? address
                                                                                         : NULL;
}

static void close_memory(const struct redist__memory_handle *handle, char *address, void *kept) {
    if (handle->kind == REDIST__BY_POOL) {
        (void)succeeds(cudaFree(address));
        (void)succeeds(cudaMemPoolDestroy(kept));
    } else if (handle->kind == REDIST__BY_IPC) {
        (void)succeeds(cudaIpcCloseMemHandle(address));
    } else {
        (void)virtual_memory.unmap((CUdeviceptr)(uintptr_t)address, handle->bytes);
        (void)virtual_memory.unreserve((CUdeviceptr)(uintptr_t)address, handle->bytes);
    }
}

static int find_place(redist_place *place) {
    REDIST_TRY(redist__cuda_find_place(place));
    place->space = &redist__space_cuda;
    return REDIST_OK;
}

static int allocate(size_t bytes, void **array) {
    return REDIST__CHECK_CUDA(cudaMalloc(array, bytes));
}

static void release(void *array) {
    (void)REDIST__CHECK_CUDA(cudaFree(array));
}

const struct redist__share_driver redist__share_driver = {
    .find = redist__cuda_find,
    .is_buffer = redist__cuda_is_buffer,
    .find_place = find_place,
    .drain = redist__cuda_drain,
    .allocate = allocate,
    .release = release,
    .export_memory = export_memory,
    .open = open_memory,
    .close = close_memory,
};
