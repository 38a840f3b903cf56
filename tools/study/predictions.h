/* SPDX-License-Identifier: BSD-3-Clause */
/* What the communication model says of a study's configurations: a fit for each method and memory. */
#ifndef STUDY_PREDICTIONS_H
#define STUDY_PREDICTIONS_H

#include "sweep.h"
#include <stdio.h>

enum { STUDY_MOST_FITS = 2 * BENCH_MAX_METHODS };

typedef struct study_predictions {
    FILE *file; /* the fits, on rank 0 */
    int count;
    struct study_fit {
        const char *method;
        int space, staging;
        int good;
        redist_model model;
    } fits[STUDY_MOST_FITS];
} study_predictions;

/* `path`: where the fits are written; NULL on the other ranks. */
void study_predictions_begin(study_predictions *predictions, const char *path);
void study_predictions_end(study_predictions *predictions);

/* Seconds of the exchanges of one direction; NAN if there is no model. Measures where it has to.
 * Collective. */
double study_predict(study_predictions *predictions, const study_job *job,
                     const study_config *config, const fftnd_plan *plan);

#endif
