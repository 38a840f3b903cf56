/* SPDX-License-Identifier: BSD-3-Clause */
#include "stand_in_places.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "redist_support.h"
#include "stand_in_graphs.h"
#include "stand_in_space.h"
#include "stand_in_streams.h"
#include "stream_device.h"

/* ---------------------------------------------------------------- contexts */

enum { DEVICES = 2, MOST_CONTEXTS = 1024 };

static int device_of[MOST_CONTEXTS] = {-1, 0, 1}; /* of each context, by number */
static unsigned long long contexts[DEVICES] = {1, 2}, ncontexts = 3;
static _Thread_local int current;
static _Thread_local enum stream_capture own_mode = CAPTURE_GLOBAL;

unsigned long long stand_in_context(void) {
    return contexts[current];
}

int stand_in_device_of(unsigned long long context) {
    return device_of[context];
}

static int is_alive(unsigned long long context) {
    return contexts[device_of[context]] == context;
}

void stand_in_use(unsigned long long context, const char *what) {
    if (is_alive(context))
        return;
    fprintf(stderr, "stand-in: %s of device %d, which was reset\n", what, device_of[context]);
    abort();
}

int stream_device_count(void) {
    return DEVICES;
}

void stream_device_use(int device) {
    current = device;
}

int stream_device_current(void) {
    return current;
}

void stream_device_reset(void) {
    stand_in_forget(contexts[current]);
    device_of[ncontexts] = current;
    contexts[current] = ncontexts++;
}

/* ---------------------------------------------------------------- captures */

static struct {
    const void *stream; /* NULL = none is captured */
    enum stream_capture mode;
    int is_spoilt;
} watched;

static const void *awaited; /* by the default stream */

void stand_in_awaits(const void *stream) {
    awaited = stream;
}

int stand_in_forbids(const char *what) {
    if (watched.stream == NULL || watched.mode == CAPTURE_RELAXED || own_mode == CAPTURE_RELAXED)
        return REDIST_OK;
    watched.is_spoilt = 1;
    return redist_fail_in("stand-in", REDIST_ERR_DEVICE,
                          "%s: operation not permitted while a stream is captured", what);
}

int stand_in_is_watched(const void *stream, int waits) {
    if (stream == NULL || stream != watched.stream)
        return 0;
    watched.is_spoilt |= waits;
    return 1;
}

void stream_device_watch(void *stream, enum stream_capture mode) {
    watched.stream = stream;
    watched.mode = mode;
    watched.is_spoilt = 0;
}

int stream_device_watched(void *stream) {
    const int is_whole = watched.stream == stream && !watched.is_spoilt;
    watched.stream = NULL;
    return is_whole;
}

/* ---------------------------------------------------------------- places */

int stand_in_find_place(redist_place *place) {
    if (redist_place_is_gone())
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE, "the context is gone");
    place->device = current;
    place->is_primary = 1;
    place->context = contexts[current];
    return REDIST_OK;
}

/* The driver may know of it before any call on a stream does, or after. */
static int notices_loss(void) {
    static atomic_int calls;
    return stand_in_is_lost() && atomic_fetch_add(&calls, 1) > 0;
}

int stand_in_enter(const redist_place *place, redist_visit *visit) {
    visit->context = &contexts[current];
    visit->mode = (int)own_mode;
    own_mode = CAPTURE_RELAXED;
    visit->loss = notices_loss() ? REDIST_LOST_BY_FAILURE : REDIST_NOT_LOST;
    if (visit->loss != REDIST_NOT_LOST)
        return stand_in_check();
    if (!is_alive(place->context))
        return redist_fail_in("stand-in", REDIST_ERR_DEVICE,
                              "the context of device %d is gone (cudaDeviceReset)", place->device);
    current = place->device;
    return REDIST_OK;
}

void stand_in_leave(const redist_visit *visit) {
    current = (int)((unsigned long long *)visit->context - contexts);
    own_mode = (enum stream_capture)visit->mode;
}

int stand_in_check_stream(const char *function, const char *name, void *stream) {
    if (stream == NULL || stand_in_context_of(stream) == contexts[current])
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "%s = %p is a stream of device %d, but device %d is the current one",
                          name, stream, stand_in_device_of(stand_in_context_of(stream)), current);
}

enum redist_capture stand_in_find_capture(void *stream) {
    if (redist_place_is_gone())
        return REDIST_NOT_CAPTURED;
    if (stream == NULL && watched.stream != NULL && watched.stream == awaited)
        return REDIST_CAPTURE_BESIDE;
    return stand_in_is_watched(stream, 0) || stand_in_is_capturing() ? REDIST_CAPTURED
                                                                     : REDIST_NOT_CAPTURED;
}
