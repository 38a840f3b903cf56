/* SPDX-License-Identifier: BSD-3-Clause */
/* What the library keeps for each communicator of the user. */
#ifndef REDIST__CONTEXT_H
#define REDIST__CONTEXT_H

#include "error.h"
#include "tags.h"

#include <stdatomic.h>

struct redist__grid_entry;
struct redist__flag_pool;
struct redist__exchanges;
struct redist__peers;

struct redist__context {
    MPI_Comm comm; /* private, of the same ranks; returns errors */
    MPI_Comm node; /* its ranks that share memory with this one */
    int rank, size;
    int node_rank, node_size;
    int *node_ranks;      /* rank in node of each rank in comm, -1 elsewhere */
    int nnodes, *node_of; /* nodes, numbered by their lowest ranks, and that of each rank */
    int *nodes_sorted;    /* the same, in ascending order */
    struct redist__grid_entry *grids;     /* grids made from this communicator, by grid.c */
    unsigned long long released_grids;    /* so far, of entries that became unused */
    struct redist__peers *peers;          /* the processes of the node, by waiting.c */
    struct redist__flag_pool *flag_pools; /* shared flags, by flags.c, */
    void (*free_flags)(
        struct redist__context *context); /* which frees them; NULL = there are none */
    struct redist__exchanges *exchanges;  /* plans of redist_exchange, by exchange.c */
    void *attached;                       /* of a method's own library; NULL = nothing */
    void (*detach)(void *attached);       /* frees that */
    struct redist__tags tags;             /* of messages of its plans */
    int crowded;                          /* more processes than cores where this one runs */
    uint64_t number;                      /* the same on all its ranks, no other context has it */
    _Atomic int references;               /* the user's communicator, plans, arrays, grids */
    struct redist__context *older;        /* list of all contexts */
};

/* The context of a communicator, made at the first call; takes a reference. Collective. */
int redist__context_get(MPI_Comm comm, struct redist__context **context);

/* The context whose communicator this is, or that the user made of it; NULL if there is none. Takes no
 * reference. Not collective. */
struct redist__context *redist__context_find(MPI_Comm comm);

/* Gives a reference back; the last one frees the communicators. Collective. */
void redist__context_release(struct redist__context *context);

#endif
