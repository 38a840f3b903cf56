/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel packs for all peers, one group of ncclSend and ncclRecv moves all messages, one kernel
 * unpacks all; the host only waits for the end. Large messages go in pieces, so that one piece is packed and
 * another unpacked while a third is under way; the own part is copied meanwhile. NCCL's communicator is made
 * once for each communicator of the user.
 *
 * NCCL's kernels wait on the device for those of the peers, without end. So all ranks learn by a reduction
 * whether each of them has given its device all kernels. If one has not, all abort the communicator, which ends
 * the kernels, and the plans that used it have failed; the next plan makes a new one.
 */
#include "../copy/pack.h"
#include "../runtime/cuda_space.h"
#include "../sync/waiting.h"
#include "messages.h"
#include "method.h"
#include "nccl_comm.h"

#include <string.h>

enum { OWN_LANE, PACK_LANE, UNPACK_LANE };

/* Messages of less than so many bytes go in one piece. */
enum { PIECES = 4, LEAST_BYTES = 32 << 20 };

/* A piece of each message. */
struct piece {
    struct redist__schedule schedule; /* with parts of its own */
    struct redist__problem problem;
    struct redist__packing packing[2];
    cudaEvent_t packed, moved;
    int is_empty; /* all messages go with other pieces */
};

struct state {
    const struct redist__problem *problem;
    struct piece pieces[PIECES];
    struct redist__copy own[2];
    cudaStream_t stream; /* of the messages: before any kernel that waits to begin */
    void *mark;
    ncclComm_t comm;           /* of the execution under way, NULL = there is none, */
    unsigned long long number; /* and its number */
    int is_known;              /* all ranks know of a failure: none moves anything any more */
    int status[2]; /* of the execution under way: this rank if it failed, the lowest that did */
    struct redist__messages messages; /* the reduction of that, in the place of a send */
};

static void note(const struct state *state, int code) {
    redist__failure_note(state->problem->failure, code);
}

static int failed(const struct state *state) {
    return redist__failed(state->problem->failure);
}

static int applies(const struct redist__problem *problem, int variant) {
    (void)variant;
    if (!problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method nccl works on CUDA memory only");
    return redist__check_copyable(problem->schedule, "nccl");
}

/* ---------------------------------------------------------------- pieces */

/* The slowest axis that can be cut in all pieces, else the longest: the same at both ends of a message. */
static int choose_axis(const struct redist__part *part, int ndims) {
    int longest = 0;
    for (int i = 0; i < ndims; i++) {
        if (part->count[i] >= PIECES)
            return i;
        if (part->count[i] > part->count[longest])
            longest = i;
    }
    return longest;
}

static void cut_part(struct redist__part *part, const struct redist__schedule *schedule,
                     const struct redist__side *side, int piece) {
    int axis = choose_axis(part, schedule->ndims), n = part->count[axis];
    int whole = part->elements * schedule->item < LEAST_BYTES;
    int begin = whole ? 0 : (int)((long long)n * piece / PIECES);
    int end = whole ? (piece == 0) * n : (int)((long long)n * (piece + 1) / PIECES);
    if (part->elements == 0)
        return;
    part->elements = part->elements / (size_t)n * (size_t)(end - begin);
    part->start[axis] += begin;
    part->count[axis] = end - begin;
    part->offset += (size_t)begin * (size_t)side->stride[axis];
}

static int create_piece(struct state *state, int which) {
    const struct redist__problem *problem = state->problem;
    const struct redist__schedule *schedule = problem->schedule;
    struct piece *piece = &state->pieces[which];
    size_t size = (size_t)schedule->context->size, bytes = size * sizeof(struct redist__part);
    int code = REDIST_OK;
    piece->schedule = *schedule;
    piece->problem = *problem;
    piece->problem.schedule = &piece->schedule;
    piece->is_empty = 1;
    for (int side = 0; side < 2; side++)
        piece->schedule.side[side].parts = redist_calloc(size, sizeof(struct redist__part));
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        struct redist__part *parts = piece->schedule.side[side].parts;
        if (parts == NULL)
            return redist__fail(REDIST_ERR_MEMORY, "no memory for pieces of messages");
        memcpy(parts, schedule->side[side].parts, bytes);
        for (int peer = 0; peer < schedule->context->size; peer++) {
            cut_part(&parts[peer], schedule, &schedule->side[side], which);
            piece->is_empty &= parts[peer].elements == 0 || peer == schedule->context->rank;
        }
        code = redist__packing_create(&piece->packing[side], &piece->problem, side,
                                      REDIST__EACH_IN_ARRAY, 0);
    }
    if (code == REDIST_OK)
        code = redist__cuda_check(cudaEventCreateWithFlags(&piece->packed, cudaEventDisableTiming),
                                  "cudaEventCreateWithFlags");
    if (code == REDIST_OK)
        code = redist__cuda_check(cudaEventCreateWithFlags(&piece->moved, cudaEventDisableTiming),
                                  "cudaEventCreateWithFlags");
    return code;
}

static void free_piece(struct piece *piece) {
    for (int side = 0; side < 2; side++) {
        if (piece->packing[side].space != NULL)
            redist__packing_free(&piece->packing[side]);
        redist_release(piece->schedule.side[side].parts);
    }
    if (piece->packed != NULL)
        (void)cudaEventDestroy(piece->packed);
    if (piece->moved != NULL)
        (void)cudaEventDestroy(piece->moved);
}

static int create_stream(cudaStream_t *stream) {
    int least = 0, greatest = 0;
    int code = redist__cuda_check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
                                  "cudaDeviceGetStreamPriorityRange");
    if (code != REDIST_OK)
        return code;
    return redist__cuda_check(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest),
                              "cudaStreamCreateWithPriority");
}

static int create(const struct redist__problem *problem, int variant, void **result) {
    (void)variant;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method nccl");
    state->problem = problem;
    int code =
        redist__messages_create(&state->messages, problem->schedule->context, problem->failure, 1);
    if (code == REDIST_OK)
        code = problem->space->event_create(&state->mark);
    for (int side = 0; side < 2; side++)
        redist__own_copy_prepare(&state->own[side], problem->schedule, side);
    for (int which = 0; which < PIECES && code == REDIST_OK; which++)
        code = create_piece(state, which);
    return code == REDIST_OK ? create_stream(&state->stream) : code;
}

/* ---------------------------------------------------------------- execution */

static int connect(void *data) {
    struct state *state = data;
    return redist__nccl_connect(state->problem->schedule->context);
}

static size_t message_bytes(const struct piece *piece, int side, int peer) {
    return piece->schedule.side[side].parts[peer].elements * piece->schedule.item;
}

static ncclResult_t exchange_with(const struct state *state, const struct piece *piece,
                                  int direction, int peer, const void *source, void *destination) {
    int to = direction, from = !direction;
    ncclResult_t result = ncclSuccess;
    if (message_bytes(piece, to, peer) != 0)
        result =
            ncclSend(redist__packing_message(&piece->packing[to], peer, source),
                     message_bytes(piece, to, peer), ncclInt8, peer, state->comm, state->stream);
    if (result == ncclSuccess && message_bytes(piece, from, peer) != 0)
        result =
            ncclRecv(redist__packing_message(&piece->packing[from], peer, destination),
                     message_bytes(piece, from, peer), ncclInt8, peer, state->comm, state->stream);
    return result;
}

static int exchange(const struct state *state, const struct piece *piece, int direction,
                    const void *source, void *destination) {
    const struct redist__context *context = state->problem->schedule->context;
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess)
        return redist__nccl_check(result, "ncclGroupStart");
    for (int i = 1; i < context->size && result == ncclSuccess; i++)
        result = exchange_with(state, piece, direction, (context->rank + i) % context->size, source,
                               destination);
    ncclResult_t ended = ncclGroupEnd();
    return redist__nccl_check(result == ncclSuccess ? ended : result, "ncclSend, ncclRecv");
}

/* What `later` gets from now on begins after what `earlier` has got. */
static int follow(cudaStream_t earlier, cudaEvent_t event, cudaStream_t later) {
    int code = redist__cuda_check(cudaEventRecord(event, earlier), "cudaEventRecord");
    return code == REDIST_OK
               ? redist__cuda_check(cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent")
               : code;
}

/* A rank that fails to pack exchanges all the same: NCCL connects two ranks when both have their first messages
 * for each other, and the host waits for that. */
static int move_piece(struct state *state, struct piece *piece, int direction, const void *source,
                      void *destination) {
    const struct redist__space *space = state->problem->space;
    int code = redist__packing_pack_all(&piece->packing[direction], source, PACK_LANE);
    if (code == REDIST_OK)
        code = follow(space->stream(PACK_LANE), piece->packed, state->stream);
    int moved = exchange(state, piece, direction, source, destination);
    if (code == REDIST_OK)
        code = moved;
    if (code == REDIST_OK)
        code = follow(state->stream, piece->moved, space->stream(UNPACK_LANE));
    return code == REDIST_OK
               ? redist__packing_unpack_all(&piece->packing[!direction], destination, UNPACK_LANE)
               : code;
}

/* The own part is copied when all is packed, while the last pieces are under way. */
static int copy_own(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__space *space = state->problem->space;
    int code = space->stream_follow(space->stream(OWN_LANE), state->pieces[PIECES - 1].packed);
    return code == REDIST_OK ? redist__own_copy_run(&state->own[direction], state->problem,
                                                    direction, source, destination, OWN_LANE)
                             : code;
}

/* The communicator for this execution; whether there is one is the same on all ranks. */
static int find_comm(struct state *state) {
    state->number = redist__nccl_comm(state->problem->schedule->context, &state->comm);
    if (state->comm == NULL)
        note(state, redist__fail(REDIST_ERR_DEVICE,
                                 "NCCL's communicator was given up after a failure: free the plan "
                                 "and make a new one"));
    if (state->is_known)
        state->comm = NULL;
    return state->comm != NULL;
}

/* Lets the peers know whether this rank has given its device all that they wait for. */
static void post_status(struct state *state) {
    const struct redist__context *context = state->problem->schedule->context;
    state->status[0] = failed(state) ? context->rank : context->size;
    int result = redist__try(state->problem->failure,
                             MPI_Iallreduce(&state->status[0], &state->status[1], 1, MPI_INT,
                                            MPI_MIN, context->comm, &state->messages.sends[0]));
    state->messages.lost |= result != MPI_SUCCESS;
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    if (!find_comm(state))
        return;
    note(state, redist__finish_stream(problem->space, state->mark, problem->stream,
                                      problem->schedule->context));
    for (int i = 0; i < PIECES; i++)
        if (!state->pieces[i].is_empty)
            note(state, move_piece(state, &state->pieces[i], direction, source, destination));
    if (!failed(state))
        note(state, copy_own(state, direction, source, destination));
    post_status(state);
}

/* Ends when a peer is gone, for whose kernels the event would wait, or when NCCL knows of an error. */
static int wait_event(const struct state *state, cudaEvent_t event) {
    enum { POLLS_PER_LOOK = 1024 };
    const struct redist__context *context = state->problem->schedule->context;
    cudaError_t error = cudaErrorNotReady;
    int code = REDIST_OK;
    for (unsigned poll = 0; code == REDIST_OK; poll++) {
        ncclResult_t result = ncclSuccess;
        error = cudaEventQuery(event);
        if (error != cudaErrorNotReady)
            return redist__cuda_check(error, "cudaEventQuery");
        (void)cudaGetLastError(); /* the user's own checks are not to find it */
        if (poll % POLLS_PER_LOOK == 0)
            code = redist__nccl_check(ncclCommGetAsyncError(state->comm, &result),
                                      "ncclCommGetAsyncError");
        if (code == REDIST_OK && result != ncclSuccess && result != ncclInProgress)
            code = redist__nccl_check(result, "a message of NCCL");
        if (code == REDIST_OK)
            code = redist__pause(context, poll);
    }
    return code;
}

static int wait_lane(const struct state *state, int lane) {
    int code =
        state->problem->space->event_record(state->mark, state->problem->space->stream(lane));
    return code == REDIST_OK ? wait_event(state, state->mark) : code;
}

/* Who asks for phases sees packing until the first piece is packed, and unpacking once the last one has
 * moved; what is hidden behind the messages between is no phase of its own. */
static int watch_pieces(const struct state *state) {
    struct redist__watch *watch = state->problem->watch;
    const struct piece *first = NULL, *last = NULL;
    for (int i = 0; i < PIECES && watch != NULL; i++)
        if (!state->pieces[i].is_empty) {
            first = first != NULL ? first : &state->pieces[i];
            last = &state->pieces[i];
        }
    if (first == NULL)
        return REDIST_OK;
    redist__enter(watch, REDIST__PACK);
    int code = wait_event(state, first->packed);
    redist__enter(watch, REDIST__COMMUNICATE);
    if (code == REDIST_OK)
        code = wait_event(state, last->moved);
    redist__enter(watch, REDIST__UNPACK);
    return code;
}

/* Waits for the streams of the method without asking anything else of the device. */
static void finish_streams(const struct state *state) {
    static const int lanes[] = {OWN_LANE, PACK_LANE, UNPACK_LANE};
    if (state->stream != NULL)
        (void)cudaStreamSynchronize(state->stream);
    for (int i = 0; i < 3; i++)
        (void)cudaStreamSynchronize(state->problem->space->stream(lanes[i]));
    (void)cudaGetLastError();
}

/* Whether all ranks have given their devices everything. */
static int is_complete(struct state *state) {
    const struct redist__context *context = state->problem->schedule->context;
    redist__messages_end(&state->messages);
    if (!state->messages.lost && state->status[1] < context->size)
        redist__failure_note_peer(state->problem->failure, state->status[1], REDIST_OK);
    return !state->messages.lost && state->status[1] == context->size;
}

/* Whether the communicator is the one that the execution began with: else its kernels were ended half way, by
 * another plan on all ranks. */
static int has_comm(const struct state *state) {
    ncclComm_t comm;
    return redist__nccl_comm(state->problem->schedule->context, &comm) == state->number;
}

/* Ends the kernels that wait for ever. */
static void give_up(struct state *state) {
    if (has_comm(state))
        redist__nccl_abort(state->problem->schedule->context);
    note(state, redist__fail(REDIST_ERR_DEVICE, "an execution by NCCL was given up"));
    state->is_known = 1;
    finish_streams(state);
}

/* What fails here does so on this rank alone, and the peers learn of it in the next execution; but where the
 * peers' kernels are waited for in vain, the communicator is of no use to anybody. */
static void wait_streams(struct state *state) {
    int code = watch_pieces(state);
    if (code == REDIST_OK)
        code = wait_lane(state, UNPACK_LANE);
    redist__enter(state->problem->watch, REDIST__OWN_PART);
    if (code == REDIST_OK)
        code = wait_lane(state, OWN_LANE);
    note(state, code);
    if (code == REDIST_OK)
        return;
    ncclResult_t result = ncclSuccess;
    if (redist__peers_gone(state->problem->schedule->context) ||
        ncclCommGetAsyncError(state->comm, &result) != ncclSuccess || result != ncclSuccess)
        give_up(state);
    finish_streams(state);
}

static void wait(void *data) {
    struct state *state = data;
    if (state->comm == NULL)
        return;
    if (is_complete(state) && has_comm(state))
        wait_streams(state);
    else
        give_up(state);
    state->comm = NULL;
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct state *state = data;
    size_t bytes = 0;
    for (int i = 0; i < 2 * PIECES; i++)
        bytes += state->pieces[i / 2].packing[i % 2].buffer_bytes;
    return bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    finish_streams(state);
    for (int i = 0; i < PIECES; i++)
        free_piece(&state->pieces[i]);
    if (state->stream != NULL)
        (void)cudaStreamDestroy(state->stream);
    if (state->mark != NULL)
        state->problem->space->event_destroy(state->mark);
    if (!redist__messages_free(&state->messages)) /* else MPI may still write into `status` */
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
