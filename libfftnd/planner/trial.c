/* SPDX-License-Identifier: BSD-3-Clause */
#include "trial.h"

enum { SWEEPS = 4 };

/* Sweeps that take no longer together are made however late it is, since one alone is noise. */
static const double short_seconds = 0.02;

int fftnd__trial_is_late(const struct fftnd__search *search) {
    int out = MPI_Wtime() - search->begin > search->request->settings.plan_seconds;
    int code = redist_broadcast(search->comm, &out, sizeof out, 0);
    return out || code != REDIST_OK;
}

/* Waits for what was only enqueued. */
static int finish(const struct fftnd__search *search, struct fftnd__engine *engine) {
    REDIST_TRY(redist_space_at(search->space)->stream_wait(search->request->settings.stream));
    return fftnd__engine_query(engine);
}

/* Back even if forth has failed: the peers may not know, and would wait. */
int fftnd__trial_run(const struct fftnd__search *search, const struct fftnd__trial *trial,
                     double *seconds) {
    struct fftnd__engine *engine = trial->engine;
    void *const *arrays = trial->arrays;
    int last = !search->request->settings.in_place;
    int begun = redist_barrier(search->comm);
    double begin = MPI_Wtime();
    int forth = fftnd__engine_run(engine, REDIST_FORWARD, arrays[0], arrays[last]);
    int back = fftnd__engine_run(engine, REDIST_BACKWARD, arrays[last], arrays[0]);
    if (search->request->settings.asynchronous) {
        int waited = finish(search, engine);
        back = back == REDIST_OK ? waited : back;
    }
    *seconds = MPI_Wtime() - begin;
    int ended = redist_all_reduce(search->comm, seconds, 1, MPI_DOUBLE, MPI_MAX);
    const int codes[] = {begun, forth, back, ended};
    int code = REDIST_OK;
    for (int i = 0; i < 4 && code == REDIST_OK; i++)
        code = codes[i];
    return redist_agree(search->comm, code);
}

/* The best of some sweeps after one to warm up. */
int fftnd__trial_sweep(const struct fftnd__search *search, const struct fftnd__trial *trial,
                       double *best) {
    for (int sweep = 0; sweep <= SWEEPS; sweep++) {
        double seconds;
        REDIST_TRY(fftnd__trial_run(search, trial, &seconds));
        if (sweep > 0 && (*best < 0 || seconds < *best))
            *best = seconds;
        if (sweep * *best > short_seconds && fftnd__trial_is_late(search))
            break;
    }
    return REDIST_OK;
}

static int is_mapped(const struct fftnd__search *search) {
    return search->space != REDIST_SPACE_HOST || search->request->settings.mapped_arrays;
}

/* An array as a user may have it; there may be no room for more shared memory. Collective. */
static int allocate_array(const struct fftnd__search *search, size_t bytes, void **array) {
    int code = REDIST_OK;
    if (is_mapped(search))
        code = redist_alloc_in(search->comm, search->space, bytes, array);
    else
        *array = redist_calloc(bytes, 1);
    int missing = search->request->settings.mapped_arrays
                      ? bytes != 0 && !redist_is_mappable(search->space, *array, bytes)
                      : !is_mapped(search) && *array == NULL;
    if (code == REDIST_OK && missing)
        code = redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY, "no memory to measure in");
    return redist_agree(search->comm, code);
}

int fftnd__trial_allocate(const struct fftnd__search *search, const size_t bytes[2],
                          void *arrays[2]) {
    for (int i = 0; i < (search->request->settings.in_place ? 1 : 2); i++)
        REDIST_TRY(allocate_array(search, bytes[i], &arrays[i]));
    return REDIST_OK;
}

void fftnd__trial_release(const struct fftnd__search *search, void *arrays[2]) {
    for (int i = 0; i < 2; i++)
        if (is_mapped(search))
            redist_free(&arrays[i]);
        else
            redist_release(arrays[i]);
}

/* For how long the device waits for a peer, in a candidate: one that hangs is not to take the patience of the plan. */
static double find_patience(const struct fftnd__settings *settings) {
    double enough = 4 * settings->plan_seconds;
    enough = enough > 1 ? enough : 1;
    return settings->wait_seconds > 0 && settings->wait_seconds < enough ? settings->wait_seconds
                                                                         : enough;
}

int fftnd__trial_open(const struct fftnd__search *search,
                      const struct fftnd__configuration *candidate, struct fftnd__trial *trial) {
    struct fftnd__request request = *search->request;
    request.settings.user_workspace = request.settings.verbose = 0;
    request.settings.wait_seconds = find_patience(&search->request->settings);
    *trial = (struct fftnd__trial){.engine = redist_calloc(1, sizeof *trial->engine)};
    REDIST_TRY(redist_agree(search->comm, trial->engine != NULL ? REDIST_OK : REDIST_ERR_MEMORY));
    return fftnd__engine_create(trial->engine, &request, candidate);
}

void fftnd__trial_close(struct fftnd__trial *trial) {
    if (trial->engine != NULL)
        fftnd__engine_destroy(trial->engine);
    redist_release(trial->engine);
}

int fftnd__trial_time(const struct fftnd__search *search, struct fftnd__trial *trial,
                      double *best) {
    size_t bytes[2];
    for (int i = 0; i < 2; i++)
        bytes[i] = fftnd__engine_bytes(trial->engine, i);
    int code = fftnd__trial_allocate(search, bytes, trial->arrays);
    if (code == REDIST_OK)
        code = fftnd__trial_sweep(search, trial, best);
    fftnd__trial_release(search, trial->arrays);
    return code;
}
