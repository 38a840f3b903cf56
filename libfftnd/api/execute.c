/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of a plan, and the checks before them. */
#include "plan.h"

/* ---------------------------------------------------------------- the plan */

int fftnd__check_alive(const char *function, const fftnd_plan *plan) {
    if (!redist_handle_is(plan, REDIST_HANDLE_FFT) || plan->keeping.is_kept)
        return redist_fail_in(function, REDIST_ERR_STATE, "plan is %s",
                              plan == NULL ? "NULL" : "not a plan, or already freed");
    return redist_check_comm_in(function, plan->engine.transform.comm);
}

int fftnd__check_idle(const char *function, const fftnd_plan *plan) {
    REDIST_TRY(fftnd__check_alive(function, plan));
    if (plan->started.is_started)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "a transform of the plan is under way: complete it with fftnd_wait");
    return REDIST_OK;
}

int fftnd__enter(fftnd_plan *plan, redist_visit *visit) {
    int code = redist_enter(&plan->place, visit);
    fftnd__failure_note(&plan->engine.failure, code);
    for (struct fftnd__engine *at = plan->applying; at != NULL && code != REDIST_OK; at = at->next)
        fftnd__failure_note(&at->failure, code);
    return code;
}

redist_place fftnd__place_of_rest(const fftnd_plan *plan) {
    redist_place place = plan->place;
    place.has_stream = place.has_stream && plan->engine.transform.settings.asynchronous;
    return place;
}

/* ---------------------------------------------------------------- execution */

int fftnd__check_mapped(const char *function, const struct fftnd__engine *engine,
                        const struct fftnd__array *array) {
    const struct fftnd__transform *transform = &engine->transform;
    if (!transform->settings.mapped_arrays || array->bytes == 0)
        return REDIST_OK;
    return redist_check_mapped(function, array->name, "options->mapped_arrays was set",
                               transform->library->space, array->data, array->bytes,
                               engine->life != NULL);
}

int fftnd__agree_to_run(const char *function, const struct fftnd__engine *engine, int code) {
    int nranks = 1;
    if (engine->life == NULL)
        return code;
    if (code == REDIST_OK)
        code = fftnd__failure_report(&engine->failure);
    MPI_Comm_size(engine->transform.comm, &nranks);
    return nranks == 1 ? code : redist_life_agree(engine->life, 0, function, code, 0, NULL);
}

/* Checks that the library can use an array. With skip_agreement failures of a driver, which may be this rank's alone,
 * are left to the execution. */
static int check_place(const char *function, const struct fftnd__engine *engine,
                       const struct fftnd__array *array) {
    const struct fftnd__transform *transform = &engine->transform;
    int code = transform->library->check(function, array->name, array->data,
                                         fftnd__element_bytes(transform, 0));
    return engine->life == NULL && code != REDIST_ERR_ARGUMENT ? REDIST_OK : code;
}

int fftnd__check_execution(const char *function, const struct fftnd__engine *engine,
                           const struct fftnd__array arrays[2]) {
    const struct fftnd__transform *transform = &engine->transform;
    int checks = transform->library->check != NULL && !redist_place_is_gone();
    REDIST_TRY(fftnd__check_arrays(function, arrays, transform->settings.in_place));
    if (transform->space->asynchronous)
        REDIST_TRY(redist_check_capture(function, redist_place_entered(),
                                        transform->settings.asynchronous));
    for (int i = 0; i < 2 && checks; i++)
        if (arrays[i].bytes != 0)
            REDIST_TRY(check_place(function, engine, &arrays[i]));
    for (int i = 0; i < 2; i++)
        REDIST_TRY(fftnd__check_mapped(function, engine, &arrays[i]));
    if (!engine->has_workspace)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has no work space: call fftnd_plan_set_workspace");
    return REDIST_OK;
}

/* Checks the arguments of an execution. Not collective. */
static int check_arguments(const char *function, const fftnd_plan *plan, int direction,
                           const void *in, const void *out) {
    static const char *const names[2] = {"physical", "spectral"};
    REDIST_TRY(redist_check_enum_in(function, "direction", redist_direction_name, direction));
    const struct fftnd__array arrays[2] = {
        {names[direction], in, fftnd__engine_bytes(&plan->engine, direction)},
        {names[!direction], out, fftnd__engine_bytes(&plan->engine, !direction)}};
    return fftnd__check_execution(function, &plan->engine, arrays);
}

/* Agrees that all ranks may run. A plan of mapped arrays that got plain ones becomes one for these. Collective. */
static int prepare(const char *function, fftnd_plan *plan, int direction, const void *in,
                   const void *out) {
    struct fftnd__engine *engine = &plan->engine;
    int code =
        fftnd__agree_to_run(function, engine, check_arguments(function, plan, direction, in, out));
    if (code != REDIST_TAKES_PLAIN)
        return code;
    REDIST_TRY(fftnd__engine_take_plain(engine));
    return fftnd__agree_to_run(function, engine,
                               check_arguments(function, plan, direction, in, out));
}

static int execute(const char *function, fftnd_plan *plan, int direction, void *in, void *out) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(function, plan));
    (void)fftnd__enter(plan, &visit);
    int code = prepare(function, plan, direction, in, out);
    if (code == REDIST_OK)
        code = fftnd__engine_run(&plan->engine, direction, in, out);
    redist_leave(&visit);
    return code;
}

int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral) {
    return execute(__func__, plan, REDIST_FORWARD, physical, spectral);
}

int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical) {
    return execute(__func__, plan, REDIST_BACKWARD, spectral, physical);
}

int fftnd_plan_query(fftnd_plan *plan) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    (void)fftnd__enter(plan, &visit);
    int code = fftnd__engine_query(&plan->engine);
    for (struct fftnd__engine *at = plan->applying; at != NULL && code == REDIST_OK; at = at->next)
        code = fftnd__engine_query(at);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- started and waited for */

static void *run_in_thread(void *data) {
    fftnd_plan *plan = data;
    struct fftnd__started *started = &plan->started;
    (void)fftnd__engine_run(&plan->engine, started->direction, started->in, started->out);
    return NULL;
}

/* Returns nonzero if a thread may run the transform: MPI lets it communicate beside the caller, and no device, which
 * each thread would have to choose, takes part. */
static int may_overlap(const struct fftnd__transform *transform) {
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE && transform->workplace->in_caches;
}

int fftnd_start(fftnd_plan *plan, int direction, void *input, void *output) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    (void)fftnd__enter(plan, &visit);
    int code = prepare(__func__, plan, direction, input, output);
    redist_leave(&visit);
    REDIST_TRY(code);
    struct fftnd__started *started = &plan->started;
    *started = (struct fftnd__started){
        .is_started = 1, .direction = direction, .in = input, .out = output};
    started->has_thread = may_overlap(&plan->engine.transform) &&
                          pthread_create(&started->thread, NULL, run_in_thread, plan) == 0;
    return REDIST_OK;
}

int fftnd__complete(fftnd_plan *plan) {
    struct fftnd__started *started = &plan->started;
    redist_visit visit;
    started->is_started = 0;
    if (!started->has_thread) {
        (void)fftnd__enter(plan, &visit);
        int code = fftnd__engine_run(&plan->engine, started->direction, started->in, started->out);
        redist_leave(&visit);
        return code;
    }
    pthread_join(started->thread, NULL);
    return fftnd__failure_report(&plan->engine.failure);
}

int fftnd_wait(fftnd_plan *plan) {
    REDIST_TRY(fftnd__check_alive(__func__, plan));
    if (!plan->started.is_started)
        return redist_fail(REDIST_ERR_STATE, "no transform is under way: call fftnd_start first");
    return fftnd__complete(plan);
}

int fftnd_plan_transfer(fftnd_plan *plan, int direction, void *input, void *output) {
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    if (!plan->engine.transform.workplace->copies_tiles)
        return redist_fail(
            REDIST_ERR_STATE,
            "plan has no tiles on a device: make it with options->device = REDIST_SPACE_CUDA");
    plan->engine.transform.offload->bare = 1;
    int code = execute(__func__, plan, direction, input, output);
    plan->engine.transform.offload->bare = 0;
    return code;
}
