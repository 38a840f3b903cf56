/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process has one memory file, which only grows: each array has its own range in it, whose pages return to the system
 * when the array is freed. Before an array is a page with its key. It becomes zero with the array's pages, by which
 * peers detect that the array was freed.
 *
 * A peer opens the file through the owner's list of open files in /proc, maps the array, and closes the file. All plans
 * share the mapping; it is closed with the last of them, or, if the array was freed, when they map another one.
 */
#include "local.h"
#include "imports.h"
#include "memory_file.h"

#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { PAGE = REDIST__FILE_PAGE };

/* ---------------------------------------------------------------- the file */

/* Location of a part of a file, in the `ipc` of a memory handle. */
struct way {
    uint64_t begin; /* of the part in the file */
    dev_t device;   /* identity of the file */
    ino_t file;
    int descriptor; /* of the owner */
};

_Static_assert(sizeof(struct way) <= sizeof((struct redist__memory_handle *)0)->ipc,
               "a memory handle has room for the way to a file");

static struct {
    struct redist__process owner; /* a forked process needs its own file */
    struct way way;
    uint64_t end; /* of the used range, in bytes */
} file = {.way = {.descriptor = -1}};

/* Opens the file; 0 without memory files. Called with the lock held, as all functions that use the file. */
static int open_file(void) {
    struct stat status;
    if (file.owner.number == (uint64_t)getpid())
        return file.way.descriptor >= 0;
    int descriptor = redist__memory_file_create("redist_alloc_local");
    file.owner = redist__process_self();
    file.end = 0;
    file.way = (struct way){.descriptor = -1};
    if (descriptor >= 0 && fstat(descriptor, &status) == 0)
        file.way = (struct way){0, status.st_dev, status.st_ino, descriptor};
    else if (descriptor >= 0)
        close(descriptor);
    return file.way.descriptor >= 0;
}

/* Adds a part at the end of the file; NULL after a failure. */
static char *grow(size_t bytes, uint64_t *begin) {
    if (!open_file() || !redist__memory_file_may_end(file.end + bytes) ||
        ftruncate(file.way.descriptor, (off_t)(file.end + bytes)) != 0)
        return NULL;
    char *address = redist__memory_file_map(file.way.descriptor, file.end, bytes);
    *begin = file.end;
    file.end += address != NULL ? bytes : 0;
    return address;
}

/* ---------------------------------------------------------------- arrays of this process */

/* An array: its page and its memory; without a key it is plain memory, without a page. */
struct part {
    _Atomic uint64_t *key; /* in its page, or NULL */
    char *base;
    size_t bytes;
    struct redist__process owner;
    uint64_t begin; /* of its page in the file */
};

static void *parts; /* a tree by address */

/* Compares; overlapping parts are equal, so that a byte finds its part. */
static int compare_addresses(const void *left, const void *right) {
    const struct part *a = left, *b = right;
    if ((uintptr_t)a->base + a->bytes <= (uintptr_t)b->base)
        return -1;
    return (uintptr_t)b->base + b->bytes <= (uintptr_t)a->base;
}

static struct part *find_part(const void *address) {
    const struct part byte = {.base = (char *)(size_t)address, .bytes = 1};
    struct part **found = tfind(&byte, &parts, compare_addresses);
    return found != NULL ? *found : NULL;
}

static int place_in_file(struct part *part) {
    char *address = grow(PAGE + part->bytes, &part->begin);
    if (address == NULL)
        return 0;
    part->owner = file.owner;
    part->key = (_Atomic uint64_t *)(void *)address;
    part->base = address + PAGE;
    atomic_store(part->key, redist__process_key());
    return 1;
}

static int place_in_heap(struct part *part) {
    part->base = aligned_alloc(PAGE, part->bytes);
    if (part->base != NULL)
        memset(part->base, 0, part->bytes);
    return part->base != NULL;
}

/* Releases memory, except pages of the parent's file in a forked process. */
static void release_memory(const struct part *part) {
    if (part->key == NULL) {
        free(part->base);
        return;
    }
    size_t bytes = PAGE + part->bytes;
    char *address = part->base - PAGE;
    if (part->owner.number == (uint64_t)getpid())
        (void)madvise(address, bytes, MADV_REMOVE);
    munmap(address, bytes);
}

int redist__local_create(size_t bytes, void **array) {
    size_t pages = bytes / PAGE + (bytes % PAGE != 0 || bytes == 0);
    struct part *part = redist_calloc(1, sizeof *part);
    int noted = 0;
    if (part != NULL) {
        part->bytes = pages * PAGE;
        pthread_mutex_lock(&lock);
        int placed = place_in_file(part) || place_in_heap(part);
        noted = placed && tsearch(part, &parts, compare_addresses) != NULL;
        pthread_mutex_unlock(&lock);
        if (placed && !noted)
            release_memory(part);
    }
    if (!noted) {
        redist_release(part);
        return redist__fail(REDIST_ERR_MEMORY, "no memory for an array of %zu bytes", bytes);
    }
    *array = part->base;
    return REDIST_OK;
}

int redist__local_remove(const void *array) {
    pthread_mutex_lock(&lock);
    struct part *part = find_part(array);
    if (part != NULL && part->base == array)
        tdelete(part, &parts, compare_addresses);
    else
        part = NULL;
    pthread_mutex_unlock(&lock);
    if (part == NULL)
        return 0;
    release_memory(part);
    redist_release(part);
    return 1;
}

int redist__local_has(const void *array) {
    pthread_mutex_lock(&lock);
    int found = find_part(array) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---------------------------------------------------------------- handles */

static struct redist__memory_handle describe(const struct part *part) {
    struct way way = file.way;
    way.begin = part->begin;
    struct redist__memory_handle handle = {
        .key = part->key != NULL ? atomic_load_explicit(part->key, memory_order_relaxed) : 0,
        .owner = file.owner,
        .base = (uint64_t)(uintptr_t)part->base - PAGE,
        .bytes = PAGE + part->bytes};
    memcpy(handle.ipc, &way, sizeof way);
    return handle;
}

struct redist__memory_handle redist__local_export(const void *array, size_t bytes) {
    struct redist__memory_handle handle = {0};
    pthread_mutex_lock(&lock);
    const struct part *part = array != NULL ? find_part(array) : NULL;
    size_t offset = part != NULL ? (size_t)((const char *)array - part->base) : 0;
    if (part != NULL && part->key != NULL && part->owner.number == file.owner.number &&
        bytes <= part->bytes - offset) {
        handle = describe(part);
        handle.offset = PAGE + offset;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

struct redist__memory_handle redist__local_probe(void) {
    const struct part nothing = {0};
    struct redist__memory_handle handle = {0};
    pthread_mutex_lock(&lock);
    if (open_file()) {
        handle = describe(&nothing);
        handle.key = 1;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

static _Atomic int unreachable;

void redist__local_note_unreachable(void) {
    atomic_store(&unreachable, 1);
}

int redist__local_is_reachable(void) {
    return !atomic_load(&unreachable);
}

/* ---------------------------------------------------------------- arrays of peers */

static struct way way_of(const struct redist__memory_handle *handle) {
    struct way way;
    memcpy(&way, handle->ipc, sizeof way);
    return way;
}

/* Opens the file of a handle; -1 if it is missing or another one. */
static int open_way(const struct redist__memory_handle *handle) {
    char name[64];
    struct stat status;
    struct way way = way_of(handle);
    snprintf(name, sizeof name, "/proc/%llu/fd/%d", (unsigned long long)handle->owner.number,
             way.descriptor);
    int descriptor = open(name, O_RDWR | O_CLOEXEC);
    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || status.st_dev != way.device ||
                            status.st_ino != way.file)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

static int is_own(const struct redist__memory_handle *handle) {
    pthread_mutex_lock(&lock);
    int same = redist__process_is_same(&handle->owner, &file.owner);
    pthread_mutex_unlock(&lock);
    return same;
}

int redist__local_reaches(const struct redist__memory_handle *probe) {
    if (probe->key == 0 || is_own(probe))
        return 1;
    int descriptor = open_way(probe);
    if (descriptor >= 0)
        close(descriptor);
    return descriptor >= 0;
}

static char *open_import(const struct redist__memory_handle *handle, void **kept) {
    (void)kept;
    int descriptor = open_way(handle);
    if (descriptor < 0)
        return NULL;
    char *page = redist__memory_file_map(descriptor, way_of(handle).begin, handle->bytes);
    close(descriptor);
    return page;
}

static void close_import(const struct redist__import *import) {
    munmap(import->address, (size_t)import->handle.bytes);
}

/* Returns whether an array was freed. Reading its page allocates a new one in the owner's file, which is released. */
static int is_freed(const struct redist__import *import) {
    if (atomic_load((_Atomic uint64_t *)(void *)import->address) == import->handle.key)
        return 0;
    (void)madvise(import->address, PAGE, MADV_REMOVE);
    return 1;
}

static struct redist__importer importer = {.open = open_import,
                                           .close = close_import,
                                           .is_gone = is_freed,
                                           .lock = PTHREAD_MUTEX_INITIALIZER};

char *redist__local_map(const struct redist__memory_handle *handle,
                        struct redist__mappings *mappings) {
    static const redist_place nowhere;
    char *page = is_own(handle) ? (char *)(uintptr_t)handle->base
                                : redist__import(&importer, handle, &nowhere, mappings);
    return page != NULL ? page + handle->offset : NULL;
}

void redist__local_unmap(struct redist__mappings *mappings) {
    redist__import_drop(&importer, mappings);
}
