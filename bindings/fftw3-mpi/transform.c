/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * FFTW's transforms, on plans of libfftnd.
 *
 * FFTW splits axis 0, and axis 1 where a side is transposed, which it then stores first. A chain of libfftnd on a
 * grid of one dimension begins with one axis split and ends with another one, so that every pair of sides is a chain
 * of its own order; where both sides split the same axis, it is carried back. libfftnd's forward transform has
 * FFTW's sign -1. A plan of sign +1 is a backward one, whose input is the spectral side.
 */
#include "redist_support.h"
#include "request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a plan of libfftnd is made of, kept since another one may have to be made when it is executed. */
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
    size_t bytes[2]; /* of input and output */
    fftnd_plan
        *plans[2]; /* for arrays of any memory, for arrays that peers map; NULL until needed */
    int planned;   /* which of them is for the arrays of planning */
};

/* ---------------------------------------------------------------- executing */

/* Whether peers map this rank's arrays. One without elements may be used on the way. */
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
    return MPI_Allreduce(MPI_IN_PLACE, &mapped, 1, MPI_INT, MPI_MIN, transform->settings.comm) ==
               MPI_SUCCESS &&
           mapped;
}

static int provide(struct transform *transform, int mapped) {
    struct settings *settings = &transform->settings;
    if (transform->plans[mapped] != NULL)
        return REDIST_OK;
    settings->options.mapped_arrays = mapped;
    return fftnd_plan_create(settings->comm, settings->ndims, settings->sizes, settings->kind,
                             settings->precision, &settings->options, &transform->plans[mapped]);
}

/* With other arrays the ranks find out together which plan is for them. */
static int execute(struct fftnd_fftw__plan *plan, void *in, void *out, int new_arrays) {
    struct transform *transform = (struct transform *)plan;
    int mapped = new_arrays ? agree_mapped(transform, in, out) : transform->planned;
    int code = provide(transform, mapped);
    if (code != REDIST_OK)
        return code;
    if (transform->direction == REDIST_FORWARD)
        return fftnd_forward(transform->plans[mapped], in, out);
    return fftnd_backward(transform->plans[mapped], in, out);
}

static void destroy(struct fftnd_fftw__plan *plan) {
    struct transform *transform = (struct transform *)plan;
    for (int i = 0; i < 2; i++) {
        (void)fftnd_plan_free(&transform->plans[i]);
        free(transform->settings.bounds[i]);
    }
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
    snprintf(text + length, bytes - (size_t)length, "x%d %s%s)", settings->options.batch,
             info.method, info.fused ? " fused" : "");
}

static const struct fftnd_fftw__kind kind = {"transform", execute, destroy, describe};

/* ---------------------------------------------------------------- what libfftnd is asked for */

/* Which side of libfftnd's the input (0) or output (1) is. */
static int side_of(const struct transform *transform, int array) {
    return transform->direction == REDIST_FORWARD ? array : !array;
}

static int split_axis(const struct fftnd_fftw__request *request, int array) {
    return array == 0 ? request->flags.transposed_in : request->flags.transposed_out;
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

/* The boundaries of blocks that are not FFTW's own. */
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

/* The axis that the physical side splits comes first, the one that the chain then splits second. */
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

/* FFTW pads the real side of r2c and c2r out of place too. */
static void set_padding(struct settings *settings) {
    int last = settings->ndims - 1;
    redist_index n = settings->sizes[last];
    settings->padding[last] = 2 * (n / 2 + 1) - n;
    if (settings->kind == FFTND_R2C && !settings->options.in_place)
        settings->options.padding[FFTND_PHYSICAL] = settings->padding;
}

/* Floating point operations of a rank, as FFTs are usually counted. */
static double count_flops(const struct settings *settings) {
    double points = settings->options.batch, all = 1;
    for (int axis = 0; axis < settings->ndims; axis++)
        all *= (double)settings->sizes[axis];
    points *= all / settings->nranks;
    return (settings->kind == FFTND_C2C ? 5 : 2.5) * points * (all > 1 ? log2(all) : 0);
}

/* FFTW plans small transforms in less time than libfftnd would take by itself: some hundred executions. */
static double limit_planning(const struct settings *settings, double time_limit) {
    double seconds = 300 * count_flops(settings) * 1e-9 + 1e-3;
    if (time_limit > 0)
        return time_limit;
    return settings->options.effort == FFTND_MEASURE && seconds < 3 ? seconds : 0;
}

static int set_options(const struct fftnd_fftw__request *request, struct transform *transform) {
    struct settings *settings = &transform->settings;
    fftnd_options *options = &settings->options;
    int code = REDIST_OK;
    *options = (fftnd_options)FFTND_OPTIONS_DEFAULT;
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

/* ---------------------------------------------------------------- what is left to FFTW */

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

static int check(const struct fftnd_fftw__request *request, const struct transform *transform) {
    const struct settings *settings = &transform->settings;
    if (request->flags.wisdom_only)
        return redist_fail(REDIST_ERR_METHOD, "FFTW_WISDOM_ONLY");
    if (settings->ndims == 1 && settings->nranks > 1)
        return redist_fail(REDIST_ERR_METHOD, "one axis over several ranks");
    if (request->flags.scrambled)
        return redist_fail(REDIST_ERR_METHOD, "FFTW_MPI_SCRAMBLED");
    if (request->howmany < 1 || request->howmany > INT32_MAX)
        return redist_fail(REDIST_ERR_SIZE, "howmany = %td", request->howmany);
    return settings->ndims > 1 ? check_blocks(request, transform) : REDIST_OK;
}

/* ---------------------------------------------------------------- making */

static enum fftnd_r2r r2r_of(int fftw) {
    static const enum fftnd_r2r kinds[] = {FFTND_R2HC, FFTND_HC2R, FFTND_DHT,  FFTND_DCT1,
                                           FFTND_DCT3, FFTND_DCT2, FFTND_DCT4, FFTND_DST1,
                                           FFTND_DST3, FFTND_DST2, FFTND_DST4};
    return kinds[fftw];
}

static int begin(const struct fftnd_fftw__request *request, struct transform *transform) {
    struct settings *settings = &transform->settings;
    if (request->rank < 1 || request->rank >= REDIST_MAX_NDIMS)
        return redist_fail(REDIST_ERR_SIZE, "%d axes", request->rank);
    settings->ndims = request->rank;
    settings->kind = request->kind;
    settings->precision = request->precision;
    MPI_Comm_size(request->comm, &settings->nranks);
    transform->direction = request->backward ? REDIST_BACKWARD : REDIST_FORWARD;
    for (int axis = 0; axis < request->rank; axis++) {
        settings->sizes[axis] = request->n[axis];
        if (request->kind == FFTND_R2R)
            settings->r2r[axis] = r2r_of(request->r2r[axis]);
    }
    int code = check(request, transform);
    return code == REDIST_OK ? set_options(request, transform) : code;
}

/* The bytes of both arrays on this rank. */
static void find_bytes(const struct fftnd_fftw__request *request, struct transform *transform) {
    const struct settings *settings = &transform->settings;
    for (int array = 0; array < 2; array++) {
        int side = side_of(transform, array), rank;
        size_t number = settings->precision == FFTND_DOUBLE ? sizeof(double) : sizeof(float);
        size_t bytes = (is_real(transform, side) ? 1 : 2) * number * (size_t)request->howmany;
        MPI_Comm_rank(request->comm, &rank);
        for (int axis = 0; axis < settings->ndims; axis++) {
            redist_index start, count = extent_of(transform, side, axis);
            if (axis == settings->ndims - 1 && settings->kind == FFTND_R2C &&
                side == FFTND_PHYSICAL)
                count += settings->padding[axis];
            if (settings->ndims > 1 && axis == split_axis(request, array))
                fftnd_fftw__block(extent_of(transform, side, axis), request->blocks[array],
                                  settings->nranks, rank, &start, &count);
            bytes *= (size_t)count;
        }
        transform->bytes[array] = bytes;
    }
}

/* The program has allocated what FFTW's local_size says. */
static int check_room(const struct fftnd_fftw__request *request,
                      const struct transform *transform) {
    int code = REDIST_OK;
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
        code =
            fftnd_plan_layout(transform->plans[transform->planned], (enum fftnd_side)side, &layout);
        if (code == REDIST_OK && layout.bytes > request->room)
            code = redist_fail(REDIST_ERR_SIZE, "arrays of %zu bytes are too small for %zu",
                               request->room, layout.bytes);
    }
    return redist_agree(request->comm, code);
}

static int plan_arrays(const struct fftnd_fftw__request *request, struct transform *transform) {
    int code = redist_private_comm(request->comm, &transform->settings.comm);
    if (code != REDIST_OK)
        return code;
    find_bytes(request, transform);
    transform->planned = agree_mapped(transform, request->in, request->out);
    code = provide(transform, transform->planned);
    /* now it is known whether the ranks reach each other's memory */
    if (code == REDIST_OK && transform->planned &&
        !agree_mapped(transform, request->in, request->out)) {
        transform->planned = 0;
        code = provide(transform, 0);
    }
    if (code == REDIST_OK)
        code = check_room(request, transform);
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
