/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's plan, for the files of the public functions. */
#ifndef FFTND__PLAN_H
#define FFTND__PLAN_H

#include "../engine/engine.h"
#include "check.h"

#include <pthread.h>

/* A transform that fftnd_start began, run by a thread or by fftnd_wait. */
struct fftnd__started {
    int is_started, has_thread;
    int direction;
    void *in, *out;
    pthread_t thread;
};

/* Keeping a plan after the user has freed it (kept.c). */
struct fftnd__keeping {
    unsigned long long number; /* among such plans of the communicator; 0 = it is not kept */
    MPI_Comm comm;
    redist_life *life; /* for the agreement about it, NULL = as the engine's */
    char *key;         /* the values of all arguments */
    size_t key_bytes;
    long long bytes; /* that it holds, the most of all ranks */
    int is_mapped;   /* the option mapped_arrays as the plan was made */
    int is_kept;     /* the user has freed the plan */
};

struct fftnd_plan {
    redist_closer closer;
    int closed; /* in MPI_Finalize: the engine is gone */
    struct fftnd__engine engine;
    redist_place place; /* of the device that it works on */
    struct fftnd__started started;
    double wire_error[2];           /* of a round trip, when the plan was made */
    char *method, *wisdom_file;     /* own copies of the user's options */
    int operators;                  /* of this plan, not freed yet */
    struct fftnd__engine *applying; /* theirs, a list */
    long long operators_made;       /* so far */
    int operators_failed;           /* code of the first one freed after a failure */
    struct fftnd__keeping keeping;
    double planning_seconds, choice_seconds, engine_seconds; /* in which it was made */
};

/* Makes a plan of arguments without `options`, `function` and `comm`, as fftnd_plan_create. Collective. */
int fftnd__plan_create(struct fftnd__arguments *arguments, const fftnd_options *options,
                       fftnd_plan **plan);

/* Destroy a plan; or its engine alone, with all that refers to the communicator. Collective. */
void fftnd__plan_destroy(fftnd_plan *plan);
void fftnd__plan_empty(fftnd_plan *plan);

/* Check that the plan is alive; and idle, too: a transform under way may change it in a thread. Not collective.
 * REDIST_ERR_STATE. */
int fftnd__check_alive(const char *function, const fftnd_plan *plan);
int fftnd__check_idle(const char *function, const fftnd_plan *plan);

/* Enters the plan's place, until redist_leave. If its context is gone, plan and operators fail with the returned
 * code. */
int fftnd__enter(fftnd_plan *plan, redist_visit *visit);

/* Returns the place for freeing the plan: without the user's stream, which may be gone, unless executions may be in
 * it. */
redist_place fftnd__place_of_rest(const fftnd_plan *plan);

/* Completes the transform that is under way, as fftnd_wait. */
int fftnd__complete(fftnd_plan *plan);

/* Checks the arrays of an execution and the work space. Not collective. */
int fftnd__check_execution(const char *function, const struct fftnd__engine *engine,
                           const struct fftnd__array arrays[2]);

/* Checks that peers can map an array, if the plan needs that; as redist_check_mapped. */
int fftnd__check_mapped(const char *function, const struct fftnd__engine *engine,
                        const struct fftnd__array *array);

/* Agrees that no rank has failed, this one with `code`, and no engine is broken. Collective, except with
 * skip_agreement: then a broken engine still takes its peers through their exchanges. */
int fftnd__agree_to_run(const char *function, const struct fftnd__engine *engine, int code);

/* Returns the layout of an array of a side, `bytes` long. */
fftnd_layout fftnd__layout_of(const struct fftnd__transform *transform,
                              const struct fftnd__step *array, enum fftnd_side side, size_t bytes);

/* ---------------------------------------------------------------- kept.c: plans that the user has freed */

/* Takes the kept plan that matches the arguments on all ranks; *plan is NULL without one. `code`: the result of this
 * rank's checks. Collective. */
int fftnd__kept_take(const struct fftnd__arguments *arguments, int code, fftnd_plan **plan);

/* Prepares a new plan for being kept, if its options say so. Collective. */
int fftnd__kept_prepare(fftnd_plan *plan, const struct fftnd__arguments *arguments);

/* Keeps a plan that the user frees; `code`: of its last transform. Returns 0 if the caller is to destroy the plan.
 * Collective, but a rank that has seen a failure does not wait for the others. */
int fftnd__kept_put(fftnd_plan *plan, int code);

#endif
