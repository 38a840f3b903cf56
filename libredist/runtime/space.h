/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory spaces: struct redist__space (redist_support.h) and the arguments of its functions. A space is one file, one
 * const table, and one line of the register in space.c.
 */
#ifndef REDIST__SPACE_H
#define REDIST__SPACE_H

#include "../comm/comm.h"
#include "../geometry/box.h"

#include <stdint.h>

/* The location of an array for every rank of the node. */
struct redist__memory_handle {
    uint64_t key;    /* names the allocation, on a device among its owner's; 0 = not mapped */
    uint64_t offset; /* bytes from the start of that rank's memory in it */
    int32_t rank;    /* host: owner, as counted in the allocation */
    int32_t kind,
        descriptor; /* device: kind of mapping (shares.h); descriptor of the owner, or -1 */
    struct redist__process owner; /* device, local: the owner, */
    uint64_t base, bytes;         /* its address and size there, */
    unsigned char ipc[64];        /* and the handle for others */
};

/* A plan's mappings of its peers' memory, zero at first; a mapping is kept until all that refer to it are unmapped. */
struct redist__mappings {
    struct redist__mapping *first;
    int expected; /* peers map memory of this rank, too, until it is unmapped here */
};

/* Boxes that are copied at once; or added, each after those before it unless it is `beside` them. Its user fills
 * `copies` once, and the addresses before each run. */
struct redist__batch {
    const struct redist__space *space;
    int count;
    struct redist__copy *copies;
    const char **sources;
    char **destinations;
    int use; /* of the caches, in host memory: enum redist__copy_use */
};

extern const struct redist__space redist__space_host, redist__space_cuda;

/* Returns the number of values of enum redist_space. */
int redist__space_count(void);

/* Returns the space of an array: REDIST_SPACE_HOST if no other recognises it. */
enum redist_space redist__space_of(const void *array);

/* Checks that this build and machine have the space of an argument, else REDIST_ERR_ARGUMENT. */
int redist__space_check(const char *function, const char *argument, enum redist_space space);

/* Access of peers on the node to an array. */
enum redist__mappability {
    REDIST__MAPPABLE,
    REDIST__PLAIN,       /* of redist_alloc without shared memory, on all ranks */
    REDIST__PLAIN_LOCAL, /* of redist_alloc_local, unreachable for peers, on this rank at least */
    REDIST__FOREIGN,     /* the user's own */
    REDIST__TOO_SHORT    /* the allocation ends before the array does */
};

/* Returns the access to `bytes` bytes at `array` in a space. */
enum redist__mappability redist__mappability(enum redist_space space, const void *array,
                                             size_t bytes);

/* Finds the parts, one for each rank, of a host allocation of all ranks of the node; REDIST_ERR_METHOD = not shared. */
int redist__map_parts(const struct redist__context *context, const void *memory, void *parts[]);

/* Creates a batch of `count` empty boxes; to be freed also after a failure. */
int redist__batch_create(struct redist__batch *batch, const struct redist__space *space, int count);
void redist__batch_free(struct redist__batch *batch);

/* Returns whether MPI accepts addresses of CUDA memory. */
int redist__mpi_takes_cuda(void);

#endif
