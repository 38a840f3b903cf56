/* SPDX-License-Identifier: BSD-3-Clause */
#include "flags.h"
#include "../comm/comm.h"

#include <string.h>

/* ---------------------------------------------------------------- blocks */

enum { BLOCKS = 64 };

/* Blocks of all ranks of a node, for several plans. A context keeps as many pools as it needs. */
struct redist__flag_pool {
    struct redist__kept kept;
    void *memory; /* this rank's blocks */
    char taken[BLOCKS];
    uint64_t executions[BLOCKS];
    void *blocks[]; /* those of each rank of the node */
};

static void free_pool(struct redist__context *context, struct redist__kept *kept) {
    struct redist__flag_pool *pool = (struct redist__flag_pool *)kept;
    (void)context;
    if (pool->memory != NULL)
        redist__space_host.remove(pool->memory);
    redist_release(pool);
}

/* Creates a pool. After the closing agreement every rank has cleared its blocks. */
static int create(struct redist__context *context) {
    size_t bytes = BLOCKS * sizeof(struct redist__flag_block);
    struct redist__flag_pool *pool =
        redist_calloc(1, sizeof *pool + (size_t)context->node_size * sizeof *pool->blocks);
    int code = redist__agree_memory(context->comm, pool, "for shared flags");
    if (code == REDIST_OK)
        code = redist__space_host.create(context, bytes, &pool->memory);
    if (code == REDIST_OK) {
        memset(pool->memory, 0, bytes);
        code = redist_agree(context->comm, redist__map_parts(context, pool->memory, pool->blocks));
    }
    if (code == REDIST_OK) {
        pool->kept.dispose = free_pool;
        redist__keep(context, REDIST__KEPT_BESIDES, &pool->kept);
    } else if (pool != NULL)
        free_pool(context, &pool->kept);
    return code;
}

static int find_free(struct redist__context *context, struct redist__flags *flags) {
    struct redist__kept *kept = NULL;
    while ((kept = redist__kept(context, REDIST__KEPT_BESIDES, free_pool, kept)) != NULL) {
        struct redist__flag_pool *pool = (struct redist__flag_pool *)kept;
        for (int i = 0; i < BLOCKS; i++)
            if (!pool->taken[i]) {
                uint64_t born = pool->executions[i];
                *flags = (struct redist__flags){context, pool, pool->blocks, i, born, born};
                pool->taken[i] = 1;
                return 1;
            }
    }
    return 0;
}

static struct redist__flag_block *block_of(const struct redist__flags *flags, int rank) {
    struct redist__flag_block *blocks = flags->blocks[flags->context->node_ranks[rank]];
    return &blocks[flags->index];
}

static struct redist__flag_block *own_block(const struct redist__flags *flags) {
    return block_of(flags, flags->context->rank);
}

/* Agrees on the first number of executions, after the largest of all ranks, which may differ after a failure. */
static int agree_on_number(struct redist__flags *flags) {
    uint64_t born = flags->born;
    REDIST_TRY(redist_all_reduce(flags->context->comm, &born, 1, MPI_UINT64_T, MPI_MAX));
    flags->born = flags->number = born;
    atomic_store_explicit(&own_block(flags)->done, born, memory_order_release);
    return REDIST_OK;
}

int redist__flags_take(struct redist__context *context, struct redist__flags *flags) {
    if (!find_free(context, flags)) {
        REDIST_TRY(create(context));
        find_free(context, flags);
    }
    return redist_agree(context->comm, agree_on_number(flags));
}

void redist__flags_give(struct redist__flags *flags, int failure) {
    int leaves = failure != REDIST_OK;
    if (flags->pool == NULL)
        return;
    if (leaves)
        atomic_store_explicit(&own_block(flags)->left, flags->born + 1, memory_order_release);
    flags->pool->executions[flags->index] = flags->number + (uint64_t)leaves;
    flags->pool->taken[flags->index] = 0;
    flags->pool = NULL;
}

/* ---------------------------------------------------------------- words */

/* Packs a count within an execution with 32 bits of the execution's number. */
static uint64_t counted(const struct redist__flags *flags, uint32_t n) {
    return flags->number << 32 | n;
}

static int has_reached(uint64_t word, const struct redist__flags *flags, uint32_t n) {
    return (int64_t)(word - counted(flags, n)) >= 0;
}

/* Publishes a count if it has changed, as peers poll the block. */
static void publish_count(_Atomic uint64_t *counter, uint64_t word) {
    if (atomic_load_explicit(counter, memory_order_relaxed) != word)
        atomic_store_explicit(counter, word, memory_order_release);
}

/* ---------------------------------------------------------------- an execution */

static int has_left(const struct redist__flags *flags, int peer) {
    return atomic_load_explicit(&block_of(flags, peer)->left, memory_order_acquire) > flags->born;
}

static int fail_left(int peer) {
    return redist__fail(REDIST_ERR_PEER,
                        "rank %d of the plan's communicator failed, and has freed the plan", peer);
}

int redist__flags_pause(const struct redist__flags *flags, unsigned poll) {
    const unsigned polls_per_look = 64;
    REDIST_TRY(redist__pause(flags->context, poll));
    for (int peer = 0; peer < flags->context->size && poll % polls_per_look == polls_per_look - 1;
         peer++)
        if (has_left(flags, peer))
            return fail_left(peer);
    return REDIST_OK;
}

int redist__flags_is_ready(const struct redist__flags *flags, int peer) {
    return atomic_load_explicit(&block_of(flags, peer)->ready, memory_order_acquire) >=
           flags->number;
}

int redist__flags_wait_ready(const struct redist__flags *flags, int peer) {
    int code = REDIST_OK;
    for (unsigned poll = 0; code == REDIST_OK && !redist__flags_is_ready(flags, peer); poll++)
        code = redist__flags_pause(flags, poll);
    return code;
}

const struct redist__memory_handle *redist__flags_array(const struct redist__flags *flags,
                                                        int peer) {
    return &block_of(flags, peer)->array;
}

void redist__flags_publish_ready(const struct redist__flags *flags,
                                 const struct redist__memory_handle *array) {
    struct redist__flag_block *mine = own_block(flags);
    mine->array = *array;
    atomic_store(&mine->ready, flags->number);
}

/* Packs a failure: number of the execution, and code. */
static uint64_t failed_word(uint64_t execution, int code) {
    return execution << 8 | (uint64_t)code;
}

void redist__flags_publish_done(const struct redist__flags *flags, int failure) {
    struct redist__flag_block *mine = own_block(flags);
    if (failure != REDIST_OK)
        atomic_store_explicit(&mine->failed, failed_word(flags->number, failure),
                              memory_order_relaxed);
    atomic_store_explicit(&mine->done, flags->number, memory_order_release);
}

/* Waits for a peer, also if another rank is gone or has left: this peer may still copy. */
void redist__flags_wait_done(const struct redist__flags *flags, int peer, uint64_t number,
                             struct redist__failure *failure, void (*progress)(void *data),
                             void *data) {
    struct redist__context *context = flags->context;
    const struct redist__flag_block *block = block_of(flags, peer);
    int code = REDIST_OK;
    for (unsigned poll = 0;
         code == REDIST_OK && atomic_load_explicit(&block->done, memory_order_acquire) < number;
         poll++) {
        if (progress != NULL)
            progress(data);
        code = redist__pause_for(context, peer, &block->ready, number, poll);
        if (code == REDIST_OK && has_left(flags, peer) &&
            atomic_load_explicit(&block->done, memory_order_acquire) < number)
            code = fail_left(peer);
    }
    redist__failure_note(failure, code);
    uint64_t failed = atomic_load_explicit(&block->failed, memory_order_relaxed);
    if (code == REDIST_OK && failed >= failed_word(flags->born + 1, 0))
        redist__failure_note_peer(failure, peer, (int)(failed & 255));
}

void redist__flags_publish_partitions(const struct redist__flags *flags, int partitions) {
    publish_count(&own_block(flags)->partitions, counted(flags, (uint32_t)partitions));
}

int redist__flags_partitions(const struct redist__flags *flags, int peer, int most) {
    uint64_t word = atomic_load_explicit(&block_of(flags, peer)->partitions, memory_order_acquire);
    if (!has_reached(word, flags, 0))
        return 0;
    return has_reached(word, flags, (uint32_t)most) ? most : (int)(uint32_t)word;
}

/* ---------------------------------------------------------------- steps */

int redist__steps_distance(const struct redist__steps *steps, int step) {
    return step % (steps->flags->context->size - 1) + 1;
}

/* Returns whether the previous sender to this rank's next receiver has ended `ended` steps. */
static int has_ended(const struct redist__steps *steps, int ended) {
    const struct redist__context *context = steps->flags->context;
    int peer = context->rank + redist__steps_distance(steps, steps->begun);
    int server =
        (peer - redist__steps_distance(steps, steps->begun - 1) + context->size) % context->size;
    uint64_t word =
        atomic_load_explicit(&block_of(steps->flags, server)->steps, memory_order_acquire);
    return has_reached(word, steps->flags, (uint32_t)ended);
}

int redist__steps_may_begin(const struct redist__steps *steps) {
    int ended = steps->begun - steps->ahead; /* steps that must have ended */
    if (ended <= 0 || steps->ended < ended)
        return ended <= 0;
    return !steps->paced || has_ended(steps, ended);
}

static void publish_steps(const struct redist__steps *steps, uint32_t ended) {
    publish_count(&own_block(steps->flags)->steps, counted(steps->flags, ended));
}

void redist__steps_end(struct redist__steps *steps) {
    publish_steps(steps, (uint32_t)++steps->ended);
}

void redist__steps_end_all(const struct redist__steps *steps) {
    publish_steps(steps, UINT32_MAX);
}
