/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of an exchange seen as contiguous messages, one for each peer. */
#ifndef REDIST__PACK_H
#define REDIST__PACK_H

#include "../methods/method.h"

struct redist__packing {
    const struct redist__side *side;
    const struct redist__space *space;
    int staged;   /* the buffer is host memory for MPI, the array is not */
    char *buffer; /* room for the parts that need packing */
    size_t buffer_bytes;
    size_t *position;          /* where each peer's message begins, in bytes: in the array for parts
                          that lie there contiguously, else in the buffer */
    char *in_array;            /* whether it lies in the array */
    int all_in_array;          /* all messages lie in the array */
    struct redist__batch pack; /* from the array to the buffer, one box for each peer */
    struct redist__batch unpack; /* from the buffer to the array */
};

/* Which messages may lie in the array itself. */
enum redist__in_array {
    REDIST__EACH_IN_ARRAY, /* each part that is contiguous there */
    REDIST__ALL_IN_ARRAY,  /* all parts or none, so that all messages share one base address */
    REDIST__NONE_IN_ARRAY  /* none: the array exists in tiles only */
};

/* Own parts need no message. Messages of arrays on a device are packed to the device, or, if `staged`,
 * to host memory. Not collective; REDIST_ERR_MEMORY, and then to be freed all the same. */
int redist__packing_create(struct redist__packing *packing, const struct redist__problem *problem,
                           int side, enum redist__in_array in_array, int staged);
void redist__packing_free(struct redist__packing *packing);

/* Both sides of an exchange, and the copies of the own part in both directions. */
int redist__packings_create(struct redist__packing packing[2], struct redist__copy own[2],
                            const struct redist__problem *problem,
                            const enum redist__in_array in_array[2], int staged);
void redist__packings_free(struct redist__packing packing[2]);
size_t redist__packings_bytes(const struct redist__packing packing[2]);

/* Where the message of a peer is. */
char *redist__packing_message(const struct redist__packing *packing, int peer, const void *array);

/* Of one peer, or of all peers at once. */
int redist__packing_pack(struct redist__packing *packing, int peer, const void *array, int lane);
int redist__packing_unpack(struct redist__packing *packing, int peer, void *array, int lane);
int redist__packing_pack_all(struct redist__packing *packing, const void *array, int lane);
int redist__packing_unpack_all(struct redist__packing *packing, void *array, int lane);

/* A committed datatype of one element's bytes; the caller frees it. */
int redist__element_type(const struct redist__schedule *schedule, MPI_Datatype *element);

/* Prepares the copy of a rank's own part from the source array to the destination array; offsets
 * are those of the parts. */
void redist__own_copy_prepare(struct redist__copy *copy, const struct redist__schedule *schedule,
                              int direction);
int redist__own_copy_run(const struct redist__copy *copy, const struct redist__problem *problem,
                         int direction, const void *source, void *destination, int lane);

/* REDIST_OK if elements can be copied as bytes, else REDIST_ERR_METHOD; and if besides every
 * message and position fits MPI's int counts, else REDIST_ERR_LIMIT. `total` counts all parts
 * together. */
int redist__check_copyable(const struct redist__schedule *schedule, const char *method);
int redist__check_counts(const struct redist__schedule *schedule, const char *method, int total);

#endif
