/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of an engine, and what users may ask of it. */
#include "parts.h"

/* ---------------------------------------------------------------- queries */

const struct fftnd__step *fftnd__engine_input(const struct fftnd__engine *engine, int direction) {
    return &engine->programs[direction].steps[0];
}

const struct fftnd__step *fftnd__engine_output(const struct fftnd__engine *engine, int direction) {
    const struct fftnd__program *program = &engine->programs[direction];
    return &program->steps[program->nsteps];
}

/* Arrays that serve as work space have room for every step. */
size_t fftnd__engine_array_bytes(const struct fftnd__engine *engine,
                                 const struct fftnd__step *array) {
    const struct fftnd__settings *settings = &engine->transform.settings;
    return settings->in_place || settings->overwrite_input
               ? engine->largest_bytes
               : fftnd__step_bytes(&engine->transform, array);
}

size_t fftnd__engine_bytes(const struct fftnd__engine *engine, int direction) {
    return fftnd__engine_array_bytes(engine, fftnd__engine_input(engine, direction));
}

int fftnd__engine_exchanges(const struct fftnd__engine *engine) {
    const struct fftnd__program *program = &engine->programs[REDIST_FORWARD];
    int count = 0;
    for (int i = 1; i <= program->nsteps; i++)
        count += program->steps[i].type == FFTND__EXCHANGE;
    return count;
}

size_t fftnd__engine_sends(const struct fftnd__engine *engine) {
    const struct fftnd__program *program = &engine->programs[REDIST_FORWARD];
    size_t bytes = 0;
    for (int i = 0; i < fftnd__end_of_exchanges(program); i++) {
        redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
        if (program->steps[i].exchange != NULL &&
            redist_plan_get_info(program->steps[i].exchange, &info) == REDIST_OK)
            bytes += info.sent_bytes;
    }
    return bytes;
}

size_t fftnd__engine_transfers(const struct fftnd__engine *engine) {
    const struct fftnd__program *program = &engine->programs[REDIST_FORWARD];
    size_t bytes = 0;
    for (int i = 1; i <= program->nsteps && engine->transform.workplace->copies_tiles; i++)
        if (program->steps[i].naxes > 0 && !fftnd__is_empty(&engine->transform, &program->steps[i]))
            bytes += fftnd__step_bytes(&engine->transform, &program->steps[i - 1]) +
                     fftnd__step_bytes(&engine->transform, &program->steps[i]);
    return bytes;
}

int fftnd__engine_partitions(const struct fftnd__engine *engine) {
    for (int direction = 0; direction < 2; direction++)
        for (int i = 1; i <= engine->programs[direction].nsteps; i++)
            if (engine->programs[direction].steps[i].by_partitions)
                return engine->transform.configuration.partitions;
    return 1;
}

/* ---------------------------------------------------------------- executions */

int fftnd__fails_with_plan(const struct fftnd__engine *engine) {
    return engine->lender != NULL && engine->transform.settings.asynchronous;
}

static int report(struct fftnd__engine *engine) {
    int code = fftnd__failure_report(&engine->failure);
    if (fftnd__fails_with_plan(engine))
        fftnd__failure_note(&engine->lender->failure, code);
    return code;
}

/* Lets the device reach arrays of the user, with pin_arrays. */
static void pin_arrays(const struct fftnd__engine *engine, int direction, void *in, void *out) {
    struct fftnd__offload *offload = engine->transform.offload;
    if (offload != NULL)
        offload->buffered = 0;
    if (!engine->transform.settings.pin_arrays)
        return;
    fftnd__offload_pin(offload, (enum fftnd__pinned)direction, in,
                       fftnd__engine_bytes(engine, direction));
    fftnd__offload_pin(offload, (enum fftnd__pinned) !direction, out,
                       fftnd__engine_array_bytes(engine, fftnd__engine_output(engine, direction)));
}

int fftnd__engine_run(struct fftnd__engine *engine, int direction, void *in, void *out) {
    pin_arrays(engine, direction, in, out);
    engine->executions++;
    void *const buffers[FFTND__BUFFERS] = {in, out, engine->work[0], engine->work[1]};
    if (!fftnd__replay(engine, direction, buffers))
        fftnd__execute(&engine->programs[direction], &engine->transform, buffers, engine->seconds,
                       &engine->failure);
    return report(engine);
}

/* Checks the stream besides the exchanges, of which a program may have none, unless it failed and may be gone. */
int fftnd__engine_query(struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    for (int direction = 0; direction < 2; direction++)
        fftnd__query(&engine->programs[direction], &engine->failure);
    if (engine->failure.code == REDIST_OK && transform->space->stream_check != NULL)
        fftnd__failure_note(&engine->failure,
                            transform->space->stream_check(transform->settings.stream));
    return report(engine);
}
