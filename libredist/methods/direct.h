/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of method direct share: direct.c and direct_*.c. */
#ifndef REDIST__DIRECT_H
#define REDIST__DIRECT_H

#include "../sync/direct_control.h"
#include "method.h"

#include <pthread.h>

enum redist__mode { REDIST__PUSH, REDIST__PULL, REDIST__STAGE };

/* What a peer says of the box that it exchanges with this rank: where in its array, in which
 * strides. */
struct redist__remote {
    uint64_t offset;
    int64_t stride[REDIST_MAX_NDIMS];
    int64_t start,
        extent; /* along the axis of the pieces: where the box begins in the array, and the
                              extent of that */
};

/* One direction of an exchange. */
struct redist__route {
    enum redist__mode mode;
    struct redist__batch batch;     /* one copy for each peer: this rank's share of the work */
    struct redist__remote *remotes; /* the peers' boxes that the copies end or begin in */
};

/* Where the copy with a peer is. */
enum redist__progress { REDIST__WAITS, REDIST__RUNS, REDIST__DONE };

/* What a variant does: `space`, where it works (AUTO = everywhere). */
struct redist__traits {
    const char *name;
    enum redist_space space;
    enum redist__copier copier;
    int push;      /* where it could also pull */
    int paced;     /* every receiver has one sender at a time; 2: the next one stands by */
    int by_kernel; /* one kernel for all peers */
};

/* A tile that was handed over and waits for its turns. The pieces from `first` to `last` - 1 are in the round
 * that is being issued, or was issued last, and those before them were in earlier rounds. */
struct redist__put {
    int start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    char *data;
    void *held;   /* in host memory: a copy of the tile */
    size_t bytes; /* of a piece for one peer, about */
    int first, last;
};

/* The tiles of an execution in their order; nothing is left to be done for those before `oldest`. */
struct redist__puts {
    struct redist__put *list;
    int count, room, oldest;
    int complete
        [2]; /* pieces that all peers have once the last rounds of even and odd number are done */
};

struct redist__direct {
    const struct redist__problem *problem;
    const struct redist__traits *traits;
    struct redist__route routes[2];
    struct redist__slot slot;
    void *stage; /* shared memory of the plan for mode REDIST__STAGE, else NULL */
    size_t stage_bytes;
    void **marks; /* for each peer, or each turn under way, and one for tiles' own parts */
    enum redist__progress *copies; /* of the execution under way, for each peer */
    int left;                      /* copies that are not done */
    int turn, ended;           /* of a paced execution: turns that were issued, and that are done */
    struct redist__puts puts;  /* of an execution in tiles that wait */
    size_t elements;           /* that were put */
    enum redist__progress own; /* the own parts of all tiles */
    uint64_t number;           /* of the execution under way */
    int direction;
    const char *source;
    char *destination;
    pthread_t thread; /* that began the execution: others have plans of their own on the list */
    struct redist__direct *next_pending;
};

struct redist__line *redist__direct_line(const struct redist__direct *state, int rank);

/* Whether anything is exchanged with a peer: on side 0, array A, or on side 1. */
int redist__direct_has_part(const struct redist__direct *state, int side, int peer);

/* The side of the exchange that the peers' arrays are on. */
int redist__direct_remote_side(const struct redist__route *route, int direction);

/* The first byte of the array of a peer that is ready. */
int redist__direct_array(const struct redist__direct *state, int peer, char **base);

/* Tells the peers where this rank's array is and that they may use it. */
void redist__direct_announce(struct redist__direct *state, int direction, const void *source,
                             void *destination);

/* Tells the peers that this rank has copied all it has to, or has failed, and waits until they have. */
void redist__direct_finish(const struct redist__direct *state);

/* A failure of the executions, and whether there is one: then nothing is copied. */
void redist__direct_note(const struct redist__direct *state, int code);
int redist__direct_failed(const struct redist__direct *state);

/* Ends an execution whose copies are not to be waited for in their order: those that were begun are done
 * on return, the others are left out, and no peer waits for turns of this rank. */
void redist__direct_drop(struct redist__direct *state);

/* Which peer is how far behind this rank, and the reverse. */
int redist__direct_distance(const struct redist__direct *state, int peer);
int redist__direct_peer(const struct redist__direct *state, int distance);

int redist__direct_is_ready(const struct redist__direct *state, int peer);

/* Waits for what the user's stream has to do; meanwhile other executions go on. */
void redist__direct_wait_stream(const struct redist__direct *state);

/* Turns (direct_turns.c): whether the next one may begin; that one has ended; that there will be no more. */
int redist__direct_has_turn(const struct redist__direct *state);
void redist__direct_end_turn(struct redist__direct *state);
void redist__direct_end_turns(const struct redist__direct *state);

/* The copies of an execution (direct_copies.c): what there is to do, and doing what can be done without
 * waiting. */
void redist__direct_expect(struct redist__direct *state);
void redist__direct_advance(struct redist__direct *state);

/* Executions that go on while others are waited for are on a list, and all of them advance together: those
 * on devices, and those in tiles that wait. The last one returns how many copies of `state` are not
 * done. `lock` keeps them where they are. */
void redist__direct_begin(struct redist__direct *state);
void redist__direct_end(const struct redist__direct *state);
void redist__direct_lock(void);
void redist__direct_unlock(void);
int redist__direct_advance_all(const struct redist__direct *state);

/* Executions in tiles (direct_tiles.c). */
void redist__direct_open(void *data, void *array);
void redist__direct_tile(void *data, const struct redist__tile *tile);
void redist__direct_progress(void *data);
void redist__direct_close(void *data);

/* Copies what a tile and the pieces `first` to `last` - 1 of a peer's array have in common. */
int redist__direct_copy_part(const struct redist__direct *state, const struct redist__tile *tile,
                             int peer, int first, int last);

/* Pieces (direct_pieces.c): the box of the own array that goes to the pieces `first` to `last` - 1 of a peer's;
 * that a tile was put, which is nonzero if others get something of it; whether there will be no more; that all
 * peers have the first so many pieces; how many are complete here. */
void redist__direct_pieces(const struct redist__direct *state, int peer, int first, int last,
                           int start[], int count[]);
int redist__direct_note_tile(struct redist__direct *state, const struct redist__tile *tile);
int redist__direct_all_put(const struct redist__direct *state);
void redist__direct_tell_pieces(const struct redist__direct *state, int pieces);
void redist__direct_arrived(void *data, int *pieces);

/* Makes the next tile a part of this one if it continues it, in memory too, and the same pieces of both are in the
 * round (direct_join.c); 0 if not. */
int redist__direct_join(struct redist__put *put, const struct redist__put *next, int ndims);

/* Tiles that wait for their turns (direct_puts.c): whether they have to; the beginning of an execution; one
 * more of them; issuing those that may be; waiting for all of them. */
int redist__direct_is_queued(const struct redist__direct *state);
void redist__direct_open_puts(struct redist__direct *state);
int redist__direct_add_put(struct redist__direct *state, const struct redist__tile *tile);
int redist__direct_advance_puts(struct redist__direct *state);
void redist__direct_close_puts(struct redist__direct *state);
void redist__direct_free_puts(struct redist__puts *puts);

#endif
