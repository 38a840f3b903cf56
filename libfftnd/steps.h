/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of one direction of a transform, and how the array lies between them. */
#ifndef FFTND__STEPS_H
#define FFTND__STEPS_H

#include "backends/serial.h"
#include "layout.h"
#include "redist_support.h"
#include "route.h"
#include "team.h"

struct fftnd__tiling;
struct fftnd__offload;
struct fftnd__chunks;

/* A step, and how the array lies after it. */
struct fftnd__step {
    struct fftnd__hop hop;
    struct fftnd__alignment alignment; /* after the step */
    int memory[REDIST_MAX_NDIMS]; /* transform axes from the slowest in memory to the fastest */
    int real;                     /* the elements after the step are real */
    struct fftnd__local local;    /* the array after the step */
    int grid_dim;                 /* exchange: subgroup; -1 = all ranks at once */
    int axis_source, axis_destination; /* exchange: array axes that are whole before, after */
    int naxes;                         /* serial: transformed axes, 0 = copy */
    int axes[REDIST_MAX_NDIMS];
    int truncates; /* some of these keep fewer modes than they have points: always in tiles */
    void *serial;  /* plan of the serial library; NULL if this rank has nothing to do, or tiles */
    struct fftnd__tiling *tiling; /* the same in tiles; NULL if over whole arrays */
    struct fftnd__chunks *chunks; /* the same in chunks that are put as they are done */
    int joined;                   /* exchange: the step before puts it, chunk by chunk */
    int pieced; /* joined exchange: the step after it transforms each piece that has arrived */
    int cut;    /* after such an exchange: the array axis of the pieces */
    redist_plan *exchange;
};

struct fftnd__pipeline {
    int direction;
    int realigned; /* each transform puts the lines of the next one side by side in memory */
    int nsteps;
    struct fftnd__step
        steps[FFTND__MOST_HOPS + 2]; /* steps[0] is the input, and the last one is never used */
};

/* How a plan does its work: what a planner may try. */
struct fftnd__choice {
    int grid_ndims;
    int grid[REDIST_MAX_NDIMS];  /* processes along each grid dimension */
    int order[REDIST_MAX_NDIMS]; /* grid dimension i splits axis order[i] first */
    int early; /* backward transforms an axis before an exchange if it is whole before and after it */
    int realigned; /* transforms over whole arrays turn the axes, so that lines are contiguous */
    int fused;     /* transforms and exchanges are joined in tiles */
    int whole;     /* joined: transforms between arrays of this rank work on whole arrays */
    int tiled;     /* transforms that are not joined work in tiles too */
    size_t tile_bytes; /* of a tile, at most, where the axes allow */
    size_t
        group_bytes; /* axes are transformed at once as long as their lines together have no more */
    size_t nontemporal_bytes; /* stores into arrays larger than this bypass the caches */
    size_t
        row_bytes; /* tiles on a device: what is left contiguous of axes that are not transformed,
                         at least; 0 = of no interest */
    int chunks; /* whole arrays: a transform is cut in so many, each of which is put as it is done */
    int pieces; /* and the one after that exchange in so many, each of which begins as it arrives */
};

/* What both directions of a plan share. */
struct fftnd__transform {
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    fftnd_options options;
    struct fftnd__choice choice;
    enum fftnd_r2r r2r[2][REDIST_MAX_NDIMS]; /* of each axis, forward and backward */
    redist_grid *grid;                       /* NULL for one rank without a grid */
    MPI_Comm comm;
    struct fftnd__chain chain;
    struct fftnd__batch batch;
    const struct fftnd__serial *library;
    void *marks[2];                 /* of the library, if it has marks */
    struct fftnd__team *team;       /* the threads that share the work */
    struct fftnd__offload *offload; /* the device that transforms arrays of the host; NULL = none */
};

size_t fftnd__element_bytes(const struct fftnd__transform *transform, int real);
size_t fftnd__step_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* How a stage whose transforms cannot be in place is parted when the arrays at hand leave no other way. */
enum fftnd__parting {
    FFTND__TOGETHER,     /* not at all */
    FFTND__COPIED,       /* nor that, but backward begins with a copy that may be ruined */
    FFTND__HALVED_APART, /* that axis first (backward: last), the others after it */
    FFTND__WITH_COPY     /* and a copy between two arrays besides, also where modes are dropped */
};

/* Lists the steps without saying through which arrays they go. `realigned`: the transforms before an
 * exchange write their own axes as the slowest (backward: the fastest) in memory, so that forward each
 * line of the next ones is contiguous (Egger, chapter 4). Not collective; REDIST_ERR_LIMIT. */
int fftnd__list_steps(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                      int direction, int realigned, enum fftnd__parting parting);

/* Whether a serial step transforms along an axis. */
int fftnd__is_transformed(const struct fftnd__step *step, int axis);

/* The last serial step: the one that scales. 0 = there is none. */
int fftnd__last_serial(const struct fftnd__pipeline *pipeline);

/* What a serial library has to do to get from one array to the next, when they lie in memory as `in`
 * and `out` say (strides, and the counts of `out` along the axes that are not transformed). */
void fftnd__describe_serial(const struct fftnd__transform *transform,
                            const struct fftnd__step *before, const struct fftnd__step *step,
                            int direction, const struct fftnd__local *in,
                            const struct fftnd__local *out, struct fftnd__serial_problem *problem);

#endif
