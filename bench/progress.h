/* SPDX-License-Identifier: BSD-3-Clause */
/* How far a study is: on a terminal one line that is written over, else a line now and then. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

typedef struct bench_progress {
    int shown;        /* this rank shows it */
    int terminal;     /* to somebody who watches */
    double begin;     /* seconds */
    double done, all; /* work, in some unit */
    double spared;    /* of `done`, what was measured before */
    int width;        /* of the line on the terminal */
} bench_progress;

void bench_progress_begin(bench_progress *progress, int shown, double all);

/* Some work is done, or need not be done again (`spared`); `text` says what. */
void bench_progress_add(bench_progress *progress, double work, int spared, const char *text);

/* A line that stays. */
void bench_progress_say(bench_progress *progress, const char *text);
void bench_progress_end(bench_progress *progress);

#endif
