/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef REDIST__WISDOM_H
#define REDIST__WISDOM_H

#include "redist_support.h"

/* Changes whenever something is remembered or forgotten in this process. */
unsigned redist__wisdom_age(void);

#endif
