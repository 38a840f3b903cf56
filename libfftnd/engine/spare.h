/* SPDX-License-Identifier: BSD-3-Clause */
/* Work space and tiles of a freed plan, which a communicator keeps for its next plan: new pages take most of the time
 * in which a small plan is made. */
#ifndef FFTND__SPARE_H
#define FFTND__SPARE_H

#include "engine.h"

/* Gives the engine work space of `bytes`: the spare one, or new memory. Collective. */
int fftnd__spare_take(struct fftnd__engine *engine, size_t bytes);

/* Takes the engine's work space: as the spare one, if it is small and nothing has failed, or frees it. Collective, but
 * no rank waits for another one. */
void fftnd__spare_put(struct fftnd__engine *engine);

/* Gives the engine memory for tiles, with undefined contents: the spare one, or a new allocation. Returns 0 without
 * memory. Not collective. */
int fftnd__spare_take_tiles(struct fftnd__engine *engine, size_t bytes);

/* Takes the engine's tiles, if it has some: as the spare ones, if they are small, or frees them. Not collective. */
void fftnd__spare_put_tiles(struct fftnd__engine *engine);

/* Frees the spare memory of a communicator of the library, if it has any, or of all (MPI_COMM_NULL). As
 * fftnd__spare_put. */
void fftnd__spare_clear(MPI_Comm comm);

#endif
