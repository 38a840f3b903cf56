/* SPDX-License-Identifier: BSD-3-Clause */
/* Round trips: the last transform before an operator, the operator and the first transform back at once, by serial
 * libraries that can. */
#include "applied.h"

static int is_possible(const struct fftnd__transform *transform, const struct fftnd__step *step,
                       const struct lines__library *library) {
    const struct fftnd__operator *op = transform->applied;
    return library->round_trips != NULL && step->direction == REDIST_FORWARD &&
           !op->type->of_user && op->tables != NULL && !lines__combines((int)op->kind) &&
           !step->twiddles && !fftnd__truncates_on(transform, step, FFTND_SPECTRAL) &&
           (!fftnd__truncates_on(transform, step, FFTND_PHYSICAL) || step->truncates_inside);
}

int fftnd__round_trip_axis(const struct fftnd__transform *transform, const struct fftnd__step *step,
                           const struct lines__library *library) {
    const ptrdiff_t *stride = fftnd__previous(step)->layout->local.stride;
    int shift = transform->batch.shift, best = -1;
    if (!is_possible(transform, step, library))
        return -1;
    for (int i = 0; i < step->naxes; i++) {
        int axis = step->axes[i], at = axis + shift;
        if (transform->chain.axes[axis] == FFTND_AXIS_COMPLEX &&
            (best < 0 || stride[at] > stride[best]))
            best = at;
    }
    return best;
}

int fftnd__round_trip_create(struct fftnd__round_trip *trip,
                             const struct fftnd__kernel_problem *problem, int axis) {
    int n = fftnd__count_lengths(problem->cut), code = REDIST_OK;
    *trip = (struct fftnd__round_trip){
        .library = problem->library->round_trips,
        .axis = axis,
        .modes = problem->transform->chain.points[axis - problem->transform->batch.shift]};
    for (int i = 0; i < n && code == REDIST_OK; i++) {
        const struct lines__problem serial =
            fftnd__kernel_lines(problem, problem->in, problem->out, axis, i);
        code = trip->library->create(&serial, &trip->plans[i]);
    }
    if (trip->plans[0] == NULL || trip->plans[n - 1] == NULL)
        fftnd__round_trip_free(trip);
    return code;
}

void fftnd__round_trip_free(struct fftnd__round_trip *trip) {
    for (int i = 0; i < 2; i++)
        if (trip->plans[i] != NULL)
            trip->library->destroy(trip->plans[i]);
    *trip = (struct fftnd__round_trip){0};
}

int fftnd__round_trip_run(const struct fftnd__round_trip *trip, int is_shorter,
                          const struct lines__operation *operation, const struct fftnd__block *in,
                          const struct fftnd__block *out) {
    return trip->library->execute(trip->plans[is_shorter], in->memory, out->memory, operation,
                                  trip->axis, in->stream);
}
