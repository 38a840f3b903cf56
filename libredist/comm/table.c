/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains in as many buckets as there are items, or up to twice as many. */
#include "table.h"
#include "redist_support.h"

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
