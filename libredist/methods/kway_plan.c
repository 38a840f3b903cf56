/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks and copies of the messages of method kway. At any time a rank has one block for each initial distance to its
 * destination. So all tables are indexed by distance, with at most ranks times stages entries.
 */
#include "kway_plan.h"

#include <limits.h>
#include <string.h>

/* ---------------------------------------------------------------- stages */

/*
 * The stages of method kway. If P is a product of one factor up to k for each stage, ranks are numbers with a digit for
 * each factor, and each stage sets one digit: it splits the ranks in groups that continue independently, as AccFFT's
 * hypercube does. Else, such as for primes, the distance from source to destination modulo P is written to the base k,
 * and each stage covers one digit (Bruck et al.). Both are rings on which blocks travel by the digits of a distance.
 */

static int stages_needed(int nranks, int k) {
    int stages = 0;
    for (long long reached = 1; reached < nranks; reached *= k)
        stages++;
    return stages;
}

static int largest_divisor(int n, int most) {
    int divisor = most < n ? most : n;
    while (n % divisor != 0)
        divisor--;
    return divisor;
}

/* Finds factors up to k, the largest first; 0 if none, or more than `most`, exist. */
static int factorise(int nranks, int k, int most, int factors[]) {
    int count = 0;
    for (int rest = nranks; rest > 1; rest /= factors[count++])
        if (count == most || (factors[count] = largest_divisor(rest, k)) == 1)
            return 0;
    return count;
}

int redist__kway_stages(int nranks, int k, struct redist__stage stages[]) {
    int factors[REDIST__MOST_STAGES], needed = stages_needed(nranks, k);
    int groups = factorise(nranks, k, needed, factors);
    /* the smallest factor is for the most distant ranks, and first */
    for (int i = 0, stride = 1; i < groups; stride *= factors[i++])
        stages[groups - 1 - i] = (struct redist__stage){stride, factors[i], 1, factors[i]};
    for (int i = 0, weight = 1; i < needed && groups == 0; i++) {
        stages[needed - 1 - i] = (struct redist__stage){1, nranks, weight, k};
        weight *= i + 1 < needed ? k : 1;
    }
    return needed;
}

/* Returns a stage's digit of a distance. */
static int digit_of(const struct redist__stage *stage, int distance) {
    return distance / stage->stride % stage->extent / stage->weight % stage->radix;
}

int redist__kway_most(const struct redist__stage *stage) {
    int most = (stage->extent - 1) / stage->weight;
    return most < stage->radix ? most : stage->radix - 1;
}

/* Returns the rank to which a digit carries a block from `rank`; for a negative digit, from which. */
static int neighbour(const struct redist__stage *stage, int rank, int digit) {
    int here = rank / stage->stride % stage->extent;
    int steps = digit < 0 ? stage->extent - -digit * stage->weight : digit * stage->weight;
    int there = (int)(((long long)here + steps) % stage->extent);
    return rank + (there - here) * stage->stride;
}

static struct redist__context *context_of(const struct redist__kway_shape *shape) {
    return shape->problem->context;
}

/* Returns the rank at a distance, forward (sign 1) or back (-1). */
static int rank_at(const struct redist__kway_shape *shape, int distance, int sign) {
    int rank = context_of(shape)->rank;
    for (int i = 0; i < shape->nstages; i++)
        rank = neighbour(&shape->stages[i], rank, sign * digit_of(&shape->stages[i], distance));
    return rank;
}

/* ---------------------------------------------------------------- sizes */

/* Copies the sizes of a message's blocks, in their order, from or to the row of all blocks. Returns their number. */
static int copy_sizes(const struct redist__stage *stage, int digit, int nranks, int reads,
                      uint64_t row[], uint64_t message[]) {
    int count = 0;
    for (int distance = 1; distance < nranks; distance++)
        if (digit_of(stage, distance) == digit) {
            *(reads ? &message[count] : &row[distance]) = reads ? row[distance] : message[count];
            count++;
        }
    return count;
}

static void find_stage_sizes(const struct redist__kway_shape *shape,
                             const struct redist__stage *stage, uint64_t before[], uint64_t after[],
                             uint64_t scratch[], int *code) {
    struct redist__context *context = context_of(shape);
    int size = context->size;
    memcpy(after, before, (size_t)size * sizeof *after);
    for (int digit = 1; digit <= redist__kway_most(stage); digit++) {
        int count = copy_sizes(stage, digit, size, 1, before, scratch);
        int to = neighbour(stage, context->rank, digit);
        int from = neighbour(stage, context->rank, -digit);
        redist__keep_first(code, redist__send_receive(context, to, scratch, from, scratch + size,
                                                      (size_t)count * sizeof *scratch));
        copy_sizes(stage, digit, size, 0, after, scratch + size);
    }
}

void redist__kway_find_sizes(const struct redist__kway_shape *shape, int direction,
                             uint64_t elements[], uint64_t scratch[], int *code) {
    const struct redist__part *parts = shape->problem->transfer->side[direction].parts;
    int size = context_of(shape)->size;
    for (int distance = 0; distance < size; distance++)
        elements[distance] = parts[rank_at(shape, distance, 1)].elements;
    for (int i = 0; i < shape->nstages; i++)
        find_stage_sizes(shape, &shape->stages[i], elements + i * size, elements + (i + 1) * size,
                         scratch, code);
}

/* ---------------------------------------------------------------- moves */

struct builder {
    const struct redist__kway_shape *shape;
    struct redist__kway_plan *plan;
    int direction;
    const uint64_t *elements;
    size_t *where;  /* offset of each distance's block, in the buffer of the last stage */
    size_t largest; /* elements of a message */
};

/* Adds a move; one between buffers that continues the message's last move lengthens that. */
static void add(const struct builder *builder, enum redist__moving moving, int message,
                struct redist__move move) {
    struct redist__moves *moves = &builder->plan->moves[moving];
    struct redist__move *last = &moves->list[moves->count > 0 ? moves->count - 1 : 0];
    if (moves->count > moves->first[message] && move.peer < 0 &&
        last->from + last->bytes == move.from && last->to + last->bytes == move.to)
        last->bytes += move.bytes;
    else if (move.bytes != 0)
        moves->list[moves->count++] = move;
}

/* Returns the bytes of a block in buffers. */
static size_t packed_bytes(const struct redist__kway_shape *shape, size_t elements) {
    const struct redist__problem *problem = shape->problem;
    size_t bytes = elements * problem->transfer->item;
    return redist__message_fill(problem, redist__format_bytes(problem->format, bytes));
}

/* Adds the move of a peer's part between the array and a buffer. */
static void add_part(const struct builder *builder, enum redist__moving moving, int message,
                     int distance, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    const struct redist__transfer *transfer = shape->problem->transfer;
    int unpacks = moving == REDIST__UNPACK_BLOCKS;
    int peer = rank_at(shape, distance, unpacks ? -1 : 1);
    const struct redist__part *part = &transfer->side[builder->direction ^ unpacks].parts[peer];
    add(builder, moving, message,
        (struct redist__move){.from = unpacks ? at : part->offset,
                              .to = unpacks ? part->offset : at,
                              .bytes = packed_bytes(shape, part->elements),
                              .peer = peer});
}

/* Returns whether one of some stages moves a block. */
static int is_moved(const struct redist__kway_shape *shape, int first, int end, int distance) {
    int digits = 0;
    for (int i = first; i < end; i++)
        digits |= digit_of(&shape->stages[i], distance);
    return digits != 0;
}

static size_t bytes_of(const struct builder *builder, int stage, int distance) {
    size_t row = (size_t)context_of(builder->shape)->size;
    return packed_bytes(builder->shape, builder->elements[(size_t)stage * row + (size_t)distance]);
}

static void begin_message(struct redist__kway_plan *plan, int message) {
    for (int i = 0; i < REDIST__MOVINGS; i++)
        plan->moves[i].first[message] = plan->moves[i].count;
}

static int count_elements(struct builder *builder, size_t bytes) {
    size_t elements = bytes / redist__message_unit(builder->shape->problem);
    builder->largest = elements > builder->largest ? elements : builder->largest;
    return (int)(elements <= INT_MAX ? elements : 0);
}

/* Fills the outgoing message of a digit, from `at` on; returns its end. */
static size_t send(struct builder *builder, int i, int digit, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    int index = i * shape->width + digit - 1;
    struct redist__message *message = &builder->plan->messages[index];
    message->send_at = at;
    message->to = neighbour(&shape->stages[i], context_of(shape)->rank, digit);
    for (int distance = 1; distance < context_of(shape)->size; distance++) {
        if (digit_of(&shape->stages[i], distance) != digit)
            continue;
        size_t bytes = bytes_of(builder, i, distance);
        if (is_moved(shape, 0, i, distance))
            add(builder, REDIST__FORWARD_BLOCKS, index,
                (struct redist__move){builder->where[distance], at, bytes, -1});
        else
            add_part(builder, REDIST__PACK_BLOCKS, index, distance, at);
        at += bytes;
    }
    message->sent = count_elements(builder, at - message->send_at);
    return at;
}

static size_t receive(struct builder *builder, int i, int digit, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    int index = i * shape->width + digit - 1;
    struct redist__message *message = &builder->plan->messages[index];
    message->receive_at = at;
    message->from = neighbour(&shape->stages[i], context_of(shape)->rank, -digit);
    for (int distance = 1; distance < context_of(shape)->size; distance++) {
        if (digit_of(&shape->stages[i], distance) != digit)
            continue;
        if (!is_moved(shape, i + 1, shape->nstages, distance))
            add_part(builder, REDIST__UNPACK_BLOCKS, index, distance, at);
        builder->where[distance] = at;
        at += bytes_of(builder, i + 1, distance);
    }
    message->received = count_elements(builder, at - message->receive_at);
    return at;
}

/* Moves blocks that skip this stage to its buffer. */
static size_t keep(const struct builder *builder, int i, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    for (int distance = 1; distance < context_of(shape)->size; distance++) {
        if (digit_of(&shape->stages[i], distance) != 0 || !is_moved(shape, 0, i, distance) ||
            !is_moved(shape, i + 1, shape->nstages, distance))
            continue;
        size_t bytes = bytes_of(builder, i, distance);
        add(builder, REDIST__KEEP_BLOCKS, i * shape->width,
            (struct redist__move){builder->where[distance], at, bytes, -1});
        builder->where[distance] = at;
        at += bytes;
    }
    return at;
}

static void pass_stage(struct builder *builder, int i) {
    const struct redist__kway_shape *shape = builder->shape;
    size_t out = 0, in = 0;
    int most = redist__kway_most(&shape->stages[i]);
    for (int digit = 1; digit <= shape->width; digit++) {
        begin_message(builder->plan, i * shape->width + digit - 1);
        if (digit > most)
            continue;
        out = send(builder, i, digit, out);
        in = receive(builder, i, digit, in);
        if (digit == most)
            in = keep(builder, i, in);
    }
    size_t *out_bytes = &builder->plan->bytes[REDIST__OUT][i % 2];
    size_t *in_bytes = &builder->plan->bytes[REDIST__IN][i % 2];
    *out_bytes = out > *out_bytes ? out : *out_bytes;
    *in_bytes = in > *in_bytes ? in : *in_bytes;
}

/* ---------------------------------------------------------------- making */

static int allocate(struct redist__kway_plan *plan, const struct redist__kway_shape *shape) {
    size_t messages = (size_t)shape->nstages * (size_t)shape->width + 1;
    size_t most = (size_t)shape->nstages * (size_t)context_of(shape)->size + 1;
    int complete = (plan->messages = redist_calloc(messages, sizeof *plan->messages)) != NULL;
    for (int i = 0; i < REDIST__MOVINGS; i++) {
        struct redist__moves *moves = &plan->moves[i];
        moves->first = redist_calloc(messages, sizeof *moves->first);
        moves->list = redist_calloc(most, sizeof *moves->list);
        complete = complete && moves->first != NULL && moves->list != NULL;
    }
    return complete ? REDIST_OK
                    : redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", messages);
}

static int create_batch(struct redist__moves *moves, const struct builder *builder,
                        const struct redist__space *space) {
    const struct redist__transfer *transfer = builder->shape->problem->transfer;
    int unpacks = moves == &builder->plan->moves[REDIST__UNPACK_BLOCKS];
    const struct redist__side *side = &transfer->side[builder->direction ^ unpacks];
    REDIST_TRY(redist__batch_create(&moves->batch, space, moves->count));
    for (int i = 0; i < moves->count; i++) {
        const struct redist__move *move = &moves->list[i];
        ptrdiff_t packed[REDIST_MAX_NDIMS];
        if (move->peer < 0) {
            moves->batch.copies[i].run = move->bytes;
            continue;
        }
        const redist_index *count = side->parts[move->peer].count;
        redist__strides(transfer->ndims, count, transfer->item, packed);
        redist__copy_prepare(&moves->batch.copies[i], transfer->ndims, count, transfer->item,
                             unpacks ? packed : side->stride, unpacks ? side->stride : packed);
        moves->batch.copies[i].format = builder->shape->problem->format;
        moves->batch.copies[i].widens = unpacks;
    }
    return REDIST_OK;
}

static int build(struct builder *builder) {
    const struct redist__kway_shape *shape = builder->shape;
    for (int i = 0; i < shape->nstages; i++)
        pass_stage(builder, i);
    begin_message(builder->plan, shape->nstages * shape->width);
    if (builder->largest > INT_MAX)
        return redist__fail(REDIST_ERR_LIMIT,
                            "method kway counts in MPI's int, but %zu elements are sent in one "
                            "message",
                            builder->largest);
    for (int i = 0; i < REDIST__MOVINGS; i++) {
        int in_buffers = i == REDIST__FORWARD_BLOCKS || i == REDIST__KEEP_BLOCKS;
        REDIST_TRY(create_batch(&builder->plan->moves[i], builder,
                                in_buffers ? shape->wire : shape->problem->space));
    }
    return REDIST_OK;
}

int redist__kway_plan_create(struct redist__kway_plan *plan, const struct redist__kway_shape *shape,
                             int direction, const uint64_t elements[]) {
    struct builder builder = {shape, plan, direction, elements, NULL, 0};
    REDIST_TRY(allocate(plan, shape));
    builder.where = redist_calloc((size_t)context_of(shape)->size, sizeof *builder.where);
    int code = builder.where != NULL
                   ? build(&builder)
                   : redist__fail(REDIST_ERR_MEMORY, "no memory for the blocks of %d ranks",
                                  context_of(shape)->size);
    redist_release(builder.where);
    return code;
}

void redist__kway_plan_free(struct redist__kway_plan *plan) {
    for (int i = 0; i < REDIST__MOVINGS; i++) {
        redist_release(plan->moves[i].first);
        redist_release(plan->moves[i].list);
        redist__batch_free(&plan->moves[i].batch);
    }
    redist_release(plan->messages);
    *plan = (struct redist__kway_plan){0};
}
