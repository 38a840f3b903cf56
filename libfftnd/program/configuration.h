/* SPDX-License-Identifier: BSD-3-Clause */
/* How a transform does its work: what a planner may choose, also as text. */
#ifndef FFTND__CONFIGURATION_H
#define FFTND__CONFIGURATION_H

#include "settings.h"

/* Direct stores of the last transform before an exchange, as far as its library can. */
enum fftnd__direct {
    FFTND__DIRECT_NONE,
    FFTND__DIRECT_ALL, /* all results, into the peers' arrays and this rank's own one */
    FFTND__DIRECT_LOCAL /* what stays on this rank; the rest is sent from the array before the exchange */
};

/* How transforms of whole arrays before an exchange permute the axes in memory. */
enum fftnd__transposed {
    FFTND__NOT_TRANSPOSED,
    FFTND__TRANSPOSED_LINES,   /* so that the lines of the next transform are contiguous */
    FFTND__TRANSPOSED_ARRIVALS /* so that what comes from a rank is contiguous in the next array */
};

struct fftnd__configuration {
    int ranks; /* of the chain; 0 = all */
    int grid_ndims;
    int grid[REDIST_MAX_NDIMS];  /* processes along each grid dimension */
    int order[REDIST_MAX_NDIMS]; /* grid dimension i splits axis order[i] first */
    int transposed;              /* of enum fftnd__transposed */
    int fused;         /* tiles go from transforms to exchanges and back without an array between */
    int tiled;         /* transforms that are not fused work in tiles too */
    int untiled;       /* of tiles, not those of a single axis between arrays of this rank */
    size_t tile_bytes; /* of a tile, at most, where the axes allow */
    size_t
        group_bytes; /* axes are transformed at once as long as their lines together have no more */
    size_t nontemporal_bytes; /* stores into arrays larger than this bypass the caches */
    size_t
        row_bytes; /* tiles on a device: what is left contiguous of axes that are not transformed,
                         at least; 0 = any */
    int segments;  /* whole arrays: of a transform before an exchange; each is sent as it is done */
    int partitions;    /* of the transform after that exchange; each begins as it arrives */
    int direct_stores; /* of enum fftnd__direct: of a segment */
};

enum { FFTND__CONFIGURATION_BYTES = REDIST_WISDOM_BYTES };

/* Appends to a text as much as there is room for. */
void fftnd__append(char text[FFTND__CONFIGURATION_BYTES], const char *format, ...)
    REDIST_PRINTF(2, 3);

/* What is printed, remembered, and set by the environment. */
void fftnd__configuration_print(const struct fftnd__configuration *configuration, int ndims,
                                char text[FFTND__CONFIGURATION_BYTES]);

/* Returns the ranks of the chain in the text of a configuration, 0 = all. */
int fftnd__configuration_ranks(const char *text);

/* Nonzero if `text` is a configuration for the request; what it leaves out stays as it is. */
int fftnd__configuration_scan(const char *text, const struct fftnd__request *request,
                              struct fftnd__configuration *configuration);

#endif
