/* SPDX-License-Identifier: BSD-3-Clause */
#include "imports.h"

/* A plan's reference to an import. */
struct redist__mapping {
    struct redist__import *import;
    struct redist__mapping *next;
};

int redist__import_is_of(const struct redist__import *import,
                         const struct redist__memory_handle *handle) {
    return import->handle.key == handle->key &&
           redist__process_is_same(&import->handle.owner, &handle->owner);
}

static void close_one(struct redist__importer *importer, struct redist__import *import) {
    struct redist__import **link = &importer->imports;
    while (*link != import)
        link = &(*link)->next;
    *link = import->next;
    importer->close(import);
    import->address = NULL;
    if (import->references == 0)
        redist_release(import);
}

static void close_chosen(struct redist__importer *importer, redist__choose_import *chosen,
                         const struct redist__memory_handle *handle) {
    for (struct redist__import *import = importer->imports, *next; import != NULL; import = next) {
        next = import->next;
        if (chosen(import, handle))
            close_one(importer, import);
    }
}

static void drop_mapping(struct redist__importer *importer, struct redist__mapping **link) {
    struct redist__mapping *mapping = *link;
    struct redist__import *import = mapping->import;
    *link = mapping->next;
    redist_release(mapping);
    if (--import->references > 0)
        return;
    if (import->address != NULL)
        close_one(importer, import);
    else
        redist_release(import);
}

static struct redist__import *find_mapping(struct redist__importer *importer,
                                           const struct redist__memory_handle *handle,
                                           const redist_place *place,
                                           struct redist__mappings *mappings) {
    struct redist__mapping **link = &mappings->first;
    while (*link != NULL) {
        struct redist__import *import = (*link)->import;
        if (import->address == NULL || (importer->is_gone != NULL && importer->is_gone(import)))
            drop_mapping(importer, link);
        else if (import->place.context == place->context && redist__import_is_of(import, handle))
            return import;
        else
            link = &(*link)->next;
    }
    return NULL;
}

static struct redist__import *add_import(struct redist__importer *importer,
                                         const struct redist__memory_handle *handle,
                                         const redist_place *place) {
    struct redist__import *import = redist_calloc(1, sizeof *import);
    if (importer->is_displaced != NULL)
        close_chosen(importer, importer->is_displaced, handle);
    void *kept = NULL;
    char *address = import != NULL ? importer->open(handle, &kept) : NULL;
    if (address == NULL) {
        redist_release(import);
        return NULL;
    }
    *import = (struct redist__import){*handle, *place, address, kept, 0, importer->imports};
    importer->imports = import;
    return import;
}

static struct redist__import *add_mapping(struct redist__importer *importer,
                                          const struct redist__memory_handle *handle,
                                          const redist_place *place,
                                          struct redist__mappings *mappings) {
    struct redist__mapping *mapping = redist_calloc(1, sizeof *mapping);
    if (mapping == NULL)
        return NULL;
    struct redist__import *import = importer->imports;
    while (import != NULL &&
           !(import->place.context == place->context && redist__import_is_of(import, handle)))
        import = import->next;
    if (import == NULL)
        import = add_import(importer, handle, place);
    if (import == NULL) {
        redist_release(mapping);
        return NULL;
    }
    import->references++;
    *mapping = (struct redist__mapping){import, mappings->first};
    mappings->first = mapping;
    return import;
}

char *redist__import(struct redist__importer *importer, const struct redist__memory_handle *handle,
                     const redist_place *place, struct redist__mappings *mappings) {
    pthread_mutex_lock(&importer->lock);
    struct redist__import *import = find_mapping(importer, handle, place, mappings);
    if (import == NULL)
        import = add_mapping(importer, handle, place, mappings);
    char *address = import != NULL ? import->address : NULL;
    pthread_mutex_unlock(&importer->lock);
    return address;
}

void redist__import_drop(struct redist__importer *importer, struct redist__mappings *mappings) {
    pthread_mutex_lock(&importer->lock);
    while (mappings->first != NULL)
        drop_mapping(importer, &mappings->first);
    pthread_mutex_unlock(&importer->lock);
}

void redist__import_close(struct redist__importer *importer, redist__choose_import *chosen,
                          const struct redist__memory_handle *handle) {
    pthread_mutex_lock(&importer->lock);
    close_chosen(importer, chosen, handle);
    pthread_mutex_unlock(&importer->lock);
}
