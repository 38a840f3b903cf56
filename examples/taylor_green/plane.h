/* SPDX-License-Identifier: BSD-3-Clause */
/* The vorticity in the plane x = pi/4, in a file. The flow is symmetric about x = 0 and x = pi/2; half-way between them
 * all three components take part. */
#ifndef PLANE_H
#define PLANE_H

#include "flow.h"

/* Writes the plane of flow->vorticity_at_points to a raw file, behind those of earlier moments: three components of
 * size * size numbers, y slower than z. All ranks call it together. */
void plane_write(const struct flow *flow, const char *path, int moment);

#endif
