/* SPDX-License-Identifier: BSD-3-Clause */
/** Arrays of transforms in files: raw ones (redist_file.h) and checkpoints (redist_checkpoint.h). */
#ifndef FFTND_FILE_H
#define FFTND_FILE_H

#include "fftnd.h"
#include "redist_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Describes the array of one side of a plan as a field of a file: datatype, extents, this rank's part and its place in
 * memory, the space. A batch of more than one field is an axis before the others; scratch memory and padding are left
 * out.
 *   plan   the plan
 *   side   FFTND_PHYSICAL or FFTND_SPECTRAL
 *   array  the array of this side; only its address counts. NULL where this rank has no elements
 *   field  in: size, name; out: the rest, without a selection. It may be used after the plan is freed
 * Not collective. Errors: ERR_NULL, ERR_ARGUMENT (side, size), ERR_LIMIT (batch and axes are more than
 * REDIST_MAX_NDIMS), ERR_STATE.
 */
REDIST_API int fftnd_plan_field(const fftnd_plan *plan, enum fftnd_side side, void *array,
                                redist_field *field);

#ifdef __cplusplus
}
#endif

#endif
