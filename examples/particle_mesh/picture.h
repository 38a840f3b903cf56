/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PICTURE_H
#define PICTURE_H

#include "mesh.h"

/* Writes the potential of the mesh in the middle plane to potential.dat in a folder, which is made; returns 1, with a
 * message, if that fails. Collective. */
int draw_potential(struct mesh *mesh, const char *folder);

#endif
