/* SPDX-License-Identifier: BSD-3-Clause */
/* Which method for this exchange. */
#ifndef REDIST__TUNE_H
#define REDIST__TUNE_H

#include "../methods/method.h"

/* Chooses among the methods that options->method names and sets one up. Collective, the same choice
 * and result on all ranks; what was measured is remembered. */
int redist__tune(const struct redist__problem *problem, const redist_options *options,
                 struct redist__transport *transport);

#endif
