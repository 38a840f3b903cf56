/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of the public plan in tiles. */
#include "api.h"

#include <pthread.h>

static int open_inside(const char *function, redist_plan *plan, enum redist_tiles tiles,
                       void *array) {
    int side = tiles == REDIST_PUT, code = REDIST_OK;
    const char *name = side ? "destination" : "source";
    if (plan->transfer.side[side].bytes != 0)
        REDIST_TRY(redist__check_pointer(function, name, array));
    void *const arrays[2] = {NULL, array};
    if (side == 1)
        REDIST_TRY(redist__check_peers_array(function, plan, REDIST_FORWARD, arrays));
    REDIST_TRY(redist_check_capture(function, &plan->problem.place, plan->problem.asynchronous));
    if (!redist_place_is_gone())
        code = redist__check_mapped(function, plan, name, side, array);
    if (code == REDIST_TAKES_PLAIN)
        code = redist__take_plain(plan);
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
    REDIST_TRY(redist__check_start(function, plan, REDIST_FORWARD, tiles));
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
    return redist__end_execution(plan, plan->transport.method->close);
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

int redist_plan_put_end(redist_plan *plan) {
    return redist__close_tiles(__func__, plan, REDIST_PUT);
}

int redist_plan_get_end(redist_plan *plan) {
    return redist__close_tiles(__func__, plan, REDIST_GET);
}
