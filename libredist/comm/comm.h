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

/* For functions whose names mean nothing to the user. */
#define redist__fail(code, ...) redist_fail_in("libredist", code, __VA_ARGS__)

/* Agrees whether all ranks have got memory; "no memory %s" if one has not. Collective. */
int redist__agree_memory(MPI_Comm comm, const void *memory, const char *what);

/* Keeps the first failure of several MPI calls in *code; returns the result. */
int redist__note_mpi(int *code, int result);

/* ---------------------------------------------------------------- processes (process.c) */

/* A process, in words that every process of the machine understands. Process numbers repeat: containers have
 * their own, and the system uses them again. Unknown parts are 0. */
struct redist__process {
    uint64_t space;  /* the namespace that the number belongs to */
    uint64_t number; /* of the process in that namespace */
    uint64_t start;  /* when it started, in ticks since the machine did */
    int64_t notice;  /* the descriptor by which it gives notice to others, -1 = there is none */
};

struct redist__process redist__process_self(void);
int redist__process_is_same(const struct redist__process *a, const struct redist__process *b);

/* A number that no process of this machine has given before, also where containers number theirs alike. */
uint64_t redist__process_key(void);

/* Nonzero if the process has ended, or is about to, or has given up the context with this number (0 = none); 0 also
 * where that cannot be seen from here. */
int redist__process_is_gone(const struct redist__process *process, uint64_t context);

/* Gives notice that this process takes no more part in what the ranks of a context do together: MPI refuses its calls.
 * Any thread. */
void redist__process_give_up(uint64_t context);

/* Whether more processes than there are cores may run on the cores of this one. Processes outside of the
 * communicator count too, as far as they can be seen. Collective on the communicator, whose ranks share a node. */
int redist__cores_count(MPI_Comm node, int *crowded);

/* ---------------------------------------------------------------- contexts (context.c, node.c) */

struct redist__context;
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
    struct redist__peers *peers; /* the processes of the node, by waiting.c */
    struct redist__kept *kept[REDIST__KEPT_ORDERS];
    int nblocks, next_block;       /* of tags that MPI allows; where the search for one begins */
    int taken_blocks;              /* how many are taken, */
    uint64_t *taken;               /* and a bit for each block */
    int crowded;                   /* more processes than cores where this one runs */
    uint64_t number;               /* the same on all its ranks, no other context has it */
    _Atomic int references;        /* the user's communicator, plans, arrays, grids */
    struct redist__context *older; /* list of all contexts */
};

/* The context of a communicator, made at the first call; takes a reference. Collective. */
int redist__context_get(MPI_Comm comm, struct redist__context **context);

/* The context whose communicator this is, or that was made for it; NULL if there is none. Takes no
 * reference. Not collective. */
struct redist__context *redist__context_find(MPI_Comm comm);

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

/* Tags of messages, in blocks. No two living plans of a context share any: a plan takes the first free block
 * behind the one taken last, so that messages of a plan that is gone meet no other for long; all ranks do so in
 * the same order. The first block is for what is no plan's. */
enum { REDIST__TAGS = 16, REDIST__VOTE_TAG = 0, REDIST__REPORT_TAG, REDIST__GIVE_UP_TAG };

/* The first tag of a block; -1 if all are taken. */
int redist__tags_take(struct redist__context *context);
void redist__tags_give(struct redist__context *context, int tag);

/* For node.c, which makes contexts: one without communicators, NULL without memory; put on the list of all, with
 * one reference; made an attribute of the user's communicator, which holds that reference from then on; no longer
 * one, which gives it back; and the attribute, *context = NULL if there is none. */
struct redist__context *redist__context_allocate(MPI_Comm comm);
int redist__context_list(struct redist__context *context);
int redist__context_attach(MPI_Comm comm, struct redist__context *context);
void redist__context_detach(MPI_Comm comm);
int redist__context_attached(MPI_Comm comm, struct redist__context **context);

/* ---------------------------------------------------------------- waiting for peers (waiting.c) */

/* One pass of a loop that waits for peers, the poll-th: lets MPI make progress and other processes run. REDIST_OK,
 * REDIST_ERR_PEER if a process of the node is gone, or REDIST_ERR_MPI. */
int redist__pause(const struct redist__context *context, unsigned poll);

/* The same in a thread that may not call MPI, beside others. */
int redist__pause_beside(const struct redist__context *context, unsigned poll);

/* redist__pause in a loop that has to wait for one rank of the node, since that one may use memory of this rank: only
 * its own end is an error; or, if it has not begun what it would use it for, that it has given up. */
int redist__pause_for(const struct redist__context *context, int node_rank, int has_begun,
                      unsigned poll);

/* Waits until a counter has reached `value`. Codes as above. */
int redist__wait_for(const _Atomic uint64_t *counter, uint64_t value,
                     const struct redist__context *context);

/* The processes of a context's node, to see later whether they are still there. Room for so many, NULL if there
 * is no memory; finding them is collective on the node, whatever has failed. */
struct redist__peers *redist__peers_allocate(int count);
int redist__peers_find(struct redist__context *context);
void redist__peers_free(struct redist__context *context);

/* The lowest value of all ranks, and the bits that the values of all ranks have, by a reduction that ends when a peer
 * is gone. Collective; the ranks of a context use it from the same moment on, when redist__peers_known is nonzero. */
int redist__find_lowest(const struct redist__context *context, int value, int *lowest);
int redist__find_common(const struct redist__context *context, int bits, int *common);
int redist__peers_known(const struct redist__context *context);

/* Nonzero if one of them is gone, or has given up: MPI's collective calls would wait for it. Looks, in some 10 us for
 * each of them. */
int redist__peers_gone(const struct redist__context *context);

/* REDIST_ERR_PEER if that is known. */
int redist__peers_check(const struct redist__context *context);

/* This rank waits for its peers no more, nor they for it: MPI refuses its calls, or a peer is gone. From now on all
 * that the ranks of the context do together fails. Peers learn of it while they wait, as of a process that is gone:
 * those on this node from the process, others by a message of one that MPI still serves. */
void redist__give_up(const struct redist__context *context);

/* Sends what one rank has to all others, in calls that end when a peer is gone. Collective. */
int redist__report(const struct redist__context *context, int root, void *report, size_t bytes);
enum { REDIST__REPORT_BYTES = sizeof(int) + REDIST__MESSAGE_BYTES };

/* ---------------------------------------------------------------- failures of executions (agree.c) */

/* The first failure of a plan's executions on this rank. It stays: a plan whose execution failed is
 * broken, and each later execution fails too. But it still takes part in what its method does with the
 * peers, since nobody can know who has learnt of the failure: it moves no data, and the peers get to
 * know that. So no rank waits for another one in vain, and none takes incomplete data for complete. */
struct redist__failure {
    _Atomic int code; /* REDIST_OK = there is none */
    char message[REDIST__MESSAGE_BYTES];
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

/* Lets all ranks know whether one of them has failed. Returns whether they do. Collective. */
int redist__failure_agree(struct redist__failure *failure, const struct redist__context *context);

/* Makes an MPI call that peers depend on once more if it fails, and notes that it did. */
#define redist__try(failure, call)                                                                 \
    (redist__failure_note_mpi(failure, call) == MPI_SUCCESS                                        \
         ? MPI_SUCCESS                                                                             \
         : redist__failure_note_mpi(failure, call))

#endif
