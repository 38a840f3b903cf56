/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens at one grid point or to one wave: the same on the host and on a device. Vector fields have
 * three components, one whole array after the other.
 */
#ifndef FORMULAS_H
#define FORMULAS_H

#include "../periodic_box.h"
#include <stddef.h>

#define FORMULA BOX_FUNCTION

/* The amplitude of a wave, a complex number. */
struct amplitude {
    double real, imaginary;
} __attribute__((aligned(16)));

/* This rank's part of one component, of grid points or of waves. Distances are in elements. */
struct block {
    int start[3], count[3];
    ptrdiff_t stride[3];
    ptrdiff_t next; /* from one component to the next */
    int period;     /* grid points, or waves, along each axis of the whole array */
    int cutoff;     /* waves: the largest wavenumber along an axis that the flow has */
};

/* A block, and the arrays that a formula reads and writes there. */
struct work {
    struct block block;
    double *points;
    const struct amplitude *velocity;
    struct amplitude *result;
    double viscosity;
    int nshells;  /* see struct spectrum */
    double *sums; /* energy of each shell, then enstrophy of each */
};

/* One wave of a block. */
struct wave {
    ptrdiff_t place;  /* of its first component; the others follow at `next` */
    double k[3];      /* wavenumbers */
    double k_squared; /* the sum of their squares */
    double weight;    /* 2 if it stands for its mirror image -k as well, which is not stored */
};

FORMULA ptrdiff_t place_in(const struct block *block, int i, int j, int k) {
    return i * block->stride[0] + j * block->stride[1] + k * block->stride[2];
}

FORMULA struct wave wave_at(const struct block *waves, int i, int j, int k) {
    struct wave wave;
    wave.place = place_in(waves, i, j, k);
    wave.k[0] = box_wavenumber(waves->period, waves->start[0] + i);
    wave.k[1] = box_wavenumber(waves->period, waves->start[1] + j);
    wave.k[2] = box_wavenumber(waves->period, waves->start[2] + k);
    wave.k_squared = wave.k[0] * wave.k[0] + wave.k[1] * wave.k[1] + wave.k[2] * wave.k[2];
    wave.weight = wave.k[2] > 0 ? 2 : 1;
    return wave;
}

/* ---------------------------------------------------------------- waves */

/* Takes away a wave beyond the cutoff, where the transforms have not left it out already. */
FORMULA void cut_wave(const struct work *work, int i, int j, int k) {
    const struct block *waves = &work->block;
    struct wave wave = wave_at(waves, i, j, k);
    const struct amplitude nothing = {0, 0};
    if (fabs(wave.k[0]) <= waves->cutoff && fabs(wave.k[1]) <= waves->cutoff &&
        fabs(wave.k[2]) <= waves->cutoff)
        return;
    for (int c = 0; c < 3; c++)
        work->result[wave.place + c * waves->next] = nothing;
}

/* i (a x - b y) */
FORMULA struct amplitude rotated_difference(double a, struct amplitude x, double b,
                                            struct amplitude y) {
    struct amplitude result = {b * y.imaginary - a * x.imaginary, a * x.real - b * y.real};
    return result;
}

/* result = curl of velocity: i k x velocity */
FORMULA void curl_of_wave(const struct work *work, int i, int j, int k) {
    ptrdiff_t next = work->block.next;
    struct wave wave = wave_at(&work->block, i, j, k);
    const struct amplitude *velocity = work->velocity + wave.place;
    struct amplitude u = velocity[0], v = velocity[next], w = velocity[2 * next];
    struct amplitude *curl = work->result + wave.place;
    curl[0] = rotated_difference(wave.k[1], w, wave.k[2], v);
    curl[next] = rotated_difference(wave.k[2], u, wave.k[0], w);
    curl[2 * next] = rotated_difference(wave.k[0], v, wave.k[1], u);
}

/* Turns the transformed cross product into the rate of change: the pressure takes away the part
 * along k, which keeps the flow free of divergence, and viscosity damps. */
FORMULA void finish_slope_of_wave(const struct work *work, int i, int j, int k) {
    ptrdiff_t next = work->block.next;
    struct wave wave = wave_at(&work->block, i, j, k);
    const struct amplitude *velocity = work->velocity + wave.place;
    struct amplitude *slope = work->result + wave.place, along_k = {0, 0};
    double damping = work->viscosity * wave.k_squared;
    cut_wave(work, i, j, k);
    for (int c = 0; c < 3; c++) {
        along_k.real += wave.k[c] * slope[c * next].real;
        along_k.imaginary += wave.k[c] * slope[c * next].imaginary;
    }
    double factor = wave.k_squared > 0 ? 1 / wave.k_squared : 0;
    for (int c = 0; c < 3; c++) {
        struct amplitude u = velocity[c * next], *s = &slope[c * next];
        s->real -= wave.k[c] * factor * along_k.real + damping * u.real;
        s->imaginary -= wave.k[c] * factor * along_k.imaginary + damping * u.imaginary;
    }
}

/* Many threads of a device add at once. */
FORMULA void add_to(double *sum, double value) {
#ifdef __CUDA_ARCH__
    atomicAdd(sum, value);
#else
    *sum += value;
#endif
}

/* Adds energy and enstrophy of a wave to the sums of its shell. */
FORMULA void measure_wave(const struct work *work, int i, int j, int k) {
    struct wave wave = wave_at(&work->block, i, j, k);
    const struct amplitude *velocity = work->velocity + wave.place;
    double energy = 0;
    for (int c = 0; c < 3; c++) {
        struct amplitude u = velocity[c * work->block.next];
        energy += wave.weight * 0.5 * (u.real * u.real + u.imaginary * u.imaginary);
    }
    int shell = (int)(sqrt(wave.k_squared) + 0.5);
    add_to(&work->sums[shell], energy);
    add_to(&work->sums[work->nshells + shell], wave.k_squared * energy);
}

/* ---------------------------------------------------------------- grid points */

/* points = the vortex (sin x cos y cos z, -cos x sin y cos z, 0) */
FORMULA void set_vortex(const struct work *work, int i, int j, int k) {
    const struct block *points = &work->block;
    double x = box_coordinate(points->period, points->start[0] + i);
    double y = box_coordinate(points->period, points->start[1] + j);
    double z = box_coordinate(points->period, points->start[2] + k);
    double *u = work->points + place_in(points, i, j, k);
    u[0] = sin(x) * cos(y) * cos(z);
    u[points->next] = -cos(x) * sin(y) * cos(z);
    u[2 * points->next] = 0;
}

/* The cross product of the first three inputs and the last three, at point p of these and q of the outputs. */
FORMULA void cross_at(const double *const inputs[6], double *const outputs[3], ptrdiff_t p,
                      ptrdiff_t q) {
    double u = inputs[0][p], v = inputs[1][p], w = inputs[2][p];
    double x = inputs[3][p], y = inputs[4][p], z = inputs[5][p];
    outputs[0][q] = v * z - w * y;
    outputs[1][q] = w * x - u * z;
    outputs[2][q] = u * y - v * x;
}

/* |u| + |v| + |w| at point p of n */
FORMULA double speed_at(ptrdiff_t n, const double *velocity, ptrdiff_t p) {
    return fabs(velocity[p]) + fabs(velocity[p + n]) + fabs(velocity[p + 2 * n]);
}

#endif
