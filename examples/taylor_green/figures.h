/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures of some moments that draw.gp draws, beside the vorticity that plane.h writes. */
#ifndef FIGURES_H
#define FIGURES_H

#include "spectrum.h"
#include <stdio.h>

enum { MOMENTS = 3 };

/* Two files on rank 0. */
struct figures {
    FILE *vorticity; /* what the planes are, for gnuplot: the points along an axis, and the times */
    FILE *
        spectrum; /* a block for each moment, headed "t = 3", of rows "k energy"; two empty lines behind it */
};

/* Begins both files; returns 0 if that fails. */
int figures_begin(struct figures *figures, const char *vorticity_path, const char *spectrum_path,
                  int size);

/* Adds one moment. */
void figures_add(const struct figures *figures, double time, int size,
                 const struct spectrum *spectrum);

/* Ends both files; returns 0 if something could not be written. */
int figures_end(const struct figures *figures);

#endif
