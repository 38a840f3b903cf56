/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of a direction: its steps, how the array lies between them, and which array each of them uses. */
#ifndef FFTND__PROGRAM_H
#define FFTND__PROGRAM_H

#include "../../liblines/lines.h"
#include "../geometry/layout.h"
#include "../workers/thread_pool.h"
#include "configuration.h"
#include "redist_support.h"

struct fftnd__offload;
struct fftnd__operator;
struct fftnd__stage;

enum fftnd__buffer {
    FFTND__NOWHERE = -1, /* only pieces of the array, on their way */
    FFTND__INPUT,
    FFTND__OUTPUT, /* in place: the same memory as the input */
    FFTND__WORK0,
    FFTND__WORK1,
    FFTND__BUFFERS
};

/* What a step needs of the arrays before and after it. */
enum fftnd__step_type {
    FFTND__KEEPS_LAYOUT,   /* a serial transform that may run in place */
    FFTND__CHANGES_LAYOUT, /* one between real and complex: never in place */
    FFTND__EXCHANGE        /* never in place; best when peers map one side */
};

/* Which transform does an exchange, piece by piece. */
enum fftnd__fused_with {
    FFTND__UNFUSED, /* none: it moves whole arrays */
    FFTND__PUSHED,  /* the one before puts its pieces into the peers' arrays */
    FFTND__PULLED   /* the one after gets its pieces out of the peers' arrays */
};

/* How an array between steps lies. */
struct fftnd__layout {
    struct fftnd__alignment alignment;
    int memory[REDIST_MAX_NDIMS]; /* transform axes from the slowest in memory to the fastest */
    struct fftnd__local local;
};

/* Gives a layout of `ndims` transform axes memory for the numbers of its alignment and its array: 4 * ndims + 1, and
 * ndims + 1 strides. The second function copies into such memory. */
void fftnd__place_layout(struct fftnd__layout *layout, int ndims, redist_index numbers[],
                         ptrdiff_t strides[]);
void fftnd__copy_layout(struct fftnd__layout *to, const struct fftnd__layout *from, int ndims);

/* A step, and the array after it. */
struct fftnd__step {
    enum fftnd__step_type type;
    int direction;                /* of its transform */
    int fields;                   /* of the array, each a batch */
    struct fftnd__layout *layout; /* arrays of a program that lie alike have one */
    int real;                     /* the elements of the array are real */
    int buffer;                   /* where the array is */
    int reaches_output;           /* the array has room in the output */

    /* An exchange. */
    int grid_dim;                      /* subgroup; -1 = all ranks at once */
    int axis_source, axis_destination; /* array axes that are whole before, after */
    enum fftnd__fused_with fused_with;
    int direct_stores; /* pushed: of enum fftnd__direct, by the transform before, along the axis that is split */
    int by_partitions; /* pushed: the transform after it begins with each partition that arrives */
    redist_plan *exchange;

    /* A serial transform. */
    int naxes; /* 0 = copy */
    int axes[REDIST_MAX_NDIMS];
    int ruins_source;     /* the library cannot keep the source as it is */
    int truncates;        /* of some axes fewer modes are retained than there are points */
    int truncates_inside; /* the serial library does that: pieces have the modes of their arrays */
    int twiddles;         /* of one long axis, of which this transforms the first half */
    int applies;      /* and an operator after the transform, and the transform back after that */
    int arrival_axis; /* after an exchange by partitions: the array axis that arrivals divide */
    struct fftnd__stage *stage; /* NULL before it is planned, or if this rank has nothing to do */
};

/* The neighbours of a step in its program; the array before a step is that of its previous one. */
#define fftnd__previous(step) ((step)-1)
#define fftnd__next(step)     ((step) + 1)

enum { FFTND__MOST_STEPS = 128 };

struct fftnd__program {
    int direction; /* with an operator the first one */
    int fused; /* in tiles that go from transform to exchange and back without an array between */
    int transposed; /* each transform puts the lines of the next one side by side in memory */
    int nsteps;
    struct fftnd__step *steps;     /* the first is the input, one behind the last is never used */
    struct fftnd__layout *layouts; /* of all arrays, each once; behind the steps */
};

/* What both directions of a plan share. */
struct fftnd__transform {
    enum fftnd_precision precision;
    fftnd_options options;
    struct fftnd__configuration configuration;
    enum fftnd_r2r r2r[2][REDIST_MAX_NDIMS]; /* of each axis, forward and backward */
    redist_grid *grid;                       /* NULL for one rank without a grid */
    MPI_Comm comm;
    struct fftnd__chain chain;
    struct fftnd__batch batch;
    const struct fftnd__operator *applied; /* between both directions; NULL = a plan's transforms */
    int fields[2];                         /* before and after it */
    int user_ndims;                        /* fewer than the library's if one axis is long */
    int user_axis[REDIST_MAX_NDIMS];       /* the user's number of each axis */
    int memory[2][REDIST_MAX_NDIMS];       /* of each side: its axes from the slowest in memory */
    redist_index padding[2][REDIST_MAX_NDIMS]; /* elements that its axes are longer, */
    int padded[2];                             /* on some rank */
    const struct lines__library *library;
    const redist__space *space; /* of the arrays */
    void *event;                /* of the space */
    void *second; /* stream of a device, for every other segment; NULL = the user's has them all */
    void *forked; /* event where one of both streams waits for the other */
    struct fftnd__pool *pool;       /* the threads that share the work */
    struct fftnd__offload *offload; /* the device that transforms arrays of the host; NULL = none */
};

/* Whether this rank has nothing of the array, which may have room for padding all the same. */
int fftnd__is_empty(const struct fftnd__transform *transform, const struct fftnd__step *step);

size_t fftnd__element_bytes(const struct fftnd__transform *transform, int real);
size_t fftnd__step_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* Elements along an axis of the array after a step, without padding. */
redist_index fftnd__count_of(const struct fftnd__transform *transform,
                             const struct fftnd__step *step, int axis);

/* Bytes between neighbours along each axis of the array after a step. */
void fftnd__byte_strides(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         ptrdiff_t stride[]);

/* How a link whose transforms cannot be in place is split when the given arrays allow nothing else. */
enum fftnd__split {
    FFTND__UNSPLIT,
    FFTND__COPY_FIRST,   /* nor that, but backward begins with a copy that may be ruined */
    FFTND__HALVED_APART, /* that axis first (backward: last), the others after it */
    FFTND__WITH_COPY     /* and a copy between two arrays besides, also where modes are dropped */
};

/* Lists the steps without saying through which arrays they go; with an operator those of `direction` as far as the
 * operator, and back. `transposed`: the transforms before an
 * exchange write their own axes as the slowest (backward: the fastest) in memory, so that forward each
 * line of the next ones is contiguous (Egger, chapter 4). Replaces those that it has. Not collective; REDIST_ERR_LIMIT,
 * REDIST_ERR_MEMORY. */
int fftnd__list_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                      int direction, int transposed, enum fftnd__split split);
void fftnd__free_steps(struct fftnd__program *program);

/* Whether an axis is transformed from real to real; of complex elements real and imaginary parts. */
int fftnd__is_r2r(const struct fftnd__transform *transform, int axis);

/* Takes an axis out of those that a serial step transforms. */
void fftnd__remove_axis(struct fftnd__step *step, int axis);

/* Whether a serial step transforms along an axis. */
int fftnd__is_transformed(const struct fftnd__step *step, int axis);

/* Whether a serial step changes its piece besides transforming it, which happens in tiles. */
static inline int fftnd__needs_tiles(const struct fftnd__step *step) {
    return (step->truncates && !step->truncates_inside) || step->twiddles || step->applies;
}

/* Whether the serial library can do the truncation of a step itself, on this rank. */
int fftnd__may_truncate_inside(const struct fftnd__transform *transform,
                               const struct fftnd__step *step);

/* The last serial step: the one that scales. 0 = there is none. */
int fftnd__last_serial(const struct fftnd__program *program);

/* What a serial library has to do to get from one array to the next, with strides in elements, and `extent`
 * elements along the axes that are not transformed. All axes of the step are Fourier axes, or none is. */
void fftnd__describe_serial(const struct fftnd__transform *transform,
                            const struct fftnd__step *before, const struct fftnd__step *step,
                            int direction, const ptrdiff_t in[], const ptrdiff_t out[],
                            const redist_index extent[], struct lines__problem *problem);

/* Chooses the array after each step that is not NOWHERE, so that as little work space and as few extra passes
 * as possible are needed. 0 if there is no way. */
int fftnd__assign_buffers(struct fftnd__program *program, const struct fftnd__transform *transform);

#endif
