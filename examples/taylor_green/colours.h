/* SPDX-License-Identifier: BSD-3-Clause */
/* A colour for a value between 0 and 1. */
#ifndef COLOURS_H
#define COLOURS_H

#include "canvas.h"

struct colour colour_of(double value);

#endif
