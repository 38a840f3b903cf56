/* SPDX-License-Identifier: BSD-3-Clause */
#include "../comm/comm.h"
#include "../copy/copy.h"
#include "direct.h"

/* ---------------------------------------------------------------- peers */

int redist__direct_has_part(const struct redist__direct *state, int side, int peer) {
    return state->problem->transfer->side[side].parts[peer].elements != 0;
}

int redist__direct_adds(const struct redist__direct *state, int direction) {
    return redist__adds(state->problem->transfer, direction);
}

int redist__direct_remote_side(const struct redist__direct_path *path, int direction) {
    return path->mode == REDIST__PUSH ? !direction : direction;
}

int redist__direct_array(const struct redist__direct *state, int peer, char **base) {
    const struct redist__memory_handle *array = redist__flags_array(&state->flags, peer);
    const struct redist__space *space = state->problem->space;
    int staged = state->paths[state->direction].mode == REDIST__STAGE;
    *base =
        staged ? redist__space_host.map(array, NULL) : space->map(array, state->problem->mappings);
    if (*base != NULL)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "the array of rank %d of the plan is not mapped here",
                        peer);
}

/* ---------------------------------------------------------------- pending executions */

/* The pending executions of this process, the oldest first. */
pthread_mutex_t redist__direct_lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__direct *pending;

void redist__direct_begin(struct redist__direct *state) {
    pthread_mutex_lock(&redist__direct_lock);
    struct redist__direct **link = &pending;
    while (*link != NULL)
        link = &(*link)->next_pending;
    state->next_pending = NULL;
    state->thread = pthread_self();
    *link = state;
    pthread_mutex_unlock(&redist__direct_lock);
}

void redist__direct_end(const struct redist__direct *state) {
    pthread_mutex_lock(&redist__direct_lock);
    struct redist__direct **link = &pending;
    while (*link != NULL && *link != state)
        link = &(*link)->next_pending;
    if (*link != NULL)
        *link = state->next_pending;
    pthread_mutex_unlock(&redist__direct_lock);
}

int redist__direct_advance_all(const struct redist__direct *state) {
    pthread_mutex_lock(&redist__direct_lock);
    for (struct redist__direct *other = pending; other != NULL; other = other->next_pending)
        if (other == state || pthread_equal(other->thread, pthread_self()))
            redist__note(other->problem, other->advance(other));
    int left = state->left;
    pthread_mutex_unlock(&redist__direct_lock);
    return left;
}

/* ---------------------------------------------------------------- begin and end */

static int has_common_box(const struct redist__direct *state, int peer) {
    return redist__direct_has_part(state, 0, peer) || redist__direct_has_part(state, 1, peer);
}

static void progress(void *data) {
    redist__direct_advance_all(data);
}

/* Waits for a peer; meanwhile other executions on devices advance. */
static void wait_done(struct redist__direct *state, int peer, uint64_t number) {
    redist__flags_wait_done(&state->flags, peer, number, state->problem->failure,
                            state->problem->space->asynchronous ? progress : NULL, state);
}

/* Returns the array of this rank that peers copy into or out of. */
static const void *shared_array(const struct redist__direct *state) {
    switch (state->paths[state->direction].mode) {
    case REDIST__PUSH:
        return state->destination;
    case REDIST__PULL:
        return state->source;
    default:
        return state->stage;
    }
}

/* Copies a box to the stage, and returns the end of its place there. */
static char *stage_box(const struct redist__direct *state, const struct redist__part *part,
                       char *to) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__side *side = &transfer->side[state->direction];
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    size_t bytes = redist__stage_part(transfer, part, stride);
    struct redist__copy copy;
    redist__copy_prepare(&copy, transfer->ndims, part->count, transfer->item, side->stride, stride);
    redist__copy_run(&copy, state->source + part->offset, to,
                     state->traits->copier == REDIST__NONTEMPORAL ? REDIST__COPY_NONTEMPORAL
                                                                  : REDIST__COPY_CACHED);
    return to + bytes;
}

/* Copies the boxes for the peers to the stage, in the order in which these were located. */
static void stage_source(const struct redist__direct *state) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__part *lists = transfer->side[state->direction].parts;
    char *to = state->stage;
    redist__enter(state->problem->timer, REDIST__PACK);
    for (int box = 0; box < redist__box_count(state->problem); box++) {
        int peer = box % transfer->nranks;
        const struct redist__part *part = redist__part_at(&lists[peer], box / transfer->nranks);
        if (peer != transfer->rank && part != NULL && part->elements != 0)
            to = stage_box(state, part, to);
    }
    redist__copy_fence();
}

/* Waits for the peers' previous execution. Ranks without a common box do not wait for each other within an execution,
 * but here, so that a failure is known to all by the next one. */
static void wait_for_strangers(struct redist__direct *state) {
    const struct redist__context *context = state->problem->context;
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && !has_common_box(state, peer))
            wait_done(state, peer, state->flags.number - 1);
}

void redist__direct_announce(struct redist__direct *state, int direction, const void *source,
                             void *destination) {
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    state->flags.number++;
    redist__note(state->problem, redist__peers_check(state->problem->context));
    wait_for_strangers(state);
    if (state->paths[direction].mode == REDIST__STAGE && !redist__has_failed(state->problem))
        stage_source(state);
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
    const struct redist__memory_handle array =
        state->paths[direction].mode == REDIST__STAGE
            ? redist__space_host.export_memory(state->stage, 1)
            : state->problem->space->export_memory(shared_array(state), 1);
    redist__flags_publish_ready(&state->flags, &array);
    redist__note(state->problem, redist__peers_check(state->problem->context));
}

void redist__direct_wait_stream(const struct redist__direct *state) {
    redist__finish_array(state->problem, state->events[0], progress, (void *)(size_t)state);
}

void redist__direct_finish(struct redist__direct *state) {
    const struct redist__context *context = state->problem->context;
    struct redist__phase_timer *timer = state->problem->timer;
    redist__enter(timer, REDIST__FIRST_MESSAGE);
    redist__copy_fence();
    redist__flags_publish_done(&state->flags, redist__has_failed(state->problem));
    for (int peer = 0; peer < context->size; peer++)
        if (peer != context->rank && has_common_box(state, peer)) {
            wait_done(state, peer, state->flags.number);
            redist__arrived(timer);
        }
}

void redist__direct_drop(struct redist__direct *state) {
    const struct redist__space *space = state->problem->space;
    int size = state->problem->context->size;
    for (int i = 0; i < size; i++) /* other streams may wait for a peer that is gone */
        redist__finish(state->problem, state->events[size], space->stream(i));
    state->left = 0;
    redist__steps_end_all(&state->steps);
}

/* ---------------------------------------------------------------- whole arrays */

/* Returns the side of this rank's own array in its copies. */
static int near_side(const struct redist__direct *state) {
    return !redist__direct_remote_side(&state->paths[state->direction], state->direction);
}

/* Returns whether this execution has steps. */
static int is_paced(const struct redist__direct *state) {
    return state->traits->paced && !redist__direct_adds(state, state->direction);
}

/* Finds sources and destinations; this rank's own part bypasses the stage. */
static int find_addresses(struct redist__direct *state, int peer) {
    const struct redist__transfer *transfer = state->problem->transfer;
    struct redist__batch *batch = &state->paths[state->direction].batch;
    int direction = state->direction, near = near_side(state), own = peer == transfer->rank;
    /* numbers, as arrays may be NULL and empty */
    const uintptr_t arrays[2] = {(uintptr_t)state->source, (uintptr_t)state->destination};
    const struct redist__part *here = &transfer->side[near].parts[peer],
                              *there = &transfer->side[!near].parts[peer];
    char *base = NULL;
    if (!own)
        REDIST_TRY(redist__direct_array(state, peer, &base));
    int copy = peer * transfer->longest;
    for (int box = peer; here != NULL; here = here->next, box += transfer->nranks, copy++) {
        uintptr_t local = arrays[near != direction] + here->offset;
        uintptr_t far = own ? arrays[near == direction] + there->offset
                            : (uintptr_t)base + state->remotes[direction][box].offset;
        batch->sources[copy] = (const char *)(near == direction ? local : far);
        batch->destinations[copy] = (char *)(near == direction ? far : local);
        there = own ? there->next : there;
    }
    return REDIST_OK;
}

/* Issues the copies of a peer's boxes, or those that add; a kernel copies them together, and the host, as the ghosts on
 * both sides of an axis are in the same lines of the caches. */
static int issue_boxes(struct redist__direct *state, int peer, int adds, enum redist__copier copier,
                       void *stream) {
    const struct redist__space *space = state->problem->space;
    struct redist__batch *batch = &state->paths[state->direction].batch;
    int longest = state->problem->transfer->longest, first = peer * longest;
    int code = batch->copies[first].run != 0 ? find_addresses(state, peer) : REDIST_OK;
    int at_once = !space->asynchronous || copier == REDIST__KERNEL;
    if (code == REDIST_OK && at_once && !redist__direct_adds(state, state->direction))
        return space->batch_run(batch, first, longest, stream);
    for (int box = first; box < first + longest && code == REDIST_OK; box++)
        if (batch->copies[box].run != 0 && (batch->copies[box].adds != NULL) == adds)
            code = space->copy(&batch->copies[box], batch->sources[box], batch->destinations[box],
                               copier, stream);
    return code;
}

/* Issues the copies with a peer: sums in one stream, which keeps their order, first what they are added to. */
static int issue_one(struct redist__direct *state, int peer) {
    const struct redist__space *space = state->problem->space;
    int far = redist__distance_of(state->problem->transfer, peer), own = far == 0,
        stream = is_paced(state) && !own ? 1 : far;
    enum redist__copier copier =
        own && space->asynchronous ? REDIST__KERNEL : state->traits->copier;
    int sums = redist__direct_adds(state, state->direction),
        adds = state->copies[peer] == REDIST__REPLACED;
    stream = sums ? 0 : stream;
    state->copies[peer] = sums && !adds ? REDIST__REPLACED : REDIST__RUNS;
    state->steps.begun += !own && !adds;
    redist__enter(state->problem->timer, own ? REDIST__OWN_PART : REDIST__FIRST_MESSAGE);
    int code = issue_boxes(state, peer, adds, copier, space->stream(stream));
    if (code == REDIST_OK && space->asynchronous && state->copies[peer] == REDIST__RUNS)
        code = space->event_record(state->events[peer], space->stream(stream));
    redist__enter(state->problem->timer, REDIST__FIRST_MESSAGE);
    return code;
}

/* Checks the step: the peer at distance i has step i - 1, the own part none. */
static int has_step(const struct redist__direct *state, int peer) {
    int distance = redist__distance_of(state->problem->transfer, peer);
    return !is_paced(state) || distance == 0 ||
           (distance == state->steps.begun + 1 && redist__steps_may_begin(&state->steps));
}

/* Returns whether a peer's boxes are added next: in the order of ranks, once there is all that they are added to. */
static int is_turn(const struct redist__direct *state, int peer) {
    int turn = 1;
    for (int other = 0; other < state->problem->context->size; other++)
        turn &= state->copies[other] != REDIST__WAITS &&
                (other >= peer || state->copies[other] != REDIST__REPLACED);
    return turn;
}

static int may_issue(const struct redist__direct *state, int peer) {
    if (state->copies[peer] == REDIST__REPLACED)
        return is_turn(state, peer);
    return state->copies[peer] == REDIST__WAITS && has_step(state, peer) &&
           (redist__distance_of(state->problem->transfer, peer) == 0 ||
            redist__flags_is_ready(&state->flags, peer));
}

/* Checks whether an issued copy is complete. After a failure it counts as complete, so that peers continue. */
static int try_to_end(struct redist__direct *state, int peer) {
    int reached = 1;
    int code = state->problem->space->event_is_reached(state->events[peer], &reached);
    if (code == REDIST_OK && !reached)
        return REDIST_OK;
    state->copies[peer] = REDIST__DONE;
    state->left--;
    if (redist__distance_of(state->problem->transfer, peer) != 0 &&
        state->paths[state->direction].mode != REDIST__PUSH)
        redist__arrived(state->problem->timer);
    if (is_paced(state) && redist__distance_of(state->problem->transfer, peer) != 0)
        redist__steps_end(&state->steps);
    return code;
}

/* Steps end in their order. */
static int may_end(const struct redist__direct *state, int peer) {
    int distance = redist__distance_of(state->problem->transfer, peer);
    return state->copies[peer] == REDIST__RUNS &&
           (!is_paced(state) || distance == 0 || distance == state->steps.ended + 1);
}

/* Advances the copy with a peer; empty parts take a step too. */
static int advance_peer(struct redist__direct *state, int peer) {
    int issued = may_issue(state, peer) ? issue_one(state, peer) : REDIST_OK;
    int ended = may_end(state, peer) ? try_to_end(state, peer) : REDIST_OK;
    return issued == REDIST_OK ? ended : issued;
}

static int issue_all(struct redist__direct *state) {
    struct redist__batch *batch = &state->paths[state->direction].batch;
    const struct redist__space *space = state->problem->space;
    for (int peer = 0; peer < state->problem->context->size; peer++)
        if (state->copies[peer] == REDIST__WAITS)
            REDIST_TRY(find_addresses(state, peer));
    REDIST_TRY(space->batch_run(batch, 0, batch->count, space->stream(0)));
    return space->event_record(state->events[0], space->stream(0));
}

/* Issues one copy for all peers, as soon as all are ready. */
static int advance_together(struct redist__direct *state) {
    if (state->copies[0] == REDIST__RUNS)
        return try_to_end(state, 0);
    for (int peer = 0; peer < state->problem->context->size; peer++)
        if (state->copies[peer] == REDIST__WAITS &&
            redist__distance_of(state->problem->transfer, peer) != 0 &&
            !redist__flags_is_ready(&state->flags, peer))
            return REDIST_OK;
    int code = issue_all(state);
    state->left = 1;
    state->copies[0] = REDIST__RUNS;
    return code;
}

/* Advances all copies without waiting. */
int redist__direct_advance_copies(struct redist__direct *state) {
    int code = REDIST_OK;
    int adds = redist__direct_adds(state, state->direction);
    if (state->left != 0 && state->traits->together && !adds)
        return advance_together(state);
    int size = state->problem->context->size, n = adds ? 2 * size : size;
    for (int i = 1; i <= n && state->left != 0; i++) {
        /* sums take two rounds from rank 0 on, other executions begin with the next rank */
        int peer = adds ? (i - 1) % size : redist__rank_at(state->problem->transfer, i);
        int failed = advance_peer(state, peer);
        code = code == REDIST_OK ? failed : code;
    }
    return code;
}

/* Resets the copies; empty parts are complete, except for their steps. */
void redist__direct_expect(struct redist__direct *state) {
    int side = near_side(state), size = state->problem->context->size;
    int failed = redist__has_failed(state->problem);
    state->left = 0;
    state->steps.begun = state->steps.ended = 0;
    for (int peer = 0; peer < size; peer++) {
        int waits = !failed && (redist__direct_has_part(state, side, peer) || is_paced(state));
        state->copies[peer] = waits ? REDIST__WAITS : REDIST__DONE;
        state->left += waits;
    }
}
