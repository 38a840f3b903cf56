/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One kernel packs for all peers, one group of ncclSend and ncclRecv moves all messages, one kernel unpacks all; the
 * host only waits for the end. Large messages are cut in segments, so that one segment is packed and another unpacked
 * while a third is sent; the own part is copied meanwhile. NCCL's communicator is made once for each communicator of
 * the user.
 *
 * In tiles a segment leaves when its last tile was put, and all before it have left: NCCL needs the same order on all
 * ranks. This was compiled, but not run yet.
 *
 * NCCL's kernels wait on the device for those of the peers, without end. So a reduction checks that each rank has
 * launched all kernels. If one has not, all abort the communicator, which ends the kernels, and the plans that used it
 * have failed; the next plan makes a new one.
 */
#include "messages.h"
#include "packing.h"
#include "tiles.h"

#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdatomic.h>
#include <string.h>

enum { OWN_STREAM, PACK_STREAM, UNPACK_STREAM };

/* Limits of segments: messages of fewer bytes have one. */
enum { SEGMENTS = 4, LEAST_BYTES = 32 << 20 };

/* A segment of each message. */
struct segment {
    struct redist__transfer transfer; /* with its own parts */
    struct redist__problem problem;
    struct redist__packing packing[2];
    void *packed, *moved; /* events */
    int is_empty;         /* all messages are in other segments */
    size_t missing;       /* in tiles: elements for peers not put yet */
};

struct state {
    const struct redist__problem *problem;
    struct segment segments[SEGMENTS];
    struct redist__copy own[2];
    void *stream; /* of the messages: its kernels have priority, so that all peers' kernels begin */
    void *event;
    struct link *link;
    ncclComm_t comm;           /* of the pending execution, or NULL, */
    unsigned long long number; /* and its number */
    int is_known;              /* a failure is known to all ranks: none moves data any more */
    int next;                  /* in tiles: the first segment not sent, */
    char *destination;         /* and array B */
    int status[2]; /* of the pending execution: this rank if it failed, the lowest failed rank */
    struct redist__messages messages; /* the reduction of the status, as a send */
};

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    (void)candidate;
    if (!problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method nccl works on CUDA memory only");
    if (problem->tiles == REDIST_GET)
        return redist__fail(REDIST_ERR_METHOD, "method nccl gets no tiles");
    return redist__check_copyable(problem->transfer, "nccl");
}

/* ---------------------------------------------------------------- the communicator of a context */

/* The communicator for a device with plans. */
struct link {
    struct redist__kept kept;
    redist_place place;        /* without a stream */
    ncclComm_t comm;           /* or NULL */
    unsigned long long number; /* unique in this process */
};

/* Reports NCCL's last error rather than its code, and CUDA's error rather than "unhandled cuda error". */
static int check_nccl(ncclResult_t result, const char *what) {
    if (result == ncclSuccess)
        return REDIST_OK;
    const char *last = ncclGetLastError(NULL);
    cudaError_t error = cudaGetLastError(); /* clears it for the user's own checks */
    return redist__fail(REDIST_ERR_DEVICE, "%s: %s (%s; CUDA's last error: %s)", what,
                        ncclGetErrorString(result), last != NULL ? last : "",
                        cudaGetErrorString(error));
}

static void free_link(struct redist__context *context, struct redist__kept *kept) {
    struct link *link = (struct link *)kept;
    redist_visit visit;
    int entered = redist_enter(&link->place, &visit) == REDIST_OK;
    if (entered && link->comm != NULL && redist__peers_see(context) != REDIST_OK)
        ncclCommAbort(link->comm); /* it would wait for them */
    else if (entered && link->comm != NULL)
        ncclCommDestroy(link->comm);
    redist_leave(&visit);
    redist_release(link);
}

static struct link *next_link(const struct redist__problem *problem, const struct link *link) {
    return (struct link *)(link != NULL
                               ? redist__kept_next(&link->kept)
                               : redist__kept(problem->context, REDIST__KEPT_BESIDES, free_link));
}

enum { MOST_LINKS = 30 };

/* Returns a bit for each link of this rank's place, the newest first. */
static int find_links(const struct redist__problem *problem) {
    const struct link *link = next_link(problem, NULL);
    int bits = 0;
    for (int i = 0; i < MOST_LINKS && link != NULL; i++, link = next_link(problem, link))
        bits |= (link->place.context == problem->place.context) << i;
    return bits;
}

static int keep_link(const struct redist__problem *problem, struct link **result) {
    struct link *link = redist_calloc(1, sizeof *link);
    int code = redist__agree_memory(problem->context->comm, link, "for a communicator of NCCL");
    if (code != REDIST_OK) {
        redist_release(link);
        return code;
    }
    link->kept.dispose = free_link;
    link->place = problem->place;
    link->place.has_stream = 0;
    redist__keep(problem->context, REDIST__KEPT_BESIDES, &link->kept);
    *result = link;
    return REDIST_OK;
}

/* Finds a link of the current places of all ranks, else makes a new one. */
static int provide_link(const struct redist__problem *problem, struct link **link) {
    int common = 0;
    REDIST_TRY(redist__find_common(problem->context, find_links(problem), &common));
    if (common == 0)
        return keep_link(problem, link);
    *link = next_link(problem, NULL);
    for (; (common & 1) == 0; common >>= 1)
        *link = next_link(problem, *link);
    return REDIST_OK;
}

static int connect_comm(const struct redist__problem *problem, ncclComm_t *comm) {
    const struct redist__context *context = problem->context;
    ncclUniqueId id = {{0}};
    int code = REDIST_OK;
    if (context->rank == 0)
        code = check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    redist__keep_first(&code, redist_broadcast(context->comm, &id, sizeof id, 0));
    REDIST_TRY(redist_agree(context->comm, code));
    code = check_nccl(ncclCommInitRank(comm, context->size, id, context->rank), "ncclCommInitRank");
    code = redist_agree(context->comm, code);
    if (code != REDIST_OK && *comm != NULL) {
        ncclCommAbort(*comm);
        *comm = NULL;
    }
    return code;
}

/* Connects. Checks first that no device has two ranks, which NCCL refuses late, and on some ranks with a crash. */
static int connect(void *data) {
    static atomic_ullong counter;
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    struct redist__context *context = problem->context;
    unsigned long long device = 0;
    size_t bytes;
    REDIST_TRY(provide_link(problem, &state->link));
    if (state->link->comm != NULL) /* on all ranks */
        return REDIST_OK;
    REDIST_TRY(redist_agree(context->comm, problem->space->find_free(&bytes, &device)));
    REDIST_TRY(redist__check_devices(problem, "nccl", device));
    state->link->number = atomic_fetch_add(&counter, 1) + 1;
    return connect_comm(problem, &state->link->comm);
}

/* ---------------------------------------------------------------- segments */

/* Chooses the slowest axis that can be cut in all segments, else the longest: the same at both ends of a message. */
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
    segment->problem = *problem;
    segment->problem.transfer = &segment->transfer;
    segment->is_empty = 1;
    REDIST_TRY(
        redist__transfer_derive(&segment->transfer, transfer, transfer->rank, transfer->nranks));
    for (int side = 0; side < 2; side++) {
        struct redist__part *parts = segment->transfer.side[side].parts;
        for (int peer = 0; peer < transfer->nranks; peer++) {
            redist__part_copy(transfer, &parts[peer], &transfer->side[side].parts[peer]);
            cut_part(&parts[peer], transfer, &transfer->side[side], which);
            segment->is_empty &= parts[peer].elements == 0 || peer == transfer->rank;
        }
        int in_tiles = side == 0 && problem->tiles == REDIST_PUT;
        REDIST_TRY(redist__packing_create(&segment->packing[side], &segment->problem, side,
                                          in_tiles ? REDIST__NONE_IN_ARRAY : REDIST__EACH_IN_ARRAY,
                                          0));
    }
    REDIST_TRY(problem->space->event_create(&segment->packed));
    return problem->space->event_create(&segment->moved);
}

static void free_segment(const struct state *state, struct segment *segment) {
    for (int side = 0; side < 2; side++)
        if (segment->packing[side].space != NULL)
            redist__packing_free(&segment->packing[side]);
    redist__transfer_free(&segment->transfer);
    state->problem->space->event_destroy(segment->packed);
    state->problem->space->event_destroy(segment->moved);
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    (void)candidate;
    struct state *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method nccl");
    state->problem = problem;
    for (int side = 0; side < 2; side++)
        redist__own_copy_prepare(&state->own[side], problem->transfer, side);
    REDIST_TRY(redist__messages_create(&state->messages, problem, 1));
    REDIST_TRY(problem->space->event_create(&state->event));
    for (int which = 0; which < SEGMENTS; which++)
        REDIST_TRY(create_segment(state, which));
    return problem->space->stream_create_urgent(&state->stream);
}

/* ---------------------------------------------------------------- execution */

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
    if (redist_place_is_gone())
        return REDIST_ERR_DEVICE; /* the failure is recorded */
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess)
        return check_nccl(result, "ncclGroupStart");
    for (int i = 1; i < context->size && result == ncclSuccess; i++)
        result = exchange_with(state, segment, direction,
                               redist__rank_at(state->problem->transfer, i), source, destination);
    ncclResult_t ended = ncclGroupEnd();
    return check_nccl(result == ncclSuccess ? ended : result, "ncclSend, ncclRecv");
}

/* Orders later work of `later` after the work in `earlier`. */
static int follow(const struct redist__space *space, void *earlier, void *event, void *later) {
    REDIST_TRY(space->event_record(event, earlier));
    return space->stream_follow(later, event);
}

static int pack_segment(struct state *state, struct segment *segment, int direction,
                        const void *source) {
    const struct redist__space *space = state->problem->space;
    if (source != NULL) /* tiles are packed as they are put */
        REDIST_TRY(redist__packing_pack(&segment->packing[direction], 0, segment->transfer.nranks,
                                        source, PACK_STREAM));
    return follow(space, space->stream(PACK_STREAM), segment->packed, state->stream);
}

static int unpack_segment(struct state *state, struct segment *segment, int direction,
                          void *destination) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(follow(space, state->stream, segment->moved, space->stream(UNPACK_STREAM)));
    return redist__packing_unpack(&segment->packing[!direction], 0, segment->transfer.nranks,
                                  destination, UNPACK_STREAM);
}

/* Moves a segment, also if packing failed: NCCL connects two ranks at their first messages for each other, and the host
 * waits for that. */
static int move_segment(struct state *state, struct segment *segment, int direction,
                        const void *source, void *destination) {
    int packed = pack_segment(state, segment, direction, source);
    int moved = exchange(state, segment, direction, source, destination);
    REDIST_TRY(packed != REDIST_OK ? packed : moved);
    return unpack_segment(state, segment, direction, destination);
}

/* Copies the own part after packing, while the last segments are sent. */
static int copy_own(struct state *state, int direction, const void *source, void *destination) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(
        space->stream_follow(space->stream(OWN_STREAM), state->segments[SEGMENTS - 1].packed));
    return redist__own_copy_run(&state->own[direction], state->problem, direction, source,
                                destination, OWN_STREAM);
}

/* Finds the communicator for this execution, on all ranks or on none. */
static int find_comm(struct state *state) {
    const struct link *link = state->link;
    state->comm = link->comm;
    state->number = link->number;
    if (state->comm == NULL)
        redist__note(state->problem,
                     redist__fail(REDIST_ERR_DEVICE,
                                  "NCCL's communicator was given up after a failure: free the plan "
                                  "and make a new one"));
    if (state->is_known)
        state->comm = NULL;
    return state->comm != NULL;
}

/* Informs the peers whether this rank has launched all kernels that they wait for. */
static void post_status(struct state *state) {
    const struct redist__context *context = state->problem->context;
    state->status[0] = redist__has_failed(state->problem) ? context->rank : context->size;
    MPI_Request *request = &state->messages.sends[0];
    int result = MPI_ERR_OTHER; /* a call that returns an error may still have begun it */
    for (int attempt = 0; attempt < 2 && result != MPI_SUCCESS && *request == MPI_REQUEST_NULL;
         attempt++)
        result = redist__failure_note_mpi(state->problem->failure,
                                          MPI_Iallreduce(&state->status[0], &state->status[1], 1,
                                                         MPI_INT, MPI_MIN, context->comm, request));
    if (*request == MPI_REQUEST_NULL && result != MPI_SUCCESS)
        redist__messages_give_up(&state->messages);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    if (!find_comm(state))
        return;
    redist__finish(problem, state->event, problem->stream);
    for (int i = 0; i < SEGMENTS; i++)
        if (!state->segments[i].is_empty)
            redist__note(state->problem,
                         move_segment(state, &state->segments[i], direction, source, destination));
    redist__attempt(state->problem, copy_own(state, direction, source, destination));
    post_status(state);
}

/* Waits for an event; ends when a peer is gone, for whose kernels the event would wait, or at an error of NCCL. */
static int wait_event(const struct state *state, void *event) {
    enum { POLLS_PER_LOOK = 1024 };
    int reached = 0;
    for (unsigned poll = 0;; poll++) {
        REDIST_TRY(state->problem->space->event_is_reached(event, &reached));
        if (reached)
            return REDIST_OK;
        ncclResult_t result = ncclSuccess;
        if (poll % POLLS_PER_LOOK == 0)
            REDIST_TRY(
                check_nccl(ncclCommGetAsyncError(state->comm, &result), "ncclCommGetAsyncError"));
        if (result != ncclInProgress)
            REDIST_TRY(check_nccl(result, "a message of NCCL"));
        REDIST_TRY(redist__pause(state->problem->context, poll));
    }
}

static int wait_stream(const struct state *state, int stream) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(space->event_record(state->event, space->stream(stream)));
    return wait_event(state, state->event);
}

/* Times the phases: packing lasts until the first segment is packed, and unpacking begins once the last one has
 * arrived; all in between is communication. */
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
    REDIST_TRY(wait_event(state, first->packed));
    redist__enter(timer, REDIST__COMMUNICATE);
    REDIST_TRY(wait_event(state, last->moved));
    redist__enter(timer, REDIST__UNPACK);
    return REDIST_OK;
}

/* Returns whether all ranks have launched all kernels. */
static int is_complete(struct state *state) {
    const struct redist__context *context = state->problem->context;
    redist__messages_end(&state->messages);
    if (!state->messages.lost && state->status[1] < context->size)
        redist__failure_note_peer(state->problem->failure, state->status[1], REDIST_OK);
    return !state->messages.lost && state->status[1] == context->size;
}

/* Checks that the communicator is still the one of the execution's begin: else another plan, on all ranks, has aborted
 * its kernels. */
static int has_comm(const struct state *state) {
    const struct link *link = state->link;
    return link->comm != NULL && link->number == state->number;
}

/* Aborts the kernels that would wait for ever, on all ranks. */
static void give_up(struct state *state) {
    if (has_comm(state)) {
        if (!redist_place_is_gone())
            ncclCommAbort(state->comm);
        state->link->comm = NULL;
    }
    redist__note(state->problem,
                 redist__fail(REDIST_ERR_DEVICE, "an execution by NCCL was given up"));
    state->is_known = 1;
    state->problem->space->drain();
}

static int finish(const struct state *state) {
    REDIST_TRY(time_segments(state));
    REDIST_TRY(wait_stream(state, UNPACK_STREAM));
    redist__enter(state->problem->timer, REDIST__OWN_PART);
    return wait_stream(state, OWN_STREAM);
}

/* Returns whether the device has stopped before calls that it had accepted, for which the peers' kernels wait. */
static int has_lost_device(const struct state *state) {
    int loss = redist_place_is_gone();
    if (loss != REDIST_NOT_LOST)
        return loss == REDIST_LOST_BY_FAILURE;
    return state->problem->space->stream_check(state->stream) != REDIST_OK;
}

/* Waits for the streams. A failure here concerns this rank alone, and the peers learn of it in the next execution; but
 * if the peers' kernels never end, the communicator is unusable on all ranks. */
static void wait_streams(struct state *state) {
    ncclResult_t result = ncclSuccess;
    int code = finish(state);
    redist__note(state->problem, code);
    if (code == REDIST_OK)
        return;
    if (has_lost_device(state))
        redist__give_up(state->problem->context);
    if (redist__peers_look_now(state->problem->context) != REDIST_OK ||
        ncclCommGetAsyncError(state->comm, &result) != ncclSuccess || result != ncclSuccess)
        give_up(state);
    state->problem->space->drain();
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

/* ---------------------------------------------------------------- tiles */

static void open_tiles(void *data, void *array) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    state->next = SEGMENTS;
    if (!find_comm(state))
        return;
    redist__finish(problem, state->event, problem->stream);
    state->destination = array;
    state->next = 0;
    for (int i = 0; i < SEGMENTS; i++) {
        struct segment *segment = &state->segments[i];
        segment->missing = 0;
        for (int peer = 0; peer < segment->transfer.nranks; peer++)
            if (peer != segment->transfer.rank)
                segment->missing += segment->transfer.side[0].parts[peer].elements;
    }
}

static int copy_tile(const struct state *state, const struct redist__tile *source,
                     const struct redist__tile *destination, int stream, size_t *elements) {
    const struct redist__space *space = state->problem->space;
    struct redist__copy copy;
    const char *from;
    char *to;
    *elements = 0;
    if (!redist__tile_copy(state->problem->transfer, source, destination, &copy, &from, &to))
        return REDIST_OK;
    *elements = redist__copy_bytes(&copy) / state->problem->transfer->item;
    return space->copy(&copy, from, to, REDIST__KERNEL, space->stream(stream));
}

static int put_own(const struct state *state, const struct redist__tile *tile) {
    const struct redist__transfer *transfer = state->problem->transfer;
    const struct redist__side *side = &transfer->side[1];
    size_t elements;
    const struct redist__tile part =
        redist__tile_of_part(transfer, 0, transfer->rank,
                             state->destination + side->parts[transfer->rank].offset, side->stride);
    return copy_tile(state, tile, &part, OWN_STREAM, &elements);
}

static int put_in(const struct state *state, struct segment *segment, int peer,
                  const struct redist__tile *tile) {
    const struct redist__transfer *transfer = &segment->transfer;
    ptrdiff_t packed[REDIST_MAX_NDIMS];
    size_t elements;
    redist__strides(transfer->ndims, transfer->side[0].parts[peer].count, transfer->item, packed);
    const struct redist__tile part = redist__tile_of_part(
        transfer, 0, peer, redist__packing_message(&segment->packing[0], peer, NULL), packed);
    int code = copy_tile(state, tile, &part, PACK_STREAM, &elements);
    segment->missing -= elements;
    return code;
}

/* Sends complete segments, in their order, or all of them. */
static void send_segments(struct state *state, int all) {
    while (state->next < SEGMENTS && (all || state->segments[state->next].missing == 0)) {
        struct segment *segment = &state->segments[state->next++];
        if (!segment->is_empty)
            redist__note(state->problem,
                         move_segment(state, segment, REDIST_FORWARD, NULL, state->destination));
    }
}

static void put_tile(void *data, const struct redist__tile *tile) {
    struct state *state = data;
    const struct redist__problem *problem = state->problem;
    if (state->comm == NULL || redist__has_failed(problem))
        return;
    redist__note(problem, put_own(state, tile));
    for (int i = state->next; i < SEGMENTS; i++)
        for (int peer = 0; peer < problem->transfer->nranks; peer++)
            if (peer != problem->transfer->rank)
                redist__attempt(problem, put_in(state, &state->segments[i], peer, tile));
    send_segments(state, 0);
}

/* Sends all segments, for which the peers' kernels wait, also those not put as a whole. */
static void close_tiles(void *data) {
    struct state *state = data;
    if (state->comm == NULL)
        return;
    send_segments(state, 1);
    post_status(state);
    wait(state);
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
    const struct redist__space *space = state->problem->space;
    space->drain();
    for (int i = 0; i < SEGMENTS; i++)
        free_segment(state, &state->segments[i]);
    space->stream_destroy(state->stream);
    space->event_destroy(state->event);
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
    .open = open_tiles,
    .put = put_tile,
    .close = close_tiles,
    .workspace = workspace,
    .destroy = destroy,
};
