/* SPDX-License-Identifier: BSD-3-Clause */
/* How a transform does its work: what a planner may choose, and the same as text. */
#ifndef FFTND__CONFIGURATION_H
#define FFTND__CONFIGURATION_H

#include "check.h"

struct fftnd__configuration {
    int grid_ndims;
    int grid[REDIST_MAX_NDIMS];  /* processes along each grid dimension */
    int order[REDIST_MAX_NDIMS]; /* grid dimension i splits axis order[i] first */
    int before_exchange; /* backward transforms an axis before an exchange if it is whole before and after it */
    int transposed; /* transforms over whole arrays turn the axes, so that lines are contiguous */
    int fused;      /* transforms and exchanges are joined in tiles */
    int untiled;    /* fused: transforms between arrays of this rank work on whole arrays */
    int tiled;      /* transforms that are not fused work in tiles too */
    size_t tile_bytes; /* of a tile, at most, where the axes allow */
    size_t
        group_bytes; /* axes are transformed at once as long as their lines together have no more */
    size_t nontemporal_bytes; /* stores into arrays larger than this bypass the caches */
    size_t
        row_bytes; /* tiles on a device: what is left contiguous of axes that are not transformed,
                         at least; 0 = any */
    int segments; /* whole arrays: a transform is cut in so many, each of which is put as it is done */
    int partitions; /* and the one after that exchange in so many, each of which begins as it arrives */
};

enum { FFTND__CONFIGURATION_BYTES = REDIST_WISDOM_BYTES };

/* Appends to a text as much as there is room for. */
void fftnd__append(char text[FFTND__CONFIGURATION_BYTES], const char *format, ...)
    REDIST_PRINTF(2, 3);

/* What is printed, remembered, and set by the environment. */
void fftnd__configuration_print(const struct fftnd__configuration *configuration, int ndims,
                                char text[FFTND__CONFIGURATION_BYTES]);

/* Nonzero if `text` is a configuration for the request; what it leaves out stays as it is. */
int fftnd__configuration_scan(const char *text, const struct fftnd__request *request,
                              struct fftnd__configuration *configuration);

#endif
