/* SPDX-License-Identifier: BSD-3-Clause */
/* How the arrays around a serial step are cut into tiles or segments. */
#ifndef FFTND__STAGE_CUT_H
#define FFTND__STAGE_CUT_H

#include "../geometry/cut.h"
#include "../program/steps.h"

/* How tiles are cut, and what is known of their source and sink. */
struct fftnd__tiling {
    size_t bytes;   /* of a tile, at most, if the transformed axes allow */
    int local_load; /* tiles come from an array of this rank */
    int local_store; /* and go to one; when both are local, neighbouring axes that are not transformed
                         can be cut as if they were one, so that cuts fall on cache lines */
    int on_device;   /* one tile after the other, with all fields, of axes as they are */
};

/* How a serial step is cut in tiles. Not collective. */
void fftnd__cut_tiles(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                      const struct fftnd__step *step, const struct fftnd__tiling *tiling);

/* The extents of the arrays around a step, which is not cut yet. */
void fftnd__set_extents(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                        const struct fftnd__step *step);

/* How far each axis of a serial step can be cut in segments, 0 = not at all. */
void fftnd__list_cuttable(const struct fftnd__transform *transform, const struct fftnd__step *step,
                          redist_index extents[]);

/* How the array of a step is cut in segments; what arrives in partitions is cut as these are. */
void fftnd__cut_segments(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                         const struct fftnd__step *step);

/* How it is cut in chunks on a device, such that each takes a few of `bytes`: `most`, unless the user says how many. */
void fftnd__cut_chunks(struct fftnd__cut *cut, const struct fftnd__transform *transform,
                       const struct fftnd__step *step, size_t bytes, size_t most);

/* Whether stores into the array after a step bypass the caches. */
int fftnd__is_nontemporal(const struct fftnd__transform *transform, const struct fftnd__step *step);

#endif
