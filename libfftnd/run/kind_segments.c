/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Segments: boxes of an array, transformed where they are, that are sent as they are done, begin as they arrive, or
 * share scratch memory. The last transform may have direct stores.
 */
#include "pieces.h"

/* Bytes of a segment that shares scratch memory, at most, where the axes allow. */
enum { SEGMENT_BYTES = 64 << 20 };

static int is_sent_or_arrives(const struct fftnd__step *step) {
    return fftnd__next(step)->fused_with == FFTND__PUSHED || fftnd__previous(step)->by_partitions;
}

static int is_suited(const struct fftnd__stage_problem *problem) {
    const struct fftnd__step *step = problem->step;
    return !problem->program->fused &&
           (is_sent_or_arrives(step) || (step->truncates_inside && step->naxes > 1));
}

/* Several axes of which some are truncated need scratch memory, for all elements of a segment. */
static int cut(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    const struct fftnd__step *step = problem->step;
    size_t before = fftnd__step_bytes(transform, fftnd__previous(step)),
           after = fftnd__step_bytes(transform, step);
    if (!is_sent_or_arrives(step)) {
        fftnd__cut_chunks(&stage->cut, transform, step, before > after ? before : after,
                          SEGMENT_BYTES);
        return REDIST_OK;
    }
    fftnd__cut_segments(&stage->cut, transform, step);
    return fftnd__plan_sending(stage, problem);
}

/* Lays out half of the segments, which take turns, one behind the other. With fewer than two the device or the link
 * would be idle. */
static void take_turns(struct fftnd__stage *stage) {
    int half = (int)(stage->cut.n + 1) / 2;
    struct fftnd__piece first;
    fftnd__find_piece(&stage->cut, 0, &first);
    stage->out.turns = stage->cut.n > 1 && half < 2 ? 2 : half;
    stage->piece_bytes = fftnd__lay_out(stage->cut.ndims, first.after, stage->out.item, 0,
                                        FFTND__DEVICE_ALIGNMENT, stage->out.stride);
}

/* Uses one stream where the link waits for the first segment: in two, the first axis of the second segment would delay
 * its second axis. */
static int has_two_streams(const struct fftnd__stage *stage,
                           const struct fftnd__stage_problem *problem) {
    const struct fftnd__step *step = problem->step;
    return problem->transform->second != NULL && stage->window > 1 && stage->cut.n > 1 &&
           (fftnd__next(step)->fused_with != FFTND__PUSHED ||
            (step->naxes == 1 && fftnd__next(step)->direct_stores != FFTND__DIRECT_ALL));
}

/* Plans a second kernel if there are two streams, except with direct stores: those run in any stream, without a kernel
 * before them. */
static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__step *exchange = fftnd__next(problem->step);
    struct fftnd__kernel_problem kernel = fftnd__stage_in_arrays(stage, problem);
    REDIST_TRY(cut(stage, problem));
    if (problem->step->takes_turns)
        take_turns(stage);
    if (exchange->direct_stores)
        REDIST_TRY(fftnd__direct_stores_create(&stage->direct_stores, &stage->kernels[0], &kernel,
                                               exchange->axis_source, exchange->direct_stores));
    else
        REDIST_TRY(fftnd__kernel_create(&stage->kernels[0], &kernel));
    if (!has_two_streams(stage, problem))
        return REDIST_OK;
    stage->nstreams = 2;
    stage->streams[1] = kernel.stream = problem->transform->second;
    return stage->direct_stores.library != NULL ? REDIST_OK
                                                : fftnd__kernel_create(&stage->kernels[1], &kernel);
}

/* ---------------------------------------------------------------- a run */

/* One stream goes on when the other has come so far. */
static int follow(const struct fftnd__transform *transform, void *stream, void *other) {
    REDIST_TRY(transform->space->event_record(transform->forked, other));
    return transform->space->stream_follow(stream, transform->forked);
}

static int stores_all(const struct fftnd__execution *execution) {
    return execution->sink.direct_stores == FFTND__DIRECT_ALL;
}

static int forks(const struct fftnd__execution *execution) {
    return execution->step->stage->nstreams > 1 && execution->begins;
}

/* Finds the results with direct stores: none that stay on this rank where pieces begin as they arrive, since the
 * exchange is not open yet. The second stream waits for the user's. */
static int open_run(struct fftnd__execution *execution) {
    const struct fftnd__transform *transform = execution->transform;
    const struct fftnd__step *step = execution->step;
    const redist_plan *exchange = execution->sink.exchange;
    int wanted = step->stage->direct_stores.library != NULL && exchange != NULL
                     ? fftnd__next(step)->direct_stores
                     : FFTND__DIRECT_NONE;
    if ((wanted == FFTND__DIRECT_ALL && redist_plan_has_direct_stores(exchange)) ||
        (wanted == FFTND__DIRECT_LOCAL && !fftnd__previous(step)->by_partitions &&
         redist_plan_has_local_stores(exchange)))
        execution->sink.direct_stores = wanted;
    if (stores_all(execution))
        execution->behind = 0;
    return forks(execution) ? follow(transform, transform->second, transform->settings.stream)
                            : REDIST_OK;
}

/* The user's stream waits for the second one, after a failure too. */
static int close_run(struct fftnd__execution *execution, int code) {
    const struct fftnd__transform *transform = execution->transform;
    if (!forks(execution))
        return code;
    int joined = follow(transform, transform->settings.stream, transform->second);
    return code == REDIST_OK ? joined : code;
}

/* The piece that direct stores take: the one before the kernel if they transform all axes. */
static struct fftnd__stored_piece stored_piece(const struct fftnd__execution *execution,
                                               const struct fftnd__flight *flight) {
    const struct fftnd__stage *stage = execution->step->stage;
    const struct fftnd__block *ready = stage->kernels[0].nplans > 0 ? &flight->out : &flight->in;
    return (struct fftnd__stored_piece){&stage->direct_stores, flight->piece.shorter, ready->memory,
                                        execution->sink.order};
}

/* A piece of an array, its axes as an exchange takes them. */
static redist_target place_of(const struct fftnd__execution *execution,
                              const struct fftnd__flight *flight) {
    const int *order = execution->sink.order;
    redist_target place = {.memory = flight->out.memory};
    for (int i = 0; i < flight->out.ndims; i++) {
        place.start[i] = flight->piece.start[order[i]];
        place.count[i] = flight->piece.after[order[i]];
        place.stride[i] = flight->out.stride[order[i]];
    }
    return place;
}

/* Stores results in the array before the exchange, except those of direct stores, which stay on this rank. */
static int store_here(const struct fftnd__execution *execution,
                      const struct fftnd__flight *flight) {
    const redist_target here = place_of(execution, flight);
    struct fftnd__stored_piece piece = stored_piece(execution, flight);
    redist_target local;
    int stays = 0;
    if (execution->sink.direct_stores == FFTND__DIRECT_LOCAL)
        REDIST_TRY(redist_plan_local_target(execution->sink.exchange, here.start, here.count,
                                            &local, &stays));
    return fftnd__store_around(&piece, &here, stays ? &local : NULL, flight->out.stream);
}

static int pass_on(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    if (stores_all(execution))
        return REDIST_OK;
    if (execution->step->stage->direct_stores.library != NULL)
        REDIST_TRY(store_here(execution, flight));
    return fftnd__note_piece(execution, flight);
}

/* Hands a piece to the exchange. With direct stores it is whole along the axis that the exchange splits. */
static int end(struct fftnd__execution *execution, const struct fftnd__flight *flight) {
    redist_plan *exchange = execution->sink.exchange;
    if (exchange == NULL)
        return REDIST_OK;
    if (!stores_all(execution))
        return fftnd__send_piece(execution, flight);
    const redist_target place = place_of(execution, flight);
    struct fftnd__stored_piece piece = stored_piece(execution, flight);
    return redist_plan_store_directly(exchange, place.start, place.count, fftnd__store, &piece);
}

const struct fftnd__stage_kind fftnd__kind_segments = {.name = "fftnd segments",
                                                       .memory = FFTND__IN_ARRAYS,
                                                       .plans_on_arrays = 1,
                                                       .is_suited = is_suited,
                                                       .plan = plan,
                                                       .open = open_run,
                                                       .close = close_run,
                                                       .pass_on = pass_on,
                                                       .end = end};
