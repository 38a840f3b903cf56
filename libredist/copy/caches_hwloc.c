/* SPDX-License-Identifier: BSD-3-Clause */
/* Caches and processor by hwloc. */
#include "caches.h"

#include <hwloc.h>
#include <stdio.h>

static hwloc_obj_t last_cache(hwloc_topology_t topology) {
    static const hwloc_obj_type_t types[] = {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE};
    hwloc_obj_t cache = NULL;
    for (int i = 0; i < 2 && cache == NULL; i++)
        cache = hwloc_get_obj_by_type(topology, types[i], 0);
    return cache;
}

/* Reads the sizes; hwloc has 0 for unknown ones. */
static void read_sizes(hwloc_topology_t topology, redist_caches *caches) {
    hwloc_obj_t second = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L2CACHE, 0);
    hwloc_obj_t last = last_cache(topology);
    if (second != NULL && second->attr->cache.size != 0)
        caches->second = (size_t)second->attr->cache.size;
    if (last == NULL || last->attr->cache.size == 0)
        return;
    int cores = hwloc_get_nbobjs_inside_cpuset_by_type(topology, last->cpuset, HWLOC_OBJ_CORE);
    caches->last_whole = (size_t)last->attr->cache.size;
    caches->last = caches->last_whole / (size_t)(cores > 0 ? cores : 1);
}

/* Reads the name, with the model: a hypervisor may give several models one name. */
static void read_name(hwloc_topology_t topology, redist_caches *caches) {
    static const char *const parts[] = {"CPUVendor",      "CPUModel",       "CPUFamilyNumber",
                                        "CPUModelNumber", "CPUImplementer", "CPUPart"};
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && package != NULL; i++) {
        const char *part = hwloc_obj_get_info_by_name(package, parts[i]);
        size_t room = sizeof caches->processor - length;
        if (part == NULL || part[0] == '\0' || room < 2)
            continue;
        int n = snprintf(caches->processor + length, room, "%s%s", length > 0 ? " " : "", part);
        length += (size_t)n < room ? (size_t)n : room - 1;
    }
}

void redist__read_caches(redist_caches *caches) {
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        read_sizes(topology, caches);
        read_name(topology, caches);
    }
    hwloc_topology_destroy(topology);
}
