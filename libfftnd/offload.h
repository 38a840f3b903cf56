/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transforms of arrays in host memory on a device that may have less memory: each serial transform runs
 * tile by tile, where a tile goes up to the device, is transformed there, and comes down again. Transfers
 * of a tile run beside the transform of another. What is permuted, is so on the way: a transfer is a
 * strided copy between the array and a tile without gaps (Chen, Cui, Mei: "Large-Scale Fast Fourier
 * Transform", sections 39.3.2 and 39.4.2).
 */
#ifndef FFTND__OFFLOAD_H
#define FFTND__OFFLOAD_H

#include "redist_support.h"
#include "tile.h"

enum { FFTND__SLOTS = 3 }; /* tiles on the device at once */

/* What a slot's tile is doing, each in a stream of its own. */
enum fftnd__activity { FFTND__UPLOAD, FFTND__TRANSFORM, FFTND__DOWNLOAD, FFTND__ACTIVITIES };

/* Arrays of the host that the device may reach. */
enum fftnd__pinned { FFTND__PIN_PHYSICAL, FFTND__PIN_SPECTRAL, FFTND__PIN_WORK, FFTND__PINS };

/* The device of a transform, and what all of its steps share there. */
struct fftnd__offload {
    const redist__space *device;
    const struct fftnd__serial *library;
    size_t limit; /* bytes of device memory, at most */
    int is_given; /* by the user */
    void *memory; /* on the device */
    size_t bytes;
    void *staging; /* host memory for tiles that the device cannot reach where they are */
    size_t staging_bytes;
    void *streams[FFTND__ACTIVITIES];
    void *marks[FFTND__SLOTS][FFTND__ACTIVITIES];
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

/* Collective on comm. */
int fftnd__offload_create(MPI_Comm comm, const fftnd_options *options,
                          struct fftnd__offload **offload);
void fftnd__offload_free(struct fftnd__offload *offload);

/* What such a transform cannot choose: it works in tiles, and joins as many axes as the device has room
 * for. */
void fftnd__offload_adjust(const struct fftnd__offload *offload, struct fftnd__choice *choice);

/* Lets the device reach an array if it can; one array of each kind, the last. */
void fftnd__offload_pin(struct fftnd__offload *offload, enum fftnd__pinned which, void *array,
                        size_t bytes);
void fftnd__offload_unpin(struct fftnd__offload *offload, enum fftnd__pinned which);

/* Where the first slot of a tiling's tiles is on the device, and in staging memory. */
char *fftnd__offload_memory(const struct fftnd__tiling *tiling);
char *fftnd__offload_staging(const struct fftnd__tiling *tiling);

/* fftnd__tiling_create and fftnd__tiling_run for tiles on the device of the transform. */
int fftnd__offload_plan(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                        const struct fftnd__step *before, const struct fftnd__step *step,
                        int direction, const struct fftnd__cut *cut);
int fftnd__offload_run(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                       const struct fftnd__end *store, enum fftnd_precision precision, double scale,
                       double *serial_seconds);

#endif
