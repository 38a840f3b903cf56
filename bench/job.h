/* SPDX-License-Identifier: BSD-3-Clause */
/* A job: what a study sweeps over, from a JSON file (docs/study.md lists the keys). */
#ifndef BENCH_JOB_H
#define BENCH_JOB_H

#include "fftnd.h"
#include "methods.h"
#include "options.h"

enum { BENCH_MOST_SIZES = 128, BENCH_MOST_GRID_WORDS = 32, BENCH_WORD_BYTES = 32 };

/* What a job sweeps over besides sizes, grids and methods: places in tables of words. */
enum bench_choice {
    BENCH_SPACE,
    BENCH_STAGING,
    BENCH_LAYOUT,
    BENCH_FUSION,
    BENCH_KIND,
    BENCH_PRECISION,
    BENCH_DIRECTION,
    BENCH_CHOICES
};

/* The words of each, NULL at the end. */
extern const char *const *const bench_choice_words[BENCH_CHOICES];

typedef struct bench_job {
    char name[2 * BENCH_WORD_BYTES];
    int ndims, nsizes;
    int sizes[BENCH_MOST_SIZES][REDIST_MAX_NDIMS];
    int ngrids; /* words: see bench_grids_expand */
    char grids[BENCH_MOST_GRID_WORDS][BENCH_WORD_BYTES];
    bench_methods methods;
    bench_list choices[BENCH_CHOICES];
    int threads, warmup, runs, model;
    int effort; /* of fftnd_effort */
    int plan_seconds;
    int most_seconds; /* for the runs of a configuration; 0 = any */
} bench_job;

/* Why this build reads no jobs; NULL = it does. */
const char *bench_job_absent(void);

/* Reads a job; 0 with a reason in `fault` (of `bytes`) if it is none. Rank 0 reads the file; collective,
 * the same result on all ranks. */
int bench_job_read(const char *path, bench_job *job, size_t bytes, char fault[]);

#endif
