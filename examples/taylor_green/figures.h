/* SPDX-License-Identifier: BSD-3-Clause */
/* What draw.gp makes pictures of: the vorticity in a plane, and spectra, at some moments. */
#ifndef FIGURES_H
#define FIGURES_H

#include "spectrum.h"
#include <stdio.h>

enum { MOMENTS = 3 };

/* Two files on rank 0. Both have a block for each moment, headed "t = 3" and separated by two empty lines. */
struct figures {
    FILE *vorticity; /* rows "y z magnitude", an empty line behind each y */
    FILE *spectrum;  /* rows "k energy" */
};

/* Begins both files; returns 0 if that fails. */
int figures_begin(struct figures *figures, const char *vorticity_path, const char *spectrum_path);

/* Adds one moment. `plane` is what plane_gather returned. */
void figures_add(const struct figures *figures, double time, int size, const double *plane,
                 const struct spectrum *spectrum);

/* Ends both files; returns 0 if something could not be written. */
int figures_end(const struct figures *figures);

#endif
