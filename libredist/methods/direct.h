/* SPDX-License-Identifier: BSD-3-Clause */
/* Method direct: an execution, from its begin to its end, and the copies of whole arrays and of tiles. */
#ifndef REDIST__DIRECT_H
#define REDIST__DIRECT_H

#include "../sync/flags.h"
#include "tiles.h"

#include <pthread.h>

enum redist__mode { REDIST__PUSH, REDIST__PULL, REDIST__STAGE };

/* This rank's copies in one direction of an exchange. */
struct redist__direct_path {
    enum redist__mode mode;
    struct redist__batch batch; /* for each peer in turn as many copies as the longest list has */
};

/* Progress of the copy with a peer; REPLACED: what is added is left. */
enum redist__progress { REDIST__WAITS, REDIST__REPLACED, REDIST__RUNS, REDIST__DONE };

/* A variant, for arrays in `space` (AUTO = any). */
struct redist__traits {
    const char *name;
    enum redist_space space;
    enum redist__copier copier;
    int push;  /* pushes even if it could pull */
    int paced; /* every receiver has one sender at a time; 2: the next step begins one step early */
    int together; /* pushes by one copy for all peers, when all are ready: on a device a kernel */
};

/* A tile that was put and waits for its steps. The partitions from `first` to `last` - 1 are in the current or last
 * sweep, those before them were in earlier sweeps. */
struct redist__put {
    struct redist__tile tile;
    size_t bytes; /* of a partition for one peer, approximately */
    int first, last;
    int is_urgent; /* its memory will be used again: it is sent before the others */
    int steps;     /* that end its last sweep so far */
};

/* The tiles of an execution in their order; those before `oldest` are complete. */
struct redist__puts {
    struct redist__put *list;
    int count, room, oldest;
    int complete
        [2]; /* partitions that all peers have after the last sweeps of even and odd number */
};

struct redist__direct {
    const struct redist__problem *problem;
    const struct redist__traits *traits;
    struct redist__direct_path paths[2];
    /* The peers' source or destination boxes in each direction, of which tiles have one. */
    struct redist__remote *remotes[2];
    struct redist__flags flags;
    void *stage; /* shared memory of the plan for mode REDIST__STAGE, else NULL */
    size_t stage_bytes;
    void **events; /* for each peer, or each pending step, and one for tiles' own parts */
    enum redist__progress *copies; /* of the pending execution, for each peer */
    int left;                      /* incomplete copies */
    struct redist__steps steps;    /* of a paced execution */
    struct redist__puts puts;      /* waiting tiles of an execution */
    size_t elements;               /* elements put */
    enum redist__progress own;     /* the own parts of all tiles */
    redist_target *targets;        /* one for each rank; NULL before the first direct store */
    int stores_in_user;            /* a direct store ran in the user's stream */
    int direction;                 /* of the pending execution */
    const char *source;
    char *destination;
    int (*advance)(struct redist__direct *state); /* without waiting */
    pthread_t thread; /* of the execution: other threads have their own plans on the list */
    struct redist__direct *next_pending;
};

/* Returns whether a peer has a part on side 0, array A, or on side 1. */
int redist__direct_has_part(const struct redist__direct *state, int side, int peer);

/* Returns whether an execution adds: then it pulls or stages, in the order of ranks, without steps. */
int redist__direct_adds(const struct redist__direct *state, int direction);

/* Returns the side of the peers' arrays. */
int redist__direct_remote_side(const struct redist__direct_path *path, int which);

/* Finds the first byte of a ready peer's array. */
int redist__direct_array(const struct redist__direct *state, int peer, char **base);

/* Waits for the user's stream; meanwhile other executions advance. */
void redist__direct_wait_stream(const struct redist__direct *state);

/* Begins an execution: publishes the address of this rank's array, which peers may now use. */
void redist__direct_announce(struct redist__direct *state, int direction, const void *source,
                             void *destination);

/* Publishes that this rank's copies are complete, or that it has failed, and waits for the same of its peers. */
void redist__direct_finish(struct redist__direct *state);

/* Ends a failed execution: waits for begun copies, drops the others, and releases peers that wait for steps. */
void redist__direct_drop(struct redist__direct *state);

/* Reset the copies of whole arrays, and advance them without waiting. */
void redist__direct_expect(struct redist__direct *state);
int redist__direct_advance_copies(struct redist__direct *state);

/* Executions on devices are on a list and advance together, also while another one is
 * waited for. The last function returns the number of incomplete copies of `state`. The lock keeps them where they
 * are. */
void redist__direct_begin(struct redist__direct *state);
void redist__direct_end(const struct redist__direct *state);
extern pthread_mutex_t redist__direct_lock;
int redist__direct_advance_all(const struct redist__direct *state);

/* Executions in tiles (direct_tiles.c), which are copied directly to or from the peers' arrays. */
void redist__direct_open(void *data, void *array);
void redist__direct_tile(void *data, const struct redist__tile *tile);
void redist__direct_store(void *data, const struct redist__tile *tile, redist_store *store,
                          void *given);
int redist__direct_own(const void *data, const struct redist__tile *tile, redist_target *target);
int redist__direct_release(void *data, const char *memory);
void redist__direct_progress(void *data);
void redist__direct_arrived(void *data, int *partitions);
void redist__direct_close(void *data);

/* Advances tiles that wait for their steps, without waiting. */
int redist__direct_advance_tiles(struct redist__direct *state);

/* Joins two tiles that are adjacent, in memory too, with the same partitions in the sweep; 0 = they are not. */
int redist__direct_join(struct redist__put *put, const struct redist__put *next, int ndims);

#endif
