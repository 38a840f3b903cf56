/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scaling where results are in registers: serial libraries whose kernels do it save a pass over the whole array. As all
 * steps are linear, any of them may scale, but only one on all ranks, since elements move between them. Exchanges in
 * a format send smaller numbers then, and floats below 1e-38 times the size of the transform become denormal earlier.
 */
#include "parts.h"

static int has_step(const struct fftnd__program *program, int i) {
    return program->steps != NULL && i <= program->nsteps;
}

/* Bit `direction` of can[i]: step i of that program can scale on this rank. */
static void list_steps(const struct fftnd__engine *engine, long long can[]) {
    for (int direction = 0; direction < 2; direction++)
        for (int i = 1; has_step(&engine->programs[direction], i); i++)
            if (fftnd__step_scale(&engine->programs[direction].steps[i], 1))
                can[i] |= 1LL << direction;
}

static void choose_step(struct fftnd__program *program, int direction, long double scale,
                        const long long can[]) {
    int i = program->steps != NULL ? program->nsteps : 0;
    while (i > 0 && !(can[i] >> direction & 1))
        i--;
    program->scale = i > 0 && fftnd__step_scale(&program->steps[i], scale) ? 1 : scale;
}

int fftnd__plan_scaling(struct fftnd__engine *engine) {
    long long can[FFTND__MOST_STEPS + 1] = {0};
    int is_needed = 0;
    for (int direction = engine->first; direction <= engine->last; direction++)
        is_needed |= engine->scales[direction] != 1;
    if (is_needed && lines__library_for(engine->transform.worker->id)->scale_results != NULL) {
        list_steps(engine, can);
        REDIST_TRY(redist_all_reduce(engine->transform.comm, can, FFTND__MOST_STEPS + 1,
                                     MPI_LONG_LONG, MPI_BAND));
    }
    for (int direction = engine->first; direction <= engine->last; direction++)
        choose_step(&engine->programs[direction], direction, engine->scales[direction], can);
    return REDIST_OK;
}
