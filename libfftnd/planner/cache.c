/* SPDX-License-Identifier: BSD-3-Clause */
#include "planner.h"

#ifdef FFTND__HWLOC
#include <hwloc.h>
#include <pthread.h>

static size_t bytes;

static void read_topology(void) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L2CACHE, 0);
        bytes = cache != NULL ? (size_t)cache->attr->cache.size : 0;
    }
    hwloc_topology_destroy(topology);
}

/* Once, by one thread: it takes milliseconds. */
static size_t find_bytes(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_topology);
    return bytes;
}
#else
#include <unistd.h>

static size_t find_bytes(void) {
#ifdef _SC_LEVEL2_CACHE_SIZE
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : 0;
#else
    return 0;
#endif
}
#endif

size_t fftnd__cache_bytes(void) {
    size_t found = find_bytes();
    return found != 0 ? found : (size_t)1 << 20;
}
