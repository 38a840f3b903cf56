/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of all values of the enumerations of fftnd_kinds.h and fftnd_operators.h, for messages. */
#ifndef FFTND__NAMES_H
#define FFTND__NAMES_H

#include "redist_support.h"

redist_name_of fftnd__kind_name, fftnd__axis_name, fftnd__precision_name, fftnd__r2r_name,
    fftnd__blocks_name, fftnd__scaling_name, fftnd__effort_name, fftnd__alignment_name,
    fftnd__batch_position_name, fftnd__fusion_name, fftnd__local_transpose_name, fftnd__side_name,
    fftnd__operator_kind_name, fftnd__green_name;

#endif
