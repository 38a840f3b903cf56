/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's transforms, on plans of libfftnd.
 *
 * FFTW splits axis 0, or axis 1 of a transposed side, which it then stores first. A chain of libfftnd on a grid of one
 * dimension begins with one axis split and ends with another one, so that every pair of sides is a chain with an order;
 * if both sides split the same axis, one exchange more leads back. libfftnd's forward transform has FFTW's sign -1. A
 * plan of sign +1 is a backward one, whose input is the spectral side.
 */
#include "axis.h"
#include "redist_support.h"

#include <math.h>
#include <stdlib.h>

/* Parameters of a plan of libfftnd, kept since an execution may need another plan. */
struct settings {
    MPI_Comm comm; /* libredist's own */
    int ndims, nranks;
    redist_index sizes[REDIST_MAX_NDIMS];
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    fftnd_options options;
    int grid[1], order[REDIST_MAX_NDIMS], split[1];
    int memory_order[2][REDIST_MAX_NDIMS];
    redist_index padding[REDIST_MAX_NDIMS];
    redist_index *bounds[2]; /* of one grid dimension; room for nranks + 1 values each */
    const redist_index *bound_lists[2][1];
    enum fftnd_r2r r2r[REDIST_MAX_NDIMS];
};

struct transform {
    struct fftnd_fftw__plan plan;
    struct settings settings;
    int direction;
    struct fftnd_fftw__axis axis; /* of one axis over several ranks */
    size_t bytes[2];              /* of input and output */
    fftnd_plan
        *plans[2]; /* for arrays of any memory, for arrays that peers map; NULL until needed */
    int planned;   /* index of the one for the arrays of planning */
};

/* ---------------------------------------------------------------- executing */

/* Returns whether peers map this rank's arrays, also those without elements, which may be work space. */
static int are_mapped(const struct transform *transform, const void *in, const void *out) {
    const void *const arrays[2] = {in, out};
    for (int i = 0; i < 2; i++) {
        size_t bytes = transform->bytes[i] != 0 ? transform->bytes[i] : 1;
        if (arrays[i] != NULL && !redist_is_mappable(REDIST_SPACE_HOST, arrays[i], bytes))
            return 0;
    }
    return 1;
}

static int agree_mapped(const struct transform *transform, const void *in, const void *out) {
    int mapped = are_mapped(transform, in, out);
    return redist_all_lowest(transform->settings.comm, mapped, &mapped) == REDIST_OK && mapped;
}

static int provide(struct transform *transform, int mapped) {
    struct settings *settings = &transform->settings;
    if (transform->plans[mapped] != NULL)
        return REDIST_OK;
    settings->options.mapped_arrays = mapped;
    return fftnd_plan_create(settings->comm, settings->ndims, settings->sizes, settings->kind,
                             settings->precision, &settings->options, &transform->plans[mapped]);
}

static int run(const struct transform *transform, fftnd_plan *plan, void *const arrays[2]) {
    return (transform->direction == REDIST_FORWARD ? fftnd_forward
                                                   : fftnd_backward)(plan, arrays[0], arrays[1]);
}

/* Executes; the ranks agree on the plan for other arrays. */
static int execute(struct fftnd_fftw__plan *plan, void *in, void *out, int new_arrays) {
    struct transform *transform = (struct transform *)plan;
    const struct fftnd_fftw__axis *axis = &transform->axis;
    void *const arrays[2] = {fftnd_fftw__axis_array(axis, 0, in),
                             fftnd_fftw__axis_array(axis, 1, out)};
    int mapped = new_arrays ? agree_mapped(transform, arrays[0], arrays[1]) : transform->planned;
    int code = provide(transform, mapped);
    if (code == REDIST_OK)
        code = fftnd_fftw__axis_move(axis, 0, in);
    if (code == REDIST_OK)
        code = run(transform, transform->plans[mapped], arrays);
    return code == REDIST_OK ? fftnd_fftw__axis_move(axis, 1, out) : code;
}

static void destroy(struct fftnd_fftw__plan *plan) {
    struct transform *transform = (struct transform *)plan;
    for (int i = 0; i < 2; i++) {
        (void)fftnd_plan_free(&transform->plans[i]);
        free(transform->settings.bounds[i]);
    }
    fftnd_fftw__axis_destroy(&transform->axis);
    free(transform);
}

static void describe(const struct fftnd_fftw__plan *plan, size_t bytes, char text[]) {
    static const char *const kinds[] = {"c2c", "r2c", "r2r"};
    const struct transform *transform = (const struct transform *)plan;
    const struct settings *settings = &transform->settings;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    (void)fftnd_plan_get_info(transform->plans[transform->planned], &info);
    int length = snprintf(text, bytes, "(fftnd-%s %s ", kinds[settings->kind],
                          transform->direction == REDIST_FORWARD ? "forward" : "backward");
    for (int axis = 0; axis < settings->ndims; axis++)
        length += snprintf(text + length, bytes - (size_t)length, "%s%lld", axis > 0 ? "x" : "",
                           (long long)settings->sizes[axis]);
    snprintf(text + length, bytes - (size_t)length, "x%d %s%s %d threads)", settings->options.batch,
             info.method, info.fused ? " fused" : "", info.threads);
}

static const struct fftnd_fftw__kind kind = {"transform", execute, destroy, describe};

/* ---------------------------------------------------------------- parameters of libfftnd's plans */

/* Returns libfftnd's side of the input (0) or output (1). */
static int side_of(const struct transform *transform, int array) {
    return transform->direction == REDIST_FORWARD ? array : !array;
}

static int split_axis(const struct fftnd_fftw__request *request, int array) {
    return request->flags.transposed[array];
}

/* Returns whether the transform is of one axis over several ranks. */
static int is_long(const struct settings *settings) {
    return settings->ndims == 1 && settings->nranks > 1;
}

static int is_real(const struct transform *transform, int side) {
    return transform->settings.kind == FFTND_R2R ||
           (transform->settings.kind == FFTND_R2C && side == FFTND_PHYSICAL);
}

static redist_index extent_of(const struct transform *transform, int side, int axis) {
    const struct settings *settings = &transform->settings;
    redist_index n = settings->sizes[axis];
    int halved = settings->kind == FFTND_R2C && axis == settings->ndims - 1;
    return halved && side == FFTND_SPECTRAL ? n / 2 + 1 : n;
}

/* Sets the boundaries of blocks that are not FFTW's own. */
static int set_blocks(struct transform *transform, int side, int axis, ptrdiff_t block) {
    struct settings *settings = &transform->settings;
    redist_index n = extent_of(transform, side, axis), count;
    settings->options.blocks[side] = FFTND_BLOCKS_CEILING;
    if (block == 0)
        return REDIST_OK;
    redist_index *bounds = calloc((size_t)settings->nranks + 1, sizeof *bounds);
    settings->bounds[side] = bounds;
    if (bounds == NULL)
        return redist_fail(REDIST_ERR_MEMORY, "no memory for a plan");
    for (int rank = 0; rank < settings->nranks; rank++) {
        fftnd_fftw__block(n, block, settings->nranks, rank, &bounds[rank], &count);
        bounds[rank + 1] = bounds[rank] + count;
        if (count == 0)
            bounds[rank] = bounds[rank + 1] = n;
    }
    settings->bound_lists[side][0] = bounds;
    settings->options.bounds[side] = settings->bound_lists[side];
    return REDIST_OK;
}

/* Sets the order: first the axis that the physical side splits, then the one that the chain splits next. */
static void set_chain(struct settings *settings, int physical, int spectral) {
    int last = physical != spectral ? spectral : !physical;
    settings->order[0] = physical;
    settings->order[1] = last;
    for (int axis = 2; axis < settings->ndims; axis++)
        settings->order[axis] = axis;
    settings->split[0] = spectral;
    settings->options.grid_ndims = 1;
    settings->grid[0] = settings->nranks;
    settings->options.grid = settings->grid;
    settings->options.order = settings->order;
    if (last != spectral)
        settings->options.split[FFTND_SPECTRAL] = settings->split;
}

static void set_memory(struct settings *settings, int side, int transposed) {
    for (int axis = 0; axis < settings->ndims; axis++)
        settings->memory_order[side][axis] = axis < 2 ? axis ^ transposed : axis;
    if (transposed)
        settings->options.memory_order[side] = settings->memory_order[side];
}

/* Sets the padding; FFTW pads the real side of r2c and c2r out of place too. */
static void set_padding(struct settings *settings) {
    int last = settings->ndims - 1;
    redist_index n = settings->sizes[last];
    settings->padding[last] = 2 * (n / 2 + 1) - n;
    if (settings->kind == FFTND_R2C && !settings->options.in_place)
        settings->options.padding[FFTND_PHYSICAL] = settings->padding;
}

/* Counts a rank's floating point operations by the usual formula of FFTs. */
static double count_flops(const struct settings *settings) {
    double points = settings->options.batch, all = 1;
    for (int axis = 0; axis < settings->ndims; axis++)
        all *= (double)settings->sizes[axis];
    points *= all / settings->nranks;
    return (settings->kind == FFTND_C2C ? 5 : 2.5) * points * (all > 1 ? log2(all) : 0);
}

/* Limits planning to FFTW's usual time: some hundred executions, a dozen of large transforms. */
static double limit_planning(const struct settings *settings, double time_limit) {
    double executed = 1e-9 * count_flops(settings), small = 300 * executed;
    double seconds = 1e-3 + 2 * executed + (small < 0.05 ? small : 0.05);
    if (time_limit > 0)
        return time_limit;
    return settings->options.effort == FFTND_MEASURE ? seconds : 0;
}

static int set_options(const struct fftnd_fftw__request *request, struct transform *transform) {
    struct settings *settings = &transform->settings;
    fftnd_options *options = &settings->options;
    int code = REDIST_OK;
    *options = FFTND_OPTIONS_DEFAULT;
    options->scaling = FFTND_SCALE_NONE;
    options->batch = (int)request->howmany;
    options->batch_position = FFTND_BATCH_LAST;
    options->r2r = request->kind == FFTND_R2R ? settings->r2r : NULL;
    options->in_place = request->in_place;
    options->overwrite_input = !request->in_place && request->flags.may_destroy_input;
    options->effort = request->flags.effort;
    options->threads = request->threads;
    options->plan_seconds = limit_planning(settings, request->time_limit);
    options->skip_agreement = 1;
    options->keep = 1; /* programs of FFTW make the same plan again and again */
    set_padding(settings);
    if (settings->ndims == 1)
        return REDIST_OK;
    int axes[2];
    for (int array = 0; array < 2 && code == REDIST_OK; array++) {
        int side = side_of(transform, array), axis = split_axis(request, array);
        axes[side] = axis;
        set_memory(settings, side, axis);
        code = set_blocks(transform, side, axis, request->blocks[array]);
    }
    set_chain(settings, axes[FFTND_PHYSICAL], axes[FFTND_SPECTRAL]);
    return code;
}

/* ---------------------------------------------------------------- plans left to FFTW */

static int check_blocks(const struct fftnd_fftw__request *request,
                        const struct transform *transform) {
    for (int array = 0; array < 2; array++) {
        int axis = split_axis(request, array);
        redist_index n = extent_of(transform, side_of(transform, array), axis);
        if (!fftnd_fftw__blocks_fit(n, request->blocks[array], transform->settings.nranks))
            return redist_fail(REDIST_ERR_SIZE, "blocks of %td elements on %d ranks",
                               request->blocks[array], transform->settings.nranks);
    }
    if (split_axis(request, 0) == split_axis(request, 1) &&
        request->blocks[0] != request->blocks[1])
        return redist_fail(REDIST_ERR_SIZE, "different blocks of one axis");
    return REDIST_OK;
}

/* Checks one axis. Of the refused plans FFTW itself has only those of real numbers. */
static int check_axis(const struct fftnd_fftw__request *request, int nranks) {
    const struct fftnd_fftw__flags *flags = &request->flags;
    if (request->n[0] < 1)
        return redist_fail(REDIST_ERR_SIZE, "n[0] = %td", request->n[0]);
    if (request->kind != FFTND_C2C && nranks > 1)
        return redist_fail(REDIST_ERR_METHOD, "one axis of real numbers over several ranks");
    if (flags->transposed[0] || flags->transposed[1])
        return redist_fail(REDIST_ERR_METHOD, "FFTW_MPI_TRANSPOSED of one axis");
    if (flags->scrambled[0] && flags->scrambled[1])
        return redist_fail(REDIST_ERR_METHOD, "FFTW_MPI_SCRAMBLED on both sides");
    for (int array = 0; array < 2; array++)
        if (!fftnd_fftw__blocks_fit(request->n[0], request->blocks[array], nranks))
            return redist_fail(REDIST_ERR_SIZE, "blocks of %td elements on %d ranks",
                               request->blocks[array], nranks);
    return REDIST_OK;
}

static int check(const struct fftnd_fftw__request *request, const struct transform *transform) {
    const struct fftnd_fftw__flags *flags = &request->flags;
    if (request->howmany < 1 || request->howmany > INT32_MAX)
        return redist_fail(REDIST_ERR_SIZE, "howmany = %td", request->howmany);
    if (request->rank == 1)
        return check_axis(request, transform->settings.nranks);
    if (flags->scrambled[0] || flags->scrambled[1])
        return redist_fail(REDIST_ERR_METHOD, "FFTW_MPI_SCRAMBLED of several axes");
    return check_blocks(request, transform);
}

/* ---------------------------------------------------------------- making */

static int set_r2r(const struct fftnd_fftw__request *request, struct settings *settings) {
    static const enum fftnd_r2r kinds[] = {FFTND_R2HC, FFTND_HC2R, FFTND_DHT,  FFTND_DCT1,
                                           FFTND_DCT3, FFTND_DCT2, FFTND_DCT4, FFTND_DST1,
                                           FFTND_DST3, FFTND_DST2, FFTND_DST4};
    for (int axis = 0; axis < request->rank; axis++) {
        int fftw = request->r2r[axis];
        if (fftw < 0 || fftw >= (int)(sizeof kinds / sizeof *kinds))
            return redist_fail(REDIST_ERR_ARGUMENT,
                               "kind[%d] = %d is not in FFTW_R2HC..FFTW_RODFT11 (0..10)", axis,
                               fftw);
        settings->r2r[axis] = kinds[fftw];
    }
    return REDIST_OK;
}

/* Returns the direction: the scrambled side is libfftnd's spectral side for either sign; the transform of the other
 * sign has the same modes in another order. */
static int direction_of(const struct fftnd_fftw__request *request, int nranks) {
    const int *scrambled = request->flags.scrambled;
    int backward = nranks > 1 && (scrambled[0] || scrambled[1]) ? scrambled[0] : request->backward;
    return backward ? REDIST_BACKWARD : REDIST_FORWARD;
}

static int begin(const struct fftnd_fftw__request *request, struct transform *transform) {
    struct settings *settings = &transform->settings;
    int code = REDIST_OK;
    if (request->rank < 1 || request->rank >= REDIST_MAX_NDIMS)
        return redist_fail(REDIST_ERR_SIZE, "%d axes", request->rank);
    settings->ndims = request->rank;
    settings->kind = request->kind;
    settings->precision = request->precision;
    MPI_Comm_size(request->comm, &settings->nranks);
    transform->direction = direction_of(request, settings->nranks);
    for (int axis = 0; axis < request->rank; axis++)
        settings->sizes[axis] = request->n[axis];
    if (request->kind == FFTND_R2R)
        code = set_r2r(request, settings);
    if (code == REDIST_OK)
        code = check(request, transform);
    return code == REDIST_OK ? set_options(request, transform) : code;
}

/* Finds the bytes of both arrays on this rank. */
static void find_bytes(const struct fftnd_fftw__request *request, struct transform *transform) {
    const struct settings *settings = &transform->settings;
    for (int array = 0; array < 2; array++) {
        int side = side_of(transform, array), rank;
        size_t bytes =
            (is_real(transform, side) ? 1 : 2) * request->number_bytes * (size_t)request->howmany;
        MPI_Comm_rank(request->comm, &rank);
        for (int axis = 0; axis < settings->ndims; axis++) {
            redist_index start, count = extent_of(transform, side, axis);
            if (axis == settings->ndims - 1 && settings->kind == FFTND_R2C &&
                side == FFTND_PHYSICAL)
                count += settings->padding[axis];
            if (is_long(settings))
                count = transform->axis.count[array];
            else if (settings->ndims > 1 && axis == split_axis(request, array))
                fftnd_fftw__block(extent_of(transform, side, axis), request->blocks[array],
                                  settings->nranks, rank, &start, &count);
            bytes *= (size_t)count;
        }
        transform->bytes[array] = bytes;
    }
}

/* Checks that an array fits the size of FFTW's local_size. */
static int check_array(const struct fftnd_fftw__request *request, const struct transform *transform,
                       int array) {
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    int code = fftnd_plan_layout(transform->plans[transform->planned],
                                 (enum fftnd_side)side_of(transform, array), &layout);
    if (code == REDIST_OK && layout.bytes > request->room)
        return redist_fail(REDIST_ERR_SIZE, "arrays of %zu bytes are too small for %zu",
                           request->room, layout.bytes);
    if (code == REDIST_OK && is_long(&transform->settings) &&
        (layout.count[0] != transform->axis.count[array] ||
         (layout.count[0] > 0 && layout.start[0] != transform->axis.start[array])))
        return redist_fail(REDIST_ERR_STATE, "the axis has other rows than expected");
    return code;
}

static int check_arrays(const struct fftnd_fftw__request *request,
                        const struct transform *transform) {
    int code = check_array(request, transform, 0);
    return redist_agree(request->comm,
                        code == REDIST_OK ? check_array(request, transform, 1) : code);
}

/* Plans one axis; the plan's array, if any, may replace either. */
static int plan_axis(const struct fftnd_fftw__request *request, struct transform *transform) {
    struct fftnd_fftw__axis *axis = &transform->axis;
    fftnd_options *options = &transform->settings.options;
    int code = fftnd_fftw__axis_create(request, transform->direction == REDIST_FORWARD, axis);
    int from_work = axis->moves[0] != NULL, to_work = axis->moves[1] != NULL;
    options->alignment = axis->scrambled ? FFTND_ALIGN_CHAIN : FFTND_ALIGN_INPUT;
    options->in_place = from_work == to_work && (from_work || request->in_place);
    options->overwrite_input =
        !options->in_place && (from_work || options->overwrite_input || request->in_place);
    return code;
}

static int plan_arrays(const struct fftnd_fftw__request *request, struct transform *transform) {
    int code = redist_private_comm(request->comm, &transform->settings.comm);
    if (code == REDIST_OK && is_long(&transform->settings))
        code = plan_axis(request, transform);
    if (code != REDIST_OK)
        return code;
    void *in = fftnd_fftw__axis_array(&transform->axis, 0, request->in);
    void *out = fftnd_fftw__axis_array(&transform->axis, 1, request->out);
    find_bytes(request, transform);
    transform->planned = agree_mapped(transform, in, out);
    code = provide(transform, transform->planned);
    /* from here on the ranks know whether they can map each other's memory */
    if (code == REDIST_OK && transform->planned && !agree_mapped(transform, in, out)) {
        transform->planned = 0;
        code = provide(transform, 0);
    }
    if (code == REDIST_OK)
        code = check_arrays(request, transform);
    transform->plan.flops = count_flops(&transform->settings);
    return code;
}

int fftnd_fftw__transform_create(const struct fftnd_fftw__request *request,
                                 struct fftnd_fftw__plan **plan) {
    struct transform *transform = calloc(1, sizeof *transform);
    int code =
        transform != NULL ? REDIST_OK : redist_fail(REDIST_ERR_MEMORY, "no memory for a plan");
    if (code == REDIST_OK) {
        fftnd_fftw__plan_init(&transform->plan, &kind, request->in, request->out);
        code = begin(request, transform);
    }
    code = redist_agree(request->comm, code);
    if (code == REDIST_OK)
        code = plan_arrays(request, transform);
    if (code == REDIST_OK)
        *plan = &transform->plan;
    else if (transform != NULL)
        destroy(&transform->plan);
    return code;
}
