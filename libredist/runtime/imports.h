/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of peers as this process maps it: each part is opened for the first plan that needs it, and closed with the
 * last one. */
#ifndef REDIST__IMPORTS_H
#define REDIST__IMPORTS_H

#include "space.h"

#include <pthread.h>

struct redist__import {
    struct redist__memory_handle handle; /* that led to it */
    redist_place place;                  /* of this process, that sees it; host: zero */
    char *address;  /* NULL = closed, and only kept for the mappings that still refer to it */
    void *kept;     /* by whoever opened it */
    int references; /* by mappings */
    struct redist__import *next;
};

typedef int redist__choose_import(const struct redist__import *import,
                                  const struct redist__memory_handle *handle);

/* A way to map memory of peers, and what it has mapped. */
struct redist__importer {
    char *(*open)(const struct redist__memory_handle *handle,
                  void **kept); /* NULL = it cannot be mapped */
    void (*close)(const struct redist__import *import);
    int (*is_gone)(
        const struct redist__import *import); /* the owner has freed it; NULL = cannot be seen */
    /* Which imports are of memory that is gone, as another handle shows; NULL = none. */
    redist__choose_import *is_displaced;
    pthread_mutex_t lock;
    struct redist__import *imports;
};

/* Where the allocation of a handle begins in this process, mapped for these mappings if it was not; NULL if that fails.
 * Forgets what is gone. */
char *redist__import(struct redist__importer *importer, const struct redist__memory_handle *handle,
                     const redist_place *place, struct redist__mappings *mappings);

/* Drops all that the mappings refer to. */
void redist__import_drop(struct redist__importer *importer, struct redist__mappings *mappings);

/* Closes those that are chosen, once for all plans that refer to them. */
void redist__import_close(struct redist__importer *importer, redist__choose_import *chosen,
                          const struct redist__memory_handle *handle);

/* A handle's own import, in whatever place. */
int redist__import_is_of(const struct redist__import *import,
                         const struct redist__memory_handle *handle);

#endif
