/* SPDX-License-Identifier: BSD-3-Clause */
/* Method signals: what its whole executions and those in tiles share. */
#ifndef REDIST__METHOD_SIGNALS_H
#define REDIST__METHOD_SIGNALS_H

#include "../sync/signalling.h"
#include "tiles.h"

/* One direction: what goes to each peer. */
struct redist__signal_path {
    struct redist__copy *copies;
    size_t *sources;     /* bytes into the source */
    char **destinations; /* in the peers' arrays, as mapped here */
    void *boxes;         /* all of that, for a kernel */
};

enum { REDIST__MOST_HELD = 64 };

struct redist__signalled {
    const struct redist__problem *problem;
    const struct redist__signalling *signalling;
    int by_kernel; /* kernels copy, not the engines */
    struct redist__signals signals;
    void *block; /* the words of this rank, then what its device has to know of the plan */
    size_t block_bytes;
    int has_notice;                  /* of ranks that are gone (sync/notice.h) */
    _Atomic uint64_t *status;        /* of the signals, in host memory */
    struct redist__remotes *remotes; /* the peers' boxes of each side */
    struct redist__signal_path paths[2];
    void *copy_stream, *own_stream; /* beside the user's: for the peers, and for what stays here */
    void *forked, *copied, *owned;  /* events: of the user's stream, and of these two */
    void **told; /* and of what the peers are told of each partition, where tiles are put */
    uint32_t steps, most_steps; /* of the execution under way; where their count stays */
    size_t elements;            /* that were put in it */
    /* tiles that were put, of which some partitions are left for the end: what they hold stays as it is until then;
     * with room for the last one */
    struct redist__tile *held;
    int nheld;
    redist_target *targets; /* room for one of each rank, where tiles are put */
    int has_forked;         /* the execution under way uses the stream of the copies */
    int has_own;            /* and that for what stays here */
    int tells_last;         /* what it has put is told when it is closed */
};

/* Whether there is a path: the peers' arrays were known when the plan was made. */
int redist__signals_has_path(const struct redist__problem *problem, int direction);

/* Signals in a stream. */
int redist__signals_gate(const struct redist__signalled *state, void *stream,
                         const struct redist__gate *gate);

/* Ends a step of a sweep in a stream, and waits until whoever served the next receiver has done so. Steps have one
 * sender for each receiver: senders that meet there slow each other down. `distance` is that of the step. */
int redist__signals_step(struct redist__signalled *state, void *stream, int direction,
                         int distance);

/* Notes what the device has published; what fails on this rank, others learn by their devices. */
void redist__signals_read(const struct redist__signalled *state);
void redist__signals_fail(const struct redist__signalled *state);

/* An execution in tiles (signals_tiles.c). */
void redist__signals_open(void *state, void *array);
void redist__signals_put(void *state, const struct redist__tile *tile);
int redist__signals_own(const void *state, const struct redist__tile *tile, redist_target *target);
void redist__signals_store(void *state, const struct redist__tile *tile, redist_store *store,
                           void *data);
int redist__signals_await(void *state, int partitions);
void redist__signals_close(void *state);

#endif
