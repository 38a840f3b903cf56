/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notices of lost ranks for devices. While devices wait for each other their hosts may be in no call of the library: a
 * thread of the process checks the ranks of the contexts with asynchronous plans, reports in a word of host memory that
 * devices read, and looks at what else can fail meanwhile.
 */
#ifndef REDIST__NOTICE_H
#define REDIST__NOTICE_H

#include "../comm/comm.h"
#include "../runtime/space.h"

/* Takes the word of a context, nonzero once one of its ranks on this machine is gone; NULL = the space cannot read
 * memory of this process. The thread checks while any plan has taken it. Collective, the same result on all ranks. */
int redist__notice_take(struct redist__context *context, const struct redist__space *space,
                        const _Atomic uint64_t **word);

/* What else the thread looks at while a plan has the word; `is_lost` says whether a rank on this machine is gone. Both
 * calls are made between taking the word and releasing it; the second one waits for a look that is under way, and does
 * nothing if there was no memory for the word. Not collective. */
struct redist__watched {
    void (*look)(struct redist__watched *watched, int is_lost);
    void *data;
    struct redist__watched *next;
};
void redist__notice_watch(const struct redist__context *context, struct redist__watched *watched);
void redist__notice_unwatch(const struct redist__context *context, struct redist__watched *watched);

/* Releases the word, also after a failure to take it. Not collective. */
void redist__notice_give(const struct redist__context *context);

#endif
