/* SPDX-License-Identifier: BSD-3-Clause */
/* Work space and tiles of a freed plan, which a communicator keeps for its next plan: new pages take most of the time
 * in which a small plan is made. */
#include "parts.h"

enum {
    MOST_BYTES = 4 << 20
}; /* of each rank: the work space of 72^3 complex doubles on two ranks has 3 MiB */

/* Numbers of allocations tell whether all ranks have the same one, which they may not after a failure. */
struct spare {
    void *memory; /* NULL = none */
    size_t bytes;
    int number, allocations;
    void *tiles; /* of this rank alone; NULL = none */
    size_t tile_room;
};

static void drop_tiles(struct spare *spare) {
    redist_release(spare->tiles);
    spare->tiles = NULL;
}

static void dispose(void *data) {
    struct spare *spare = data;
    redist_free(&spare->memory);
    drop_tiles(spare);
}

/* Packs a number with its complement: the common bits of different numbers are fewer. */
enum { NUMBER_BITS = 15, NUMBER_MASK = (1 << NUMBER_BITS) - 1 };

static int pack(int number) {
    return (number & NUMBER_MASK) << NUMBER_BITS | (~number & NUMBER_MASK);
}

static int is_packed(int common) {
    return ((common >> NUMBER_BITS | common) & NUMBER_MASK) == NUMBER_MASK;
}

/* Finds whether all ranks have the same spare work space, of enough bytes; else it is freed. Collective. */
static int find_fitting(struct spare *spare, MPI_Comm comm, size_t bytes, int *fits) {
    int own = spare->memory != NULL && spare->bytes >= bytes ? pack(spare->number) : 0, common = 0;
    int code = redist_all_common(comm, own, &common);
    *fits = code == REDIST_OK && is_packed(common);
    if (!*fits)
        redist_free(&spare->memory);
    return code;
}

static void use_spare(struct fftnd__work *work, struct spare *spare) {
    work->memory = spare->memory;
    work->bytes = spare->bytes;
    work->number = spare->number;
    spare->memory = NULL;
}

static int allocate(const struct fftnd__engine *engine, size_t bytes, struct fftnd__work *work) {
    work->bytes = bytes;
    work->number = 0;
    return redist_alloc_in(engine->transform.plan_comm, engine->transform.library->space, bytes,
                           &work->memory);
}

int fftnd__spare_take(const struct fftnd__engine *engine, size_t bytes, struct fftnd__work *work) {
    void *data = NULL;
    MPI_Comm comm = engine->transform.plan_comm;
    int fits;
    if (engine->transform.library->space != REDIST_SPACE_HOST)
        return allocate(engine, bytes, work);
    REDIST_TRY(redist_kept_provide(comm, sizeof(struct spare), dispose, &data));
    struct spare *spare = data;
    if (spare == NULL) /* on all ranks: the user has freed the communicator */
        return allocate(engine, bytes, work);
    REDIST_TRY(find_fitting(spare, comm, bytes, &fits));
    if (fits) {
        use_spare(work, spare);
        return REDIST_OK;
    }
    REDIST_TRY(allocate(engine, bytes, work));
    work->number = ++spare->allocations;
    return REDIST_OK;
}

/* Finds the spare memory of the plan's communicator; NULL = none. The grid refers to the communicator, which the user
 * may have freed. */
static struct spare *find_spare(const struct fftnd__engine *engine) {
    return engine->transform.grid != NULL ? redist_kept_find(engine->transform.plan_comm, dispose)
                                          : NULL;
}

void fftnd__spare_put(const struct fftnd__engine *engine, const struct fftnd__work *work) {
    void *memory = work->memory;
    int may_wait =
        work->number != 0 && work->bytes <= MOST_BYTES && engine->failure.code == REDIST_OK;
    struct spare *spare = may_wait ? find_spare(engine) : NULL;
    if (spare == NULL) {
        redist_free(&memory);
        return;
    }
    redist_free(&spare->memory);
    spare->memory = memory;
    spare->bytes = work->bytes;
    spare->number = work->number;
}

int fftnd__spare_take_tiles(struct fftnd__engine *engine, size_t bytes) {
    struct spare *spare = find_spare(engine);
    engine->tile_room = bytes;
    if (spare == NULL || spare->tiles == NULL || spare->tile_room < bytes) {
        engine->tiles = redist_malloc(bytes);
        return engine->tiles != NULL;
    }
    engine->tiles = spare->tiles;
    engine->tile_room = spare->tile_room;
    spare->tiles = NULL;
    return 1;
}

void fftnd__spare_put_tiles(struct fftnd__engine *engine) {
    int may_wait = engine->tiles != NULL && engine->tile_room <= MOST_BYTES;
    struct spare *spare = may_wait ? find_spare(engine) : NULL;
    if (spare == NULL) {
        redist_release(engine->tiles);
    } else {
        drop_tiles(spare);
        spare->tiles = engine->tiles;
        spare->tile_room = engine->tile_room;
    }
    engine->tiles = NULL;
}

void fftnd__spare_clear(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        redist_kept_dispose(dispose);
        return;
    }
    struct spare *spare = redist_kept_find(comm, dispose);
    if (spare != NULL)
        dispose(spare);
}
