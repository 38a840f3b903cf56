/* SPDX-License-Identifier: BSD-3-Clause */
/* Checksums by xxHash, whose code becomes part of this file: users of the library need no other one. */
#define XXH_INLINE_ALL
#include "format.h"

#include <xxhash.h>

uint64_t redist__checksum(const void *data, size_t bytes) {
    return XXH3_64bits(data, bytes);
}

const char *redist__checksum_absent(void) {
    return NULL;
}
