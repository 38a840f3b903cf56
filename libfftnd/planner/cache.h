/* SPDX-License-Identifier: BSD-3-Clause */
/* The caches that tiles are cut for. */
#ifndef FFTND__CACHE_H
#define FFTND__CACHE_H

#include <stddef.h>

/* Bytes of the second-level cache of one core. */
size_t fftnd__cache_bytes(void);

#endif
