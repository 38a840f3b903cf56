/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a device that other processes may map by descriptors: of a pool, and of the virtual memory functions. */
#include "device.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void check(int is_good, const char *what) {
    if (is_good)
        return;
    fprintf(stderr, "the test failed on the device: %s\n    case: %s\n", what,
            harness_current_case());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

#define CHECK(call) check((call) == 0, #call)

static int current_device(void) {
    int device = 0;
    CHECK(cudaGetDevice(&device));
    return device;
}

/* ---------------------------------------------------------------- a pool */

static cudaMemPool_t make_pool(void) {
    cudaMemPool_t pool;
    struct cudaMemPoolProps wanted = {.allocType = cudaMemAllocationTypePinned,
                                      .handleTypes = cudaMemHandleTypePosixFileDescriptor,
                                      .location = {.type = cudaMemLocationTypeDevice}};
    wanted.location.id = current_device();
    CHECK(cudaMemPoolCreate(&pool, &wanted));
    return pool;
}

static cudaMemPool_t the_pool(void) {
    static cudaMemPool_t pool;
    if (pool == NULL)
        pool = make_pool();
    return pool;
}

static void *allocate_in_pool(MPI_Comm comm, size_t bytes, int shared) {
    void *memory = NULL;
    if (shared)
        return device_memory.allocate(comm, bytes, shared);
    CHECK(cudaMallocFromPoolAsync(&memory, bytes, the_pool(), NULL));
    CHECK(cudaStreamSynchronize(NULL));
    return memory;
}

static void release_in_pool(void *memory, int shared) {
    if (shared)
        device_memory.release(memory, shared);
    else
        CHECK(cudaFreeAsync(memory, NULL));
}

int device_exports_pools(void) {
    struct cudaMemPoolPtrExportData data;
    void *memory = allocate_in_pool(MPI_COMM_SELF, 1, 0);
    int file = -1;
    int exports = cudaMemPoolExportToShareableHandle(
                      &file, the_pool(), cudaMemHandleTypePosixFileDescriptor, 0) == cudaSuccess &&
                  cudaMemPoolExportPointer(&data, memory) == cudaSuccess;
    (void)cudaGetLastError();
    if (file >= 0)
        close(file);
    release_in_pool(memory, 0);
    return exports;
}

/* ---------------------------------------------------------------- virtual memory */

/* The program is not linked with the driver. */
static struct {
    CUresult (*granularity)(size_t *bytes, const CUmemAllocationProp *wanted,
                            CUmemAllocationGranularity_flags flags);
    CUresult (*create)(CUmemGenericAllocationHandle *handle, size_t bytes,
                       const CUmemAllocationProp *wanted, unsigned long long flags);
    CUresult (*release)(CUmemGenericAllocationHandle handle);
    CUresult (*reserve)(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish,
                        unsigned long long flags);
    CUresult (*unreserve)(CUdeviceptr address, size_t bytes);
    CUresult (*map)(CUdeviceptr address, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags);
    CUresult (*unmap)(CUdeviceptr address, size_t bytes);
    CUresult (*set_access)(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access,
                           size_t count);
} driver;

static void find_function(void *library, const char *name, void *function) {
    *(void **)function = dlsym(library, name);
    check(*(void **)function != NULL, name);
}

static void find_driver(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver.set_access != NULL)
        return;
    check(library != NULL, "libcuda.so.1");
    find_function(library, "cuMemGetAllocationGranularity", &driver.granularity);
    find_function(library, "cuMemCreate", &driver.create);
    find_function(library, "cuMemRelease", &driver.release);
    find_function(library, "cuMemAddressReserve", &driver.reserve);
    find_function(library, "cuMemAddressFree", &driver.unreserve);
    find_function(library, "cuMemMap", &driver.map);
    find_function(library, "cuMemUnmap", &driver.unmap);
    find_function(library, "cuMemSetAccess", &driver.set_access);
}

/* What the arrays that there are take. */
enum { MOST_ARRAYS = 64 };
static struct {
    CUdeviceptr address;
    size_t bytes;
} arrays[MOST_ARRAYS];

static void note_array(CUdeviceptr address, size_t bytes) {
    int i = 0;
    while (i < MOST_ARRAYS && arrays[i].bytes != 0)
        i++;
    check(i < MOST_ARRAYS, "too many arrays");
    arrays[i].address = address;
    arrays[i].bytes = bytes;
}

static void *allocate_virtual(MPI_Comm comm, size_t bytes, int shared) {
    CUmemAllocationProp wanted = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    size_t unit;
    if (shared)
        return device_memory.allocate(comm, bytes, shared);
    find_driver();
    wanted.location.id = current_device();
    CHECK(driver.granularity(&unit, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    bytes = (bytes / unit + 1) * unit;
    const CUmemAccessDesc access = {.location = wanted.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(driver.reserve(&address, bytes, 0, 0, 0));
    CHECK(driver.create(&handle, bytes, &wanted, 0));
    CHECK(driver.map(address, bytes, 0, handle, 0));
    CHECK(driver.set_access(address, bytes, &access, 1));
    CHECK(driver.release(handle)); /* the mapping holds it */
    note_array(address, bytes);
    return (void *)(uintptr_t)address;
}

static void release_virtual(void *memory, int shared) {
    int i = 0;
    if (shared) {
        device_memory.release(memory, shared);
        return;
    }
    while (arrays[i].bytes == 0 || arrays[i].address != (CUdeviceptr)(uintptr_t)memory)
        i++;
    CHECK(cudaDeviceSynchronize());
    CHECK(driver.unmap(arrays[i].address, arrays[i].bytes));
    CHECK(driver.unreserve(arrays[i].address, arrays[i].bytes));
    arrays[i].bytes = 0;
}

static void copy(void *to, const void *from, size_t bytes) {
    device_memory.copy(to, from, bytes);
}

const test_device device_shared_pool = {REDIST_SPACE_CUDA, allocate_in_pool, release_in_pool, copy};
const test_device device_virtual = {REDIST_SPACE_CUDA, allocate_virtual, release_virtual, copy};
