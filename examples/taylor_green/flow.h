/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An incompressible flow in the periodic box [0, 2 pi)^3, kept as the amplitudes of its waves.
 *
 * The equation of motion is used in its conservative form: the velocity u changes by
 * -div(u u) - grad(pressure) + viscosity * Laplacian(u). Derivatives are products in spectral space, the
 * products u u are formed at grid points, and the transforms of libfftnd lead from one to the other.
 * Transforms, products and transforms back are one: the fields at grid points are never stored.
 */
#ifndef FLOW_H
#define FLOW_H

#include "options.h"
#include "space.h"
#include <fftnd_operators.h>

struct flow {
    const struct space *space; /* where the arrays live */
    int size;                  /* points along each axis */
    double viscosity;
    fftnd_plan *plan;
    fftnd_plan *component;           /* of one component, for the operators: */
    fftnd_operator *multiply, *curl; /* u u of spectra; curl of fields at points */
    fftnd_layout physical, spectral; /* components one after the other, without gaps */
    struct block points, waves;      /* the same for the formulas */
    struct amplitude *velocity;      /* the state */
    struct amplitude *products;      /* u u, a work array */
    double *velocity_at_points, *vorticity_at_points; /* work arrays */
};

/* Plans the transforms and sets up the vortex (sin x cos y cos z, -cos x sin y cos z, 0). */
void flow_create(struct flow *flow, const struct options *options, double viscosity);
void flow_free(struct flow *flow);

/* A spectral array of so many fields, all zero; freed with release(). */
struct amplitude *flow_allocate(const struct flow *flow, int fields);

/* A part of a time step. The memory is three fields, what it needs of the parts before it. */
void flow_advance(struct flow *flow, const struct stage *stage, struct amplitude *memory);

/* Fills flow->vorticity_at_points for the present state. */
void flow_vorticity(struct flow *flow);

/* The largest |u| + |v| + |w| at any grid point of any rank. */
double flow_largest_speed(struct flow *flow);

/* The largest wavenumber along an axis that the flow has. Products of two waves reach up to twice as
 * far; what they leave on these by aliasing is nothing if a third of all is cut off. */
static inline int flow_cutoff(int size) {
    return (size - 1) / 3;
}

#endif
