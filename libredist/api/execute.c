/* SPDX-License-Identifier: BSD-3-Clause */
/* Executions of the public plan. */
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

int redist__check_start(const char *function, const redist_plan *plan, int direction,
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

int redist__check_mapped(const char *function, const redist_plan *plan, const char *name, int side,
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

int redist__take_plain(redist_plan *plan) {
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

int redist__check_peers_array(const char *function, const redist_plan *plan, int direction,
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
        code = redist__check_mapped(function, plan, request.names[side], side, arrays[side]);
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
    REDIST_TRY(redist__take_plain(plan));
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
    REDIST_TRY(redist__check_start(function, plan, direction, REDIST_WHOLE));
    REDIST_TRY(later != NULL ? REDIST_OK : check_bound(function, plan));
    void *const *arrays = later != NULL ? later : plan->request.arrays;
    REDIST_TRY(redist__check_peers_array(function, plan, direction, arrays));
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

int redist__end_execution(redist_plan *plan, void (*end)(void *state)) {
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
    return redist__end_execution(plan, plan->transport.method->wait);
}

/* ---------------------------------------------------------------- failures */

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
