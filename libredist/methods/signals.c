/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strided copies directly into the peers' arrays, as in method direct, but ordered by the devices themselves, by flags
 * in device memory (sync/signals.h): executions are enqueued in the user's stream, and no host waits.
 *
 *   kernel   one kernel signals, waits, copies and ends: best for small arrays
 *   engines  the copy engines copy, in steps with one sender for each receiver, between kernels that signal
 *
 * What is added is read by its receivers, in the order of ranks by one kernel after the other: the signals of such an
 * execution are those of the other direction, in which a rank copies to the elements that it reads here.
 *
 * Peers have to know the destination when the plan is made; ghosts of an array that they do not know are copied to
 * their buffers, and by them to their arrays. Each rank needs its own device: kernels that wait for each other might
 * not run at the same time on one. A rank that waits for longer than the plan allows, or whose peer is gone, has
 * failed, and signals that to all others. A rank whose device accepts no more work cannot signal: its process gives up,
 * which the peers' hosts report to their devices (sync/notice.h).
 *
 * signals_connect.c makes ranks known to each other when a plan is made, signals_gates.c enqueues signals, and
 * signals_tiles.c has executions in tiles.
 */
#include "signals.h"
#include "../sync/notice.h"
#include "packing.h"

static const char *const variants[] = {"kernel", "engines", NULL};

enum { BY_KERNEL, BY_ENGINES };

/* Limit of the largest local array, below which one kernel copies faster. */
static const size_t most_kernel_bytes = (size_t)32 << 20;

/* Limit of partitions, as at least one step is counted for each. */
static const int most_partitions = REDIST__MOST_COUNT / 2;

/* ---------------------------------------------------------------- what it can serve */

static int check_node(const struct redist__problem *problem) {
    if (redist__signalling_of(problem->space) == NULL)
        return redist__fail(REDIST_ERR_METHOD, "method signals is not for %s memory",
                            problem->space->name);
    return redist__check_one_node(problem, "signals");
}

static int check_ranks(const struct redist__problem *problem) {
    REDIST_TRY(check_node(problem));
    return redist__check_devices(problem, "signals");
}

static int applies(const struct redist__problem *problem,
                   const struct redist__candidate *candidate) {
    (void)candidate;
    REDIST_TRY(redist__check_copyable(problem->transfer, "signals"));
    REDIST_TRY(check_node(problem));
    if (problem->partitions > most_partitions)
        return redist__fail(REDIST_ERR_LIMIT, "method signals has at most %d partitions, not %d",
                            most_partitions, problem->partitions);
    if (!redist__peers_know(problem, REDIST_FORWARD))
        return redist__fail(REDIST_ERR_METHOD,
                            "method signals needs an array b that peers can map (of "
                            "redist_alloc_in or cudaMalloc), given when the plan is made");
    return REDIST_OK;
}

/* Ranks the variants: tiles are many copies beside transforms, which need the multiprocessors; ghosts are a small part
 * of an array. */
static int preference(const struct redist__problem *problem,
                      const struct redist__candidate *candidate) {
    int kernel = problem->tiles == REDIST_WHOLE &&
                 (problem->one_array || problem->largest_bytes <= most_kernel_bytes);
    return 1 + (kernel == (candidate->variant == BY_KERNEL));
}

/* ---------------------------------------------------------------- making */

static int create_path(struct redist__signal_path *path, size_t size) {
    path->copies = redist_calloc(size, sizeof *path->copies);
    path->offsets = redist_calloc(size, sizeof *path->offsets);
    path->far = redist_calloc(size, sizeof *path->far);
    return path->copies != NULL && path->offsets != NULL && path->far != NULL;
}

/* Creates what ghosts need that pass through buffers. */
static int create_unpacks(struct redist__signalled *state, size_t boxes) {
    if (!redist__buffers_ghosts(state->problem))
        return 1;
    state->buffered = redist_calloc(boxes, sizeof *state->buffered);
    return state->buffered != NULL && create_path(&state->unpacks[0], boxes) &&
           create_path(&state->unpacks[1], boxes);
}

static int create_streams(struct redist__signalled *state) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(space->stream_create_urgent(&state->copy_stream));
    REDIST_TRY(space->stream_create(&state->own_stream));
    REDIST_TRY(space->event_create(&state->forked));
    REDIST_TRY(space->event_create(&state->copied));
    for (int i = 0; state->told.events != NULL && i < state->problem->partitions; i++)
        REDIST_TRY(space->event_create(&state->told.events[i]));
    for (int i = 0; state->sent != NULL && i < 2 * state->problem->segments; i++)
        REDIST_TRY(space->event_create(&state->sent[i / 2].events[i % 2]));
    return space->event_create(&state->owned);
}

static int create(const struct redist__problem *problem, const struct redist__candidate *candidate,
                  void **result) {
    struct redist__signalled *state = *result = redist_calloc(1, sizeof *state);
    if (state == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for method signals");
    size_t size = (size_t)problem->context->size, boxes = (size_t)redist__box_count(problem);
    state->problem = problem;
    state->signalling = redist__signalling_of(problem->space);
    state->by_kernel = candidate->variant == BY_KERNEL;
    state->block_bytes = sizeof(struct redist__signal_block) +
                         size * (sizeof(struct redist__signal_words) + sizeof(void *) + 2);
    int puts = problem->tiles == REDIST_PUT;
    state->held = puts ? redist_calloc(REDIST__MOST_HELD, sizeof *state->held) : NULL;
    state->targets = puts ? redist_calloc(size, sizeof *state->targets) : NULL;
    state->told.events =
        puts ? redist_calloc((size_t)problem->partitions, sizeof *state->told.events) : NULL;
    size_t tiles = puts && problem->segments > 1 ? (size_t)problem->segments : 0;
    state->sent = tiles > 0 ? redist_calloc(tiles, sizeof *state->sent) : NULL;
    state->remotes = redist_calloc(boxes, sizeof *state->remotes);
    if ((tiles > 0 && state->sent == NULL) ||
        (puts && (state->held == NULL || state->targets == NULL || state->told.events == NULL)) ||
        !create_path(&state->paths[0], boxes) || !create_path(&state->paths[1], boxes) ||
        !create_unpacks(state, boxes) || state->remotes == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the boxes of %zu ranks", size);
    void *status;
    REDIST_TRY(problem->space->allocate_pinned(sizeof *state->status, &status));
    state->status = status;
    atomic_store(state->status, 0);
    return create_streams(state);
}

/* ---------------------------------------------------------------- failures */

static void query(void *data) {
    const struct redist__signalled *state = data;
    redist__signals_read(state);
    if (redist__has_failed(state->problem))
        redist__signals_fail(state);
}

/* Informs the peers of a failure that no execution has spread. */
static void leave(void *data) {
    const struct redist__signalled *state = data;
    if (!redist__has_failed(state->problem))
        state->problem->space->drain();
    query(data);
}

static uint64_t *word(const void *data) {
    return ((const struct redist__signalled *)data)->signals.broken;
}

static void join(void *data, uint64_t *other) {
    struct redist__signalled *state = data;
    state->signals.broken = other;
}

/* ---------------------------------------------------------------- whole arrays */

/* Copies the boxes for a peer. */
static int copy_list(const struct redist__signalled *state, int direction, int peer,
                     const char *source, enum redist__copier copier, void *stream) {
    const struct redist__signal_path *path = &state->paths[direction];
    int boxes = redist__box_count(state->problem), size = state->signals.size, code = REDIST_OK;
    for (int box = peer; box < boxes && code == REDIST_OK; box += size)
        if (path->copies[box].run != 0)
            code = state->problem->space->copy(&path->copies[box], source + path->offsets[box],
                                               path->far[box], copier, stream);
    return code;
}

/* Copies the own part concurrently, ordered after the stream's work before the first gate; no peer waits for it. */
static int copy_own(const struct redist__signalled *state, int direction, const char *source) {
    const struct redist__space *space = state->problem->space;
    int code = space->stream_follow(state->own_stream, state->forked);
    if (code == REDIST_OK)
        code = copy_list(state, direction, state->signals.rank, source, REDIST__KERNEL,
                         state->own_stream);
    int ended = space->event_record(state->owned, state->own_stream);
    return code == REDIST_OK ? ended : code;
}

static int copy_in_steps(struct redist__signalled *state, int direction, const char *source,
                         void *stream) {
    state->steps = 0;
    state->most_steps = REDIST__MOST_COUNT;
    for (int distance = 1; distance < state->signals.size; distance++) {
        int peer = redist__rank_at(state->problem->transfer, distance);
        REDIST_TRY(copy_list(state, direction, peer, source, REDIST__ENGINES, stream));
        if (distance < state->signals.size - 1)
            REDIST_TRY(redist__signals_step(state, stream, direction, distance));
    }
    return REDIST_OK;
}

/* Enqueue the first gate of a whole execution, and the last one. */
static int pass_first_gate(const struct redist__signalled *state, int direction) {
    const struct redist__gate first = {.actions = REDIST__TELL_READY | REDIST__AWAIT_READY,
                                       .direction = direction};
    return redist__signals_gate(state, state->problem->stream, &first);
}

static int pass_last_gate(const struct redist__signalled *state, int direction) {
    const struct redist__gate last = {.actions = REDIST__TELL_ARRIVED | REDIST__AWAIT_ARRIVED |
                                                 REDIST__END,
                                      .direction = direction,
                                      .partitions = 1};
    return redist__signals_gate(state, state->problem->stream, &last);
}

/* Enqueues the first gate before the own part, for whose blocks it would wait otherwise. */
static int open_engines(struct redist__signalled *state, int direction, const char *source) {
    REDIST_TRY(state->problem->space->event_record(state->forked, state->problem->stream));
    REDIST_TRY(pass_first_gate(state, direction));
    state->has_own = state->paths[direction].copies[state->signals.rank].run != 0;
    return state->has_own ? copy_own(state, direction, source) : REDIST_OK;
}

/* Executes in the user's stream, which waits for the own part also after a failure. */
static int run_engines(struct redist__signalled *state, int direction, const char *source) {
    const struct redist__space *space = state->problem->space;
    void *stream = state->problem->stream;
    int code = open_engines(state, direction, source);
    if (code == REDIST_OK)
        code = copy_in_steps(state, direction, source, stream);
    int joined = state->has_own ? space->stream_follow(stream, state->owned) : REDIST_OK;
    code = code == REDIST_OK ? joined : code;
    return code == REDIST_OK ? pass_last_gate(state, direction) : code;
}

/* Begins an execution beside another method's. It is closed as one in tiles that has put the whole array. */
static int begin_half(struct redist__signalled *state, int direction, const char *source) {
    const struct redist__space *space = state->problem->space;
    REDIST_TRY(open_engines(state, direction, source));
    REDIST_TRY(space->event_record(state->copied, state->problem->stream));
    REDIST_TRY(space->stream_follow(state->copy_stream, state->copied));
    state->has_forked = state->tells_last = 1;
    state->elements = state->problem->transfer->side[direction].elements;
    return copy_in_steps(state, direction, source, state->copy_stream);
}

/* Enqueues the copies of what peers, or the buffer, have for this rank's array. */
static int read_boxes(const struct redist__signalled *state, struct redist__signal_path *path,
                      char *destination) {
    for (int i = 0; i < path->reads.count; i++)
        path->reads.destinations[i] = destination + path->offsets[i];
    return state->problem->space->batch_run(&path->reads, 0, path->reads.count,
                                            state->problem->stream);
}

/* Executes by reading the peers' boxes, and the own ones. Peers are signalled as if this rank copied to the boxes that
 * it reads. */
static int run_reads(struct redist__signalled *state, int direction, char *destination) {
    REDIST_TRY(pass_first_gate(state, !direction));
    REDIST_TRY(read_boxes(state, &state->paths[direction], destination));
    return pass_last_gate(state, !direction);
}

static int run_writes(struct redist__signalled *state, int direction, const void *source) {
    if (!state->by_kernel)
        return (state->problem->is_half ? begin_half : run_engines)(state, direction, source);
    return state->signalling->exchange(&state->signals, direction, state->paths[direction].boxes,
                                       source, state->problem->stream);
}

static int run(struct redist__signalled *state, int direction, const void *source,
               void *destination) {
    if (redist__signals_pulls(state->problem, direction))
        return run_reads(state, direction, destination);
    REDIST_TRY(run_writes(state, direction, source));
    return state->buffered != NULL ? read_boxes(state, &state->unpacks[direction], destination)
                                   : REDIST_OK;
}

/* Copies to the peers' arrays take the destination of the plan, those out of them the source. */
static void start(void *data, int direction, const void *source, void *destination) {
    struct redist__signalled *state = data;
    const struct redist__problem *problem = state->problem;
    state->direction = direction;
    state->has_forked = state->has_own = 0;
    redist__signals_read(state);
    redist__attempt(problem, run(state, direction, source, destination));
    if (redist__has_failed(problem))
        redist__signals_fail(state);
}

/* Waits for the user's stream on the host, unless a peer is gone. */
static void wait(void *data) {
    struct redist__signalled *state = data;
    const struct redist__problem *problem = state->problem;
    const struct redist__space *space = problem->space;
    int idle = 0, gave_up = 0, code = space->event_record(state->forked, problem->stream);
    redist__enter(problem->timer, REDIST__FIRST_MESSAGE);
    for (unsigned poll = 0; code == REDIST_OK && !idle; poll++) {
        int peers = gave_up ? REDIST_OK : redist__pause(problem->context, poll);
        redist__note(problem, peers);
        if (peers != REDIST_OK) {
            redist__signals_fail(state);
            gave_up = 1;
        }
        code = space->event_is_reached(state->forked, &idle);
    }
    if (code != REDIST_OK)
        space->drain();
    redist__note(problem, code);
    redist__signals_read(state);
}

/* ---------------------------------------------------------------- the method */

static const struct redist__told *told(const void *data) {
    return &((const struct redist__signalled *)data)->told;
}

static size_t workspace(const void *data) {
    return ((const struct redist__signalled *)data)->bytes;
}

static void free_path(const struct redist__signalled *state, struct redist__signal_path *path) {
    state->signalling->boxes_free(path->boxes);
    redist__batch_free(&path->reads);
    redist_release(path->copies);
    redist_release(path->offsets);
    redist_release(path->far);
}

/* Destroys the state, after the enqueued work. */
static void destroy(void *data) {
    struct redist__signalled *state = data;
    const struct redist__space *space = state->problem->space;
    space->drain();
    if (state->has_notice)
        redist__notice_give(state->problem->context);
    if (state->block != NULL)
        space->remove(state->block);
    for (int direction = 0; direction < 2; direction++) {
        free_path(state, &state->paths[direction]);
        free_path(state, &state->unpacks[direction]);
    }
    redist_release(state->buffered);
    space->stream_destroy(state->copy_stream);
    space->stream_destroy(state->own_stream);
    space->event_destroy(state->forked);
    space->event_destroy(state->copied);
    space->event_destroy(state->owned);
    for (int i = 0; state->told.events != NULL && i < state->problem->partitions; i++)
        space->event_destroy(state->told.events[i]);
    space->release_pinned((void *)(size_t)state->status);
    redist_release(state->remotes);
    redist_release(state->held);
    redist_release(state->targets);
    for (int i = 0; state->sent != NULL && i < 2 * state->problem->segments; i++)
        space->event_destroy(state->sent[i / 2].events[i % 2]);
    redist_release(state->sent);
    redist_release((void *)state->told.events);
    redist_release(state);
}

const struct redist__method redist__method_signals = {
    .name = "signals",
    .summary = "copies as method direct, ordered by the devices alone: only for "
               "options.asynchronous; within a node, one rank on each device",
    .variants = variants,
    .modes = REDIST__ENQUEUES,
    .needs_peers_arrays = 1,
    .check_ranks = check_ranks,
    .applies = applies,
    .preference = preference,
    .create = create,
    .connect = redist__signals_connect,
    .start = start,
    .wait = wait,
    .query = query,
    .leave = leave,
    .word = word,
    .join = join,
    .open = redist__signals_open,
    .put = redist__signals_put,
    .store = redist__signals_store,
    .own = redist__signals_own,
    .release = redist__signals_release,
    .await = redist__signals_await,
    .told = told,
    .close = redist__signals_close,
    .workspace = workspace,
    .destroy = destroy,
};
