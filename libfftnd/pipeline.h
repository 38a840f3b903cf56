/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of one direction of a transform. */
#ifndef FFTND__PIPELINE_H
#define FFTND__PIPELINE_H

#include "layout.h"
#include "redist_support.h"
#include "route.h"
#include "serial.h"

/* A step, and how the array lies after it. */
struct fftnd__step {
    struct fftnd__hop hop;
    const struct fftnd__alignment *alignment; /* after the step */
    int real;                                 /* the elements after the step are real */
    struct fftnd__local local;                /* the array after the step */
    int grid_dim;                             /* exchange: subgroup; -1 = all ranks at once */
    int axis_source, axis_destination; /* exchange: array axes that are whole before, after */
    int naxes;                         /* serial: transformed axes, 0 = copy */
    int axes[REDIST_MAX_NDIMS];
    void *serial; /* plan of the serial library; NULL if this rank has nothing to do */
    redist_plan *exchange;
};

struct fftnd__pipeline {
    int direction;
    int nsteps;
    struct fftnd__step steps[FFTND__MOST_HOPS + 1]; /* steps[0] is the input, not a step */
};

/* What both directions of a plan share. */
struct fftnd__transform {
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    fftnd_options options;
    char *method, *wisdom_file;              /* the plan's own copies, which options points to */
    enum fftnd_r2r r2r[2][REDIST_MAX_NDIMS]; /* of each axis, forward and backward */
    redist_grid *grid;                       /* NULL for one rank without a grid */
    MPI_Comm comm;
    struct fftnd__chain chain;
    struct fftnd__batch batch;
    const struct fftnd__serial *library;
};

size_t fftnd__element_bytes(const struct fftnd__transform *transform, int real);
size_t fftnd__step_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step);

/* Lists the steps, each stage's transforms at once, without saying through which arrays they go. Not
 * collective; REDIST_ERR_LIMIT. */
int fftnd__pipeline_list(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                         int direction);

/* What a serial library has to do to get from one array to the next, when they lie in memory as `in`
 * and `out` say (strides, and the counts of `out` along the axes that are not transformed). */
void fftnd__describe_serial(const struct fftnd__transform *transform,
                            const struct fftnd__step *before, const struct fftnd__step *step,
                            int direction, const struct fftnd__local *in,
                            const struct fftnd__local *out, struct fftnd__serial_problem *problem);

/* An array of an exchange; work arrays are known when it is planned, the user's come later. */
struct fftnd__place {
    void *array;
    int later;
};

/* Makes the exchange of a step between two arrays. Collective on the ranks that take part in it. */
int fftnd__plan_exchange(struct fftnd__step *step, const struct fftnd__step *before,
                         const struct fftnd__transform *transform, struct fftnd__place source,
                         struct fftnd__place destination, enum redist_tiles tiles);

/* Multiplies all real numbers in `bytes` bytes. */
void fftnd__scale(void *array, size_t bytes, enum fftnd_precision precision, double factor);

/* Lists the steps and chooses the arrays between them. Not collective. */
int fftnd__pipeline_build(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform, int direction);

/* Bytes that the arrays in `buffer` need. */
size_t fftnd__pipeline_bytes(const struct fftnd__pipeline *pipeline,
                             const struct fftnd__transform *transform, int buffer);

/* Makes the serial plans; scratch arrays have room for every step. Not collective. */
int fftnd__pipeline_plan_serial(struct fftnd__pipeline *pipeline,
                                const struct fftnd__transform *transform, void *const scratch[2]);

/* Makes the exchanges; `work` are the work arrays (NULL = not used). Collective. */
int fftnd__pipeline_plan_exchanges(struct fftnd__pipeline *pipeline,
                                   const struct fftnd__transform *transform, void *const work[2]);
void fftnd__pipeline_free_exchanges(struct fftnd__pipeline *pipeline);

/* Runs all steps; `buffers` are the arrays, and the times spent are added to seconds: serial
 * transforms, exchanges. Collective. */
int fftnd__pipeline_run(const struct fftnd__pipeline *pipeline,
                        const struct fftnd__transform *transform, void *const buffers[],
                        double seconds[2]);

void fftnd__pipeline_free(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform);

#endif
