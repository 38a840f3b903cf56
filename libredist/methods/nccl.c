/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel packs for all peers, one group of ncclSend and ncclRecv moves all messages, one kernel
 * unpacks all; the host only waits for the end. The own part is copied on a lane of its own. NCCL's
 * communicator is made once for each communicator of the user.
 */
#include "../cuda_space.h"
#include "../method.h"
#include "../pack.h"

#include <nccl.h>
#include <string.h>

enum { OWN_LANE, LANE };

struct state {
    const struct redist__problem *problem;
    struct redist__packing packing[2];
    struct redist__copy own[2];
    ncclComm_t comm;     /* of the context */
    cudaStream_t stream; /* of the lane */
    void *mark;
};

static int check_nccl(ncclResult_t result, const char *what) {
    if (result == ncclSuccess)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_DEVICE, "%s: %s", what, ncclGetErrorString(result));
}

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    if (!problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method nccl works on CUDA memory only");
    return redist__check_copyable(problem->schedule, "nccl");
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method nccl");
    state->problem = problem;
    int code = problem->space->mark_create(&state->mark);
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        redist__own_copy_prepare(&state->own[side], problem->schedule, side);
        code =
            redist__packing_create(&state->packing[side], problem, side, REDIST__EACH_IN_ARRAY, 0);
    }
    return code;
}

/* ---------------------------------------------------------------- the communicator */

/* NCCL refuses two ranks on one device only after a while, and on some ranks with a crash. */
static int check_devices(const struct redist__context *context) {
    cudaUUID_t *devices = redist_calloc((size_t)context->size, sizeof *devices);
    struct cudaDeviceProp properties;
    int device = 0, code = REDIST_OK;
    if (devices == NULL)
        code =
            redist__fail(REDIST_ERR_MEMORY, "no memory for the devices of %d ranks", context->size);
    else if (cudaGetDevice(&device) != cudaSuccess ||
             cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        code = redist__fail(REDIST_ERR_DEVICE, "the current device does not say what it is");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(MPI_Allgather(&properties.uuid, sizeof properties.uuid, MPI_BYTE,
                                              devices, sizeof *devices, MPI_BYTE, context->comm));
    for (int rank = 0; rank < context->size && code == REDIST_OK; rank++)
        if (rank != context->rank && memcmp(&devices[rank], &properties.uuid, sizeof *devices) == 0)
            code = redist__fail(REDIST_ERR_METHOD,
                                "method nccl needs a device for each rank, but ranks %d and %d of "
                                "the communicator share one",
                                context->rank, rank);
    redist_release(devices);
    return redist_agree(context->comm, code);
}

static void detach(void *attached) {
    ncclCommDestroy(attached);
}

static int create_comm(struct redist__context *context) {
    ncclUniqueId id = {{0}};
    ncclComm_t comm = NULL;
    int code = check_devices(context);
    if (code != REDIST_OK)
        return code;
    if (context->rank == 0)
        code = check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, context->comm));
    if (code == REDIST_OK)
        code = check_nccl(ncclCommInitRank(&comm, context->size, id, context->rank),
                          "ncclCommInitRank");
    int agreed = redist_agree(context->comm, code);
    if (agreed != REDIST_OK && comm != NULL)
        ncclCommAbort(comm);
    if (agreed != REDIST_OK)
        return agreed;
    context->attached = comm;
    context->detach = detach;
    return REDIST_OK;
}

static int connect(void *data) {
    struct state *state = data;
    struct redist__context *context = state->problem->schedule->context;
    int code = context->attached == NULL ? create_comm(context) : REDIST_OK;
    state->comm = context->attached;
    return code;
}

/* ---------------------------------------------------------------- execution */

static size_t message_bytes(const struct state *state, int side, int peer) {
    return state->packing[side].side->parts[peer].elements * state->problem->schedule->item;
}

static ncclResult_t exchange_with(struct state *state, int direction, int peer, const void *source,
                                  void *destination) {
    int to = direction, from = !direction;
    ncclResult_t result = ncclSuccess;
    if (message_bytes(state, to, peer) != 0)
        result =
            ncclSend(redist__packing_message(&state->packing[to], peer, source),
                     message_bytes(state, to, peer), ncclInt8, peer, state->comm, state->stream);
    if (result == ncclSuccess && message_bytes(state, from, peer) != 0)
        result =
            ncclRecv(redist__packing_message(&state->packing[from], peer, destination),
                     message_bytes(state, from, peer), ncclInt8, peer, state->comm, state->stream);
    return result;
}

static int exchange(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__context *context = state->problem->schedule->context;
    ncclResult_t result = ncclGroupStart();
    for (int i = 1; i < context->size && result == ncclSuccess; i++)
        result = exchange_with(state, direction, (context->rank + i) % context->size, source,
                               destination);
    ncclResult_t ended = ncclGroupEnd();
    return check_nccl(result == ncclSuccess ? ended : result, "ncclSend, ncclRecv");
}

/* Each phase is done before the next one begins, if somebody asks how long they take. */
static int end_phase(const struct state *state, enum redist__phase next) {
    const struct redist__problem *problem = state->problem;
    if (problem->watch == NULL)
        return REDIST_OK;
    int code = redist__finish_lane(problem->space, state->mark, LANE, problem->schedule->context);
    redist__enter(problem->watch, next);
    return code;
}

/* A rank that fails to pack exchanges all the same, for its peers' sake. */
static int start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    int code = redist__finish_stream(problem->space, state->mark, problem->stream,
                                     problem->schedule->context);
    if (code == REDIST_OK)
        code = redist__cuda_lane(LANE, &state->stream);
    redist__enter(problem->watch, REDIST__PACK);
    if (code == REDIST_OK)
        code = redist__packing_pack_all(&state->packing[direction], source, LANE);
    if (code == REDIST_OK)
        code = end_phase(state, REDIST__COMMUNICATE);
    int moved = exchange(state, direction, source, destination);
    if (moved == REDIST_OK)
        moved = end_phase(state, REDIST__UNPACK);
    if (code == REDIST_OK)
        code = moved;
    if (code == REDIST_OK)
        code = redist__packing_unpack_all(&state->packing[!direction], destination, LANE);
    if (code == REDIST_OK)
        code = redist__own_copy_run(&state->own[direction], problem, direction, source, destination,
                                    OWN_LANE);
    return code; /* the own part is copied beside the unpacking, and has no time of its own */
}

static int wait(void *data) {
    const struct state *state = data;
    const struct redist__context *context = state->problem->schedule->context;
    redist__enter(state->problem->watch, REDIST__UNPACK);
    int code = redist__finish_lane(state->problem->space, state->mark, LANE, context);
    int finished = redist__finish_lane(state->problem->space, state->mark, OWN_LANE, context);
    return code == REDIST_OK ? finished : code;
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    return state->packing[0].buffer_bytes + state->packing[1].buffer_bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    redist__packing_free(&state->packing[0]);
    redist__packing_free(&state->packing[1]);
    state->problem->space->mark_destroy(state->mark);
    redist_release(state);
}

const struct redist__method redist__method_nccl = {
    .name = "nccl",
    .summary = "packed messages by NCCL, between CUDA devices",
    .applies = applies,
    .create = create,
    .connect = connect,
    .start = start,
    .wait = wait,
    .workspace = workspace,
    .destroy = destroy,
};
