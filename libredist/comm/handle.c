/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handles that are alive, so that a freed plan is refused before its memory is read. A thread
 * remembers what it found last: tiles and executions check their plan without a lock, for as long as
 * no handle is freed.
 */
#include "redist_support.h"
#include "table.h"

#include <pthread.h>
#include <stdatomic.h>

enum { REMEMBERED = 16, SHIFT = 4 };

/* A handle that was alive when so many had been freed. */
struct sighting {
    const void *handle;
    int kind;
    unsigned long long freed;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__table alive;           /* the items are kinds */
static _Atomic unsigned long long freed = 1; /* handles so far; 0 is in no sighting of a handle */
static _Thread_local struct sighting sightings[REMEMBERED];

static uint64_t number_of(const void *handle) {
    return (uint64_t)(uintptr_t)handle;
}

/* A kind as an item, which is not NULL. */
static void *item_of(int kind) {
    return (void *)((uintptr_t)kind + 1);
}

static int kind_of(const void *item) {
    return (int)((uintptr_t)item - 1);
}

/* Allocations begin 16 bytes apart or more. */
static struct sighting *sighting_of(const void *handle) {
    uint64_t number = number_of(handle) >> SHIFT;
    return &sightings[(number ^ number >> SHIFT) % REMEMBERED];
}

int redist_handle_add(const void *handle, int kind) {
    pthread_mutex_lock(&lock);
    int added = redist__table_add(&alive, number_of(handle), item_of(kind));
    pthread_mutex_unlock(&lock);
    return added;
}

void redist_handle_remove(const void *handle) {
    pthread_mutex_lock(&lock);
    redist__table_remove(&alive, number_of(handle));
    atomic_fetch_add_explicit(&freed, 1, memory_order_release);
    pthread_mutex_unlock(&lock);
}

/* Handles are freed with the lock held only, so that what is found here is alive at this count. */
static int look_up(const void *handle, struct sighting *sighting) {
    pthread_mutex_lock(&lock);
    const void *item = redist__table_find(&alive, number_of(handle));
    if (item != NULL)
        *sighting = (struct sighting){handle, kind_of(item),
                                      atomic_load_explicit(&freed, memory_order_relaxed)};
    pthread_mutex_unlock(&lock);
    return item != NULL;
}

int redist_handle_is(const void *handle, int kind) {
    struct sighting *sighting = sighting_of(handle);
    int remembered = sighting->handle == handle &&
                     sighting->freed == atomic_load_explicit(&freed, memory_order_acquire);
    return (remembered || look_up(handle, sighting)) && sighting->kind == kind;
}
