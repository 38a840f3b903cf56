/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chunks of an array of a device with an operator: boxes with all modes between both transforms in scratch memory.
 * They are sent as they are done and begin as they arrive, if no modes are dropped at their ends.
 */
#include "pieces.h"

/* Most bytes of a chunk, which is read and written several times: what the last caches of devices hold. */
enum { CACHED_BYTES = 32 << 20 };

static int is_suited(const struct fftnd__stage_problem *problem) {
    return problem->transform->space->asynchronous && problem->step->applies;
}

/* An array that must not be ruined has its chunks in scratch memory. */
static void lay_out(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    const struct fftnd__settings *settings = &problem->transform->settings;
    const struct fftnd__step *step = problem->step, *before = fftnd__previous(step);
    int keeps_input = step->direction == REDIST_BACKWARD && before->buffer == FFTND__INPUT &&
                      !settings->in_place && !settings->overwrite_input;
    struct fftnd__piece first;
    fftnd__find_piece(&stage->cut, 0, &first);
    fftnd__lay_out_side(&stage->in, problem->transform, before, first.before, !keeps_input);
    fftnd__lay_out_side(&stage->out, problem->transform, step, first.after, 1);
}

/* Bytes of a chunk: if pushed, there are as many as segments elsewhere; if they arrive, as many as partitions. */
static size_t chunk_bytes(const struct fftnd__stage_problem *problem, size_t bytes,
                          int may_be_large) {
    const struct fftnd__configuration *configuration = &problem->transform->configuration;
    const struct fftnd__step *step = problem->step;
    int sent = fftnd__next(step)->fused_with == FFTND__PUSHED ? configuration->segments : 1;
    int arriving = fftnd__previous(step)->by_partitions ? configuration->partitions : 1;
    size_t n = (size_t)(sent > arriving ? sent : arriving);
    return may_be_large || bytes / n < CACHED_BYTES ? bytes / n + 1 : CACHED_BYTES;
}

/* Cuts by the bytes that an uncut piece takes. */
static int place(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem,
                 size_t bytes, int makes_trip, struct fftnd__kernel_problem *applied) {
    fftnd__applied_free(stage->applied);
    fftnd__set_extents(&stage->cut, problem->transform, problem->step);
    fftnd__cut_chunks(&stage->cut, problem->transform, problem->step, bytes,
                      chunk_bytes(problem, bytes, makes_trip));
    lay_out(stage, problem);
    *applied = fftnd__stage_kernel(stage, problem);
    applied->on_device = 1;
    applied->needs_trip = makes_trip;
    applied->outside[0] = stage->in.in_array;
    applied->outside[1] = stage->out.in_array;
    return fftnd__applied_create(applied, &stage->applied);
}

static int try_chunks(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem,
                      size_t bytes, int makes_trip) {
    struct fftnd__kernel_problem applied;
    REDIST_TRY(place(stage, problem, bytes, makes_trip, &applied));
    applied.trip_axis = makes_trip ? applied.trip_axis : -1;
    char *memory = problem->scratch[0], *array = problem->scratch[1];
    stage->bytes = stage->applied->places.bytes;
    stage->in.place = stage->applied->places.in;
    stage->out.place = stage->applied->places.out;
    stage->in.memory = stage->in.in_array ? array : memory + stage->in.place;
    stage->out.memory = stage->out.in_array ? array : memory + stage->out.place;
    REDIST_TRY(fftnd__applied_plan(stage->applied, &applied, memory));
    if (stage->applied->trip.library != NULL && problem->step->naxes == 1 && stage->in.in_array &&
        stage->out.in_array)
        stage->bytes = 0; /* from array to array */
    return REDIST_OK;
}

/* Tries one sweep there and back first, for which a chunk need not fit a cache. */
static int plan(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem) {
    struct fftnd__kernel_problem applied;
    REDIST_TRY(place(stage, problem, 1, 0, &applied));
    size_t bytes = stage->applied->places.bytes;
    if (applied.trip_axis >= 0)
        REDIST_TRY(try_chunks(stage, problem, bytes, 1));
    if (stage->applied->trip.library == NULL)
        REDIST_TRY(try_chunks(stage, problem, bytes, 0));
    return fftnd__next(problem->step)->fused_with == FFTND__PUSHED
               ? fftnd__plan_sending(stage, problem)
               : REDIST_OK;
}

const struct fftnd__stage_kind fftnd__kind_chunks_with_operator = {
    .name = "fftnd chunks with an operator",
    .memory = FFTND__IN_AREA,
    .is_suited = is_suited,
    .plan = plan,
    .load = fftnd__load_piece,
    .pass_on = fftnd__note_piece,
    .end = fftnd__send_piece};
