/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of the public plan, whole and in tiles, and queries. */
#include "../methods/packing.h"
#include "api.h"

#include <pthread.h>
#include <string.h>

/* ---------------------------------------------------------------- executing */

int redist__check_plan(const char *function, const redist_plan *plan) {
    REDIST_TRY(redist__check_handle(function, "plan", plan, REDIST_HANDLE_PLAN));
    if (!redist__mpi_is_running())
        return redist_fail_in(function, REDIST_ERR_STATE, "MPI is not running");
    return REDIST_OK;
}

void redist__enter_plan(redist_plan *plan, redist_visit *visit) {
    redist__failure_note(&plan->failure, redist_enter(&plan->problem.place, visit));
}

static int check_direction(const char *function, const redist_plan *plan, int direction) {
    redist_name_of *name_of =
        plan->request.halo != NULL ? redist__halo_direction_name : redist_direction_name;
    REDIST_TRY(redist_check_enum_in(function, "direction", name_of, direction));
    if (direction == REDIST_FORWARD || !plan->transfer.one_way)
        return REDIST_OK;
    return redist_fail_in(
        function, REDIST_ERR_ARGUMENT,
        "direction = %s, but the plan has %s only: several ranks may receive the same elements, "
        "and it adds none (%s)",
        name_of(direction), name_of(REDIST_FORWARD),
        plan->request.options.overlap == REDIST_OVERLAP_READ
            ? "options->overlap = REDIST_OVERLAP_READ"
            : "datatype has no numbers that are added here");
}

static int check_start(const char *function, const redist_plan *plan, int direction,
                       enum redist_tiles tiles) {
    REDIST_TRY(redist__check_plan(function, plan));
    REDIST_TRY(check_direction(function, plan, direction));
    if (plan->started || plan->opened)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "an execution of the plan is under way: complete it first");
    if (plan->problem.tiles != tiles)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan was made with options->tiles = %s, but this call is for %s",
                              redist__tiles_name((int)plan->problem.tiles),
                              redist__tiles_name((int)tiles));
    return REDIST_OK;
}

static int check_bound(const char *function, const redist_plan *plan) {
    const redist_options *options = &plan->request.options;
    if (!options->bind_a && !options->bind_b)
        return REDIST_OK;
    return redist_fail_in(
        function, REDIST_ERR_STATE, "%s%s is bound at execution: call redist_plan_%s_arrays",
        plan->request.halo != NULL ? "" : "array ", plan->request.names[!options->bind_a],
        strcmp(function, "redist_plan_start") == 0 ? "start" : "execute");
}

/* Refuses an array that peers have to map but cannot. */
static int check_mapped(const char *function, const redist_plan *plan, const char *name, int side,
                        const void *array) {
    size_t bytes = plan->transfer.side[side].bytes;
    const struct redist__space *space = plan->problem.space;
    if (bytes == 0)
        return REDIST_OK;
    int skips = space->asynchronous && plan->request.options.skip_agreement;
    int code = space->check_array(function, name, array);
    if (skips && code != REDIST_ERR_ARGUMENT)
        return REDIST_OK; /* queries of the driver may fail on this rank alone */
    if (skips || code != REDIST_OK)
        return code;
    const struct redist__memory_handle handle = space->export_memory(array, bytes);
    int is_local = !space->asynchronous && handle.owner.number != 0;
    if (!plan->problem.mapped[side] ||
        (handle.key != 0 && (!is_local || plan->problem.reaches_local)))
        return REDIST_OK;
    int agrees = plan->problem.tiles == REDIST_WHOLE && !plan->request.options.skip_agreement;
    code =
        redist_check_mapped(function, name, "the plan expects it", space->id, array, bytes, agrees);
    return code == REDIST_OK && agrees ? REDIST_TAKES_PLAIN : code;
}

/* Changes the plan to one without mapped arrays. Collective; a failure leaves it unchanged. */
static int take_plain(redist_plan *plan) {
    struct redist__problem *problem = &plan->problem;
    struct redist__transport plain = {0};
    redist_options options = plan->request.options;
    const int mapped[2] = {problem->mapped[0], problem->mapped[1]};
    options.effort = REDIST_ESTIMATE;
    problem->mapped[0] = problem->mapped[1] = 0;
    int code = redist__tune(problem, &options, &plain);
    if (code != REDIST_OK) {
        memcpy(problem->mapped, mapped, sizeof mapped);
        return code;
    }
    redist__transport_destroy(&plan->transport);
    plan->transport = plain;
    redist__candidate_name(&plain.candidate, sizeof plan->method_name, plan->method_name);
    redist_warn_plain(plan->context->comm);
    return REDIST_OK;
}

/* Checks that peers know the array that they use, bound when the plan was made; else no rank has this direction. */
static int check_peers_array(const char *function, const redist_plan *plan, int direction,
                             void *const arrays[2]) {
    const struct redist__problem *problem = &plan->problem;
    int side = redist__peers_side(problem, direction);
    int known = redist__peers_know(problem, direction);
    if (!problem->asynchronous || !plan->transport.method->needs_peers_arrays ||
        redist__buffers_ghosts(problem) ||
        (known && (plan->transfer.side[side].bytes == 0 || problem->arrays[side] == arrays[side])))
        return REDIST_OK;
    return redist_fail_in(function, known ? REDIST_ERR_ARGUMENT : REDIST_ERR_STATE,
                          "array %s = %p is %s in this direction: with options.asynchronous "
                          "it has to be the one that the plan was made with, which peers can map",
                          plan->request.names[side], arrays[side],
                          side == direction ? "read by other ranks" : "written");
}

static int agree_on_arrays(const char *function, redist_plan *plan, void *const arrays[2]) {
    struct redist__request request = plan->request;
    request.function = function;
    request.options.bind_a = request.options.bind_b = REDIST_BIND_AT_PLAN;
    const size_t bytes[2] = {plan->transfer.side[0].bytes, plan->transfer.side[1].bytes};
    int code = redist__check_arrays(&request, arrays, bytes);
    if (code == REDIST_OK)
        code = redist_check_capture(function, &plan->problem.place, plan->problem.asynchronous);
    for (int side = 0; side < 2 && code == REDIST_OK && !redist_place_is_gone(); side++)
        code = check_mapped(function, plan, request.names[side], side, arrays[side]);
    if (code == REDIST_OK && !plan->request.options.skip_agreement)
        code = redist__failure_report(&plan->failure);
    return plan->request.options.skip_agreement
               ? code
               : redist__life_agree(&plan->life, function, code, 0, NULL);
}

static int check_later_arrays(const char *function, redist_plan *plan, void *const arrays[2]) {
    int code = agree_on_arrays(function, plan, arrays);
    if (code != REDIST_TAKES_PLAIN)
        return code;
    REDIST_TRY(take_plain(plan));
    return agree_on_arrays(function, plan, arrays);
}

static int execute(redist_plan *plan, int direction, void *const arrays[2]) {
    redist_range_begin(plan->method_name);
    redist__timer_begin(plan->problem.timer, 1);
    if (plan->problem.asynchronous)
        redist__transport_start(&plan->transport, direction, arrays[direction], arrays[!direction]);
    else
        redist__transport_execute(&plan->transport, direction, arrays[direction],
                                  arrays[!direction]);
    redist__timer_end(plan->problem.timer);
    redist_range_end();
    return redist__failure_report(&plan->failure);
}

/* Starts an execution. redist_plan_wait reports failures, when the peers no longer wait. */
static int start(redist_plan *plan, int direction, void *const arrays[2]) {
    redist__timer_begin(plan->problem.timer, 1);
    redist__transport_start(&plan->transport, direction, arrays[direction], arrays[!direction]);
    redist__timer_end(plan->problem.timer);
    plan->started = 1;
    return REDIST_OK;
}

typedef int run_plan(redist_plan *plan, int direction, void *const arrays[2]);

/* Runs a plan on later arrays; NULL = its own. */
static int run_on(const char *function, redist_plan *plan, int direction, void *const later[2],
                  run_plan *run) {
    redist_visit visit;
    REDIST_TRY(check_start(function, plan, direction, REDIST_WHOLE));
    REDIST_TRY(later != NULL ? REDIST_OK : check_bound(function, plan));
    void *const *arrays = later != NULL ? later : plan->request.arrays;
    REDIST_TRY(check_peers_array(function, plan, direction, arrays));
    redist__enter_plan(plan, &visit);
    int code = later != NULL ? check_later_arrays(function, plan, arrays)
                             : redist_check_capture(function, &plan->problem.place,
                                                    plan->problem.asynchronous);
    if (code == REDIST_OK)
        code = run(plan, direction, arrays);
    redist_leave(&visit);
    return code;
}

int redist_plan_execute(redist_plan *plan, int direction) {
    return run_on(__func__, plan, direction, NULL, execute);
}

int redist_plan_execute_arrays(redist_plan *plan, int direction, void *a, void *b) {
    return run_on(__func__, plan, direction, (void *const[2]){a, b}, execute);
}

int redist_plan_start(redist_plan *plan, int direction) {
    return run_on(__func__, plan, direction, NULL, start);
}

int redist_plan_start_arrays(redist_plan *plan, int direction, void *a, void *b) {
    return run_on(__func__, plan, direction, (void *const[2]){a, b}, start);
}

/* Ends the pending execution. */
static int end_execution(redist_plan *plan, void (*end)(void *state)) {
    redist_visit visit;
    redist__enter_plan(plan, &visit);
    redist__timer_begin(plan->problem.timer, 0);
    end(plan->transport.state);
    redist__timer_end(plan->problem.timer);
    redist_leave(&visit);
    return redist__failure_report(&plan->failure);
}

int redist_plan_wait(redist_plan *plan) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    if (!plan->started)
        return redist_fail(REDIST_ERR_STATE, "the plan is not started");
    plan->started = 0;
    return end_execution(plan, plan->transport.method->wait);
}

/* ---------------------------------------------------------------- tiles */

static int open_inside(const char *function, redist_plan *plan, enum redist_tiles tiles,
                       void *array) {
    int side = tiles == REDIST_PUT, code = REDIST_OK;
    const char *name = side ? "destination" : "source";
    if (plan->transfer.side[side].bytes != 0)
        REDIST_TRY(redist__check_pointer(function, name, array));
    void *const arrays[2] = {NULL, array};
    if (side == 1)
        REDIST_TRY(check_peers_array(function, plan, REDIST_FORWARD, arrays));
    REDIST_TRY(redist_check_capture(function, &plan->problem.place, plan->problem.asynchronous));
    if (!redist_place_is_gone())
        code = check_mapped(function, plan, name, side, array);
    if (code == REDIST_TAKES_PLAIN)
        code = take_plain(plan);
    REDIST_TRY(code);
    redist__timer_begin(plan->problem.timer, 1);
    plan->transport.method->open(plan->transport.state, array);
    redist__timer_end(plan->problem.timer);
    plan->opened = 1;
    plan->polls = 0;
    return REDIST_OK;
}

static int open_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles,
                      void *array) {
    redist_visit visit;
    REDIST_TRY(check_start(function, plan, REDIST_FORWARD, tiles));
    redist__enter_plan(plan, &visit);
    int code = open_inside(function, plan, tiles, array);
    redist_leave(&visit);
    return code;
}

static int check_open(const char *function, const redist_plan *plan, enum redist_tiles tiles) {
    REDIST_TRY(redist__check_plan(function, plan));
    if (!plan->opened || plan->problem.tiles != tiles)
        return redist_fail_in(function, REDIST_ERR_STATE, "no execution in tiles is open");
    return REDIST_OK;
}

/* Converts a call's arguments to a tile. */
static int read_tile(const char *function, const redist_plan *plan, enum redist_tiles tiles,
                     const redist_index start[], const redist_index count[],
                     const ptrdiff_t stride[], const void *data, struct redist__tile *tile) {
    REDIST_TRY(check_open(function, plan, tiles));
    REDIST_TRY(redist__check_pointer(function, "start", start));
    REDIST_TRY(redist__check_pointer(function, "count", count));
    REDIST_TRY(redist__check_pointer(function, "stride", stride));
    const struct redist__side *side = &plan->transfer.side[tiles == REDIST_GET];
    *tile = redist__tile_of_elements(&plan->transfer, data);
    for (int i = 0; i < plan->transfer.array_ndims; i++) {
        redist_index extent = side->extent[i];
        if (start[i] < 0 || count[i] < 0 || start[i] > extent - count[i])
            return redist_fail_in(
                function, REDIST_ERR_SIZE,
                "start[%d] = %lld and count[%d] = %lld are not within the extent %lld", i,
                (long long)start[i], i, (long long)count[i], (long long)extent);
        tile->start[i] = start[i];
        tile->count[i] = count[i];
        tile->stride[i] = stride[i];
    }
    return REDIST_OK;
}

int redist__close_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles) {
    REDIST_TRY(check_open(function, plan, tiles));
    plan->opened = 0;
    return end_execution(plan, plan->transport.method->close);
}

int redist_plan_put_begin(redist_plan *plan, void *destination) {
    return open_tiles(__func__, plan, REDIST_PUT, destination);
}

int redist_plan_put_begin_behind(redist_plan *plan, void *destination, void *event) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    plan->problem.freed = event;
    int code = open_tiles("redist_plan_put_begin", plan, REDIST_PUT, destination);
    plan->problem.freed = NULL;
    return code;
}

int redist_plan_get_begin(redist_plan *plan, const void *source) {
    return open_tiles(__func__, plan, REDIST_GET, (void *)(size_t)source);
}

/* Checks that MPI allows calls of any one thread at a time, for methods that call MPI while tiles move. */
static int allows_threads(const redist_plan *plan) {
    int level;
    if (!plan->problem.concurrent || plan->transport.method->concurrent)
        return plan->problem.concurrent;
    MPI_Query_thread(&level);
    return level >= MPI_THREAD_SERIALIZED;
}

typedef void move_tile(void *state, const struct redist__tile *tile);

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static int goes_alone(const redist_plan *plan) {
    return plan->problem.concurrent && !plan->transport.method->concurrent;
}

/* Begins the move of a tile by the method. */
static struct redist__phase_timer *begin_move(redist_plan *plan, redist_visit *visit) {
    struct redist__phase_timer *timer = plan->problem.concurrent ? NULL : plan->problem.timer;
    if (plan->polls != 0) /* shared with other threads */
        plan->polls = 0;
    if (goes_alone(plan))
        pthread_mutex_lock(&one_at_a_time);
    redist__enter_plan(plan, visit);
    redist__timer_begin(timer, 0);
    return timer;
}

static int end_move(redist_plan *plan, struct redist__phase_timer *timer,
                    const redist_visit *visit) {
    redist__timer_end(timer);
    redist_leave(visit);
    if (goes_alone(plan))
        pthread_mutex_unlock(&one_at_a_time);
    return redist__failure_report(&plan->failure);
}

static int move(redist_plan *plan, move_tile *move_one, const struct redist__tile *tile) {
    redist_visit visit;
    struct redist__phase_timer *timer = begin_move(plan, &visit);
    move_one(plan->transport.state, tile);
    return end_move(plan, timer, &visit);
}

int redist_plan_put(redist_plan *plan, const redist_index start[], const redist_index count[],
                    const void *tile, const ptrdiff_t stride[]) {
    struct redist__tile put;
    REDIST_TRY(read_tile(__func__, plan, REDIST_PUT, start, count, stride, tile, &put));
    return move(plan, plan->transport.method->put, &put);
}

int redist_plan_get(redist_plan *plan, const redist_index start[], const redist_index count[],
                    void *tile, const ptrdiff_t stride[]) {
    struct redist__tile get;
    REDIST_TRY(read_tile(__func__, plan, REDIST_GET, start, count, stride, tile, &get));
    return move(plan, plan->transport.method->get, &get);
}

/* Checks for whole elements, the only ones that direct stores write. */
static int are_whole(const redist_plan *plan) {
    return plan->transfer.element.run == plan->transfer.element.extent;
}

int redist_plan_has_direct_stores(const redist_plan *plan) {
    const struct redist__method *method = plan->transport.method;
    return plan->problem.tiles == REDIST_PUT && are_whole(plan) && method->store != NULL &&
           (plan->problem.partitions <= 1 || method->stores_partitions);
}

int redist_plan_store_directly(redist_plan *plan, const redist_index start[],
                               const redist_index count[], redist_store *store, void *data) {
    static const ptrdiff_t nowhere[REDIST_MAX_NDIMS];
    struct redist__tile put;
    REDIST_TRY(read_tile(__func__, plan, REDIST_PUT, start, count, nowhere, NULL, &put));
    if (!redist_plan_has_direct_stores(plan))
        return redist_fail(REDIST_ERR_STATE, "method %s has no direct stores", plan->method_name);
    redist_visit visit;
    struct redist__phase_timer *timer = begin_move(plan, &visit);
    plan->transport.method->store(plan->transport.state, &put, store, data);
    return end_move(plan, timer, &visit);
}

int redist_plan_has_local_stores(const redist_plan *plan) {
    return plan->problem.tiles == REDIST_PUT && plan->problem.space->asynchronous &&
           are_whole(plan) && plan->transport.method->own != NULL;
}

/* Converts a call's arguments to a tile, for plans whose own part stays with the caller. */
static int read_kept(const char *function, const redist_plan *plan, const redist_index start[],
                     const redist_index count[], const ptrdiff_t stride[], const void *data,
                     struct redist__tile *tile) {
    REDIST_TRY(read_tile(function, plan, REDIST_PUT, start, count, stride, data, tile));
    tile->kept = 1;
    return redist_plan_has_local_stores(plan)
               ? REDIST_OK
               : redist_fail_in(function, REDIST_ERR_STATE,
                                "method %s copies this rank's part of all tiles itself",
                                plan->method_name);
}

int redist_plan_local_target(const redist_plan *plan, const redist_index start[],
                             const redist_index count[], redist_target *target, int *found) {
    static const ptrdiff_t nowhere[REDIST_MAX_NDIMS];
    struct redist__tile tile;
    REDIST_TRY(read_kept(__func__, plan, start, count, nowhere, NULL, &tile));
    *found = plan->transport.method->own(plan->transport.state, &tile, target);
    return REDIST_OK;
}

int redist_plan_put_rest(redist_plan *plan, const redist_index start[], const redist_index count[],
                         const void *tile, const ptrdiff_t stride[]) {
    struct redist__tile put;
    REDIST_TRY(read_kept(__func__, plan, start, count, stride, tile, &put));
    return move(plan, plan->transport.method->put, &put);
}

int redist_plan_reuse_tiles(redist_plan *plan) {
    if (plan->problem.tiles != REDIST_PUT || plan->problem.segments < 2 ||
        !plan->problem.space->asynchronous || plan->transport.method->release == NULL)
        return redist_fail(REDIST_ERR_METHOD, "method %s needs the memory of all tiles to the end",
                           plan->method_name);
    plan->problem.reuses = 1;
    return REDIST_OK;
}

int redist_plan_put_release(redist_plan *plan, const void *tile) {
    REDIST_TRY(check_open(__func__, plan, REDIST_PUT));
    if (!plan->problem.reuses)
        return redist_fail(REDIST_ERR_STATE, "redist_plan_reuse_tiles was not called");
    redist_visit visit;
    struct redist__phase_timer *timer = begin_move(plan, &visit);
    redist__failure_note(&plan->failure,
                         plan->transport.method->release(plan->transport.state, tile));
    return end_move(plan, timer, &visit);
}

/* Polls. Yields the core now and then, since a caller that polls is waiting. */
static int poll_tiles(redist_plan *plan, int *partitions) {
    struct redist__phase_timer *timer = plan->problem.concurrent ? NULL : plan->problem.timer;
    int alone = goes_alone(plan); /* others may put meanwhile */
    redist_visit visit;
    redist__enter_plan(plan, &visit);
    if (alone)
        pthread_mutex_lock(&one_at_a_time);
    redist__timer_begin(timer, 0);
    if (partitions != NULL)
        plan->transport.method->arrived(plan->transport.state, partitions);
    else
        redist__transport_progress(&plan->transport);
    if (alone)
        pthread_mutex_unlock(&one_at_a_time);
    unsigned poll = plan->polls++;
    redist__failure_note(&plan->failure, plan->problem.concurrent
                                             ? redist__pause_beside(plan->context, poll)
                                             : redist__pause(plan->context, poll));
    redist__timer_end(timer);
    redist_leave(&visit);
    return redist__failure_report(&plan->failure);
}

int redist_plan_put_progress(redist_plan *plan) {
    REDIST_TRY(check_open(__func__, plan, REDIST_PUT));
    return poll_tiles(plan, NULL);
}

static int check_partitions(const char *function, const redist_plan *plan) {
    REDIST_TRY(check_open(function, plan, REDIST_PUT));
    if (plan->problem.partitions > 1)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_STATE,
                          "the plan was made without options.partitions");
}

int redist_plan_put_arrived(redist_plan *plan, int *partitions) {
    REDIST_TRY(check_partitions(__func__, plan));
    if (plan->problem.asynchronous)
        return redist_fail(REDIST_ERR_STATE, "the plan was made with options.asynchronous: call "
                                             "redist_plan_put_wait");
    REDIST_TRY(redist__check_pointer(__func__, "partitions", partitions));
    return poll_tiles(plan, partitions);
}

/* Waits on the host, where no stream does. */
static int wait_for_partitions(redist_plan *plan, int partitions) {
    int arrived = 0, code = REDIST_OK;
    redist_visit visit;
    redist__enter_plan(plan, &visit);
    if (plan->problem.asynchronous && partitions > 0)
        code = plan->transport.method->await(plan->transport.state, partitions);
    redist_leave(&visit);
    REDIST_TRY(code);
    while (!plan->problem.asynchronous && arrived < partitions && code == REDIST_OK)
        code = poll_tiles(plan, &arrived);
    return redist__failure_report(&plan->failure);
}

int redist_plan_put_wait(redist_plan *plan, int partitions) {
    REDIST_TRY(check_partitions(__func__, plan));
    REDIST_TRY(redist__check_range(__func__, REDIST_ERR_ARGUMENT, "partitions", partitions, 0,
                                   plan->problem.partitions));
    return wait_for_partitions(plan, partitions);
}

int redist_plan_break(redist_plan *plan, int code) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    redist__failure_note(&plan->failure, code);
    return REDIST_OK;
}

int redist_plan_rehearse(redist_plan *plan, int begins) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    if (plan->problem.rehearses)
        redist__failure_forget(&plan->failure);
    plan->problem.rehearses = begins && !redist__has_failed(&plan->problem);
    return REDIST_OK;
}

int redist_plan_join(redist_plan *plan, const redist_plan *other) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    REDIST_TRY(redist__check_plan(__func__, other));
    const struct redist__method *method = plan->transport.method, *others = other->transport.method;
    if (method->join == NULL || others->word == NULL || !plan->problem.asynchronous ||
        !other->problem.asynchronous)
        return REDIST_OK;
    if (method->has_word_in_host && !others->has_word_in_host)
        return redist_fail(REDIST_ERR_METHOD,
                           "method %s cannot fail with method %s, only the other way round",
                           plan->method_name, other->method_name);
    method->join(plan->transport.state, others->word(other->transport.state));
    return REDIST_OK;
}

int redist_plan_put_end(redist_plan *plan) {
    return redist__close_tiles(__func__, plan, REDIST_PUT);
}

int redist_plan_get_end(redist_plan *plan) {
    return redist__close_tiles(__func__, plan, REDIST_GET);
}

/* ---------------------------------------------------------------- queries */

int redist_plan_query(redist_plan *plan) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    const struct redist__space *space = plan->problem.space;
    redist_visit visit;
    redist__enter_plan(plan, &visit);
    if (space->stream_check != NULL && !redist__has_failed(&plan->problem))
        redist__failure_note(&plan->failure, space->stream_check(plan->problem.stream));
    redist__transport_query(&plan->transport);
    redist_leave(&visit);
    return redist__failure_report(&plan->failure);
}

/* Bytes of the messages to other ranks in a forward execution. */
static size_t sent_bytes(const redist_plan *plan) {
    size_t bytes = 0;
    for (int peer = 0; peer < plan->transfer.nranks; peer++)
        bytes += peer != plan->transfer.rank ? redist__message_bytes(&plan->problem, 0, peer) : 0;
    return bytes;
}

int redist_plan_get_info(const redist_plan *plan, redist_plan_info *info) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    const redist_plan_info own = {
        .method = plan->method_name,
        .workspace_bytes = redist__transport_workspace(&plan->transport),
        .moved_bytes = plan->transfer.side[0].elements * plan->transfer.item,
        .space = plan->problem.space->id,
        .concurrent = allows_threads(plan),
        .wire = plan->problem.format != NULL ? plan->request.options.wire : REDIST_WIRE_SAME,
        .sent_bytes = sent_bytes(plan)};
    return redist_struct_write(__func__, "info", &own, sizeof own, info);
}

int redist_plan_get_comm(const redist_plan *plan, MPI_Comm *comm) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    REDIST_TRY(redist__check_pointer(__func__, "comm", comm));
    *comm = plan->context->comm;
    return REDIST_OK;
}

int redist_plan_get_method(const redist_plan *plan, const char **method) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    REDIST_TRY(redist__check_pointer(__func__, "method", method));
    *method = plan->method_name;
    return REDIST_OK;
}

int redist_plan_get_phases(const redist_plan *plan, redist_phases *phases) {
    redist_phases own;
    REDIST_TRY(redist__check_plan(__func__, plan));
    redist__timer_read(&plan->timer, &own);
    return redist_struct_write(__func__, "phases", &own, sizeof own, phases);
}
