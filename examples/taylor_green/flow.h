/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An incompressible flow in the periodic box [0, 2 pi)^3, kept as the amplitudes of its waves.
 *
 * The equation of motion is used in its rotational form: the velocity u changes by
 * u x (curl u) - grad(pressure) + viscosity * Laplacian(u). Derivatives are products in spectral
 * space, the cross product is formed at grid points, and the transforms of libfftnd lead from one
 * to the other. All vector fields have three components, transformed together as a batch.
 */
#ifndef FLOW_H
#define FLOW_H

#include "options.h"
#include "periodic_box.h"
#include <complex.h>
#include <fftnd.h>

struct flow {
    int size;  /* points along each axis */
    int modes; /* waves along each axis: these only are kept, on the spectral side */
    double viscosity;
    fftnd_plan *plan;
    fftnd_layout physical, spectral; /* components one after the other, without gaps */
    size_t nspectral;                /* complex numbers in a local spectral array, all components */
    double complex *velocity;        /* the state */
    double *velocity_at_points, *vorticity_at_points; /* work arrays */
};

/* Plans the transforms and sets up the vortex (sin x cos y cos z, -cos x sin y cos z, 0). */
void flow_create(struct flow *flow, const struct options *options, double viscosity);
void flow_free(struct flow *flow);

/* A spectral array of three components, all zero; freed with release(). */
double complex *flow_allocate(const struct flow *flow);

/* The rate of change of `velocity`. */
void flow_slope(struct flow *flow, double complex *velocity, double complex *slope);

/* Fills flow->vorticity_at_points for the present state; `work` is a spectral array. */
void flow_vorticity(struct flow *flow, double complex *work);

/* The largest |u| + |v| + |w| at any grid point of any rank. */
double flow_largest_speed(struct flow *flow);

/* One wave of the local spectral array. */
struct wave {
    ptrdiff_t place;  /* of its first component; the others follow at batch_stride */
    double k[3];      /* wavenumbers */
    double k_squared; /* the sum of their squares */
    double weight;    /* 2 if it stands for its mirror image -k as well, which is not stored */
};

/* The largest wavenumber along an axis that is kept. Products of two waves reach up to twice as
 * far; what they leave on the kept ones by aliasing is nothing if a third of all is cut off. */
static inline int flow_cutoff(int size) {
    return (size - 1) / 3;
}

/* Calls `visit` for each wave of this rank. It is inline so that `visit` can be too. */
static inline void flow_each_wave(const struct flow *flow,
                                  void (*visit)(const struct wave *wave, void *context),
                                  void *context) {
    const fftnd_layout *s = &flow->spectral;
    struct wave wave;
    for (int i = 0; i < s->count[0]; i++) {
        wave.k[0] = box_wavenumber(s, flow->modes, 0, i);
        for (int j = 0; j < s->count[1]; j++) {
            wave.k[1] = box_wavenumber(s, flow->modes, 1, j);
            for (int k = 0; k < s->count[2]; k++) {
                wave.k[2] = box_wavenumber(s, flow->modes, 2, k);
                wave.place = box_place(s, i, j, k);
                wave.k_squared =
                    wave.k[0] * wave.k[0] + wave.k[1] * wave.k[1] + wave.k[2] * wave.k[2];
                wave.weight = wave.k[2] > 0 ? 2 : 1;
                visit(&wave, context);
            }
        }
    }
}

#endif
