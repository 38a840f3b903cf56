/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a transform: the arguments of fftnd_plan_create, which api/ has checked and resolved, with all
 * defaults filled in and the axes in the library's numbers. */
#ifndef FFTND__SETTINGS_H
#define FFTND__SETTINGS_H

#include "../geometry/layout.h"
#include "redist_support.h"

/* Settings of a transform for all of its life; fftnd.h explains the options of the same names. */
struct fftnd__settings {
    enum fftnd_scaling scaling;
    int batch;
    enum fftnd_batch_position batch_position;

    /* The arrays */
    int in_place, overwrite_input, mapped_arrays, user_workspace;
    enum redist_space space; /* never REDIST_SPACE_AUTO */
    void *stream;
    int asynchronous; /* 0 in host memory */
    int offloads;     /* arrays of the host are transformed on a device, with the next three */
    enum redist_space device;
    int pin_arrays;
    size_t device_bytes; /* 0 = to be found */

    /* The execution */
    int by_node;
    enum fftnd_effort effort;
    enum fftnd_fusion fusion;
    enum fftnd_local_transpose local_transpose;
    enum redist_staging staging;
    enum redist_wire wire; /* with a tolerance it is chosen */
    enum redist_wire_scope wire_scope;
    const char *method, *wisdom_file; /* texts of the plan; NULL = none */
    double plan_seconds, wait_seconds, tolerance;
    size_t tile_bytes; /* 0 = to be chosen */
    int threads, verbose, phases;
    int is_inner; /* a plan of the library's own, not of the configuration in the environment */
};

/* A transform that is to be planned. Axes are numbered in their order in memory on the physical side. */
struct fftnd__request {
    MPI_Comm comm, user_comm; /* the library's own one of the same ranks; of which grids are made */
    int nranks;               /* on which the chain runs */
    int ranks; /* 0 = these are all ranks of the communicator; FFTND_CHOOSE_RANKS = to be chosen; else as `nranks` */
    enum fftnd_precision precision;
    struct fftnd__settings settings;
    struct fftnd__shape shape;            /* bounds of its blocks are the user's */
    int user_ndims;                       /* fewer than the shape's if one axis is long */
    int user_axis[REDIST_MAX_NDIMS];      /* the user's number of each axis */
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS]; /* forward */
    int memory[2][REDIST_MAX_NDIMS];      /* of each side: its axes from the slowest in memory */
    struct fftnd__room room;              /* in the arrays of both sides */

    /* Choices that are left to the planner. */
    int has_order, order[REDIST_MAX_NDIMS];
    int mixes_kinds;                     /* FFTND_MIXED: without an order, that which sends least */
    int has_grid, grid_ndims;            /* 0 dimensions: any number */
    int grid[REDIST_MAX_NDIMS];          /* 0 = to be chosen */
    char arguments[REDIST_WISDOM_BYTES]; /* as text: all that decide how fast a plan can be */
};

/* Returns the elements of an axis on the spectral side. */
static inline redist_index fftnd__request_extent(const struct fftnd__request *request, int axis) {
    const struct fftnd__shape *shape = &request->shape;
    return axis == shape->halved ? shape->modes[axis] / 2 + 1 : shape->modes[axis];
}

#endif
