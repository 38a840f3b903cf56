/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How devices learn that a rank is gone. While they wait for each other their hosts may be in no call of the library:
 * a thread of the process looks at the ranks of the contexts that have asynchronous plans, and writes what it finds
 * into a word of host memory that devices read.
 */
#ifndef REDIST__NOTICE_H
#define REDIST__NOTICE_H

#include "../comm/comm.h"
#include "../runtime/space.h"

/* The word of a context, nonzero once one of its ranks is gone, on this machine; NULL = the space cannot read memory of
 * this process. The thread looks as long as a plan has taken it. Collective, the same result on all ranks. */
int redist__notice_take(struct redist__context *context, const struct redist__space *space,
                        const _Atomic uint64_t **word);

/* Also after a failure of that. Not collective. */
void redist__notice_give(const struct redist__context *context);

#endif
