/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that the user has freed, kept for the next plan with the same arguments (fftnd_options.keep). Each communicator
 * has slots for the last ones, the same on all ranks: plans get numbers as they are made, and take slots as they are
 * freed, which all ranks do in the same order. The ranks agree that no one has seen a failure, since a plan that only
 * some of them keep would hold resources that the others give to new plans. Every rank finds the slots that match its
 * own arguments, and one reduction those that match on all.
 */
#include "../engine/parts.h"
#include "plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SLOTS = 8, MOST_BYTES = 256 << 20 };

struct slot {
    fftnd_plan *plan;          /* NULL = it is in use */
    unsigned long long number; /* of the plan, 0 = no plan */
    unsigned long long used;   /* when it was freed, in plans freed before */
    long long bytes;
};

struct cache {
    struct slot slots[SLOTS];
    unsigned long long made, freed; /* plans so far */
};

/* ---------------------------------------------------------------- keys */

/* The values of all arguments of a plan, one behind another. */
struct key {
    char *data;
    size_t bytes, room;
    int failed; /* there was no memory: a later part alone would be the key of other arguments */
};

static void make_room(struct key *key, size_t bytes) {
    char *larger = redist_calloc(2 * bytes, 1);
    if (larger != NULL && key->data != NULL)
        memcpy(larger, key->data, key->bytes);
    redist_release(key->data);
    key->data = larger;
    key->room = 2 * bytes;
    key->failed = larger == NULL;
}

static void append(struct key *key, const void *data, size_t bytes) {
    if (!key->failed && key->bytes + bytes > key->room)
        make_room(key, key->bytes + bytes);
    if (key->failed || bytes == 0)
        return;
    memcpy(key->data + key->bytes, data, bytes);
    key->bytes += bytes;
}

static void append_text(struct key *key, const char *text) {
    append(key, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 0);
    append(key, &(char){text != NULL}, 1);
}

static void append_agreed(struct key *key, const redist_shared_value *value) {
    static const size_t element_bytes[] = {[REDIST_SHARED_INTS] = sizeof(int),
                                           [REDIST_SHARED_EXTENTS] = sizeof(redist_index),
                                           [REDIST_SHARED_REALS] = sizeof(double)};
    append(key, &value->value,
           sizeof value->value); /* or a hash, of the type and the length, too */
    if (value->type == REDIST_SHARED_TEXT)
        append_text(key, value->data);
    else if (value->type != REDIST_SHARED_NUMBER && value->data != NULL)
        append(key, value->data, value->count * element_bytes[value->type]);
}

/* Appends what may differ between ranks. */
static void append_own(struct key *key, const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    const double seconds[2] = {options->plan_seconds, options->wait_seconds};
    size_t bytes = (size_t)arguments->ndims * sizeof(redist_index);
    redist_box box;
    for (int side = 0; side < 2; side++) {
        if (options->box[side] == NULL || fftnd__read_box(arguments, side, &box) != REDIST_OK)
            continue;
        append(key, box.start, bytes);
        append(key, box.count, bytes);
        append(key, box.extent, bytes);
        append(key, box.offset, bytes);
    }
    append_text(key, options->wisdom_file);
    append(key, seconds, sizeof seconds);
    append(key, &options->verbose, sizeof options->verbose);
}

static struct key make_key(const struct fftnd__arguments *arguments) {
    struct fftnd__agreed agreed;
    struct key key = {.data = NULL};
    fftnd__list_agreed(arguments, 1, &agreed);
    for (int i = 0; i < FFTND__AGREED; i++)
        append_agreed(&key, &agreed.values[i]);
    append_own(&key, arguments);
    return key;
}

/* ---------------------------------------------------------------- slots */

static void empty_slot(struct slot *slot) {
    fftnd_plan *plan = slot->plan;
    *slot = (struct slot){.plan = NULL};
    if (plan != NULL)
        fftnd__plan_destroy(plan);
}

static void dispose(void *data) {
    struct cache *cache = data;
    for (int i = 0; i < SLOTS; i++)
        empty_slot(&cache->slots[i]);
}

/* Finds the slot freed first, of those with at least so many bytes; NULL = none. */
static struct slot *find_oldest(struct cache *cache, long long least) {
    struct slot *oldest = NULL;
    for (int i = 0; i < SLOTS; i++)
        if (cache->slots[i].bytes >= least &&
            (oldest == NULL || cache->slots[i].used < oldest->used))
            oldest = &cache->slots[i];
    return oldest;
}

/* Finds the slot that the plan had when it was used before; NULL = none. */
static struct slot *find_own(struct cache *cache, const fftnd_plan *plan) {
    for (int i = 0; i < SLOTS; i++)
        if (cache->slots[i].number == plan->keeping.number)
            return &cache->slots[i];
    return NULL;
}

static long long count_bytes(const struct cache *cache) {
    long long bytes = 0;
    for (int i = 0; i < SLOTS; i++)
        bytes += cache->slots[i].bytes;
    return bytes;
}

/* ---------------------------------------------------------------- taking plans */

static int matches(const struct slot *slot, const struct key *key) {
    const fftnd_plan *plan = slot->plan;
    return plan != NULL && plan->keeping.key_bytes == key->bytes &&
           memcmp(plan->keeping.key, key->data, key->bytes) == 0;
}

/* Plans of a device may have work in streams of the user, or the user's memory page-locked. */
static int may_be_kept(const fftnd_options *options) {
    return options->keep && !fftnd__is_on_device(options->space) && !fftnd__offloads(options) &&
           !options->user_workspace && !options->phases;
}

/* Returns a bit for each slot with a plan of the arguments. A rank that alone has asked for what no kept plan has gets
 * none, so that all make a new plan. */
static int find_matching(const struct cache *cache, const struct fftnd__arguments *arguments) {
    int bits = 0;
    if (!may_be_kept(&arguments->options))
        return bits;
    struct key key = make_key(arguments);
    for (int i = 0; i < SLOTS && !key.failed; i++)
        bits |= matches(&cache->slots[i], &key) << i;
    redist_release(key.data);
    return bits;
}

int fftnd__kept_take(const struct fftnd__arguments *arguments, int code, fftnd_plan **plan) {
    struct cache *cache = redist_kept_find(arguments->comm, dispose);
    int bits = 0, common = 0;
    *plan = NULL;
    if (cache == NULL) /* on all ranks */
        return REDIST_OK;
    if (code == REDIST_OK)
        bits = find_matching(cache, arguments);
    REDIST_TRY(redist_all_common(arguments->comm, bits, &common));
    if (common == 0)
        return REDIST_OK;
    struct slot *slot = &cache->slots[ffs(common) - 1];
    *plan = slot->plan;
    slot->plan = NULL;
    (*plan)->keeping.is_kept = 0;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- keeping plans */

/* Numbers a plan that may be kept. Collective. */
static int number_plan(fftnd_plan *plan, MPI_Comm comm) {
    struct fftnd__keeping *keeping = &plan->keeping;
    void *data;
    REDIST_TRY(redist_kept_provide(comm, sizeof(struct cache), dispose, &data));
    if (data == NULL)
        return REDIST_OK;
    if (plan->engine.life == NULL)
        REDIST_TRY(redist_life_create(comm, &keeping->life));
    keeping->number = ++((struct cache *)data)->made;
    return REDIST_OK;
}

int fftnd__kept_prepare(fftnd_plan *plan, const struct fftnd__arguments *arguments) {
    struct fftnd__keeping *keeping = &plan->keeping;
    if (!arguments->options.keep)
        return REDIST_OK;
    struct key key = make_key(arguments);
    keeping->key = key.data;
    keeping->key_bytes = key.bytes;
    keeping->comm = arguments->comm;
    keeping->is_mapped = plan->engine.transform.settings.mapped_arrays;
    keeping->bytes = (long long)fftnd__engine_memory(&plan->engine);
    if (!may_be_kept(&arguments->options) || key.failed)
        keeping->bytes = LLONG_MAX;
    REDIST_TRY(redist_agree(arguments->comm, redist_all_reduce(arguments->comm, &keeping->bytes, 1,
                                                               MPI_LONG_LONG, MPI_MAX)));
    int code = keeping->bytes <= MOST_BYTES ? number_plan(plan, arguments->comm) : REDIST_OK;
    /* without memory or tags, on all ranks, the plan is one that is not kept */
    return code == REDIST_ERR_MEMORY || code == REDIST_ERR_LIMIT ? REDIST_OK : code;
}

/* Agrees that all ranks can use the plan again. A rank whose plan has failed leaves at once: as it destroys the plan,
 * the others get notices that end the agreement. */
static int can_be_used_again(const fftnd_plan *plan, int code) {
    redist_life *life = plan->engine.life != NULL ? plan->engine.life : plan->keeping.life;
    if (code != REDIST_OK || plan->engine.failure.code != REDIST_OK ||
        plan->operators_failed != REDIST_OK)
        return 0;
    int is_plain = plan->engine.transform.settings.mapped_arrays != plan->keeping.is_mapped;
    return !is_plain /* on all ranks */ &&
           redist_life_agree(life, 0, "fftnd_plan_free", REDIST_OK, 0, NULL) == REDIST_OK;
}

int fftnd__kept_put(fftnd_plan *plan, int code) {
    struct fftnd__keeping *keeping = &plan->keeping;
    struct cache *cache = keeping->number != 0 ? redist_kept_find(keeping->comm, dispose) : NULL;
    if (cache == NULL) /* on all ranks: the user has freed the communicator */
        return 0;
    struct slot *slot = find_own(cache, plan);
    keeping->is_kept = can_be_used_again(plan, code);
    if (slot == NULL && keeping->is_kept)
        slot = find_oldest(cache, 0);
    if (slot != NULL)
        empty_slot(slot);
    if (keeping->is_kept)
        *slot = (struct slot){plan, keeping->number, ++cache->freed, keeping->bytes};
    while (count_bytes(cache) > MOST_BYTES)
        empty_slot(find_oldest(cache, 1));
    plan->engine.seconds[0] = plan->engine.seconds[1] = 0;
    return keeping->is_kept;
}

int fftnd_cache_clear(MPI_Comm comm) {
    if (comm == MPI_COMM_NULL) {
        redist_kept_dispose(dispose);
        fftnd__spare_clear(MPI_COMM_NULL);
        return REDIST_OK;
    }
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist_private_comm_find(comm, &comm));
    if (comm == MPI_COMM_NULL)
        return REDIST_OK;
    struct cache *cache = redist_kept_find(comm, dispose);
    if (cache != NULL)
        dispose(cache);
    fftnd__spare_clear(comm);
    return REDIST_OK;
}
