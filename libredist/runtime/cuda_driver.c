/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks the CUDA driver about addresses. A process that has not used CUDA has not loaded the driver, and
 * then no address of it lies on a device: programs without CUDA pay nothing for being asked.
 */
#include "cuda_space.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>

static struct {
    CUresult (*get_attribute)(void *value, CUpointer_attribute attribute, CUdeviceptr address);
    CUresult (*get_range)(CUdeviceptr *base, size_t *bytes, CUdeviceptr address);
} driver;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
    pthread_mutex_lock(&lock);
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
    pthread_mutex_unlock(&lock);
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

int redist__cuda_is_buffer(const void *address, uint64_t buffer) {
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
