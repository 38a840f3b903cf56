/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of an exchange as messages, one for each peer: contiguous bytes, or an MPI subarray type over the array or
 * over a staging copy of it in host memory. Contiguous messages are packed where the array is; for an MPI that takes no
 * memory of a device, they are copied to pinned host memory and back as they are, by the copy engines. Short ones are
 * packed in that memory. */
#ifndef REDIST__PACKING_H
#define REDIST__PACKING_H

#include "method.h"

/* Layouts of messages. */
enum redist__layout {
    REDIST__EACH_IN_ARRAY, /* contiguous: in the array if the part is contiguous there, else packed */
    REDIST__ALL_IN_ARRAY, /* the same, all parts or none, so that all messages share one base address */
    REDIST__NONE_IN_ARRAY, /* all are packed: the array exists in tiles only, or MPI has another copy */
    REDIST__AS_IN_ARRAY /* strided as in the array, or, if staged, in a copy of it */
};

struct redist__packing {
    const struct redist__side *side;
    const struct redist__space *space;
    enum redist__layout layout;
    int staged;   /* MPI gets host memory, the array is not */
    char *buffer; /* messages outside of the array; REDIST__AS_IN_ARRAY: its copy for MPI */
    char *wire;   /* staged: all contiguous messages in pinned memory, else NULL */
    size_t buffer_bytes, wire_bytes;
    size_t *position;      /* of each peer's message in array or buffer, in bytes, */
    size_t *wire_position; /* and in the pinned memory, with the end of the last one */
    int *first;            /* of each peer's boxes among those of `pack` and `unpack` */
    /* bytes by which displacements begin before array and buffer: 0 of array A, as Open MPI's nonblocking collective
     * calls read two equal addresses as MPI_IN_PLACE, and both arrays may be one */
    size_t shift;
    char *in_array;              /* is the message in the array? */
    int all_in_array;            /* all messages lie in the array */
    size_t *bytes;               /* of each peer's message */
    int adds;                    /* some boxes are added when they arrive */
    struct redist__batch pack;   /* from the array to the buffer, */
    struct redist__batch unpack; /* and from the buffer to the array */
};

/* Creates a packing; own parts have no message. Messages of arrays on a device are packed on the device, and, if
 * `staged`, have a copy in host memory. Not collective; REDIST_ERR_MEMORY; to be freed also after a failure. */
int redist__packing_create(struct redist__packing *packing, const struct redist__problem *problem,
                           int side, enum redist__layout layout, int staged);
void redist__packing_free(struct redist__packing *packing);

/* Returns the address of a peer's packed message; for REDIST__AS_IN_ARRAY of the array or its copy. NULL for an empty
 * one. The second function returns the address for MPI, which differs if the message is staged. */
char *redist__packing_message(const struct redist__packing *packing, int peer, const void *array);
char *redist__packing_on_wire(const struct redist__packing *packing, int peer, const void *array);

/* Returns whether a peer's message is packed on the device, but MPI gets host memory: it is downloaded before it is
 * sent, and uploaded before it is unpacked. */
int redist__packing_is_staged(const struct redist__packing *packing, int peer);

/* Returns the bytes of all buffers. */
size_t redist__packing_bytes(const struct redist__packing *packing);

/* Copies `bytes` bytes of a staged message from `first` on to host memory, or `back`. */
int redist__packing_stage(const struct redist__packing *packing, int peer, int back, size_t first,
                          size_t bytes, const void *array, void *stream);

/* Pack and unpack the messages of `count` peers from `first` on, except those in the array, and stage them. What is
 * added stays in the buffer. */
int redist__packing_pack(struct redist__packing *packing, int first, int count, const void *array,
                         void *stream);
int redist__packing_unpack(struct redist__packing *packing, int first, int count, void *array,
                           void *stream);

/* The messages of a side in MPI's terms: counts[p] elements of types[p] to or from rank p, 0 = none. */
struct redist__types {
    int size, shared; /* ranks; whether all types are one */
    int *counts, *displacements;
    MPI_Datatype *types;
};

/* Creates the messages of a packing; with `own`, also that of the own part (REDIST__AS_IN_ARRAY only). Not collective;
 * REDIST_ERR_MEMORY or REDIST_ERR_MPI; to be freed also after a failure. */
int redist__types_create(struct redist__types *types, const struct redist__problem *problem,
                         int side, const struct redist__packing *packing, int own);
void redist__types_free(struct redist__types *types);

/* Returns the bytes of a peer's message on a side. */
size_t redist__message_bytes(const struct redist__problem *problem, int side, int peer);

/* Creates a committed datatype of one unit of messages; the caller frees it. */
int redist__element_type(const struct redist__problem *problem, MPI_Datatype *element);

/* Prepares the copy of a rank's own part from the source array to the destination array, and runs it with those of the
 * other boxes of its list, except those that are added; an empty copy has none. */
void redist__own_copy_prepare(struct redist__copy *copy, const struct redist__transfer *transfer,
                              int direction);
int redist__own_copy_run(const struct redist__copy *copy, const struct redist__problem *problem,
                         int direction, const void *source, void *destination, void *stream);

/* Adds what is added, this rank's own part too, in the order of ranks: once all other boxes are in the destination. */
int redist__packing_add(struct redist__packing *packing, const struct redist__copy *own,
                        const struct redist__problem *problem, int direction, const void *source,
                        void *destination, void *stream);

/* Returns whether a description has one box for each two ranks and adds nothing; and checks it, else
 * REDIST_ERR_METHOD. */
int redist__is_single(const struct redist__transfer *transfer);
int redist__check_single(const struct redist__transfer *transfer, const char *method);

/* Check that elements can be copied as bytes, else REDIST_ERR_METHOD; that every message and position fits MPI's int
 * counts, else REDIST_ERR_LIMIT (`total` counts all parts together); that MPI can describe the arrays as subarrays,
 * else REDIST_ERR_LIMIT. */
int redist__check_copyable(const struct redist__transfer *transfer, const char *method);
int redist__check_counts(const struct redist__problem *problem, const char *method, int total);
int redist__check_extents(const struct redist__transfer *transfer, const char *method);

/* Checks that each rank has its own device, else REDIST_ERR_METHOD. Collective, the same result on all ranks. */
int redist__check_devices(const struct redist__problem *problem, const char *method);

#endif
