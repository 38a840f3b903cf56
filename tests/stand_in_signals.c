/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals between the ranks of the device that stands in for CUDA (stand_in_space.c), by the protocol of the
 * kernels. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../libredist/copy/copy.h"
#include "../libredist/sync/signalling.h"
#include "stand_in_streams.h"
#include "stream_device.h"

#define REDIST__SIGNALS_INLINE static inline
#include "../libredist/sync/signals_protocol.h"

struct box {
    struct redist__copy copy;
    const void *source;
    void *destination;
};

/* Kernels that wait when another one fails end with it. */
static uint64_t redist__word_load(const uint64_t *word) {
    if (stand_in_is_lost())
        return UINT64_MAX;
    return atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire);
}

static uint64_t redist__word_peek(const uint64_t *word) {
    return redist__word_load(word);
}

static void redist__word_store(uint64_t *word, uint64_t value) {
    if (!stand_in_is_lost())
        atomic_store_explicit((_Atomic uint64_t *)word, value, memory_order_release);
}

static void redist__word_put(uint64_t *word, uint64_t value) {
    redist__word_store(word, value);
}

static uint64_t redist__word_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void redist__word_pause(unsigned poll) {
    const struct timespec nap = {0, 20000};
    if (poll % 16 == 0)
        nanosleep(&nap, NULL);
    else
        sched_yield();
}

static int shares_device;

int stream_device_share(int shares) {
    shares_device = shares;
    return 1;
}

static atomic_int does_hang;

int stream_device_hang(int hangs) {
    atomic_store(&does_hang, hangs);
    return 1;
}

static int find_device(unsigned long long *identity) {
    *identity = shares_device ? 7 : (unsigned long long)getpid();
    return REDIST_OK;
}

struct boxes {
    int count;
    struct box list[]; /* sources are offsets */
};

static int boxes_create(int ranks, int count, const struct redist__copy copies[],
                        const size_t sources[], char *const destinations[], void **made) {
    (void)ranks;
    struct boxes *boxes = malloc(sizeof(*boxes) + (size_t)count * sizeof(boxes->list[0]));
    boxes->count = count;
    for (int i = 0; i < count; i++)
        boxes->list[i] =
            (struct box){copies[i], (const void *)(uintptr_t)sources[i], destinations[i]};
    *made = boxes;
    return REDIST_OK;
}

static void copy_box(const struct box *box, const char *source) {
    if (box->copy.run != 0)
        redist__copy_run(&box->copy, source + (uintptr_t)box->source, box->destination, 0);
}

struct exchanging {
    struct redist__signals signals;
    int direction;
    const struct boxes *boxes;
    const char *source;
};

/* As the blocks of the kernel, one after the other. */
static void run_exchange(void *data) {
    const struct exchanging *given = data;
    const struct redist__signals *signals = &given->signals;
    const uint64_t execution = redist__signal_execution(signals),
                   counted = redist__signal_counted(execution, 1);
    if (atomic_load(&does_hang))
        return;
    if (redist__signal_has_failed(signals))
        return;
    for (int i = 0; i < signals->size; i++)
        redist__signal_tell_ready(signals, given->direction, execution, i);
    for (int i = 0; i < signals->size; i++) {
        const int peer = (signals->rank + i) % signals->size;
        if (!redist__signal_await_ready(signals, given->direction, execution, peer))
            return;
        for (int k = peer; k < given->boxes->count; k += signals->size)
            copy_box(&given->boxes->list[k], given->source);
        redist__signal_tell_arrived(signals, given->direction, counted, peer);
    }
    for (int i = 0; i < signals->size; i++)
        redist__signal_await_arrived(signals, given->direction, counted, i);
    redist__signal_end(signals, execution);
}

static int exchange(const struct redist__signals *signals, int direction, const void *boxes,
                    const char *source, void *stream) {
    const struct exchanging given = {*signals, direction, boxes, source};
    return stand_in_give(stream, run_exchange, &given, sizeof(given));
}

struct gating {
    struct redist__signals signals;
    struct redist__gate gate;
};

static void run_gate(void *data) {
    const struct gating *given = data;
    const struct redist__signals *signals = &given->signals;
    const uint64_t execution = redist__signal_execution(signals);
    if (atomic_load(&does_hang))
        return;
    if (given->gate.actions & REDIST__FAIL)
        redist__signal_fail(signals, REDIST__FAILED, signals->rank);
    for (int i = 0; i < signals->size; i++)
        redist__gate_tell(signals, &given->gate, execution, i);
    for (int i = 0; i < signals->size; i++)
        redist__gate_await(signals, &given->gate, execution, i);
    if (given->gate.actions & REDIST__END)
        redist__signal_end(signals, execution);
}

static int gate(const struct redist__signals *signals, const struct redist__gate *at,
                void *stream) {
    const struct gating given = {*signals, *at};
    return stand_in_give(stream, run_gate, &given, sizeof(given));
}

static const struct redist__signalling signalling = {
    .find_device = find_device,
    .boxes_create = boxes_create,
    .boxes_free = free,
    .exchange = exchange,
    .gate = gate,
};

const struct redist__signalling *redist__signalling_of(const struct redist__space *space) {
    return space->id == REDIST_SPACE_CUDA ? &signalling : NULL;
}
