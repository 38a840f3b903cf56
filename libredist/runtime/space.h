/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a memory space is: one const table of functions, and one line in REDIST__SPACES. Where a space
 * is asynchronous, copies run beside the host, in order within a lane; marks tell how far a lane is.
 */
#ifndef REDIST__SPACE_H
#define REDIST__SPACE_H

#include "../comm/context.h"
#include "../comm/process.h"
#include "../geometry/box.h"

#include <stdint.h>

/* Where an array lies, in words that every rank of the node understands. */
struct redist__place {
    uint64_t key;    /* names the allocation, on a device among its owner's; 0 = not mapped */
    uint64_t offset; /* bytes from the start of that rank's memory in it */
    int32_t rank;    /* host: whose memory, as counted in the allocation */
    struct redist__process owner; /* device: the process whose allocation it is, */
    uint64_t base, bytes;         /* where it has it, */
    unsigned char handle[64];     /* and what lets others map it */
};

/* What a plan has mapped of its peers' memory; all zero at first. A mapping belongs to the space. */
struct redist__mappings {
    struct redist__mapping *first;
};

/* Who copies: in host memory stores that go through the caches or past them, on a device a kernel or
 * its copy engines. */
enum redist__copier {
    REDIST__KERNEL,
    REDIST__NONTEMPORAL,
    REDIST__ENGINES,
    REDIST__CACHED = REDIST__KERNEL
};

/* Several boxes that are copied in one go. The user of a batch fills `copies` once and the addresses
 * before each run. */
struct redist__batch {
    const struct redist__space *space;
    int count;
    struct redist__copy *copies;
    const char **sources;
    char **destinations;
    void *device; /* what the space keeps for it */
};

struct redist__space {
    const char *name;
    int asynchronous;

    /* Why there is no such memory here; NULL = there is. */
    const char *(*absent)(void);
    /* Whether an address lies in this space, and whether this rank may use it now: REDIST_OK, or a code
     * with the reason as message. */
    int (*recognises)(const void *array);
    int (*check)(const void *array);

    /* Memory of this rank alone, NULL if there is none; staging memory is host memory that MPI may
     * use and that copies to and from this space reach best. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    void *(*allocate_staging)(size_t bytes);
    void (*release_staging)(void *memory);
    int (*clear)(void *memory, size_t bytes);
    /* Waits for all work of this rank, whatever its lane. */
    void (*drain)(void);

    /* Memory that peers map (segment.h says how). What `address` has to map stays mapped for as long as
     * one of the `mappings` that asked for it is open; NULL = the space maps nothing for a plan. */
    int (*create)(struct redist__context *context, size_t bytes, void **array);
    struct redist__context *(*remove)(const void *array);
    struct redist__place (*place)(const void *array, size_t bytes);
    char *(*address)(const struct redist__place *place, struct redist__mappings *mappings);
    void (*close_mappings)(struct redist__mappings *mappings);

    /* Of what follows a call that fails returns only when all that its lane or stream has to do is done, so
     * that nobody has to wait for a mark that was never made.
     * Copies one box, in a lane, or in a stream of the user and then also from or to the host's memory;
     * several at once. */
    int (*copy)(const struct redist__copy *copy, const void *source, void *destination,
                enum redist__copier copier, int lane);
    int (*copy_in_stream)(const struct redist__copy *copy, const void *source, void *destination,
                          void *stream);
    int (*batch_open)(struct redist__batch *batch);
    int (*batch_run)(struct redist__batch *batch, int first, int count, int lane);
    void (*batch_close)(struct redist__batch *batch);

    /* Marks, only where the space is asynchronous: in a lane, or in a stream of the user. */
    int (*mark_create)(void **mark);
    void (*mark_destroy)(void *mark);
    int (*mark_lane)(void *mark, int lane);
    int (*mark_stream)(void *mark, void *stream);
    int (*stream_idle)(void *stream, int *idle);
    int (*mark_reached)(void *mark, int *reached);
};

#define REDIST__SPACES(X)                                                                          \
    X(HOST, host)                                                                                  \
    X(CUDA, cuda)

#define REDIST__DECLARE_SPACE(id, name) extern const struct redist__space redist__space_##name;
REDIST__SPACES(REDIST__DECLARE_SPACE)
#undef REDIST__DECLARE_SPACE

/* The space of a number of enum redist_space (AUTO = host); NULL if there is none such. */
const struct redist__space *redist__space_at(int id);

/* Where an array lies: REDIST_SPACE_HOST if no other space knows it. */
enum redist_space redist__space_of(const void *array);

/* REDIST_OK if the space is there, else REDIST_ERR_ARGUMENT. */
int redist__space_check(const char *function, enum redist_space space);

/* A batch of `count` boxes, all empty at first; to be freed also if that fails. */
int redist__batch_create(struct redist__batch *batch, const struct redist__space *space, int count);
void redist__batch_free(struct redist__batch *batch);

/* Waits until a lane has done all that it was given, or a stream of the user. After a failure too
 * nothing of this rank is under way any more. */
int redist__finish_lane(const struct redist__space *space, void *mark, int lane,
                        const struct redist__context *context);
int redist__finish_stream(const struct redist__space *space, void *mark, void *stream,
                          const struct redist__context *context);

/* Whether MPI takes addresses of CUDA memory (mpi_*.c). */
int redist__mpi_takes_cuda(void);

#endif
