/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a transform over whole arrays: which are joined, and through which arrays they go. */
#include "pipeline.h"

/* The last steps that all may run in place may do so in the output. */
static void find_last_steps(struct fftnd__pipeline *pipeline) {
    int reaches = 1;
    for (int i = pipeline->nsteps; i >= 1; i--) {
        pipeline->steps[i].hop.reaches_output = reaches;
        reaches = reaches && pipeline->steps[i].hop.type == FFTND__KEEPS_LAYOUT;
    }
}

int fftnd__pipeline_fits(const struct fftnd__pipeline *pipeline,
                         const struct fftnd__transform *transform, int fits[]) {
    int n = pipeline->nsteps;
    size_t room = fftnd__step_bytes(transform, &pipeline->steps[n]);
    for (int i = 0; i <= n; i++)
        fits[i] = fftnd__step_bytes(transform, &pipeline->steps[i]) <= room;
    return redist_check_mpi(
        redist_insist(MPI_Allreduce(MPI_IN_PLACE, fits, n + 1, MPI_INT, MPI_MIN, transform->comm)));
}

/* Arrays that have room in the output may lie there. Collective. */
static int find_room(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform) {
    int fits[FFTND__MOST_HOPS + 1];
    int code = fftnd__pipeline_fits(pipeline, transform, fits);
    for (int i = 1; i <= pipeline->nsteps; i++)
        pipeline->steps[i].hop.reaches_output = fits[i];
    return code;
}

static void join(struct fftnd__step *step, int joined) {
    step->joined = step->hop.maps_destination = step->hop.apart = joined;
}

/* Exchanges into mapped arrays that follow a transform can be done by it, chunk by chunk. */
static void join_exchanges(struct fftnd__pipeline *pipeline,
                           const struct fftnd__transform *transform) {
    for (int i = 2; i < pipeline->nsteps; i++) {
        struct fftnd__step *step = &pipeline->steps[i];
        join(step, transform->choice.chunks > 1 && step->hop.type == FFTND__EXCHANGE &&
                       pipeline->steps[i - 1].naxes > 0 && !pipeline->steps[i - 1].truncates);
    }
}

static void piece(struct fftnd__step *step, int pieced) {
    step->pieced = step[1].hop.apart = pieced;
}

/* Joined exchanges whose next transform all ranks can cut can be received in pieces. That one's results must not
 * go where chunks still wait to be sent. Collective. */
static int piece_exchanges(struct fftnd__pipeline *pipeline,
                           const struct fftnd__transform *transform) {
    int code = REDIST_OK;
    for (int i = 1; i < pipeline->nsteps && code == REDIST_OK; i++) {
        struct fftnd__step *step = &pipeline->steps[i], *next = step + 1;
        if (transform->choice.pieces == 1 || !step->joined || next->hop.type == FFTND__EXCHANGE ||
            next->naxes == 0 || next->truncates)
            continue;
        code = fftnd__choose_cut(transform, step, next, &next->cut);
        piece(step, next->cut >= 0);
    }
    return code;
}

struct fftnd__rules fftnd__rules_of(const struct fftnd__transform *transform) {
    const fftnd_options *options = &transform->options;
    return (struct fftnd__rules){options->in_place, options->overwrite_input,
                                 options->mapped_arrays};
}

static int find_route(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform) {
    struct fftnd__hop hops[FFTND__MOST_HOPS];
    const struct fftnd__rules rules = fftnd__rules_of(transform);
    for (int i = 0; i < pipeline->nsteps; i++)
        hops[i] = pipeline->steps[i + 1].hop;
    int found = fftnd__route(pipeline->nsteps, hops, &rules);
    for (int i = 0; i < pipeline->nsteps && found; i++)
        pipeline->steps[i + 1].hop = hops[i];
    return found;
}

static int uses_second_work(const struct fftnd__pipeline *pipeline) {
    for (int i = 1; i <= pipeline->nsteps; i++)
        if (pipeline->steps[i].hop.destination == FFTND__WORK1)
            return 1;
    return 0;
}

/* Where the user lets the input be overwritten, one work array has to do. */
static int is_too_much(const struct fftnd__pipeline *pipeline,
                       const struct fftnd__transform *transform, int found) {
    int lean = transform->options.in_place || transform->options.overwrite_input;
    return !found || (lean && uses_second_work(pipeline));
}

/* Then, and where there is no way at all, as few of the last exchanges as needed are not received in pieces, and
 * not joined. */
static int find_lean_route(struct fftnd__pipeline *pipeline,
                           const struct fftnd__transform *transform) {
    int found = find_route(pipeline, transform);
    for (int i = pipeline->nsteps; i >= 1; i--)
        if (pipeline->steps[i].pieced && is_too_much(pipeline, transform, found)) {
            piece(&pipeline->steps[i], 0);
            found = find_route(pipeline, transform);
        }
    for (int i = pipeline->nsteps; i >= 1; i--)
        if (pipeline->steps[i].joined && is_too_much(pipeline, transform, found)) {
            join(&pipeline->steps[i], 0);
            found = find_route(pipeline, transform);
        }
    return found;
}

/* Lists the steps, as few apart as there is a way for. */
static int find_steps(struct fftnd__pipeline *pipeline, const struct fftnd__transform *transform,
                      int direction, int realigned, int *way) {
    int found = 0, code = REDIST_OK, on_host = transform->library->space == REDIST_SPACE_HOST;
    for (enum fftnd__parting parting = FFTND__TOGETHER;
         parting <= FFTND__WITH_COPY && !found && code == REDIST_OK; parting++) {
        if (parting == FFTND__COPIED && on_host)
            continue; /* a copy costs more there than transforms of other axes first */
        code = redist_agree(transform->comm,
                            fftnd__list_steps(pipeline, transform, direction, realigned, parting));
        find_last_steps(pipeline);
        if (code == REDIST_OK && transform->choice.chunks > 1)
            code = find_room(pipeline, transform);
        join_exchanges(pipeline, transform);
        if (code == REDIST_OK)
            code = piece_exchanges(pipeline, transform);
        found = code == REDIST_OK && find_lean_route(pipeline, transform);
    }
    *way = found;
    return code;
}

/* Turning the axes is no reason for a second work array where one has to do, unless the user insists. */
int fftnd__pipeline_build(struct fftnd__pipeline *pipeline,
                          const struct fftnd__transform *transform, int direction) {
    const fftnd_options *options = &transform->options;
    int realigned = transform->choice.realigned, found;
    int lean = (options->in_place || options->overwrite_input) &&
               options->local_transpose != FFTND_LOCAL_TRANSPOSE_ALWAYS;
    int code = find_steps(pipeline, transform, direction, realigned, &found);
    if (code == REDIST_OK && realigned && (!found || (lean && uses_second_work(pipeline))))
        code = find_steps(pipeline, transform, direction, 0, &found);
    if (code == REDIST_OK && !found)
        code = redist_fail_in("libfftnd", REDIST_ERR_ARGUMENT, "no way through the given arrays");
    return code;
}
