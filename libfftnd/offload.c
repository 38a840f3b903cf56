/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a transform whose arrays are in host memory: how much of it there is, what is kept there,
 * and how tiles are cut so that they fit. */
#include "offload.h"

#include <stdint.h>

/* Of the limit that axes transformed at once may take: three tiles, each with a copy if it is real on one
 * side, and scratch. Larger ones would make few tiles, with nothing beside the first and the last. */
enum { SHARE_OF_AXES = 8, MOST_AXES_BYTES = 512 << 20 };

/* With so many tiles the first upload and the last download, which nothing runs beside, do not count; with
 * tiles as large as this they do not either. */
enum { MANY_TILES = 16, LEAST_BYTES = 8 << 20, MOST_BYTES = 128 << 20 };

/* Contiguous bytes of the host that keep the rate of the link; shorter rows cost less than another pass. */
enum { LONG_ROW = 32 << 10, SHORT_ROW = 4 << 10 };

enum { ALIGNMENT = 256 };

static size_t round_up(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---------------------------------------------------------------- the device */

int fftnd__offload_wanted(const fftnd_options *options) {
    int on_host = fftnd__serial_for(options->space)->space == REDIST_SPACE_HOST;
    int elsewhere = fftnd__serial_for(options->device)->space != REDIST_SPACE_HOST;
    return on_host && (elsewhere || options->device_bytes != 0);
}

/* What a rank takes of a device without being told: some of what is free is left to others, and the ranks
 * that share a device get equal parts. Collective. */
static int find_limit(struct fftnd__offload *offload, MPI_Comm comm) {
    int nranks, code;
    size_t bytes = 0, sharers = 0;
    unsigned long long mine[2] = {0, 0}, *all;
    MPI_Comm_size(comm, &nranks);
    all = redist_calloc((size_t)nranks, sizeof mine);
    code = all != NULL
               ? offload->device->find_free(&bytes, &mine[0])
               : redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for %d ranks", nranks);
    mine[1] = bytes;
    code = redist_agree(comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(redist_insist(
            MPI_Allgather(mine, 2, MPI_UNSIGNED_LONG_LONG, all, 2, MPI_UNSIGNED_LONG_LONG, comm)));
    for (int rank = 0; rank < nranks && code == REDIST_OK; rank++)
        if (all[2 * rank] == mine[0]) {
            sharers++;
            bytes = all[2 * rank + 1] < bytes ? (size_t)all[2 * rank + 1] : bytes;
        }
    if (code == REDIST_OK)
        offload->limit = bytes / 5 * 4 / sharers;
    redist_release(all);
    return code;
}

static int create_streams(struct fftnd__offload *offload) {
    int code = REDIST_OK;
    for (int i = 0; i < FFTND__ACTIVITIES && code == REDIST_OK; i++) {
        code = offload->device->stream_create(&offload->streams[i]);
        for (int slot = 0; slot < FFTND__SLOTS && code == REDIST_OK; slot++)
            if (offload->library->mark_create != NULL)
                code = offload->library->mark_create(&offload->marks[slot][i]);
    }
    return code;
}

int fftnd__offload_create(MPI_Comm comm, const fftnd_options *options,
                          struct fftnd__offload **result) {
    struct fftnd__offload *offload = *result = redist_calloc(1, sizeof *offload);
    int code = REDIST_OK;
    if (offload == NULL)
        code = redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a device");
    else
        *offload = (struct fftnd__offload){.device = redist_space_at(options->device),
                                           .library = fftnd__serial_for(options->device),
                                           .limit = options->device_bytes,
                                           .is_given = options->device_bytes != 0};
    code = redist_agree(comm, code);
    if (code != REDIST_OK)
        return code;
    if (!offload->is_given)
        code = find_limit(offload, comm);
    return redist_agree(comm, code == REDIST_OK ? create_streams(offload) : code);
}

void fftnd__offload_free(struct fftnd__offload *offload) {
    if (offload == NULL)
        return;
    for (enum fftnd__pinned i = FFTND__PIN_PHYSICAL; i < FFTND__PINS; i++)
        fftnd__offload_unpin(offload, i);
    for (int i = 0; i < FFTND__ACTIVITIES; i++) {
        for (int slot = 0; slot < FFTND__SLOTS; slot++)
            if (offload->marks[slot][i] != NULL)
                offload->library->mark_destroy(offload->marks[slot][i]);
        offload->device->stream_destroy(offload->streams[i]);
    }
    offload->device->release(offload->memory);
    offload->device->release_pinned(offload->staging);
    redist_release(offload);
}

/* ---------------------------------------------------------------- arrays of the host */

void fftnd__offload_unpin(struct fftnd__offload *offload, enum fftnd__pinned which) {
    if (offload->pinned[which].done)
        offload->device->unpin(offload->pinned[which].array);
    offload->pinned[which].done = 0;
    offload->pinned[which].array = NULL;
}

void fftnd__offload_pin(struct fftnd__offload *offload, enum fftnd__pinned which, void *array,
                        size_t bytes) {
    if (offload->pinned[which].array == array && offload->pinned[which].bytes == bytes)
        return;
    fftnd__offload_unpin(offload, which);
    offload->pinned[which].array = array;
    offload->pinned[which].bytes = bytes;
    offload->pinned[which].done = bytes != 0 && offload->device->pin(array, bytes);
}

/* ---------------------------------------------------------------- memory */

static char *align(void *memory) {
    return (char *)memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
}

char *fftnd__offload_memory(const struct fftnd__tiling *tiling) {
    return align(tiling->offload->memory);
}

char *fftnd__offload_staging(const struct fftnd__tiling *tiling) {
    return align(tiling->offload->staging);
}

/* Memory only grows, and what is in it between two runs is of no use to anyone. */
static int reserve(struct fftnd__offload *offload, size_t bytes, size_t staging_bytes) {
    int code = REDIST_OK;
    if (bytes > offload->bytes) {
        offload->device->release(offload->memory);
        offload->memory = NULL;
        offload->bytes = 0;
        code = offload->device->allocate(bytes, &offload->memory);
        offload->bytes = code == REDIST_OK ? bytes : 0;
    }
    if (staging_bytes > offload->staging_bytes && code == REDIST_OK) {
        offload->device->release_pinned(offload->staging);
        offload->staging = NULL;
        offload->staging_bytes = 0;
        code = offload->device->allocate_pinned(staging_bytes, &offload->staging);
        offload->staging_bytes = code == REDIST_OK ? staging_bytes : 0;
    }
    return code;
}

/* ---------------------------------------------------------------- tiles */

void fftnd__offload_adjust(const struct fftnd__offload *offload, struct fftnd__choice *choice) {
    choice->tiled = choice->chunks = 1;
    choice->realigned = choice->early = 0; /* transfers move rows, not single elements */
    choice->whole = 0;
    choice->group_bytes = offload->limit / SHARE_OF_AXES;
    if (choice->group_bytes > MOST_AXES_BYTES)
        choice->group_bytes = MOST_AXES_BYTES;
    choice->row_bytes = SHORT_ROW;
    choice->tile_bytes = choice->group_bytes < MOST_BYTES ? choice->group_bytes : MOST_BYTES;
}

/* Bytes of the smallest tile, all of whose rows are repeated until they are long. */
static size_t bytes_of_long_rows(const struct fftnd__tiling *tiling) {
    size_t bytes = tiling->out.item, row = tiling->out.item;
    for (int i = tiling->ndims - 1, in_row = 1; i >= 0; i--) {
        in_row = in_row && tiling->whole[i];
        if (in_row)
            row *= (size_t)tiling->extent_out[i];
        if (tiling->whole[i])
            bytes *= (size_t)tiling->extent_out[i];
    }
    return row < LONG_ROW ? bytes * (LONG_ROW / row) : bytes;
}

/* Of a tile, to begin with: enough for the link, and no more, so that there are many. */
static size_t wanted_bytes(const struct fftnd__tiling *tiling,
                           const struct fftnd__transform *transform,
                           const struct fftnd__step *step) {
    const struct fftnd__offload *offload = transform->offload;
    size_t bytes = fftnd__step_bytes(transform, step) / MANY_TILES, most = offload->limit / 4;
    bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
    size_t rows = bytes_of_long_rows(tiling);
    bytes = bytes < rows ? rows : bytes;
    if (transform->options.tile_bytes != 0)
        bytes = transform->options.tile_bytes;
    return bytes < most ? bytes : most;
}

static int is_smallest(const struct fftnd__tiling *tiling) {
    for (int i = 0; i < tiling->ndims; i++)
        if (!tiling->whole[i] && tiling->count[i] > 1)
            return 0;
    return 1;
}

static size_t find_area(const struct fftnd__tiling *tiling) {
    size_t most = 0;
    for (int i = 0; i < 2 && tiling->library->area_bytes != NULL; i++)
        if (tiling->serial[0][i] != NULL) {
            size_t bytes = tiling->library->area_bytes(tiling->serial[0][i]);
            most = bytes > most ? bytes : most;
        }
    return round_up(most);
}

/* One tile cut in a way, with the memory that `slots` of them need. */
struct attempt {
    struct fftnd__cut cut;
    int slots;
    size_t needed;
};

static int set_memory(struct fftnd__tiling *tiling, struct fftnd__offload *offload, size_t needed) {
    size_t staging = tiling->in.bytes > tiling->out.bytes ? tiling->in.bytes : tiling->out.bytes;
    int code = reserve(offload, needed, (size_t)tiling->slots * staging + ALIGNMENT);
    tiling->in.memory = fftnd__offload_memory(tiling);
    tiling->out.memory = tiling->in.memory + (tiling->share - tiling->out.bytes);
    return code;
}

/* Real lines that are padded in the array are so in the tile: both are copied as they are, in one run instead
 * of one for each line. */
static void pad_lines(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                      const struct fftnd__step *before, const struct fftnd__step *step) {
    int last = tiling->ndims - 1, halved = transform->chain.halved + transform->batch.shift;
    if (!transform->options.in_place || before->real == step->real || halved != last)
        return;
    struct fftnd__tile *real = before->real ? &tiling->in : &tiling->out;
    const struct fftnd__tile *other = before->real ? &tiling->out : &tiling->in;
    for (int i = 0; i < last; i++)
        real->stride[i] = other->stride[i];
    real->bytes = other->bytes;
    real->padded = (before->real ? before : step)->local.extent[last];
}

/* Plans tiles of this size, unless they alone are too large for the device. */
static int try_tiles(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                     const struct fftnd__step *before, const struct fftnd__step *step,
                     struct attempt *attempt) {
    struct fftnd__offload *offload = transform->offload;
    fftnd__tiling_lay_out(tiling);
    pad_lines(tiling, transform, before, step);
    tiling->offload = offload;
    tiling->library = offload->library;
    tiling->team = transform->team;
    tiling->in.bytes = round_up(tiling->in.bytes);
    tiling->out.bytes = round_up(tiling->out.bytes);
    int apart = before->real != step->real;
    tiling->share = apart ? tiling->in.bytes + tiling->out.bytes : tiling->out.bytes;
    tiling->slots = tiling->ntiles < attempt->slots ? (int)tiling->ntiles : attempt->slots;
    attempt->needed = (size_t)tiling->slots * tiling->share + ALIGNMENT;
    if (attempt->needed > offload->limit)
        return REDIST_OK;
    int code = set_memory(tiling, offload, attempt->needed);
    if (code == REDIST_OK)
        code = fftnd__tiling_plan(tiling, transform, before, step);
    attempt->needed += find_area(tiling);
    if (code == REDIST_OK && attempt->needed <= offload->limit)
        code = set_memory(tiling, offload, attempt->needed);
    return code;
}

static int refuse(const struct fftnd__offload *offload, size_t needed) {
    const char *what =
        offload->is_given ? "options->device_bytes" : "this rank's part of the device";
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_ARGUMENT,
                          "%s = %zu is too small: the smallest tile of a transform needs %zu", what,
                          offload->limit, needed);
}

/* Smaller tiles, and at last fewer of them, until they fit. */
int fftnd__offload_plan(struct fftnd__tiling *tiling, const struct fftnd__transform *transform,
                        const struct fftnd__step *before, const struct fftnd__step *step,
                        int direction, const struct fftnd__cut *cut) {
    struct attempt attempt = {.cut = *cut, .slots = FFTND__SLOTS};
    fftnd__tiling_shape(tiling, transform, before, step, direction, cut);
    attempt.cut.bytes = wanted_bytes(tiling, transform, step);
    for (;;) {
        fftnd__tiling_shape(tiling, transform, before, step, direction, &attempt.cut);
        tiling->library = transform->offload->library;
        if (fftnd__tiling_is_empty(tiling))
            return REDIST_OK;
        int code = try_tiles(tiling, transform, before, step, &attempt);
        if (code != REDIST_OK || attempt.needed <= transform->offload->limit)
            return code;
        if (!is_smallest(tiling))
            attempt.cut.bytes /= 2;
        else if (--attempt.slots == 0)
            return refuse(transform->offload, attempt.needed);
        fftnd__tiling_free(tiling);
    }
}
