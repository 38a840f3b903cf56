/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a study is: on a terminal one line that is written over, else a line now and then. */
#ifndef STUDY_PROGRESS_H
#define STUDY_PROGRESS_H

typedef struct study_progress {
    int shown;        /* this rank shows it */
    int terminal;     /* to somebody who watches */
    double begin;     /* seconds */
    double done, all; /* work, in some unit */
    double spared;    /* of `done`, what was measured before */
    int width;        /* of the line on the terminal */
} study_progress;

void study_progress_begin(study_progress *progress, int shown, double all);

/* Some work is done, or need not be done again (`spared`); `text` says what. */
void study_progress_add(study_progress *progress, double work, int spared, const char *text);

/* A line that stays. */
void study_progress_say(study_progress *progress, const char *text);
void study_progress_end(study_progress *progress);

#endif
