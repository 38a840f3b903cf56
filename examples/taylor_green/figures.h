/* SPDX-License-Identifier: BSD-3-Clause */
/* The two pictures that the program leaves: vorticity in a plane and spectra, at some moments. */
#ifndef FIGURES_H
#define FIGURES_H

#include "canvas.h"
#include "spectrum.h"

enum { MOMENTS = 3 };

/* What is kept on rank 0 for the pictures. */
struct figures {
    int size;     /* grid points along each axis */
    int nmoments; /* how many have been taken */
    double time[MOMENTS];
    double *energy[MOMENTS]; /* of each shell up to the cutoff */
    struct canvas vorticity;
};

void figures_create(struct figures *figures, int size);
void figures_free(struct figures *figures);

/* Adds one moment. `plane` is what plane_gather gave. */
void figures_add(struct figures *figures, double time, const double *plane,
                 const struct spectrum *spectrum);

/* Draws the spectra and writes both files; returns 0 if that fails. */
int figures_write(struct figures *figures, const char *vorticity_path, const char *spectrum_path);

#endif
