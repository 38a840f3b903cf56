/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One strided copy per peer, straight from the source array into the destination array: no packing, no messages. Each
 * execution publishes the address of this rank's array through shared flags (sync/flags.h), so any array that peers can
 * map is possible.
 *
 *   push   into the peers' destination arrays, when these are mapped
 *   pull   out of the peers' source arrays, when those are mapped
 *   stage  when neither is: each rank copies its source array into shared memory of the plan, and
 * the peers pull from there; in host memory only
 *
 * On a device the copies run asynchronously, each peer's on its own stream. The host waits for the user's stream,
 * publishes the array, and issues a copy once the peer is ready: waiting on the device itself makes the copies much
 * slower. Copies that could not be issued at the start of an execution are issued as soon as this or another execution
 * is started or waited for. With `paced` and `lockstep` the copies are made in pairwise steps, those of tiles with
 * both.
 *
 * direct_copies.c has the common part of all executions and the copies of whole arrays, direct_tiles.c those of tiles.
 */
#include "direct.h"
#include "../comm/comm.h"
#include "../copy/copy.h"
#include "packing.h"

#define VARIANTS(X)                                                                                \
    X("nontemporal", REDIST_SPACE_HOST, REDIST__NONTEMPORAL, 0, 0, 0)                              \
    X("cached", REDIST_SPACE_HOST, REDIST__CACHED, 0, 0, 0)                                        \
    X("push-nontemporal", REDIST_SPACE_HOST, REDIST__NONTEMPORAL, 1, 0, 1)                         \
    X("push-cached", REDIST_SPACE_HOST, REDIST__CACHED, 1, 0, 1)                                   \
    X("engines", REDIST_SPACE_CUDA, REDIST__ENGINES, 1, 0, 0)                                      \
    X("kernel", REDIST_SPACE_CUDA, REDIST__KERNEL, 1, 0, 1)                                        \
    X("paced", REDIST_SPACE_AUTO, REDIST__ENGINES, 1, 2, 0)                                        \
    X("lockstep", REDIST_SPACE_AUTO, REDIST__ENGINES, 1, 1, 0)
#define NAME_OF(name, ...) name,
#define TRAITS_OF(...)     {__VA_ARGS__},
static const char *const variants[] = {VARIANTS(NAME_OF) NULL};
static const struct redist__traits traits[] = {VARIANTS(TRAITS_OF)};

/* ---------------------------------------------------------------- what it can serve */

static int check_mapped(const struct redist__problem *problem, int variant) {
    const int *mapped = problem->mapped;
    int alone = problem->context->size == 1;
    if (problem->space->asynchronous && !mapped[0] && !mapped[1] && !alone)
        return redist__fail(
            REDIST_ERR_METHOD,
            "method direct needs device memory that peers can map: of redist_alloc_in "
            "or cudaMalloc, given when the plan is made, on devices that reach each "
            "other");
    if (problem->space->asynchronous && problem->transfer->adds && !mapped[1] && !alone)
        return redist__fail(REDIST_ERR_METHOD,
                            "method direct adds what is in an array b that peers can map");
    int puts = traits[variant].paced && problem->tiles == REDIST_PUT; /* array A need not exist */
    if (!problem->space->asynchronous && traits[variant].push && !puts && !(mapped[0] && mapped[1]))
        return redist__fail(
            REDIST_ERR_METHOD,
            "method direct:%s is a candidate only if both arrays are from redist_alloc",
            variants[variant]);
    if (problem->tiles == REDIST_PUT && !mapped[1] && !alone)
        return redist__fail(REDIST_ERR_METHOD,
                            "method direct puts tiles into an array of redist_alloc only");
    return REDIST_OK;
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    const struct redist__traits *chosen = &traits[candidate->variant];
    REDIST_TRY(redist__check_copyable(problem->transfer, "direct"));
    REDIST_TRY(redist__check_one_node(problem, "direct"));
    if (chosen->space != REDIST_SPACE_AUTO && redist_space_at(chosen->space) != problem->space)
        return redist__fail(REDIST_ERR_METHOD, "method direct:%s is not for %s memory",
                            chosen->name, problem->space->name);
    return check_mapped(problem, candidate->variant);
}

/* Ranks the variants. Staging whole arrays costs less than MPI's own copies, staging tiles does not. A rank that copies
 * for all peers together reads whole rows, one that pulls reads parts of them. In host memory pacing exists for tests
 * only. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    const struct redist__traits *chosen = &traits[candidate->variant];
    if (problem->space->asynchronous)
        return 1 + (chosen->paced > 1);
    if (chosen->paced)
        return REDIST__BY_NAME;
    int staged = !problem->mapped[0] && !problem->mapped[1];
    if (staged && problem->tiles != REDIST_WHOLE)
        return -1;
    int nontemporal = chosen->copier == REDIST__NONTEMPORAL;
    size_t limit = problem->nontemporal_bytes / (staged ? 2 : 1); /* staging uses twice the cache */
    int together = chosen->together && problem->tiles == REDIST_WHOLE;
    return 1 + 2 * (nontemporal == (problem->largest_bytes > limit)) + together;
}

/* ---------------------------------------------------------------- making */

/* Chooses push, pull or stage; arbitrary without peers. */
static enum redist__mode choose_mode(const struct redist__direct *state, int direction) {
    const int *mapped = state->problem->mapped;
    if (state->problem->context->size == 1)
        return REDIST__PULL;
    int adds = redist__direct_adds(state, direction);
    if (mapped[direction] && (adds || !(state->traits->push && mapped[!direction])))
        return REDIST__PULL;
    return mapped[!direction] && !adds ? REDIST__PUSH : REDIST__STAGE;
}

/* Prepares the copies of a direction; those of tiles are prepared later. */
static int create_path(struct redist__direct *state, int direction) {
    struct redist__direct_path *path = &state->paths[direction];
    path->mode = choose_mode(state, direction);
    if (state->problem->tiles != REDIST_WHOLE)
        return REDIST_OK;
    int code = redist__batch_create(&path->batch, state->problem->space,
                                    redist__box_count(state->problem));
    path->batch.use = state->traits->copier == REDIST__NONTEMPORAL ? REDIST__COPY_NONTEMPORAL
                                                                   : REDIST__COPY_CACHED;
    return code;
}

/* Prepares steps. In tiles two are pending at a time, except if several ranks are paced: their steps begin with their
 * tiles, at different times, so that an early step would often be too early. */
static void prepare_steps(struct redist__direct *state) {
    int paced = state->traits->paced, size = state->problem->context->size;
    int whole = state->problem->tiles == REDIST_WHOLE;
    state->steps.flags = &state->flags;
    state->steps.paced = paced != 0;
    state->steps.ahead = whole ? paced - 1 : paced == 0 || size == 2;
}

static int count_directions(const struct redist__direct *state) {
    return state->problem->tiles == REDIST_WHOLE ? 2 : 1;
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct redist__direct *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method direct");
    size_t size = (size_t)problem->context->size;
    state->problem = problem;
    state->traits = &traits[candidate->variant];
    state->advance = problem->tiles == REDIST_WHOLE ? redist__direct_advance_copies
                                                    : redist__direct_advance_tiles;
    prepare_steps(state);
    state->events = redist_calloc(size + 1, sizeof *state->events);
    state->copies = redist_calloc(size, sizeof *state->copies);
    int all = state->events != NULL && state->copies != NULL;
    for (int direction = 0; direction < count_directions(state); direction++) {
        state->remotes[direction] =
            redist_calloc((size_t)redist__box_count(problem), sizeof *state->remotes[0]);
        all &= state->remotes[direction] != NULL;
    }
    if (!all)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the copies to %zu ranks", size);
    for (size_t i = 0; i <= size; i++)
        REDIST_TRY(problem->space->event_create(&state->events[i]));
    REDIST_TRY(create_path(state, REDIST_FORWARD));
    return create_path(state, REDIST_BACKWARD);
}

/* ---------------------------------------------------------------- what peers need */

/* Boxes of this rank that are located for the peers, and the bytes of those in the stage in each direction. */
struct locating {
    const struct redist__direct *state;
    size_t staged[2];
};

/* Locates a box of this rank for the peer: in the array, or in the stage. */
static struct redist__remote locate_box(void *data, int direction, int peer, int position) {
    struct locating *locating = data;
    const struct redist__problem *problem = locating->state->problem;
    const struct redist__direct_path *path = &locating->state->paths[direction];
    int side = redist__direct_remote_side(path, direction), rank = problem->transfer->rank;
    const struct redist__part *list = &problem->transfer->side[side].parts[peer];
    const struct redist__part *part = redist__part_at(list, position);
    if (part == NULL)
        return (struct redist__remote){.offset = 0};
    struct redist__remote box = redist__remote_describe(problem, side, part);
    if (path->mode == REDIST__STAGE && peer != rank && part->elements > 0) {
        box.offset = locating->staged[direction];
        locating->staged[direction] += redist__stage_part(problem->transfer, part, box.stride);
    }
    return box;
}

static int publish_boxes(struct redist__direct *state) {
    struct locating locating = {.state = state};
    const size_t *staged = locating.staged;
    int boxes = redist__box_count(state->problem);
    struct redist__remotes *theirs = redist_calloc((size_t)boxes, sizeof *theirs);
    int code = redist__agree_memory(state->problem->context->comm, theirs, "to publish boxes");
    if (code == REDIST_OK)
        code = redist__remotes_exchange(state->problem, locate_box, &locating, theirs);
    for (int i = 0; i < boxes * count_directions(state) && code == REDIST_OK; i++)
        state->remotes[i / boxes][i % boxes] = theirs[i % boxes].of[i / boxes];
    redist_release(theirs);
    state->stage_bytes = staged[0] > staged[1] ? staged[0] : staged[1];
    return code;
}

static void prepare_copies(struct redist__direct *state, int direction, int peer) {
    const struct redist__transfer *transfer = state->problem->transfer;
    struct redist__direct_path *path = &state->paths[direction];
    const struct redist__side *local =
        &transfer->side[!redist__direct_remote_side(path, direction)];
    const struct redist__part *part = &local->parts[peer];
    int push = path->mode == REDIST__PUSH;
    struct redist__copy *copy = &path->batch.copies[peer * transfer->longest];
    for (int box = peer; part != NULL; part = part->next, box += transfer->nranks, copy++) {
        const ptrdiff_t *far = state->remotes[direction][box].stride;
        redist__copy_prepare(copy, transfer->ndims, part->count, transfer->item,
                             push ? local->stride : far, push ? far : local->stride);
        copy->adds = redist__part_added_to(transfer, !direction, part);
    }
}

/* Creates the stage, which peers map even if it is empty. */
static int create_stage(struct redist__direct *state) {
    struct redist__context *context = state->problem->context;
    if (state->stage_bytes < REDIST__STAGE_ALIGNMENT)
        state->stage_bytes = REDIST__STAGE_ALIGNMENT;
    REDIST_TRY(redist__space_host.create(context, state->stage_bytes, &state->stage));
    if (context->size == 1 || redist__space_host.export_memory(state->stage, 1).key != 0)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, /* on all ranks: they are on one node */
                        "method direct finds no shared memory for arrays that are not from "
                        "redist_alloc");
}

static int connect(void *data) {
    struct redist__direct *state = data;
    struct redist__context *context = state->problem->context;
    int staged = state->paths[0].mode == REDIST__STAGE || state->paths[1].mode == REDIST__STAGE;
    REDIST_TRY(publish_boxes(state));
    for (int i = 0; i < 2 * context->size && state->problem->tiles == REDIST_WHOLE; i++)
        prepare_copies(state, i % 2, i / 2);
    REDIST_TRY(redist__flags_take(context, &state->flags));
    return staged ? create_stage(state) : REDIST_OK;
}

/* ---------------------------------------------------------------- execution */

static void start(void *data, int direction, const void *source, void *destination) {
    struct redist__direct *state = data;
    redist__direct_wait_stream(state);
    redist__direct_announce(state, direction, source, destination);
    redist__direct_expect(state);
    if (!state->problem->space->asynchronous)
        return;
    redist__direct_begin(state);
    redist__direct_advance_all(state);
}

/* Advances an execution; in host memory in its own thread only. */
static int advance(struct redist__direct *state) {
    if (state->problem->space->asynchronous)
        return redist__direct_advance_all(state);
    redist__note(state->problem, state->advance(state));
    return state->left;
}

static void wait(void *data) {
    struct redist__direct *state = data;
    int before = state->left, left = before, code = REDIST_OK;
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
    for (unsigned poll = 0; left != 0 && code == REDIST_OK; poll++) {
        left = advance(state);
        if (left == before)
            code = redist__flags_pause(&state->flags, poll);
        before = left;
    }
    redist__note(state->problem, code);
    if (state->problem->space->asynchronous)
        redist__direct_end(state);
    if (redist__has_failed(state->problem))
        redist__direct_drop(state);
    redist__direct_finish(state);
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    return ((const struct redist__direct *)data)->stage_bytes;
}

static void destroy(void *data) {
    struct redist__direct *state = data;
    redist_release(state->puts.list);
    if (state->stage != NULL)
        redist__space_host.remove(state->stage);
    redist__flags_give(&state->flags, redist__has_failed(state->problem));
    for (int direction = 0; direction < 2; direction++)
        redist__batch_free(&state->paths[direction].batch);
    for (int i = 0; state->events != NULL && i <= state->problem->context->size; i++)
        state->problem->space->event_destroy(state->events[i]);
    redist_release(state->events);
    redist_release(state->copies);
    redist_release(state->remotes[0]);
    redist_release(state->remotes[1]);
    redist_release(state->targets);
    redist_release(state);
}

const struct redist__method redist__method_direct = {
    .name = "direct",
    .summary = "one strided copy per peer from array to array through shared memory; within a node",
    .variants = variants,
    .applies = applies,
    .preference = preference,
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .open = redist__direct_open,
    .put = redist__direct_tile,
    .store = redist__direct_store,
    .own = redist__direct_own,
    .release = redist__direct_release,
    .get = redist__direct_tile,
    .progress = redist__direct_progress,
    .arrived = redist__direct_arrived,
    .close = redist__direct_close,
    .concurrent = 1,
    .workspace = workspace,
    .destroy = destroy,
};
