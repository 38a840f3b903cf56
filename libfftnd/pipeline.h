/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a transform, one after the other over whole arrays. */
#ifndef FFTND__PIPELINE_H
#define FFTND__PIPELINE_H

#include "chunk.h"
#include "failure.h"
#include "tile.h"

/* An array of an exchange; work arrays are known when it is planned, the user's come later. */
struct fftnd__place {
    void *array;
    enum redist_binding later;
};

/* Peers have to know work arrays now; the user's come later. */
struct fftnd__place fftnd__place_of(const struct fftnd__transform *transform, int buffer,
                                    void *const work[2]);

/* Whether the input and the array after each step have room in the output, on all ranks. Collective. */
int fftnd__pipeline_fits(const struct fftnd__pipeline *pipeline,
                         const struct fftnd__transform *transform, int fits[]);

/* What may be done with the arrays. */
struct fftnd__rules fftnd__rules_of(const struct fftnd__transform *transform);

/* Subgroups plan an exchange by themselves; the ranks of all of them agree before the next step. A method
 * that does not apply to one subgroup does not hide a failure of another. Collective. */
int fftnd__agree_on_exchange(const struct fftnd__transform *transform, int code);

/* Runs a serial step over whole arrays, or begins to on a device. Not collective. */
int fftnd__run_whole(const struct fftnd__step *step, const struct fftnd__transform *transform,
                     void *source, void *destination, double scale);

/* Makes the exchange of a step between two arrays. Collective on the ranks that take part in it. */
int fftnd__plan_exchange(struct fftnd__step *step, const struct fftnd__step *before,
                         const struct fftnd__transform *transform, struct fftnd__place source,
                         struct fftnd__place destination, enum redist_tiles tiles);

/* Makes the plan of a serial step over whole arrays, through which the step's hop says it goes; scratch
 * arrays have room for both. Not collective. */
int fftnd__plan_whole(const struct fftnd__step *before, struct fftnd__step *step,
                      const struct fftnd__transform *transform, int direction,
                      void *const scratch[2]);

/* Lists the steps and chooses the arrays between them. Collective. */
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

/* Scratch memory that the library wants for any of the serial plans, and one for all of them to share. */
size_t fftnd__pipeline_area(const struct fftnd__pipeline *pipeline,
                            const struct fftnd__transform *transform);
int fftnd__pipeline_set_area(struct fftnd__pipeline *pipeline,
                             const struct fftnd__transform *transform, void *area);

/* Runs all steps; `buffers` are the arrays, the results are multiplied by `scale`, and the times spent
 * are added to seconds: serial transforms, exchanges. Collective. */
void fftnd__pipeline_run(const struct fftnd__pipeline *pipeline,
                         const struct fftnd__transform *transform, void *const buffers[],
                         double scale, double seconds[2], struct fftnd__failure *failure);

void fftnd__pipeline_free(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform);

#endif
