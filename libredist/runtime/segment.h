/* SPDX-License-Identifier: BSD-3-Clause */
/* Host memory that the ranks of a node map into each other (redist_alloc). */
#ifndef REDIST__SEGMENT_H
#define REDIST__SEGMENT_H

#include "space.h"

/* The place of `bytes` bytes at `array`; key 0 if peers cannot map them. */
struct redist__place redist__segment_place(const void *array, size_t bytes);

/* The address of a place in this process, NULL if this process has not mapped it. */
char *redist__segment_address(const struct redist__place *place);

/* redist_alloc and redist_free without the context's reference count, for the library's own shared
 * data. The latter returns the allocation's context, NULL if there is no such array. Collective. */
int redist__segment_create(struct redist__context *context, size_t bytes, void **array);
struct redist__context *redist__segment_remove(const void *array);

#endif
