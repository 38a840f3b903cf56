/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transform and redistribution in one pass over memory: each serial step runs tile by tile, and each
 * exchange is done by the step before it, which pushes finished tiles into the peers' arrays, or by the
 * step after it, which pulls its tiles out of them, whichever moves longer contiguous runs.
 */
#include "fused.h"

#include <string.h>

/* Runs shorter than a cache line move more than they carry. */
enum { SHORTEST_RUN = 64 };

static int is_exchange(const struct fftnd__step *step) {
    return step->hop.type == FFTND__EXCHANGE;
}

/* ---------------------------------------------------------------- which side does an exchange */

/* Bytes that are contiguous both in a tile and in an array that holds `part` elements of it along each
 * axis, out of `extent`. */
static long long run_bytes(const struct fftnd__tiling *tiling, const int tile_extent[],
                           const int part[], const int extent[], size_t item) {
    long long run = (long long)item;
    for (int i = tiling->ndims - 1; i >= 0; i--) {
        int count = tiling->whole[i] ? tile_extent[i] : tiling->count[i];
        count = count < part[i] ? count : part[i];
        run *= count > 0 ? count : 1;
        if (count != extent[i])
            break;
    }
    return run;
}

/* Run lengths when step `i` is pushed and when it is pulled. */
static void compare_runs(const struct fftnd__fused *fused, int i, long long runs[2]) {
    const struct fftnd__step *steps = fused->list.steps, *step = &steps[i];
    const struct fftnd__tiling *before = &fused->tilings[i - 1], *after = &fused->tilings[i + 1];
    const int *source = steps[i - 1].local.extent, *destination = step->local.extent;
    int part[REDIST_MAX_NDIMS];
    memcpy(part, destination, sizeof part);
    part[step->axis_destination] = source[step->axis_destination];
    runs[FFTND__PUSH] = run_bytes(before, before->extent_out, part, destination, before->out.item);
    memcpy(part, source, sizeof part);
    part[step->axis_source] = destination[step->axis_source];
    runs[FFTND__PULL] = run_bytes(after, after->extent_in, part, source, after->in.item);
}

/* The first and the last exchange may touch the user's array; the others are between two transforms. */
static int join_exchange(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                         int i) {
    long long runs[2];
    if (i == 1 || i == fused->list.nsteps)
        return REDIST_OK;
    compare_runs(fused, i, runs);
    int code = redist_check_mpi(redist_insist(
        MPI_Allreduce(MPI_IN_PLACE, runs, 2, MPI_LONG_LONG, MPI_SUM, transform->comm)));
    fused->join[i] = runs[FFTND__PUSH] >= runs[FFTND__PULL] ? FFTND__PUSH : FFTND__PULL;
    return code;
}

static void join_exchanges_evenly(struct fftnd__fused *fused) {
    enum fftnd__join join = FFTND__PUSH;
    for (int i = 1; i <= fused->list.nsteps; i++)
        if (is_exchange(&fused->list.steps[i]) && fused->join[i] != FFTND__PLAIN) {
            fused->join[i] = join;
            join = FFTND__PULL;
        }
}

/* ---------------------------------------------------------------- arrays between tiles */

/* Whether the array after step `i` exists, or only tiles of it on their way. */
static int is_stored(const struct fftnd__fused *fused, int i) {
    const struct fftnd__step *steps = fused->list.steps;
    if (i == 0 || i == fused->list.nsteps)
        return 1;
    if (is_exchange(&steps[i]))
        return fused->join[i] != FFTND__PULL;
    return !is_exchange(&steps[i + 1]) || fused->join[i + 1] != FFTND__PUSH;
}

/* From the array after step `from` to that after step `to`. */
static struct fftnd__hop hop_between(const struct fftnd__fused *fused, int from, int to,
                                     int fits_output) {
    struct fftnd__hop hop = fused->list.steps[to].hop;
    hop.reaches_output = fits_output;
    hop.ruins_source = 0;
    if (to == from + 1)
        return hop;
    hop.type = FFTND__EXCHANGE;
    hop.maps_source = fused->join[from + 1] == FFTND__PULL;
    hop.maps_destination = fused->join[to] == FFTND__PUSH;
    return hop;
}

/* Chooses the array after each step; `fits_output` tells which have room in the output. 0 = no way.
 */
static int find_route(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                      const int fits_output[]) {
    struct fftnd__hop hops[FFTND__MOST_HOPS];
    int stored[FFTND__MOST_HOPS + 1] = {0}, n = 0;
    const struct fftnd__rules rules = fftnd__rules_of(transform);
    for (int i = 1; i <= fused->list.nsteps; i++) {
        fused->buffer[i] = -1;
        if (!is_stored(fused, i))
            continue;
        hops[n] = hop_between(fused, stored[n], i, fits_output[i]);
        stored[++n] = i;
    }
    int found = fftnd__route(n, hops, &rules);
    fused->buffer[0] = FFTND__INPUT;
    for (int i = 1; i <= n && found; i++)
        fused->buffer[stored[i]] = hops[i - 1].destination;
    return found;
}

/* A second work array that a plan which is to be lean could do without: only transforms that drop
 * modes, and so are never in place, may need one. */
static int wastes_work(const struct fftnd__fused *fused) {
    int second = 0, truncates = 0;
    for (int i = 1; i <= fused->list.nsteps; i++) {
        second |= fused->buffer[i] == FFTND__WORK1;
        truncates |= fused->list.steps[i].truncates;
    }
    return second && !truncates;
}

/* Where the user lets the input be overwritten, one work array has to do: two exchanges get by with
 * it when the first is pushed and the second pulled. Collective. */
static int choose_buffers(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                          int *suits) {
    int fits[FFTND__MOST_HOPS + 1];
    int code = fftnd__pipeline_fits(&fused->list, transform, fits);
    int lean = transform->options.in_place || transform->options.overwrite_input;
    *suits = find_route(fused, transform, fits);
    if (lean && (!*suits || wastes_work(fused))) {
        join_exchanges_evenly(fused);
        *suits = find_route(fused, transform, fits) && !wastes_work(fused);
    }
    return code;
}

/* ---------------------------------------------------------------- building */

/* The contiguous bytes of a tile's rows in memory. */
static size_t row_bytes(const struct fftnd__tiling *tiling) {
    size_t run = tiling->out.item;
    for (int i = tiling->ndims - 1; i >= 0; i--) {
        int count = tiling->whole[i] ? tiling->extent_out[i] : tiling->count[i];
        run *= (size_t)(count > 0 ? count : 1);
        if (count < tiling->extent_out[i])
            break;
    }
    return run;
}

static int is_empty(const struct fftnd__step *step) {
    return step->local.elements == 0;
}

/* Tiles as they would be if nothing were known of the exchanges. */
static void shape_tilings(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                          int *suits) {
    const struct fftnd__step *steps = fused->list.steps;
    const struct fftnd__cut cut = {.bytes = transform->configuration.tile_bytes};
    for (int i = 1; i <= fused->list.nsteps; i++) {
        if (is_exchange(&steps[i]))
            continue;
        fftnd__tiling_shape(&fused->tilings[i], transform, &steps[i - 1], &steps[i],
                            fused->list.direction, &cut);
        *suits = *suits && (is_empty(&steps[i]) || row_bytes(&fused->tilings[i]) >= SHORTEST_RUN);
    }
}

/* A transform from an array of this rank to another, which the serial library may do by itself. */
static int is_whole(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                    int i) {
    const struct fftnd__step *step = &fused->list.steps[i];
    return transform->configuration.untiled && !is_exchange(step) && !step->truncates &&
           !step->hop.ruins_source && fused->join[i - 1] != FFTND__PULL &&
           fused->join[i + 1] != FFTND__PUSH;
}

int fftnd__fused_has_whole(const struct fftnd__fused *fused,
                           const struct fftnd__transform *transform) {
    for (int i = 1; i <= fused->list.nsteps; i++)
        if (is_whole(fused, transform, i))
            return 1;
    return 0;
}

int fftnd__fused_plan_whole(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                            void *const scratch[2]) {
    int code = REDIST_OK;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++) {
        struct fftnd__step *step = &fused->list.steps[i];
        if (!is_whole(fused, transform, i) || is_empty(step) || is_empty(step - 1))
            continue;
        step->hop.source = fused->buffer[i - 1];
        step->hop.destination = fused->buffer[i];
        code = fftnd__plan_whole(step - 1, step, transform, fused->list.direction, scratch);
    }
    return code;
}

static int create_tilings(struct fftnd__fused *fused, const struct fftnd__transform *transform) {
    const struct fftnd__step *steps = fused->list.steps;
    int code = REDIST_OK;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++) {
        if (is_exchange(&steps[i]) || is_whole(fused, transform, i))
            continue;
        const struct fftnd__cut cut = {
            transform->configuration.tile_bytes, fused->join[i - 1] != FFTND__PULL,
            fused->join[i + 1] != FFTND__PUSH, !fftnd__is_streamed(transform, &steps[i])};
        code = fftnd__tiling_create(&fused->tilings[i], transform, &steps[i - 1], &steps[i],
                                    fused->list.direction, &cut);
    }
    return code;
}

int fftnd__fused_build(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                       int direction, int *suits) {
    memset(fused, 0, sizeof *fused);
    *suits = transform->chain.nstages > 1;
    int code = fftnd__list_steps(&fused->list, transform, direction, 0, FFTND__TOGETHER);
    if (code == REDIST_OK && *suits)
        shape_tilings(fused, transform, suits);
    code = redist_agree(transform->comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(redist_insist(
            MPI_Allreduce(MPI_IN_PLACE, suits, 1, MPI_INT, MPI_MIN, transform->comm)));
    if (code != REDIST_OK || !*suits)
        return code;
    for (int i = 0; i <= FFTND__MOST_HOPS + 1; i++)
        fused->join[i] = FFTND__PLAIN;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++)
        if (is_exchange(&fused->list.steps[i]))
            code = join_exchange(fused, transform, i);
    if (code == REDIST_OK)
        code = choose_buffers(fused, transform, suits);
    if (code == REDIST_OK && *suits)
        code = create_tilings(fused, transform);
    return redist_agree(transform->comm, code);
}

size_t fftnd__fused_bytes(const struct fftnd__fused *fused,
                          const struct fftnd__transform *transform, int buffer) {
    size_t most = 0;
    for (int i = 1; i <= fused->list.nsteps; i++) {
        size_t bytes = fftnd__step_bytes(transform, &fused->list.steps[i]);
        if (fused->buffer[i] == buffer && bytes > most)
            most = bytes;
    }
    return most;
}

int fftnd__fused_plan_exchanges(struct fftnd__fused *fused,
                                const struct fftnd__transform *transform, void *const work[2]) {
    static const enum redist_tiles tiles[] = {
        [FFTND__PUSH] = REDIST_PUT, [FFTND__PULL] = REDIST_GET, [FFTND__PLAIN] = REDIST_WHOLE};
    int code = REDIST_OK;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++) {
        struct fftnd__step *step = &fused->list.steps[i];
        if (!is_exchange(step))
            continue;
        code = fftnd__plan_exchange(
            step, step - 1, transform, fftnd__place_of(transform, fused->buffer[i - 1], work),
            fftnd__place_of(transform, fused->buffer[i], work), tiles[fused->join[i]]);
        code = fftnd__agree_on_exchange(transform, code);
    }
    return code;
}

/* ---------------------------------------------------------------- running */

struct ends {
    struct fftnd__end load, store;
};

/* Where the tiles of serial step `i` come from and go to. */
static struct ends find_ends(const struct fftnd__fused *fused,
                             const struct fftnd__transform *transform, int i,
                             void *const buffers[]) {
    const struct fftnd__step *steps = fused->list.steps;
    const int *buffer = fused->buffer;
    struct ends ends;
    if (fused->join[i - 1] == FFTND__PULL)
        ends.load = (struct fftnd__end){steps[i - 1].exchange, buffers[buffer[i - 2]], {0}, 0};
    else
        ends.load = fftnd__end_of(transform, &steps[i - 1], buffers[buffer[i - 1]]);
    if (fused->join[i + 1] == FFTND__PUSH)
        ends.store = (struct fftnd__end){steps[i + 1].exchange, buffers[buffer[i + 1]], {0}, 0};
    else
        ends.store = fftnd__end_of(transform, &steps[i], buffers[buffer[i]]);
    return ends;
}

static int open_ends(const struct ends *ends) {
    int load = REDIST_OK, store = REDIST_OK;
    if (ends->load.exchange != NULL)
        load = redist_plan_get_begin(ends->load.exchange, ends->load.array);
    if (ends->store.exchange != NULL)
        store = redist_plan_put_begin(ends->store.exchange, ends->store.array);
    return load != REDIST_OK ? load : store;
}

static int close_ends(const struct ends *ends) {
    int load = REDIST_OK, store = REDIST_OK;
    if (ends->load.exchange != NULL)
        load = redist_plan_get_end(ends->load.exchange);
    if (ends->store.exchange != NULL)
        store = redist_plan_put_end(ends->store.exchange);
    return load != REDIST_OK ? load : store;
}

static int run_whole(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                     int i, void *const buffers[], double scale, double *serial_seconds) {
    const struct fftnd__step *step = &fused->list.steps[i];
    void *source = buffers[fused->buffer[i - 1]], *destination = buffers[fused->buffer[i]];
    double begin = MPI_Wtime();
    int code = fftnd__run_whole(step, transform, source, destination, scale);
    *serial_seconds += MPI_Wtime() - begin;
    return code;
}

/* One execution. */
struct run {
    const struct fftnd__fused *fused;
    const struct fftnd__transform *transform;
    void *const *buffers;
    struct fftnd__failure *failure;
    double serial_seconds;
};

static void note(struct run *run, int code) {
    fftnd__failure_note(run->failure, &run->fused->list, code);
}

/* What is opened is closed, so that peers go on. */
static void run_tiles(struct run *run, int i, double scale) {
    const struct ends ends = find_ends(run->fused, run->transform, i, run->buffers);
    note(run, open_ends(&ends));
    if (run->failure->code == REDIST_OK)
        note(run, fftnd__tiling_run(&run->fused->tilings[i], &ends.load, &ends.store,
                                    run->transform->precision, scale, &run->serial_seconds));
    note(run, close_ends(&ends));
}

static void run_serial(struct run *run, int i, double scale) {
    if (!is_whole(run->fused, run->transform, i))
        run_tiles(run, i, scale);
    else if (run->failure->code == REDIST_OK)
        note(run,
             run_whole(run->fused, run->transform, i, run->buffers, scale, &run->serial_seconds));
}

/* An exchange that is not joined moves whole arrays between a work array and the user's. */
static int run_plain(const struct fftnd__fused *fused, int i, void *const buffers[]) {
    return redist_plan_execute_arrays(fused->list.steps[i].exchange, REDIST_FORWARD,
                                      buffers[fused->buffer[i - 1]], buffers[fused->buffer[i]]);
}

void fftnd__fused_run(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                      void *const buffers[], double scale, double seconds[2],
                      struct fftnd__failure *failure) {
    struct run run = {fused, transform, buffers, failure, 0};
    double begin = MPI_Wtime();
    int last = fftnd__last_serial(&fused->list);
    note(&run, failure->code);
    for (int i = 1; i <= fused->list.nsteps; i++) {
        if (!is_exchange(&fused->list.steps[i]))
            run_serial(&run, i, i == last ? scale : 1.0);
        else if (fused->join[i] == FFTND__PLAIN)
            note(&run, run_plain(fused, i, buffers));
    }
    seconds[0] += run.serial_seconds;
    seconds[1] += MPI_Wtime() - begin - run.serial_seconds;
}

void fftnd__fused_free(struct fftnd__fused *fused, const struct fftnd__transform *transform) {
    fftnd__pipeline_free_exchanges(&fused->list);
    for (int i = 1; i <= fused->list.nsteps; i++) {
        if (fused->tilings[i].library != NULL)
            fftnd__tiling_free(&fused->tilings[i]);
        if (fused->list.steps[i].serial != NULL)
            transform->library->destroy(fused->list.steps[i].serial);
    }
    fused->list.nsteps = 0;
}
