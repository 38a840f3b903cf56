/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ghosts of one axis after the other, each axis by another method. What arrives along an axis is sent on along the
 * next ones, so that a rank exchanges messages with its neighbours along the axes only: six instead of 26 in three
 * dimensions, one round after the other.
 *
 * Ghosts are added by all neighbours at once. Along the axes one after the other sums would pass through the ghosts of
 * others, which have to keep their values, and would depend on the method, as the order of ranks would not be kept.
 */
#include "method.h"

/* The method of each variant. */
static const char *const variants[] = {"p2p", "direct", "signals", "nccl", NULL};

struct state {
    const struct redist__problem *problem;
    struct redist__candidate inner;
    struct redist__problem *problems; /* of the axes */
    struct redist__transport *axes;
    struct redist__transport whole; /* backward; none of a plan that goes forward only */
    int direction;                  /* of the pending execution, */
    void *array;                    /* and source and destination of it */
};

/* Returns the problem of an axis. */
static struct redist__problem along(const struct redist__problem *problem, int axis) {
    struct redist__problem made = *problem;
    made.transfer = &problem->axes[axis];
    made.axes = NULL;
    made.naxes = 0;
    return made;
}

static int serves(const struct redist__problem *problem, const struct redist__candidate *inner) {
    REDIST_TRY(redist__check_mode(problem, inner->method));
    for (int i = 0; i < problem->naxes; i++) {
        const struct redist__problem axis = along(problem, i);
        REDIST_TRY(inner->method->applies(&axis, inner));
    }
    return problem->transfer->one_way ? REDIST_OK : inner->method->applies(problem, inner);
}

/* Finds the best of the variant's method without measurements. */
static int find_inner(const struct redist__problem *problem, int variant,
                      struct redist__candidate *inner) {
    return redist__find_best(problem, variants[variant], serves, inner);
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    struct redist__candidate inner;
    if (problem->naxes == 0 || !redist__transfer_copyable(problem->transfer))
        return redist__fail(REDIST_ERR_METHOD,
                            "method axes fills ghosts with corners along several axes, of elements "
                            "that are copied as boxes of bytes");
    return find_inner(problem, candidate->variant, &inner);
}

/* Comes behind all axes at once, unless measured. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    struct redist__candidate inner;
    int found = find_inner(problem, candidate->variant, &inner) == REDIST_OK;
    return found && redist__preference(problem, &inner) > REDIST__BY_NAME ? -1 : REDIST__BY_NAME;
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method axes");
    state->problem = problem;
    state->problems = redist_calloc((size_t)problem->naxes, sizeof *state->problems);
    state->axes = redist_calloc((size_t)problem->naxes, sizeof *state->axes);
    if (state->problems == NULL || state->axes == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %d axes", problem->naxes);
    for (int i = 0; i < problem->naxes; i++)
        state->problems[i] = along(problem, i);
    return find_inner(problem, candidate->variant, &state->inner);
}

/* Makes the executions of a transport fail on the device with those of another one of the same method. */
static void join(const struct redist__transport *transport, const struct redist__transport *other) {
    const struct redist__method *method = transport->method;
    if (method != NULL && method->join != NULL)
        method->join(transport->state, method->word(other->state));
}

static int connect(void *data) {
    struct state *state = data;
    int naxes = state->problem->naxes;
    for (int i = 0; i < naxes; i++)
        REDIST_TRY(redist__transport_create(&state->problems[i], &state->inner, &state->axes[i]));
    if (!state->problem->transfer->one_way)
        REDIST_TRY(redist__transport_create(state->problem, &state->inner, &state->whole));
    for (int i = 1; i < naxes; i++)
        join(&state->axes[i], &state->axes[0]);
    join(&state->whole, &state->axes[0]);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- execution */

/* Lists the transports of a direction; returns their number. */
static int transports_of(struct state *state, int direction, struct redist__transport **first) {
    *first = direction == REDIST_FORWARD ? state->axes : &state->whole;
    return direction == REDIST_FORWARD ? state->problem->naxes : 1;
}

/* Starts the first axis; the others follow in `wait`, unless all are only enqueued. */
static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    struct redist__transport *first;
    int n = transports_of(state, direction, &first);
    state->direction = direction;
    state->array = destination;
    for (int i = 0; i < (state->problem->asynchronous ? n : 1); i++)
        redist__transport_start(&first[i], direction, source, destination);
}

static void wait(void *data) {
    struct state *state = data;
    struct redist__transport *first;
    int n = transports_of(state, state->direction, &first);
    redist__transport_wait(&first[0]);
    for (int i = 1; i < n; i++)
        if (state->problem->asynchronous)
            redist__transport_wait(&first[i]);
        else
            redist__transport_execute(&first[i], state->direction, state->array, state->array);
}

static void query(void *data) {
    struct state *state = data;
    for (int i = 0; i < state->problem->naxes; i++)
        redist__transport_query(&state->axes[i]);
    redist__transport_query(&state->whole);
}

static void leave(void *data) {
    struct state *state = data;
    for (int i = 0; i < state->problem->naxes; i++)
        redist__transport_leave(&state->axes[i]);
    redist__transport_leave(&state->whole);
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    size_t bytes = redist__transport_workspace(&state->whole);
    for (int i = 0; i < state->problem->naxes; i++)
        bytes += redist__transport_workspace(&state->axes[i]);
    return bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    for (int i = 0; i < state->problem->naxes && state->axes != NULL; i++)
        redist__transport_destroy(&state->axes[i]);
    redist__transport_destroy(&state->whole);
    redist_release(state->axes);
    redist_release(state->problems);
    redist_release(state);
}

const struct redist__method redist__method_axes = {
    .name = "axes",
    .formats = 1,
    .summary = "ghosts with corners, of one axis after the other by another method: fewer messages",
    .variants = variants,
    .modes = REDIST__DOES_BOTH,
    .needs_peers_arrays = 1,
    .applies = applies,
    .preference = preference,
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .query = query,
    .leave = leave,
    .workspace = workspace,
    .destroy = destroy,
};
