/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns: work space whose arrays are only sent, segment by segment, has room for half of their segments, with filled
 * axes on a device. The first half is sent before the second one is transformed, which the link would not take earlier.
 */
#include "../program/program.h"
#include "parts.h"

/* Two segments are both in flight, and have no memory to share. */
enum { FEWEST = 3 };

static int lacks_points(const struct fftnd__chain *chain) {
    for (int axis = 0; axis < chain->ndims; axis++)
        if (chain->filled[axis] != chain->points[axis])
            return 1;
    return 0;
}

/* Returns nonzero if the array after a step is only sent, and none of its segments waits for an arrival. */
static int is_only_sent(const struct fftnd__program *program, int i) {
    const struct fftnd__step *step = &program->steps[i], *exchange = fftnd__next(step);
    return i < program->nsteps && step->type < FFTND__EXCHANGE && !step->applies &&
           step->segment_axis >= 0 && exchange->type == FFTND__EXCHANGE &&
           exchange->fused_with == FFTND__PUSHED && exchange->direct_stores != FFTND__DIRECT_ALL &&
           !fftnd__previous(step)->by_partitions;
}

/* Counts the arrays of a program in a buffer that are only sent, and the others. */
static void count_arrays(const struct fftnd__program *program, int buffer, int counts[2]) {
    counts[0] = counts[1] = 0;
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].buffer == buffer)
            counts[!is_only_sent(program, i)]++;
}

/* Exchanges both buffers, which are alike. */
static void swap_buffers(struct fftnd__program *program) {
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].buffer >= FFTND__WORK0)
            program->steps[i].buffer = FFTND__WORK0 + FFTND__WORK1 - program->steps[i].buffer;
}

/* Has the arrays that are only sent in the second buffer, if the first has no others. Returns whether that changes
 * anything. */
static int sort_buffers(struct fftnd__program *program) {
    int first[2], second[2];
    count_arrays(program, FFTND__WORK0, first);
    count_arrays(program, FFTND__WORK1, second);
    int swaps = first[0] > 0 && first[1] == 0 && second[1] > 0;
    if (swaps)
        swap_buffers(program);
    return swaps;
}

static void set_turns(struct fftnd__program *program) {
    for (int i = 1; i <= program->nsteps; i++)
        if (program->steps[i].buffer == FFTND__WORK1)
            program->steps[i].takes_turns = 1;
}

void fftnd__find_turns(struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    int counts[2][2], swapped[2];
    engine->takes_turns = 0;
    if (engine->needs_arrays || !transform->workplace->scratch_in_work ||
        !transform->space->asynchronous || transform->settings.user_workspace ||
        transform->configuration.segments < FEWEST || !lacks_points(&transform->chain))
        return;
    for (int direction = 0; direction < 2; direction++) {
        swapped[direction] = sort_buffers(&engine->programs[direction]);
        count_arrays(&engine->programs[direction], FFTND__WORK1, counts[direction]);
    }
    engine->takes_turns = counts[0][1] + counts[1][1] == 0 && counts[0][0] + counts[1][0] > 0;
    for (int direction = 0; direction < 2; direction++)
        if (engine->takes_turns)
            set_turns(&engine->programs[direction]);
        else if (swapped[direction])
            swap_buffers(&engine->programs[direction]);
}
