/* SPDX-License-Identifier: BSD-3-Clause */
/** The devices of the stand-in: two for each rank, with a context each, which a reset replaces; captures of streams. */
#ifndef TESTS_STAND_IN_PLACES_H
#define TESTS_STAND_IN_PLACES_H

#include "redist_place.h"

/** The number of the context that is current for this thread, and the device that it is, or was, of. */
unsigned long long stand_in_context(void);
int stand_in_device_of(unsigned long long context);

/** Ends the program, as CUDA does, if a handle of a context is used that is gone. */
void stand_in_use(unsigned long long context, const char *what);

/** Whether a call is made that captures of streams forbid: it fails, and has spoilt the capture. */
int stand_in_forbids(const char *what);

/** Whether a stream is captured by stream_device_watch; `waits`: something asks what it has done, which spoils that. */
int stand_in_is_watched(const void *stream, int waits);

/** As those of struct redist__space. */
int stand_in_find_place(redist_place *place);
int stand_in_enter(const redist_place *place, redist_visit *visit);
void stand_in_leave(const redist_visit *visit);
int stand_in_check_stream(const char *function, const char *name, void *stream);
enum redist_capture stand_in_find_capture(void *stream);

/** Makes a stream the only one that the default stream waits for, NULL = it waits for none. */
void stand_in_awaits(const void *stream);

#endif
