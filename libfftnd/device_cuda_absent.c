/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for CUDA devices in builds without CUDA; plans for them are refused before they are asked. */
#include "device.h"

const struct fftnd__device fftnd__device_cuda = {.space = REDIST_SPACE_CUDA};
