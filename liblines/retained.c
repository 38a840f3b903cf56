/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forward, the halved axis and then those that shrink the array are transformed one after the other, then at once those
 * that keep their extents, and one after the other those that grow. Backward the order is reversed. Between the first
 * and the last axis that changes its extent the array is in scratch memory. Real-to-real axes beside others are
 * transformed where elements are complex, as real and imaginary parts.
 */
#include "inner.h"

extern const struct lines__library lines__library_real_to_real;

enum { ALIGNMENT = 256 };

enum array { INPUT, OUTPUT, SCRATCH };

/* Axes that are transformed at once, by their numbers in the problem. */
struct group {
    int naxes, axes[REDIST_MAX_NDIMS];
    enum array from, to;
};

struct plan {
    struct lines__inner inner;
    int ngroups;
    struct group groups[REDIST_MAX_NDIMS];
};

/* ---------------------------------------------------------------- the groups */

static int is_halved(const struct lines__problem *problem, int axis) {
    return problem->kind == FFTND_R2C && axis == problem->naxes - 1;
}

static int is_r2r(const struct lines__problem *problem, int axis) {
    return problem->kind == FFTND_R2R || problem->mixed >> axis & 1;
}

static int changes_extent(const struct lines__problem *problem, int axis) {
    return is_halved(problem, axis) || lines__truncates(problem, axis);
}

static redist_index count_modes(const struct lines__problem *problem, int axis) {
    const struct lines__retained *retained = &problem->retained[axis];
    redist_index n = problem->axes[axis].n;
    return retained->modes > 0        ? retained->low + retained->high
           : is_halved(problem, axis) ? n / 2 + 1
                                      : n;
}

static redist_index count_points(const struct lines__problem *problem, int axis) {
    return problem->filled[axis] > 0 ? problem->filled[axis] : problem->axes[axis].n;
}

/* Extents before the transform of an axis, and after it. */
static redist_index count_before(const struct lines__problem *problem, int axis) {
    return (problem->direction == REDIST_FORWARD ? count_points : count_modes)(problem, axis);
}

static redist_index count_after(const struct lines__problem *problem, int axis) {
    return (problem->direction == REDIST_FORWARD ? count_modes : count_points)(problem, axis);
}

static int grows(const struct lines__problem *problem, int axis) {
    return !is_halved(problem, axis) && count_modes(problem, axis) > count_points(problem, axis);
}

/* Lists the axes that change their extent, each a group, of those that grow or of the others. */
static void list_changes(struct plan *plan, const struct lines__problem *problem, int are_growing) {
    for (int i = problem->naxes - 1; i >= 0; i--)
        if (changes_extent(problem, i) && grows(problem, i) == are_growing)
            plan->groups[plan->ngroups++] = (struct group){.naxes = 1, .axes = {i}};
}

/* Lists the axes that keep their extents, real-to-real ones or the others, as one group. */
static void list_others(struct plan *plan, const struct lines__problem *problem, int are_r2r) {
    struct group *others = &plan->groups[plan->ngroups];
    for (int i = 0; i < problem->naxes; i++)
        if (!changes_extent(problem, i) && is_r2r(problem, i) == are_r2r)
            others->axes[others->naxes++] = i;
    plan->ngroups += others->naxes > 0;
}

/* Lists groups in the order of a forward transform. */
static void list_groups(struct plan *plan, const struct lines__problem *problem) {
    list_changes(plan, problem, 0);
    list_others(plan, problem, 0);
    list_others(plan, problem, 1);
    list_changes(plan, problem, 1);
}

static void reverse_groups(struct plan *plan) {
    for (int i = 0, j = plan->ngroups - 1; i < j; i++, j--) {
        struct group held = plan->groups[i];
        plan->groups[i] = plan->groups[j];
        plan->groups[j] = held;
    }
}

/* Returns nonzero if the array after a group has no more elements along any axis than a side, which is complex. */
static int fits(const struct lines__problem *problem, const redist_index now[], int is_output) {
    int is_physical = is_output == problem->direction;
    if (problem->kind == FFTND_R2C && is_physical)
        return 0;
    for (int i = 0; i < problem->naxes; i++)
        if (now[i] > (is_output ? count_after : count_before)(problem, i))
            return 0;
    return 1;
}

static int has_filled(const struct lines__problem *problem) {
    for (int i = 0; i < problem->naxes; i++)
        if (problem->filled[i] > 0)
            return 1;
    return 0;
}

/* Returns where the array is between two groups. */
static enum array array_between(const struct lines__problem *problem, const redist_index now[]) {
    if (!has_filled(problem))
        return SCRATCH;
    return fits(problem, now, 1)                        ? OUTPUT
           : problem->may_ruin && fits(problem, now, 0) ? INPUT
                                                        : SCRATCH;
}

/* Moves the extents behind a group. */
static void pass_group(const struct lines__problem *problem, const struct group *group,
                       redist_index now[]) {
    for (int i = 0; i < group->naxes; i++)
        now[group->axes[i]] = count_after(problem, group->axes[i]);
}

static void begin_groups(const struct lines__problem *problem, redist_index now[]) {
    for (int i = 0; i < problem->naxes; i++)
        now[i] = count_before(problem, i);
}

/* Chooses arrays; behind the last change of an extent, transforms are in place in the output. */
static void choose_arrays(struct plan *plan, const struct lines__problem *problem) {
    enum array from = INPUT;
    int last = plan->ngroups - 1;
    redist_index now[REDIST_MAX_NDIMS];
    begin_groups(problem, now);
    while (problem->direction == REDIST_FORWARD && last > 0 &&
           !changes_extent(problem, plan->groups[last].axes[0]))
        last--;
    for (int i = 0; i < plan->ngroups; i++) {
        pass_group(problem, &plan->groups[i], now);
        plan->groups[i].from = from;
        from = plan->groups[i].to = i >= last ? OUTPUT : array_between(problem, now);
    }
}

/* ---------------------------------------------------------------- scratch memory */

/* Stride in the array with the modes of all axes, whose order scratch memory has. */
static ptrdiff_t stride_of(const struct lines__problem *problem, const struct lines__loop *loop) {
    return problem->direction == REDIST_FORWARD ? loop->out : loop->in;
}

/* Loops of scratch memory: the axes of the problem, then its loops. */
struct scratch {
    int n;
    redist_index count[2 * REDIST_MAX_NDIMS];
    ptrdiff_t order[2 * REDIST_MAX_NDIMS], stride[2 * REDIST_MAX_NDIMS];
};

static int has_axis(const struct group *group, int axis) {
    for (int i = 0; i < group->naxes; i++)
        if (group->axes[i] == axis)
            return 1;
    return 0;
}

/* The most elements that scratch memory has along an axis. */
static redist_index count_there(const struct plan *plan, const struct lines__problem *problem,
                                int axis) {
    redist_index n = count_before(problem, axis), most = 0;
    for (int i = 0; i < plan->ngroups; i++) {
        const struct group *group = &plan->groups[i];
        n = has_axis(group, axis) ? count_after(problem, axis) : n;
        most = group->to == SCRATCH && n > most ? n : most;
    }
    return most;
}

static void list_loops(const struct plan *plan, const struct lines__problem *problem,
                       struct scratch *scratch) {
    scratch->n = problem->naxes + problem->nloops;
    for (int i = 0; i < scratch->n; i++) {
        const struct lines__loop *loop = lines__loop_at(problem, i);
        int is_axis = i < problem->naxes;
        scratch->count[i] = is_axis ? count_there(plan, problem, i) : loop->n;
        scratch->order[i] = is_axis && is_halved(problem, i) ? 0 : stride_of(problem, loop);
    }
}

/* Sets strides from the fastest to the slowest loop. Returns the bytes. */
static size_t lay_out(const struct lines__problem *problem, struct scratch *scratch) {
    int is_done[2 * REDIST_MAX_NDIMS] = {0};
    ptrdiff_t next = 1;
    for (int i = 0; i < scratch->n; i++) {
        int fastest = -1;
        for (int j = 0; j < scratch->n; j++)
            if (!is_done[j] && (fastest < 0 || scratch->order[j] < scratch->order[fastest]))
                fastest = j;
        is_done[fastest] = 1;
        scratch->stride[fastest] = next;
        next *= scratch->count[fastest];
    }
    size_t bytes = (size_t)next * lines__item_bytes(problem->precision, problem->kind == FFTND_R2R);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---------------------------------------------------------------- plans */

static ptrdiff_t stride_in(enum array array, const struct lines__loop *loop, ptrdiff_t scratch) {
    return array == INPUT ? loop->in : array == OUTPUT ? loop->out : scratch;
}

/* Lets a problem transform real and imaginary parts, which are real lines. */
static void take_parts(struct lines__problem *own) {
    for (int i = 0; i < own->naxes + own->nloops; i++) {
        struct lines__loop *loop = i < own->naxes ? &own->axes[i] : &own->loops[i - own->naxes];
        loop->in *= 2;
        loop->out *= 2;
    }
    own->loops[own->nloops++] = (struct lines__loop){2, 1, 1};
}

/* Describes the problem of a group; `now` are the extents of all axes before it. */
static void describe(const struct group *group, const struct lines__problem *problem,
                     const struct scratch *scratch, const redist_index now[],
                     struct lines__problem *own) {
    *own = *problem;
    own->kind = is_halved(problem, group->axes[0]) ? FFTND_R2C
                : is_r2r(problem, group->axes[0])  ? FFTND_R2R
                                                   : FFTND_C2C;
    own->mixed = 0;
    own->keep_input = group->from == INPUT && problem->keep_input;
    own->naxes = own->nloops = 0;
    for (int i = 0; i < scratch->n; i++) {
        int is_axis = i < problem->naxes, is_own = is_axis && has_axis(group, i);
        const struct lines__loop *loop = lines__loop_at(problem, i);
        const struct lines__loop here = {is_axis && !is_own ? now[i] : loop->n,
                                         stride_in(group->from, loop, scratch->stride[i]),
                                         stride_in(group->to, loop, scratch->stride[i])};
        if (is_own) {
            own->retained[own->naxes] = problem->retained[i];
            own->filled[own->naxes] = problem->filled[i];
            own->r2r[own->naxes] = problem->r2r[i];
            own->axes[own->naxes++] = here;
        } else {
            own->loops[own->nloops++] = here;
        }
    }
    if (own->kind == FFTND_R2R && problem->kind != FFTND_R2R)
        take_parts(own);
}

/* Returns the library of a group's problem. */
static const struct lines__library *library_of(const struct lines__problem *own) {
    return own->kind == FFTND_R2R && own->general->r2r != NULL ? &lines__library_real_to_real
                                                               : own->general;
}

static int create_groups(struct plan *plan, const struct lines__problem *problem,
                         void *const arrays[]) {
    struct scratch scratch;
    redist_index now[REDIST_MAX_NDIMS];
    list_loops(plan, problem, &scratch);
    size_t bytes = lay_out(problem, &scratch);
    begin_groups(problem, now);
    for (int i = 0; i < plan->ngroups; i++) {
        struct group *group = &plan->groups[i];
        struct lines__problem own;
        describe(group, problem, &scratch, now, &own);
        REDIST_TRY(lines__create(library_of(&own), &own, arrays[group->from], arrays[group->to],
                                 &plan->inner.plans[i]));
        plan->inner.own_bytes = group->to == SCRATCH ? bytes : plan->inner.own_bytes;
        pass_group(problem, group, now);
    }
    return REDIST_OK;
}

static int create(const struct lines__problem *problem, void *in, void *out, void **result) {
    static char nowhere; /* an address, whose memory is not used */
    void *const arrays[] = {in, out, &nowhere};
    struct plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a serial transform");
    plan->inner.each = 1;
    list_groups(plan, problem);
    if (problem->direction == REDIST_BACKWARD)
        reverse_groups(plan);
    choose_arrays(plan, problem);
    int code = create_groups(plan, problem, arrays);
    if (code == REDIST_OK)
        *result = plan;
    else
        lines__inner_destroy(plan);
    return code;
}

static int execute(void *data, void *in, void *out) {
    const struct plan *plan = data;
    void *const arrays[] = {in, out, plan->inner.area};
    for (int i = 0; i < plan->ngroups; i++)
        REDIST_TRY(lines__execute(&plan->inner.plans[i], arrays[plan->groups[i].from],
                                  arrays[plan->groups[i].to]));
    return REDIST_OK;
}

/* Always, where the general library truncates one axis; one that is real-to-real needs no order. */
static int percent(const struct lines__problem *problem, const void *in, const void *out) {
    int is_alone = problem->kind == FFTND_R2R && problem->naxes == 1;
    (void)in;
    (void)out;
    return (problem->mixed != 0 || lines__truncates_some(problem)) && !is_alone &&
           problem->general->truncates != NULL;
}

const struct lines__library lines__library_retained = {.name = "retained modes",
                                                       .percent = percent,
                                                       .fills = 1,
                                                       .create = create,
                                                       .area_bytes = lines__inner_area_bytes,
                                                       .set_area = lines__inner_set_area,
                                                       .scale_results = lines__inner_scale_results,
                                                       .execute = execute,
                                                       .destroy = lines__inner_destroy};
