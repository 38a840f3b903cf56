/* SPDX-License-Identifier: BSD-3-Clause */
/* Input of methods: an exchange, and the properties of its arrays. */
#ifndef REDIST__PROBLEM_H
#define REDIST__PROBLEM_H

#include "../comm/comm.h"
#include "../geometry/transfer.h"
#include "../runtime/phases.h"
#include "../runtime/space.h"

/* The partitions that a rank has signalled in an execution, and the event after the signal of each. */
struct redist__told {
    void **events;
    int count;
};

/* An exchange, and the properties of its arrays. */
struct redist__problem {
    const struct redist__transfer *transfer;
    /* ghosts with corners: the same forward exchange, one axis after the other; 0 axes = there is none */
    const struct redist__transfer *axes;
    int naxes;
    struct redist__context *context;
    MPI_Datatype datatype;
    enum redist_tiles tiles;        /* array A or B exists in tiles only */
    int concurrent;                 /* several threads may put or get at once */
    int partitions, partition_axis; /* partitions of array B, >= 1, along an axis */
    int segments, segment_axis; /* tiles come as segments of array A along an axis; 0 = unknown */
    int mapped[2];              /* peers map arrays A and B, on all ranks */
    int reaches_local;          /* peers can map memory of redist_alloc_local */
    int bound[2];               /* arrays bound when the plan is made, */
    void *arrays[2];            /* and their addresses */
    int one_array;              /* A and B are one */
    int reuses;                 /* memory of tiles is used again within an execution (release) */
    int asynchronous;           /* executions are only enqueued in the user's stream */
    int rehearses;              /* nothing is enqueued: failures concern this rank only */
    double wait_seconds;        /* limit of a device's wait for a peer, if asynchronous */
    const struct redist__space *space; /* of both arrays */
    void *stream;                      /* of the user, for arrays of a device, */
    void *freed; /* tiles: event in it behind which peers may use the array; NULL = all it has */
    redist_place place;                  /* and that device */
    int staged;                          /* MPI gets these through host memory */
    const struct redist__format *format; /* of messages to other nodes, or NULL; */
    int formats_all;                     /* of the others, too */
    int keeps_format;                    /* even if it is slow */
    size_t largest_bytes;                /* the largest local array of any rank */
    size_t nontemporal_bytes;            /* larger arrays are written past the caches */
    int knows_loops;                     /* all ranks know the best loops */
    int tag;                             /* first of REDIST__MESSAGE_TAGS tags of this plan */
    struct redist__life *life;           /* of the plan */
    struct redist__mappings *mappings;   /* of the plan */
    struct redist__phase_timer *timer;   /* NULL = phases are not timed */
    struct redist__failure *failure;     /* of the executions; recorded by methods */
    const int *ranks; /* of the context's in the plan's communicator, or NULL = the same */
    uint64_t *word;   /* asynchronous: by which halves fail together, in pinned memory, or NULL */
    /* Asynchronous: one of two methods that enqueue beside each other (hier.c). `await` and `close` end what `start`
     * has begun, as they end tiles; and no copy waits for those of the peers. */
    int is_half;
    const struct redist__told *told; /* of the other half, of the one between nodes; or NULL */
};

/* Records a failure of an execution on this rank (REDIST_OK: nothing); and returns whether it has failed. */
static inline void redist__note(const struct redist__problem *problem, int code) {
    redist__failure_note(problem->failure, code);
}

static inline int redist__has_failed(const struct redist__problem *problem) {
    return redist__failed(problem->failure);
}

/* Returns the side of the array that peers use in a direction of an asynchronous execution without their hosts, and
 * have to know when the plan is made: the destination, to which they write; or the source, which its receivers read
 * to add it, or as they know no destination of a plan that goes forward only. */
int redist__peers_side(const struct redist__problem *problem, int direction);

/* Returns whether they know that array, and can map it, or a buffer in its place. */
int redist__peers_know(const struct redist__problem *problem, int direction);

/* Returns whether ghosts pass through buffers of an asynchronous plan, as peers do not know the array. */
int redist__buffers_ghosts(const struct redist__problem *problem);

/* Returns the number of a rank of the context in the plan's communicator. */
static inline int redist__plan_rank(const struct redist__problem *problem, int rank) {
    return problem->ranks != NULL ? problem->ranks[rank] : rank;
}

/* Returns the format of the messages to and from a rank of the context; NULL = as in the array. */
static inline const struct redist__format *redist__format_to(const struct redist__problem *problem,
                                                             int rank) {
    int is_exact = problem->format == NULL ||
                   (!problem->formats_all && problem->context->node_ranks[rank] >= 0);
    return is_exact ? NULL : problem->format;
}

/* Returns the bytes in which messages are counted and placed: those of an item, or, as messages in a format are no
 * items, those of a number, to which they are filled up. */
static inline size_t redist__message_unit(const struct redist__problem *problem) {
    return problem->format != NULL ? problem->format->bytes : problem->transfer->item;
}

/* Returns the bytes of a message of boxes with `bytes` bytes in a format, in whole units. */
static inline size_t redist__message_fill(const struct redist__problem *problem, size_t bytes) {
    size_t unit = redist__message_unit(problem);
    return (bytes + unit - 1) / unit * unit;
}

/* Makes a call unless the execution has failed, and records its failure. */
#define redist__attempt(problem, call)                                                             \
    do {                                                                                           \
        if (!redist__has_failed(problem))                                                          \
            redist__note(problem, call);                                                           \
    } while (0)

/* Waits by an event until a stream is idle, also after a failure, and records failures. Meanwhile calls `progress`, if
 * it is not NULL. */
void redist__finish_while(const struct redist__problem *problem, void *event, void *stream,
                          void (*progress)(void *data), void *data);
static inline void redist__finish(const struct redist__problem *problem, void *event,
                                  void *stream) {
    redist__finish_while(problem, event, stream, NULL, NULL);
}

/* Waits until peers may use the array of an execution that is opened, else as redist__finish_while. */
void redist__finish_array(const struct redist__problem *problem, void *event,
                          void (*progress)(void *data), void *data);

#endif
