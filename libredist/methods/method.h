/* SPDX-License-Identifier: BSD-3-Clause */
/* What a method is: one const table of functions, which its line in libredist/meson.build registers. */
#ifndef REDIST__METHOD_H
#define REDIST__METHOD_H

#include "../comm/comm.h"
#include "../geometry/transfer.h"
#include "../runtime/phases.h"
#include "../runtime/space.h"

/* An exchange, with what is known of its arrays. */
struct redist__problem {
    const struct redist__transfer *transfer;
    struct redist__context *context;
    MPI_Datatype datatype;
    enum redist_tiles tiles; /* array A or B exists in tiles only */
    int concurrent;          /* several threads may put or get at once */
    int partitions,
        partition_axis;  /* array B is completed in so many partitions, >= 1, along an axis */
    int mapped[2];       /* peers map arrays A and B, on all ranks */
    int reaches_local;   /* and memory of redist_alloc_local */
    int bound[2];        /* they are given when the plan is made, */
    void *arrays[2];     /* and these are they */
    int asynchronous;    /* executions are only enqueued in the user's stream */
    int rehearses;       /* and not even that: failures are for this rank alone */
    double wait_seconds; /* after which a device gives up to wait for a peer then */
    const struct redist__space *space; /* where both arrays live */
    void *stream;                      /* of the user, for arrays of a device, */
    redist_place place;                /* and that device */
    int staged;                        /* MPI is to get these through host memory */
    size_t largest_bytes;              /* the largest local array of any rank */
    size_t nontemporal_bytes;          /* larger arrays are best written past the caches */
    int knows_loops;                   /* all ranks know the best loops */
    int tag;                   /* first of REDIST__MESSAGE_TAGS tags that other plans do not use */
    struct redist__life *life; /* of the plan */
    struct redist__mappings *mappings; /* of the plan */
    struct redist__phase_timer *timer; /* NULL = phases are not timed */
    struct redist__failure *failure;   /* of the executions; methods note theirs there */
};

/* Notes a failure of an execution on this rank, or nothing; and whether there is one. */
static inline void redist__note(const struct redist__problem *problem, int code) {
    redist__failure_note(problem->failure, code);
}

static inline int redist__has_failed(const struct redist__problem *problem) {
    return redist__failed(problem->failure);
}

/* Makes a call unless the execution has failed, and notes that the call failed. */
#define redist__attempt(problem, call)                                                             \
    do {                                                                                           \
        if (!redist__has_failed(problem))                                                          \
            redist__note(problem, call);                                                           \
    } while (0)

/* Waits by an event until a stream is idle, and notes what fails. After a failure too nothing of this rank is under way
 * in it any more. */
void redist__finish(const struct redist__problem *problem, void *event, void *stream);

/* The preference of candidates that are so slow, or so like others, that they are used by name only. Lower
 * values order the candidates that one name covers. */
enum { REDIST__BY_NAME = -1000 };

/* A box of a local array, held elsewhere. */
struct redist__tile {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    char *data;
    int kept; /* what is put: this rank's part is in array B already */
};

/* A tile at `data`, of which only the axes inside an element are set. */
static inline struct redist__tile redist__tile_of_elements(const struct redist__transfer *transfer,
                                                           const void *data) {
    const struct redist__element *element = &transfer->element;
    struct redist__tile tile = {.data = (char *)((uintptr_t)data + element->first)};
    for (int i = 0; i < element->naxes; i++) {
        tile.count[transfer->array_ndims + i] = element->count[i];
        tile.stride[transfer->array_ndims + i] = element->stride[i];
    }
    return tile;
}

/* A candidate: a method and one of its variants. */
struct redist__candidate {
    const struct redist__method *method;
    int variant;
};

struct redist__method {
    const char *name;
    const char *summary;         /* one sentence */
    const char *const *variants; /* names, NULL at the end; the first is the usual one; or NULL */

    const void *kind; /* what distinguishes methods with the same functions */

    /* It serves asynchronous problems, and only these: `start`, `open`, `put`, `await` and `close` only
     * enqueue in the user's stream, and may be captured in a graph; `wait` waits for the stream. */
    int asynchronous;

    /* Whether the method can serve this problem on this rank: REDIST_OK, or a code with the reason
     * as message. Touches nothing, allocates nothing, communicates nothing. */
    int (*applies)(const struct redist__problem *problem,
                   const struct redist__candidate *candidate);

    /* How promising the method is when nothing is measured: the largest wins, the order of the
     * register decides between equals. The same on all ranks. NULL = 0. */
    int (*preference)(const struct redist__problem *problem,
                      const struct redist__candidate *candidate);

    /* Whether two variants do the same in a direction. NULL = a variant is like itself only. */
    int (*alike)(int variant, int other, int direction);

    /* What the method keeps for a plan. Not collective; sets *state also when it fails half way, so
     * that `destroy` can clean up. The problem outlives the state. */
    int (*create)(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **state);

    /* Called on all ranks once `create` succeeded on all; collective, the same result on all ranks;
     * NULL if the peers need no message. */
    int (*connect)(void *state);

    /* Starts to move `source` (array `direction`) to `destination`; `wait` completes it. Failures are
     * noted in the problem's `failure`, and change nothing in how peers go on: they get all that they
     * wait for, and with it that this rank has failed. When `wait` returns, neither MPI nor a device nor
     * a peer uses an array or a buffer of this rank. */
    void (*start)(void *state, int direction, const void *source, void *destination);
    void (*wait)(void *state);

    /* Both at once, where that is faster; NULL = start, then wait. */
    void (*execute)(void *state, int direction, const void *source, void *destination);

    /* A forward execution in tiles, for problems with tiles; NULL = the method cannot. `open` gets the
     * array that exists: the destination of puts, the source of gets; `close` completes both. Put and
     * get run in several threads at once if the method is `concurrent` (they call no MPI then, for the
     * problem's `concurrent`); else they run one at a time. */
    int concurrent;
    void (*open)(void *state, void *array);
    void (*put)(void *state, const struct redist__tile *tile);
    void (*store)(void *state, const struct redist__tile *tile, redist_store *store, void *data);
    /* Where this rank's part of a tile that is put belongs; 0 = it has none. NULL = `put` takes no tiles that are
     * `kept`. */
    int (*own)(const void *state, const struct redist__tile *tile, redist_target *target);
    void (*get)(void *state, const struct redist__tile *tile);
    void (*progress)(void *state); /* goes on without waiting; NULL = needs no call for that */
    void (*arrived)(void *state, int *partitions); /* so many are complete; NULL = unknown */
    /* Asynchronous: the stream waits for so many. REDIST_ERR_STATE if tiles are left to put: nothing happens then. */
    int (*await)(void *state, int partitions);
    void (*close)(void *state);

    /* Asynchronous: notes failures of executions that the device has come to, and lets the peers know of any. */
    void (*query)(void *state);

    /* Asynchronous: on the device this rank's executions fail with those of another state of the method. Neither has
     * any when the other one has been freed. */
    void (*join)(void *state, const void *other);

    /* Bytes of buffers that the state holds. */
    size_t (*workspace)(const void *state);

    /* Frees the state (may be NULL). Collective. */
    void (*destroy)(void *state);
};

/* The candidates that a request names ("auto", "p2p", "direct:stream"); returns how many there are, at
 * most `most`. 0 = no such method. */
int redist__candidates(const char *request, int most, struct redist__candidate candidates[]);

/* How promising a candidate is when nothing is measured. */
int redist__preference(const struct redist__problem *problem,
                       const struct redist__candidate *candidate);

/* Writes "method" or "method:variant". */
void redist__candidate_name(const struct redist__candidate *candidate, size_t bytes, char name[]);

enum { REDIST__MOST_CANDIDATES = 64, REDIST__NAME_BYTES = 64 };

/* A method at work on a problem. */
struct redist__transport {
    struct redist__candidate candidate;
    void *state;
};

/* Collective, the same result on all ranks; on failure nothing is left behind. */
int redist__transport_create(const struct redist__problem *problem,
                             const struct redist__candidate *candidate,
                             struct redist__transport *transport);
void redist__transport_execute(struct redist__transport *transport, int direction,
                               const void *source, void *destination);
void redist__transport_destroy(struct redist__transport *transport);

#endif
