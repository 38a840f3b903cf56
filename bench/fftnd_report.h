/* SPDX-License-Identifier: BSD-3-Clause */
/* What fftnd-bench prints. */
#ifndef BENCH_FFTND_REPORT_H
#define BENCH_FFTND_REPORT_H

#include "options.h"
#include "transform.h"

typedef struct bench_report {
    const bench_settings *settings;
    const bench_problem *problem;
    const char *kind;
    const char *precision;
    const bench_transform *transforms;
    const bench_candidate *candidates; /* of the transforms, and last of the serial ones */
    int ntransforms;
    double bound_ms; /* NAN = not known */
    int wire;        /* enum redist_wire */
} bench_report;

/* Prints a table or JSON lines on rank 0. */
void bench_print_report(const bench_report *report);

/* Prints one line on rank 0, with a heading before the first. */
void bench_print_size(const bench_report *report);

/* Whether the error of every round trip is within what rounding explains. */
int bench_errors_are_small(const bench_report *report);

#endif
