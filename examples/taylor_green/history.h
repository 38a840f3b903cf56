/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements after each step, and how it compares with the reference run. */
#ifndef HISTORY_H
#define HISTORY_H

#include <stddef.h>

struct record {
    double time;
    double energy;
    double dissipation; /* 2 * viscosity * enstrophy */
    double tail_share;  /* of the enstrophy, in the last shells: see spectrum_tail_share */
    double seconds;     /* that the step took; 0 at the start */
    int sampled;        /* nonzero at the ends of the printing intervals */
};

struct history {
    struct record *records;
    size_t count, room;
    size_t printed; /* records that history_print has passed */
};

void history_append(struct history *history, struct record record);
void history_free(struct history *history);

/* Half of the steps took longer; 0 before the first step. */
double history_median_seconds(const struct history *history);

/* Prints the head of the table, and later those sampled records that are new. The rate of energy
 * loss needs neighbours, so the newest two wait unless `finished`. */
void history_print_head(void);
void history_print(struct history *history, int finished);

/* Writes all records as comma-separated values; returns 0 if that fails. */
int history_write(const struct history *history, const char *path);

/* The largest relative deviations from the reference while the grid resolves the flow. */
struct comparison {
    double resolved_until; /* the last time that was compared */
    double energy, dissipation;
    double imbalance; /* between energy loss and dissipation, relative to the largest */
};

struct comparison history_compare(const struct history *history);

#endif
