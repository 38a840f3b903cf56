/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Charged particles of mass 1 in a periodic box. Every rank has all of them and moves them alike, since the example
 * sums over all pairs; a large simulation would have each particle on the rank of its brick alone.
 */
#ifndef PARTICLES_H
#define PARTICLES_H

#include "formulas.h"

typedef double vector[3];

struct particles {
    int count;
    struct particle *all;
    vector *velocity, *force;
    double potential_energy;
};

/* edge^3 particles at rest, near the points of a lattice, whose charges 1 and -1 alternate; edge is even. */
void particles_create(struct particles *particles, int edge);
void particles_free(struct particles *particles);

/* Changes velocities by the forces during a time; positions by the velocities. */
void particles_accelerate(struct particles *particles, double time);
void particles_move(struct particles *particles, double time);

double particles_kinetic_energy(const struct particles *particles);

/* The length of the sum of n vectors, over the sum of their lengths. */
double imbalance_of(int n, vector vectors[]);

#endif
