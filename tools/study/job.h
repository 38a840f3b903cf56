/* SPDX-License-Identifier: BSD-3-Clause */
/* A job: what a study sweeps over, from a JSON file (docs/study.md lists the keys). */
#ifndef STUDY_JOB_H
#define STUDY_JOB_H

#include "fftnd.h"
#include "methods.h"
#include "options.h"

enum { STUDY_MOST_SIZES = 128, STUDY_MOST_GRID_WORDS = 32, STUDY_WORD_BYTES = 32 };

/* What a job sweeps over besides sizes, grids and methods: places in tables of words. */
enum study_choice {
    STUDY_SPACE,
    STUDY_STAGING,
    STUDY_LAYOUT,
    STUDY_FUSION,
    STUDY_KIND,
    STUDY_PRECISION,
    STUDY_DIRECTION,
    STUDY_CHOICES
};

/* The words of each, NULL at the end. */
extern const char *const *const study_choice_words[STUDY_CHOICES];

typedef struct study_job {
    char name[2 * STUDY_WORD_BYTES];
    int ndims, nsizes;
    int sizes[STUDY_MOST_SIZES][REDIST_MAX_NDIMS];
    int ngrids; /* words: see bench_grids_expand */
    char grids[STUDY_MOST_GRID_WORDS][STUDY_WORD_BYTES];
    bench_methods methods;
    bench_list choices[STUDY_CHOICES];
    int threads, warmup, runs, model;
    int effort; /* of fftnd_effort */
    int plan_seconds;
    int most_seconds; /* for the runs of a configuration; 0 = any */
} study_job;

/* Reads a job; 0 with a reason in `fault` (of `bytes`) if it is none. Rank 0 reads the file; collective,
 * the same result on all ranks. */
int study_job_read(const char *path, study_job *job, size_t bytes, char fault[]);

#endif
