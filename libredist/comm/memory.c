/* SPDX-License-Identifier: BSD-3-Clause */
/* Heap memory of the libraries, the list of valid handles, and memory files. */
#include "comm.h"

#include <errno.h>
#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* ---------------------------------------------------------------- heap memory */

static void *(*allocate)(size_t) = malloc;
static void (*release)(void *) = free;

void redist_set_allocator(void *(*new_allocate)(size_t), void (*new_release)(void *)) {
    allocate = new_allocate != NULL ? new_allocate : malloc;
    release = new_release != NULL ? new_release : free;
}

void *redist_calloc(size_t count, size_t bytes) {
    if (bytes != 0 && count > SIZE_MAX / bytes)
        return NULL;
    size_t total = count * bytes != 0 ? count * bytes : 1;
    void *memory = allocate(total);
    return memory != NULL ? memset(memory, 0, total) : NULL;
}

void *redist_malloc(size_t bytes) {
    return allocate(bytes != 0 ? bytes : 1);
}

void redist_release(void *memory) {
    if (memory != NULL)
        release(memory);
}

/* ---------------------------------------------------------------- handles */

/* Refuses a freed handle before its memory is read. Each thread caches its last results: tiles and executions check
 * their plan without a lock, as long as no handle is freed. */
enum { REMEMBERED = 16, SHIFT = 4 };

struct living {
    const void *handle;
    int kind;
};

/* A handle that was valid when `freed` handles had been freed. */
struct sighting {
    struct living living;
    unsigned long long freed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *alive;                          /* a tree of struct living */
static _Atomic unsigned long long freed = 1; /* handles so far; 0 is in no sighting of a handle */
static _Thread_local struct sighting sightings[REMEMBERED];

static int compare(const void *left, const void *right) {
    uintptr_t a = (uintptr_t)((const struct living *)left)->handle;
    uintptr_t b = (uintptr_t)((const struct living *)right)->handle;
    return (a > b) - (a < b);
}

/* Finds a handle, or NULL. Called with the lock held. */
static struct living *find(const void *handle) {
    const struct living key = {handle, 0};
    struct living **found = tfind(&key, &alive, compare);
    return found != NULL ? *found : NULL;
}

int redist_handle_add(const void *handle, int kind) {
    struct living *living = redist_calloc(1, sizeof *living);
    if (living == NULL)
        return 0;
    *living = (struct living){handle, kind};
    pthread_mutex_lock(&lock);
    int added = tsearch(living, &alive, compare) != NULL;
    pthread_mutex_unlock(&lock);
    if (!added)
        redist_release(living);
    return added;
}

void redist_handle_remove(const void *handle) {
    pthread_mutex_lock(&lock);
    struct living *living = find(handle);
    if (living != NULL)
        tdelete(living, &alive, compare);
    atomic_fetch_add_explicit(&freed, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
    redist_release(living);
}

/* Looks a handle up under the lock, under which handles are freed: a result is valid at this count. */
static int look_up(const void *handle, struct sighting *sighting) {
    pthread_mutex_lock(&lock);
    const struct living *living = find(handle);
    if (living != NULL)
        *sighting = (struct sighting){*living, atomic_load_explicit(&freed, memory_order_relaxed)};
    pthread_mutex_unlock(&lock);
    return living != NULL;
}

/* Allocations begin 16 bytes apart or more. */
int redist_handle_is(const void *handle, int kind) {
    uintptr_t number = (uintptr_t)handle >> SHIFT;
    struct sighting *sighting = &sightings[(number ^ number >> SHIFT) % REMEMBERED];
    int remembered = sighting->living.handle == handle &&
                     sighting->freed == atomic_load_explicit(&freed, memory_order_acquire);
    return (remembered || look_up(handle, sighting)) && sighting->living.kind == kind;
}

/* ---------------------------------------------------------------- memory files */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U /* since Linux 6.3, which can be configured to refuse files without it */
#endif

int redist__memory_file_create(const char *name) {
    int file = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    return file >= 0 || errno != EINVAL ? file : memfd_create(name, MFD_CLOEXEC);
}

int redist__memory_file_may_end(uint64_t end) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || end <= limit.rlim_cur);
}
