/* SPDX-License-Identifier: BSD-3-Clause */
/* Cache sizes from the operating system, for builds without hwloc. */
#include "cache.h"

#include <unistd.h>

size_t fftnd__cache_bytes(void) {
    long bytes = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
    return bytes > 0 ? (size_t)bytes : (size_t)1 << 20;
}
