/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An allocation is exported once, at its first use, and imported once by each process and device that needs it, an
 * array of redist_alloc_in like the user's own; memory that allows none of the kinds of shares.h has no handle.
 *
 * An import is open for as long as a plan refers to it: CUDA leaves undefined what happens if the exporter frees memory
 * that is still open elsewhere, and redist_plan_free returns on no rank before all have closed. It is closed earlier,
 * for all plans, by redist_free of the array, and by an array of another allocation at the same address of the same
 * owner, which shows that the former was freed.
 *
 * A descriptor stays open in its owner, from which the importer copies it if the system permits: some systems permit
 * that for child processes only, unless the owner consents.
 */
#include "shares.h"
#include "../comm/comm.h"
#include "imports.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Since Linux 5.3 and 5.6, with the same numbers on all processors; the C library's headers may be older. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

/* Rounds shared allocations up to whole blocks of this size, the unit of sharing, which keeps other allocations out. */
enum { BLOCK_BITS = 21 };

/* An allocation of this process. */
struct export {
    struct redist__shared_memory memory;
    struct redist__memory_handle handle; /* key 0 = cannot be mapped */
    int descriptor;                      /* or -1 */
    struct redist__context *context;     /* of redist_alloc_in, else NULL, */
    redist_place place;                  /* and its place */
    struct export *next;
};

static const struct redist__share_driver *const driver = &redist__share_driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct export *exports;
static int nexpected; /* plans with exports that peers map */
static struct redist__process self;

/* Identifies this process, once: after a fork a process cannot use CUDA. */
static void find_self(void) {
    self = redist__process_self();
}

static const struct redist__process *this_process(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_self);
    return &self;
}

/* ---------------------------------------------------------------- exports */

/* Returns a number unique in this process: with the process it names an allocation. */
static uint64_t next_key(void) {
    static uint64_t counter;
    return ++counter;
}

static int overlaps(uint64_t base, uint64_t bytes, uint64_t other, uint64_t other_bytes) {
    return base < other + other_bytes && other < base + bytes;
}

static void free_export(struct export *export) {
    if (export->descriptor >= 0)
        close(export->descriptor);
    redist_release(export);
}

/* Finds the export of an allocation; forgets earlier ones at its address. */
static struct export *find_export(const struct redist__shared_memory *memory) {
    struct export **link = &exports;
    while (*link != NULL) {
        struct export *export = *link;
        if (export->memory.buffer == memory->buffer && export->memory.base == memory->base)
            return export;
        if (!overlaps(export->memory.base, export->memory.bytes, memory->base, memory->bytes)) {
            link = &export->next;
            continue;
        }
        *link = export->next;
        free_export(export);
    }
    return NULL;
}

/* Makes a handle by the first kind that the driver supports. */
static void find_handle(struct export *export) {
    struct redist__memory_handle *handle = &export->handle;
    handle->owner = *this_process();
    handle->base = export->memory.base;
    handle->bytes = export->memory.bytes;
    for (int kind = 0; kind < REDIST__SHARE_KINDS && handle->key == 0; kind++) {
        handle->kind = kind;
        if ((export->memory.kinds >> kind & 1U) != 0 &&
            driver->export_memory(&export->memory, handle, &export->descriptor))
            handle->key = next_key();
    }
    handle->descriptor = export->descriptor;
    if (export->descriptor >= 0)
        (void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
}

static struct export *add_export(const struct redist__shared_memory *memory) {
    struct export *export = redist_calloc(1, sizeof *export);
    if (export == NULL)
        return NULL;
    *export = (struct export){.memory = *memory, .descriptor = -1};
    find_handle(export);
    export->next = exports;
    exports = export;
    return export;
}

/* Finds an export that is still of the allocation at this address; saves most queries of the driver. */
static struct export *find_known(const void *array, struct redist__shared_memory *memory) {
    uint64_t address = (uint64_t)(uintptr_t)array;
    for (struct export *export = exports; export != NULL; export = export->next)
        if (address - export->memory.base < export->memory.bytes) {
            *memory = export->memory;
            return driver->is_buffer(array, memory->buffer) ? export : NULL;
        }
    return NULL;
}

static struct export *find_or_add(const void *array, struct redist__shared_memory *memory) {
    struct export *export = find_known(array, memory);
    if (export != NULL || !driver->find(array, memory))
        return export;
    export = find_export(memory);
    return export != NULL ? export : add_export(memory);
}

void redist__shares_expect(struct redist__mappings *mappings) {
    pthread_mutex_lock(&lock);
    nexpected += !mappings->expected;
    mappings->expected = 1;
    pthread_mutex_unlock(&lock);
}

struct redist__memory_handle redist__shares_export(const void *array, size_t bytes) {
    struct redist__memory_handle handle = {0};
    struct redist__shared_memory memory = {0};
    if (array == NULL)
        return handle;
    pthread_mutex_lock(&lock);
    const struct export *export = find_or_add(array, &memory);
    uint64_t offset = (uint64_t)(uintptr_t)array - memory.base;
    if (export != NULL && export->handle.key != 0 && bytes <= memory.bytes - offset) {
        handle = export->handle;
        handle.offset = offset;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

/* ---------------------------------------------------------------- imports */

/* Returns whether an import is at an owner's address, on any device. */
static int lies_there(const struct redist__import *import,
                      const struct redist__memory_handle *handle) {
    return redist__process_is_same(&import->handle.owner, &handle->owner) &&
           overlaps(import->handle.base, import->handle.bytes, handle->base, handle->bytes);
}

/* Copies a descriptor of the owner; -1 without one, or without permission. */
static int fetch_descriptor(const struct redist__memory_handle *handle) {
    if (handle->descriptor < 0 || handle->owner.space != this_process()->space ||
        redist__process_has_ended(&handle->owner))
        return -1;
    int owner = (int)syscall(SYS_pidfd_open, (pid_t)handle->owner.number, 0);
    int descriptor = owner >= 0 ? (int)syscall(SYS_pidfd_getfd, owner, handle->descriptor, 0) : -1;
    if (owner >= 0)
        close(owner);
    return descriptor;
}

static char *open_import(const struct redist__memory_handle *handle, void **kept) {
    int descriptor = fetch_descriptor(handle);
    int lacks = handle->descriptor >= 0 && descriptor < 0;
    char *address = lacks ? NULL : driver->open(handle, descriptor, kept);
    if (descriptor >= 0)
        close(descriptor);
    return address;
}

/* Closes an import in its place, unless that context was destroyed. */
static void close_import(const struct redist__import *import) {
    redist_visit visit;
    if (redist_enter(&import->place, &visit) == REDIST_OK) {
        driver->drain();
        driver->close(&import->handle, import->address, import->kept);
    }
    redist_leave(&visit);
}

static struct redist__importer importer = {.open = open_import,
                                           .close = close_import,
                                           .is_displaced = lies_there,
                                           .lock = PTHREAD_MUTEX_INITIALIZER};

char *redist__shares_map(const struct redist__memory_handle *handle,
                         struct redist__mappings *mappings) {
    redist_place place = {.space = NULL};
    if (handle->key == 0 || driver->find_place(&place) != REDIST_OK)
        return NULL;
    if (redist__process_is_same(&handle->owner, this_process()))
        return (char *)(uintptr_t)(handle->base + handle->offset);
    char *base = redist__import(&importer, handle, &place, mappings);
    return base != NULL ? base + handle->offset : NULL;
}

/* Closes descriptors, which hold freed memory, when no plan's peers may copy them; a later plan exports again. */
static void close_descriptors(struct redist__mappings *mappings) {
    struct export **link = &exports;
    pthread_mutex_lock(&lock);
    nexpected -= mappings->expected;
    mappings->expected = 0;
    while (nexpected == 0 && *link != NULL) {
        struct export *export = *link;
        if (export->descriptor < 0 || export->context != NULL) {
            link = &export->next;
            continue;
        }
        *link = export->next;
        free_export(export);
    }
    pthread_mutex_unlock(&lock);
}

/* Unmaps, after draining: pending copies of a failed execution may still use the peers' arrays, or arrays that the user
 * is about to free. */
void redist__shares_unmap(struct redist__mappings *mappings) {
    driver->drain();
    redist__import_drop(&importer, mappings);
    close_descriptors(mappings);
}

/* ---------------------------------------------------------------- redist_alloc_in */

/* Records the context of an array; 0 for an unknown one. */
static int note_context(const void *array, struct redist__context *context,
                        const redist_place *place) {
    struct redist__shared_memory memory;
    if (!driver->find(array, &memory))
        return 0;
    pthread_mutex_lock(&lock);
    struct export *export = find_export(&memory);
    if (export != NULL) {
        export->context = context;
        export->place = *place;
    }
    pthread_mutex_unlock(&lock);
    return export != NULL;
}

/* Allocates, and exports at once, since the export has the array's context. */
static int allocate(struct redist__context *context, const redist_place *place, size_t bytes,
                    void **array) {
    size_t blocks = (bytes >> BLOCK_BITS) + 1;
    REDIST_TRY(driver->allocate(blocks << BLOCK_BITS, array));
    redist__shares_export(*array, bytes);
    if (note_context(*array, context, place))
        return REDIST_OK;
    driver->release(*array);
    return redist__fail(REDIST_ERR_MEMORY, "no memory to record the owner of an array");
}

static int create(struct redist__context *context, const redist_place *place, int code,
                  size_t bytes, void **array) {
    void *memory = NULL;
    int mine = code == REDIST_OK ? allocate(context, place, bytes, &memory) : code;
    code = redist_agree(context->comm, mine);
    if (code == REDIST_OK)
        *array = memory;
    else if (mine == REDIST_OK) {
        (void)note_context(memory, NULL, place);
        driver->release(memory);
    }
    return code;
}

int redist__shares_create(struct redist__context *context, size_t bytes, void **array) {
    redist_place place = {.space = NULL};
    redist_visit visit;
    int found = driver->find_place(&place);
    int entered = redist_enter(&place, &visit);
    int code = create(context, &place, found != REDIST_OK ? found : entered, bytes, array);
    redist_leave(&visit);
    return code;
}

/* Removes the export of an array of redist_alloc_in from the list. */
static struct export *unlink_export(const void *array) {
    pthread_mutex_lock(&lock);
    struct export **link = &exports;
    while (*link != NULL &&
           !((*link)->context != NULL && (*link)->memory.base == (uint64_t)(uintptr_t)array))
        link = &(*link)->next;
    struct export *export = *link;
    if (export != NULL)
        *link = export->next;
    pthread_mutex_unlock(&lock);
    return export;
}

/* Closes an export's imports on all ranks of the node, before it is freed; 0 = a peer is gone, others are unknown. */
static int close_at_peers(const struct redist__context *context, const struct export *export) {
    driver->drain();
    if (redist_barrier(context->comm) != REDIST_OK)
        return 0;
    for (int rank = 0; rank < context->node_size; rank++) {
        struct redist__memory_handle handle = {.key = export->handle.key, .owner = *this_process()};
        if (redist_broadcast(context->node, &handle, sizeof handle, rank) != REDIST_OK)
            return 0;
        if (rank != context->node_rank && handle.key != 0)
            redist__import_close(&importer, redist__import_is_of, &handle);
    }
    return redist_barrier(context->comm) == REDIST_OK;
}

struct redist__context *redist__shares_remove(const void *array) {
    struct export *export = unlink_export(array);
    redist_visit visit;
    if (export == NULL)
        return NULL;
    struct redist__context *context = export->context;
    (void)redist_enter(&export->place, &visit);
    if (close_at_peers(context, export))
        driver->release((void *)(uintptr_t)array);
    redist_leave(&visit);
    free_export(export);
    return context;
}
