/* SPDX-License-Identifier: BSD-3-Clause */
/** The streams and events of the stand-in. See stream_device.h. */
#ifndef TESTS_STAND_IN_STREAMS_H
#define TESTS_STAND_IN_STREAMS_H

#include <stddef.h>

/** Enqueues a call of `run` with a copy of `bytes` bytes. REDIST_ERR_DEVICE if that is in a capture that is spoilt. */
int stand_in_give(void *stream, void (*run)(void *data), const void *data, size_t bytes);

/** Waits for all streams as making a graph may: no thread gives them work meanwhile. */
void stand_in_settle(void);

/** The context that a stream is of (stand_in_places.h). */
unsigned long long stand_in_context_of(const void *stream);

/** Whether a kernel of the user's has failed, with which all others end; and REDIST_ERR_DEVICE if so. */
int stand_in_is_lost(void);
int stand_in_check(void);

/** As those of struct redist__space. */
int stand_in_stream_create(void **made);
void stand_in_stream_destroy(void *given);
void *stand_in_stream(int index);
int stand_in_stream_wait(void *given);
int stand_in_stream_is_idle(void *given, int *idle);
int stand_in_stream_check(void *given);
int stand_in_stream_follow(void *stream, void *event);
void stand_in_drain(void);
int stand_in_event_create(void **made);
void stand_in_event_destroy(void *data);
int stand_in_event_record(void *event, void *stream);
int stand_in_event_is_reached(void *data, int *reached);
int stand_in_event_wait(void *data);

/** Whether what a stream has done may be asked now; REDIST_ERR_DEVICE in a capture, or without a context. */
int stand_in_ask(const void *stream, const char *what);

/** Ends the streams of a context that is reset. */
void stand_in_end_streams(unsigned long long context);

#endif
