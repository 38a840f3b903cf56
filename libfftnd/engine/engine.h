/* SPDX-License-Identifier: BSD-3-Clause */
/* A transform that works in one way out of several: programs, arrays and exchanges of both directions. */
#ifndef FFTND__ENGINE_H
#define FFTND__ENGINE_H

#include "../program/configuration.h"
#include "replay.h"

/* What the programs of an engine are built for. */
enum fftnd__built { FFTND__NOT_BUILT, FFTND__STEPWISE, FFTND__FUSED };

struct fftnd__engine {
    struct fftnd__transform transform;
    struct fftnd__program programs[2]; /* forward, backward */
    long double scales[2];             /* the factors of their results */
    int applies; /* with an operator: the first direction, the only one that has a program */
    enum fftnd__built built;
    int is_planned;                /* the stages of both programs are */
    int may_fuse;                  /* fused programs suit the shapes */
    int is_fused;                  /* they are in use, with their exchanges */
    struct fftnd__failure failure; /* of the executions */
    redist_life *life;             /* of the plan, NULL = its executions make no agreement */
    double seconds[2];             /* serial transforms, exchanges */
    long long executions;
    struct fftnd__replays replays;
    redist_phases past;   /* of exchanges that are gone */
    size_t largest_bytes; /* of the arrays of any step */
    size_t work_bytes[3]; /* two arrays, scratch of the serial library */
    size_t tile_bytes;    /* of tiles in the caches, which all stages share, */
    void *tiles;          /* and their memory */
    char *workspace;
    int has_workspace, owns_workspace;
    char method[64];
    struct fftnd__engine *next; /* of the plan's operators */
};

/* Makes an engine of the request's transform. A configuration that the shapes do not allow (`fused`) is not
 * taken, unless the user insists. Collective on the request's communicator; what is there after a
 * failure goes with fftnd__engine_destroy. */
int fftnd__engine_create(struct fftnd__engine *engine, const struct fftnd__request *request,
                         const struct fftnd__configuration *configuration);
void fftnd__engine_destroy(struct fftnd__engine *engine);

/* Makes one of a plan's that applies an operator after transforms in a direction, and transforms back. It shares what
 * the plan's has, which outlives it. The same. */
int fftnd__engine_apply(struct fftnd__engine *engine, const struct fftnd__engine *plan,
                        const struct fftnd__operator *op, int direction);

/* Plans the exchanges with the user's work space. Collective. */
int fftnd__engine_set_workspace(struct fftnd__engine *engine, void *workspace);

/* Makes one for mapped arrays one for arrays of plain memory, with work space of its own. Collective. */
int fftnd__engine_take_plain(struct fftnd__engine *engine);

/* The array that a direction begins with, and what the user allocates for it. */
const struct fftnd__step *fftnd__engine_input(const struct fftnd__engine *engine, int direction);
size_t fftnd__engine_bytes(const struct fftnd__engine *engine, int direction);

/* The array that it ends with; what the user allocates for one of these. */
const struct fftnd__step *fftnd__engine_output(const struct fftnd__engine *engine, int direction);
size_t fftnd__engine_array_bytes(const struct fftnd__engine *engine,
                                 const struct fftnd__step *array);

/* Bytes of work space. */
size_t fftnd__engine_work(const struct fftnd__engine *engine);

int fftnd__engine_exchanges(const struct fftnd__engine *engine);

/* Bytes that go to a device and back for a forward transform. */
size_t fftnd__engine_transfers(const struct fftnd__engine *engine);

/* Where the time went. */
void fftnd__engine_phases(const struct fftnd__engine *engine, fftnd_phases *phases);

/* The sum of all exchanges that there are and were. */
redist_phases fftnd__engine_exchange_phases(const struct fftnd__engine *engine);

/* Transforms. Collective. */
int fftnd__engine_run(struct fftnd__engine *engine, int direction, void *in, void *out);

/* The first failure that is known by now. */
int fftnd__engine_query(struct fftnd__engine *engine);

/* Partitions with which a transform begins as they arrive, 1 = none does. */
int fftnd__engine_partitions(const struct fftnd__engine *engine);

#endif
