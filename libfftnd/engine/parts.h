/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of an engine, for its files. */
#ifndef FFTND__PARTS_H
#define FFTND__PARTS_H

#include "engine.h"

/* ---------------------------------------------------------------- transform.c: what both directions share */

/* Makes the resources. Collective on the request's communicator; to be freed after a failure, too. */
int fftnd__transform_create(struct fftnd__transform *transform,
                            const struct fftnd__request *request,
                            const struct fftnd__configuration *configuration);

/* Frees the resources; chain and room are freed by their engines, as operators have their own. */
void fftnd__transform_free(struct fftnd__transform *transform);

/* ---------------------------------------------------------------- fusion.c: programs */

/* Builds a program over whole arrays, whose exchanges may follow a transform segment by segment. Collective on the
 * transform's communicator. */
int fftnd__build_stepwise(struct fftnd__program *program, const struct fftnd__transform *transform,
                          int direction);

/* Builds a program whose exchanges are done tile by tile by the transforms beside them. Clears *may_fuse if the shapes
 * make tiles useless. Collective. */
int fftnd__build_fused(struct fftnd__program *program, const struct fftnd__transform *transform,
                       int direction, int *may_fuse);

/* ---------------------------------------------------------------- turns.c: segments that share work space */

/* Chooses whether segments of the stepwise programs take turns in their work space. The same on all ranks. */
void fftnd__find_turns(struct fftnd__engine *engine);

/* ---------------------------------------------------------------- work.c: work space */

/* Provides the arrays of the work space, of counted bytes: in memory of the plan and its operators, or in new memory.
 * Collective. */
int fftnd__work_take(struct fftnd__engine *engine);

/* Puts the arrays of the work space one behind another into memory of the user. */
void fftnd__work_take_from_user(struct fftnd__engine *engine, char *memory);

/* Leaves the work space, and frees what no engine has arrays in. As fftnd__spare_put. */
void fftnd__work_give(struct fftnd__engine *engine);

/* ---------------------------------------------------------------- teach.c: serial plans */

/* Plans the stages of some directions; the result is this rank's. */
typedef int fftnd__plan_directions(struct fftnd__engine *engine, const int directions[2]);

/* Plans all stages, of which some ranks, if arrays of all ranks fit the caches and the serial library can pass its
 * findings on, measure serial transforms for all. Collective; the result is this rank's. */
int fftnd__plan_taught(struct fftnd__engine *engine, fftnd__plan_directions *plan);

/* ---------------------------------------------------------------- scaling.c: where results are scaled */

/* Chooses the last step of each planned program in which the serial libraries of all ranks scale, else leaves it to the
 * last serial step. Collective. */
int fftnd__plan_scaling(struct fftnd__engine *engine);

/* ---------------------------------------------------------------- spare.c: memory of freed plans */

/* Gives work space memory of `bytes`: the spare one, or new memory. Collective. */
int fftnd__spare_take(const struct fftnd__engine *engine, size_t bytes, struct fftnd__work *work);

/* Takes the memory: as the spare one, if it is small and the engine has not failed, or frees it. Collective, but no
 * rank waits for another one. */
void fftnd__spare_put(const struct fftnd__engine *engine, const struct fftnd__work *work);

/* Gives the engine memory for tiles, with undefined contents: the spare one, or a new allocation. Returns 0 without
 * memory. Not collective. */
int fftnd__spare_take_tiles(struct fftnd__engine *engine, size_t bytes);

/* Takes the engine's tiles, if it has some: as the spare ones, if they are small, or frees them. Not collective. */
void fftnd__spare_put_tiles(struct fftnd__engine *engine);

/* Frees the spare memory of a communicator of the library, if it has any, or of all (MPI_COMM_NULL). As
 * fftnd__spare_put. */
void fftnd__spare_clear(MPI_Comm comm);

/* ---------------------------------------------------------------- replay.c: graphs of a device */

/* Executes as a graph, or returns 0. The third execution with the same arrays is captured as a graph. From then on a
 * call costs the host one launch, and the device no gaps between kernels. */
int fftnd__replay(struct fftnd__engine *engine, int direction, void *const buffers[]);

/* Frees all graphs. To be called before exchanges or work space are freed. */
void fftnd__replays_forget(struct fftnd__engine *engine);

#endif
