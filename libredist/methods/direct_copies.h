/* SPDX-License-Identifier: BSD-3-Clause */
/* Method direct: an execution, from its begin to its end, and the copies of whole arrays. */
#ifndef REDIST__DIRECT_COPIES_H
#define REDIST__DIRECT_COPIES_H

#include "../sync/flags.h"
#include "tiles.h"

#include <pthread.h>

enum redist__mode { REDIST__PUSH, REDIST__PULL, REDIST__STAGE };

/* What this rank does in one direction of an exchange. */
struct redist__share {
    enum redist__mode mode;
    struct redist__batch batch; /* one copy for each peer */
};

/* Where the copy with a peer is. */
enum redist__progress { REDIST__WAITS, REDIST__RUNS, REDIST__DONE };

/* What a variant does: `space`, where it works (AUTO = everywhere). */
struct redist__traits {
    const char *name;
    enum redist_space space;
    enum redist__copier copier;
    int push;  /* where it could also pull: a bit for each direction */
    int paced; /* every receiver has one sender at a time; 2: the next step begins one step early */
    int together; /* what is pushed is one copy for all peers, when all are ready: on a device a kernel */
};

/* A tile that was handed over and waits for its steps. The partitions from `first` to `last` - 1 are in the sweep
 * that is being issued, or was issued last, and those before them were in earlier sweeps. */
struct redist__put {
    struct redist__tile tile;
    void *held;   /* in host memory: a copy of the tile */
    size_t bytes; /* of a partition for one peer, about */
    int first, last;
};

/* The tiles of an execution in their order; nothing is left to be done for those before `oldest`. */
struct redist__puts {
    struct redist__put *list;
    int count, room, oldest;
    int complete
        [2]; /* partitions that all peers have after the last sweeps of even and odd number */
};

struct redist__direct {
    const struct redist__problem *problem;
    const struct redist__traits *traits;
    struct redist__share shares[2];
    /* The peers' boxes in which copies of a direction begin or end; tiles have one direction. */
    struct redist__remote *remotes[2];
    struct redist__flags flags;
    void *stage; /* shared memory of the plan for mode REDIST__STAGE, else NULL */
    size_t stage_bytes;
    void **events; /* for each peer, or each step under way, and one for tiles' own parts */
    enum redist__progress *copies; /* of the execution under way, for each peer */
    int left;                      /* copies that are not done */
    struct redist__steps steps;    /* of a paced execution */
    struct redist__puts puts;      /* of an execution in tiles that wait */
    size_t elements;               /* that were put */
    enum redist__progress own;     /* the own parts of all tiles */
    redist_target *targets;        /* room for one of each rank; NULL before a tile is stored */
    int stores_in_user;            /* a tile was stored in the user's stream */
    int direction;                 /* of the execution under way */
    const char *source;
    char *destination;
    int (*advance)(struct redist__direct *state); /* does what can be done without waiting */
    pthread_t thread; /* that began the execution: others have plans of their own on the list */
    struct redist__direct *next_pending;
};

/* Whether anything is exchanged with a peer: on side 0, array A, or on side 1. */
int redist__direct_has_part(const struct redist__direct *state, int side, int peer);

/* Whether the variant pushes in this direction, where it could also pull. */
int redist__direct_pushes(const struct redist__traits *traits, int direction);

/* The side of the exchange that the peers' arrays are on. */
int redist__direct_remote_side(const struct redist__share *share, int which);

/* The first byte of the array of a peer that is ready. */
int redist__direct_array(const struct redist__direct *state, int peer, char **base);

/* Waits for the user's stream; meanwhile other executions go on. */
void redist__direct_wait_stream(const struct redist__direct *state);

/* Boxes lie in the stage one behind another without gaps: in the layout of an array whose strides are powers of
 * two they would use a part of the caches only. Gives a box's strides there, and returns its bytes. */
enum { REDIST__STAGE_ALIGNMENT = 64 };
size_t redist__direct_stage_part(const struct redist__transfer *transfer,
                                 const struct redist__part *part, ptrdiff_t stride[]);

/* Begins an execution: publishes where this rank's array is, and that peers may use it. */
void redist__direct_announce(struct redist__direct *state, int direction, const void *source,
                             void *destination);

/* Publishes that this rank has copied all it has to, or has failed, and waits until its peers have. */
void redist__direct_finish(struct redist__direct *state);

/* Ends an execution whose copies are not waited for in their order: those that were begun are done on return, the
 * others are left out, and no peer waits for steps of this rank. */
void redist__direct_drop(struct redist__direct *state);

/* The copies of whole arrays: what there is to do, and doing what can be done without waiting. */
void redist__direct_expect(struct redist__direct *state);
int redist__direct_advance_copies(struct redist__direct *state);

/* Executions that go on while others are waited for are on a list, and all of them advance together: those on
 * devices, and those in tiles that wait. The last function returns how many copies of `state` are not done.
 * `lock` keeps them where they are. */
void redist__direct_begin(struct redist__direct *state);
void redist__direct_end(const struct redist__direct *state);
void redist__direct_lock(void);
void redist__direct_unlock(void);
int redist__direct_advance_all(const struct redist__direct *state);

#endif
