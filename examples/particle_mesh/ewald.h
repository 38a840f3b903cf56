/* SPDX-License-Identifier: BSD-3-Clause */
/* Ewald's sums over pairs and over waves, for some of the particles. */
#ifndef EWALD_H
#define EWALD_H

#include "particles.h"

/* Adds the forces on n particles by charges screened by Gaussians exp(-alpha^2 r^2), up to half an edge of the box;
 * returns the energy, half of that of each pair. */
double add_pairs(const struct particles *particles, int n, const int index[], double alpha,
                 vector force[]);

/* Adds the forces by these Gaussians, as a sum over all waves that are not negligible. Each rank computes all waves. */
void add_waves(const struct particles *particles, int n, const int index[], double alpha,
               vector force[]);

#endif
