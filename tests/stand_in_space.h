/* SPDX-License-Identifier: BSD-3-Clause */
/** The streams of the stand-in: what its serial library needs of them. See stream_device.h. */
#ifndef TESTS_STAND_IN_SPACE_H
#define TESTS_STAND_IN_SPACE_H

#include <stddef.h>

/** Enqueues a call of `run` with a copy of `bytes` bytes. REDIST_ERR_DEVICE if that is in a capture that is spoilt. */
int stand_in_give(void *stream, void (*run)(void *data), const void *data, size_t bytes);

/** Waits for all streams as making a graph may: no thread gives them work meanwhile. */
void stand_in_settle(void);

/** The context that a stream is of (stand_in_places.h). */
unsigned long long stand_in_context_of(const void *stream);

/** Ends the streams and forgets the memory of a context that is reset. */
void stand_in_forget(unsigned long long context);

/** Whether a kernel of the user's has failed, with which all others end; and REDIST_ERR_DEVICE if so. */
int stand_in_is_lost(void);
int stand_in_check(void);

#endif
