/* SPDX-License-Identifier: BSD-3-Clause */
/* The vorticity in a plane of constant x, on rank 0. The flow is symmetric about x = 0 and x = pi/2;
 * half-way between them all three components take part. */
#ifndef PLANE_H
#define PLANE_H

#include "flow.h"

/* The index along x of the plane. */
static inline int plane_index(int size) {
    return size / 8;
}

/* Gathers the plane from flow->vorticity_at_points: on rank 0 three components of size * size
 * points, y slower than z, in host memory; freed with free(). Collective. */
double *plane_gather(struct flow *flow);

#endif
