/* SPDX-License-Identifier: BSD-3-Clause */
/* Which configuration a transform takes: dictated, remembered, measured or guessed. */
#ifndef FFTND__PLANNER_H
#define FFTND__PLANNER_H

#include "../program/configuration.h"
#include "redist_model.h"

/* Chooses by the request's effort, among what it leaves open, which may be the ranks of the chain: those are in the
 * request afterwards. *remembered: in: whether what was measured before may decide; out: whether it has. Collective. */
int fftnd__planner_choose(struct fftnd__request *request,
                          struct fftnd__configuration *configuration, int *remembered);

/* Writes the key of what is remembered: everything that decides how fast a configuration is. */
int fftnd__planner_key(const struct fftnd__request *request, char key[FFTND__CONFIGURATION_BYTES]);

/* ---------------------------------------------------------------- wire.c: the format of the exchanges */

/* Measures the format that the request wants, or chooses one by its tolerance; settings.wire has it afterwards, or
 * REDIST_WIRE_SAME, with the configuration of plans that want none. error: of a round trip, as
 * fftnd_plan_info.wire_error. recalls: what was measured before may decide; *remembered becomes 1 if it has.
 * Collective. */
int fftnd__wire_choose(struct fftnd__request *request, struct fftnd__configuration *configuration,
                       int recalls, double error[2], int *remembered);

/* ---------------------------------------------------------------- ranks.c: chains on some of the ranks */

/* Makes the request for a chain on the first `ranks` ranks, 0 = all: the sides become the boxes that ranks have on the
 * guessed grid of all. Collective. REDIST_ERR_MEMORY. */
int fftnd__ranks_take(const struct fftnd__request *request, int ranks, struct fftnd__request *own);

/* ---------------------------------------------------------------- grids.c: process grids */

enum { FFTND__MOST_GRIDS = 256 };

struct fftnd__grid {
    int ndims, dims[REDIST_MAX_NDIMS];
    uint64_t bytes;     /* that a rank sends in one direction, at most */
    uint64_t far_bytes; /* that ranks, or a sample of them, send to other nodes */
};

struct fftnd__grids {
    int count;
    struct fftnd__grid list[FFTND__MOST_GRIDS];
};

/* Sets order and grid: as the user wants, and what is left open by the smallest number of grid dimensions
 * that leaves no rank without modes. Over several nodes it is the grid with which a rank sends least to other
 * nodes, unless a dimension exceeded the shortest axis. The same on all ranks. */
void fftnd__grids_guess(const struct fftnd__request *request,
                        struct fftnd__configuration *configuration);

/* Lists the grids that the user left open, for axes in the order of a configuration: any number of dimensions, any
 * factors. First are those on which ranks send the fewest bytes to other nodes, among these the fewest in all; those
 * with more than twice the fewest are left out. Collective, the same on all ranks. */
int fftnd__grids_find(const struct fftnd__request *request,
                      const struct fftnd__configuration *configuration, int verbose,
                      struct fftnd__grids *grids);

/* ---------------------------------------------------------------- orders.c: what a chain sends */

/* Whether grid dimension `dim` exchanges at all. */
int fftnd__exchanges(const struct fftnd__request *request,
                     const struct fftnd__configuration *configuration, int dim);

/* Bytes that a rank sends in one direction, to all others or, with the nodes of all ranks, to those on other nodes.
 * They are exact for balanced parts, and the same wherever they are counted. */
uint64_t fftnd__sent_bytes(const struct fftnd__request *request,
                           const struct fftnd__configuration *configuration, int rank,
                           const int node_of[]);

/* Bytes of the largest local array before the exchange of grid dimension `dim`. */
double fftnd__local_bytes(const struct fftnd__request *request,
                          const struct fftnd__configuration *configuration, int dim);

/* Returns nonzero if the grid leaves no rank without elements in any link. */
int fftnd__has_room(const struct fftnd__request *request,
                    const struct fftnd__configuration *configuration);

/* Takes the user's order, or, where each axis has a kind of its own or points are dropped, one that sends least on this
 * grid; else the order stays. `is_near`: all arrays are in the host memory of one node. */
void fftnd__order_guess(const struct fftnd__request *request,
                        struct fftnd__configuration *configuration, int is_near);

/* ---------------------------------------------------------------- predictions */

/* Seconds of the exchanges in one direction, by a communication model (Egger, section 2.5.3). */
double fftnd__predict(const redist_model *model, const struct fftnd__request *request,
                      const struct fftnd__configuration *configuration);

/* ---------------------------------------------------------------- candidates.c: what is tried */

struct fftnd__candidates {
    const struct fftnd__request *request;
    size_t cache_bytes; /* the smallest second-level cache of all ranks */
    size_t last_bytes;  /* the smallest share of a last-level cache */
    int verbose;
    struct fftnd__configuration guess;
    int nnodes;     /* of the user's communicator */
    int is_open;    /* others than the guess are tried */
    int kind, next; /* how far they are: one number of a configuration after the other */
    struct fftnd__grids grids;
};

/* Makes the guess: what estimating takes, and where measuring starts. Collective. */
int fftnd__candidates_init(struct fftnd__candidates *candidates,
                           const struct fftnd__request *request, int verbose);

/* The next variation of the best configuration so far, which may be that one again. Returns 0 when there are
 * no more. Collective, the same on all ranks. */
int fftnd__candidates_next(struct fftnd__candidates *candidates,
                           const struct fftnd__configuration *best,
                           struct fftnd__configuration *candidate);

#endif
