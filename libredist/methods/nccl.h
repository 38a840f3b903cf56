/* SPDX-License-Identifier: BSD-3-Clause */
/* Method nccl: common part of whole executions and those in tiles. */
#ifndef REDIST__METHOD_NCCL_H
#define REDIST__METHOD_NCCL_H

#include "messages.h"
#include "nccl_link.h"
#include "packing.h"
#include "tiles.h"

/* The part of all messages that one group of sends and receives moves. */
struct redist__wave {
    struct redist__transfer transfer; /* with its own parts */
    struct redist__packing packing[2];
    struct redist__packing
        exact; /* in tiles with a format: these, packed before they are narrowed */
    void *packed, *moved, *unpacked; /* events */
    int is_empty;                    /* all messages are in other waves */
    size_t missing;                  /* in tiles: elements for peers not put yet */
};

/* Streams of a plan. Messages have priority, so that the kernels of all ranks begin. */
enum { REDIST__PACKS, REDIST__MOVES, REDIST__UNPACKS, REDIST__OWN, REDIST__NCCL_STREAMS };

struct redist__nccl {
    const struct redist__problem *problem;
    struct redist__wave
        *waves; /* in the order of sending: segments, the last of them by partitions */
    int nwaves, nsegments;
    struct redist__copy own[2];
    void *streams[REDIST__NCCL_STREAMS];
    void *forked, *joined[REDIST__NCCL_STREAMS], *ended; /* events */
    struct redist__nccl_link *link;
    int is_watching;               /* the link's communicator, */
    struct redist__nccl_user user; /* as its user */
    /* The pending execution */
    unsigned long long number; /* of its communicator, 0 = none */
    unsigned long long used;   /* the last one that was not 0 */
    int is_stuck;              /* messages were not enqueued, for which the peers' kernels wait */
    int is_known;              /* a failure is known to all ranks: none moves data any more */
    int has_posted;            /* the status */
    size_t missing;            /* in tiles: elements not put yet */
    int next;                  /* the first wave not sent, */
    char *destination;         /* and array B */
    redist_target *targets;
    int status[2];                    /* this rank if it failed, the lowest failed rank */
    struct redist__messages messages; /* the reduction of the status, as a send */
    /* Asynchronous: in pinned memory, the highest failed rank + 1 that the device or the host knows of, and what a
     * failure of this rank raises it to; and what the communicator knows of */
    _Atomic uint64_t *words;
    void *reduced;
};

/* Chooses how to cut messages, and returns the number of waves: at most `waves`, unless segments and partitions say it
 * (nccl_waves.c). */
int redist__nccl_count_waves(struct redist__nccl *state, int waves);

/* Makes one of them; frees it, complete or not. */
int redist__nccl_create_wave(struct redist__nccl *state, int which);
void redist__nccl_free_wave(const struct redist__nccl *state, struct redist__wave *wave);

/* Returns the messages in which tiles are packed; narrows those of a wave if these are exact and the others are not. */
static inline const struct redist__packing *redist__nccl_put_in(const struct redist__wave *wave) {
    return wave->exact.space != NULL ? &wave->exact : &wave->packing[0];
}
int redist__nccl_narrow(const struct redist__nccl *state, struct redist__wave *wave);

/* Begins an execution after the work of the user's stream: 0 = none moves data any more. */
int redist__nccl_begin(struct redist__nccl *state);

/* Sends and receives a wave, and unpacks it; it is packed already, or not at all after a failure. */
void redist__nccl_move_wave(struct redist__nccl *state, struct redist__wave *wave, int direction,
                            const void *source, void *destination);

/* Ends the enqueued work, for which the user's stream or redist__nccl_wait waits; the ranks inform each other of
 * failures. */
void redist__nccl_end(struct redist__nccl *state);

/* Informs the peers whether this rank has launched all kernels that they wait for; once in an execution. */
void redist__nccl_post(struct redist__nccl *state);

/* Returns whether the peers have not: then nothing arrives any more. Does not wait. */
int redist__nccl_is_over(struct redist__nccl *state);

void redist__nccl_wait(void *state);

/* Orders later work in `stream` after that in `earlier`. */
int redist__nccl_follow(const struct redist__nccl *state, void *earlier, void *event, void *stream);

/* An execution in tiles (nccl_tiles.c). */
void redist__nccl_open(void *state, void *array);
void redist__nccl_put(void *state, const struct redist__tile *tile);
int redist__nccl_own(const void *state, const struct redist__tile *tile, redist_target *target);
void redist__nccl_store(void *state, const struct redist__tile *tile, redist_store *store,
                        void *data);
void redist__nccl_progress(void *state);
void redist__nccl_arrived(void *state, int *partitions);
int redist__nccl_await(void *state, int partitions);
void redist__nccl_close(void *state);

#endif
