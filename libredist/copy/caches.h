/* SPDX-License-Identifier: BSD-3-Clause */
/* The caches of this machine and the name of its processor. redist_support.h declares what there is. */
#ifndef REDIST__CACHES_H
#define REDIST__CACHES_H

#include "redist_support.h"

/* What this system knows; unknown parts stay as they are. */
void redist__read_caches(redist_caches *caches);

#endif
