/* SPDX-License-Identifier: BSD-3-Clause */
/* A serial transform done tile by tile: fetch a tile, transform it in the cache, hand it over. */
#ifndef FFTND__TILE_H
#define FFTND__TILE_H

#include "bands.h"
#include "lines.h"

/* Where tiles come from or go to: an array of this rank, or through an exchange to all. */
struct fftnd__end {
    redist_plan *exchange; /* open for tiles; NULL = `array` */
    char *array;
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    int stream;                         /* stores into `array` bypass the caches */
};

/* The array after a step as an end of tiles. */
struct fftnd__end fftnd__end_of(const struct fftnd__transform *transform,
                                const struct fftnd__step *step, void *array);

/* Where an index of the end's own array lies. */
char *fftnd__end_address(const struct fftnd__end *end, int ndims, const int start[]);

/* Whether several threads may move tiles through it at once. */
int fftnd__end_is_shared(const struct fftnd__end *end);

/* Moves the box at `start`, `count` of the array or exchange to or from a tile in host memory. */
int fftnd__end_load(const struct fftnd__end *load, const struct fftnd__block *tile,
                    const int start[], const int count[]);
int fftnd__end_store(const struct fftnd__end *store, const struct fftnd__block *tile,
                     const int start[], const int count[]);

/* Whether stores into the array after a step bypass the caches. */
int fftnd__is_streamed(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* A tile in memory. */
struct fftnd__tile {
    char *memory;
    size_t item;                        /* bytes of an element */
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    size_t bytes;
    int padded; /* on a device: elements of a line of the last axis with its padding; 0 = as in `count` */
    struct fftnd__bands bands; /* where it has more modes than its array */
};

/* The loop over the tiles of one serial step. */
struct fftnd__tiling {
    int ndims;
    int whole[REDIST_MAX_NDIMS];      /* axis is transformed: whole in every tile */
    int extent_in[REDIST_MAX_NDIMS];  /* of the local array before the transform */
    int extent_out[REDIST_MAX_NDIMS]; /* and after */
    int count[REDIST_MAX_NDIMS];      /* of a tile, along the axes that are not transformed */
    int chunk_axis;                   /* the one axis that is cut unevenly; -1 = none */
    struct fftnd__tile in, out;       /* the same memory when the transform may run in place */
    int direct_in, direct_out;        /* the transform reads, writes the array itself, no tile */
    char *memory;                     /* both, of each thread */
    size_t share;                     /* bytes from one thread's tiles to the next one's */
    long long ntiles;
    struct fftnd__team *team; /* the threads that share the tiles out among them */
    int npasses;              /* transforms of a tile, one after the other: 1 or 2 */
    void *serial[2][2];       /* of each pass, for whole tiles and for the last along chunk_axis */
    struct fftnd__lines
        lines[2]; /* in the place of those of the first pass where `line` is not NULL */
    int direction;
    const struct fftnd__serial *library;
    struct fftnd__offload
        *offload; /* where tiles are transformed; NULL = by the team, in the caches */
    int slots;    /* there: tiles at once */
};

/* What a tile has of the arrays before and after the transform. */
struct fftnd__tile_box {
    int start[REDIST_MAX_NDIMS], before[REDIST_MAX_NDIMS], after[REDIST_MAX_NDIMS];
    int last; /* it is the shorter one along chunk_axis */
};

/* The box of tile `number`, counted as they lie in the array. */
void fftnd__tiling_box(const struct fftnd__tiling *tiling, long long number,
                       struct fftnd__tile_box *box);

/* How tiles are cut, and what is known of their ends. */
struct fftnd__cut {
    size_t bytes;   /* of a tile, at most, if the transformed axes allow */
    int local_load; /* tiles come from an array of this rank */
    int local_store; /* and go to one; when both are local, neighbouring axes that are not transformed
                         can be cut as if they were one, so that cuts fall on cache lines */
    int cached_store; /* into caches: the transform may as well write there itself */
};

/* `before` and `step` are the arrays before and after the serial step. Not collective; REDIST_ERR_MEMORY, REDIST_ERR_SERIAL. */
int fftnd__tiling_create(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, const struct fftnd__cut *cut);
void fftnd__tiling_free(struct fftnd__tiling *tiling);

/* Sets ndims, extents and counts only: enough to ask how tiles look. */
void fftnd__tiling_shape(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, const struct fftnd__cut *cut);

/* Further, how tiles lie in memory without gaps, and how many there are. */
void fftnd__tiling_lay_out(struct fftnd__tiling *tiling);

/* Makes the serial plans of a tiling whose tiles have their memory. */
int fftnd__tiling_plan(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                       const struct fftnd__step *before, const struct fftnd__step *step);

/* Whether this rank has no elements. */
int fftnd__tiling_is_empty(const struct fftnd__tiling *tiling);

/* Whether there are too few tiles to keep all threads busy. */
int fftnd__tiling_is_coarse(const struct fftnd__tiling *tiling,
                            const struct fftnd__transform *transform);

/* Runs all tiles, on all threads if the ends allow it; the results are multiplied by `scale`. Time spent
 * in transforms, the mean of the threads, is added to *serial_seconds. */
int fftnd__tiling_run(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                      const struct fftnd__end *store, enum fftnd_precision precision, double scale,
                      double *serial_seconds);

#endif
