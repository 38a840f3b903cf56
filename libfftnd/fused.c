/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transform and redistribution in one pass over memory: each serial step runs tile by tile, and each
 * exchange is done by the step before it, which pushes finished tiles into the peers' arrays, or by the
 * step after it, which pulls its tiles out of them, whichever moves longer contiguous runs.
 */
#include "fused.h"
#include "cache.h"

#include <stdlib.h>
#include <string.h>

/* Stores into an array larger than this bypass the caches: it would not stay in them. */
static const size_t streamed_bytes = (size_t)16 << 20;

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
    fused->join[i] = FFTND__PLAIN;
    if (i == 1 || i == fused->list.nsteps)
        return REDIST_OK;
    compare_runs(fused, i, runs);
    int code = redist_check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, runs, 2, MPI_LONG_LONG, MPI_SUM, transform->comm));
    fused->join[i] = runs[FFTND__PUSH] >= runs[FFTND__PULL] ? FFTND__PUSH : FFTND__PULL;
    return code;
}

/* Whether the array of exchange `i` lies as the destination of the exchange, else as the source. */
static int holds_destination(const struct fftnd__fused *fused, int i) {
    return fused->join[i] == FFTND__PUSH || (fused->join[i] == FFTND__PLAIN && i == 1);
}

/* A transform between two exchanges may work in place if its tiles come from and go to the same
 * elements of this rank's array. */
static void choose_buffers(struct fftnd__fused *fused) {
    int last = 0; /* the exchange before */
    for (int i = 1; i <= fused->list.nsteps; i++) {
        if (!is_exchange(&fused->list.steps[i]))
            continue;
        int in_place = last > 0 && holds_destination(fused, last) && !holds_destination(fused, i);
        if (last == 0)
            fused->buffer[i] = FFTND__WORK0;
        else if (in_place)
            fused->buffer[i] = fused->buffer[last];
        else
            fused->buffer[i] = FFTND__WORK0 + FFTND__WORK1 - fused->buffer[last];
        last = i;
    }
}

static int uses_second_work(const struct fftnd__fused *fused) {
    for (int i = 1; i <= fused->list.nsteps; i++)
        if (is_exchange(&fused->list.steps[i]) && fused->buffer[i] == FFTND__WORK1)
            return 1;
    return 0;
}

/* Two exchanges get by with one work array when the first is pushed and the second pulled. */
static void save_memory(struct fftnd__fused *fused) {
    enum fftnd__join join = FFTND__PUSH;
    for (int i = 1; i <= fused->list.nsteps; i++)
        if (is_exchange(&fused->list.steps[i]) && fused->join[i] != FFTND__PLAIN) {
            fused->join[i] = join;
            join = FFTND__PULL;
        }
    choose_buffers(fused);
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

/* A small part of the second-level cache measured best: what streams past a tile shares it. */
static size_t tile_bytes(void) {
    const char *text = getenv("FFTND_TILE_BYTES");
    return text != NULL ? (size_t)atoll(text) : fftnd__cache_bytes() / 8;
}

static int is_empty(const struct fftnd__step *step) {
    return step->local.elements == 0;
}

/* Tiles as they would be if nothing were known of the exchanges. */
static void shape_tilings(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                          int *suits) {
    const struct fftnd__step *steps = fused->list.steps;
    const struct fftnd__cut cut = {.bytes = tile_bytes()};
    for (int i = 1; i <= fused->list.nsteps; i++) {
        if (is_exchange(&steps[i]))
            continue;
        fftnd__tiling_shape(&fused->tilings[i], transform, &steps[i - 1], &steps[i], &cut);
        *suits = *suits && (is_empty(&steps[i]) || row_bytes(&fused->tilings[i]) >= SHORTEST_RUN);
    }
}

static int is_local(const struct fftnd__fused *fused, int i, enum fftnd__join join) {
    return i < 1 || i > fused->list.nsteps || fused->join[i] != join;
}

static int is_streamed(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return fftnd__step_bytes(transform, step) > streamed_bytes;
}

static int create_tilings(struct fftnd__fused *fused, const struct fftnd__transform *transform) {
    const struct fftnd__step *steps = fused->list.steps;
    int code = REDIST_OK;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++) {
        if (is_exchange(&steps[i]))
            continue;
        const struct fftnd__cut cut = {tile_bytes(), is_local(fused, i - 1, FFTND__PULL),
                                       is_local(fused, i + 1, FFTND__PUSH),
                                       !is_streamed(transform, &steps[i])};
        code = fftnd__tiling_create(&fused->tilings[i], transform, &steps[i - 1], &steps[i],
                                    fused->list.direction, &cut);
    }
    return code;
}

int fftnd__fused_build(struct fftnd__fused *fused, const struct fftnd__transform *transform,
                       int direction, int *suits) {
    memset(fused, 0, sizeof *fused);
    *suits = transform->chain.nstages > 1;
    int code = fftnd__pipeline_list(&fused->list, transform, direction);
    if (code == REDIST_OK && *suits)
        shape_tilings(fused, transform, suits);
    code = redist_agree(transform->comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(
            MPI_Allreduce(MPI_IN_PLACE, suits, 1, MPI_INT, MPI_MIN, transform->comm));
    if (code != REDIST_OK || !*suits)
        return code;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++)
        if (is_exchange(&fused->list.steps[i]))
            code = join_exchange(fused, transform, i);
    choose_buffers(fused);
    int lean = transform->options.in_place || transform->options.overwrite_input;
    if (lean && uses_second_work(fused))
        save_memory(fused);
    *suits = !lean || !uses_second_work(fused);
    if (code == REDIST_OK && *suits)
        code = create_tilings(fused, transform);
    return redist_agree(transform->comm, code);
}

static const struct fftnd__step *held(const struct fftnd__fused *fused, int i) {
    return &fused->list.steps[holds_destination(fused, i) ? i : i - 1];
}

size_t fftnd__fused_bytes(const struct fftnd__fused *fused,
                          const struct fftnd__transform *transform, int buffer) {
    size_t most = 0;
    for (int i = 1; i <= fused->list.nsteps; i++) {
        if (!is_exchange(&fused->list.steps[i]) || fused->buffer[i] != buffer)
            continue;
        size_t bytes = fftnd__step_bytes(transform, held(fused, i));
        most = bytes > most ? bytes : most;
    }
    return most;
}

/* Subgroups plan by themselves; the ranks of all of them agree before the next step. A method that does
 * not apply to one subgroup must not hide a failure of another. */
int fftnd__fused_plan_exchanges(struct fftnd__fused *fused,
                                const struct fftnd__transform *transform, void *const work[2]) {
    static const enum redist_tiles tiles[] = {
        [FFTND__PUSH] = REDIST_PUT, [FFTND__PULL] = REDIST_GET, [FFTND__PLAIN] = REDIST_WHOLE};
    int code = REDIST_OK;
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++) {
        struct fftnd__step *step = &fused->list.steps[i];
        if (!is_exchange(step))
            continue;
        const struct fftnd__place here = {work[fused->buffer[i] - FFTND__WORK0], 0};
        const struct fftnd__place later = {NULL, 1};
        int destination = holds_destination(fused, i);
        code = fftnd__plan_exchange(step, step - 1, transform, destination ? later : here,
                                    destination ? here : later, tiles[fused->join[i]]);
        int fatal = redist_agree(transform->comm, code != REDIST_ERR_METHOD ? code : REDIST_OK);
        code = fatal == REDIST_OK ? redist_agree(transform->comm, code) : fatal;
    }
    return code;
}

/* ---------------------------------------------------------------- running */

struct ends {
    struct fftnd__end load, store;
    ptrdiff_t load_stride[REDIST_MAX_NDIMS], store_stride[REDIST_MAX_NDIMS];
};

static void set_array(const struct fftnd__transform *transform, const struct fftnd__step *step,
                      void *array, struct fftnd__end *end, ptrdiff_t stride[]) {
    ptrdiff_t item = (ptrdiff_t)fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < step->local.ndims; i++)
        stride[i] = step->local.stride[i] * item;
    *end = (struct fftnd__end){NULL, array, stride, is_streamed(transform, step)};
}

/* Where the tiles of serial step `i` come from and go to. */
static void find_ends(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                      int i, void *const buffers[], struct ends *ends) {
    const struct fftnd__step *steps = fused->list.steps;
    int last = i == fused->list.nsteps;
    void *from = buffers[i == 1 ? FFTND__INPUT : fused->buffer[i - 1]];
    void *to = buffers[last ? FFTND__OUTPUT : fused->buffer[i + 1]];
    if (i > 1 && fused->join[i - 1] == FFTND__PULL)
        ends->load = (struct fftnd__end){steps[i - 1].exchange, from, NULL, 0};
    else
        set_array(transform, &steps[i - 1], from, &ends->load, ends->load_stride);
    if (!last && fused->join[i + 1] == FFTND__PUSH)
        ends->store = (struct fftnd__end){steps[i + 1].exchange, to, NULL, 0};
    else
        set_array(transform, &steps[i], to, &ends->store, ends->store_stride);
}

static int open_ends(const struct ends *ends) {
    int code = REDIST_OK;
    if (ends->load.exchange != NULL)
        code = redist_plan_get_begin(ends->load.exchange, ends->load.array);
    if (code == REDIST_OK && ends->store.exchange != NULL)
        code = redist_plan_put_begin(ends->store.exchange, ends->store.array);
    return code;
}

static int close_ends(const struct ends *ends) {
    int code = REDIST_OK;
    if (ends->load.exchange != NULL)
        code = redist_plan_get_end(ends->load.exchange);
    if (code == REDIST_OK && ends->store.exchange != NULL)
        code = redist_plan_put_end(ends->store.exchange);
    return code;
}

static int run_serial(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                      int i, void *const buffers[], double scale, double *serial_seconds) {
    struct ends ends;
    find_ends(fused, transform, i, buffers, &ends);
    int code = open_ends(&ends);
    if (code == REDIST_OK)
        code = fftnd__tiling_run(&fused->tilings[i], &ends.load, &ends.store, transform->precision,
                                 scale, serial_seconds);
    return code == REDIST_OK ? close_ends(&ends) : code;
}

/* An exchange that is not joined moves whole arrays between a work array and the user's. */
static int run_plain(const struct fftnd__fused *fused, int i, void *const buffers[]) {
    void *work = buffers[fused->buffer[i]];
    int first = i == 1;
    return redist_plan_execute_arrays(fused->list.steps[i].exchange, REDIST_FORWARD,
                                      first ? buffers[FFTND__INPUT] : work,
                                      first ? work : buffers[FFTND__OUTPUT]);
}

/* The last serial step scales. */
static int last_serial(const struct fftnd__fused *fused) {
    int n = fused->list.nsteps;
    return is_exchange(&fused->list.steps[n]) ? n - 1 : n;
}

int fftnd__fused_run(const struct fftnd__fused *fused, const struct fftnd__transform *transform,
                     void *const buffers[], double scale, double seconds[2]) {
    double begin = MPI_Wtime(), serial = 0;
    int code = REDIST_OK, last = last_serial(fused);
    for (int i = 1; i <= fused->list.nsteps && code == REDIST_OK; i++) {
        if (!is_exchange(&fused->list.steps[i]))
            code = run_serial(fused, transform, i, buffers, i == last ? scale : 1.0, &serial);
        else if (fused->join[i] == FFTND__PLAIN)
            code = run_plain(fused, i, buffers);
    }
    seconds[0] += serial;
    seconds[1] += MPI_Wtime() - begin - serial;
    return code;
}

void fftnd__fused_free(struct fftnd__fused *fused) {
    fftnd__pipeline_free_exchanges(&fused->list);
    for (int i = 1; i <= fused->list.nsteps; i++)
        if (fused->tilings[i].library != NULL)
            fftnd__tiling_free(&fused->tilings[i]);
    fused->list.nsteps = 0;
}
