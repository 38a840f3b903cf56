/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a run in a file, from which any number of ranks goes on. */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "flow.h"

/* State of the run beside the fields: the time, and the sampling intervals that are over. */
struct moment {
    double time;
    int64_t sample;
};

/* Writes the flow, while the file before it becomes `path`.1; and reads it. All ranks call them together. */
void checkpoint_write(const char *path, const struct flow *flow, struct moment now);
struct moment checkpoint_read(const char *path, struct flow *flow);

#endif
