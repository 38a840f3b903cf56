/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries of the public plan. */
#include "../methods/packing.h"
#include "api.h"

/* Checks that MPI allows calls of any one thread at a time, for methods that call MPI while tiles move. */
static int allows_threads(const redist_plan *plan) {
    int level;
    if (!plan->problem.concurrent || plan->transport.method->concurrent)
        return plan->problem.concurrent;
    MPI_Query_thread(&level);
    return level >= MPI_THREAD_SERIALIZED;
}

static void check_stream(redist_plan *plan) {
    const struct redist__space *space = plan->problem.space;
    if (space->stream_check != NULL && !redist__has_failed(&plan->problem))
        redist__failure_note(&plan->failure, space->stream_check(plan->problem.stream));
}

int redist_plan_query(redist_plan *plan) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    redist_visit visit;
    redist__enter_plan(plan, &visit);
    check_stream(plan);
    redist__transport_query(&plan->transport);
    redist_leave(&visit);
    return redist__failure_report(&plan->failure);
}

void redist__plan_leave(redist_plan *plan) {
    redist_visit visit;
    if (!plan->problem.asynchronous)
        return;
    redist__enter_plan(plan, &visit);
    check_stream(plan);
    redist__transport_leave(&plan->transport);
    redist_leave(&visit);
}

int redist_plan_leave(redist_plan *plan) {
    REDIST_TRY(redist__check_plan(__func__, plan));
    redist__plan_leave(plan);
    plan->has_left = 1;
    return REDIST_OK;
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
