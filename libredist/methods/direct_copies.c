/* SPDX-License-Identifier: BSD-3-Clause */
/* Method direct: which copies may begin, in which order, and whether they are done. */
#include "direct.h"

int redist__direct_is_ready(const struct redist__direct *state, int peer) {
    return atomic_load_explicit(&redist__direct_line(state, peer)->ready, memory_order_acquire) >=
           state->number;
}

int redist__direct_array(const struct redist__direct *state, int peer, char **base) {
    const struct redist__memory_handle *place = &redist__direct_line(state, peer)->place;
    const struct redist__space *space = state->problem->space;
    int staged = state->routes[state->direction].mode == REDIST__STAGE;
    *base =
        staged ? redist__space_host.map(place, NULL) : space->map(place, state->problem->mappings);
    if (*base != NULL)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "the array of rank %d of the plan is not mapped here",
                        peer);
}

/* The side of the exchange that this rank copies from or to in its own array. */
static int near_side(const struct redist__direct *state) {
    return !redist__direct_remote_side(&state->routes[state->direction], state->direction);
}

/* The own part of a staged exchange has no need of the stage. */
static int find_addresses(struct redist__direct *state, int peer) {
    const struct redist__schedule *schedule = state->problem->schedule;
    struct redist__route *route = &state->routes[state->direction];
    const char **source = &route->batch.sources[peer];
    char **destination = &route->batch.destinations[peer], *base = NULL;
    int direction = state->direction, own = peer == schedule->context->rank;
    size_t from = schedule->side[direction].parts[peer].offset,
           to = schedule->side[!direction].parts[peer].offset;
    *source = (const char *)((uintptr_t)state->source + from); /* arrays may be NULL and empty */
    *destination = (char *)((uintptr_t)state->destination + to);
    int code = own ? REDIST_OK : redist__direct_array(state, peer, &base);
    if (own || code != REDIST_OK)
        return code;
    if (route->mode == REDIST__PUSH)
        *destination = base + route->remotes[peer].offset;
    else
        *source = base + route->remotes[peer].offset;
    return REDIST_OK;
}

int redist__direct_distance(const struct redist__direct *state, int peer) {
    const struct redist__context *context = state->problem->schedule->context;
    return (peer - context->rank + context->size) % context->size;
}

int redist__direct_peer(const struct redist__direct *state, int distance) {
    const struct redist__context *context = state->problem->schedule->context;
    return (context->rank + distance) % context->size;
}

static int issue_one(struct redist__direct *state, int peer) {
    const struct redist__batch *batch = &state->routes[state->direction].batch;
    const struct redist__space *space = state->problem->space;
    int far = redist__direct_distance(state, peer), own = far == 0,
        lane = state->traits->paced && !own ? 1 : far;
    enum redist__copier copier =
        own && space->asynchronous ? REDIST__KERNEL : state->traits->copier;
    state->copies[peer] = REDIST__RUNS;
    state->turn += !own;
    redist__enter(state->problem->watch, own ? REDIST__OWN_PART : REDIST__FIRST_MESSAGE);
    int code = batch->copies[peer].run != 0 ? find_addresses(state, peer) : REDIST_OK;
    if (code == REDIST_OK && batch->copies[peer].run != 0)
        code = space->copy(&batch->copies[peer], batch->sources[peer], batch->destinations[peer],
                           copier, space->stream(lane));
    if (code == REDIST_OK && space->asynchronous)
        code = space->event_record(state->marks[peer], space->stream(lane));
    redist__enter(state->problem->watch, REDIST__FIRST_MESSAGE);
    return code;
}

/* The peer at distance i has turn i - 1, the own part needs none. */
static int has_turn(const struct redist__direct *state, int peer) {
    int distance = redist__direct_distance(state, peer);
    return !state->traits->paced || distance == 0 ||
           (distance == state->turn + 1 && redist__direct_has_turn(state));
}

static int may_issue(const struct redist__direct *state, int peer) {
    return state->copies[peer] == REDIST__WAITS && has_turn(state, peer) &&
           (redist__direct_distance(state, peer) == 0 || redist__direct_is_ready(state, peer));
}

/* Whether a copy that was issued is done. After a failure it counts as done, so that peers go on. */
static int try_to_end(struct redist__direct *state, int peer) {
    int reached = 1, code = REDIST_OK;
    if (state->problem->space->asynchronous)
        code = state->problem->space->event_is_reached(state->marks[peer], &reached);
    if (code == REDIST_OK && !reached)
        return REDIST_OK;
    state->copies[peer] = REDIST__DONE;
    state->left--;
    if (redist__direct_distance(state, peer) != 0 &&
        state->routes[state->direction].mode != REDIST__PUSH)
        redist__arrived(state->problem->watch);
    if (state->traits->paced && redist__direct_distance(state, peer) != 0)
        redist__direct_end_turn(state);
    return code;
}

/* Turns end in their order. */
static int may_end(const struct redist__direct *state, int peer) {
    int turn = redist__direct_distance(state, peer);
    return state->copies[peer] == REDIST__RUNS &&
           (!state->traits->paced || turn == 0 || turn == state->ended + 1);
}

/* Parts that are empty take part in the turns too. */
static int advance_peer(struct redist__direct *state, int peer) {
    int issued = may_issue(state, peer) ? issue_one(state, peer) : REDIST_OK;
    int ended = may_end(state, peer) ? try_to_end(state, peer) : REDIST_OK;
    return issued == REDIST_OK ? ended : issued;
}

/* One kernel for all peers, as soon as all are ready. */
static int advance_kernel(struct redist__direct *state) {
    struct redist__batch *batch = &state->routes[state->direction].batch;
    const struct redist__space *space = state->problem->space;
    int size = batch->count, code = REDIST_OK;
    if (state->copies[0] == REDIST__RUNS)
        return try_to_end(state, 0);
    for (int peer = 0; peer < size; peer++)
        if (state->copies[peer] == REDIST__WAITS && redist__direct_distance(state, peer) != 0 &&
            !redist__direct_is_ready(state, peer))
            return REDIST_OK;
    for (int peer = 0; peer < size && code == REDIST_OK; peer++)
        if (state->copies[peer] == REDIST__WAITS)
            code = find_addresses(state, peer);
    if (code == REDIST_OK)
        code = space->batch_run(batch, 0, size, 0);
    if (code == REDIST_OK)
        code = space->event_record(state->marks[0], space->stream(0));
    state->left = 1;
    state->copies[0] = REDIST__RUNS;
    return code;
}

/* Does what can be done without waiting. */
static int advance(struct redist__direct *state) {
    int code = REDIST_OK;
    if (state->left != 0 && state->traits->by_kernel)
        return advance_kernel(state);
    for (int i = 1; i <= state->problem->schedule->context->size && state->left != 0; i++) {
        int failed = advance_peer(state, redist__direct_peer(state, i));
        code = code == REDIST_OK ? failed : code;
    }
    return code;
}

/* Copies of empty parts are done before they begin, except for the turns that they take. */
void redist__direct_expect(struct redist__direct *state) {
    int side = near_side(state), size = state->problem->schedule->context->size;
    int failed = redist__direct_failed(state);
    state->left = 0;
    state->turn = state->ended = 0;
    for (int peer = 0; peer < size; peer++) {
        int waits = !failed && (redist__direct_has_part(state, side, peer) || state->traits->paced);
        state->copies[peer] = waits ? REDIST__WAITS : REDIST__DONE;
        state->left += waits;
    }
}

void redist__direct_advance(struct redist__direct *state) {
    redist__direct_note(state, state->problem->tiles != REDIST_WHOLE
                                   ? redist__direct_advance_puts(state)
                                   : advance(state));
}

void redist__direct_drop(struct redist__direct *state) {
    const struct redist__space *space = state->problem->space;
    space->drain();
    state->left = 0;
    redist__direct_end_turns(state);
}

/* ---------------------------------------------------------------- executions under way */

/* Those that are on the list in this process, the oldest first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__direct *pending;

void redist__direct_begin(struct redist__direct *state) {
    pthread_mutex_lock(&lock);
    struct redist__direct **link = &pending;
    while (*link != NULL)
        link = &(*link)->next_pending;
    state->next_pending = NULL;
    state->thread = pthread_self();
    *link = state;
    pthread_mutex_unlock(&lock);
}

void redist__direct_end(const struct redist__direct *state) {
    pthread_mutex_lock(&lock);
    struct redist__direct **link = &pending;
    while (*link != NULL && *link != state)
        link = &(*link)->next_pending;
    if (*link != NULL)
        *link = state->next_pending;
    pthread_mutex_unlock(&lock);
}

void redist__direct_lock(void) {
    pthread_mutex_lock(&lock);
}

void redist__direct_unlock(void) {
    pthread_mutex_unlock(&lock);
}

int redist__direct_advance_all(const struct redist__direct *state) {
    pthread_mutex_lock(&lock);
    for (struct redist__direct *other = pending; other != NULL; other = other->next_pending)
        if (other == state || pthread_equal(other->thread, pthread_self()))
            redist__direct_advance(other);
    int left = state->left;
    pthread_mutex_unlock(&lock);
    return left;
}
