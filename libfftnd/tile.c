/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles: a transform over some axes of a large array, cut along the other axes in pieces that fit the
 * second-level cache. A tile is gathered from wherever its data are, transformed where it is, and handed
 * to wherever it goes, so that transform and redistribution are one pass over memory.
 */
#include "tile.h"

#include <limits.h>

enum { ALIGNMENT = 64, CONFLICT = 1024 };

/* ---------------------------------------------------------------- shape */

static int is_transformed(const struct fftnd__step *step, int axis) {
    for (int i = 0; i < step->naxes; i++)
        if (step->axes[i] == axis)
            return 1;
    return 0;
}

/* How many of `n` fit, evenly cut, in multiples of a cache line's elements where there are many. */
static int even_chunk(int n, size_t fit, size_t item) {
    int line = (int)(ALIGNMENT / item) > 0 ? (int)(ALIGNMENT / item) : 1;
    int most = fit < 1 ? 1 : fit > (size_t)n ? n : (int)fit;
    int pieces = (n + most - 1) / most, even = (n + pieces - 1) / pieces;
    int rounded = (even + line - 1) / line * line;
    return rounded <= most ? rounded : even;
}

/* Neighbouring axes that are not transformed become one: the outer has 1 element, the inner all. */
static void merge_axes(struct fftnd__tiling *tiling) {
    for (int i = tiling->ndims - 1; i > 0; i--)
        if (!tiling->whole[i] && !tiling->whole[i - 1]) {
            int inner = i;
            while (inner + 1 < tiling->ndims && !tiling->whole[inner + 1])
                inner++;
            long long merged = (long long)tiling->extent_out[inner] * tiling->extent_out[i - 1];
            if (merged > INT_MAX)
                return;
            tiling->extent_in[inner] = tiling->extent_out[inner] = (int)merged;
            tiling->extent_in[i - 1] = tiling->extent_out[i - 1] = 1;
        }
}

/* From the innermost axis outwards: as many elements as fit, so that runs are long. */
static void choose_counts(struct fftnd__tiling *tiling, size_t tile, size_t item, size_t bytes) {
    int full = 1;
    for (int i = tiling->ndims - 1; i >= 0; i--) {
        int n = tiling->extent_out[i];
        tiling->count[i] = n;
        if (tiling->whole[i] || n <= 1)
            continue;
        tiling->count[i] = full ? even_chunk(n, bytes / tile, item) : 1;
        full = full && tiling->count[i] == n;
        if (tiling->count[i] < n && tiling->count[i] > 1)
            tiling->chunk_axis = i;
        tile *= (size_t)tiling->count[i];
    }
}

void fftnd__tiling_shape(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         const struct fftnd__cut *cut) {
    int shift = transform->batch.shift;
    size_t item = fftnd__element_bytes(transform, step->real && before->real), tile = item;
    *tiling = (struct fftnd__tiling){.ndims = step->local.ndims, .chunk_axis = -1};
    tiling->in.item = fftnd__element_bytes(transform, before->real);
    tiling->out.item = fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < tiling->ndims; i++) {
        int batch = i == transform->batch.axis;
        tiling->whole[i] = !batch && is_transformed(step, i - shift);
        tiling->extent_in[i] = batch ? transform->batch.count : before->alignment->count[i - shift];
        tiling->extent_out[i] = batch ? transform->batch.count : step->alignment->count[i - shift];
        if (tiling->whole[i])
            tile *= (size_t)(tiling->extent_out[i] > 0 ? tiling->extent_out[i] : 1);
    }
    if (cut->local_load && cut->local_store)
        merge_axes(tiling);
    choose_counts(tiling, tile, item, cut->bytes);
}

/* Strides of a tile in memory. A pitch that is a multiple of a power of two puts all elements of a
 * strided line into few cache sets, so such rows are padded by a line if they may. */
static void lay_out(struct fftnd__tile *tile, int ndims, const int count[], int may_pad) {
    size_t next = tile->item;
    for (int i = ndims - 1; i >= 0; i--) {
        if (may_pad && count[i] > 1 && next > ALIGNMENT && next % CONFLICT == 0)
            next += ALIGNMENT;
        tile->stride[i] = (ptrdiff_t)next;
        next *= (size_t)count[i];
    }
    tile->bytes = (next + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void count_of(const struct fftnd__tiling *tiling, const int extent[], int count[]) {
    for (int i = 0; i < tiling->ndims; i++)
        count[i] = tiling->whole[i] ? extent[i] : tiling->count[i];
}

/* ---------------------------------------------------------------- plans in a tile */

static void describe(const struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                     const struct fftnd__step *before, const struct fftnd__step *step,
                     int direction, const int count[], struct fftnd__serial_problem *problem) {
    struct fftnd__local in = {.ndims = tiling->ndims}, out = in;
    for (int i = 0; i < tiling->ndims; i++) {
        in.stride[i] = tiling->in.stride[i] / (ptrdiff_t)tiling->in.item;
        out.stride[i] = tiling->out.stride[i] / (ptrdiff_t)tiling->out.item;
        out.extent[i] = count[i];
    }
    fftnd__describe_serial(transform, before, step, direction, &in, &out, problem);
}

static int plan_tiles(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                      const struct fftnd__step *before, const struct fftnd__step *step,
                      int direction) {
    int count[REDIST_MAX_NDIMS], axis = tiling->chunk_axis;
    struct fftnd__serial_problem problem;
    count_of(tiling, tiling->extent_out, count);
    describe(tiling, transform, before, step, direction, count, &problem);
    int code = tiling->library->create(&problem, tiling->in.memory, tiling->out.memory,
                                       &tiling->serial[0]);
    if (code != REDIST_OK || axis < 0 || tiling->extent_out[axis] % count[axis] == 0)
        return code;
    count[axis] = tiling->extent_out[axis] % count[axis];
    describe(tiling, transform, before, step, direction, count, &problem);
    return tiling->library->create(&problem, tiling->in.memory, tiling->out.memory,
                                   &tiling->serial[1]);
}

static char *align(char *memory) {
    return memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
}

static int is_empty(const struct fftnd__tiling *tiling) {
    for (int i = 0; i < tiling->ndims; i++)
        if (tiling->extent_in[i] == 0 || tiling->extent_out[i] == 0)
            return 1;
    return 0;
}

/* A tile that lies in the array just as it would in a buffer of its own needs no copy. */
static int lies_alike(const struct fftnd__tile *tile, const struct fftnd__local *array, int ndims,
                      const int count[]) {
    for (int i = 0; i < ndims; i++)
        if (count[i] > 1 && tile->stride[i] != array->stride[i] * (ptrdiff_t)tile->item)
            return 0;
    return 1;
}

static int lay_out_end(struct fftnd__tile *tile, const struct fftnd__local *array, int ndims,
                       const int count[], int may_be_direct) {
    lay_out(tile, ndims, count, 0);
    if (may_be_direct && lies_alike(tile, array, ndims, count))
        return 1;
    lay_out(tile, ndims, count, 1);
    return 0;
}

int fftnd__tiling_create(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, const struct fftnd__cut *cut) {
    int count[REDIST_MAX_NDIMS] = {0}, changes = before->real != step->real;
    fftnd__tiling_shape(tiling, transform, before, step, cut);
    tiling->library = transform->library;
    if (is_empty(tiling))
        return REDIST_OK;
    int ruins_source = changes && direction == REDIST_BACKWARD;
    count_of(tiling, tiling->extent_in, count);
    tiling->direct_in = lay_out_end(&tiling->in, &before->local, tiling->ndims, count,
                                    cut->local_load && !ruins_source);
    count_of(tiling, tiling->extent_out, count);
    tiling->direct_out = lay_out_end(&tiling->out, &step->local, tiling->ndims, count,
                                     cut->local_store && cut->cached_store && !tiling->direct_in);
    int apart = changes || tiling->direct_in || tiling->direct_out;
    size_t total = tiling->in.bytes + (apart ? tiling->out.bytes : 0) + ALIGNMENT;
    tiling->memory = redist_calloc(total, 1);
    if (tiling->memory == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              total);
    tiling->in.memory = align(tiling->memory);
    tiling->out.memory = tiling->in.memory + (apart ? tiling->in.bytes : 0);
    return plan_tiles(tiling, transform, before, step, direction);
}

void fftnd__tiling_free(struct fftnd__tiling *tiling) {
    for (int i = 0; i < 2; i++)
        if (tiling->serial[i] != NULL)
            tiling->library->destroy(tiling->serial[i]);
    redist_release(tiling->memory);
    *tiling = (struct fftnd__tiling){0};
}

/* ---------------------------------------------------------------- running */

int fftnd__is_streamed(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return fftnd__step_bytes(transform, step) > transform->choice.stream_bytes;
}

struct fftnd__end fftnd__end_of(const struct fftnd__transform *transform,
                                const struct fftnd__step *step, void *array) {
    struct fftnd__end end = {.array = array, .stream = fftnd__is_streamed(transform, step)};
    ptrdiff_t item = (ptrdiff_t)fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < step->local.ndims; i++)
        end.stride[i] = step->local.stride[i] * item;
    return end;
}

static char *first_byte(const struct fftnd__end *end, int ndims, const int start[]) {
    char *address = end->array;
    for (int i = 0; i < ndims; i++)
        address += start[i] * end->stride[i];
    return address;
}

/* Fetches a tile, unless it can stay where it is; *in is where it then lies. */
static int load_tile(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                     const int start[], const int count[], char **in) {
    const struct fftnd__tile *tile = &tiling->in;
    *in = tile->memory;
    if (load->exchange != NULL)
        return redist_plan_get(load->exchange, start, count, tile->memory, tile->stride);
    char *array = first_byte(load, tiling->ndims, start);
    if (tiling->direct_in)
        *in = array;
    else
        redist_copy_box(tiling->ndims, count, tile->item, array, load->stride, tile->memory,
                        tile->stride, 0);
    return REDIST_OK;
}

static int store_tile(const struct fftnd__tiling *tiling, const struct fftnd__end *store,
                      const int start[], const int count[]) {
    const struct fftnd__tile *tile = &tiling->out;
    if (store->exchange != NULL)
        return redist_plan_put(store->exchange, start, count, tile->memory, tile->stride);
    if (!tiling->direct_out)
        redist_copy_box(tiling->ndims, count, tile->item, tile->memory, tile->stride,
                        first_byte(store, tiling->ndims, start), store->stride, store->stream);
    return REDIST_OK;
}

/* Bytes from a tile's first element to its last. */
static size_t span(const struct fftnd__tile *tile, int ndims, const int count[]) {
    size_t bytes = tile->item;
    for (int i = 0; i < ndims; i++)
        bytes += (size_t)(count[i] - 1) * (size_t)tile->stride[i];
    return bytes;
}

static int run_tile(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                    const struct fftnd__end *store, const int start[],
                    enum fftnd_precision precision, double scale, double *seconds) {
    int before[REDIST_MAX_NDIMS], after[REDIST_MAX_NDIMS], last = 0;
    for (int i = 0; i < tiling->ndims; i++) {
        int rest = tiling->extent_out[i] - start[i];
        int short_tile = !tiling->whole[i] && rest < tiling->count[i];
        before[i] = tiling->whole[i] ? tiling->extent_in[i] : short_tile ? rest : tiling->count[i];
        after[i] = tiling->whole[i] ? tiling->extent_out[i] : before[i];
        last |= short_tile;
    }
    char *in, *out = tiling->out.memory;
    if (tiling->direct_out)
        out = first_byte(store, tiling->ndims, start);
    int code = load_tile(tiling, load, start, before, &in);
    double begin = MPI_Wtime();
    if (code == REDIST_OK)
        code = tiling->library->execute(tiling->serial[last], in, out);
    if (code == REDIST_OK && scale != 1.0)
        code = tiling->library->scale(out, span(&tiling->out, tiling->ndims, after), precision,
                                      scale, NULL);
    *seconds += MPI_Wtime() - begin;
    return code == REDIST_OK ? store_tile(tiling, store, start, after) : code;
}

int fftnd__tiling_run(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                      const struct fftnd__end *store, enum fftnd_precision precision, double scale,
                      double *serial_seconds) {
    int start[REDIST_MAX_NDIMS] = {0}, code = REDIST_OK, axis;
    if (is_empty(tiling))
        return REDIST_OK;
    do {
        code = run_tile(tiling, load, store, start, precision, scale, serial_seconds);
        axis = tiling->ndims - 1; /* an odometer over the tiles */
        while (axis >= 0 && (tiling->whole[axis] ||
                             start[axis] + tiling->count[axis] >= tiling->extent_out[axis]))
            start[axis--] = 0;
        if (axis >= 0)
            start[axis] += tiling->count[axis];
    } while (code == REDIST_OK && axis >= 0);
    return code;
}
