/* SPDX-License-Identifier: BSD-3-Clause */
/* A transform in one configuration: programs, arrays and exchanges of both directions. */
#ifndef FFTND__ENGINE_H
#define FFTND__ENGINE_H

#include "../run/stage.h"

/* Kinds of programs. */
enum fftnd__built { FFTND__NOT_BUILT, FFTND__STEPWISE, FFTND__FUSED };

struct fftnd__replay;

/* Graphs of a device for executions with the same arrays. */
struct fftnd__replays {
    struct fftnd__replay *list; /* NULL before the first */
    long long runs;
};

/* Memory for arrays of the work space, of one engine or of several that run one at a time (work.c). */
struct fftnd__work {
    void *memory;
    size_t bytes; /* allocated, at least those in use */
    int number;   /* of the allocation, if it may wait for another plan */
    int users;    /* arrays of engines that are there */
    struct fftnd__work *next;
};

enum { FFTND__WORK_ARRAYS = 3 }; /* two arrays, scratch of the serial library */

struct fftnd__engine {
    struct fftnd__transform transform;
    struct fftnd__program programs[2]; /* forward, backward */
    long double scales[2];             /* of their results */
    int first, last; /* directions with a program: one with an operator, else both */
    enum fftnd__built built;
    int is_planned;                /* the stages of the programs are planned */
    int may_fuse;                  /* the shapes allow fused programs */
    int takes_turns;               /* segments share work space that is less than their array */
    int needs_arrays;              /* the methods cannot do that */
    int is_fused;                  /* fused programs are in use, with their exchanges */
    struct fftnd__failure failure; /* of the executions */
    redist_life *life;             /* of the plan, NULL = its executions make no agreement */
    double seconds[2];             /* serial transforms, exchanges */
    double allocation_seconds, connection_seconds; /* of planning */
    long long executions;
    struct fftnd__replays replays;
    redist_phases past;   /* of freed exchanges */
    size_t largest_bytes; /* of the arrays of any step */
    size_t tile_bytes;    /* of tiles in the caches, for all stages, */
    void *tiles;          /* and their memory, */
    size_t tile_room;     /* of so many bytes */
    /* The arrays of the work space are in these allocations, or in memory of the user (else NULL). */
    size_t work_bytes[FFTND__WORK_ARRAYS];
    void *work[FFTND__WORK_ARRAYS];
    struct fftnd__work *held[FFTND__WORK_ARRAYS];
    void *workspace;
    int has_workspace;
    struct fftnd__work *works;    /* in the plan's engine: all allocations, of operators too, */
    struct fftnd__work own_work;  /* and the description of the first one */
    struct fftnd__engine *lender; /* the plan's engine, where operators share work space */
    int works_differ;             /* ranks may have other allocations */
    int owns_resources;           /* else grid, threads and device are another engine's */
    char method[64];
    struct fftnd__engine *next; /* of the plan's operators */
};

/* Makes an engine, without fusion if the shapes do not allow it, which is an error if the user insists. Collective on
 * the request's communicator. To be destroyed after a failure, too. */
int fftnd__engine_create(struct fftnd__engine *engine, const struct fftnd__request *request,
                         const struct fftnd__configuration *configuration);
void fftnd__engine_destroy(struct fftnd__engine *engine);

/* Makes an engine that transforms in a direction, applies an operator, and transforms back. Uses grid, threads, device
 * and work space of the plan's engine, which must outlive it, and not run at the same time. As fftnd__engine_create. */
int fftnd__engine_apply(struct fftnd__engine *engine, struct fftnd__engine *plan,
                        const struct fftnd__operator *op, int direction);

/* Plans the exchanges with the user's work space. Collective. */
int fftnd__engine_set_workspace(struct fftnd__engine *engine, void *workspace);

/* Turns an engine for mapped arrays into one for plain memory, with work space of its own. Collective. */
int fftnd__engine_take_plain(struct fftnd__engine *engine);

/* The array with which a direction begins, and its bytes. */
const struct fftnd__step *fftnd__engine_input(const struct fftnd__engine *engine, int direction);
size_t fftnd__engine_bytes(const struct fftnd__engine *engine, int direction);

/* The array with which a direction ends; bytes that the user allocates for either. */
const struct fftnd__step *fftnd__engine_output(const struct fftnd__engine *engine, int direction);
size_t fftnd__engine_array_bytes(const struct fftnd__engine *engine,
                                 const struct fftnd__step *array);

/* Bytes of the arrays of the work space. */
size_t fftnd__engine_work(const struct fftnd__engine *engine);

/* Bytes of the allocations listed in this engine that have arrays of it, or that have none. */
size_t fftnd__work_allocated(const struct fftnd__engine *engine, int is_held);

/* Bytes that the engine holds on this rank: its own work space, tiles, and buffers of its exchanges. */
size_t fftnd__engine_memory(const struct fftnd__engine *engine);

/* Returns whether this rank has an exchange in a format of its own. */
int fftnd__engine_is_narrow(const struct fftnd__engine *engine);

int fftnd__engine_exchanges(const struct fftnd__engine *engine);

/* Bytes that this rank sends to others in a forward transform. */
size_t fftnd__engine_sends(const struct fftnd__engine *engine);

/* Bytes moved to a device and back by a forward transform. */
size_t fftnd__engine_transfers(const struct fftnd__engine *engine);

/* Sums the times of all exchanges, freed ones among them. */
redist_phases fftnd__engine_exchange_phases(const struct fftnd__engine *engine);

/* Executes a direction. Collective. */
int fftnd__engine_run(struct fftnd__engine *engine, int direction, void *in, void *out);

/* Returns the first failure that is known by now. */
int fftnd__engine_query(struct fftnd__engine *engine);

/* Leaves the exchanges of an asynchronous engine (redist_plan_leave), all of them if one has failed, before the first
 * is freed. Not collective. */
void fftnd__engine_leave(struct fftnd__engine *engine);

/* Returns nonzero for an operator that breaks its plan by a failure, and the other way round: executions in a stream of
 * which one has failed may still write to the work space that they share. */
int fftnd__fails_with_plan(const struct fftnd__engine *engine);

/* Number of partitions of exchanges whose arrivals begin a transform; 1 = none has any. */
int fftnd__engine_partitions(const struct fftnd__engine *engine);

#endif
