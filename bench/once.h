/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges without a plan: redist_exchange, what the paper's Listings 2 and 3 do, written by hand, and the messages of
 * an exchange alone. */
#ifndef BENCH_ONCE_H
#define BENCH_ONCE_H

#include "pattern.h"

typedef struct bench_once {
    MPI_Comm comm; /* the one-dimensional Cartesian grid's subgroup */
    int nranks;
    MPI_Datatype type;
    int axes[2];
    const bench_block *blocks[2];
    void *arrays[2];
    const bench_space *space;
    char *messages[2]; /* sent and received, in memory of the host; NULL until they are needed */
} bench_once;

/* An exchange without a plan; it cannot fail without ending the program. Collective. */
typedef void bench_once_run(const bench_once *once, int direction);

/* The function of a row's name: "one-shot", "listing", "messages" or "messages-in-pieces"; NULL for others. */
bench_once_run *bench_once_named(const char *name);

/* Allocates what the messages alone need. */
void bench_once_prepare(bench_once *once, const char *name);

/* Whether a row leaves the arrays as they are. */
int bench_once_is_bound(const char *name);

/* Makes the communicator; collective. */
void bench_once_begin(bench_once *once);
void bench_once_end(bench_once *once);

#endif
