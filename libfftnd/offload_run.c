/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tiles on their way through a device: while one is transformed, the next ones come up and the one before
 * goes down. The host hands over all of a tile's work at once and waits only for tiles that are back; then
 * it gives them to the peers, or fetches from them what is to go up next.
 */
#include "offload.h"

struct run {
    const struct fftnd__tiling *tiling;
    const struct fftnd__end *load, *store;
    int loads_directly, stores_directly; /* the device reaches the array at that end */
    enum fftnd_precision precision;
    double scale;
    char *memory, *staging; /* of the first slot */
    size_t staging_share;   /* bytes from one slot's staging to the next one's */
    double moving;          /* seconds that the host spent with peers and in copies */
};

/* ---------------------------------------------------------------- ends */

/* Whether the device reaches all of the array at an end, where it is. */
static int is_reached(const struct fftnd__tiling *tiling, const struct fftnd__end *end,
                      const int extent[], size_t bytes) {
    const struct fftnd__offload *offload = tiling->offload;
    if (end->exchange != NULL)
        return 0;
    for (int i = 0; i < tiling->ndims; i++)
        bytes += (size_t)(extent[i] - 1) * (size_t)end->stride[i];
    for (int i = 0; i < FFTND__PINS; i++) {
        const char *first = offload->pinned[i].array;
        if (offload->pinned[i].done && end->array >= first &&
            end->array + bytes <= first + offload->pinned[i].bytes)
            return 1;
    }
    return offload->device->is_pinned(end->array, bytes);
}

static int copy_box(const struct run *run, enum fftnd__activity activity,
                    const struct fftnd__block *tile, const void *source,
                    const ptrdiff_t source_stride[], void *destination,
                    const ptrdiff_t destination_stride[]) {
    const struct fftnd__offload *offload = run->tiling->offload;
    return redist_copy_box_in(offload->device->id, offload->streams[activity], tile->ndims,
                              tile->count, tile->item, source, source_stride, destination,
                              destination_stride);
}

/* A tile's part of the array on one side, at an address on the device or in staging memory. */
static struct fftnd__block block_at(const struct run *run, const struct fftnd__tile *tile,
                                    const int count[], char *memory) {
    struct fftnd__block block = {run->precision, run->tiling->ndims, {0},
                                 tile->stride,   tile->item,         memory};
    for (int i = 0; i < block.ndims; i++)
        block.count[i] = count[i];
    if (tile->padded)
        block.count[block.ndims - 1] = tile->padded;
    return block;
}

/* ---------------------------------------------------------------- tiles in staging memory */

typedef int move_box(const struct fftnd__end *end, const struct fftnd__block *tile,
                     const int start[], const int count[]);

/* A tile that the threads of the team move, each a part of it along an axis. */
struct move {
    const struct fftnd__end *end;
    const struct fftnd__block *tile;
    const int *start;
    int axis, parts;
    move_box *move;
};

static int move_part(void *data, int thread) {
    const struct move *move = data;
    struct fftnd__block part = *move->tile;
    int start[REDIST_MAX_NDIMS], n = part.count[move->axis];
    int first = (int)((long long)n * thread / move->parts);
    for (int i = 0; i < part.ndims; i++)
        start[i] = move->start[i];
    start[move->axis] += first;
    part.memory += first * part.stride[move->axis];
    part.count[move->axis] = (int)((long long)n * (thread + 1) / move->parts) - first;
    if (part.count[move->axis] == 0)
        return REDIST_OK;
    return move->move(move->end, &part, start, part.count);
}

/* Along the slowest axis that gives each thread something. */
static int choose_axis(const struct fftnd__block *tile, int parts) {
    int best = 0;
    for (int i = 0; i < tile->ndims && tile->count[best] < parts; i++)
        if (tile->count[i] > tile->count[best])
            best = i;
    return best;
}

static int move_tile(struct run *run, const struct fftnd__end *end, const struct fftnd__block *tile,
                     const int start[], move_box *function) {
    struct fftnd__team *team = fftnd__end_is_shared(end) ? run->tiling->team : NULL;
    struct move move = {end, tile, start, 0, fftnd__team_size(team), function};
    double begin = MPI_Wtime();
    move.axis = choose_axis(tile, move.parts);
    int code = fftnd__team_run(team, move_part, &move);
    run->moving += MPI_Wtime() - begin;
    return code;
}

static char *staging_of(const struct run *run, int slot) {
    return run->staging + (size_t)slot * run->staging_share;
}

static int upload(struct run *run, const struct fftnd__tile_box *box, int slot, char *memory) {
    const struct fftnd__tile *tile = &run->tiling->in;
    const struct fftnd__block block = block_at(run, tile, box->before, staging_of(run, slot));
    if (run->loads_directly)
        return copy_box(run, FFTND__UPLOAD, &block,
                        fftnd__end_address(run->load, block.ndims, box->start), run->load->stride,
                        memory, tile->stride);
    int code = move_tile(run, run->load, &block, box->start, fftnd__end_load);
    if (code != REDIST_OK)
        return code;
    return copy_box(run, FFTND__UPLOAD, &block, block.memory, tile->stride, memory, tile->stride);
}

static int download(struct run *run, const struct fftnd__tile_box *box, int slot, char *memory) {
    const struct fftnd__tile *tile = &run->tiling->out;
    const struct fftnd__block block = block_at(run, tile, box->after, staging_of(run, slot));
    if (run->stores_directly)
        return copy_box(run, FFTND__DOWNLOAD, &block, memory, tile->stride,
                        fftnd__end_address(run->store, block.ndims, box->start),
                        run->store->stride);
    return copy_box(run, FFTND__DOWNLOAD, &block, memory, tile->stride, block.memory, tile->stride);
}

/* ---------------------------------------------------------------- one tile */

/* Bytes from a tile's first element to its last. */
static size_t span(const struct fftnd__tiling *tiling, const int count[]) {
    size_t bytes = tiling->out.item;
    for (int i = 0; i < tiling->ndims; i++)
        bytes += (size_t)(count[i] - 1) * (size_t)tiling->out.stride[i];
    return bytes;
}

static int transform(const struct run *run, const struct fftnd__tile_box *box, char *in,
                     char *out) {
    const struct fftnd__tiling *tiling = run->tiling;
    if (tiling->offload->bare)
        return REDIST_OK;
    int code = tiling->library->execute(tiling->serial[0][box->last], in, out);
    if (code == REDIST_OK && run->scale != 1.0)
        code = tiling->library->scale(out, span(tiling, box->after), run->precision, run->scale,
                                      tiling->offload->streams[FFTND__TRANSFORM]);
    return code;
}

/* Notes that an activity's stream has got all of a slot's work. */
static int set_mark(const struct fftnd__offload *offload, int slot, enum fftnd__activity activity) {
    if (offload->library->mark_set == NULL)
        return REDIST_OK;
    return offload->library->mark_set(offload->marks[slot][activity], offload->streams[activity]);
}

/* The next activity begins when this one is done. */
static int pass_on(const struct fftnd__offload *offload, int slot, enum fftnd__activity activity) {
    int code = set_mark(offload, slot, activity);
    return code == REDIST_OK ? offload->device->stream_follow(offload->streams[activity + 1],
                                                              offload->marks[slot][activity])
                             : code;
}

static int begin_tile(struct run *run, long long number) {
    const struct fftnd__tiling *tiling = run->tiling;
    const struct fftnd__offload *offload = tiling->offload;
    int slot = (int)(number % tiling->slots);
    char *in = run->memory + (size_t)slot * tiling->share;
    char *out = in + (tiling->share - tiling->out.bytes);
    struct fftnd__tile_box box;
    fftnd__tiling_box(tiling, number, &box);
    int code = upload(run, &box, slot, in);
    if (code == REDIST_OK)
        code = pass_on(offload, slot, FFTND__UPLOAD);
    if (code == REDIST_OK)
        code = transform(run, &box, in, out);
    if (code == REDIST_OK)
        code = pass_on(offload, slot, FFTND__TRANSFORM);
    if (code == REDIST_OK)
        code = download(run, &box, slot, out);
    return code == REDIST_OK ? set_mark(offload, slot, FFTND__DOWNLOAD) : code;
}

/* Waits until a tile is back; its slot is free for another one then. */
static int end_tile(struct run *run, long long number) {
    const struct fftnd__tiling *tiling = run->tiling;
    const struct fftnd__offload *offload = tiling->offload;
    int slot = (int)(number % tiling->slots), code = REDIST_OK;
    if (offload->library->mark_wait != NULL)
        code = offload->library->mark_wait(offload->marks[slot][FFTND__DOWNLOAD]);
    if (code != REDIST_OK || run->stores_directly)
        return code;
    struct fftnd__tile_box box;
    fftnd__tiling_box(tiling, number, &box);
    const struct fftnd__block block = block_at(run, &tiling->out, box.after, staging_of(run, slot));
    return move_tile(run, run->store, &block, box.start, fftnd__end_store);
}

/* ---------------------------------------------------------------- all tiles */

static int run_tiles(struct run *run) {
    long long ntiles = run->tiling->ntiles, lead = run->tiling->slots - 1;
    int code = REDIST_OK;
    for (long long number = 0; number < ntiles + lead && code == REDIST_OK; number++) {
        if (number < ntiles)
            code = begin_tile(run, number);
        if (number >= lead && code == REDIST_OK)
            code = end_tile(run, number - lead);
    }
    return code;
}

/* After a failure too nothing is under way any more. */
static int wait_all(const struct fftnd__offload *offload, int code) {
    for (int i = 0; i < FFTND__ACTIVITIES; i++) {
        int now = offload->device->stream_wait(offload->streams[i]);
        code = code == REDIST_OK ? now : code;
    }
    return code;
}

/* Scratch of the serial library behind the tiles. */
static int set_area(const struct fftnd__tiling *tiling) {
    int code = REDIST_OK;
    for (int i = 0; i < 2 && tiling->library->set_area != NULL && code == REDIST_OK; i++)
        if (tiling->serial[0][i] != NULL)
            code = tiling->library->set_area(tiling->serial[0][i],
                                             fftnd__offload_memory(tiling) +
                                                 (size_t)tiling->slots * tiling->share);
    return code;
}

int fftnd__offload_run(const struct fftnd__tiling *tiling, const struct fftnd__end *load,
                       const struct fftnd__end *store, enum fftnd_precision precision, double scale,
                       double *serial_seconds) {
    size_t in = tiling->in.bytes, out = tiling->out.bytes;
    struct run run = {.tiling = tiling,
                      .load = load,
                      .store = store,
                      .precision = precision,
                      .scale = scale,
                      .memory = fftnd__offload_memory(tiling),
                      .staging = fftnd__offload_staging(tiling),
                      .staging_share = in > out ? in : out};
    run.loads_directly = is_reached(tiling, load, tiling->extent_in, tiling->in.item);
    run.stores_directly = is_reached(tiling, store, tiling->extent_out, tiling->out.item);
    tiling->offload->buffered |= (load->exchange == NULL && !run.loads_directly) ||
                                 (store->exchange == NULL && !run.stores_directly);
    double begin = MPI_Wtime();
    int code = set_area(tiling);
    if (code == REDIST_OK)
        code = run_tiles(&run);
    code = wait_all(tiling->offload, code);
    *serial_seconds += MPI_Wtime() - begin - run.moving;
    return code;
}
