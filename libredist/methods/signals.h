/* SPDX-License-Identifier: BSD-3-Clause */
/* Method signals: common part of whole executions and those in tiles. */
#ifndef REDIST__METHOD_SIGNALS_H
#define REDIST__METHOD_SIGNALS_H

#include "../sync/signalling.h"
#include "tiles.h"

/* One direction: the copies between this rank's boxes and the peers'. Those at one position of the lists of all ranks
 * follow each other, in the order of ranks. */
struct redist__signal_path {
    struct redist__copy *copies;
    size_t *
        offsets; /* bytes, of this rank's boxes in its array, in the order of `reads` if there are some */
    char **far;  /* the peers' boxes, as mapped here: written */
    void *boxes; /* the same for a kernel */
    /* of a direction in which this rank reads: the boxes in the order in which it does so, from the peers' */
    struct redist__batch reads;
};

enum { REDIST__MOST_HELD = 64 };

/* Events behind the copies of a tile, to peers and of its own part. */
struct redist__sent {
    const char *memory; /* of its first element */
    void *events[2];
};

struct redist__signalled {
    const struct redist__problem *problem;
    const struct redist__signalling *signalling;
    int by_kernel; /* kernels copy, not the engines */
    struct redist__signals signals;
    void *block;               /* the flags of this rank, then the plan's table for its device */
    size_t block_bytes, bytes; /* of the block, and with the buffer of ghosts behind it */
    int has_notice;            /* of lost ranks (sync/notice.h) */
    _Atomic uint64_t *status;  /* of the signals, in host memory */
    struct redist__remotes *remotes; /* the peers' boxes of each side, as those of a path */
    struct redist__signal_path paths[2];
    /* ghosts by a buffer: this rank's boxes of each side there, as `remotes`; and the way on to the array */
    struct redist__remotes *buffered;
    struct redist__signal_path unpacks[2];
    void *copy_stream, *own_stream; /* for copies to peers, and for own parts */
    void *forked, *copied, *owned;  /* events of the user's stream, and of these two */
    struct redist__told told;       /* and of the signals of each partition, for tiles */
    int direction;                  /* of the pending execution, in tiles or half of an exchange; */
    uint32_t steps, most_steps;     /* its steps; limit of their count */
    size_t elements;                /* put in it */
    /* tiles put, of which some partitions are left for the end, until when their contents must not change; with room
     * for the last one */
    struct redist__tile *held;
    int nheld;
    struct redist__sent *sent; /* the last tiles, as many as segments; NULL = no segments */
    int nsent;                 /* counts the tiles of the pending execution, if they are reused */
    redist_target *targets;    /* one for each rank, for tiles */
    int has_forked;            /* the pending execution uses the stream of the copies */
    int has_own;               /* and that of the own parts */
    int tells_last;            /* signals its puts when it is closed */
};

/* Returns whether this rank reads the peers' boxes in a direction, else it writes to them. */
int redist__signals_pulls(const struct redist__problem *problem, int direction);

/* Exchanges boxes and memory with the peers, maps theirs, and prepares the copies (signals_connect.c). Collective. */
int redist__signals_connect(void *state);

/* Enqueues signals in a stream (signals_gates.c). */
int redist__signals_gate(const struct redist__signalled *state, void *stream,
                         const struct redist__gate *gate);

/* Ends a step of a sweep in a stream, and waits until the previous sender to the next receiver has finished. Steps have
 * one sender for each receiver, as several slow each other down. `distance` is that of the step. */
int redist__signals_step(struct redist__signalled *state, void *stream, int direction,
                         int distance);

/* Reads the status published by the device; the peers learn of failures on this rank by their devices. */
void redist__signals_read(const struct redist__signalled *state);
void redist__signals_fail(const struct redist__signalled *state);

/* An execution in tiles (signals_tiles.c). */
void redist__signals_open(void *state, void *array);
void redist__signals_put(void *state, const struct redist__tile *tile);
int redist__signals_own(const void *state, const struct redist__tile *tile, redist_target *target);
void redist__signals_store(void *state, const struct redist__tile *tile, redist_store *store,
                           void *data);
int redist__signals_release(void *state, const char *memory);
int redist__signals_await(void *state, int partitions);
void redist__signals_close(void *state);

#endif
