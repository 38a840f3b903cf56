/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The all-to-all in stages (AccFFT's k-way): ceil(log_k P) of them, in each of which a rank sends at most k - 1
 * messages; each message carries all blocks with the same next rank, also those of other ranks. These are fewer
 * messages than the P - 1 of the other methods, with more bytes, as a block travels once for each nonzero digit of its
 * distance.
 *
 * This rank's blocks of a message are packed directly from the array, those in transit are copied from the buffer of
 * the previous stage; blocks at their destination are unpacked into the array while the next stage's messages travel.
 * On a device each message is packed on its own stream and sent when that is done, and the array's blocks for the next
 * stage are packed while this one's messages travel; if MPI does not accept device memory, blocks stay in pinned host
 * memory from their first stage to their last.
 *
 * Buffers hold only the blocks in transit at a time: even stages use one, odd stages the other.
 */
#include "kway_plan.h"
#include "messages.h"
#include "packing.h"

#include <stdlib.h>

static const char *const variants[] = {"2",  "3",  "4",  "5",  "6",  "7",  "8", "9",
                                       "10", "12", "16", "24", "32", "64", NULL};

/* One stream unpacks, the others pack a message each. */
enum { UNPACKING = 0, PACKING = 1 };

struct state {
    struct redist__kway_shape shape;
    struct redist__kway_plan plans[2];
    struct redist__copy own[2];
    MPI_Datatype element; /* of redist__message_unit bytes */
    char *buffers[2][2];  /* outgoing and incoming, of even and odd stages */
    size_t bytes[2][2];
    struct redist__messages messages; /* of a stage */
    void **events;                    /* one for each message of a stage: packed */
    int direction;                    /* of the pending execution */
    const char *source;
    char *destination;
};

static int radix_of(int variant) {
    return atoi(variants[variant]);
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    REDIST_TRY(redist__check_copyable(problem->transfer, candidate->method->name));
    REDIST_TRY(redist__check_single(problem->transfer, candidate->method->name));
    if (problem->format != NULL && !problem->formats_all && problem->context->node_size > 1)
        return redist__fail(REDIST_ERR_METHOD,
                            "method kway sends what is for this node through others: with %s it "
                            "needs REDIST_WIRE_EVERYWHERE",
                            redist_wire_name(problem->format->wire));
    return redist__check_counts(problem, candidate->method->name, 0);
}

/* Ranks k: divisors and powers of two are measured. With k = P the only stage is that of p2p, as with larger k. Ranks
 * that map each other's arrays have no use for fewer messages. Without measurement the smallest k with two stages is
 * best. */
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
    const struct redist__problem *problem = state->shape.problem;
    size_t n = (size_t)state->shape.width + 1;
    REDIST_TRY(redist__messages_create(&state->messages, problem, (int)n));
    state->events = redist_calloc(n, sizeof *state->events);
    if (state->events == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", n);
    for (size_t i = 0; i < n; i++)
        REDIST_TRY(problem->space->event_create(&state->events[i]));
    return redist__element_type(problem, &state->element);
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

/* Creates buffers for the larger of both directions. */
static int create_buffers(struct state *state) {
    const struct redist__problem *problem = state->shape.problem;
    const struct redist__kway_plan *plans = state->plans;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            size_t forward = plans[0].bytes[i][k], backward = plans[1].bytes[i][k];
            state->bytes[i][k] = forward > backward ? forward : backward;
            REDIST_TRY(
                (problem->staged ? problem->space->allocate_pinned : problem->space->allocate)(
                    state->bytes[i][k], (void **)&state->buffers[i][k]));
        }
    return REDIST_OK;
}

static int create_plans(struct state *state, const uint64_t elements[], size_t row) {
    for (int direction = 0; direction < 2; direction++)
        REDIST_TRY(redist__kway_plan_create(&state->plans[direction], &state->shape, direction,
                                            elements + (size_t)direction * row));
    return create_buffers(state);
}

/* Exchanges the sizes of blocks in transit, which only their owners know. */
static int connect(void *data) {
    struct state *state = data;
    size_t size = (size_t)context_of(state)->size;
    size_t row = (size_t)(state->shape.nstages + 1) * size; /* of a direction */
    uint64_t *elements = redist_calloc(2 * row + 2 * size, sizeof *elements);
    int code = redist__agree_memory(context_of(state)->comm, elements, "for the sizes of blocks");
    if (code == REDIST_OK) {
        for (int direction = 0; direction < 2; direction++)
            redist__kway_find_sizes(&state->shape, direction, elements + (size_t)direction * row,
                                    elements + 2 * row, &code);
        code = redist_agree(context_of(state)->comm,
                            code == REDIST_OK ? create_plans(state, elements, row) : code);
    }
    redist_release(elements);
    return code;
}

/* ---------------------------------------------------------------- one stage */

/* Runs the moves of some messages; none after a failure. */
static void run(struct state *state, enum redist__moving moving, int message, int nmessages,
                const char *from, char *to, int stream) {
    const struct redist__problem *problem = state->shape.problem;
    struct redist__moves *moves = &state->plans[state->direction].moves[moving];
    int first = moves->first[message], count = moves->first[message + nmessages] - first;
    if (count == 0 || redist__has_failed(problem))
        return;
    redist__enter(problem->timer, moving == REDIST__UNPACK_BLOCKS ? REDIST__UNPACK : REDIST__PACK);
    for (int i = first; i < first + count; i++) {
        moves->batch.sources[i] = from + moves->list[i].from;
        moves->batch.destinations[i] = to + moves->list[i].to;
    }
    redist__note(problem, moves->batch.space->batch_run(&moves->batch, first, count,
                                                        moves->batch.space->stream(stream)));
    redist__enter(problem->timer, REDIST__COMMUNICATE);
}

static const struct redist__message *message_of(const struct state *state, int stage, int i) {
    return &state->plans[state->direction].messages[stage * state->shape.width + i];
}

static void post_receives(struct state *state, int stage) {
    for (int i = 0; i < state->shape.width; i++) {
        const struct redist__message *message = message_of(state, stage, i);
        if (message->received != 0)
            redist__messages_receive(
                &state->messages, i, state->buffers[REDIST__IN][stage % 2] + message->receive_at,
                message->received, state->element, message->from, state->shape.problem->tag);
    }
}

static void pack(struct state *state, int stage, int i) {
    run(state, REDIST__PACK_BLOCKS, stage * state->shape.width + i, 1, state->source,
        state->buffers[REDIST__OUT][stage % 2], PACKING + i);
}

static void unpack(struct state *state, int stage, int i) {
    run(state, REDIST__UNPACK_BLOCKS, stage * state->shape.width + i, 1,
        state->buffers[REDIST__IN][stage % 2], state->destination, UNPACKING);
}

/* Sends messages as soon as they are packed. The array's blocks for the first stage are packed here, those for the
 * others while the messages of the previous stage travel. */
static void fill_messages(struct state *state, int stage) {
    const struct redist__problem *problem = state->shape.problem;
    for (int i = 0; i < state->shape.width; i++) {
        const struct redist__message *message = message_of(state, stage, i);
        if (stage == 0)
            pack(state, 0, i);
        run(state, REDIST__FORWARD_BLOCKS, stage * state->shape.width + i, 1,
            state->buffers[REDIST__IN][(stage + 1) % 2], state->buffers[REDIST__OUT][stage % 2],
            PACKING + i);
        redist__attempt(problem, problem->space->event_record(state->events[i],
                                                              problem->space->stream(PACKING + i)));
        if (message->sent != 0)
            redist__messages_send(&state->messages, i, state->events[i],
                                  state->buffers[REDIST__OUT][stage % 2] + message->send_at,
                                  message->sent, state->element, message->to, problem->tag);
    }
}

static void finish_stream(struct state *state, void *stream) {
    redist__finish(state->shape.problem, state->events[state->shape.width], stream);
}

static void begin_stage(struct state *state, int stage) {
    int width = state->shape.width;
    if (stage > 0) /* the buffer still has the blocks unpacked and kept two stages ago */
        finish_stream(state, state->shape.problem->space->stream(UNPACKING));
    post_receives(state, stage);
    fill_messages(state, stage);
    for (int i = 0; i < width && stage + 1 < state->shape.nstages; i++)
        pack(state, stage + 1, i);
    run(state, REDIST__KEEP_BLOCKS, stage * width, width,
        state->buffers[REDIST__IN][(stage + 1) % 2], state->buffers[REDIST__IN][stage % 2],
        UNPACKING);
}

/* Ends a stage; the last stage's blocks are unpacked as they arrive. */
static void end_stage(struct state *state, int stage) {
    int i, last = stage == state->shape.nstages - 1;
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
    finish_stream(state, problem->stream);
    if (state->shape.nstages > 0)
        begin_stage(state, 0);
    redist__enter(problem->timer, REDIST__OWN_PART);
    redist__attempt(problem,
                    redist__own_copy_run(&state->own[direction], problem, direction, source,
                                         destination, problem->space->stream(UNPACKING)));
    redist__enter(problem->timer, REDIST__COMMUNICATE);
}

/* Waits, after a failure also for other streams that may still be packing. */
static void wait(void *data) {
    struct state *state = data;
    const struct redist__problem *problem = state->shape.problem;
    for (int stage = 0; stage < state->shape.nstages; stage++) {
        end_stage(state, stage);
        if (stage + 1 == state->shape.nstages)
            break;
        begin_stage(state, stage + 1);
        for (int i = 0; i < state->shape.width; i++)
            unpack(state, stage, i);
    }
    finish_stream(state, problem->space->stream(UNPACKING));
    if (redist__has_failed(problem))
        problem->space->drain();
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return state->bytes[0][0] + state->bytes[0][1] + state->bytes[1][0] + state->bytes[1][1];
}

static void free_buffers(struct state *state) {
    const struct redist__problem *problem = state->shape.problem;
    for (int i = 0; i < 4; i++)
        (problem->staged ? problem->space->release_pinned
                         : problem->space->release)(state->buffers[i / 2][i % 2]);
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
    redist_release(state);
}

const struct redist__method redist__method_kway = {
    .name = "kway",
    .formats = 1,
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
