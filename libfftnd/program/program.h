/* SPDX-License-Identifier: BSD-3-Clause */
/* The program of a direction: the list of its steps, and the array that each of them uses. */
#ifndef FFTND__PROGRAM_H
#define FFTND__PROGRAM_H

#include "steps.h"

/* Splits of a link whose transforms cannot be in place, if the given arrays allow nothing else. */
enum fftnd__split {
    FFTND__UNSPLIT,
    FFTND__COPY_FIRST,   /* unsplit, but backward begins with a copy that may be overwritten */
    FFTND__HALVED_APART, /* the halved axis first (backward: last) */
    FFTND__WITH_COPY     /* besides a copy between two arrays, also where modes are dropped */
};

/* Lists the steps, in place of earlier ones, without buffers; with an operator those of `direction` up to it, and back.
 * `transposed`: transforms before an exchange write their own axes as the slowest (backward: the fastest) in memory, so
 * that forward each line of the next ones is contiguous (Egger, chapter 4). Not collective. REDIST_ERR_LIMIT,
 * REDIST_ERR_MEMORY. */
int fftnd__list_steps(struct fftnd__program *program, const struct fftnd__transform *transform,
                      int direction, int transposed, enum fftnd__split split);
void fftnd__free_steps(struct fftnd__program *program);

/* Chooses the array after each step that is not NOWHERE, with the least work space and the fewest extra arrays. Returns
 * 0 if none can be. */
int fftnd__assign_buffers(struct fftnd__program *program, const struct fftnd__transform *transform);

/* ---------------------------------------------------------------- exchanges.c: the exchanges */

/* Returns the datatype of real or complex elements. */
MPI_Datatype fftnd__element_type(const struct fftnd__transform *transform, int real);

/* Plans all exchanges; `work` are the work arrays (NULL = not used). If a method cannot do segments, the exchange moves
 * whole arrays, or of a fused program fails with REDIST_ERR_METHOD. Collective. */
int fftnd__plan_exchanges(struct fftnd__program *program, const struct fftnd__transform *transform,
                          void *const work[2]);

/* Checks that asynchronous exchanges can be planned, before they have work space. Collective. REDIST_ERR_METHOD. */
int fftnd__check_exchanges(const struct fftnd__program *program,
                           const struct fftnd__transform *transform);

/* Frees the exchanges, the first one last, to whose words the others are joined. Collective. */
void fftnd__free_exchanges(struct fftnd__program *program);

/* Returns the number of segments in which a step's results go to a pushed exchange, and the array axis along which they
 * are cut, -1 = none. */
int fftnd__segments_of(const struct fftnd__transform *transform, const struct fftnd__step *step,
                       int *axis);

/* ---------------------------------------------------------------- subset.c: transforms of some axes only */

/* Returns nonzero if an operator that depends on wavenumbers along these axes alone may transform only them: they are
 * fewer, no mode is dropped, and the chain begins in balanced blocks. The same on all ranks. */
int fftnd__subset_suits(const struct fftnd__transform *transform, const int axes[]);

/* Returns the factor of unscaled transforms there and back along the other axes. */
long double fftnd__subset_factor(const struct fftnd__transform *transform, const int axes[]);

/* Leaves out the other axes. The physical side stays the same, except that pairs of real elements may become complex
 * ones. Not collective. REDIST_ERR_MEMORY. */
int fftnd__subset_take(struct fftnd__transform *transform, const int axes[]);

/* ---------------------------------------------------------------- wavenumbers.c: modes of the spectral side */

/* Kinds of modes along an axis. */
enum fftnd__family { FFTND__WAVES, FFTND__HARTLEY, FFTND__COSINES, FFTND__SINES, FFTND__POINTS };

/* A kind of real-to-real transforms. */
struct fftnd__r2r_kind {
    enum fftnd_r2r inverse;
    enum fftnd__family family;
    double lowest;               /* wavenumber of element 0 */
    enum lines__nyquist nyquist; /* of an even number of retained modes */
};
extern const struct fftnd__r2r_kind fftnd__r2r_kinds[];

/* Returns the wavenumber of element `n` of a whole axis, by the library's number, as fftnd_plan_wavenumbers. */
double fftnd__wavenumber(const struct fftnd__transform *transform, int axis, redist_index n);

#endif
