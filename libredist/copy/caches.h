/* SPDX-License-Identifier: BSD-3-Clause */
/* The caches of this machine and the name of its processor, declared in redist_support.h. */
#ifndef REDIST__CACHES_H
#define REDIST__CACHES_H

#include "redist_support.h"

/* Reads the system's values; unknown ones stay unchanged. */
void redist__read_caches(redist_caches *caches);

#endif
