/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packing of each part runs on its own lane, and the part's message leaves as soon as it is packed
 * (Egger, Peer2Peer-Streams); the host polls for both what is packed and what has arrived. The own part
 * is copied directly, on a lane of its own.
 */
#include "../method.h"
#include "../pack.h"

struct state {
    const struct redist__problem *problem;
    struct redist__packing packing[2];
    struct redist__copy own[2];
    MPI_Datatype element; /* the item's bytes */
    MPI_Request *sends, *receives;
    void **marks;    /* of each rank: its part is packed */
    char *is_packed; /* and sent */
    int to_send;     /* parts that are not */
    int direction;   /* of the execution under way */
    const void *source;
    void *destination;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    int code = redist__check_copyable(problem->schedule, "p2p-streams");
    return code == REDIST_OK ? redist__check_counts(problem->schedule, "p2p-streams", 0) : code;
}

/* In host memory it is p2p without its virtues. */
static int preference(const struct redist__problem *problem, int variant) {
    (void)variant;
    return problem->space->asynchronous ? 0 : REDIST__BY_NAME;
}

static const struct redist__context *context_of(const struct state *state) {
    return state->problem->schedule->context;
}

static int allocate(struct state *state) {
    size_t size = (size_t)context_of(state)->size;
    state->sends = redist_calloc(size, sizeof(MPI_Request));
    state->receives = redist_calloc(size, sizeof(MPI_Request));
    state->marks = redist_calloc(size, sizeof *state->marks);
    state->is_packed = redist_calloc(size, 1);
    if (state->sends == NULL || state->receives == NULL || state->marks == NULL ||
        state->is_packed == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the messages of %zu ranks", size);
    int code = REDIST_OK;
    for (size_t i = 0; i < size && code == REDIST_OK; i++)
        code = state->problem->space->mark_create(&state->marks[i]);
    return code == REDIST_OK ? redist__element_type(state->problem->schedule, &state->element)
                             : code;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method p2p-streams");
    state->problem = problem;
    state->element = MPI_DATATYPE_NULL;
    enum redist__in_array each = problem->staged ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY;
    const enum redist__in_array in_array[2] = {each, each};
    int code = allocate(state);
    return code == REDIST_OK ? redist__packings_create(state->packing, state->own, problem,
                                                       in_array, problem->staged)
                             : code;
}

/* ---------------------------------------------------------------- execution */

static int elements(const struct state *state, int side, int peer) {
    return (int)state->packing[side].side->parts[peer].elements;
}

static int post_receives(struct state *state) {
    const struct redist__context *context = context_of(state);
    int side = !state->direction, result = MPI_SUCCESS;
    for (int peer = 0; peer < context->size; peer++) {
        state->receives[peer] = MPI_REQUEST_NULL;
        if (peer != context->rank && elements(state, side, peer) != 0 && result == MPI_SUCCESS)
            result =
                MPI_Irecv(redist__packing_message(&state->packing[side], peer, state->destination),
                          elements(state, side, peer), state->element, peer, state->problem->tag,
                          context->comm, &state->receives[peer]);
    }
    return redist_check_mpi(result);
}

/* Lane 0 is for the own part and for unpacking, lane i for the i-th peer. */
static int pack_parts(struct state *state) {
    const struct redist__context *context = context_of(state);
    int code = REDIST_OK;
    state->to_send = 0;
    for (int i = 0; i < context->size; i++) {
        int peer = (context->rank + i) % context->size;
        state->sends[peer] = MPI_REQUEST_NULL;
        state->is_packed[peer] = i == 0 || elements(state, state->direction, peer) == 0;
        if (state->is_packed[peer])
            continue;
        state->to_send++;
        if (code == REDIST_OK)
            code = redist__packing_pack(&state->packing[state->direction], peer, state->source, i);
        if (code == REDIST_OK)
            code = state->problem->space->mark_lane(state->marks[peer], i);
    }
    return code;
}

static int send(struct state *state, int peer) {
    state->is_packed[peer] = 1;
    state->to_send--;
    return redist_check_mpi(
        MPI_Isend(redist__packing_message(&state->packing[state->direction], peer, state->source),
                  elements(state, state->direction, peer), state->element, peer,
                  state->problem->tag, context_of(state)->comm, &state->sends[peer]));
}

/* Sends what is packed. After a failure on the device all is sent, so that the peers go on. */
static int send_packed(struct state *state) {
    const struct redist__context *context = context_of(state);
    int code = REDIST_OK;
    for (int i = 1; i < context->size; i++) {
        int peer = (context->rank + i) % context->size, reached = 1;
        if (state->is_packed[peer])
            continue;
        int failed = state->problem->space->mark_reached(state->marks[peer], &reached);
        if (failed != REDIST_OK)
            reached = 1;
        int sent = reached ? send(state, peer) : REDIST_OK;
        code = code != REDIST_OK ? code : failed != REDIST_OK ? failed : sent;
    }
    return code;
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    const struct redist__context *context = context_of(state);
    state->direction = direction;
    state->source = source;
    state->destination = destination;
    int ready = redist__finish_stream(problem->space, state->marks[context->rank], problem->stream,
                                      context);
    int code = post_receives(state);
    redist__enter(problem->watch, REDIST__PACK);
    int packed = pack_parts(state);
    redist__enter(problem->watch, REDIST__OWN_PART);
    int copied =
        redist__own_copy_run(&state->own[direction], problem, direction, source, destination, 0);
    redist__enter(problem->watch, REDIST__FIRST_MESSAGE);
    int sent = send_packed(state);
    code = ready != REDIST_OK ? ready : code;
    code = code != REDIST_OK ? code : packed;
    code = code != REDIST_OK ? code : copied;
    return code != REDIST_OK ? code : sent;
}

/* Unpacks what has arrived; *left is 0 when all has. */
static int unpack_arrived(struct state *state, int *left) {
    int i, arrived, code = REDIST_OK;
    do {
        code = redist_check_mpi(
            MPI_Testany(context_of(state)->size, state->receives, &i, &arrived, MPI_STATUS_IGNORE));
        if (code == REDIST_OK && arrived && i != MPI_UNDEFINED) {
            redist__arrived(state->problem->watch);
            redist__enter(state->problem->watch, REDIST__UNPACK);
            code = redist__packing_unpack(&state->packing[!state->direction], i, state->destination,
                                          0);
        }
    } while (code == REDIST_OK && arrived && i != MPI_UNDEFINED);
    *left = !arrived;
    return code;
}

static int wait(void *data) {
    struct state *state = data;
    const struct redist__context *context = context_of(state);
    int left = 1, code = REDIST_OK;
    for (unsigned poll = 0; code == REDIST_OK && (left || state->to_send != 0); poll++) {
        code = send_packed(state);
        redist__enter(state->problem->watch,
                      state->to_send != 0 ? REDIST__PACK : REDIST__FIRST_MESSAGE);
        if (code == REDIST_OK)
            code = unpack_arrived(state, &left);
        redist__pause(context, poll);
    }
    redist__enter(state->problem->watch, REDIST__COMMUNICATE);
    if (code == REDIST_OK)
        code = redist_check_mpi(MPI_Waitall(context->size, state->sends, MPI_STATUSES_IGNORE));
    redist__enter(state->problem->watch, REDIST__UNPACK);
    int finished =
        redist__finish_lane(state->problem->space, state->marks[context->rank], 0, context);
    return code == REDIST_OK ? finished : code;
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return redist__packings_bytes(state->packing);
}

static void destroy(void *data) {
    struct state *state = data;
    redist__packings_free(state->packing);
    for (int i = 0; state->marks != NULL && i < context_of(state)->size; i++)
        state->problem->space->mark_destroy(state->marks[i]);
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    redist_release(state->marks);
    redist_release(state->is_packed);
    redist_release(state->sends);
    redist_release(state->receives);
    redist_release(state);
}

const struct redist__method redist__method_p2p_streams = {
    .name = "p2p-streams",
    .summary = "as p2p, each part packed on a stream of its own and sent when that is done",
    .applies = applies,
    .preference = preference,
    .create = create,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
