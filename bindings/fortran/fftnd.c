/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the Fortran module fftnd for those of fftnd.h with MPI handles, or with arrays of Fortran. The arguments
 * are those of fftnd.h unless noted otherwise. */
#include "fftnd_file.h"
#include "fftnd_operators.h"
#include "fields.h"

#include <stdio.h>

/** type(fftnd_plan) */
struct fftnd__f_plan {
    fftnd_plan *plan;
    MPI_Fint comm;
    int space, batch_last, ndims, precision;
    redist_halo ghosts; /* of the physical side */
};

/** type(fftnd_operator) */
struct fftnd__f_operator {
    fftnd_operator *op;
    struct fftnd__f_plan plan;
};

/** The local array of one side in Fortran's order, with the batch if the array has an axis for it. */
struct shape {
    int rank;
    size_t element_bytes, bytes,
        offset; /* bytes of the whole memory, and before the first element */
    redist_index start[REDIST_MAX_NDIMS + 1], count[REDIST_MAX_NDIMS + 1];
    ptrdiff_t stride[REDIST_MAX_NDIMS + 1]; /* bytes */
};

/* ---------------------------------------------------------------- shapes of arrays */

static void add_axis(struct shape *shape, redist_index start, redist_index count,
                     ptrdiff_t stride) {
    shape->start[shape->rank] = start;
    shape->count[shape->rank] = count;
    shape->stride[shape->rank++] = stride * (ptrdiff_t)shape->element_bytes;
}

static void add_axis_with_ghosts(struct shape *shape, const fftnd_layout *layout, int axis,
                                 const redist_halo *ghosts) {
    add_axis(shape, layout->start[axis] - ghosts->low[axis],
             ghosts->low[axis] + layout->count[axis] + ghosts->high[axis], layout->stride[axis]);
    shape->offset -= (size_t)(ghosts->low[axis] * shape->stride[shape->rank - 1]);
}

/* Errors: ERR_ARGUMENT if an array of so many axes cannot have this layout. */
static int shape_of(const fftnd_layout *layout, const redist_halo *ghosts, int batch_last, int rank,
                    struct shape *shape) {
    int with_batch = rank == layout->ndims + 1;
    if (rank != layout->ndims + with_batch || (layout->batch > 1 && !with_batch))
        return redist_fail(REDIST_ERR_ARGUMENT,
                           "the array has %d axes, but the plan has %d and %lld fields", rank,
                           layout->ndims, (long long)layout->batch);
    shape->rank = 0;
    shape->element_bytes = layout->element_bytes;
    shape->bytes = layout->bytes;
    shape->offset = (size_t)layout->offset * layout->element_bytes;
    if (with_batch && batch_last)
        add_axis(shape, 0, layout->batch, layout->batch_stride);
    for (int axis = layout->ndims - 1; axis >= 0; axis--)
        add_axis_with_ghosts(shape, layout, axis, ghosts);
    if (with_batch && !batch_last)
        add_axis(shape, 0, layout->batch, layout->batch_stride);
    return REDIST_OK;
}

/* Finds the shape of an array of a plan's side, or with an operator of its input or output.
 * Errors: those of shape_of, fftnd_plan_layout and fftnd_operator_layout. */
static int find_shape(const struct fftnd__f_plan *plan, const struct fftnd__f_operator *op,
                      int which, int has_ghosts, int rank, struct shape *shape) {
    static const redist_halo none = {0};
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    REDIST_TRY(op != NULL ? fftnd_operator_layout(op->op, which, &layout)
                          : fftnd_plan_layout(plan->plan, (enum fftnd_side)which, &layout));
    has_ghosts = has_ghosts && (op != NULL || which == FFTND_PHYSICAL);
    for (int axis = 0; axis < layout.ndims; axis++)
        has_ghosts = has_ghosts && layout.count[axis] > 0; /* a rank without elements has none */
    return shape_of(&layout, has_ghosts ? &plan->ghosts : &none, plan->batch_last, rank, shape);
}

static int is_empty(const struct shape *shape) {
    for (int i = 0; i < shape->rank; i++)
        if (shape->count[i] == 0)
            return 1;
    return 0;
}

static int check_element(const struct shape *shape, size_t bytes) {
    return bytes == shape->element_bytes
               ? REDIST_OK
               : redist_fail(REDIST_ERR_ARGUMENT,
                             "an element of the array has %zu bytes, but one of the plan %zu",
                             bytes, shape->element_bytes);
}

static int point(CFI_cdesc_t *pointer, const struct shape *shape, void *memory) {
    redist_index lower[REDIST_MAX_NDIMS + 1];
    for (int i = 0; i < shape->rank; i++)
        lower[i] = shape->start[i] + 1;
    return redist__f_point(pointer, memory != NULL ? (char *)memory + shape->offset : NULL, lower,
                           shape->count, shape->stride);
}

/* Allocates an array of a shape that was found without an error. Collective. */
static int allocate(const struct fftnd__f_plan *plan, const struct shape *shape, int code,
                    CFI_cdesc_t *pointer) {
    void *memory = NULL;
    char message[512];
    if (code == REDIST_ERR_STATE) /* no plan, no communicator */
        return code;
    code = code ? code : check_element(shape, pointer->elem_len);
    if (code == REDIST_OK && shape->offset > 0) /* redist_free takes the begin of memory */
        code = redist_fail(REDIST_ERR_ARGUMENT,
                           "the array has %zu bytes of padding before this rank's part: allocate "
                           "it with redist_alloc, and point to the part with fftnd_point",
                           shape->offset);
    snprintf(message, sizeof(message), "%s", redist_error_message());
    /* no space: an error on all ranks, so that none waits for one whose array does not fit */
    int made = redist_alloc_in(MPI_Comm_f2c(plan->comm),
                               (enum redist_space)(code ? -1 : plan->space), shape->bytes, &memory);
    if (code)
        redist_set_message(message);
    code = code ? code : made;
    return code ? code : point(pointer, shape, memory);
}

/* Allocates the local array of one side. Collective. */
int fftnd__f_alloc(const struct fftnd__f_plan *plan, int side, CFI_cdesc_t *pointer) {
    struct shape shape = {0};
    int code = find_shape(plan, NULL, side, 1, pointer->rank, &shape);
    return allocate(plan, &shape, code, pointer);
}

/* Allocates the local input or output of an operator; in place one array is both. Collective. */
int fftnd__f_alloc_operator(const struct fftnd__f_operator *op, int is_output,
                            CFI_cdesc_t *pointer) {
    struct shape shape = {0};
    int code = find_shape(&op->plan, op, is_output, 1, pointer->rank, &shape);
    fftnd_layout other = FFTND_LAYOUT_DEFAULT;
    if (!code && !fftnd_operator_layout(op->op, !is_output, &other) && other.bytes > shape.bytes)
        shape.bytes = other.bytes;
    return allocate(&op->plan, &shape, code, pointer);
}

/* Points to memory with the layout of the local array of one side. */
int fftnd__f_point(const struct fftnd__f_plan *plan, int side, const CFI_cdesc_t *memory,
                   CFI_cdesc_t *pointer) {
    struct shape shape = {0};
    int code = find_shape(plan, NULL, side, 1, pointer->rank, &shape);
    code = code ? code : check_element(&shape, pointer->elem_len);
    return code ? code : point(pointer, &shape, memory->base_addr);
}

/* ---------------------------------------------------------------- plans and transforms */

int fftnd__f_plan_create(MPI_Fint comm, int ndims, const redist_index sizes[], int kind,
                         int precision, const fftnd_options *options, fftnd_plan **plan) {
    return fftnd_plan_create(MPI_Comm_f2c(comm), ndims, sizes, (enum fftnd_kind)kind,
                             (enum fftnd_precision)precision, options, plan);
}

int fftnd__f_cache_clear(MPI_Fint comm) {
    return fftnd_cache_clear(MPI_Comm_f2c(comm));
}

int fftnd__f_plan_get_comm(const fftnd_plan *plan, MPI_Fint *comm) {
    MPI_Comm found;
    int code = fftnd_plan_get_comm(plan, &found);
    if (code == REDIST_OK)
        *comm = MPI_Comm_c2f(found);
    return code;
}

/* Checks that the strides are those of the plan. */
static int check_strides(const struct shape *shape, const CFI_cdesc_t *array) {
    for (int i = 0; i < shape->rank; i++) {
        redist_index count = shape->count[i];
        if (array->dim[i].extent != count || (count > 1 && array->dim[i].sm != shape->stride[i]))
            return redist_fail(REDIST_ERR_ARGUMENT,
                               "axis %d of the array has %lld elements %lld bytes apart, but that "
                               "of the plan %lld, %lld apart",
                               i + 1, (long long)array->dim[i].extent, (long long)array->dim[i].sm,
                               (long long)count, (long long)shape->stride[i]);
    }
    return REDIST_OK;
}

static int check_array(const struct shape *shape, const CFI_cdesc_t *array) {
    if (is_empty(shape))
        return REDIST_OK;
    int code = check_element(shape, array->elem_len);
    return code ? code : check_strides(shape, array);
}

/* Finds the shape that an array has, with the ghosts or without. */
static int find_array(const struct fftnd__f_plan *plan, const struct fftnd__f_operator *op,
                      int which, const CFI_cdesc_t *array, struct shape *shape) {
    int code = REDIST_ERR_ARGUMENT;
    for (int has_ghosts = 1; code != REDIST_OK && has_ghosts >= 0; has_ghosts--) {
        code = find_shape(plan, op, which, has_ghosts, array->rank, shape);
        code = code ? code : check_array(shape, array);
    }
    return code;
}

/* Checks that both arrays fit, else sets a message, and finds their shapes. */
static int fit(const struct fftnd__f_plan *plan, const struct fftnd__f_operator *op, int from,
               const CFI_cdesc_t *input, const CFI_cdesc_t *output, struct shape shapes[2]) {
    return !find_array(plan, op, from, input, &shapes[0]) &&
           !find_array(plan, op, !from, output, &shapes[1]);
}

/* Returns the begin of an array, of which the caller passed the elements without the room before them. */
static void *begin_of(const struct shape *shape, const CFI_cdesc_t *array) {
    return shape->offset > 0 ? (char *)array->base_addr - shape->offset : array->base_addr;
}

/* Runs a transform. NULL, which the library refuses on all ranks, replaces an array that does not fit; its rank has the
 * better message. */
static int run(const struct fftnd__f_plan *plan, int direction, const CFI_cdesc_t *input,
               const CFI_cdesc_t *output,
               int (*function)(fftnd_plan *plan, int direction, void *input, void *output)) {
    int from = direction == REDIST_BACKWARD ? FFTND_SPECTRAL : FFTND_PHYSICAL;
    struct shape shapes[2] = {{0}, {0}};
    if (fit(plan, NULL, from, input, output, shapes))
        return function(plan->plan, direction, begin_of(&shapes[0], input),
                        begin_of(&shapes[1], output));
    char message[512];
    snprintf(message, sizeof(message), "%s", redist_error_message());
    int code = function(plan->plan, direction, NULL, NULL);
    if (code == REDIST_ERR_NULL)
        redist_set_message(message);
    return code;
}

static int execute(fftnd_plan *plan, int direction, void *input, void *output) {
    return (direction == REDIST_FORWARD ? fftnd_forward : fftnd_backward)(plan, input, output);
}

int fftnd__f_execute(const struct fftnd__f_plan *plan, int direction, const CFI_cdesc_t *input,
                     const CFI_cdesc_t *output) {
    return run(plan, direction, input, output, execute);
}

int fftnd__f_start(const struct fftnd__f_plan *plan, int direction, const CFI_cdesc_t *input,
                   const CFI_cdesc_t *output) {
    return run(plan, direction, input, output, fftnd_start);
}

int fftnd__f_transfer(const struct fftnd__f_plan *plan, int direction, const CFI_cdesc_t *input,
                      const CFI_cdesc_t *output) {
    return run(plan, direction, input, output, fftnd_plan_transfer);
}

/* Describes the array of one side as a field of a file, without a name. */
int fftnd__f_plan_field(const struct fftnd__f_plan *plan, int side, const CFI_cdesc_t *array,
                        struct redist__f_field *field) {
    struct shape shape = {0};
    redist_field own = REDIST_FIELD_DEFAULT;
    REDIST_TRY(find_array(plan, NULL, side, array, &shape));
    void *begin = is_empty(&shape) ? NULL : begin_of(&shape, array);
    REDIST_TRY(fftnd_plan_field(plan->plan, (enum fftnd_side)side, begin, &own));
    redist__f_field_put(&own, array, field);
    return REDIST_OK;
}

int fftnd__f_set_workspace(fftnd_plan *plan, const CFI_cdesc_t *workspace) {
    size_t bytes = workspace->elem_len;
    for (int i = 0; i < workspace->rank; i++)
        bytes *= (size_t)workspace->dim[i].extent;
    return fftnd_plan_set_workspace(plan, redist__f_address(workspace), bytes);
}

/* ---------------------------------------------------------------- operators */

int fftnd__f_operator_create(const struct fftnd__f_plan *plan, int kind,
                             const fftnd_operator_options *options, fftnd_operator **op) {
    return fftnd_operator_create(plan->plan, (enum fftnd_operator_kind)kind, options, op);
}

/* Makes the shape of complex numbers that of as many real ones. */
static void halve(struct shape *shape) {
    shape->element_bytes /= 2;
    shape->offset /= 2;
    for (int i = 0; i < shape->rank; i++)
        shape->stride[i] /= 2;
}

/* Finds the begin of an array of factors, of the spectral side or of real numbers in the place of its complex ones. */
int fftnd__f_multiplier(const struct fftnd__f_plan *plan, const CFI_cdesc_t *array, int *is_real,
                        void **multiplier) {
    static const size_t bytes[] = {[FFTND_DOUBLE] = sizeof(double),
                                   [FFTND_FLOAT] = sizeof(float),
                                   [FFTND_LONG_DOUBLE] = sizeof(long double)};
    struct shape shape = {0};
    REDIST_TRY(find_shape(plan, NULL, FFTND_SPECTRAL, 0, array->rank, &shape));
    *is_real = array->elem_len == bytes[plan->precision];
    if (*is_real && shape.element_bytes > array->elem_len)
        halve(&shape);
    REDIST_TRY(check_array(&shape, array));
    *multiplier = is_empty(&shape) ? NULL : begin_of(&shape, array);
    return REDIST_OK;
}

/* Makes the operator of a kernel, an array of the second plan. Options without a size, which the library refuses on all
 * ranks, replace those of an array that does not fit. */
int fftnd__f_operator_from_kernel(const struct fftnd__f_plan *plan, const struct fftnd__f_plan *of,
                                  const CFI_cdesc_t *kernel, int conjugated, fftnd_operator **op) {
    struct shape shape = {0};
    fftnd_operator_options options = FFTND_OPERATOR_OPTIONS_DEFAULT;
    char message[512];
    int wrong = find_array(of, NULL, FFTND_PHYSICAL, kernel, &shape);
    snprintf(message, sizeof(message), "%s", redist_error_message());
    options.kernel_plan = of->plan != plan->plan ? of->plan : NULL;
    options.conjugated = conjugated;
    options.size = wrong ? 0 : options.size;
    void *begin = wrong || is_empty(&shape) ? NULL : begin_of(&shape, kernel);
    int code = fftnd_operator_from_kernel(plan->plan, begin, &options, op);
    if (wrong)
        redist_set_message(message);
    return code;
}

/* Applies an operator; as run. */
static int run_operator(const struct fftnd__f_plan *plan, const struct fftnd__f_operator *op,
                        const CFI_cdesc_t *input, const CFI_cdesc_t *output,
                        int (*function)(fftnd_plan *plan, fftnd_operator *op, void *input,
                                        void *output)) {
    struct shape shapes[2] = {{0}, {0}};
    if (fit(&op->plan, op, 0, input, output, shapes))
        return function(plan->plan, op->op, begin_of(&shapes[0], input),
                        begin_of(&shapes[1], output));
    char message[512];
    snprintf(message, sizeof(message), "%s", redist_error_message());
    int code = function(plan->plan, op->op, NULL, NULL);
    if (code == REDIST_ERR_NULL)
        redist_set_message(message);
    return code;
}

int fftnd__f_apply(const struct fftnd__f_plan *plan, const struct fftnd__f_operator *op,
                   const CFI_cdesc_t *input, const CFI_cdesc_t *output) {
    return run_operator(plan, op, input, output, fftnd_apply);
}

int fftnd__f_apply_physical(const struct fftnd__f_plan *plan, const struct fftnd__f_operator *op,
                            const CFI_cdesc_t *input, const CFI_cdesc_t *output) {
    return run_operator(plan, op, input, output, fftnd_apply_physical);
}
