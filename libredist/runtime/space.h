/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory spaces: struct redist__space (redist_support.h) and what its functions take. A space is one file, one
 * const table, and one line of the register in space.c.
 */
#ifndef REDIST__SPACE_H
#define REDIST__SPACE_H

#include "../comm/comm.h"
#include "../geometry/box.h"

#include <stdint.h>

/* Where an array lies, in words that every rank of the node understands. */
struct redist__memory_handle {
    uint64_t key;    /* names the allocation, on a device among its owner's; 0 = not mapped */
    uint64_t offset; /* bytes from the start of that rank's memory in it */
    int32_t rank;    /* host: whose memory, as counted in the allocation */
    int32_t kind,
        descriptor; /* device: how it is mapped (shares.h), by which of the owner's files, or -1 */
    struct redist__process owner; /* device, local: the process whose allocation it is, */
    uint64_t base, bytes;         /* where it has it, */
    unsigned char ipc[64];        /* and what lets others map it */
};

/* What a plan has mapped of its peers' memory; all zero at first. What `map` has to map stays mapped for as long
 * as one of the `mappings` that it was mapped for is not unmapped. */
struct redist__mappings {
    struct redist__mapping *first;
    int expected; /* peers are to map memory of this rank, too, until it is unmapped here */
};

/* Several boxes that are copied at once. The user of a batch fills `copies` once and the addresses before
 * each run. */
struct redist__batch {
    const struct redist__space *space;
    int count;
    struct redist__copy *copies;
    const char **sources;
    char **destinations;
    int use;      /* of the caches, in host memory: enum redist__copy_use */
    void *device; /* what the space keeps for it */
};

extern const struct redist__space redist__space_host, redist__space_cuda;

/* How many values enum redist_space has. */
int redist__space_count(void);

/* Where an array lies: REDIST_SPACE_HOST if no other space knows it. */
enum redist_space redist__space_of(const void *array);

/* REDIST_OK if there is memory of the space, which an argument names, else REDIST_ERR_ARGUMENT. */
int redist__space_check(const char *function, const char *argument, enum redist_space space);

/* Where the parts of an allocation of the host are that all ranks of the node have made together: as many as there are
 * ranks. REDIST_ERR_METHOD if it is not shared. */
int redist__map_parts(const struct redist__context *context, const void *memory, void *parts[]);

/* A batch of `count` boxes, all empty at first; to be freed also if that fails. */
int redist__batch_create(struct redist__batch *batch, const struct redist__space *space, int count);
void redist__batch_free(struct redist__batch *batch);

/* Whether MPI takes addresses of CUDA memory. */
int redist__mpi_takes_cuda(void);

#endif
