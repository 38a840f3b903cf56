/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows how far the run is: a bar on a terminal, a line now and then elsewhere. Rank 0 only. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "options.h"

struct progress {
    int bar;          /* nonzero: a bar that is drawn over and over */
    int tenths_shown; /* of the work, in plain lines */
    double started;   /* in seconds */
};

struct progress progress_start(enum progress_style style);
double progress_seconds(const struct progress *progress);
void progress_show(struct progress *progress, double fraction);

/* Wipes the bar, so that other lines can be printed. */
void progress_hide(const struct progress *progress);

#endif
