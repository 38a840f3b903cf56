/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods: const tables of functions, registered by a line in libredist/meson.build. */
#ifndef REDIST__METHOD_H
#define REDIST__METHOD_H

#include "problem.h"

/* The preference of slow or redundant candidates, which need their names. Lower values order those of one name. */
enum { REDIST__BY_NAME = -1000 };

/* A box of a local array, in other memory. */
struct redist__tile {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    char *data;
    int kept; /* of a put: this rank's part is already in array B */
};

/* Returns a tile at `data` with only the axes inside an element set. */
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

/* The executions that a method serves: those that are complete when they return, those that are only enqueued. */
enum redist__modes { REDIST__COMPLETES, REDIST__ENQUEUES, REDIST__DOES_BOTH };

struct redist__method {
    const char *name;
    const char *summary; /* one sentence */

    /* Names of variants, NULL at the end; the first is the usual one, "" if it has the method's name; or NULL. */
    const char *const *variants;

    const void *kind; /* what distinguishes methods with the same functions */

    /* Returns the table whose functions, except `create` and those that check, serve the problem; NULL = this one. */
    const struct redist__method *(*serving)(const struct redist__problem *problem);

    /* Whether it serves asynchronous problems: `start`, `open`, `put`, `store`, `await` and `close` only enqueue in the
     * user's stream then, and may be captured in a graph; `wait` waits for the stream. */
    enum redist__modes modes;
    int formats;            /* packs messages in the problem's format, */
    int formats_tiles;      /* and those of tiles that are put, too */
    int needs_peers_arrays; /* asynchronous: only in directions of which redist__peers_know the array */

    /* Asynchronous: checks the ranks of a problem, of which only space and context are set. Collective. */
    int (*check_ranks)(const struct redist__problem *problem);

    /* Checks whether the method can serve this problem on this rank: REDIST_OK, or a code with the reason as message.
     * No side effects, allocations or communication. */
    int (*applies)(const struct redist__problem *problem,
                   const struct redist__candidate *candidate);

    /* Returns the preference without measurements: the largest wins, between equals the first in the register. The same
     * on all ranks. NULL = 0. */
    int (*preference)(const struct redist__problem *problem,
                      const struct redist__candidate *candidate);

    /* Creates the method's state of a plan. Not collective; sets *state also when it fails half way, so that `destroy`
     * can clean up. The problem outlives the state. */
    int (*create)(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **state);

    /* Connects the peers, once all have created. Collective, the same result on all ranks. NULL = nothing to do. */
    int (*connect)(void *state);

    /* Starts to move `source` (array `direction`) to `destination`; `wait` completes it. Failures are recorded in the
     * problem's `failure`, and the protocol continues: peers get all that they wait for, and learn by it that this rank
     * has failed. When `wait` returns, neither MPI nor a device nor a peer uses an array or a buffer of this rank. */
    void (*start)(void *state, int direction, const void *source, void *destination);
    void (*wait)(void *state);

    /* Does both at once, where that is faster; NULL = start, then wait. */
    void (*execute)(void *state, int direction, const void *source, void *destination);

    /* A forward execution in tiles, for problems with tiles; NULL = unsupported. `open` gets the array that exists: the
     * destination of puts, the source of gets; `close` completes both. Put and get run in several threads at once if
     * the method is `concurrent` (they call no MPI then, for the problem's `concurrent`); else they run one at a
     * time. */
    int concurrent;
    void (*open)(void *state, void *array);
    void (*put)(void *state, const struct redist__tile *tile);
    void (*store)(void *state, const struct redist__tile *tile, redist_store *store, void *data);
    int stores_partitions; /* 1 = also for problems with partitions */
    /* Finds the destination of this rank's part of a tile; 0 = none. NULL = `put` takes no `kept` tiles. */
    int (*own)(const void *state, const struct redist__tile *tile, redist_target *target);
    /* Waits until the tiles at this address, their first element, are read no more, for which they are sent first; or,
     * asynchronous, makes the stream wait for that. Of tiles in segments, for problems that say `reuses`; NULL =
     * unsupported. */
    int (*release)(void *state, const char *memory);
    void (*get)(void *state, const struct redist__tile *tile);
    void (*progress)(void *state); /* continues without waiting; NULL = not needed */
    void (*arrived)(void *state, int *partitions); /* counts complete partitions; NULL = unknown */
    /* Asynchronous: makes the stream wait for partitions; before the last put REDIST_ERR_STATE, without effect. */
    int (*await)(void *state, int partitions);
    const struct redist__told *(*told)(const void *state); /* of a half inside a node */
    void (*close)(void *state);

    /* Asynchronous: records failures of executions that the device has reached, and informs the peers. */
    void (*query)(void *state);

    /* Asynchronous: the last call before `destroy`. Waits for the device, and informs the peers if this rank has
     * failed, such that their devices wait for it no more: they may have enqueued executions that this rank will not
     * begin. NULL = hosts take part in executions. Not collective. */
    void (*leave)(void *state);

    /* Asynchronous: the word by which this rank's executions fail on the device, nonzero after a failure: 1 + the
     * highest rank that is known to have failed. `join` takes that of another state, of any method, in its place: one
     * in host memory if the method's host uses it too. Neither state executes after the other one is freed. */
    uint64_t *(*word)(const void *state);
    void (*join)(void *state, uint64_t *word);
    int has_word_in_host;

    /* Bytes of buffers that the state holds. */
    size_t (*workspace)(const void *state);

    /* Frees the state (may be NULL). Collective. */
    void (*destroy)(void *state);
};

/* Lists the candidates of a request ("auto", "p2p", "direct:paced"), at most `most`; returns their number. */
int redist__candidates(const char *request, int most, struct redist__candidate candidates[]);

/* Checks whether a method serves the problem's kind of executions, those that are complete, or only enqueued; its
 * format; and its tiles and partitions. */
int redist__check_mode(const struct redist__problem *problem, const struct redist__method *method);

/* Returns a candidate's preference without measurements. */
int redist__preference(const struct redist__problem *problem,
                       const struct redist__candidate *candidate);

/* Finds the candidate of a request with the highest preference for which `applies` succeeds. Without one the code and
 * the message are those of the first one. Not collective. */
int redist__find_best(const struct redist__problem *problem, const char *request,
                      int (*applies)(const struct redist__problem *problem,
                                     const struct redist__candidate *candidate),
                      struct redist__candidate *best);

/* Returns the table whose functions serve a problem for a method. */
const struct redist__method *redist__serving(const struct redist__problem *problem,
                                             const struct redist__method *method);

/* Writes "method" or "method:variant". */
void redist__candidate_name(const struct redist__candidate *candidate, size_t bytes, char name[]);

enum { REDIST__MOST_CANDIDATES = 64, REDIST__NAME_BYTES = 64 };

/* A method at work on a problem. */
struct redist__transport {
    struct redist__candidate candidate;
    const struct redist__method *method; /* that serves the problem; NULL = there is no transport */
    void *state;
};

/* Creates a transport. Collective, the same result on all ranks; a failure leaks nothing. */
int redist__transport_create(const struct redist__problem *problem,
                             const struct redist__candidate *candidate,
                             struct redist__transport *transport);
void redist__transport_execute(struct redist__transport *transport, int direction,
                               const void *source, void *destination);
void redist__transport_destroy(struct redist__transport *transport);

/* Call the method's functions, those that are optional if it has them. */
static inline void redist__transport_start(const struct redist__transport *transport, int direction,
                                           const void *source, void *destination) {
    transport->method->start(transport->state, direction, source, destination);
}

static inline void redist__transport_wait(const struct redist__transport *transport) {
    transport->method->wait(transport->state);
}

static inline void redist__transport_progress(const struct redist__transport *transport) {
    if (transport->method->progress != NULL)
        transport->method->progress(transport->state);
}

static inline void redist__transport_query(const struct redist__transport *transport) {
    if (transport->method != NULL && transport->method->query != NULL)
        transport->method->query(transport->state);
}

static inline void redist__transport_leave(const struct redist__transport *transport) {
    if (transport->method != NULL && transport->method->leave != NULL)
        transport->method->leave(transport->state);
}

static inline size_t redist__transport_workspace(const struct redist__transport *transport) {
    return transport->method != NULL ? transport->method->workspace(transport->state) : 0;
}

#endif
