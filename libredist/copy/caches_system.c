/* SPDX-License-Identifier: BSD-3-Clause */
/* Caches and processor by the operating system, without hwloc. */
#include "caches.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads the name, or the numbers of a processor without one. */
static void read_name(redist_caches *caches) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 || strncmp(line, "CPU part", 8) == 0) {
            const char *name = line + strcspn(line, ":\n");
            name += strspn(name, ": \t");
            snprintf(caches->processor, sizeof caches->processor, "%.*s", (int)strcspn(name, "\n"),
                     name);
            break;
        }
    if (file != NULL)
        fclose(file);
}

#ifdef _SC_LEVEL2_CACHE_SIZE
enum { SECOND = _SC_LEVEL2_CACHE_SIZE, LAST = _SC_LEVEL3_CACHE_SIZE };
#else
enum { SECOND = -1, LAST = -1 }; /* of which sysconf knows nothing */
#endif

void redist__read_caches(redist_caches *caches) {
    long second = sysconf(SECOND), last = sysconf(LAST);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (second > 0)
        caches->second = (size_t)second;
    if (last > 0) { /* the cores that share it are unknown */
        caches->last_whole = (size_t)last;
        caches->last = (size_t)last / (size_t)(cores > 0 ? cores : 1);
    }
    read_name(caches);
}
