/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of a device that processes map into each other: exported allocations, imports from others, and the kinds of
 * handles. The calls of the device's driver are a table, which a test replaces.
 */
#ifndef REDIST__SHARES_H
#define REDIST__SHARES_H

#include "space.h"

/* Kinds of export, the first that works: the driver's own handle for processes of one machine (cudaMalloc), a handle
 * for machines of a fabric, or a descriptor: of the allocation (virtual memory functions), or of its pool
 * (cudaMallocAsync). */
enum {
    REDIST__BY_IPC,
    REDIST__BY_FABRIC,
    REDIST__BY_DESCRIPTOR,
    REDIST__BY_POOL,
    REDIST__SHARE_KINDS
};

/* Attributes of an address by the driver. */
struct redist__shared_memory {
    uint64_t base, bytes, buffer; /* of the allocation; `buffer` is never used again */
    int device;
    unsigned kinds; /* 1 << kind, of the allowed ones */
};

struct redist__share_driver {
    int (*find)(const void *address, struct redist__shared_memory *memory); /* 0 = not found */
    int (*is_buffer)(const void *address, uint64_t buffer);
    /* As those of struct redist__space; `release` too. */
    int (*find_place)(redist_place *place);
    void (*drain)(void);
    int (*allocate)(size_t bytes, void **array);
    void (*release)(void *array);

    /* Fills `ipc` of the handle, and, for kinds with one, *descriptor, which the caller closes. 0 = failure. */
    int (*export_memory)(const struct redist__shared_memory *memory,
                         struct redist__memory_handle *handle, int *descriptor);

    /* Returns the allocation's address on the current device, or NULL; `descriptor` is this process's, and stays open.
     * *kept is passed to `close`. */
    char *(*open)(const struct redist__memory_handle *handle, int descriptor, void **kept);
    void (*close)(const struct redist__memory_handle *handle, char *address, void *kept);
};

extern const struct redist__share_driver redist__share_driver;

/* As the functions of struct redist__space. */
int redist__shares_create(struct redist__context *context, size_t bytes, void **array);
struct redist__context *redist__shares_remove(const void *array);
void redist__shares_expect(struct redist__mappings *mappings);
struct redist__memory_handle redist__shares_export(const void *array, size_t bytes);
char *redist__shares_map(const struct redist__memory_handle *handle,
                         struct redist__mappings *mappings);
void redist__shares_unmap(struct redist__mappings *mappings);

#endif
