/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages of a program, each of the first kind that suits its step. */
#include "stage.h"

#define ADDRESS(NAME) &fftnd__kind_##NAME,
static const struct fftnd__stage_kind *const kinds[] = {FFTND__STAGE_KINDS(ADDRESS)};

static const struct fftnd__stage_kind *kind_of(const struct fftnd__stage_problem *problem) {
    int i = 0;
    while (!kinds[i]->is_suited(problem))
        i++;
    return kinds[i];
}

static int has_stage(const struct fftnd__transform *transform, const struct fftnd__step *step) {
    return step->type < FFTND__EXCHANGE && !fftnd__is_empty(transform, step) &&
           !fftnd__is_empty(transform, fftnd__previous(step));
}

int fftnd__needs_scratch(const struct fftnd__program *program,
                         const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps && !transform->space->asynchronous; i++) {
        const struct fftnd__step *step = &program->steps[i];
        const struct fftnd__stage_problem problem = {program, transform, step, NULL};
        if (has_stage(transform, step) && kind_of(&problem)->plans_on_arrays)
            return 1;
    }
    return 0;
}

/* Allocates a stage, and behind it the numbers of its cuts and the strides of its sides. */
static struct fftnd__stage *allocate(int ndims) {
    size_t n = (size_t)ndims;
    struct fftnd__stage *stage =
        redist_calloc(1, sizeof *stage + n * (3 * sizeof(redist_index) + 2 * sizeof(ptrdiff_t)));
    if (stage == NULL)
        return NULL;
    fftnd__place_cut(&stage->cut, ndims, (redist_index *)(stage + 1));
    stage->in.stride = (ptrdiff_t *)((redist_index *)(stage + 1) + 3 * n);
    stage->out.stride = stage->in.stride + n;
    return stage;
}

/* Returns the truncation of a side, kept behind those found before it; NULL = none. */
static const struct fftnd__truncation *keep_truncation(struct fftnd__truncation *kept,
                                                       const struct fftnd__truncation *found) {
    *kept = *found;
    return found->n > 0 ? kept : NULL;
}

static int set_sides(struct fftnd__stage *stage, const struct fftnd__transform *transform,
                     const struct fftnd__step *step) {
    int before = step->direction, after = step->applies ? before : !before;
    stage->in.item = fftnd__element_bytes(transform, fftnd__previous(step)->real);
    stage->out.item = fftnd__element_bytes(transform, step->real);
    struct fftnd__truncation found[2];
    for (int side = 0; side < 2; side++)
        fftnd__truncation_of(&found[side], transform, step, (enum fftnd_side)side);
    if ((found[before].n == 0 && found[after].n == 0) || step->truncates_inside)
        return REDIST_OK;
    stage->truncation = redist_calloc(2, sizeof *stage->truncation);
    if (stage->truncation == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    stage->in.truncation = keep_truncation(&stage->truncation[0], &found[before]);
    stage->out.truncation = keep_truncation(&stage->truncation[1], &found[after]);
    return REDIST_OK;
}

static int plan_stage(struct fftnd__step *step, const struct fftnd__stage_problem *problem) {
    const struct fftnd__transform *transform = problem->transform;
    struct fftnd__stage *stage = step->stage = allocate(step->layout->local.ndims);
    if (stage == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a step of a plan");
    stage->kind = kind_of(problem);
    stage->library = transform->library;
    stage->streams[0] = transform->settings.stream;
    stage->nstreams = stage->window = 1;
    REDIST_TRY(set_sides(stage, transform, step));
    return stage->kind->plan(stage, problem);
}

int fftnd__plan_stages(struct fftnd__program *program, const struct fftnd__transform *transform,
                       void *const scratch[2]) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__step *step = &program->steps[i];
        const struct fftnd__stage_problem problem = {program, transform, step, scratch};
        if (has_stage(transform, step))
            REDIST_TRY(plan_stage(step, &problem));
    }
    return REDIST_OK;
}

/* A piece passes through the plans of its stream and its length. */
static int scale_pieces(const struct fftnd__stage *stage, int stream, int is_shorter,
                        long double factor) {
    return fftnd__direct_stores_scale(&stage->direct_stores, is_shorter, factor) ||
           fftnd__kernel_scale(&stage->kernels[stream], is_shorter, factor);
}

static int scale_all(const struct fftnd__stage *stage, long double factor) {
    for (int i = 0; i < stage->nstreams; i++)
        for (int j = 0; j < fftnd__count_lengths(&stage->cut); j++)
            if (!scale_pieces(stage, i, j, factor))
                return 0;
    return 1;
}

int fftnd__step_scale(const struct fftnd__step *step, long double factor) {
    const struct fftnd__stage *stage = step->stage;
    if (stage == NULL)
        return step->type < FFTND__EXCHANGE;
    return stage->applied == NULL && scale_all(stage, 1) && scale_all(stage, factor);
}

static void free_stage(struct fftnd__stage *stage, const redist__space *space) {
    fftnd__free_kernels(stage);
    for (long long i = 0; i < stage->cut.n && stage->events != NULL; i++)
        space->event_destroy(stage->events[i]);
    redist_release(stage->events);
    redist_release(stage->truncation);
    redist_release(stage);
}

void fftnd__free_stages(struct fftnd__program *program, const struct fftnd__transform *transform) {
    for (int i = 1; i <= program->nsteps; i++) {
        if (program->steps[i].stage != NULL)
            free_stage(program->steps[i].stage, transform->space);
        program->steps[i].stage = NULL;
    }
}

/* ---------------------------------------------------------------- memory that stages share */

static int shares_area(const struct fftnd__stage *stage) {
    return stage->kind->memory != FFTND__ELSEWHERE;
}

size_t fftnd__stages_bytes(const struct fftnd__program *program, enum fftnd__stage_memory where) {
    size_t most = 0;
    for (int i = 1; i <= program->nsteps; i++) {
        const struct fftnd__stage *stage = program->steps[i].stage;
        if (stage == NULL)
            continue;
        size_t bytes = where == FFTND__IN_AREA && shares_area(stage) ? fftnd__stage_area(stage) : 0;
        bytes += stage->kind->memory == where ? stage->bytes : 0;
        most = bytes > most ? bytes : most;
    }
    return most;
}

int fftnd__set_stages_memory(const struct fftnd__program *program, enum fftnd__stage_memory where,
                             char *memory) {
    for (int i = 1; i <= program->nsteps; i++) {
        struct fftnd__stage *stage = program->steps[i].stage;
        int in_area = stage != NULL && where == FFTND__IN_AREA && shares_area(stage);
        if (in_area)
            REDIST_TRY(fftnd__stage_set_area(stage, memory));
        if (stage != NULL && stage->kind->memory == where)
            stage->memory = fftnd__behind(memory, in_area ? fftnd__stage_area(stage) : 0);
    }
    return REDIST_OK;
}
