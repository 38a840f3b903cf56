/* SPDX-License-Identifier: BSD-3-Clause */
/* One side of an exchange seen as messages, one for each peer: contiguous bytes, or an MPI subarray type over the
 * array or over a staging copy of it in host memory. */
#ifndef REDIST__PACKING_H
#define REDIST__PACKING_H

#include "method.h"

/* How messages lie in memory. */
enum redist__layout {
    REDIST__EACH_IN_ARRAY, /* contiguous: in the array if the part is contiguous there, else packed */
    REDIST__ALL_IN_ARRAY, /* the same, all parts or none, so that all messages share one base address */
    REDIST__NONE_IN_ARRAY, /* all are packed: the array exists in tiles only, or MPI cannot reach it */
    REDIST__AS_IN_ARRAY    /* as the parts lie in the array, or, if staged, in a copy of it */
};

struct redist__packing {
    const struct redist__side *side;
    const struct redist__space *space;
    enum redist__layout layout;
    int staged;   /* the buffer is host memory for MPI, the array is not */
    char *buffer; /* room for what does not lie in the array */
    size_t buffer_bytes;
    size_t *position;            /* where each peer's message begins in array or buffer, in bytes */
    char *in_array;              /* whether it lies in the array */
    int all_in_array;            /* all messages lie in the array */
    struct redist__batch pack;   /* from the array to the buffer, one box for each peer */
    struct redist__batch unpack; /* from the buffer to the array */
};

/* Own parts need no message. Messages of arrays on a device are packed to the device, or, if `staged`,
 * to host memory. Not collective; REDIST_ERR_MEMORY, and then to be freed all the same. */
int redist__packing_create(struct redist__packing *packing, const struct redist__problem *problem,
                           int side, enum redist__layout layout, int staged);
void redist__packing_free(struct redist__packing *packing);

/* Where the message of a peer is; for REDIST__AS_IN_ARRAY where the array or its copy begins. NULL if it is empty. */
char *redist__packing_message(const struct redist__packing *packing, int peer, const void *array);

/* The messages of `count` peers from `first` on, between the array and the buffer; those in the array stay there. */
int redist__packing_pack(struct redist__packing *packing, int first, int count, const void *array,
                         int stream);
int redist__packing_unpack(struct redist__packing *packing, int first, int count, void *array,
                           int stream);

/* The messages of a side as MPI takes them: counts[p] elements of types[p] go to or come from rank p, 0 =
 * nothing. */
struct redist__types {
    int size, shared; /* ranks; whether all types are one */
    int *counts, *displacements;
    MPI_Datatype *types;
};

/* The messages of a packing; with `own`, also that of the own part (REDIST__AS_IN_ARRAY only). Not
 * collective; REDIST_ERR_MEMORY or REDIST_ERR_MPI, and then to be freed all the same. */
int redist__types_create(struct redist__types *types, const struct redist__problem *problem,
                         int side, const struct redist__packing *packing, int own);
void redist__types_free(struct redist__types *types);

/* A committed datatype of one element's bytes; the caller frees it. */
int redist__element_type(const struct redist__transfer *transfer, MPI_Datatype *element);

/* Prepares the copy of a rank's own part from the source array to the destination array, and runs it. */
void redist__own_copy_prepare(struct redist__copy *copy, const struct redist__transfer *transfer,
                              int direction);
int redist__own_copy_run(const struct redist__copy *copy, const struct redist__problem *problem,
                         int direction, const void *source, void *destination, int stream);

/* REDIST_OK if elements can be copied as bytes, else REDIST_ERR_METHOD; if every message and position fits
 * MPI's int counts, else REDIST_ERR_LIMIT (`total` counts all parts together); if MPI can describe the
 * arrays as subarrays, else REDIST_ERR_LIMIT. */
int redist__check_copyable(const struct redist__transfer *transfer, const char *method);
int redist__check_counts(const struct redist__transfer *transfer, const char *method, int total);
int redist__check_extents(const struct redist__transfer *transfer, const char *method);

/* REDIST_OK if no two ranks have the same device, a number, else REDIST_ERR_METHOD. Collective, the same result on all
 * ranks. */
int redist__check_devices(const struct redist__problem *problem, const char *method,
                          unsigned long long device);

#endif
