/* SPDX-License-Identifier: BSD-3-Clause */
#include "../clock.h"
#include "groups.h"
#include "rates.h"

#include <cuda_runtime_api.h>
#include <math.h>

static const size_t large_bytes = (size_t)512 << 20;

enum { ALIGNMENT = 256, ROUNDS = 12 };

static const double worthwhile = 0.97;

/* A difference that is certain after one round that counts; and seconds after which a trial ends. */
static const double clear = 4, most_seconds = 0.1;

/* ---------------------------------------------------------------- what is known */

static int ways_kept[LINES__MOST_KEPT];
static struct lines__kept ways_known = {sizeof *ways_kept, ways_kept, 0, {0}};

static uint64_t key_of(const struct lines__problem *problem) {
    int device = 0;
    if (cudaGetDevice(&device) != cudaSuccess)
        (void)cudaGetLastError();
    uint64_t key = lines__mix(1, device);
    key = lines__mix(lines__mix(key, problem->kind), problem->precision);
    key = lines__mix(lines__mix(key, problem->direction), problem->naxes);
    key = lines__mix(key, problem->is_odd);
    for (int i = 0; i < problem->naxes + problem->nloops; i++) {
        const struct lines__loop *loop = lines__loop_at(problem, i);
        key = lines__mix(lines__mix(lines__mix(key, loop->n), loop->in), loop->out);
    }
    return key;
}

/* ---------------------------------------------------------------- arrays */

/* Bytes of an array from its first element to its last one. */
static size_t span(const struct lines__problem *problem, int is_output) {
    int forward = problem->direction == REDIST_FORWARD;
    int halves = problem->kind == FFTND_R2C, is_real = halves && is_output != forward;
    size_t elements = 1;
    for (int i = 0; i < problem->naxes + problem->nloops; i++) {
        const struct lines__loop *loop = lines__loop_at(problem, i);
        int is_halved = halves && !is_real && i == problem->naxes - 1;
        redist_index n = is_halved ? loop->n / 2 + 1 : loop->n;
        elements += (size_t)(n - 1) * (size_t)(is_output ? loop->out : loop->in);
    }
    size_t bytes = elements * lines__item_bytes(problem->precision, is_real);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

int lines__trial_find(const struct lines__problem *problem) {
    int way = lines__rates_are_dictated() ? (int)LINES__FASTEST : (int)LINES__UNTRIED;
    if (way == LINES__UNTRIED)
        (void)lines__kept_find(&ways_known, key_of(problem), &way);
    return way;
}

int lines__trial_is_large(const struct lines__problem *problem) {
    return span(problem, 0) + span(problem, 1) > large_bytes;
}

/* ---------------------------------------------------------------- timing */

struct trial {
    const struct lines__library *library;
    char *arrays[2];
    cudaStream_t stream;
};

/* Seconds until the device is done, launches included; 0 = failed. */
static double time_of(const struct trial *trial, void *plan) {
    double begin = lines__clock();
    if (trial->library->execute(plan, trial->arrays[0], trial->arrays[1]) != REDIST_OK ||
        cudaStreamSynchronize(trial->stream) != cudaSuccess)
        return 0.0;
    return lines__clock() - begin;
}

/* Compares in turns, so that disturbances are shared; the first round does not count. */
static int compare(const struct trial *trial, void *const plans[2]) {
    double best[2] = {0.0, 0.0}, begin = lines__clock();
    for (int round = 0; round <= ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            double now = time_of(trial, plans[i]);
            if (now <= 0.0)
                return i == 0;
            if (round == 1 || now < best[i])
                best[i] = now;
        }
        if (round > 0 && (fmax(best[0], best[1]) > clear * fmin(best[0], best[1]) ||
                          lines__clock() - begin > most_seconds))
            break;
    }
    return best[0] >= worthwhile * best[1];
}

static size_t area_of(const struct lines__library *library, void *const plans[2]) {
    size_t first = library->area_bytes(plans[0]), second = library->area_bytes(plans[1]);
    return first > second ? first : second;
}

int lines__trial_run(const struct lines__library *library, const struct lines__problem *problem,
                     void *const plans[2], const enum lines__way ways[2]) {
    struct trial trial = {.library = library, .stream = problem->stream};
    size_t in = span(problem, 0), out = span(problem, 1), area = area_of(library, plans);
    char *memory = NULL;
    int choice = 0;
    if (cudaMalloc((void **)&memory, in + out + area) == cudaSuccess &&
        cudaMemsetAsync(memory, 0, in + out, trial.stream) == cudaSuccess &&
        library->set_area(plans[0], memory + in + out) == REDIST_OK &&
        library->set_area(plans[1], memory + in + out) == REDIST_OK) {
        trial.arrays[0] = memory;
        trial.arrays[1] = memory + in;
        choice = compare(&trial, plans);
        lines__kept_put(&ways_known, key_of(problem), &(int){(int)ways[choice]});
    }
    (void)cudaFree(memory);
    (void)cudaGetLastError(); /* the user's own checks are not to find it */
    return choice;
}
