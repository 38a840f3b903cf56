/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pack, MPI_Isend and MPI_Irecv, and unpack each part as it arrives; the own part is copied
 * directly (Egger, Peer2Peer-Sync; Verma et al.). Parts that are contiguous in the array travel
 * from or to where they are.
 */
#include "../method.h"
#include "../pack.h"

enum { TAG = 12 };

struct state {
    const struct redist__schedule *schedule;
    struct redist__packing packing[2];
    struct redist__copy own[2];
    MPI_Datatype element; /* the item's bytes */
    MPI_Request *sends, *receives;
    int direction; /* of the execution under way */
    void *destination;
};

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    int code = redist__check_copyable(problem->schedule, "p2p");
    return code == REDIST_OK ? redist__check_counts(problem->schedule, "p2p", 0) : code;
}

static void clear_requests(MPI_Request requests[], int size) {
    for (int i = 0; i < size; i++)
        requests[i] = MPI_REQUEST_NULL;
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    const struct redist__schedule *schedule = problem->schedule;
    size_t size = (size_t)schedule->context->size;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist_fail(REDIST_ERR_MEMORY, "no memory for method p2p");
    state->schedule = schedule;
    state->element = MPI_DATATYPE_NULL;
    state->sends = redist_calloc(size, sizeof *state->sends);
    state->receives = redist_calloc(size, sizeof *state->receives);
    if (state->sends == NULL || state->receives == NULL)
        return redist_fail(REDIST_ERR_MEMORY, "no memory for requests");
    clear_requests(state->sends, (int)size);
    clear_requests(state->receives, (int)size);
    int code = redist__element_type(schedule, &state->element);
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        redist__own_copy_prepare(&state->own[side], schedule, side);
        code = redist__packing_create(&state->packing[side], schedule, side, 0);
    }
    return code;
}

static int post_receives(struct state *state) {
    const struct redist__packing *to = &state->packing[!state->direction];
    const struct redist__context *context = state->schedule->context;
    int result = MPI_SUCCESS;
    for (int i = 1; i < context->size && result == MPI_SUCCESS; i++) {
        int peer = (context->rank + context->size - i) % context->size;
        int count = (int)to->side->parts[peer].elements;
        if (count != 0)
            result = MPI_Irecv(redist__packing_message(to, peer, state->destination), count,
                               state->element, peer, TAG, context->comm, &state->receives[peer]);
    }
    return redist_check_mpi(result);
}

static int pack_and_send(struct state *state, const void *source) {
    const struct redist__packing *from = &state->packing[state->direction];
    const struct redist__context *context = state->schedule->context;
    int result = MPI_SUCCESS;
    for (int i = 1; i < context->size && result == MPI_SUCCESS; i++) {
        int peer = (context->rank + i) % context->size;
        int count = (int)from->side->parts[peer].elements;
        if (count == 0)
            continue;
        redist__packing_pack(from, peer, source);
        result = MPI_Isend(redist__packing_message(from, peer, source), count, state->element, peer,
                           TAG, context->comm, &state->sends[peer]);
    }
    return redist_check_mpi(result);
}

static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    state->direction = direction;
    state->destination = destination;
    int code = post_receives(state);
    if (code == REDIST_OK)
        code = pack_and_send(state, source);
    redist__own_copy_run(&state->own[direction], state->schedule, direction, source, destination);
    return code;
}

static int wait(void *data) {
    struct state *state = data;
    const struct redist__packing *to = &state->packing[!state->direction];
    int size = state->schedule->context->size, peer, result;
    do {
        result = MPI_Waitany(size, state->receives, &peer, MPI_STATUS_IGNORE);
        if (result == MPI_SUCCESS && peer != MPI_UNDEFINED)
            redist__packing_unpack(to, peer, state->destination);
    } while (result == MPI_SUCCESS && peer != MPI_UNDEFINED);
    if (result == MPI_SUCCESS)
        result = MPI_Waitall(size, state->sends, MPI_STATUSES_IGNORE);
    return redist_check_mpi(result);
}

static size_t workspace(const void *data) {
    const struct state *state = data;
    return state->packing[0].buffer_bytes + state->packing[1].buffer_bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    redist__packing_free(&state->packing[0]);
    redist__packing_free(&state->packing[1]);
    if (state->element != MPI_DATATYPE_NULL)
        MPI_Type_free(&state->element);
    redist_release(state->sends);
    redist_release(state->receives);
    redist_release(state);
}

const struct redist__method redist__method_p2p = {
    .name = "p2p",
    .summary = "packed MPI_Isend and MPI_Irecv; each part is unpacked as it arrives",
    .applies = applies,
    .create = create,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
