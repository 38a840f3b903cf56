/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The base of the library: errors, processes of the machine, and contexts, the library's state of each communicator of
 * the user.
 */
#ifndef REDIST__COMM_H
#define REDIST__COMM_H

#include "redist_support.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---------------------------------------------------------------- errors (error.c) */

#define REDIST__MESSAGE_BYTES 512

int redist__mpi_is_running(void);

/* Returns REDIST_ERR_ARGUMENT with the text of redist_refuse, which it consumes, or `code` without one. */
int redist__take_refusal(int code);

/* Fails in functions whose names the user does not know. */
#define redist__fail(code, ...) redist_fail_in("libredist", code, __VA_ARGS__)

/* Has failures of this thread write no message, which takes long, where only their codes count; or write them again. */
void redist__be_silent(int silent);

/* Check an argument: that it is not NULL, "NAME = NULL"; that it is a handle of a kind, which has its name, else
 * REDIST_ERR_STATE; that it is in a range, else `code`. */
int redist__check_pointer(const char *function, const char *name, const void *pointer);
int redist__check_handle(const char *function, const char *name, const void *handle, int kind);
int redist__check_range(const char *function, int code, const char *name, long long value,
                        long long least, long long most);

/* Continues a hash (FNV-1a), which begins with the basis, by more data. */
#define REDIST__HASH_BASIS 14695981039346656037ULL
uint64_t redist__hash(uint64_t hash, const void *data, size_t bytes);

/* Agrees that all ranks have memory, else "no memory %s". Collective. */
int redist__agree_memory(MPI_Comm comm, const void *memory, const char *what);

/* Keeps the first failure of several calls in *code. */
static inline void redist__keep_first(int *code, int next) {
    *code = *code == REDIST_OK ? next : *code;
}

/* ---------------------------------------------------------------- names of values (names.c) */

redist_name_of redist__effort_name, redist__tiles_name, redist__binding_name, redist__overlap_name,
    redist__halo_direction_name;

/* ---------------------------------------------------------------- processes (process.c) */

/* Identifies a process on the machine: numbers alone repeat, in containers and over time. Unknown members are 0. */
struct redist__process {
    uint64_t space;    /* the namespace that the number belongs to */
    uint64_t number;   /* process number in that namespace */
    uint64_t start;    /* start time, in ticks since boot */
    int64_t notice;    /* descriptor of its file of give_ups (process.c), or -1 */
    uint64_t given_up; /* their count at the time of this description */
};

struct redist__process redist__process_self(void);
int redist__process_is_same(const struct redist__process *a, const struct redist__process *b);

/* Returns a number unique on this machine, also across containers. */
uint64_t redist__process_key(void);

/* Returns nonzero if the process has ended or is about to; 0 also if that cannot be determined. */
int redist__process_has_ended(const struct redist__process *process);

/* The same, or if it has given up since its description. */
int redist__process_is_gone(const struct redist__process *process);

/* Gives up: this process leaves all that it has begun with others, on all communicators, since MPI refuses its calls or
 * a peer is gone. The count applies to existing contexts only. Any thread. */
void redist__process_give_up(void);
uint64_t redist__process_given_up(void);

/* Leaves a communicator of devices, of a number that all its ranks know, after a failure: unlike giving up it concerns
 * nothing else. The second returns whether another process did, among the last ones that it has left. Any thread. */
void redist__process_leave(uint64_t key);
int redist__process_has_left(const struct redist__process *process, uint64_t key);

/* Yields the core in iteration `poll` of a loop that waits without a context. */
void redist__give_way(unsigned poll);

/* ---------------------------------------------------------------- cores (cores.c) */

/* Finds whether the cores of this process are oversubscribed, by processes outside of the communicator too where
 * visible. Collective on the communicator, whose ranks share a node. */
int redist__cores_count(MPI_Comm node, int *crowded);

/* ---------------------------------------------------------------- memory files (memory.c) */

/* Creates a memory file; `name` appears in /proc. Returns -1 without support or free descriptors. */
int redist__memory_file_create(const char *name);

/* Checks the process's file size limit, beyond which the system would kill it. */
int redist__memory_file_may_end(uint64_t end);

/* ---------------------------------------------------------------- contexts (context.c; connect.c makes them) */

struct redist__context;
struct redist__failure;
struct redist__life;
struct redist__peers;

/* An object that another room of the library keeps for a context: the first member of a structure, whose kind is the
 * function that frees it. Collective. */
struct redist__kept {
    void (*dispose)(struct redist__context *context, struct redist__kept *kept);
    struct redist__kept *next;
};

/* Order of freeing: objects with plans first, as plans use the others. */
enum { REDIST__KEPT_PLANS, REDIST__KEPT_BESIDES, REDIST__KEPT_ORDERS };

struct redist__context {
    MPI_Comm comm; /* private duplicate; returns errors */
    MPI_Comm node; /* its ranks that share memory with this one */
    int rank, size;
    int node_rank, node_size;
    int *node_ranks;             /* rank in node of each rank in comm, -1 elsewhere */
    int nnodes, *node_of;        /* nodes, numbered by their lowest ranks, and that of each rank */
    int *nodes_sorted;           /* the same, in ascending order */
    struct redist__peers *peers; /* the processes of this machine, by peers.c */
    struct redist__scratch *scratch; /* of collective operations */
    struct redist__kept *kept[REDIST__KEPT_ORDERS];
    int nblocks, next_block;       /* tag blocks that MPI allows; start of the search for one */
    int taken_blocks;              /* number of taken blocks, */
    uint64_t *taken;               /* and a bit for each block */
    uint64_t lives;                /* blocks taken so far */
    struct redist__life *living;   /* list of existing plans */
    struct redist__life *agreeing; /* plan whose execution agrees, or NULL */
    int crowded;                   /* the cores of this rank are oversubscribed */
    uint64_t number;               /* unique, the same on all ranks */
    _Atomic int references;        /* the user's communicator, plans, arrays, grids */
    int is_left;                   /* the user has freed the communicator */
    _Atomic int has_notices;       /* of failures: this rank has sent or received some */
    struct redist__context *older; /* list of all contexts */
};

/* The context of a communicator, made at the first call; takes a reference. Collective. */
int redist__context_get(MPI_Comm comm, struct redist__context **context);

/* Find the context of a communicator, its own or the user's; and the one with this communicator as its own or its
 * node's; NULL without one. Take no reference. Not collective. REDIST_ERR_MPI. */
int redist__context_find(MPI_Comm comm, struct redist__context **context);
struct redist__context *redist__context_owning(MPI_Comm comm);

/* Adds a context without communicators and peers to the list, with one reference; *context is NULL without memory, else
 * the caller releases it, after a failure too. Not collective. REDIST_ERR_MEMORY, REDIST_ERR_MPI. */
int redist__context_begin(MPI_Comm comm, struct redist__context **context);

/* Makes a communicator refer to a context, by an attribute that takes a reference over; and deletes that. Not
 * collective. REDIST_ERR_MPI. */
int redist__context_attach(MPI_Comm comm, struct redist__context *context);
void redist__context_detach(MPI_Comm comm);

/* Releases a reference; the last one frees the communicators. Collective. */
void redist__context_release(struct redist__context *context);

/* Iterates over the kept objects that `dispose` frees, the last first (`after` = NULL), until NULL. All ranks keep
 * objects together. */
struct redist__kept *redist__kept(const struct redist__context *context, int order,
                                  void (*dispose)(struct redist__context *, struct redist__kept *),
                                  const struct redist__kept *after);
void redist__keep(struct redist__context *context, int order, struct redist__kept *kept);
void redist__discard(struct redist__context *context, int order, struct redist__kept *kept);

/* Makes an object of `bytes` zero bytes that is kept; and finds the last one that `dispose` frees, or makes it.
 * Collective. */
int redist__keep_new(struct redist__context *context, int order, size_t bytes,
                     void (*dispose)(struct redist__context *, struct redist__kept *),
                     struct redist__kept **kept);
int redist__provide(struct redist__context *context, int order, size_t bytes,
                    void (*dispose)(struct redist__context *, struct redist__kept *),
                    struct redist__kept **kept);

/* Lets MPI_Finalize call a function once all contexts are freed, in their process alone; a second time it has no
 * effect. `ending` stays where it is. Not collective. */
struct redist__ending {
    void (*end)(void);
    struct redist__ending *next;
};
void redist__at_end(struct redist__ending *ending);

/* Tags of messages, in blocks; the last tag of a block is for agreements in executions. Plans of a context never share
 * a block: a plan takes the first free one after the block taken last, so that late messages of a freed plan meet no
 * other for long; all ranks do so in the same order. The first block belongs to no plan. */
enum { REDIST__MESSAGE_TAGS = 16, REDIST__AGREEMENT_TAG = REDIST__MESSAGE_TAGS, REDIST__TAGS };
enum { REDIST__COLLECTIVE_TAG, REDIST__NOTICE_TAG };

/* Takes a block and finds its first tag; without a free one -1, and REDIST_ERR_LIMIT in the name of `function`. */
int redist__tags_take(const char *function, struct redist__context *context, int *tag);
void redist__tags_give(struct redist__context *context, int tag);

/* Returns all contexts with a reference to each, which the caller releases, terminated by NULL; NULL without memory. */
struct redist__context **redist__contexts_hold(void);

/* ---------------------------------------------------------------- lost peers (peers.c; life.c: agreements of plans) */

/*
 * A rank is gone if it has ended, or has given up since MPI or its device refuses its calls or a peer is gone. A rank
 * that detects this gives up too, on all communicators of its process: it returns an error, and ranks that wait for it
 * elsewhere would wait in vain. So the loss spreads along all communicators that share a process. Ranks of a node read
 * it from the processes, others get messages.
 */

/* A rank of this machine. */
struct redist__peer {
    struct redist__process process;
    int64_t rank;
};

/* Allocate the processes of `count` ranks, NULL without memory; and return the description of this one, which the
 * caller sends to all ranks of the node and receives theirs into *described. They are watched once all ranks have
 * theirs. Not collective. */
struct redist__peers *redist__peers_allocate(int count);
struct redist__peer redist__peers_describe(struct redist__context *context,
                                           struct redist__peer **described);
void redist__peers_watch(struct redist__context *context);

/* Returns whether they are watched: then collective operations end on all ranks when one is gone. */
int redist__peers_known(const struct redist__context *context);

/* Return REDIST_ERR_PEER if one is known to be gone; and the same after checking the processes, if the last check was a
 * while ago, or always. A check takes some 10 us for each process. */
int redist__peers_check(const struct redist__context *context);
int redist__peers_look(const struct redist__context *context);

/* Looks as redist__peers_look does, and after a while of the same wait at the peers of all contexts too: the rank that
 * this one waits for may wait, on its device, for this one, which a failure elsewhere keeps from coming. begins: a new
 * wait. */
int redist__peers_look_around(const struct redist__context *context, int begins);
int redist__peers_look_now(const struct redist__context *context);

/* Checks in a thread that may not call MPI, and sends no messages. */
int redist__peers_see(const struct redist__context *context);

/* Finds a rank of this machine that has left a communicator of devices (redist__process_leave); -1 = none. Any
 * thread. */
int redist__peers_find_left(const struct redist__context *context, uint64_t key);

/* Receives notices that a rank is gone, or that a plan is over. Returns the code of MPI. */
int redist__peers_hear(struct redist__context *context);

/* Completes a collective call of MPI on a communicator that is not watched, unless the process of one of its ranks has
 * ended, as far as other communicators show: REDIST_ERR_PEER then, if the call may be given up. Also REDIST_ERR_MPI. */
int redist__peers_complete(MPI_Comm comm, MPI_Request *request, int may_give_up);

/* Gives up: this rank no longer waits for its peers, nor they for it. */
void redist__give_up(const struct redist__context *context);

/*
 * The life of a plan. A rank whose execution failed alone may free the plan while its peers wait for its next
 * execution: then it sends all of them a notice that the plan is over, with the plan's number. They no longer wait for
 * messages of its executions, nor in agreements of these, which have their own tag, so that late messages meet no other
 * collective operation.
 */
struct redist__life {
    struct redist__context *context;
    int tag;                         /* first of the plan's tags */
    uint64_t number;                 /* unique in the context, the same on all ranks */
    struct redist__failure *failure; /* of its executions, set by the notice */
    _Atomic int is_over;
    struct redist__members *members;   /* NULL = none */
    struct redist__life *next, **link; /* list of existing plans */
};

/* The end of a member of a plan: its number, the peer that ended it, and the agreements completed there by then. */
struct redist__end {
    uint64_t member, agreements;
    int peer;
};

/*
 * The members of a plan that ended alone: operators that failed on a rank, which freed them. The rank continues with
 * the plan, but takes no part in an agreement about such an operator, for which others may wait: a notice calls that
 * agreement off. The messages that remain of it match no other agreement, since each member that ended changes the tag
 * of later agreements on the rank that ended it. An agreement that has begun with another tag is repeated.
 */
struct redist__members {
    uint64_t agreements; /* completed ones */
    int changes;         /* of the tag, when the current agreement began */
    int count;           /* of members that ended, at most as many as there are tags for it */
    struct redist__end *ends;
};

/* Begin the life of a plan right after it took its tags; and end it, with notices if the plan is broken and no peer has
 * sent one. Not collective, but all ranks begin lives in the same order. */
void redist__life_begin(struct redist__life *life, struct redist__context *context, int tag,
                        struct redist__failure *failure);
void redist__life_end(struct redist__life *life);

/* Returns whether a peer has ended it, by the notices received so far. NULL = no plan. */
int redist__life_is_over(const struct redist__life *life);

/* Returns the tag of the current agreement; and REDIST_OK, or the code that ends it before its messages arrive. */
int redist__life_tag(const struct redist__life *life);
int redist__life_check(const struct redist__life *life);

/* Finds the end of a member, NULL = it has not ended. */
struct redist__end *redist__life_find_end(const struct redist__life *life, uint64_t member);

/* Returns how many ended members change the tag of the agreement to be completed next. */
int redist__life_changes(const struct redist__members *members);

/* Ends a member, unless it has ended or the plan is lost, with notices to all ranks. */
void redist__life_end_member(struct redist__life *life, const struct redist__end *end);

/* redist_agree_values_in and redist_all_lowest, in an execution of the plan. Collective. */
int redist__life_agree(struct redist__life *life, const char *function, int code, int nvalues,
                       const redist_shared_value values[]);
int redist__life_lowest(struct redist__life *life, int value, int *lowest);

/* Returns the process of a rank of this machine; NULL for other machines. */
const struct redist__process *redist__peers_process(const struct redist__context *context,
                                                    int rank);

/* ---------------------------------------------------------------- waiting for peers (waiting.c) */

/* Runs in loops that wait for peers, in iteration `poll`: lets MPI make progress and other processes run. Returns
 * REDIST_OK, REDIST_ERR_PEER if a peer is gone, or REDIST_ERR_MPI. */
int redist__pause(struct redist__context *context, unsigned poll);

/* Replaces redist__pause in threads that may not call MPI. */
int redist__pause_beside(struct redist__context *context, unsigned poll);

/* Replaces redist__pause in loops that must wait for one rank of the node that may use memory of this rank: an error
 * only if that rank has ended; or, before it has begun to (its counter is below the value), if it has given up. */
int redist__pause_for(struct redist__context *context, int rank, const _Atomic uint64_t *begun,
                      uint64_t value, unsigned poll);

/* ---------------------------------------------------------------- collective operations (collective.c) */

/* Largest message, in memory that MPI may keep when an operation is abandoned. */
enum { REDIST__COLLECTIVE_BYTES = 2048 };

struct redist__scratch {
    _Alignas(16) char in[REDIST__COLLECTIVE_BYTES], out[REDIST__COLLECTIVE_BYTES];
    int in_use; /* by MPI, for ever */
};

/* Finds the bitwise and of all ranks of the context. Collective, and ends when a peer is gone, as the next two do. */
int redist__find_common(struct redist__context *context, int bits, int *common);

/* Finds whether all ranks pass the same number, and is_right. Collective; on a communicator of the library it ends when
 * a peer is gone. */
int redist__find_alike(MPI_Comm comm, int is_right, uint64_t number, int *alike);

/* Sends the i-th `bytes` bytes of `own` to rank i, and receives those for this rank into `theirs`. Collective. */
int redist__all_to_all(struct redist__context *context, const void *own, size_t bytes,
                       void *theirs);

/* Sends bytes to one rank of the context, and receives as many from another one, on all ranks in matching order. */
int redist__send_receive(struct redist__context *context, int to, const void *out, int from,
                         void *in, size_t bytes);

/* ---------------------------------------------------------------- failures of executions (failure.c) */

/* The first failure of a plan's executions on this rank. It is permanent: the plan is broken, and each later execution
 * fails too. A broken plan still takes part in the protocol of its method, without data, since it cannot know which
 * peers have learnt of the failure; the peers learn of it so. No rank waits for another one in vain, and none takes
 * incomplete data for complete. */
struct redist__failure {
    _Atomic int code;      /* REDIST_OK = none */
    char *_Atomic message; /* NULL = no memory for one */
};

/* Records the code, with this thread's message, if it is the first failure. Thread-safe. */
void redist__failure_note(struct redist__failure *failure, int code);

/* Records the result of an MPI call, and returns it. */
int redist__failure_note_mpi(struct redist__failure *failure, int result);

/* Records the code that rank `peer` of a plan published; 0 = failure without a code. */
void redist__failure_note_peer(struct redist__failure *failure, int peer, int code);

static inline int redist__failed(const struct redist__failure *failure) {
    return atomic_load_explicit(&failure->code, memory_order_relaxed);
}

/* Returns the code, and makes its message this thread's. */
int redist__failure_report(const struct redist__failure *failure);

/* Clears the failure, and frees its message. */
void redist__failure_forget(struct redist__failure *failure);

/* Repeats an MPI call that peers depend on once if it fails, and records the failure. */
#define redist__try(failure, call)                                                                 \
    (redist__failure_note_mpi(failure, call) == MPI_SUCCESS                                        \
         ? MPI_SUCCESS                                                                             \
         : redist__failure_note_mpi(failure, call))

#endif
