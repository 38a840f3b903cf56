/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles that are alive, so that a freed plan is refused before its memory is read. */
#include "redist_support.h"

#include <pthread.h>

struct entry {
    const void *handle;
    int kind;
    struct entry *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *alive;

int redist_handle_add(const void *handle, int kind) {
    struct entry *entry = redist_calloc(1, sizeof *entry);
    if (entry == NULL)
        return 0;
    entry->handle = handle;
    entry->kind = kind;
    pthread_mutex_lock(&lock);
    entry->next = alive;
    alive = entry;
    pthread_mutex_unlock(&lock);
    return 1;
}

/* The link that points to the handle's entry, or to NULL. Called with the lock held. */
static struct entry **find(const void *handle) {
    struct entry **link = &alive;
    while (*link != NULL && (*link)->handle != handle)
        link = &(*link)->next;
    return link;
}

void redist_handle_remove(const void *handle) {
    pthread_mutex_lock(&lock);
    struct entry **link = find(handle), *entry = *link;
    if (entry != NULL)
        *link = entry->next;
    pthread_mutex_unlock(&lock);
    redist_release(entry);
}

int redist_handle_is(const void *handle, int kind) {
    pthread_mutex_lock(&lock);
    const struct entry *entry = *find(handle);
    int found = entry != NULL && entry->kind == kind;
    pthread_mutex_unlock(&lock);
    return found;
}
