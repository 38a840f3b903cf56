/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of kernels in physical space, which the plan transforms once. */
#include "operators.h"

#define FUNCTION        "fftnd_operator_from_kernel"
#define FAIL(code, ...) redist_fail_in(FUNCTION, code, __VA_ARGS__)

static int check_axes(const struct fftnd__transform *transform) {
    for (int axis = 0; axis < transform->chain.ndims; axis++)
        if (transform->chain.axes[axis] == FFTND_AXIS_R2R)
            return FAIL(REDIST_ERR_AXIS,
                        "axis %d of plan is real-to-real: its modes times those of a kernel are no "
                        "convolution; pass factors to FFTND_MULTIPLY",
                        transform->user_axis[axis]);
    return REDIST_OK;
}

/* Returns the library's number of an axis of the user's. */
static int axis_of(const struct fftnd__transform *transform, int user) {
    int axis = 0;
    while (transform->user_axis[axis] != user)
        axis++;
    return axis;
}

static int check_axis(const struct fftnd__chain *one, int a, const struct fftnd__chain *other,
                      int b, int user) {
    if (one->points[a] != other->points[b] || one->modes[a] != other->modes[b])
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->kernel_plan has %lld points and %lld modes along axis %d, where plan "
                    "has %lld and %lld",
                    (long long)other->points[b], (long long)other->modes[b], user,
                    (long long)one->points[a], (long long)one->modes[a]);
    return one->axes[a] == other->axes[b]
               ? REDIST_OK
               : FAIL(REDIST_ERR_ARGUMENT,
                      "options->kernel_plan has another kind of axis %d than plan", user);
}

/* Checks that both plans have the same modes. */
static int check_plans(const fftnd_plan *plan, const fftnd_plan *other) {
    const struct fftnd__transform *a = &plan->engine.transform, *b = &other->engine.transform;
    if (a->plan_comm != b->plan_comm || a->precision != b->precision || a->space != b->space ||
        a->chain.ndims != b->chain.ndims || b->chain.twiddles)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->kernel_plan has another communicator, precision, memory space or "
                    "number of axes than plan");
    for (int user = 0; user < a->chain.ndims; user++)
        REDIST_TRY(check_axis(&a->chain, axis_of(a, user), &b->chain, axis_of(b, user), user));
    return REDIST_OK;
}

static int check_kernel(const fftnd_plan *of, const void *kernel) {
    const struct fftnd__engine *engine = &of->engine;
    if (!fftnd__is_empty(&engine->transform, fftnd__engine_input(engine, FFTND_PHYSICAL)))
        REDIST_TRY(kernel == NULL
                       ? FAIL(REDIST_ERR_NULL, "kernel = NULL, but this rank has points")
                       : engine->transform.space->check_array(FUNCTION, "kernel", kernel));
    return REDIST_OK;
}

/* Finds the plan that transforms the kernel, too; the operator's own one after a failure. */
static int check(fftnd_plan *plan, const void *kernel, const fftnd_operator_options *options,
                 fftnd_operator *const *op, fftnd_operator_options *own, fftnd_plan **of) {
    *of = plan;
    REDIST_TRY(fftnd__operator_check(FUNCTION, plan, options, op, own));
    if (own->kernel_plan != NULL) {
        REDIST_TRY(fftnd__check_idle(FUNCTION, own->kernel_plan));
        REDIST_TRY(check_plans(plan, own->kernel_plan));
        *of = own->kernel_plan;
    }
    REDIST_TRY(check_kernel(*of, kernel));
    return check_axes(&plan->engine.transform);
}

/* Copies the points of the first field between two arrays of the physical side. */
static int copy_points(const fftnd_plan *plan, const fftnd_layout *layout, const void *from,
                       void *to) {
    const struct fftnd__transform *transform = &plan->engine.transform;
    const ptrdiff_t item = (ptrdiff_t)layout->element_bytes, first = layout->offset * item;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    if (fftnd__is_empty(transform, fftnd__engine_input(&plan->engine, FFTND_PHYSICAL)))
        return REDIST_OK;
    for (int axis = 0; axis < layout->ndims; axis++)
        stride[axis] = layout->stride[axis] * item;
    return redist_copy_box_in(transform->space->id, transform->settings.stream, layout->ndims,
                              layout->count, layout->element_bytes, (const char *)from + first,
                              stride, (char *)to + first, stride);
}

/* Waits for what the plan has enqueued. */
static int wait_for(fftnd_plan *plan) {
    const struct fftnd__transform *transform = &plan->engine.transform;
    if (transform->space->asynchronous)
        REDIST_TRY(transform->space->stream_wait(transform->settings.stream));
    return fftnd_plan_query(plan);
}

/* Transforms a kernel, and zeros in the other fields of a batch. Collective. */
static int transform_kernel(fftnd_plan *plan, const void *kernel, void *arrays[2]) {
    const struct fftnd__transform *transform = &plan->engine.transform;
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    for (int side = 0; side < 2; side++) {
        REDIST_TRY(redist_agree(transform->comm,
                                fftnd_plan_layout(plan, (enum fftnd_side)side, &layouts[side])));
        if (side == 0 || !transform->settings.in_place)
            REDIST_TRY(redist_alloc_in(transform->comm, transform->space->id,
                                       layouts[side].bytes + 1, &arrays[side]));
    }
    int code =
        layouts[0].bytes > 0 ? transform->space->clear(arrays[0], layouts[0].bytes) : REDIST_OK;
    if (code == REDIST_OK)
        code = copy_points(plan, &layouts[0], kernel, arrays[0]);
    REDIST_TRY(redist_agree(transform->comm, code));
    code = fftnd_forward(plan, arrays[0], arrays[transform->settings.in_place ? 0 : 1]);
    return redist_agree(transform->comm, code == REDIST_OK ? wait_for(plan) : code);
}

/* Collective. */
static int create(fftnd_plan *plan, const void *kernel, const fftnd_operator_options *options,
                  fftnd_operator **op) {
    fftnd_operator_options own = FFTND_OPERATOR_OPTIONS_DEFAULT;
    fftnd_plan *of;
    void *arrays[2] = {NULL, NULL};
    int code = check(plan, kernel, options, op, &own, &of);
    const int conjugated = own.conjugated != 0;
    const redist_shared_value values[] = {
        redist_share_number("options->conjugated", conjugated),
        redist_share_number("options->kernel_plan is set", own.kernel_plan != NULL)};
    REDIST_TRY(redist_agree_values_in(FUNCTION, plan->engine.transform.comm, code, 2, values));
    const struct fftnd__factors factors = {1 / of->engine.scales[REDIST_FORWARD], of};
    code = transform_kernel(of, kernel, arrays);
    own = FFTND_OPERATOR_OPTIONS_DEFAULT;
    own.conjugated = conjugated;
    own.multiplier = arrays[of->engine.transform.settings.in_place ? 0 : 1];
    if (code == REDIST_OK)
        code = fftnd__operator_make(FUNCTION, plan, FFTND_MULTIPLY, &own, &factors, op);
    for (int i = 0; i < 2; i++) {
        int freed = redist_free(&arrays[i]);
        code = code != REDIST_OK ? code : freed;
    }
    return code;
}

int fftnd_operator_from_kernel(fftnd_plan *plan, const void *kernel,
                               const fftnd_operator_options *options, fftnd_operator **op) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    (void)fftnd__enter(plan, &visit);
    int code = create(plan, kernel, options, op);
    redist_leave(&visit);
    return code;
}
