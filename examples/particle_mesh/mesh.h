/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Smooth particle-mesh Ewald (Essmann et al., 1995): the potential of charges that are smeared out, on a mesh in bricks
 * of a three-dimensional process grid.
 */
#ifndef MESH_H
#define MESH_H

#include "../field.h"
#include "parts.h"
#include "space.h"

struct mesh {
    const struct space *space;
    redist_grid *grid;
    struct brick brick;
    size_t bytes;
    double *values; /* the brick with its ghosts: charges, then their potential */
    fftnd_plan *transform;
    fftnd_operator *multiply; /* by the influence function */
    struct influence influence;
    struct field factors;
};

/* The particles of a list that are in this rank's brick, in the memory of the mesh. */
struct residents {
    int count, *index; /* in the list */
    struct field particles, samples;
};

/* Charges are smeared out to Gaussians exp(-alpha^2 r^2). All functions are collective. */
void mesh_create(struct mesh *mesh, const struct space *space, const redist_index shape[3],
                 double alpha);
void mesh_free(struct mesh *mesh);

/* Room for all particles of a list. */
void residents_create(struct residents *residents, const struct mesh *mesh, int most);
void residents_free(struct residents *residents);

/* Finds the residents among n particles. */
void residents_find(struct residents *residents, const struct mesh *mesh, int n,
                    const struct particle particles[]);

/* The potential of the charges of all ranks' residents. */
void mesh_solve(struct mesh *mesh, const struct residents *charges, struct times *times);

/* The potential and its gradient at residents, in samples.host. */
void mesh_gather(struct mesh *mesh, const struct residents *residents);

/* The time of a forward and of a backward transform with ghosts; the values are undefined afterwards. */
void mesh_time_transforms(struct mesh *mesh, double seconds[2]);

#endif
