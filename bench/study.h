/* SPDX-License-Identifier: BSD-3-Clause */
/* The study of a job: each configuration is validated, warmed up and timed (Egger, chapter 5). */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include "job.h"

/* Runs the job of file `path`; rows go to FOLDER/NAME-RANKS.csv. No configuration begins after so many
 * seconds, where they are above 0. Returns the exit code: 0; 1 if a configuration failed; 2 if the job is
 * no good. Collective. */
int bench_study(const bench_program *program, const char *path, const char *folder, int seconds);

#endif
