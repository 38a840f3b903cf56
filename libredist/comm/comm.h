/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the rest of the library stands on: errors, processes of the machine, and contexts, which are
 * what the library keeps for each communicator of the user.
 */
#ifndef REDIST__COMM_H
#define REDIST__COMM_H

#include "redist_support.h"

#include <stdatomic.h>
#include <stdint.h>

/* ---------------------------------------------------------------- errors (error.c) */

#define REDIST__MESSAGE_BYTES 512

int redist__mpi_is_running(void);

/* ERR_ARGUMENT with the text of redist_refuse, which is used up, or `code` if there is none. */
int redist__take_refusal(int code);

/* For functions whose names mean nothing to the user. */
#define redist__fail(code, ...) redist_fail_in("libredist", code, __VA_ARGS__)

/* Agrees whether all ranks have got memory; "no memory %s" if one has not. Collective. */
int redist__agree_memory(MPI_Comm comm, const void *memory, const char *what);

/* Keeps the first failure of several calls in *code. */
static inline void redist__keep_first(int *code, int next) {
    *code = *code == REDIST_OK ? next : *code;
}

/* ---------------------------------------------------------------- names of values (names.c) */

redist_name_of redist__effort_name, redist__tiles_name, redist__binding_name;

/* ---------------------------------------------------------------- processes (process.c) */

/* A process, in words that every process of the machine understands. Process numbers repeat: containers have
 * their own, and the system uses them again. Unknown parts are 0. */
struct redist__process {
    uint64_t space;  /* the namespace that the number belongs to */
    uint64_t number; /* of the process in that namespace */
    uint64_t start;  /* when it started, in ticks since the machine did */
    int64_t notice;  /* the descriptor of the file with its count of give_ups, -1 = there is none */
    uint64_t given_up; /* that count when the process described itself */
};

struct redist__process redist__process_self(void);
int redist__process_is_same(const struct redist__process *a, const struct redist__process *b);

/* A number that no process of this machine has given before, also where containers number theirs alike. */
uint64_t redist__process_key(void);

/* Nonzero if the process has ended, or is about to; 0 also where that cannot be seen from here. */
int redist__process_has_ended(const struct redist__process *process);

/* The same, or it has given up since it described itself. */
int redist__process_is_gone(const struct redist__process *process);

/* This process takes no more part in what it has begun together with others, whatever the communicator: MPI refuses
 * its calls, or one of its peers is gone. Counted; contexts that are made later start anew. Any thread. */
void redist__process_give_up(void);
uint64_t redist__process_given_up(void);

/* Whether more processes than there are cores may run on the cores of this one. Processes outside of the
 * communicator count too, as far as they can be seen. Collective on the communicator, whose ranks share a node. */
int redist__cores_count(MPI_Comm node, int *crowded);

/* ---------------------------------------------------------------- memory files (memory.c) */

/* A new one; `name` is for readers of /proc. -1 = the system has none, or no more descriptors. */
int redist__memory_file_create(const char *name);

/* Whether one may end there: beyond the limit of its process the system ends that. */
int redist__memory_file_may_end(uint64_t end);

/* ---------------------------------------------------------------- contexts (context.c, node.c) */

struct redist__context;
struct redist__failure;
struct redist__life;
struct redist__peers;

/* Something that another part of the library keeps for a context: the first member of a structure, whose kind is the
 * function that frees it. Collective. */
struct redist__kept {
    void (*dispose)(struct redist__context *context, struct redist__kept *kept);
    struct redist__kept *next;
};

/* What has plans goes first: plans use what is kept besides. */
enum { REDIST__KEPT_PLANS, REDIST__KEPT_BESIDES, REDIST__KEPT_ORDERS };

struct redist__context {
    MPI_Comm comm; /* private, of the same ranks; returns errors */
    MPI_Comm node; /* its ranks that share memory with this one */
    int rank, size;
    int node_rank, node_size;
    int *node_ranks;             /* rank in node of each rank in comm, -1 elsewhere */
    int nnodes, *node_of;        /* nodes, numbered by their lowest ranks, and that of each rank */
    int *nodes_sorted;           /* the same, in ascending order */
    struct redist__peers *peers; /* the processes of this machine, by peers.c */
    struct redist__scratch *scratch; /* of collective operations */
    struct redist__kept *kept[REDIST__KEPT_ORDERS];
    int nblocks, next_block;       /* of tags that MPI allows; where the search for one begins */
    int taken_blocks;              /* how many are taken, */
    uint64_t *taken;               /* and a bit for each block */
    uint64_t lives;                /* how many were taken so far */
    struct redist__life *living;   /* list of the plans that are alive */
    struct redist__life *agreeing; /* in whose execution ranks agree, NULL = in none */
    int crowded;                   /* more processes than cores where this one runs */
    uint64_t number;               /* the same on all its ranks, no other context has it */
    _Atomic int references;        /* the user's communicator, plans, arrays, grids */
    struct redist__context *older; /* list of all contexts */
};

/* The context of a communicator, made at the first call; takes a reference. Collective. */
int redist__context_get(MPI_Comm comm, struct redist__context **context);

/* The context whose communicator this is, or that was made for it; and the one whose communicator, or whose node's,
 * this is; NULL if there is none. Take no reference. Not collective. */
struct redist__context *redist__context_find(MPI_Comm comm);
struct redist__context *redist__context_owning(MPI_Comm comm);

/* Gives a reference back; the last one frees the communicators. Collective. */
void redist__context_release(struct redist__context *context);

/* What is kept that `dispose` frees, the last first; NULL = nothing, or no more. Keeping more: all ranks do so. */
struct redist__kept *redist__kept(const struct redist__context *context, int order,
                                  void (*dispose)(struct redist__context *, struct redist__kept *));
struct redist__kept *redist__kept_next(const struct redist__kept *kept);
void redist__keep(struct redist__context *context, int order, struct redist__kept *kept);
void redist__discard(struct redist__context *context, int order, struct redist__kept *kept);

/* What `dispose` frees, made of `bytes` zero bytes unless it is there. Collective. */
int redist__provide(struct redist__context *context, int order, size_t bytes,
                    void (*dispose)(struct redist__context *, struct redist__kept *),
                    struct redist__kept **kept);

/* Tags of messages, in blocks; the last tag of a block is for agreements in executions. No two living plans of a
 * context share any: a plan takes the first free block behind the one taken last, so that messages of a plan that is
 * gone meet no other for long; all ranks do so in the same order. The first block is for what is no plan's. */
enum { REDIST__MESSAGE_TAGS = 16, REDIST__AGREEMENT_TAG = REDIST__MESSAGE_TAGS, REDIST__TAGS };
enum { REDIST__COLLECTIVE_TAG, REDIST__NOTICE_TAG };

/* The first tag of a block; -1 and REDIST_ERR_LIMIT, with a message of `function`, if all are taken. */
int redist__tags_take(const char *function, struct redist__context *context, int *tag);
void redist__tags_give(struct redist__context *context, int tag);

/* For node.c, which makes contexts: one without communicators, NULL without memory; put on the list of all, with
 * one reference; made an attribute of the user's communicator, which holds that reference from then on; no longer
 * one, which gives it back; and the attribute, *context = NULL if there is none. */
struct redist__context *redist__context_allocate(MPI_Comm comm);
int redist__context_list(struct redist__context *context);
int redist__context_attach(MPI_Comm comm, struct redist__context *context);
void redist__context_detach(MPI_Comm comm);
int redist__context_attached(MPI_Comm comm, struct redist__context **context);

/* The contexts that are alive, with a reference to each, which the caller gives back; NULL at the end, NULL without
 * memory. */
struct redist__context **redist__contexts_hold(void);

/* ---------------------------------------------------------------- who is gone (peers.c) */

/*
 * A rank that is gone has ended, or has given up, since MPI or its device refuses its calls or somebody else is gone.
 * Whoever finds that out gives up too, in all that the process has begun with others, whatever the communicator: it
 * returns an error, and who waits for it elsewhere would wait in vain. So the news spreads along all communicators,
 * except those that share no process with the ones concerned. On a node it is read from the processes, to others it is
 * sent.
 */

/* Room for the processes of so many ranks, NULL if there is no memory. Finding those of the node's ranks, also if the
 * node is cut afterwards, is collective. They are watched when all ranks have found
 * theirs. */
struct redist__peers *redist__peers_allocate(int count);
int redist__peers_find(struct redist__context *context);
void redist__peers_watch(struct redist__context *context);

/* Whether they are watched: from then on, on all ranks at the same time, collective operations end when one is gone. */
int redist__peers_known(const struct redist__context *context);

/* REDIST_ERR_PEER if it is known that one is gone; and the same after a look, if the last one was a while ago, or at
 * once. A look takes some 10 us for each of them. */
int redist__peers_check(const struct redist__context *context);
int redist__peers_look(const struct redist__context *context);
int redist__peers_look_now(const struct redist__context *context);

/* A look by a thread that may not call MPI: it tells nobody. */
int redist__peers_see(const struct redist__context *context);

/* Takes the notices that have come: that a rank is gone, that a plan is over. Returns the code of MPI. */
int redist__peers_hear(const struct redist__context *context);

/* Completes a collective call of MPI on a communicator that is not watched, unless the process of one of its ranks has
 * ended, as far as other communicators show: REDIST_ERR_PEER then, if the call may be given up. Also REDIST_ERR_MPI. */
int redist__peers_complete(MPI_Comm comm, MPI_Request *request, int may_give_up);

/* This rank waits for its peers no more, nor they for it. */
void redist__give_up(const struct redist__context *context);

/* Receives what nobody has received, since some MPI libraries refuse to free a communicator with messages under way.
 * Returns whether nothing is left. */
int redist__peers_drain(MPI_Comm comm);

/*
 * The life of a plan. A rank whose execution failed alone may free the plan, and make no execution that its peers wait
 * for it in: then it sends all of them a notice that the plan is over, with the plan's number. They wait for no message
 * in its executions any more, nor in agreements that belong to these, which have a tag of their own: so what is left of
 * them meets no other collective operation.
 */
struct redist__life {
    struct redist__context *context;
    int tag;         /* first of the plan's tags */
    uint64_t number; /* the same on all ranks, no other plan of the context has it */
    struct redist__failure *failure; /* of its executions, which the notice breaks */
    _Atomic int is_over;
    struct redist__members *members;   /* NULL = it has none */
    struct redist__life *next, **link; /* in the list of those that are alive */
};

/* The end of a member of a plan: its number, the agreements that the peer which ended it had taken part in by then, and
 * that peer. */
struct redist__end {
    uint64_t member, agreements;
    int peer;
};

/*
 * The members of a plan that ended alone: operators that failed on a rank, which freed them. The rank goes on with the
 * plan, but takes no part in an agreement about such an operator, where others may wait for it: a notice calls them
 * off. What is left of that agreement meets no other one, since each member that ended changes the tag of those that
 * follow on the rank that ended it. An agreement that has begun with another tag is made again.
 */
struct redist__members {
    uint64_t agreements; /* how many came to their ends */
    int changes;         /* of the tag, when the one under way began */
    int count;           /* of members that ended, at most as many as there are tags for it */
    struct redist__end *ends;
};

/* Begins the life of a plan that has taken tags, the last ones that the context gave; and ends it, with notices if the
 * plan is broken and no peer has sent one. Not collective, but all ranks begin them in the same order. */
void redist__life_begin(struct redist__life *life, struct redist__context *context, int tag,
                        struct redist__failure *failure);
void redist__life_end(struct redist__life *life);

/* Whether a peer has ended it, as far as notices were heard. NULL = no plan. */
int redist__life_is_over(const struct redist__life *life);

/* The tag of an agreement under way; and REDIST_OK, or what ends it before its messages have come. */
int redist__life_tag(const struct redist__life *life);
int redist__life_check(const struct redist__life *life);

/* redist_agree_values_in and redist_all_lowest, in an execution of the plan. Collective. */
int redist__life_agree(struct redist__life *life, const char *function, int code, int nvalues,
                       const redist_shared_value values[]);
int redist__life_lowest(struct redist__life *life, int value, int *lowest);

/* The process of a rank of this machine; NULL = it is on another one. */
const struct redist__process *redist__peers_process(const struct redist__context *context,
                                                    int rank);

/* ---------------------------------------------------------------- waiting for peers (waiting.c) */

/* One pass of a loop that waits for peers, the poll-th: lets MPI make progress and other processes run. REDIST_OK,
 * REDIST_ERR_PEER if a peer is gone, or REDIST_ERR_MPI. */
int redist__pause(const struct redist__context *context, unsigned poll);

/* Gives the core to others, in a loop without a context. */
void redist__give_way(unsigned poll);

/* The same as redist__pause in a thread that may not call MPI, beside others. */
int redist__pause_beside(const struct redist__context *context, unsigned poll);

/* redist__pause in a loop that has to wait for one rank of the node, since that one may use memory of this rank: only
 * its own end is an error; or, if it has not begun what it would use it for (the counter is below the value), that it
 * has given up. */
int redist__pause_for(const struct redist__context *context, int rank,
                      const _Atomic uint64_t *begun, uint64_t value, unsigned poll);

/* ---------------------------------------------------------------- collective operations (collective.c) */

/* Bytes of a message at most, in memory that MPI may keep when an operation is given up. */
enum { REDIST__COLLECTIVE_BYTES = 2048 };

struct redist__scratch {
    _Alignas(16) char in[REDIST__COLLECTIVE_BYTES], out[REDIST__COLLECTIVE_BYTES];
    int in_use; /* by MPI, for ever */
};

/* The lowest value of all ranks of the context, and the bits that the values of all ranks have. Collective; like the
 * operations of redist_support.h they end when a peer is gone. */
int redist__find_lowest(const struct redist__context *context, int value, int *lowest);
int redist__find_common(const struct redist__context *context, int bits, int *common);

/* Sends some bytes to one rank of the context, and receives as many from another one. All ranks do so in an order in
 * which each message meets its receiver. */
int redist__send_receive(const struct redist__context *context, int to, const void *out, int from,
                         void *in, size_t bytes);

/* ---------------------------------------------------------------- failures of executions (agree.c) */

/* The first failure of a plan's executions on this rank. It stays: a plan whose execution failed is
 * broken, and each later execution fails too. But it still takes part in what its method does with the
 * peers, since nobody can know who has learnt of the failure: it moves no data, and the peers get to
 * know that. So no rank waits for another one in vain, and none takes incomplete data for complete. */
struct redist__failure {
    _Atomic int code;      /* REDIST_OK = there is none */
    char *_Atomic message; /* NULL = no memory for one */
};

/* Keeps the code, with this thread's message, if it is the first failure. Several threads may call it. */
void redist__failure_note(struct redist__failure *failure, int code);

/* The same for the result of an MPI call, which it returns. */
int redist__failure_note_mpi(struct redist__failure *failure, int result);

/* Notes what rank `peer` of a plan published: its code, 0 = that it failed at all. */
void redist__failure_note_peer(struct redist__failure *failure, int peer, int code);

static inline int redist__failed(const struct redist__failure *failure) {
    return atomic_load_explicit(&failure->code, memory_order_relaxed);
}

/* The code, whose message becomes this thread's. */
int redist__failure_report(const struct redist__failure *failure);

/* Makes it none, and frees its message. */
void redist__failure_forget(struct redist__failure *failure);

/* Makes an MPI call that peers depend on once more if it fails, and notes that it did. */
#define redist__try(failure, call)                                                                 \
    (redist__failure_note_mpi(failure, call) == MPI_SUCCESS                                        \
         ? MPI_SUCCESS                                                                             \
         : redist__failure_note_mpi(failure, call))

#endif
