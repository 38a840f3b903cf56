/* SPDX-License-Identifier: BSD-3-Clause */
/* The libraries' own heap memory, a hash table, and which handles are alive. */
#include "comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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

void redist_release(void *memory) {
    if (memory != NULL)
        release(memory);
}

/* ---------------------------------------------------------------- hash tables */

/* Chains in as many buckets as there are items, or up to twice as many. */
enum { FIRST_BUCKETS = 32 };

struct redist__table_entry {
    uint64_t number;
    void *item;
    struct redist__table_entry *next;
};

/* Addresses differ in their middle bits, keys in their lowest: all of them count. */
static size_t bucket_of(uint64_t number, size_t nbuckets) {
    number = (number ^ number >> 32) * 0x9e3779b97f4a7c15ULL;
    return (size_t)(number >> 32) & (nbuckets - 1);
}

static void put(struct redist__table_entry **buckets, size_t nbuckets,
                struct redist__table_entry *entry) {
    struct redist__table_entry **bucket = &buckets[bucket_of(entry->number, nbuckets)];
    entry->next = *bucket;
    *bucket = entry;
}

static void move_entries(struct redist__table *table, struct redist__table_entry **buckets,
                         size_t nbuckets) {
    for (size_t i = 0; i < table->nbuckets; i++)
        while (table->buckets[i] != NULL) {
            struct redist__table_entry *entry = table->buckets[i];
            table->buckets[i] = entry->next;
            put(buckets, nbuckets, entry);
        }
}

/* A table that cannot grow is only slower. */
static int make_room(struct redist__table *table) {
    if (table->count < table->nbuckets)
        return 1;
    size_t nbuckets = table->nbuckets != 0 ? 2 * table->nbuckets : FIRST_BUCKETS;
    struct redist__table_entry **buckets = redist_calloc(nbuckets, sizeof *buckets);
    if (buckets == NULL)
        return table->nbuckets != 0;
    move_entries(table, buckets, nbuckets);
    redist_release(table->buckets);
    table->buckets = buckets;
    table->nbuckets = nbuckets;
    return 1;
}

static void release_if_empty(struct redist__table *table) {
    if (table->count != 0)
        return;
    redist_release(table->buckets);
    *table = (struct redist__table){0};
}

int redist__table_add(struct redist__table *table, uint64_t number, void *item) {
    struct redist__table_entry *entry = redist_calloc(1, sizeof *entry);
    if (entry == NULL || !make_room(table)) {
        redist_release(entry);
        return 0;
    }
    entry->number = number;
    entry->item = item;
    put(table->buckets, table->nbuckets, entry);
    table->count++;
    return 1;
}

/* The link to the entry of a number, or to NULL; NULL in an empty table. */
static struct redist__table_entry **find(const struct redist__table *table, uint64_t number) {
    if (table->count == 0)
        return NULL;
    struct redist__table_entry **link = &table->buckets[bucket_of(number, table->nbuckets)];
    while (*link != NULL && (*link)->number != number)
        link = &(*link)->next;
    return link;
}

void *redist__table_find(const struct redist__table *table, uint64_t number) {
    struct redist__table_entry *const *link = find(table, number);
    return link != NULL && *link != NULL ? (*link)->item : NULL;
}

static void *take_out(struct redist__table *table, struct redist__table_entry **link) {
    if (link == NULL || *link == NULL)
        return NULL;
    struct redist__table_entry *entry = *link;
    void *item = entry->item;
    *link = entry->next;
    redist_release(entry);
    table->count--;
    release_if_empty(table);
    return item;
}

void *redist__table_remove(struct redist__table *table, uint64_t number) {
    return take_out(table, find(table, number));
}

void *redist__table_take(struct redist__table *table) {
    for (size_t i = 0; i < table->nbuckets; i++)
        if (table->buckets[i] != NULL)
            return take_out(table, &table->buckets[i]);
    return NULL;
}

/* ---------------------------------------------------------------- handles */

/* A freed handle is refused before its memory is read. A thread remembers what it found last: tiles and executions
 * check their plan without a lock, for as long as no handle is freed. */
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
