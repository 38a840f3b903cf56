/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which blocks each message of method kway has, and what is copied for them. At any time a rank has one
 * block for each distance: the one that began with that distance to go. So all tables are
 * over distances, and none is larger than the number of ranks times that of stages.
 */
#include "kway_plan.h"

#include <limits.h>
#include <string.h>

/* ---------------------------------------------------------------- stages */

/*
 * The stages of method kway. Where P is a product of as many factors up to k as there must be stages,
 * ranks are numbers with a digit for each factor, and each stage sets one digit: every stage splits the
 * ranks in groups that go on among themselves, as AccFFT's hypercube does. Else, for primes say, the
 * distance from source to destination modulo P is written to the base k, and each stage goes as far as
 * one digit says (Bruck et al.). Both are rings on which blocks travel by the digits of a distance.
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

/* Factors up to k, the largest first; 0 if there are none or more than `most`. */
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
    /* the smallest factor is for the ranks that are farthest apart, and comes first */
    for (int i = 0, stride = 1; i < groups; stride *= factors[i++])
        stages[groups - 1 - i] = (struct redist__stage){stride, factors[i], 1, factors[i]};
    for (int i = 0, weight = 1; i < needed && groups == 0; i++) {
        stages[needed - 1 - i] = (struct redist__stage){1, nranks, weight, k};
        weight *= i + 1 < needed ? k : 1;
    }
    return needed;
}

int redist__kway_digit(const struct redist__stage *stage, int distance) {
    return distance / stage->stride % stage->extent / stage->weight % stage->radix;
}

int redist__kway_most(const struct redist__stage *stage) {
    int most = (stage->extent - 1) / stage->weight;
    return most < stage->radix ? most : stage->radix - 1;
}

int redist__kway_neighbour(const struct redist__stage *stage, int rank, int digit) {
    int here = rank / stage->stride % stage->extent;
    int steps = digit < 0 ? stage->extent - -digit * stage->weight : digit * stage->weight;
    int there = (int)(((long long)here + steps) % stage->extent);
    return rank + (there - here) * stage->stride;
}

int redist__kway_rank(int nstages, const struct redist__stage stages[], int rank, int distance,
                      int sign) {
    for (int i = 0; i < nstages; i++)
        rank = redist__kway_neighbour(&stages[i], rank,
                                      sign * redist__kway_digit(&stages[i], distance));
    return rank;
}

/* ---------------------------------------------------------------- sizes */

static const struct redist__context *context_of(const struct redist__kway_shape *shape) {
    return shape->problem->context;
}

/* The blocks of a message, in the order in which they lie in it. */
static int collect(const struct redist__stage *stage, int digit, int nranks,
                   const uint64_t elements[], uint64_t collected[]) {
    int count = 0;
    for (int distance = 1; distance < nranks; distance++)
        if (redist__kway_digit(stage, distance) == digit)
            collected[count++] = elements[distance];
    return count;
}

static void distribute(const struct redist__stage *stage, int digit, int nranks,
                       const uint64_t collected[], uint64_t elements[]) {
    int count = 0;
    for (int distance = 1; distance < nranks; distance++)
        if (redist__kway_digit(stage, distance) == digit)
            elements[distance] = collected[count++];
}

static int find_stage_sizes(const struct redist__kway_shape *shape,
                            const struct redist__stage *stage, const uint64_t before[],
                            uint64_t after[], uint64_t scratch[]) {
    const struct redist__context *context = context_of(shape);
    int failed = MPI_SUCCESS, size = context->size;
    memcpy(after, before, (size_t)size * sizeof *after);
    for (int digit = 1; digit <= redist__kway_most(stage); digit++) {
        int count = collect(stage, digit, size, before, scratch);
        int to = redist__kway_neighbour(stage, context->rank, digit);
        int from = redist__kway_neighbour(stage, context->rank, -digit);
        int result = redist_insist(MPI_Sendrecv(
            scratch, count, MPI_UINT64_T, to, shape->problem->tag, scratch + size, count,
            MPI_UINT64_T, from, shape->problem->tag, context->comm, MPI_STATUS_IGNORE));
        failed = failed == MPI_SUCCESS ? result : failed;
        distribute(stage, digit, size, scratch + size, after);
    }
    return redist_check_mpi(failed);
}

int redist__kway_find_sizes(const struct redist__kway_shape *shape, int direction,
                            uint64_t elements[], uint64_t scratch[]) {
    const struct redist__context *context = context_of(shape);
    const struct redist__part *parts = shape->problem->transfer->side[direction].parts;
    int code = REDIST_OK, size = context->size;
    for (int distance = 0; distance < size; distance++)
        elements[distance] =
            parts[redist__kway_rank(shape->nstages, shape->stages, context->rank, distance, 1)]
                .elements;
    for (int i = 0; i < shape->nstages && code == REDIST_OK; i++)
        code = find_stage_sizes(shape, &shape->stages[i], elements + i * size,
                                elements + (i + 1) * size, scratch);
    return code;
}

/* ---------------------------------------------------------------- moves */

/* Passes over the same blocks twice: to count the moves, then to write them. */
struct builder {
    const struct redist__kway_shape *shape;
    struct redist__kway_plan *plan;
    int direction;
    const uint64_t *elements;
    size_t *where;  /* the block of each distance, in the buffer of the last stage */
    size_t largest; /* elements of a message */
};

static void append(struct redist__moves *moves, struct redist__move move) {
    if (moves->list != NULL)
        moves->list[moves->count] = move;
    moves->count++;
}

/* A move that continues the last one of its message lengthens that. */
static void add(struct redist__moves *moves, int message, struct redist__move move) {
    struct redist__move *last = moves->list != NULL ? moves->list + moves->count - 1 : NULL;
    if (last != NULL && moves->count > moves->first[message] &&
        last->from + last->bytes == move.from && last->to + last->bytes == move.to)
        last->bytes += move.bytes;
    else if (move.bytes != 0)
        append(moves, move);
}

/* The box of a peer's part, and its place in a buffer. */
static void add_box(const struct builder *builder, struct redist__moves *moves, int side,
                    int distance, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    const struct redist__transfer *transfer = shape->problem->transfer;
    int unpacks = side != builder->direction;
    int peer = redist__kway_rank(shape->nstages, shape->stages, transfer->rank, distance,
                                 unpacks ? -1 : 1);
    const struct redist__part *part = &transfer->side[side].parts[peer];
    const ptrdiff_t *stride = transfer->side[side].stride;
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    if (part->elements == 0)
        return;
    redist__strides(transfer->ndims, part->count, transfer->item, packed);
    if (moves->list != NULL)
        redist__copy_prepare(&moves->batch.copies[moves->count], transfer->ndims, part->count,
                             transfer->item, unpacks ? packed : stride, unpacks ? stride : packed);
    append(moves, (struct redist__move){.from = unpacks ? at : part->offset,
                                        .to = unpacks ? part->offset : at,
                                        .bytes = part->elements * transfer->item});
}

/* Whether some stage before this one has moved a block, or some stage behind will. */
static int was_moved(const struct redist__kway_shape *shape, int stage, int distance) {
    int digits = 0;
    for (int i = 0; i < stage; i++)
        digits |= redist__kway_digit(&shape->stages[i], distance);
    return digits != 0;
}

static int will_move(const struct redist__kway_shape *shape, int stage, int distance) {
    int digits = 0;
    for (int i = stage + 1; i < shape->nstages; i++)
        digits |= redist__kway_digit(&shape->stages[i], distance);
    return digits != 0;
}

static size_t bytes_of(const struct builder *builder, int stage, int distance) {
    size_t row = (size_t)context_of(builder->shape)->size;
    return builder->elements[(size_t)stage * row + (size_t)distance] *
           builder->shape->problem->transfer->item;
}

static void begin_message(struct redist__kway_plan *plan, int message) {
    struct redist__moves *all[] = {&plan->pack, &plan->forward, &plan->keep, &plan->unpack};
    for (int i = 0; i < 4; i++)
        all[i]->first[message] = all[i]->count;
}

static int count_elements(struct builder *builder, size_t bytes) {
    size_t elements = bytes / builder->shape->problem->transfer->item;
    builder->largest = elements > builder->largest ? elements : builder->largest;
    return (int)(elements <= INT_MAX ? elements : 0);
}

/* Fills the message that carries the blocks with a digit out, from `at` on; returns where it ends. */
static size_t send(struct builder *builder, int i, int digit, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    int index = i * shape->width + digit - 1, rank = context_of(shape)->rank;
    struct redist__message *message = &builder->plan->messages[index];
    message->send_at = at;
    message->to = redist__kway_neighbour(&shape->stages[i], rank, digit);
    for (int distance = 1; distance < context_of(shape)->size; distance++) {
        if (redist__kway_digit(&shape->stages[i], distance) != digit)
            continue;
        size_t bytes = bytes_of(builder, i, distance);
        if (was_moved(shape, i, distance))
            add(&builder->plan->forward, index,
                (struct redist__move){builder->where[distance], at, bytes});
        else
            add_box(builder, &builder->plan->pack, builder->direction, distance, at);
        at += bytes;
    }
    message->sent = count_elements(builder, at - message->send_at);
    return at;
}

static size_t receive(struct builder *builder, int i, int digit, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    int index = i * shape->width + digit - 1, rank = context_of(shape)->rank;
    struct redist__message *message = &builder->plan->messages[index];
    message->receive_at = at;
    message->from = redist__kway_neighbour(&shape->stages[i], rank, -digit);
    for (int distance = 1; distance < context_of(shape)->size; distance++) {
        if (redist__kway_digit(&shape->stages[i], distance) != digit)
            continue;
        if (!will_move(shape, i, distance))
            add_box(builder, &builder->plan->unpack, !builder->direction, distance, at);
        builder->where[distance] = at;
        at += bytes_of(builder, i + 1, distance);
    }
    message->received = count_elements(builder, at - message->receive_at);
    return at;
}

/* Blocks that came before this stage and go on behind it move to where its own blocks are. */
static size_t keep(struct builder *builder, int i, size_t at) {
    const struct redist__kway_shape *shape = builder->shape;
    for (int distance = 1; distance < context_of(shape)->size; distance++) {
        if (redist__kway_digit(&shape->stages[i], distance) != 0 ||
            !was_moved(shape, i, distance) || !will_move(shape, i, distance))
            continue;
        size_t bytes = bytes_of(builder, i, distance);
        add(&builder->plan->keep, i * shape->width,
            (struct redist__move){builder->where[distance], at, bytes});
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
    size_t *out_bytes = &builder->plan->out_bytes[i % 2];
    size_t *in_bytes = &builder->plan->in_bytes[i % 2];
    *out_bytes = out > *out_bytes ? out : *out_bytes;
    *in_bytes = in > *in_bytes ? in : *in_bytes;
}

static void pass(struct builder *builder) {
    const struct redist__kway_shape *shape = builder->shape;
    for (int i = 0; i < shape->nstages; i++)
        pass_stage(builder, i);
    begin_message(builder->plan, shape->nstages * shape->width);
}

/* ---------------------------------------------------------------- making */

static int create_firsts(struct redist__kway_plan *plan, size_t messages) {
    struct redist__moves *all[] = {&plan->pack, &plan->forward, &plan->keep, &plan->unpack};
    int complete = 1;
    plan->messages = redist_calloc(messages + 1, sizeof *plan->messages);
    for (int i = 0; i < 4; i++) {
        all[i]->first = redist_calloc(messages + 1, sizeof *all[i]->first);
        complete &= all[i]->first != NULL;
    }
    return complete && plan->messages != NULL
               ? REDIST_OK
               : redist__fail(REDIST_ERR_MEMORY, "no memory for %zu messages", messages);
}

/* Room for the moves that were counted; without a space they need no batch. */
static int create_moves(struct redist__moves *moves, const struct redist__space *space) {
    int count = moves->count;
    moves->count = 0;
    moves->list = redist_calloc((size_t)count + 1, sizeof *moves->list);
    if (moves->list == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %d copies", count);
    return space != NULL ? redist__batch_create(&moves->batch, space, count + 1) : REDIST_OK;
}

static int create_all_moves(struct redist__kway_plan *plan,
                            const struct redist__kway_shape *shape) {
    const struct redist__space *space = shape->problem->space;
    const struct redist__space *wire = shape->wire->asynchronous ? shape->wire : NULL;
    int code = create_moves(&plan->pack, space);
    if (code == REDIST_OK)
        code = create_moves(&plan->unpack, space);
    if (code == REDIST_OK)
        code = create_moves(&plan->forward, wire);
    return code == REDIST_OK ? create_moves(&plan->keep, wire) : code;
}

/* Moves between buffers are runs of bytes. */
static void fill_runs(struct redist__moves *moves) {
    for (int i = 0; i < moves->count && moves->batch.space != NULL; i++)
        moves->batch.copies[i].run = moves->list[i].bytes;
}

static int build(struct builder *builder) {
    struct redist__kway_plan *plan = builder->plan;
    pass(builder);
    if (builder->largest > INT_MAX)
        return redist__fail(REDIST_ERR_LIMIT,
                            "method kway counts in MPI's int, but %zu elements are sent in one "
                            "message",
                            builder->largest);
    int code = create_all_moves(plan, builder->shape);
    if (code != REDIST_OK)
        return code;
    pass(builder);
    fill_runs(&plan->forward);
    fill_runs(&plan->keep);
    return REDIST_OK;
}

int redist__kway_plan_create(struct redist__kway_plan *plan, const struct redist__kway_shape *shape,
                             int direction, const uint64_t elements[]) {
    struct builder builder = {shape, plan, direction, elements, NULL, 0};
    int code = create_firsts(plan, (size_t)shape->nstages * (size_t)shape->width);
    if (code != REDIST_OK)
        return code;
    builder.where = redist_calloc((size_t)context_of(shape)->size, sizeof *builder.where);
    code = builder.where != NULL
               ? build(&builder)
               : redist__fail(REDIST_ERR_MEMORY, "no memory for the blocks of %d ranks",
                              context_of(shape)->size);
    redist_release(builder.where);
    return code;
}

static void free_moves(struct redist__moves *moves) {
    redist_release(moves->first);
    redist_release(moves->list);
    redist__batch_free(&moves->batch);
    *moves = (struct redist__moves){0};
}

void redist__kway_plan_free(struct redist__kway_plan *plan) {
    free_moves(&plan->pack);
    free_moves(&plan->forward);
    free_moves(&plan->keep);
    free_moves(&plan->unpack);
    redist_release(plan->messages);
    *plan = (struct redist__kway_plan){0};
}
