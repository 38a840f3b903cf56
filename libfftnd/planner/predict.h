/* SPDX-License-Identifier: BSD-3-Clause */
/* fftnd_predict for arguments that are good, with the axes in the order of the chain. */
#ifndef FFTND__PREDICT_H
#define FFTND__PREDICT_H

#include "fftnd.h"

double fftnd__predict(const redist_model *model, int nranks, int ndims, const int sizes[],
                      enum fftnd_kind kind, enum fftnd_precision precision,
                      const fftnd_options *options, const int order[], int grid_ndims,
                      const int grid[]);

#endif
