/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands in for CUDA memory in builds without CUDA, where the program ends before it is used. */
#include "space.h"

const struct space space_cuda = {.redist = REDIST_SPACE_CUDA};
