/* SPDX-License-Identifier: BSD-3-Clause */
/* What the communication model says of a study's configurations: a fit for each method and memory. */
#ifndef BENCH_PREDICTIONS_H
#define BENCH_PREDICTIONS_H

#include "sweep.h"
#include <stdio.h>

enum { BENCH_MOST_FITS = 2 * BENCH_MAX_METHODS };

typedef struct bench_predictions {
    FILE *file; /* the fits, on rank 0 */
    int count;
    struct bench_fit {
        const char *method;
        int space, staging;
        int good;
        redist_model model;
    } fits[BENCH_MOST_FITS];
} bench_predictions;

/* `path`: where the fits are written; NULL on the other ranks. */
void bench_predictions_begin(bench_predictions *predictions, const char *path);
void bench_predictions_end(bench_predictions *predictions);

/* Seconds of the exchanges of one direction; NAN if there is no model. Measures where it has to.
 * Collective. */
double bench_predict(bench_predictions *predictions, const bench_job *job,
                     const bench_config *config, const fftnd_plan *plan);

#endif
