/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of the host's own loops beside a general library: trials in the caches. */
#ifndef LINES__HOST_MEASURE_H
#define LINES__HOST_MEASURE_H

#include "../lines.h"

/* Percent of the general library's time: as fast; no such loops. */
enum { LINES__AS_FAST = 100, LINES__UNSUITED = 1000 };

/* Nonzero if the problem's general library yields lines, for one thread, in double or float. */
int lines__may_take(const struct lines__problem *problem);

/* A trial of the host's own loops beside the general library. */
struct lines__trial {
    const struct lines__library *own;
    struct lines__problem problem; /* planned for at most problem.seconds */
    size_t bytes;                  /* of an array */
    int apart;                     /* 1 = from one array to another */
    /* Percent of the general library's time up to which `own` is chosen, and percent of its time with FFTND_ESTIMATE up
     * to which `own` is chosen without a plan of more effort. */
    int as_fast, sure;
};

/* Time of trial->own in percent of the general library's, LINES__UNSUITED at most. It is measured by the first call and
 * kept in *known, which is 0 before; first beside a plan by FFTND_ESTIMATE, made in a hundredth of the time, which
 * decides where more effort cannot. With FFTND_ESTIMATE the time is guessed: 60 where registers are wider than a
 * complex double, as those are what FFTW of a distribution leaves empty. */
int lines__trial_percent(const struct lines__trial *trial, short *known);

/* Measurements of each length in double and float: 1 + the number of the fastest way, the percentage of columns,
 * and those of contiguous lines, by far, real and direction. */
enum { LINES__FOUND_WAY, LINES__FOUND_COLUMNS, LINES__FOUND_CONTIGUOUS, LINES__FINDINGS = 10 };

/* The place of a measurement of n elements, at most LINES__LONGEST; 0 = unknown. */
short *lines__finding(enum fftnd_precision precision, int what, redist_index n);

/* `tell_found` and `take_found` of one library for all of them. Those that are known here are not taken. */
char *lines__tell_findings(enum fftnd_precision precision);
void lines__take_findings(enum fftnd_precision precision, const char *text);

/* The least seconds of some runs of each plan, in turns. Plans transform so many elements; runs are repeated until the
 * clock resolves them. */
void lines__time_plans(int count, const struct lines__plan plans[], redist_index elements, void *in,
                       void *out, double seconds[]);

#endif
