/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table: items found by a number, such as an address. The caller locks it. */
#ifndef REDIST__TABLE_H
#define REDIST__TABLE_H

#include <stddef.h>
#include <stdint.h>

struct redist__table_entry;

/* All zero at first, and again when it is empty: it has no memory then. */
struct redist__table {
    struct redist__table_entry **buckets;
    size_t nbuckets, count;
};

/* Adds an item, of a number that no other has; 0 if memory is out. */
int redist__table_add(struct redist__table *table, uint64_t number, void *item);

/* The item of a number; NULL if there is none. */
void *redist__table_find(const struct redist__table *table, uint64_t number);

/* Takes out the item of a number and returns it; NULL if there is none. */
void *redist__table_remove(struct redist__table *table, uint64_t number);

/* Takes out any item and returns it; NULL when the table is empty. */
void *redist__table_take(struct redist__table *table);

#endif
