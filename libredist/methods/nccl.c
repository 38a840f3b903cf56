/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages by NCCL, all of them enqueued in streams. A wave is a part of all messages: one kernel packs it for all
 * peers, one group of ncclSend and ncclRecv moves it, one kernel unpacks it, while other waves are packed, moved or
 * unpacked; the own part is copied meanwhile. Messages that are contiguous in an array need no copy. Waves are cut
 * alike at both ends of a message, and sent in the same order by all ranks, as NCCL demands. What is added comes in one
 * wave, and is added by one kernel after the other, in the order of ranks.
 *
 * NCCL's kernels wait on the device for those of the peers, without end. So ranks that the host waits for reduce
 * whether each has launched all kernels. If one has not, all abort the communicator, which ends the kernels, and the
 * plans that used it have failed; the next plan makes a new one. In asynchronous executions a rank that has failed
 * still sends what its peers wait for, and the last thing that the device does is to reduce the number of the highest
 * failed rank. A rank that cannot even do that, or that frees its plan, aborts its communicator, and a thread aborts
 * those of its peers (nccl_link.h).
 */
#include "nccl.h"

#include <string.h>

/* Data by which the methods of this file differ. */
struct kind {
    int waves; /* 1, or those of long messages, unless segments and partitions say how to cut */
};

static int check_space(const struct redist__problem *problem) {
    if (!problem->space->asynchronous)
        return redist__fail(REDIST_ERR_METHOD, "method nccl works on CUDA memory only");
    return REDIST_OK;
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    REDIST_TRY(check_space(problem));
    if (problem->tiles == REDIST_GET)
        return redist__fail(REDIST_ERR_METHOD, "method nccl gets no tiles");
    return redist__check_copyable(problem->transfer, candidate->method->name);
}

static int check_ranks(const struct redist__problem *problem) {
    REDIST_TRY(check_space(problem));
    return redist__check_devices(problem, "nccl");
}

/* ---------------------------------------------------------------- making */

static int create_streams(struct redist__nccl *state) {
    const struct redist__space *space = state->problem->space;
    for (int i = 0; i < REDIST__NCCL_STREAMS; i++) {
        REDIST_TRY((i == REDIST__MOVES ? space->stream_create_urgent
                                       : space->stream_create)(&state->streams[i]));
        REDIST_TRY(space->event_create(&state->joined[i]));
    }
    REDIST_TRY(space->event_create(&state->forked));
    return space->event_create(&state->ended);
}

/* Makes the words of failures: the first is zero at first. */
static int create_words(struct redist__nccl *state) {
    const struct redist__space *space = state->problem->space;
    void *words;
    REDIST_TRY(space->allocate_pinned(2 * sizeof *state->words, &words));
    state->words = words;
    state->user.word =
        state->problem->word != NULL ? (_Atomic uint64_t *)state->problem->word : state->words;
    state->user.failure = (uint64_t)state->problem->context->rank + 1;
    atomic_store(&state->words[0], 0);
    atomic_store(&state->words[1], state->user.failure);
    return space->allocate(sizeof(uint64_t), &state->reduced);
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct redist__nccl *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method nccl");
    state->problem = problem;
    const struct kind *kind = candidate->method->kind;
    int nwaves = redist__nccl_count_waves(state, kind->waves);
    size_t ntargets = (size_t)nwaves * (size_t)problem->context->size;
    state->waves = redist_calloc((size_t)nwaves, sizeof *state->waves);
    state->targets =
        problem->tiles == REDIST_PUT ? redist_calloc(ntargets, sizeof *state->targets) : NULL;
    if (state->waves == NULL || (problem->tiles == REDIST_PUT && state->targets == NULL))
        return redist__fail(REDIST_ERR_MEMORY, "no memory for %d waves of messages", nwaves);
    state->nwaves = nwaves;
    for (int side = 0; side < 2; side++)
        redist__own_copy_prepare(&state->own[side], problem->transfer, side);
    REDIST_TRY(redist__messages_create(&state->messages, problem, 1));
    for (int which = 0; which < nwaves; which++)
        REDIST_TRY(redist__nccl_create_wave(state, which));
    REDIST_TRY(create_streams(state));
    return problem->asynchronous ? create_words(state) : REDIST_OK;
}

/* Stays below `nccl`, which may be selectable only by name itself. */
static int preference_of_plain(const struct redist__problem *problem,
                               const struct redist__candidate *candidate) {
    (void)problem, (void)candidate;
    return REDIST__BY_NAME - 1;
}

/* Comes first between nodes, where other methods pass through hosts or MPI; within a node `signals` is faster, and NCCL
 * is measured only for plans that the host waits for. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    const struct redist__context *context = problem->context;
    (void)candidate;
    if (context->node_size < context->size)
        return 1;
    return problem->asynchronous ? REDIST__BY_NAME : 0;
}

static int connect(void *data) {
    struct redist__nccl *state = data;
    REDIST_TRY(redist__nccl_connect(state->problem, &state->link));
    state->used = redist__nccl_number(state->link);
    state->is_watching = state->problem->asynchronous;
    return state->is_watching ? redist__nccl_watch(state->problem, state->link, &state->user)
                              : REDIST_OK;
}

/* ---------------------------------------------------------------- messages */

static ncclResult_t exchange_with(const struct redist__nccl *state, ncclComm_t comm,
                                  const struct redist__wave *wave, int direction, int peer,
                                  const void *source, void *destination) {
    int to = direction, from = !direction;
    void *stream = state->streams[REDIST__MOVES];
    ncclResult_t result = ncclSuccess;
    if (wave->packing[to].bytes[peer] != 0)
        result = ncclSend(redist__packing_message(&wave->packing[to], peer, source),
                          wave->packing[to].bytes[peer], ncclInt8, peer, comm, stream);
    if (result == ncclSuccess && wave->packing[from].bytes[peer] != 0)
        result = ncclRecv(redist__packing_message(&wave->packing[from], peer, destination),
                          wave->packing[from].bytes[peer], ncclInt8, peer, comm, stream);
    return result;
}

static ncclResult_t exchange_group(const struct redist__nccl *state, ncclComm_t comm,
                                   const struct redist__wave *wave, int direction,
                                   const void *source, void *destination) {
    const struct redist__transfer *transfer = state->problem->transfer;
    ncclResult_t result = ncclGroupStart();
    if (result != ncclSuccess)
        return result;
    for (int i = 1; i < transfer->nranks && result == ncclSuccess; i++)
        result = exchange_with(state, comm, wave, direction, redist__rank_at(transfer, i), source,
                               destination);
    ncclResult_t ended = ncclGroupEnd();
    return result == ncclSuccess ? ended : result;
}

static int exchange(const struct redist__nccl *state, const struct redist__wave *wave,
                    int direction, const void *source, void *destination) {
    if (redist_place_is_gone())
        return REDIST_ERR_DEVICE; /* the failure is recorded */
    ncclComm_t comm = redist__nccl_enter(state->link, state->number);
    if (comm == NULL)
        return REDIST_ERR_DEVICE;
    int code = redist__nccl_result(
        exchange_group(state, comm, wave, direction, source, destination), "ncclSend, ncclRecv");
    redist__nccl_leave(state->link);
    return code;
}

int redist__nccl_follow(const struct redist__nccl *state, void *earlier, void *event,
                        void *stream) {
    REDIST_TRY(state->problem->space->event_record(event, earlier));
    return state->problem->space->stream_follow(stream, event);
}

/* Adds what is added to all else, the own part too. */
static int add_all(const struct redist__nccl *state, struct redist__wave *wave, int direction,
                   const void *source, void *destination) {
    const struct redist__copy *own = &state->own[direction];
    void *stream = state->streams[REDIST__UNPACKS];
    REDIST_TRY(redist__own_copy_run(own, state->problem, direction, source, destination, stream));
    return redist__packing_add(&wave->packing[!direction], own, state->problem, direction, source,
                               destination, stream);
}

static int unpack(const struct redist__nccl *state, struct redist__wave *wave, int direction,
                  const void *source, void *destination) {
    void *stream = state->streams[REDIST__UNPACKS];
    REDIST_TRY(redist__nccl_follow(state, state->streams[REDIST__MOVES], wave->moved, stream));
    REDIST_TRY(redist__packing_unpack(&wave->packing[!direction], 0, wave->transfer.nranks,
                                      destination, stream));
    if (redist__adds(state->problem->transfer, direction))
        REDIST_TRY(add_all(state, wave, direction, source, destination));
    return state->problem->space->event_record(wave->unpacked, stream);
}

/* Sends also after a failure, since the peers' kernels wait; NCCL connects two ranks at their first messages for each
 * other, and the host waits for that. */
void redist__nccl_move_wave(struct redist__nccl *state, struct redist__wave *wave, int direction,
                            const void *source, void *destination) {
    int code = redist__nccl_follow(state, state->streams[REDIST__PACKS], wave->packed,
                                   state->streams[REDIST__MOVES]);
    int moved = wave->is_empty ? REDIST_OK : exchange(state, wave, direction, source, destination);
    state->is_stuck |= moved != REDIST_OK;
    redist__note(state->problem, code != REDIST_OK ? code : moved);
    redist__attempt(state->problem, unpack(state, wave, direction, source, destination));
}

/* ---------------------------------------------------------------- failures */

static int begin_status(const void *data, MPI_Comm comm, MPI_Request *request) {
    int *status = ((struct redist__nccl *)(size_t)data)->status;
    return MPI_Iallreduce(&status[0], &status[1], 1, MPI_INT, MPI_MIN, comm, request);
}

void redist__nccl_post(struct redist__nccl *state) {
    const struct redist__context *context = state->problem->context;
    if (state->has_posted || state->problem->asynchronous)
        return;
    state->has_posted = 1;
    state->status[0] = redist__has_failed(state->problem) ? context->rank : context->size;
    state->status[1] = context->size;
    redist__messages_collect(&state->messages, begin_status, state);
}

int redist__nccl_is_over(struct redist__nccl *state) {
    MPI_Request *request = &state->messages.sends[0];
    int done = 0;
    if (*request == MPI_REQUEST_NULL || state->messages.lost)
        return state->messages.lost;
    int code = redist_check_mpi(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    return code != REDIST_OK || (done && state->status[1] < state->problem->context->size);
}

/* Aborts the kernels that would wait for ever, on all ranks. */
static void give_up(struct redist__nccl *state) {
    redist__nccl_abort(state->link, state->number);
    redist__note(state->problem,
                 redist__fail(REDIST_ERR_DEVICE, "an execution by NCCL was given up"));
    state->is_known = 1;
    state->problem->space->drain();
}

/* Ends the kernels that wait for this rank, on all ranks, which may be in no call. Gives up if the device takes no more
 * work: also after its reset, which ends the communicator without a word to other machines. */
static void give_up_enqueued(struct redist__nccl *state) {
    if (state->problem->rehearses || state->is_known)
        return;
    state->is_known = 1;
    redist__nccl_abort(state->link, state->number);
    if (redist_place_is_gone() ||
        state->problem->space->stream_check(state->streams[REDIST__MOVES]) != REDIST_OK)
        redist__give_up(state->problem->context);
}

/* Reduces the highest failed rank on the device. NCCL writes it beside the word, since the kernel of an aborted
 * communicator writes what it likes. */
static int reduce_word(const struct redist__nccl *state) {
    const struct redist__space *space = state->problem->space;
    void *stream = state->streams[REDIST__MOVES], *word = (void *)(size_t)state->user.word;
    if (redist__has_failed(state->problem))
        REDIST_TRY(space->raise(word, (const void *)(size_t)&state->words[1], stream));
    ncclComm_t comm = redist__nccl_enter(state->link, state->number);
    if (comm == NULL)
        return REDIST_ERR_DEVICE;
    int code = redist__nccl_result(
        ncclAllReduce(word, state->reduced, 1, ncclUint64, ncclMax, comm, stream), "ncclAllReduce");
    redist__nccl_leave(state->link);
    REDIST_TRY(code);
    return space->raise(word, state->reduced, stream);
}

/* Another rank's number says more than that the communicator is gone. */
static void query(void *data) {
    struct redist__nccl *state = data;
    const struct redist__problem *problem = state->problem;
    if (!problem->asynchronous)
        return;
    uint64_t word = atomic_load_explicit(state->user.word, memory_order_acquire);
    if (state->number != 0 && (word == 0 || word == state->user.failure))
        redist__attempt(problem, redist__nccl_check(state->link, state->number));
    if (word != 0)
        redist__failure_note_peer(problem->failure, (int)word - 1, REDIST_OK);
}

/* Aborts the communicator after a failure. The kernels of peers that are ahead would wait for this rank for ever. */
static void leave(void *data) {
    struct redist__nccl *state = data;
    if (!state->is_watching)
        return;
    query(state);
    if (!redist__has_failed(state->problem)) {
        state->problem->space->drain();
        query(state);
    }
    if (redist__has_failed(state->problem))
        redist__nccl_abort(state->link, state->used);
}

static uint64_t *word(const void *data) {
    return (void *)(size_t)((const struct redist__nccl *)data)->user.word;
}

static void join(void *data, uint64_t *other) {
    struct redist__nccl *state = data;
    state->user.word = (_Atomic uint64_t *)other;
}

/* ---------------------------------------------------------------- execution */

int redist__nccl_begin(struct redist__nccl *state) {
    const struct redist__problem *problem = state->problem;
    const struct redist__space *space = problem->space;
    if (problem->asynchronous)
        query(state);
    state->number = state->is_known ? 0 : redist__nccl_number(state->link);
    state->is_stuck = state->has_posted = 0;
    if (state->number == 0) {
        redist__note(problem, redist__nccl_given_up());
        if (!state->is_known)
            redist__nccl_post(state); /* peers may not have seen it yet */
        return 0;
    }
    state->used = state->number;
    redist__note(problem, space->event_record(state->forked, problem->stream));
    for (int i = 0; i < REDIST__NCCL_STREAMS; i++)
        redist__note(problem, space->stream_follow(state->streams[i], state->forked));
    return 1;
}

/* In asynchronous executions makes the user's stream wait for the others, also after a failure; the reduction comes
 * after what the other half has in the user's stream, whose failures it spreads too. In others the host waits, and the
 * user's stream must not: a plan of another thread may begin behind it, on another rank in another order. */
void redist__nccl_end(struct redist__nccl *state) {
    const struct redist__problem *problem = state->problem;
    if (problem->is_half)
        redist__note(problem, redist__nccl_follow(state, problem->stream, state->forked,
                                                  state->streams[REDIST__MOVES]));
    if (problem->asynchronous) {
        int reduced = redist_place_is_gone() ? REDIST_ERR_DEVICE : reduce_word(state);
        state->is_stuck |= reduced != REDIST_OK;
        redist__note(problem, reduced);
    }
    for (int i = 0; i < REDIST__NCCL_STREAMS && problem->asynchronous; i++)
        redist__note(problem, redist__nccl_follow(state, state->streams[i], state->joined[i],
                                                  problem->stream));
    redist__nccl_post(state);
    if (problem->asynchronous && state->is_stuck)
        give_up_enqueued(state);
}

static void start(void *data, int direction, const void *source, void *destination) {
    struct redist__nccl *state = data;
    const struct redist__problem *problem = state->problem;
    if (!redist__nccl_begin(state))
        return;
    for (int i = 0; i < state->nwaves; i++) {
        struct redist__wave *wave = &state->waves[i];
        redist__attempt(problem,
                        redist__packing_pack(&wave->packing[direction], 0, wave->transfer.nranks,
                                             source, state->streams[REDIST__PACKS]));
        redist__nccl_move_wave(state, wave, direction, source, destination);
    }
    if (!redist__adds(state->problem->transfer, direction))
        redist__attempt(problem,
                        redist__own_copy_run(&state->own[direction], problem, direction, source,
                                             destination, state->streams[REDIST__OWN]));
    state->missing = 0;
    state->next = state->nwaves;
    if (problem->is_half)
        redist__attempt(problem, problem->space->event_record(state->joined[REDIST__OWN],
                                                              state->streams[REDIST__OWN]));
    else
        redist__nccl_end(state);
}

/* Waits for an event; ends when a peer is gone, for whose kernels the event would wait, or at an error of NCCL. */
static int wait_event(const struct redist__nccl *state, void *event) {
    enum { POLLS_PER_LOOK = 1024 };
    int reached = 0;
    for (unsigned poll = 0;; poll++) {
        REDIST_TRY(state->problem->space->event_is_reached(event, &reached));
        if (reached)
            return REDIST_OK;
        if (poll % POLLS_PER_LOOK == 0)
            REDIST_TRY(redist__nccl_check(state->link, state->number));
        REDIST_TRY(redist__pause(state->problem->context, poll));
    }
}

/* Times the phases: packing lasts until the first wave is packed, and unpacking begins once the last one has arrived;
 * all in between is communication. */
static int time_waves(const struct redist__nccl *state) {
    struct redist__phase_timer *timer = state->problem->timer;
    if (timer == NULL || state->problem->asynchronous)
        return REDIST_OK;
    redist__enter(timer, REDIST__PACK);
    REDIST_TRY(wait_event(state, state->waves[0].packed));
    redist__enter(timer, REDIST__COMMUNICATE);
    REDIST_TRY(wait_event(state, state->waves[state->nwaves - 1].moved));
    redist__enter(timer, REDIST__UNPACK);
    return REDIST_OK;
}

/* Returns whether all ranks have launched all kernels. */
static int is_complete(struct redist__nccl *state) {
    const struct redist__context *context = state->problem->context;
    redist__messages_end(&state->messages);
    if (!state->messages.lost && state->status[1] < context->size)
        redist__failure_note_peer(state->problem->failure, state->status[1], REDIST_OK);
    return !state->messages.lost && state->status[1] == context->size;
}

static int wait_stream(const struct redist__nccl *state, void *stream, void *event) {
    REDIST_TRY(state->problem->space->event_record(event, stream));
    return wait_event(state, event);
}

static int finish(const struct redist__nccl *state) {
    const struct redist__problem *problem = state->problem;
    REDIST_TRY(time_waves(state));
    if (problem->asynchronous)
        REDIST_TRY(wait_stream(state, problem->stream, state->ended));
    for (int i = 0; i < REDIST__NCCL_STREAMS && !problem->asynchronous; i++)
        REDIST_TRY(wait_stream(state, state->streams[i], state->joined[i]));
    return redist__nccl_check(state->link, state->number);
}

/* Returns whether the device has stopped before calls that it had accepted, for which the peers' kernels wait. */
static int has_lost_device(const struct redist__nccl *state) {
    int loss = redist_place_is_gone();
    if (loss != REDIST_NOT_LOST)
        return loss == REDIST_LOST_BY_FAILURE;
    return state->problem->space->stream_check(state->streams[REDIST__MOVES]) != REDIST_OK;
}

/* Waits for the streams. A failure here concerns this rank alone, and the peers learn of it in the next execution; but
 * if the peers' kernels never end, the communicator is unusable on all ranks. */
static void wait_streams(struct redist__nccl *state) {
    int code = finish(state);
    redist__note(state->problem, code);
    if (code == REDIST_OK)
        return;
    if (has_lost_device(state))
        redist__give_up(state->problem->context);
    if (redist__peers_look_now(state->problem->context) != REDIST_OK ||
        redist__nccl_check(state->link, state->number) != REDIST_OK)
        give_up(state);
    state->problem->space->drain();
}

void redist__nccl_wait(void *data) {
    struct redist__nccl *state = data;
    if (state->number == 0 && !state->has_posted)
        return;
    if (state->problem->asynchronous || is_complete(state))
        wait_streams(state);
    else
        give_up(state);
    if (state->problem->asynchronous)
        query(state);
    else
        state->number = 0;
}

/* ---------------------------------------------------------------- the method */

static size_t workspace(const void *data) {
    const struct redist__nccl *state = data;
    size_t bytes = 0;
    for (int i = 0; i < 2 * state->nwaves; i++)
        bytes += state->waves[i / 2].packing[i % 2].buffer_bytes;
    for (int i = 0; i < state->nwaves; i++)
        bytes += state->waves[i].exact.buffer_bytes;
    return bytes;
}

static void destroy(void *data) {
    struct redist__nccl *state = data;
    const struct redist__space *space = state->problem->space;
    space->drain();
    if (state->is_watching)
        redist__nccl_unwatch(state->problem, state->link, &state->user);
    if (state->link != NULL)
        redist__nccl_disconnect(state->problem, state->link);
    for (int i = 0; i < state->nwaves; i++)
        redist__nccl_free_wave(state, &state->waves[i]);
    for (int i = 0; i < REDIST__NCCL_STREAMS; i++) {
        space->stream_destroy(state->streams[i]);
        space->event_destroy(state->joined[i]);
    }
    space->event_destroy(state->forked);
    space->event_destroy(state->ended);
    space->release(state->reduced);
    space->release_pinned((void *)(size_t)state->words);
    redist_release(state->waves);
    redist_release(state->targets);
    if (!redist__messages_free(&state->messages)) /* else MPI may still write into `status` */
        redist_release(state);
}

#define METHOD(id, sentence, most_waves)                                                           \
    .name = id, .summary = sentence, .kind = &(const struct kind){most_waves},                     \
    .modes = REDIST__DOES_BOTH, .formats = 1, .applies = applies, .create = create,                \
    .connect = connect, .start = start, .wait = redist__nccl_wait, .query = query, .leave = leave, \
    .word = word, .join = join, .has_word_in_host = 1, .workspace = workspace, .destroy = destroy

const struct redist__method redist__method_nccl = {
    METHOD("nccl", "packed messages by NCCL, between CUDA devices", 4),
    .check_ranks = check_ranks,
    .formats_tiles = 1,
    .preference = preference,
    .open = redist__nccl_open,
    .put = redist__nccl_put,
    .own = redist__nccl_own,
    .store = redist__nccl_store,
    .stores_partitions = 1,
    .progress = redist__nccl_progress,
    .arrived = redist__nccl_arrived,
    .await = redist__nccl_await,
    .close = redist__nccl_close,
};

const struct redist__method redist__method_nccl_plain = {
    METHOD("nccl:plain", "packs all parts, one group of messages by NCCL, unpacks all", 1),
    .preference = preference_of_plain,
};
