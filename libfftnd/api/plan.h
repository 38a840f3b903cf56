/* SPDX-License-Identifier: BSD-3-Clause */
/* A plan, for the files that users call. */
#ifndef FFTND__PLAN_H
#define FFTND__PLAN_H

#include "../engine/engine.h"
#include "check.h"

#include <pthread.h>

/* A transform that fftnd_start began: a thread runs it, or fftnd_wait will. */
struct fftnd__started {
    int is_started, has_thread;
    int direction;
    void *in, *out;
    pthread_t thread;
};

struct fftnd_plan {
    redist_closer closer;
    int closed; /* in MPI_Finalize: the engine is gone */
    struct fftnd__engine engine;
    redist_place place; /* of the device that it works on */
    struct fftnd__started started;
    char *method, *wisdom_file;     /* own copies of the user's options */
    int operators;                  /* of this plan, that are not freed */
    struct fftnd__engine *applying; /* theirs, a list */
    long long operators_made;       /* so far */
    int operators_failed;           /* the code of the first one that was freed after a failure */
};

/* Whether the plan is alive, and no transform under way: what that changes is not for others until it is complete. No
 * communication. */
int fftnd__check_idle(const char *function, const fftnd_plan *plan);

/* Enters the plan's place. That its context is gone is a failure of the plan and its operators, which is returned. To
 * be left by redist_leave. */
int fftnd__enter(fftnd_plan *plan, redist_visit *visit);

/* The place for freeing what the plan has: a stream without executions under way may be gone. */
redist_place fftnd__place_of_rest(const fftnd_plan *plan);

/* The arrays of an execution, and the work space. Of this rank alone. */
int fftnd__check_execution(const char *function, const struct fftnd__engine *engine,
                           const struct fftnd__array arrays[2]);

/* Whether peers can map an array of it, if they are to; as redist_check_mapped. */
int fftnd__check_mapped(const char *function, const struct fftnd__engine *engine,
                        const struct fftnd__array *array);

/* Whether the arguments are in order on all ranks, and the engine is not broken; what only this rank says may do. With
 * skip_agreement a broken one takes its peers through their exchanges. */
int fftnd__agree_to_run(const char *function, const struct fftnd__engine *engine, int code);

/* The layout of an array of a side, of `bytes` bytes. */
fftnd_layout fftnd__layout_of(const struct fftnd__transform *transform,
                              const struct fftnd__step *array, enum fftnd_side side, size_t bytes);

#endif
