/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a program, the layouts between them, and what both directions share. */
#ifndef FFTND__STEPS_H
#define FFTND__STEPS_H

#include "../../liblines/lines.h"
#include "../geometry/layout.h"
#include "../workers/offload.h"
#include "../workers/thread_pool.h"
#include "configuration.h"
#include "redist_support.h"

struct fftnd__operator;
struct fftnd__stage;

enum fftnd__buffer {
    FFTND__NOWHERE = -1, /* only pieces in flight, no array */
    FFTND__INPUT,
    FFTND__OUTPUT, /* in place: the same memory as the input */
    FFTND__WORK0,
    FFTND__WORK1,
    FFTND__BUFFERS
};

/* Demands of a step on the arrays before and after it. */
enum fftnd__step_type {
    FFTND__KEEPS_LAYOUT,   /* a serial transform that may run in place */
    FFTND__CHANGES_LAYOUT, /* one that changes type, order or extents: never in place */
    FFTND__EXCHANGE,       /* never in place; best when peers map one side */
    FFTND__COPIES_INPUT /* all of it to a work array, which peers know, and in which ghosts may be added */
};

/* Transforms that do an exchange, piece by piece. */
enum fftnd__fused_with {
    FFTND__UNFUSED, /* none: it moves whole arrays */
    FFTND__PUSHED,  /* the one before puts its pieces into the peers' arrays */
    FFTND__PULLED   /* the one after gets its pieces out of the peers' arrays */
};

/* Layout of an array between steps. */
struct fftnd__layout {
    struct fftnd__alignment alignment;
    int memory[REDIST_MAX_NDIMS]; /* transform axes from the slowest in memory to the fastest */
    struct fftnd__local local;
};

/* Gives a layout of `ndims` transform axes memory for 4 * ndims + 1 numbers and ndims + 1 strides. The second function
 * copies into such memory. */
void fftnd__place_layout(struct fftnd__layout *layout, int ndims, redist_index numbers[],
                         ptrdiff_t strides[]);
void fftnd__copy_layout(struct fftnd__layout *to, const struct fftnd__layout *from, int ndims);

/* A step, and the array after it. */
struct fftnd__step {
    enum fftnd__step_type type;
    int direction;                /* of its transform */
    int fields;                   /* of the array, each a batch */
    int real;                     /* the elements of the array are real */
    struct fftnd__layout *layout; /* one for all arrays of equal layout */
    int buffer;                   /* enum fftnd__buffer: the array's memory */
    int reaches_output;           /* the array fits the output */

    /* An exchange. */
    int grid_dim;                      /* subgroup; -1 = all ranks at once */
    int axis_source, axis_destination; /* array axes that are whole before, after */
    enum fftnd__fused_with fused_with;
    int direct_stores; /* pushed: of enum fftnd__direct, by the transform before, along the axis that is split */
    int fills_ghosts;  /* of the array that it ends in; not by tiles */
    int adds_ghosts;   /* of the array that it begins in; not by tiles */
    int by_partitions; /* pushed: the transform after it begins with each partition that arrives */
    redist_plan *exchange; /* NULL = this rank has no part in it */

    /* A serial transform. */
    int naxes; /* 0 = copy */
    unsigned char axes[REDIST_MAX_NDIMS];
    int ruins_source; /* the library overwrites the source */
    int truncates;    /* on a side, arrays have fewer elements of some axes than the transform */
    int truncates_inside; /* 1 << side: the serial library does that, and pieces have the elements of
                           * their arrays; of a step that applies, at its ends */
    int twiddles;         /* of one long axis: this transforms axis 0 */
    int applies;          /* a transform, an operator, and the transform back */
    int arrival_axis;     /* after an exchange by partitions: the array axis that arrivals divide */
    int segment_axis; /* before a pushed exchange: the array axis that segments divide, -1 = none */
    int takes_turns; /* before a pushed exchange: segments share memory that is less than the array */
    struct fftnd__stage *stage; /* NULL before it is planned, or if this rank has no elements */
};

/* The neighbours of a step in its program; the array before a step is that of its previous one. */
#define fftnd__previous(step) ((step)-1)
#define fftnd__next(step)     ((step) + 1)

/* Returns the place behind the last step that may have an exchange, from steps[0] on. */
#define fftnd__end_of_exchanges(program) ((program)->steps != NULL ? (program)->nsteps + 2 : 0)

enum { FFTND__MOST_STEPS = 128 };

struct fftnd__program {
    int direction;  /* with an operator, up to it */
    int ends;       /* the side of its last array; that of its first one is `direction` */
    int fused;      /* in tiles, without arrays between transforms and exchanges */
    int transposed; /* of enum fftnd__transposed */
    long double
        scale; /* of the results, by the last serial step; 1 = none, or serial libraries scale */
    int nsteps;
    struct fftnd__step
        *steps; /* the first is the input; one more behind the last. Both may exchange ghosts */
    struct fftnd__layout *layouts; /* of all arrays, each once; behind the steps */
};

/* Settings and resources of both directions of a plan. */
struct fftnd__transform {
    enum fftnd_precision precision;
    struct fftnd__settings settings;
    struct fftnd__configuration configuration;
    enum fftnd_r2r r2r[2][REDIST_MAX_NDIMS]; /* of each axis, forward and backward */
    redist_grid *grid;                       /* NULL for one rank without a grid */
    MPI_Comm comm;                           /* the next one, or with by_node the grid's */
    MPI_Comm plan_comm;                      /* the library's own one for the user's */
    struct fftnd__chain chain;
    struct fftnd__batch batch;
    const struct fftnd__operator *applied; /* between both directions; NULL = a plan's transforms */
    int fields[2];                         /* before and after it */
    int user_ndims;                        /* fewer than the library's if one axis is long */
    int user_axis[REDIST_MAX_NDIMS];       /* the user's number of each axis */
    int memory[2][REDIST_MAX_NDIMS];       /* of each side: its axes from the slowest in memory */
    struct fftnd__room *room;              /* NULL = this rank's arrays have no padding */
    int padded[2];                         /* an array of the side has some, on any rank */
    const struct lines__library *library;
    const redist__space *space;     /* of the arrays */
    int in_one_node;                /* the ranks of the user's communicator are */
    void *event;                    /* of the space */
    void *second;                   /* stream of a device, for every other segment; NULL = none */
    void *forked;                   /* event at which one of both streams waits for the other */
    void *begun;                    /* event before pieces that begin as they arrive; NULL = none */
    struct fftnd__pool *pool;       /* of threads */
    struct fftnd__offload *offload; /* the device that transforms arrays of the host; NULL = none */
    const struct fftnd__workplace *workplace;
    const redist__space *worker; /* in which pieces are transformed */
};

/* Returns nonzero if this rank has no elements of the array, of which it may have padding. */
int fftnd__is_empty(const struct fftnd__transform *transform, const struct fftnd__step *step);

size_t fftnd__element_bytes(const struct fftnd__transform *transform, int real);
size_t fftnd__step_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* Gives a transform a copy of the room in its arrays, unless there is none. REDIST_ERR_MEMORY. */
int fftnd__set_room(struct fftnd__transform *transform, const struct fftnd__room *room);

/* Elements along an axis of the array after a step, without padding. */
redist_index fftnd__count_of(const struct fftnd__transform *transform,
                             const struct fftnd__step *step, int axis);

/* Returns the address of this rank's first element, behind padding, in the array after a step; NULL if it has none. */
char *fftnd__elements_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         void *array);

/* Bytes between neighbours along each axis of the array after a step. */
void fftnd__byte_strides(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         ptrdiff_t stride[]);

/* Returns nonzero if an axis is transformed from real to real; of complex elements real and imaginary parts. */
int fftnd__is_r2r(const struct fftnd__transform *transform, int axis);

/* Removes an axis from those that a serial step transforms, or all others. */
void fftnd__remove_axis(struct fftnd__step *step, int axis);
void fftnd__take_axis(struct fftnd__step *step, int axis);

/* Returns nonzero if a serial step transforms along an axis. */
int fftnd__is_transformed(const struct fftnd__step *step, int axis);

/* Returns nonzero if arrays of a side, or of any, have fewer elements along an axis of a step than its transform. */
int fftnd__truncates_on(const struct fftnd__transform *transform, const struct fftnd__step *step,
                        enum fftnd_side side);
static inline int fftnd__truncates(const struct fftnd__transform *transform,
                                   const struct fftnd__step *step) {
    return fftnd__truncates_on(transform, step, FFTND_PHYSICAL) ||
           fftnd__truncates_on(transform, step, FFTND_SPECTRAL);
}

/* Returns nonzero if a serial step changes a piece besides transforming it, which takes tiles. */
static inline int fftnd__needs_tiles(const struct fftnd__step *step) {
    return (step->truncates && !step->truncates_inside) || step->twiddles || step->applies;
}

/* Returns the sides (1 << side) on which the serial library, which truncates axes, can do the truncation of a step on
 * this rank. */
int fftnd__may_truncate_inside(const struct fftnd__transform *transform,
                               const struct fftnd__step *step);

/* Returns the array to whose points ghosts are added before the first transform: the input or its copy. */
struct fftnd__step *fftnd__accumulated(const struct fftnd__program *program);

/* Returns the last serial step, which scales unless a serial library does; 0 = none. */
int fftnd__last_serial(const struct fftnd__program *program);

/* Describes a step from one array to the next for a serial library, with strides in elements, and `extent` elements
 * along the axes that are not transformed. All axes of the step are Fourier axes, or none is. */
void fftnd__describe_serial(const struct fftnd__transform *transform,
                            const struct fftnd__step *before, const struct fftnd__step *step,
                            int direction, const ptrdiff_t in[], const ptrdiff_t out[],
                            const redist_index extent[], struct lines__problem *problem);

#endif
