/* SPDX-License-Identifier: BSD-3-Clause */
/* What redist_exchange keeps for the next call with the same arguments. */
#ifndef REDIST__EXCHANGE_H
#define REDIST__EXCHANGE_H

#include "../comm/context.h"

/* Frees the plans that are kept for a communicator. Collective on its ranks. */
void redist__exchanges_free(struct redist__context *context);

#endif
