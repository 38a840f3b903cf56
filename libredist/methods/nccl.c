/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel packs for all peers, one group of ncclSend and ncclRecv moves all messages, one kernel
 * unpacks all; the host only waits for the end. Large messages go in segments, so that one segment is packed and
 * another unpacked while a third is under way; the own part is copied meanwhile. NCCL's communicator is made
 * once for each communicator of the user.
 *
 * NCCL's kernels wait on the device for those of the peers, without end. So all ranks learn by a reduction
 * whether each of them has given its device all kernels. If one has not, all abort the communicator, which ends
 * the kernels, and the plans that used it have failed; the next plan makes a new one.
 */
#include "../comm/comm.h"
#include "../runtime/cuda_device.h"
#include "messages.h"
#include "method.h"
#include "packing.h"

#include <nccl.h>
#include <stdatomic.h>
#include <string.h>

enum { OWN_STREAM, PACK_STREAM, UNPACK_STREAM };

/* Messages of less than so many bytes go in one segment. */
enum { SEGMENTS = 4, LEAST_BYTES = 32 << 20 };

/* A segment of each message. */
struct segment {
    struct redist__transfer transfer; /* with parts of its own */
    struct redist__problem problem;
    struct redist__packing packing[2];
    cudaEvent_t packed, moved;
    int is_empty; /* all messages go with other segments */
};

struct state {
    const struct redist__problem *problem;
    struct segment segments[SEGMENTS];
    struct redist__copy own[2];
    cudaStream_t stream; /* of the messages: before any kernel that waits to begin */
    void *event;
    ncclComm_t comm;           /* of the execution under way, NULL = there is none, */
    unsigned long long number; /* and its number */
    int is_known;              /* all ranks know of a failure: none moves anything any more */
    int status[2]; /* of the execution under way: this rank if it failed, the lowest that did */
    struct redist__messages messages; /* the reduction of that, in the place of a send */
};

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    (void)candidate;
    if (!problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method nccl works on CUDA memory only");
    return redist__check_copyable(problem->transfer, "nccl");
}

/* ---------------------------------------------------------------- the communicator of a context */

struct link {
    struct redist__kept kept;
    ncclComm_t comm;
    unsigned long long number;
};

static int check_nccl(ncclResult_t result, const char *what) {
    if (result == ncclSuccess)
        return REDIST_OK;
    return redist__fail(REDIST_ERR_DEVICE, "%s: %s", what, ncclGetErrorString(result));
}

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
        code =
            redist__fail(REDIST_ERR_DEVICE, "the properties of the current device are unavailable");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = redist_check_mpi(
            redist_insist(MPI_Allgather(&properties.uuid, sizeof properties.uuid, MPI_BYTE, devices,
                                        sizeof *devices, MPI_BYTE, context->comm)));
    for (int rank = 0; rank < context->size && code == REDIST_OK; rank++)
        if (rank != context->rank && memcmp(&devices[rank], &properties.uuid, sizeof *devices) == 0)
            code = redist__fail(REDIST_ERR_METHOD,
                                "method nccl needs a device for each rank, but ranks %d and %d of "
                                "the communicator share one",
                                context->rank, rank);
    redist_release(devices);
    return redist_agree(context->comm, code);
}

static void free_link(struct redist__context *context, struct redist__kept *kept) {
    struct link *link = (struct link *)kept;
    (void)context;
    ncclCommDestroy(link->comm);
    redist_release(link);
}

static struct link *find_link(const struct redist__context *context) {
    return (struct link *)redist__kept(context, REDIST__KEPT_BESIDES, free_link);
}

static struct link *create_link(void) {
    static atomic_ullong counter;
    struct link *link = redist_calloc(1, sizeof *link);
    if (link != NULL)
        link->number = atomic_fetch_add(&counter, 1) + 1;
    return link;
}

static int create_comm(struct redist__context *context) {
    ncclUniqueId id = {{0}};
    int code = check_devices(context);
    if (code != REDIST_OK)
        return code;
    struct link *link = create_link();
    if (link == NULL)
        code = redist__fail(REDIST_ERR_MEMORY, "no memory for a communicator of NCCL");
    else if (context->rank == 0)
        code = check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code =
            redist_check_mpi(redist_insist(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, context->comm)));
    if (code == REDIST_OK)
        code = check_nccl(ncclCommInitRank(&link->comm, context->size, id, context->rank),
                          "ncclCommInitRank");
    code = redist_agree(context->comm, code);
    if (code != REDIST_OK) {
        if (link != NULL && link->comm != NULL)
            ncclCommAbort(link->comm);
        redist_release(link);
        return code;
    }
    link->kept.free = free_link;
    redist__keep(context, REDIST__KEPT_BESIDES, &link->kept);
    return REDIST_OK;
}

static int connect_comm(struct redist__context *context) {
    return find_link(context) == NULL ? create_comm(context) : REDIST_OK;
}

/* The communicator and its number, which no other one of this process has; NULL and 0 if there is none. */
static unsigned long long comm_of(const struct redist__context *context, ncclComm_t *comm) {
    const struct link *link = find_link(context);
    *comm = link != NULL ? link->comm : NULL;
    return link != NULL ? link->number : 0;
}

/* Ends all that is under way on it, and forgets it. All ranks do so. */
static void abort_comm(struct redist__context *context) {
    struct link *link = find_link(context);
    redist__keep_no_more(context, REDIST__KEPT_BESIDES, &link->kept);
    ncclCommAbort(link->comm);
    redist_release(link);
}

/* ---------------------------------------------------------------- segments */

/* The slowest axis that can be cut in all segments, else the longest: the same at both ends of a message. */
static int choose_axis(const struct redist__part *part, int ndims) {
    int longest = 0;
    for (int i = 0; i < ndims; i++) {
        if (part->count[i] >= SEGMENTS)
            return i;
        if (part->count[i] > part->count[longest])
            longest = i;
    }
    return longest;
}

static void cut_part(struct redist__part *part, const struct redist__transfer *transfer,
                     const struct redist__side *side, int segment) {
    int axis = choose_axis(part, transfer->ndims);
    redist_index n = part->count[axis];
    int whole = part->elements * transfer->item < LEAST_BYTES;
    redist_index begin = whole ? 0 : (redist_index)((long long)n * segment / SEGMENTS);
    redist_index end =
        whole ? (segment == 0) * n : (redist_index)((long long)n * (segment + 1) / SEGMENTS);
    if (part->elements == 0)
        return;
    part->elements = part->elements / (size_t)n * (size_t)(end - begin);
    part->start[axis] += begin;
    part->count[axis] = end - begin;
    part->offset += (size_t)begin * (size_t)side->stride[axis];
}

static int create_segment(struct state *state, int which) {
    const struct redist__problem *problem = state->problem;
    const struct redist__transfer *transfer = problem->transfer;
    struct segment *segment = &state->segments[which];
    size_t size = (size_t)problem->context->size, bytes = size * sizeof(struct redist__part);
    int code = REDIST_OK;
    segment->transfer = *transfer;
    segment->problem = *problem;
    segment->problem.transfer = &segment->transfer;
    segment->is_empty = 1;
    for (int side = 0; side < 2; side++)
        segment->transfer.side[side].parts = redist_calloc(size, sizeof(struct redist__part));
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        struct redist__part *parts = segment->transfer.side[side].parts;
        if (parts == NULL)
            return redist__fail(REDIST_ERR_MEMORY, "no memory for segments of messages");
        memcpy(parts, transfer->side[side].parts, bytes);
        for (int peer = 0; peer < problem->context->size; peer++) {
            cut_part(&parts[peer], transfer, &transfer->side[side], which);
            segment->is_empty &= parts[peer].elements == 0 || peer == problem->context->rank;
        }
        code = redist__packing_create(&segment->packing[side], &segment->problem, side,
                                      REDIST__EACH_IN_ARRAY, 0);
    }
    if (code == REDIST_OK)
        code =
            redist__cuda_check(cudaEventCreateWithFlags(&segment->packed, cudaEventDisableTiming),
                               "cudaEventCreateWithFlags");
    if (code == REDIST_OK)
        code = redist__cuda_check(cudaEventCreateWithFlags(&segment->moved, cudaEventDisableTiming),
                                  "cudaEventCreateWithFlags");
    return code;
}

static void free_segment(struct segment *segment) {
    for (int side = 0; side < 2; side++) {
        if (segment->packing[side].space != NULL)
            redist__packing_free(&segment->packing[side]);
        redist_release(segment->transfer.side[side].parts);
    }
    if (segment->packed != NULL)
        (void)cudaEventDestroy(segment->packed);
    if (segment->moved != NULL)
        (void)cudaEventDestroy(segment->moved);
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

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    (void)candidate;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method nccl");
    state->problem = problem;
    int code = redist__messages_create(&state->messages, problem, 1);
    if (code == REDIST_OK)
        code = problem->space->event_create(&state->event);
    for (int side = 0; side < 2; side++)
        redist__own_copy_prepare(&state->own[side], problem->transfer, side);
    for (int which = 0; which < SEGMENTS && code == REDIST_OK; which++)
        code = create_segment(state, which);
    return code == REDIST_OK ? create_stream(&state->stream) : code;
}

/* ---------------------------------------------------------------- execution */

static int connect(void *data) {
    struct state *state = data;
    return connect_comm(state->problem->context);
}

static size_t message_bytes(const struct segment *segment, int side, int peer) {
    return segment->transfer.side[side].parts[peer].elements * segment->transfer.item;
}

static ncclResult_t exchange_with(const struct state *state, const struct segment *segment,
                                  int direction, int peer, const void *source, void *destination) {
    int to = direction, from = !direction;
    ncclResult_t result = ncclSuccess;
    if (message_bytes(segment, to, peer) != 0)
        result =
            ncclSend(redist__packing_message(&segment->packing[to], peer, source),
                     message_bytes(segment, to, peer), ncclInt8, peer, state->comm, state->stream);
    if (result == ncclSuccess && message_bytes(segment, from, peer) != 0)
        result = ncclRecv(redist__packing_message(&segment->packing[from], peer, destination),
                          message_bytes(segment, from, peer), ncclInt8, peer, state->comm,
                          state->stream);
    return result;
}

static int exchange(const struct state *state, const struct segment *segment, int direction,
                    const void *source, void *destination) {
    const struct redist__context *context = state->problem->context;
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess)
        return check_nccl(result, "ncclGroupStart");
    for (int i = 1; i < context->size && result == ncclSuccess; i++)
        result = exchange_with(state, segment, direction, (context->rank + i) % context->size,
                               source, destination);
    ncclResult_t ended = ncclGroupEnd();
    return check_nccl(result == ncclSuccess ? ended : result, "ncclSend, ncclRecv");
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
static int move_segment(struct state *state, struct segment *segment, int direction,
                        const void *source, void *destination) {
    const struct redist__space *space = state->problem->space;
    int code = redist__packing_pack_all(&segment->packing[direction], source, PACK_STREAM);
    if (code == REDIST_OK)
        code = follow(space->stream(PACK_STREAM), segment->packed, state->stream);
    int moved = exchange(state, segment, direction, source, destination);
    if (code == REDIST_OK)
        code = moved;
    if (code == REDIST_OK)
        code = follow(state->stream, segment->moved, space->stream(UNPACK_STREAM));
    return code == REDIST_OK ? redist__packing_unpack_all(&segment->packing[!direction],
                                                          destination, UNPACK_STREAM)
                             : code;
}

/* The own part is copied when all is packed, while the last segments are under way. */
static int copy_own(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__space *space = state->problem->space;
    int code =
        space->stream_follow(space->stream(OWN_STREAM), state->segments[SEGMENTS - 1].packed);
    return code == REDIST_OK ? redist__own_copy_run(&state->own[direction], state->problem,
                                                    direction, source, destination, OWN_STREAM)
                             : code;
}

/* The communicator for this execution; whether there is one is the same on all ranks. */
static int find_comm(struct state *state) {
    state->number = comm_of(state->problem->context, &state->comm);
    if (state->comm == NULL)
        redist__note(state->problem,
                     redist__fail(REDIST_ERR_DEVICE,
                                  "NCCL's communicator was given up after a failure: free the plan "
                                  "and make a new one"));
    if (state->is_known)
        state->comm = NULL;
    return state->comm != NULL;
}

/* Lets the peers know whether this rank has given its device all that they wait for. */
static void post_status(struct state *state) {
    const struct redist__context *context = state->problem->context;
    state->status[0] = redist__has_failed(state->problem) ? context->rank : context->size;
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
    redist__note(state->problem, redist__finish_stream(problem->space, state->event,
                                                       problem->stream, problem->context));
    for (int i = 0; i < SEGMENTS; i++)
        if (!state->segments[i].is_empty)
            redist__note(state->problem,
                         move_segment(state, &state->segments[i], direction, source, destination));
    redist__attempt(state->problem, copy_own(state, direction, source, destination));
    post_status(state);
}

/* Ends when a peer is gone, for whose kernels the event would wait, or when NCCL knows of an error. */
static int wait_event(const struct state *state, cudaEvent_t event) {
    enum { POLLS_PER_LOOK = 1024 };
    const struct redist__context *context = state->problem->context;
    cudaError_t error = cudaErrorNotReady;
    int code = REDIST_OK;
    for (unsigned poll = 0; code == REDIST_OK; poll++) {
        ncclResult_t result = ncclSuccess;
        error = cudaEventQuery(event);
        if (error != cudaErrorNotReady)
            return redist__cuda_check(error, "cudaEventQuery");
        (void)cudaGetLastError(); /* the user's own checks are not to find it */
        if (poll % POLLS_PER_LOOK == 0)
            code = check_nccl(ncclCommGetAsyncError(state->comm, &result), "ncclCommGetAsyncError");
        if (code == REDIST_OK && result != ncclSuccess && result != ncclInProgress)
            code = check_nccl(result, "a message of NCCL");
        if (code == REDIST_OK)
            code = redist__pause(context, poll);
    }
    return code;
}

static int wait_stream(const struct state *state, int stream) {
    int code =
        state->problem->space->event_record(state->event, state->problem->space->stream(stream));
    return code == REDIST_OK ? wait_event(state, state->event) : code;
}

/* With a phase timer, packing lasts until the first segment is packed, and unpacking begins once the last one has
 * moved; what is hidden behind the messages between is no phase of its own. */
static int time_segments(const struct state *state) {
    struct redist__phase_timer *timer = state->problem->timer;
    const struct segment *first = NULL, *last = NULL;
    for (int i = 0; i < SEGMENTS && timer != NULL; i++)
        if (!state->segments[i].is_empty) {
            first = first != NULL ? first : &state->segments[i];
            last = &state->segments[i];
        }
    if (first == NULL)
        return REDIST_OK;
    redist__enter(timer, REDIST__PACK);
    int code = wait_event(state, first->packed);
    redist__enter(timer, REDIST__COMMUNICATE);
    if (code == REDIST_OK)
        code = wait_event(state, last->moved);
    redist__enter(timer, REDIST__UNPACK);
    return code;
}

/* Waits for the streams of the method without asking anything else of the device. */
static void finish_streams(const struct state *state) {
    static const int streams[] = {OWN_STREAM, PACK_STREAM, UNPACK_STREAM};
    if (state->stream != NULL)
        (void)cudaStreamSynchronize(state->stream);
    for (int i = 0; i < 3; i++)
        (void)cudaStreamSynchronize(state->problem->space->stream(streams[i]));
    (void)cudaGetLastError();
}

/* Whether all ranks have given their devices everything. */
static int is_complete(struct state *state) {
    const struct redist__context *context = state->problem->context;
    redist__messages_end(&state->messages);
    if (!state->messages.lost && state->status[1] < context->size)
        redist__failure_note_peer(state->problem->failure, state->status[1], REDIST_OK);
    return !state->messages.lost && state->status[1] == context->size;
}

/* Whether the communicator is the one that the execution began with: else its kernels were ended half way, by
 * another plan on all ranks. */
static int has_comm(const struct state *state) {
    ncclComm_t comm;
    return comm_of(state->problem->context, &comm) == state->number;
}

/* Ends the kernels that would wait without end. */
static void give_up(struct state *state) {
    if (has_comm(state))
        abort_comm(state->problem->context);
    redist__note(state->problem,
                 redist__fail(REDIST_ERR_DEVICE, "an execution by NCCL was given up"));
    state->is_known = 1;
    finish_streams(state);
}

/* What fails here does so on this rank alone, and the peers learn of it in the next execution; but where the
 * peers' kernels never end, the communicator is unusable on all ranks. */
static void wait_streams(struct state *state) {
    int code = time_segments(state);
    if (code == REDIST_OK)
        code = wait_stream(state, UNPACK_STREAM);
    redist__enter(state->problem->timer, REDIST__OWN_PART);
    if (code == REDIST_OK)
        code = wait_stream(state, OWN_STREAM);
    redist__note(state->problem, code);
    if (code == REDIST_OK)
        return;
    ncclResult_t result = ncclSuccess;
    if (redist__peers_gone(state->problem->context) ||
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
    for (int i = 0; i < 2 * SEGMENTS; i++)
        bytes += state->segments[i / 2].packing[i % 2].buffer_bytes;
    return bytes;
}

static void destroy(void *data) {
    struct state *state = data;
    finish_streams(state);
    for (int i = 0; i < SEGMENTS; i++)
        free_segment(&state->segments[i]);
    if (state->stream != NULL)
        (void)cudaStreamDestroy(state->stream);
    if (state->event != NULL)
        state->problem->space->event_destroy(state->event);
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
