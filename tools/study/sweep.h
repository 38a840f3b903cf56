/* SPDX-License-Identifier: BSD-3-Clause */
/* The configurations of a job, in the order in which they are measured. */
#ifndef STUDY_SWEEP_H
#define STUDY_SWEEP_H

#include "job.h"

enum { STUDY_MOST_GRIDS = 512 };

/* One configuration but for the direction: what one plan serves. */
typedef struct study_config {
    const int *sizes;                       /* of the job */
    redist_index extents[REDIST_MAX_NDIMS]; /* the same */
    const int *order;                       /* of the chain's axes; NULL = the usual one */
    bench_list grid;                        /* count 0 = the library chooses */
    const char *method;                     /* of bench_methods */
    int choice[STUDY_CHOICES]; /* but for the direction: places in the tables of words */
    int without_mpi;           /* MPI moves no array of a device: there is no staging */
} study_config;

typedef struct study_sweep {
    const study_job *job;
    int nranks;
    int ngrids;
    bench_list grids[STUDY_MOST_GRIDS];
    int last_second[STUDY_MOST_GRIDS]; /* the last axis takes the second place of the order */
    int order[REDIST_MAX_NDIMS];       /* that order */
} study_sweep;

/*
 * Expands the words of a job's grids for a number of ranks:
 *   slab-2d-1d  the first axis is split before, the second one behind
 *   slab-1d-2d  the first axis is split before, the last one behind
 *   slab-late   the last but one is split before, the last one behind
 *   pencil      every P1 x P2 with both above 1
 *   higher      every grid with three dimensions or more, all above 1
 *   all         all of these
 *   auto        what the library chooses
 *   2x4 ...     that grid, if it has that number of ranks
 * 0 with a reason in `fault` if a word is not known, or no grid is left.
 */
int study_sweep_create(const study_job *job, int nranks, study_sweep *sweep, size_t bytes,
                       char fault[]);

/* The number of configurations, and one of them; 0 if it is one that an earlier one covers (another
 * staging where there is none). */
int study_sweep_count(const study_sweep *sweep);
int study_sweep_config(const study_sweep *sweep, int index, study_config *config);

/* "slab-2d-1d", "slab-1d-2d", "slab-late", "pencil", "higher", "single" or "auto". */
const char *study_decomposition(const study_config *config);

/* "128x64", or "auto" for no numbers. */
const char *study_times(int count, const int values[], size_t bytes, char text[]);

#endif
