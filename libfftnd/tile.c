/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles: a transform over some axes of a large array, cut along the other axes in pieces that fit the
 * second-level cache. A tile is gathered from wherever its data are, transformed where it is, and handed
 * to wherever it goes, so that transform and redistribution are one pass over memory.
 */
#include "offload.h"

#include <limits.h>
#include <stdatomic.h>
#include <time.h>

enum { ALIGNMENT = 64, CONFLICT = 1024 };

/* So many tiles for each thread keep all of them busy to the end, but tiles have at least so many bytes. */
enum { TILES_OF_THREAD = 4, LEAST_SHARED_BYTES = 16 << 10 };

/* ---------------------------------------------------------------- shape */

/* How many of `n` fit, evenly cut, in multiples of a cache line's elements where there are many. */
static int even_chunk(int n, size_t fit, size_t item) {
    int line = (int)(ALIGNMENT / item) > 0 ? (int)(ALIGNMENT / item) : 1;
    int most = fit < 1 ? 1 : fit > (size_t)n ? n : (int)fit;
    int pieces = (n + most - 1) / most, even = (n + pieces - 1) / pieces;
    int rounded = (even + line - 1) / line * line;
    return rounded <= most ? rounded : even;
}

/* Whether all elements of two axes follow one another in memory. */
static int are_one(const struct fftnd__local *local, int outer, int inner, int inner_extent) {
    return local->stride[outer] == local->stride[inner] * inner_extent;
}

/* Neighbouring axes that are not transformed become one: the outer has 1 element, the inner all. */
static void merge_axes(struct fftnd__tiling *tiling, const struct fftnd__local *before,
                       const struct fftnd__local *after) {
    for (int i = tiling->ndims - 1; i > 0; i--)
        if (!tiling->whole[i] && !tiling->whole[i - 1]) {
            int inner = i;
            while (inner + 1 < tiling->ndims && !tiling->whole[inner + 1])
                inner++;
            int extent = tiling->extent_out[inner];
            long long merged = (long long)extent * tiling->extent_out[i - 1];
            if (merged > INT_MAX || !are_one(before, i - 1, inner, extent) ||
                !are_one(after, i - 1, inner, extent))
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

/* How large tiles may be: with several threads, such that there are some for each. */
static size_t most_bytes(const struct fftnd__transform *transform, const struct fftnd__step *step,
                         const struct fftnd__cut *cut) {
    size_t threads = transform->offload == NULL ? (size_t)fftnd__team_size(transform->team) : 1;
    size_t fair = fftnd__step_bytes(transform, step) / (threads * TILES_OF_THREAD);
    fair = fair < LEAST_SHARED_BYTES ? LEAST_SHARED_BYTES : fair;
    return threads > 1 && fair < cut->bytes ? fair : cut->bytes;
}

static long long count_tiles(const struct fftnd__tiling *tiling) {
    long long tiles = 1;
    for (int i = 0; i < tiling->ndims; i++)
        if (!tiling->whole[i] && tiling->count[i] > 0)
            tiles *= (tiling->extent_out[i] + tiling->count[i] - 1) / tiling->count[i];
    return tiles;
}

int fftnd__tiling_is_coarse(const struct fftnd__tiling *tiling,
                            const struct fftnd__transform *transform) {
    return count_tiles(tiling) < fftnd__team_size(transform->team);
}

void fftnd__tiling_shape(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, const struct fftnd__cut *cut) {
    int shift = transform->batch.shift;
    size_t item = fftnd__element_bytes(transform, step->real && before->real), tile = item;
    *tiling = (struct fftnd__tiling){
        .ndims = step->local.ndims, .chunk_axis = -1, .direction = direction};
    tiling->in.item = fftnd__element_bytes(transform, before->real);
    tiling->out.item = fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < tiling->ndims; i++) {
        int batch = i == transform->batch.axis;
        tiling->whole[i] = !batch && fftnd__is_transformed(step, i - shift);
        tiling->extent_in[i] = batch ? transform->batch.count : before->alignment.count[i - shift];
        tiling->extent_out[i] = batch ? transform->batch.count : step->alignment.count[i - shift];
    }
    int wide[REDIST_MAX_NDIMS];
    struct fftnd__tile *spectral = direction == REDIST_FORWARD ? &tiling->out : &tiling->in;
    fftnd__bands_of(&spectral->bands, transform, step);
    fftnd__bands_widen(&tiling->out.bands, tiling->ndims, tiling->extent_out, wide);
    for (int i = 0; i < tiling->ndims; i++)
        if (tiling->whole[i])
            tile *= (size_t)(wide[i] > 0 ? wide[i] : 1);
    if (cut->local_load && cut->local_store)
        merge_axes(tiling, &before->local, &step->local);
    choose_counts(tiling, tile, item, most_bytes(transform, step, cut));
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

/* Of a tile in memory. */
static void count_of(const struct fftnd__tiling *tiling, const struct fftnd__bands *bands,
                     const int extent[], int count[]) {
    for (int i = 0; i < tiling->ndims; i++)
        count[i] = tiling->whole[i] ? extent[i] : tiling->count[i];
    fftnd__bands_widen(bands, tiling->ndims, count, count);
}

/* ---------------------------------------------------------------- plans in a tile */

/* A part of the transform: from which memory to which, over which axes. */
struct pass {
    const struct fftnd__tile *in, *out;
    struct fftnd__step before, step;
    int count[REDIST_MAX_NDIMS]; /* elements along the other axes */
};

static int plan_pass(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                     const struct pass *pass, int last) {
    struct fftnd__local in = {.ndims = tiling->ndims}, out = in;
    struct fftnd__serial_problem problem;
    for (int i = 0; i < tiling->ndims; i++) {
        in.stride[i] = pass->in->stride[i] / (ptrdiff_t)pass->in->item;
        out.stride[i] = pass->out->stride[i] / (ptrdiff_t)pass->out->item;
        out.extent[i] = pass->count[i];
    }
    fftnd__describe_serial(transform, &pass->before, &pass->step, tiling->direction, &in, &out,
                           &problem);
    if (tiling->offload != NULL)
        problem.stream = tiling->offload->streams[FFTND__TRANSFORM];
    if (pass->in == &tiling->in && tiling->direct_in && fftnd__lines_suit(&problem))
        return fftnd__lines_create(&tiling->lines[last], tiling->library, &problem,
                                   pass->in->memory, pass->out->memory);
    return tiling->library->create(&problem, pass->in->memory, pass->out->memory,
                                   &tiling->serial[tiling->npasses - 1][last]);
}

/* Whole tiles, and the last along the axis that is cut unevenly. */
static int plan_both(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                     struct pass *pass) {
    tiling->npasses++;
    int axis = tiling->chunk_axis, code = plan_pass(tiling, transform, pass, 0);
    if (code != REDIST_OK || axis < 0 || tiling->extent_out[axis] % tiling->count[axis] == 0)
        return code;
    pass->count[axis] = tiling->extent_out[axis] % tiling->count[axis];
    return plan_pass(tiling, transform, pass, 1);
}

/* The halved axis by itself, and the others only for the modes of it that the array has. */
static int plan_apart(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                      const struct pass *together) {
    int last = together->step.naxes - 1, forward = tiling->direction == REDIST_FORWARD;
    int halved = transform->chain.halved, at = halved + transform->batch.shift;
    struct pass alone = *together, others = *together;
    alone.step.naxes = 1;
    alone.step.axes[0] = halved;
    others.step.naxes = last;
    others.in = others.out = forward ? together->out : together->in;
    others.before.real = others.step.real = 0;
    others.count[at] = forward ? tiling->extent_out[at] : tiling->extent_in[at];
    int code = plan_both(tiling, transform, forward ? &alone : &others);
    return code == REDIST_OK ? plan_both(tiling, transform, forward ? &others : &alone) : code;
}

int fftnd__tiling_plan(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                       const struct fftnd__step *before, const struct fftnd__step *step) {
    struct pass pass = {&tiling->in, &tiling->out, *before, *step, {0}};
    int halved = transform->chain.halved;
    count_of(tiling, &tiling->out.bands, tiling->extent_out, pass.count);
    int apart = before->real != step->real && step->naxes > 1 &&
                transform->chain.kept[halved] < transform->chain.points[halved];
    return apart ? plan_apart(tiling, transform, &pass) : plan_both(tiling, transform, &pass);
}

static char *align(char *memory) {
    return memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
}

int fftnd__tiling_is_empty(const struct fftnd__tiling *tiling) {
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
    if (may_be_direct && tile->bands.n == 0 && lies_alike(tile, array, ndims, count))
        return 1;
    lay_out(tile, ndims, count, 1);
    return 0;
}

void fftnd__tiling_lay_out(struct fftnd__tiling *tiling) {
    int count[REDIST_MAX_NDIMS];
    count_of(tiling, &tiling->in.bands, tiling->extent_in, count);
    lay_out(&tiling->in, tiling->ndims, count, 0);
    count_of(tiling, &tiling->out.bands, tiling->extent_out, count);
    lay_out(&tiling->out, tiling->ndims, count, 0);
    tiling->ntiles = count_tiles(tiling);
}

int fftnd__tiling_create(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                         const struct fftnd__step *before, const struct fftnd__step *step,
                         int direction, const struct fftnd__cut *cut) {
    int count[REDIST_MAX_NDIMS] = {0}, changes = before->real != step->real;
    if (transform->offload != NULL)
        return fftnd__offload_plan(tiling, transform, before, step, direction, cut);
    fftnd__tiling_shape(tiling, transform, before, step, direction, cut);
    tiling->library = transform->library;
    if (fftnd__tiling_is_empty(tiling))
        return REDIST_OK;
    int ruins_source = changes && direction == REDIST_BACKWARD;
    count_of(tiling, &tiling->in.bands, tiling->extent_in, count);
    tiling->direct_in = lay_out_end(&tiling->in, &before->local, tiling->ndims, count,
                                    cut->local_load && !ruins_source);
    count_of(tiling, &tiling->out.bands, tiling->extent_out, count);
    tiling->direct_out = lay_out_end(&tiling->out, &step->local, tiling->ndims, count,
                                     cut->local_store && cut->cached_store && !tiling->direct_in);
    int apart = changes || tiling->direct_in || tiling->direct_out;
    tiling->ntiles = count_tiles(tiling);
    tiling->team = transform->team;
    tiling->share = tiling->in.bytes + (apart ? tiling->out.bytes : 0);
    size_t total = tiling->share * (size_t)fftnd__team_size(tiling->team) + ALIGNMENT;
    tiling->memory = redist_calloc(total, 1);
    if (tiling->memory == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              total);
    tiling->in.memory = align(tiling->memory);
    tiling->out.memory = tiling->in.memory + (apart ? tiling->in.bytes : 0);
    return fftnd__tiling_plan(tiling, transform, before, step);
}

void fftnd__tiling_free(struct fftnd__tiling *tiling) {
    for (int i = 0; i < 4; i++)
        if (tiling->serial[i / 2][i % 2] != NULL)
            tiling->library->destroy(tiling->serial[i / 2][i % 2]);
    for (int i = 0; i < 2; i++)
        fftnd__lines_free(&tiling->lines[i], tiling->library);
    redist_release(tiling->memory);
    *tiling = (struct fftnd__tiling){0};
}

/* ---------------------------------------------------------------- running */

int fftnd__is_streamed(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return fftnd__step_bytes(transform, step) > transform->choice.nontemporal_bytes;
}

struct fftnd__end fftnd__end_of(const struct fftnd__transform *transform,
                                const struct fftnd__step *step, void *array) {
    struct fftnd__end end = {.array = array, .stream = fftnd__is_streamed(transform, step)};
    ptrdiff_t item = (ptrdiff_t)fftnd__element_bytes(transform, step->real);
    for (int i = 0; i < step->local.ndims; i++)
        end.stride[i] = step->local.stride[i] * item;
    return end;
}

char *fftnd__end_address(const struct fftnd__end *end, int ndims, const int start[]) {
    char *address = end->array;
    for (int i = 0; i < ndims; i++)
        address += start[i] * end->stride[i];
    return address;
}

int fftnd__end_load(const struct fftnd__end *load, const struct fftnd__block *tile,
                    const int start[], const int count[]) {
    if (load->exchange != NULL)
        return redist_plan_get(load->exchange, start, count, tile->memory, tile->stride);
    redist_copy_box(tile->ndims, count, tile->item, fftnd__end_address(load, tile->ndims, start),
                    load->stride, tile->memory, tile->stride, 0);
    return REDIST_OK;
}

int fftnd__end_store(const struct fftnd__end *store, const struct fftnd__block *tile,
                     const int start[], const int count[]) {
    if (store->exchange != NULL)
        return redist_plan_put(store->exchange, start, count, tile->memory, tile->stride);
    redist_copy_box(tile->ndims, count, tile->item, tile->memory, tile->stride,
                    fftnd__end_address(store, tile->ndims, start), store->stride, store->stream);
    return REDIST_OK;
}

typedef int move_box(const struct fftnd__end *end, const struct fftnd__block *tile,
                     const int start[], const int count[]);

/* Between the tile and the box at `start`, `count` of its array. */
static int move_pieces(const struct fftnd__block *tile, const struct fftnd__bands *bands,
                       const struct fftnd__end *end, const int start[], const int count[],
                       move_box *move) {
    struct fftnd__piece piece;
    int code = REDIST_OK;
    for (int i = 0; i < 1 << bands->n && code == REDIST_OK; i++)
        if (fftnd__bands_piece(bands, i, tile->ndims, start, count, tile->stride, &piece)) {
            struct fftnd__block part = *tile;
            part.memory += piece.offset;
            code = move(end, &part, piece.start, piece.count);
        }
    return code;
}

/* The tile at `memory` of the box with these extents in its array. */
static struct fftnd__block block_of(const struct fftnd__tiling *tiling,
                                    const struct fftnd__tile *tile, const int count[], char *memory,
                                    enum fftnd_precision precision) {
    struct fftnd__block block = {precision, tiling->ndims, {0}, tile->stride, tile->item, memory};
    fftnd__bands_widen(&tile->bands, tiling->ndims, count, block.count);
    return block;
}

/* Bytes from a tile's first element to its last. */
static size_t span(const struct fftnd__block *block) {
    size_t bytes = block->item;
    for (int i = 0; i < block->ndims; i++)
        bytes += (size_t)(block->count[i] - 1) * (size_t)block->stride[i];
    return bytes;
}

/* A run over all tiles: what the threads share. */
struct loop {
    const struct fftnd__tiling *tiling;
    const struct fftnd__end *load, *store;
    enum fftnd_precision precision;
    double scale;
    _Atomic long long next;        /* the first tile that nobody has taken */
    _Atomic long long nanoseconds; /* spent in transforms, by all threads */
};

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

void fftnd__tiling_box(const struct fftnd__tiling *tiling, long long number,
                       struct fftnd__tile_box *box) {
    box->last = 0;
    for (int i = tiling->ndims - 1; i >= 0; i--) {
        int count = tiling->count[i];
        box->start[i] = 0;
        box->before[i] = tiling->extent_in[i];
        box->after[i] = tiling->extent_out[i];
        if (tiling->whole[i])
            continue;
        int pieces = (tiling->extent_out[i] + count - 1) / count;
        box->start[i] = (int)(number % pieces) * count;
        int rest = tiling->extent_out[i] - box->start[i];
        box->before[i] = box->after[i] = rest < count ? rest : count;
        box->last |= rest < count;
        number /= pieces;
    }
}

/* A halved axis whose modes are dropped has a pass of its own, forward the first, backward the last. */
static int transform_tile(const struct fftnd__tiling *tiling, int last,
                          const struct fftnd__block *in, const struct fftnd__block *out) {
    const struct fftnd__bands *bands = &tiling->out.bands;
    int forward = tiling->direction == REDIST_FORWARD, apart = tiling->npasses > 1;
    const struct fftnd__block *between = apart && !forward ? in : out;
    fftnd__bands_spread(&tiling->in.bands, in);
    const struct fftnd__lines *lines = &tiling->lines[last];
    int code = lines->line != NULL
                   ? fftnd__lines_run(lines, tiling->library, in->memory, between->memory)
                   : tiling->library->execute(tiling->serial[0][last], in->memory, between->memory);
    fftnd__bands_join(bands, FFTND__NYQUIST_MIRROR, between);
    if (code == REDIST_OK && apart)
        code = tiling->library->execute(tiling->serial[1][last], between->memory, out->memory);
    fftnd__bands_join(bands, FFTND__NYQUIST_PAIR, out);
    return code;
}

static int run_tile(struct loop *loop, const struct fftnd__tile_box *box, int thread) {
    const struct fftnd__tiling *tiling = loop->tiling;
    size_t share = (size_t)thread * tiling->share;
    char *in = tiling->in.memory + share, *out = tiling->out.memory + share;
    if (tiling->direct_in)
        in = fftnd__end_address(loop->load, tiling->ndims, box->start);
    if (tiling->direct_out)
        out = fftnd__end_address(loop->store, tiling->ndims, box->start);
    const struct fftnd__block blocks[2] = {
        block_of(tiling, &tiling->in, box->before, in, loop->precision),
        block_of(tiling, &tiling->out, box->after, out, loop->precision)};
    int code = REDIST_OK;
    if (!tiling->direct_in)
        code = move_pieces(&blocks[0], &tiling->in.bands, loop->load, box->start, box->before,
                           fftnd__end_load);
    long long begin = now();
    if (code == REDIST_OK)
        code = transform_tile(tiling, box->last, &blocks[0], &blocks[1]);
    if (code == REDIST_OK && loop->scale != 1.0)
        code = tiling->library->scale(out, span(&blocks[1]), loop->precision, loop->scale, NULL);
    atomic_fetch_add_explicit(&loop->nanoseconds, now() - begin, memory_order_relaxed);
    if (code == REDIST_OK && !tiling->direct_out)
        code = move_pieces(&blocks[1], &tiling->out.bands, loop->store, box->start, box->after,
                           fftnd__end_store);
    return code;
}

/* Takes tiles until there are none left. After a failure nobody takes any. */
static int take_tiles(void *data, int thread) {
    struct loop *loop = data;
    struct fftnd__tile_box box;
    int code = REDIST_OK;
    long long ntiles = loop->tiling->ntiles, number;
    while (code == REDIST_OK && (number = atomic_fetch_add(&loop->next, 1)) < ntiles) {
        fftnd__tiling_box(loop->tiling, number, &box);
        code = run_tile(loop, &box, thread);
    }
    if (code != REDIST_OK)
        atomic_store(&loop->next, ntiles);
    return code;
}

int fftnd__end_is_shared(const struct fftnd__end *end) {
    redist_plan_info info;
    return end->exchange == NULL ||
           (redist_plan_get_info(end->exchange, &info) == REDIST_OK && info.concurrent);
}

int fftnd__tiling_run(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                      const struct fftnd__end *store, enum fftnd_precision precision, double scale,
                      double *serial_seconds) {
    if (fftnd__tiling_is_empty(tiling))
        return REDIST_OK;
    if (tiling->offload != NULL)
        return fftnd__offload_run(tiling, load, store, precision, scale, serial_seconds);
    struct fftnd__end destination = *store;
    if (store->exchange == NULL && load->exchange == NULL && store->array == load->array)
        destination.stream = 0; /* what was loaded is still in the caches */
    struct loop loop = {.tiling = tiling,
                        .load = load,
                        .store = &destination,
                        .precision = precision,
                        .scale = scale};
    int shared = tiling->ntiles > 1 && fftnd__end_is_shared(load) && fftnd__end_is_shared(store);
    struct fftnd__team *team = shared ? tiling->team : NULL;
    int code = fftnd__team_run(team, take_tiles, &loop);
    *serial_seconds += 1e-9 * (double)loop.nanoseconds / fftnd__team_size(team);
    return code;
}
