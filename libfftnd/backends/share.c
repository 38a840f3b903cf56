/* SPDX-License-Identifier: BSD-3-Clause */
#include "share.h"
#include "columns.h"

#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum { TRIALS = 5, GUESSED_SHARE = 60 };

/* The library has found nearly its best plan of such a length then. */
static const double trial_seconds = 0.05;

int fftnd__may_share(const struct fftnd__serial_problem *problem) {
    return problem->threads == NULL && problem->precision <= FFTND_FLOAT &&
           problem->library->shares_columns;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void fftnd__time_plans(int count, const struct fftnd__serial *const libraries[],
                       void *const plans[], redist_index n, void *in, void *out, double seconds[]) {
    redist_index repeats = 1 + 1000 / n;
    for (int trial = 0; trial <= TRIALS; trial++)
        for (int plan = 0; plan < count; plan++) {
            double begin = now();
            for (redist_index i = 0; i < repeats; i++)
                libraries[plan]->execute(plans[plan], in, out);
            double once = now() - begin;
            if (trial <= 1 || once < seconds[plan])
                seconds[plan] = once;
        }
}

/* 0 = this could not be tried. */
static int measure(const struct fftnd__serial *own, const struct fftnd__serial_problem *problem,
                   size_t bytes, int apart) {
    const struct fftnd__serial *const libraries[2] = {own, problem->library};
    struct fftnd__serial_problem trial = *problem;
    void *plans[2] = {NULL, NULL};
    char *memory = redist_calloc(2 * bytes + 2 * FFTND__SCRATCH_ALIGNMENT, 1);
    double seconds[2] = {0, 0};
    if (memory == NULL)
        return 0;
    char *in = memory + (FFTND__SCRATCH_ALIGNMENT - (uintptr_t)memory % FFTND__SCRATCH_ALIGNMENT);
    size_t rows = (bytes + FFTND__SCRATCH_ALIGNMENT - 1) / FFTND__SCRATCH_ALIGNMENT;
    char *out = in + (apart ? rows * FFTND__SCRATCH_ALIGNMENT : 0);
    trial.seconds = trial_seconds;
    if (libraries[0]->create(&trial, in, out, &plans[0]) == REDIST_OK &&
        libraries[1]->create(&trial, in, out, &plans[1]) == REDIST_OK)
        fftnd__time_plans(2, libraries, plans, trial.axes[0].n, in, out, seconds);
    for (int i = 0; i < 2; i++)
        if (plans[i] != NULL)
            libraries[i]->destroy(plans[i]);
    redist_release(memory);
    double share = seconds[1] > 0 ? 1 + 100 * seconds[0] / seconds[1] : 0;
    return share < FFTND__NO_SHARE ? (int)share : FFTND__NO_SHARE;
}

int fftnd__find_share(const struct fftnd__serial *own, const struct fftnd__serial_problem *trial,
                      size_t bytes, int apart, short *known) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (trial->effort == FFTND_ESTIMATE)
        return fftnd__column_loops_here()->register_bytes > 16 ? GUESSED_SHARE : FFTND__NO_SHARE;
    pthread_mutex_lock(&lock);
    if (*known == 0)
        *known = (short)measure(own, trial, bytes, apart);
    int found = *known > 0 ? *known : FFTND__NO_SHARE;
    pthread_mutex_unlock(&lock);
    return found;
}
