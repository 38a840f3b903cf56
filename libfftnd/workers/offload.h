/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device of a transform whose arrays are in host memory: what all of its steps share there. Each serial
 * transform runs tile by tile, where a tile goes up to the device, is transformed there, and comes down again.
 * Transfers of a tile run beside the transform of another (Chen, Cui, Mei: "Large-Scale Fast Fourier Transform",
 * sections 39.3.2 and 39.4.2).
 */
#ifndef FFTND__OFFLOAD_H
#define FFTND__OFFLOAD_H

#include "../../liblines/lines.h"
#include "fftnd.h"
#include "redist_support.h"

enum { FFTND__SLOTS = 3 }; /* tiles on the device at once */

/* What a slot's tile is doing, each in a stream of its own. */
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
    void *staging; /* host memory for tiles that the device cannot reach where they are */
    size_t staging_bytes;
    void *streams[FFTND__ACTIVITIES];
    void *events[FFTND__SLOTS][FFTND__ACTIVITIES];
    struct {
        void *array;
        size_t bytes;
        int done;
    } pinned[FFTND__PINS];
    int buffered; /* some array of the last transform went through staging memory */
    int bare;     /* tiles come and go, but are not transformed */
};

/* Whether the options ask for this; arrays are in host memory then. */
int fftnd__offload_wanted(const fftnd_options *options);

/* Collective on comm. What is there after a failure goes with fftnd__offload_free. */
int fftnd__offload_create(MPI_Comm comm, const fftnd_options *options,
                          struct fftnd__offload **offload);
void fftnd__offload_free(struct fftnd__offload *offload);

/* Lets the device reach an array if it can; one array of each kind, the last. */
void fftnd__offload_pin(struct fftnd__offload *offload, enum fftnd__pinned which, void *array,
                        size_t bytes);
void fftnd__offload_unpin(struct fftnd__offload *offload, enum fftnd__pinned which);

/* Whether the device reaches all of an array, where it is. */
int fftnd__offload_reaches(const struct fftnd__offload *offload, const char *array, size_t bytes);

/* Provides memory on the device and staging memory of at least these sizes. It only grows, and what is in it between
 * two steps is of no use to anyone. REDIST_ERR_MEMORY, REDIST_ERR_DEVICE. */
int fftnd__offload_reserve(struct fftnd__offload *offload, size_t bytes, size_t staging_bytes);

/* Where that memory begins, aligned. */
enum { FFTND__OFFLOAD_ALIGNMENT = 256 };
char *fftnd__offload_align(void *memory);

#endif
