/* SPDX-License-Identifier: BSD-3-Clause */
/* Cache sizes from hwloc. */
#include "cache.h"

#include <hwloc.h>

static size_t ask_hwloc(void) {
    size_t bytes = 0;
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return 0;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_obj_t cache = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L2CACHE, 0);
        bytes = cache != NULL ? (size_t)cache->attr->cache.size : 0;
    }
    hwloc_topology_destroy(topology);
    return bytes;
}

/* Asked once: reading a machine's topology takes milliseconds. */
size_t fftnd__cache_bytes(void) {
    static size_t bytes;
    if (bytes == 0)
        bytes = ask_hwloc();
    if (bytes == 0)
        bytes = (size_t)1 << 20;
    return bytes;
}
