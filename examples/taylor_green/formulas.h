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
};

/* Of the velocity; of what `multiply` makes of it. */
enum { COMPONENTS = 3, PRODUCTS = 5 };

/* A part of a time step: how much of the velocity, its slope and the memory become the next velocity and memory. */
struct stage {
    double velocity[3], memory[3];
};

/* A block, and the arrays that a formula reads and writes there. */
struct work {
    struct block block;
    double *points;
    struct amplitude *velocity, *memory;
    const struct amplitude *products;
    struct stage stage;
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

/* a . (x, y, z) */
FORMULA struct amplitude combine(const double a[3], struct amplitude x, struct amplitude y,
                                 struct amplitude z) {
    struct amplitude result = {a[0] * x.real + a[1] * y.real + a[2] * z.real,
                               a[0] * x.imaginary + a[1] * y.imaginary + a[2] * z.imaginary};
    return result;
}

/* A part of a time step. The slope is -i k . (u u), damped by viscosity and without its part along k, which would
 * compress the flow and which the pressure takes away. */
FORMULA void advance_wave(const struct work *work, int i, int j, int k) {
    ptrdiff_t next = work->block.next;
    struct wave wave = wave_at(&work->block, i, j, k);
    struct amplitude *velocity = work->velocity + wave.place, *memory = work->memory + wave.place;
    const struct amplitude *products = work->products + wave.place;
    const struct amplitude xx = products[0], yy = products[next], xy = products[2 * next],
                           xz = products[3 * next], yz = products[4 * next], zz = {0, 0};
    const struct amplitude flux[3] = {combine(wave.k, xx, xy, xz), combine(wave.k, xy, yy, yz),
                                      combine(wave.k, xz, yz, zz)};
    const struct amplitude along_k = combine(wave.k, flux[0], flux[1], flux[2]);
    double inverse = wave.k_squared > 0 ? 1 / wave.k_squared : 0;
    double damping = work->viscosity * wave.k_squared;
    for (int c = 0; c < COMPONENTS; c++) {
        struct amplitude u = velocity[c * next], m = memory[c * next];
        double part = wave.k[c] * inverse;
        struct amplitude slope = {flux[c].imaginary - part * along_k.imaginary - damping * u.real,
                                  part * along_k.real - flux[c].real - damping * u.imaginary};
        velocity[c * next] = combine(work->stage.velocity, u, slope, m);
        memory[c * next] = combine(work->stage.memory, u, slope, m);
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

/* u u for the velocity (u, v, w): a symmetric matrix, from whose diagonal its last element is taken off. That changes
 * nothing but the pressure, and leaves five numbers. */
FORMULA void multiply(double u, double v, double w, double *xx, double *yy, double *xy, double *xz,
                      double *yz) {
    *xx = u * u - w * w;
    *yy = v * v - w * w;
    *xy = u * v;
    *xz = u * w;
    *yz = v * w;
}

/* |u| + |v| + |w| at point p of n */
FORMULA double speed_at(ptrdiff_t n, const double *velocity, ptrdiff_t p) {
    return fabs(velocity[p]) + fabs(velocity[p + n]) + fabs(velocity[p + 2 * n]);
}

#endif
