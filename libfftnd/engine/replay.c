/* SPDX-License-Identifier: BSD-3-Clause */
/* Replay of programs in a stream: a graph of the device for executions with the same arrays. */
#include "../operators/operator.h"
#include "parts.h"

enum { REPLAYS = 8 }; /* a guess */

/* An asynchronous program with certain arrays, and its graph. */
struct fftnd__replay {
    const struct fftnd__program *program;
    void *in, *out;
    int runs;
    long long last_run; /* 0 = unused */
    void *graph;        /* NULL = none yet */
};

/* Returns nonzero if executions can be captured. Not with functions of the user, which may differ each time, nor with
 * phases, which are times of the host, nor with other threads, whose calls to the device could break the capture. */
static int may_replay(const struct fftnd__transform *transform) {
    const struct redist__space *space = transform->space;
    const struct fftnd__operator *op = transform->applied;
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    return level != MPI_THREAD_MULTIPLE && transform->settings.asynchronous &&
           !transform->settings.phases && (op == NULL || !op->type->of_user) &&
           space->stream_can_keep != NULL && space->stream_can_keep(transform->settings.stream);
}

/* Finds the replay of these arrays, or replaces the one least recently run; NULL = no memory. */
static struct fftnd__replay *find(struct fftnd__replays *replays, const struct redist__space *space,
                                  const struct fftnd__program *program, void *const buffers[]) {
    if (replays->list == NULL)
        replays->list = redist_calloc(REPLAYS, sizeof *replays->list);
    if (replays->list == NULL)
        return NULL;
    struct fftnd__replay *oldest = &replays->list[0];
    for (struct fftnd__replay *at = oldest; at < replays->list + REPLAYS; at++) {
        if (at->program == program && at->in == buffers[0] && at->out == buffers[1])
            return at;
        oldest = at->last_run < oldest->last_run ? at : oldest;
    }
    if (oldest->graph != NULL)
        space->graph_free(oldest->graph);
    *oldest = (struct fftnd__replay){.program = program, .in = buffers[0], .out = buffers[1]};
    return oldest;
}

/* Launches the graph, unless the program has failed by now: fftnd__execute then fails with its peers. Returns nonzero
 * if it was launched. */
static int launch(const struct fftnd__replay *replay, struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    double begin = MPI_Wtime();
    fftnd__query(replay->program, &engine->failure);
    if (engine->failure.code == REDIST_OK) {
        redist_range_begin("fftnd transform as a graph");
        fftnd__failure_note(&engine->failure, transform->space->graph_replay(
                                                  replay->graph, transform->settings.stream));
        redist_range_end();
    }
    engine->seconds[0] += MPI_Wtime() - begin;
    return engine->failure.code == REDIST_OK;
}

static void rehearse(const struct fftnd__program *program, int begins) {
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].exchange != NULL)
            (void)redist_plan_rehearse(program->steps[i].exchange, begins);
}

/* Captures an execution as a graph; nothing of it is done yet. Without a graph the caller executes as before, unnoticed
 * by peers. */
static void capture(struct fftnd__replay *replay, const struct fftnd__transform *transform,
                    void *const buffers[]) {
    const struct redist__space *space = transform->space;
    struct fftnd__failure failure = {0};
    double seconds[2] = {0}; /* not added: nothing is done yet */
    if (space->graph_begin(transform->settings.stream) != REDIST_OK)
        return;
    rehearse(replay->program, 1);
    fftnd__execute(replay->program, transform, buffers, seconds, &failure);
    rehearse(replay->program, 0);
    int failed = failure.code != REDIST_OK;
    fftnd__failure_forget(&failure);
    if (space->graph_end(transform->settings.stream, &replay->graph) != REDIST_OK || !failed)
        return;
    space->graph_free(replay->graph);
    replay->graph = NULL;
}

int fftnd__replay(struct fftnd__engine *engine, int direction, void *const buffers[]) {
    const struct fftnd__transform *transform = &engine->transform;
    struct fftnd__replay *replay =
        engine->failure.code == REDIST_OK && may_replay(transform)
            ? find(&engine->replays, transform->space, &engine->programs[direction], buffers)
            : NULL;
    if (replay == NULL)
        return 0;
    replay->last_run = ++engine->replays.runs;
    if (replay->runs < 3 && ++replay->runs == 3)
        capture(replay, transform, buffers);
    return replay->graph != NULL && launch(replay, engine);
}

void fftnd__replays_forget(struct fftnd__engine *engine) {
    struct fftnd__replays *replays = &engine->replays;
    for (int i = 0; replays->list != NULL && i < REPLAYS; i++)
        if (replays->list[i].graph != NULL)
            engine->transform.space->graph_free(replays->list[i].graph);
    redist_release(replays->list);
    *replays = (struct fftnd__replays){0};
}
