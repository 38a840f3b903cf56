/* SPDX-License-Identifier: BSD-3-Clause */
/* The whole vorticity in an HDF5 file, with a description for ParaView. */
#ifndef VOLUME_H
#define VOLUME_H

#include "flow.h"

/* Whether this program was built with HDF5. */
extern const int volume_possible;

/* Writes flow->vorticity_at_points to NAME.h5, as a step behind those of earlier moments, and NAME.xdmf anew. All ranks
 * call it together. */
void volume_write(const struct flow *flow, const char *name, int moment, double time);

#endif
