/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device of a transform whose arrays are in host memory, for all of its steps. Each serial transform runs tile by
 * tile: upload, transform, download. Transfers of a tile run beside the transform of another (Chen, Cui, Mei:
 * "Large-Scale Fast Fourier Transform", sections 39.3.2 and 39.4.2).
 */
#ifndef FFTND__OFFLOAD_H
#define FFTND__OFFLOAD_H

#include "../../liblines/lines.h"
#include "redist_support.h"

enum { FFTND__SLOTS = 3 }; /* tiles on the device at once */

/* Activities of a slot's tile, each in a stream of its own. */
enum fftnd__activity { FFTND__UPLOAD, FFTND__TRANSFORM, FFTND__DOWNLOAD, FFTND__ACTIVITIES };

/* Arrays of the host that the device may reach. */
enum fftnd__pinned { FFTND__PIN_PHYSICAL, FFTND__PIN_SPECTRAL, FFTND__PIN_WORK, FFTND__PINS };

struct fftnd__offload {
    const redist__space *device;
    const struct lines__library *library;
    size_t limit;       /* bytes of device memory, at most */
    size_t least_limit; /* of all ranks */
    int is_given;       /* by the user */
    void *memory;       /* on the device */
    size_t bytes;
    void *staging; /* host memory for tiles that the device cannot reach in their array */
    size_t staging_bytes;
    void *streams[FFTND__ACTIVITIES];
    void *events[FFTND__SLOTS][FFTND__ACTIVITIES];
    struct {
        void *array;
        size_t bytes;
        int done;
    } pinned[FFTND__PINS];
    int buffered; /* an array of the last transform used staging memory */
    int bare;     /* tiles are transferred, not transformed */
};

/* Alignment of pieces, and of arrays of pieces, in host memory and on a device; bytes. */
enum { FFTND__ALIGNMENT = 64, FFTND__DEVICE_ALIGNMENT = 256 };

/* Place where a transform works, and what follows from it: a row of a table. */
struct fftnd__workplace {
    size_t alignment; /* of arrays of the work space, bytes */
    int in_caches;    /* tiles fit the caches of the host */
    int copies_tiles; /* tiles are copied to a device and back: its library overwrites only these */
    int fuses;        /* tiles are exchanged without an array between */
    int sends_segments;  /* operators, too, work in segments that are sent and arrive */
    int scratch_in_work; /* scratch memory of serial libraries belongs to the work space */
};

/* Returns the row for arrays of a space, and the device beside the host or NULL. */
const struct fftnd__workplace *fftnd__workplace_of(const redist__space *space,
                                                   const struct fftnd__offload *offload);

/* Makes an offload to a device, with at most `limit` bytes of it, 0 = to be found; to be freed after a failure, too.
 * Collective on comm. */
int fftnd__offload_create(MPI_Comm comm, enum redist_space device, size_t limit,
                          struct fftnd__offload **offload);
void fftnd__offload_free(struct fftnd__offload *offload);

/* Lets the device, if any, reach an array if it can, in the place of the last one of its kind. A work space keeps its
 * place until it is unpinned. */
void fftnd__offload_pin(struct fftnd__offload *offload, enum fftnd__pinned which, void *array,
                        size_t bytes);
void fftnd__offload_unpin_work(struct fftnd__offload *offload, const void *array);

/* Returns nonzero if the device reaches all of an array. */
int fftnd__offload_reaches(const struct fftnd__offload *offload, const char *array, size_t bytes);

/* Provides memory on the device and staging memory of at least these sizes, for one step at a time. REDIST_ERR_MEMORY,
 * REDIST_ERR_DEVICE. */
int fftnd__offload_reserve(struct fftnd__offload *offload, size_t bytes, size_t staging_bytes);

#endif
