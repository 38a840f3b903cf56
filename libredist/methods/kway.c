/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The all-to-all in stages (AccFFT's k-way): ceil(log_k P) of them, in each of which a rank sends at most
 * k - 1 messages; each message carries all blocks that go to the same rank next, also those of other ranks.
 * Fewer messages than the P - 1 of the other methods, for more bytes, as a block travels once for each digit
 * of its distance that is not 0.
 *
 * The own blocks of a message are packed straight from the array, those in transit are copied from the
 * buffer of the stage before; a block that has arrived is unpacked straight into the array while the next
 * stage's messages travel. On a device each message is packed on a stream of its own and sent when that is
 * done, and what the array has for the next stage is packed while this one's messages travel; if MPI
 * cannot take device memory, blocks stay in pinned host memory from their first stage to their last.
 *
 * Buffers hold at most what is in transit at a time: even stages use one, odd stages the other.
 */
#include "kway_plan.h"
#include "messages.h"
#include "packing.h"

#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {"2",  "3",  "4",  "5",  "6",  "7",  "8", "9",
                                       "10", "12", "16", "24", "32", "64", NULL};

/* One stream unpacks, the others pack a message each. */
enum { UNPACKING = 0, PACKING = 1 };

struct state {
    struct redist__kway_shape shape;
    struct redist__kway_plan plans[2];
    struct redist__copy own[2];
    MPI_Datatype element; /* the item's bytes */
    char *out[2], *in[2]; /* buffers of even and odd stages */
    size_t out_bytes[2], in_bytes[2];
    struct redist__messages messages; /* of a stage */
    void **events;                    /* of each message of a stage: it is packed */
    char *is_sent;
    int to_send;   /* messages of the stage that are not sent */
    int direction; /* of the execution under way */
    const char *source;
    char *destination;
};

static int radix_of(int variant) {
    return atoi(variants[variant]);
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    (void)candidate;
    int code = redist__check_copyable(problem->transfer, "kway");
    return code == REDIST_OK ? redist__check_counts(problem->transfer, "kway", 0) : code;
}

/* Worth measuring are divisors and powers of two. With k = P there is one stage, as in p2p, and larger k
 * are the same. Among ranks that map each other's arrays nothing is gained by fewer messages. Where
 * nothing is measured, it is the smallest k with two stages. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    int variant = candidate->variant;
    const struct redist__context *context = problem->context;
    int k = radix_of(variant), ranks = context->size;
    int smaller = variant > 0 ? radix_of(variant - 1) : 1;
    if (k >= ranks || (ranks % k != 0 && (k & (k - 1)) != 0))
        return REDIST__BY_NAME - 1 - (k < ranks || (variant > 0 && smaller >= ranks));
    if (context->node_size == ranks && problem->mapped[0] && problem->mapped[1])
        return REDIST__BY_NAME;
    return k * k >= ranks && smaller * smaller < ranks ? -2 : -3;
}

/* ---------------------------------------------------------------- making */

static const struct redist__context *context_of(const struct state *state) {
    return state->shape.problem->context;
}

static void describe_stages(struct redist__kway_shape *shape, int k) {
    shape->nstages = redist__kway_stages(shape->problem->context->size, k, shape->stages);
    for (int i = 0; i < shape->nstages; i++) {
        int most = redist__kway_most(&shape->stages[i]);
        shape->width = most > shape->width ? most : shape->width;
    }
}

static int create_messages(struct state *state) {
    size_t n = (size_t)state->shape.width + 1;
    int code = redist__messages_create(&state->messages, context_of(state),
                                       state->shape.problem->failure, (int)n);
    if (code != REDIST_OK)
        return code;
    state->events = redist_calloc(n, sizeof *state->events);
    state->is_sent = redist_calloc(n, 1);
    if (state->events == NULL || state->is_sent == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", n);
    code = redist__element_type(state->shape.problem->transfer, &state->element);
    for (size_t i = 0; i < n && code == REDIST_OK; i++)
        code = state->shape.problem->space->event_create(&state->events[i]);
    return code;
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method kway");
    state->element = MPI_DATATYPE_NULL;
    state->shape.problem = problem;
    state->shape.wire = problem->staged ? &redist__space_host : problem->space;
    describe_stages(&state->shape, radix_of(candidate->variant));
    for (int direction = 0; direction < 2; direction++)
        redist__own_copy_prepare(&state->own[direction], problem->transfer, direction);
    return create_messages(state);
}

static int allocate(const struct redist__problem *problem, size_t bytes, void **memory) {
    return problem->staged ? problem->space->allocate_pinned(bytes, memory)
                           : problem->space->allocate(bytes, memory);
}

static int create_buffers(struct state *state) {
    int code = REDIST_OK;
    for (int i = 0; i < 2 && code == REDIST_OK; i++) {
        for (int direction = 0; direction < 2; direction++) {
            const struct redist__kway_plan *plan = &state->plans[direction];
            if (plan->out_bytes[i] > state->out_bytes[i])
                state->out_bytes[i] = plan->out_bytes[i];
            if (plan->in_bytes[i] > state->in_bytes[i])
                state->in_bytes[i] = plan->in_bytes[i];
        }
        code = allocate(state->shape.problem, state->out_bytes[i], (void **)&state->out[i]);
        if (code == REDIST_OK)
            code = allocate(state->shape.problem, state->in_bytes[i], (void **)&state->in[i]);
    }
    return code;
}

/* Only their owners know how large the blocks in transit are. */
static int connect_with(struct state *state, uint64_t elements[], uint64_t scratch[]) {
    size_t table = (size_t)(state->shape.nstages + 1) * (size_t)context_of(state)->size;
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = redist__kway_find_sizes(&state->shape, direction,
                                       elements + (size_t)direction * table, scratch);
    if (code != REDIST_OK)
        return code;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = redist__kway_plan_create(&state->plans[direction], &state->shape, direction,
                                        elements + (size_t)direction * table);
    if (code == REDIST_OK)
        code = create_buffers(state);
    return redist_agree(context_of(state)->comm, code);
}

static int connect(void *data) {
    struct state *state = data;
    size_t size = (size_t)context_of(state)->size;
    uint64_t *elements =
        redist_calloc(2 * size * (size_t)(state->shape.nstages + 1), sizeof *elements);
    uint64_t *scratch = redist_calloc(2 * size, sizeof *scratch);
    int code = elements != NULL && scratch != NULL
                   ? REDIST_OK
                   : redist__fail(REDIST_ERR_MEMORY, "no memory for the sizes of blocks");
    code = redist_agree(context_of(state)->comm, code);
    if (code == REDIST_OK)
        code = connect_with(state, elements, scratch);
    redist_release(elements);
    redist_release(scratch);
    return code;
}

/* ---------------------------------------------------------------- one stage */

/* Runs the moves of some messages; after a failure there is nothing to move. */
static void run(struct state *state, struct redist__moves *moves, int message, int nmessages,
                const char *from, char *to, int stream) {
    struct redist__phase_timer *timer = state->shape.problem->timer;
    if (redist__has_failed(state->shape.problem))
        return;
    redist__enter(timer,
                  moves == &state->plans[state->direction].unpack ? REDIST__UNPACK : REDIST__PACK);
    int first = moves->first[message], count = moves->first[message + nmessages] - first;
    for (int i = first; i < first + count; i++) {
        const struct redist__move *move = &moves->list[i];
        if (moves->batch.space == NULL) {
            memcpy(to + move->to, from + move->from, move->bytes);
            continue;
        }
        moves->batch.sources[i] = from + move->from;
        moves->batch.destinations[i] = to + move->to;
    }
    if (count != 0 && moves->batch.space != NULL)
        redist__note(state->shape.problem,
                     moves->batch.space->batch_run(&moves->batch, first, count,
                                                   moves->batch.space->stream(stream)));
    redist__enter(timer, REDIST__COMMUNICATE);
}

static void post_receives(struct state *state, int stage) {
    const struct redist__kway_shape *shape = &state->shape;
    for (int i = 0; i < shape->width; i++) {
        const struct redist__message *message =
            &state->plans[state->direction].messages[stage * shape->width + i];
        if (message->received != 0)
            redist__messages_receive(&state->messages, i,
                                     state->in[stage % 2] + message->receive_at, message->received,
                                     state->element, message->from, shape->problem->tag);
    }
}

static void send(struct state *state, int stage, int i) {
    const struct redist__message *message =
        &state->plans[state->direction].messages[stage * state->shape.width + i];
    state->is_sent[i] = 1;
    state->to_send--;
    if (message->sent != 0)
        redist__messages_send(&state->messages, i, state->out[stage % 2] + message->send_at,
                              message->sent, state->element, message->to,
                              state->shape.problem->tag);
}

static void send_if_packed(struct state *state, int stage, int i) {
    int reached = 1;
    if (state->shape.problem->space->asynchronous && !redist__has_failed(state->shape.problem))
        redist__note(state->shape.problem,
                     state->shape.problem->space->event_is_reached(state->events[i], &reached));
    if (reached || redist__has_failed(state->shape.problem))
        send(state, stage, i);
}

static void pack(struct state *state, int stage, int i) {
    run(state, &state->plans[state->direction].pack, stage * state->shape.width + i, 1,
        state->source, state->out[stage % 2], PACKING + i);
}

/* Messages leave as soon as they are packed; the array's blocks for the first stage are packed here,
 * those for the others while the messages of the stage before travel. */
static void fill_messages(struct state *state, int stage) {
    const struct redist__space *space = state->shape.problem->space;
    int width = state->shape.width;
    state->to_send = width;
    for (int i = 0; i < width; i++) {
        state->is_sent[i] = 0;
        if (stage == 0)
            pack(state, 0, i);
        run(state, &state->plans[state->direction].forward, stage * width + i, 1,
            state->in[(stage + 1) % 2], state->out[stage % 2], PACKING + i);
        if (space->asynchronous && !redist__has_failed(state->shape.problem))
            redist__note(state->shape.problem,
                         space->event_record(state->events[i], space->stream(PACKING + i)));
        send_if_packed(state, stage, i);
    }
}

static void begin_stage(struct state *state, int stage) {
    const struct redist__space *space = state->shape.problem->space;
    int width = state->shape.width;
    struct redist__moves *keep = &state->plans[state->direction].keep;
    if (stage > 0) /* what was unpacked and kept two stages ago is still in the buffer */
        redist__note(state->shape.problem,
                     redist__finish_stream(space, state->events[width], space->stream(UNPACKING),
                                           context_of(state)));
    post_receives(state, stage);
    fill_messages(state, stage);
    for (int i = 0; i < width && stage + 1 < state->shape.nstages; i++)
        pack(state, stage + 1, i);
    run(state, keep, stage * width, width, state->in[(stage + 1) % 2], state->in[stage % 2],
        UNPACKING);
}

static void unpack(struct state *state, int stage, int i) {
    run(state, &state->plans[state->direction].unpack, stage * state->shape.width + i, 1,
        state->in[stage % 2], state->destination, UNPACKING);
}

static void send_rest(struct state *state, int stage) {
    for (unsigned poll = 0; state->to_send != 0; poll++) {
        redist__messages_pause(&state->messages, poll);
        for (int i = 0; i < state->shape.width; i++)
            if (!state->is_sent[i])
                send_if_packed(state, stage, i);
    }
}

/* The last stage's blocks are unpacked as they arrive. */
static void end_stage(struct state *state, int stage) {
    int i, last = stage == state->shape.nstages - 1;
    send_rest(state, stage);
    while ((i = redist__messages_next(&state->messages)) >= 0)
        if (last)
            unpack(state, stage, i);
    redist__messages_end(&state->messages);
}

/* ---------------------------------------------------------------- execution */

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->shape.problem;
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    redist__note(state->shape.problem,
                 redist__finish_stream(problem->space, state->events[state->shape.width],
                                       problem->stream, context_of(state)));
    if (state->shape.nstages > 0)
        begin_stage(state, 0);
    redist__enter(problem->timer, REDIST__OWN_PART);
    redist__attempt(state->shape.problem,
                    redist__own_copy_run(&state->own[direction], problem, direction, source,
                                         destination, UNPACKING));
    redist__enter(problem->timer, REDIST__COMMUNICATE);
}

/* After a failure other streams may still be packing. */
static void finish_streams(struct state *state) {
    const struct redist__space *space = state->shape.problem->space;
    redist__note(state->shape.problem,
                 redist__finish_stream(space, state->events[state->shape.width],
                                       space->stream(UNPACKING), context_of(state)));
    if (redist__has_failed(state->shape.problem))
        space->drain();
}

static void wait(void *data) {
    struct state *state = data;
    for (int stage = 0; stage < state->shape.nstages; stage++) {
        end_stage(state, stage);
        if (stage + 1 == state->shape.nstages)
            break;
        begin_stage(state, stage + 1);
        for (int i = 0; i < state->shape.width; i++)
            unpack(state, stage, i);
    }
    finish_streams(state);
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return state->out_bytes[0] + state->out_bytes[1] + state->in_bytes[0] + state->in_bytes[1];
}

static void free_buffers(struct state *state) {
    const struct redist__problem *problem = state->shape.problem;
    void (*release)(void *memory) =
        problem->staged ? problem->space->release_pinned : problem->space->release;
    for (int i = 0; i < 2; i++) {
        release(state->out[i]);
        release(state->in[i]);
    }
}

static void destroy(void *data) {
    struct state *state = data;
    redist__kway_plan_free(&state->plans[0]);
    redist__kway_plan_free(&state->plans[1]);
    if (!redist__messages_free(&state->messages))
        free_buffers(state);
    for (int i = 0; state->events != NULL && i <= state->shape.width; i++)
        state->shape.problem->space->event_destroy(state->events[i]);
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    redist_release(state->events);
    redist_release(state->is_sent);
    redist_release(state);
}

const struct redist__method redist__method_kway = {
    .name = "kway",
    .summary = "in log_k P stages, each of at most k - 1 messages; for many ranks and small parts",
    .variants = variants,
    .applies = applies,
    .preference = preference,
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
