/* SPDX-License-Identifier: BSD-3-Clause */
#include "ewald.h"
#include "../example.h"
#include <complex.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* ---------------------------------------------------------------- pairs */

/* From a to the closest image of b. */
static double find_distance(const struct particle *a, const struct particle *b, vector d) {
    for (int axis = 0; axis < 3; axis++) {
        d[axis] = b->position[axis] - a->position[axis];
        d[axis] -= round(d[axis]);
    }
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Adds the force of b on a; returns the energy of the pair. */
static double add_pair(const struct particle *a, const struct particle *b, double alpha,
                       vector force) {
    vector d;
    double r = find_distance(a, b, d);
    if (r >= 0.5)
        return 0;
    double charges = a->charge * b->charge, energy = charges * erfc(alpha * r) / r;
    double slope = energy + charges * 2 * alpha / sqrt(pi) * exp(-alpha * alpha * r * r);
    for (int axis = 0; axis < 3; axis++)
        force[axis] -= slope * d[axis] / (r * r);
    return energy;
}

double add_pairs(const struct particles *particles, int n, const int index[], double alpha,
                 vector force[]) {
    double energy = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < particles->count; j++)
            if (j != index[i])
                energy += add_pair(&particles->all[index[i]], &particles->all[j], alpha,
                                   force[index[i]]) /
                          2;
    return energy;
}

/* ---------------------------------------------------------------- waves */

/* exp(2 pi i k x) of each particle along each axis, for 0 <= k <= reach. */
struct phases {
    int reach;
    double complex *values;
};

static double complex *phase(const struct phases *phases, int particle, int axis) {
    return phases->values + (3 * particle + axis) * (phases->reach + 1);
}

static struct phases create_phases(const struct particles *particles, int reach) {
    struct phases phases = {.reach = reach};
    phases.values = malloc((size_t)(3 * particles->count * (reach + 1)) * sizeof(double complex));
    if (phases.values == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < particles->count; i++)
        for (int axis = 0; axis < 3; axis++)
            for (int k = 0; k <= reach; k++)
                phase(&phases, i, axis)[k] =
                    cexp(2 * pi * k * particles->all[i].position[axis] * I);
    return phases;
}

static double complex wave_at(const struct phases *phases, int particle, const int k[3]) {
    double complex wave = 1;
    for (int axis = 0; axis < 3; axis++) {
        double complex factor = phase(phases, particle, axis)[abs(k[axis])];
        wave *= k[axis] < 0 ? conj(factor) : factor;
    }
    return wave;
}

/* The wave of -k is the conjugate, and has the same forces. */
static void add_wave(const struct particles *particles, const struct phases *phases, const int k[3],
                     double alpha, int n, const int index[], vector force[]) {
    double k_squared = k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
    double factor = 2 * 2 * exp(-pi * pi * k_squared / (alpha * alpha)) / k_squared;
    double complex sum = 0;
    for (int i = 0; i < particles->count; i++)
        sum += particles->all[i].charge * wave_at(phases, i, k);
    for (int i = 0; i < n; i++) {
        double slope = factor * particles->all[index[i]].charge *
                       cimag(conj(sum) * wave_at(phases, index[i], k));
        for (int axis = 0; axis < 3; axis++)
            force[index[i]][axis] += slope * k[axis];
    }
}

/* Waves that are left out are smaller by a factor of 10^12. */
void add_waves(const struct particles *particles, int n, const int index[], double alpha,
               vector force[]) {
    struct phases phases = create_phases(particles, (int)ceil(5.3 * alpha / pi));
    const int reach = phases.reach;
    for (int x = 0; x <= reach; x++)
        for (int y = x > 0 ? -reach : 0; y <= reach; y++)
            for (int z = x > 0 || y > 0 ? -reach : 1; z <= reach; z++)
                if (x * x + y * y + z * z <= reach * reach)
                    add_wave(particles, &phases, (const int[]){x, y, z}, alpha, n, index, force);
    free(phases.values);
}
