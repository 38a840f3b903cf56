/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings of peers' memory in this process, opened for the first plan that needs one, closed with the last. */
#ifndef REDIST__IMPORTS_H
#define REDIST__IMPORTS_H

#include "space.h"

#include <pthread.h>

struct redist__import {
    struct redist__memory_handle handle; /* from which it was opened */
    redist_place place;                  /* of this process, that maps it; host: zero */
    char *address;                       /* NULL = closed, but still referred to by mappings */
    void *kept;                          /* state of `open` */
    int references;                      /* by mappings */
    struct redist__import *next;
};

typedef int redist__choose_import(const struct redist__import *import,
                                  const struct redist__memory_handle *handle);

/* A way to map memory of peers, and its imports. */
struct redist__importer {
    char *(*open)(const struct redist__memory_handle *handle,
                  void **kept); /* NULL = cannot be mapped */
    void (*close)(const struct redist__import *import);
    int (*is_gone)(
        const struct redist__import *import); /* the owner has freed it; NULL = cannot be seen */
    /* Chooses imports of memory that was freed, as another handle shows; NULL = none. */
    redist__choose_import *is_displaced;
    pthread_mutex_t lock;
    struct redist__import *imports;
};

/* Returns a handle's address in this process, mapped if necessary; NULL = failure. Forgets freed memory. */
char *redist__import(struct redist__importer *importer, const struct redist__memory_handle *handle,
                     const redist_place *place, struct redist__mappings *mappings);

/* Drops all imports of the mappings. */
void redist__import_drop(struct redist__importer *importer, struct redist__mappings *mappings);

/* Closes the chosen imports, once for all plans that refer to them. */
void redist__import_close(struct redist__importer *importer, redist__choose_import *chosen,
                          const struct redist__memory_handle *handle);

/* Returns whether an import is of a handle, in any place. */
int redist__import_is_of(const struct redist__import *import,
                         const struct redist__memory_handle *handle);

#endif
