/* SPDX-License-Identifier: BSD-3-Clause */
#include "direct_stores.h"

/* Plans for all pieces, or for none. */
static int create_plans(struct fftnd__direct_stores *stores,
                        const struct fftnd__kernel_problem *problem, const struct fftnd__side *in,
                        int is_near) {
    int n = fftnd__count_lengths(problem->cut), code = REDIST_OK;
    for (int i = 0; i < n && code == REDIST_OK; i++) {
        const struct lines__problem serial = fftnd__kernel_lines(problem, in, in, stores->axis, i);
        code = stores->library->create(&serial, is_near, &stores->plans[i]);
    }
    if (stores->plans[0] == NULL || stores->plans[n - 1] == NULL)
        fftnd__direct_stores_free(stores);
    return code;
}

static int create_stores(struct fftnd__direct_stores *stores,
                         const struct fftnd__kernel_problem *problem, int axis, int is_near) {
    *stores = (struct fftnd__direct_stores){
        .library = problem->library->stores, .axis = axis, .item = (ptrdiff_t)problem->out->item};
    for (int i = 0; i < problem->cut->ndims; i++)
        if (i != axis)
            stores->loops[stores->nloops++] = (signed char)i;
    return create_plans(stores, problem, problem->step->naxes > 1 ? problem->out : problem->in,
                        is_near);
}

int fftnd__direct_stores_create(struct fftnd__direct_stores *stores, struct fftnd__kernel *kernel,
                                const struct fftnd__kernel_problem *problem, int axis, int direct) {
    struct fftnd__step steps[2] = {*fftnd__previous(problem->step), *problem->step},
                       *others = &steps[1];
    struct fftnd__kernel_problem rest = *problem;
    struct fftnd__cut cut;
    redist_index numbers[3 * REDIST_MAX_NDIMS];
    REDIST_TRY(create_stores(stores, problem, axis, direct == FFTND__DIRECT_LOCAL));
    if (stores->library == NULL)
        return fftnd__kernel_create(kernel, problem);
    fftnd__remove_axis(others, axis - problem->transform->batch.shift);
    rest.step = others;
    fftnd__place_cut(&cut, REDIST_MAX_NDIMS, numbers);
    fftnd__copy_cut(&cut, problem->cut);
    cut.after[axis] = cut.before[axis]; /* it is transformed later */
    rest.cut = &cut;
    *kernel = (struct fftnd__kernel){.library = problem->library};
    return others->naxes > 0 ? fftnd__kernel_create(kernel, &rest) : REDIST_OK;
}

void fftnd__direct_stores_free(struct fftnd__direct_stores *stores) {
    for (int i = 0; i < 2; i++)
        if (stores->plans[i] != NULL)
            stores->library->destroy(stores->plans[i]);
    *stores = (struct fftnd__direct_stores){0};
}

int fftnd__direct_stores_scale(const struct fftnd__direct_stores *stores, int is_shorter,
                               long double factor) {
    return stores->library != NULL && stores->library->scale_results != NULL &&
           stores->library->scale_results(stores->plans[is_shorter], factor);
}

static struct lines__target target_of(const struct fftnd__stored_piece *piece,
                                      const redist_target *target) {
    const struct fftnd__direct_stores *stores = piece->stores;
    int at = fftnd__place_of(piece->order, stores->axis);
    struct lines__target along = {.end = target->start[at] + target->count[at],
                                  .memory = target->memory,
                                  .axis = target->stride[at] / stores->item};
    for (int i = 0; i < stores->nloops; i++)
        along.loops[i] =
            target->stride[fftnd__place_of(piece->order, stores->loops[i])] / stores->item;
    return along;
}

/* Sorts the targets, which differ along the axis alone, and stores into them. */
int fftnd__store(void *data, int ntargets, const redist_target targets[], void *stream) {
    const struct fftnd__stored_piece *piece = data;
    const struct fftnd__direct_stores *stores = piece->stores;
    struct lines__target sorted[LINES__MOST_TARGETS];
    if (ntargets > LINES__MOST_TARGETS)
        return redist_fail_in("libfftnd", REDIST_ERR_LIMIT,
                              "the lines of a transform end in %d arrays, more than %d", ntargets,
                              LINES__MOST_TARGETS);
    for (int i = 0; i < ntargets; i++) {
        const struct lines__target next = target_of(piece, &targets[i]);
        int at = i;
        for (; at > 0 && sorted[at - 1].end > next.end; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = next;
    }
    return stores->library->execute(stores->plans[piece->is_shorter], piece->memory, ntargets,
                                    sorted, stream);
}

/* Adds elements `first` to `last` - 1 of `here` along an axis as a target, unless empty. */
static void add_target(const redist_target *here, int at, redist_index first, redist_index last,
                       int *n, redist_target targets[]) {
    if (first == last)
        return;
    redist_target *target = &targets[(*n)++];
    *target = *here;
    target->start[at] = first;
    target->count[at] = last - first;
    target->memory += (ptrdiff_t)(first - here->start[at]) * here->stride[at];
}

int fftnd__store_around(struct fftnd__stored_piece *piece, const redist_target *here,
                        const redist_target *local, void *stream) {
    int at = fftnd__place_of(piece->order, piece->stores->axis), n = 0;
    redist_index first = here->start[at], last = first + here->count[at];
    redist_target targets[3];
    if (local != NULL) {
        add_target(here, at, first, local->start[at], &n, targets);
        targets[n++] = *local;
        first = local->start[at] + local->count[at];
    }
    add_target(here, at, first, last, &n, targets);
    return fftnd__store(piece, n, targets, stream);
}
