/* SPDX-License-Identifier: BSD-3-Clause */
/* The public plan of a transform. */
#include "check.h"
#include "fused.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct fftnd_plan {
    struct fftnd__transform transform;
    struct fftnd__pipeline pipelines[2]; /* forward, backward; over whole arrays */
    struct fftnd__fused fused[2];        /* the same in tiles, if `may_fuse` */
    int may_fuse, is_fused;
    double scale[2];
    double seconds[2]; /* serial transforms, exchanges */
    size_t work_bytes[2];
    char *workspace;
    int has_workspace, owns_workspace;
    char method[64];
};

/* ---------------------------------------------------------------- making a plan */

static const enum fftnd_r2r inverse_r2r[] = {
    [FFTND_DCT1] = FFTND_DCT1, [FFTND_DCT2] = FFTND_DCT3, [FFTND_DCT3] = FFTND_DCT2,
    [FFTND_DCT4] = FFTND_DCT4, [FFTND_DST1] = FFTND_DST1, [FFTND_DST2] = FFTND_DST3,
    [FFTND_DST3] = FFTND_DST2, [FFTND_DST4] = FFTND_DST4};

static void set_r2r(struct fftnd__transform *transform, const struct fftnd__request *request) {
    for (int i = 0; i < request->ndims && request->kind == FFTND_R2R; i++) {
        transform->r2r[REDIST_FORWARD][i] = request->options.r2r[i];
        transform->r2r[REDIST_BACKWARD][i] = inverse_r2r[request->options.r2r[i]];
    }
}

/* The factor of a forward and backward transform without scaling (FFTW's manual, section 4.8). */
static double logical_size(const struct fftnd__request *request) {
    double product = 1;
    for (int i = 0; i < request->ndims; i++) {
        double n = request->sizes[i];
        if (request->kind == FFTND_R2R) {
            enum fftnd_r2r r2r = request->options.r2r[i];
            n = 2 * (r2r == FFTND_DCT1 ? n - 1 : r2r == FFTND_DST1 ? n + 1 : n);
        }
        product *= n;
    }
    return product;
}

static void set_scale(fftnd_plan *plan, const struct fftnd__request *request) {
    double size = logical_size(request);
    enum fftnd_scaling scaling = request->options.scaling;
    double unitary = scaling == FFTND_SCALE_UNITARY ? 1 / sqrt(size) : 1;
    plan->scale[REDIST_FORWARD] = scaling == FFTND_SCALE_FORWARD ? 1 / size : unitary;
    plan->scale[REDIST_BACKWARD] = scaling == FFTND_SCALE_BACKWARD ? 1 / size : unitary;
}

static int halved_axis(const struct fftnd__request *request) {
    if (request->kind != FFTND_R2C)
        return -1;
    return request->options.halved_axis >= 0 ? request->options.halved_axis : request->ndims - 1;
}

/* One rank with a one-dimensional array needs no grid, and there is none for it. Collective. */
static int create_grid(struct fftnd__transform *transform, const struct fftnd__request *request) {
    int dims[REDIST_MAX_NDIMS] = {0}, nranks;
    int grid_ndims = request->options.grid_ndims;
    MPI_Comm_size(request->comm, &nranks);
    if (request->ndims == 1)
        return redist_private_comm(request->comm, &transform->comm);
    if (grid_ndims == 0)
        grid_ndims =
            fftnd__choose_grid_ndims(request->ndims, request->sizes, halved_axis(request), nranks);
    else if (request->options.grid != NULL)
        memcpy(dims, request->options.grid, (size_t)grid_ndims * sizeof *dims);
    int code = redist_grid_create(request->comm, grid_ndims, dims, &transform->grid);
    return code == REDIST_OK ? redist_grid_comm(transform->grid, &transform->comm) : code;
}

static void note_bytes(fftnd_plan *plan, int work, size_t bytes) {
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > plan->work_bytes[work])
        plan->work_bytes[work] = bytes;
}

/* What the plan needs as it is now. With work space of the user, which may turn out not to be mapped,
 * room for either way. */
static void count_work(fftnd_plan *plan) {
    const struct fftnd__transform *transform = &plan->transform;
    int user = transform->options.user_workspace;
    plan->work_bytes[0] = plan->work_bytes[1] = 0;
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i < 2; i++) {
            if (plan->may_fuse)
                note_bytes(
                    plan, i,
                    fftnd__fused_bytes(&plan->fused[direction], transform, FFTND__WORK0 + i));
            if (!plan->may_fuse || user)
                note_bytes(plan, i,
                           fftnd__pipeline_bytes(&plan->pipelines[direction], transform,
                                                 FFTND__WORK0 + i));
        }
}

static void free_fused(fftnd_plan *plan) {
    for (int direction = 0; direction < 2; direction++)
        fftnd__fused_free(&plan->fused[direction]);
    plan->may_fuse = plan->is_fused = 0;
}

/* Collective. */
static int build_fused(fftnd_plan *plan) {
    const struct fftnd__transform *transform = &plan->transform;
    int code = REDIST_OK;
    plan->may_fuse = transform->options.fusion != FFTND_FUSE_NEVER;
    for (int direction = 0; direction < 2 && code == REDIST_OK && plan->may_fuse; direction++)
        code = fftnd__fused_build(&plan->fused[direction], transform, direction, &plan->may_fuse);
    if (code == REDIST_OK && !plan->may_fuse && transform->options.fusion == FFTND_FUSE_ALWAYS)
        code = redist_fail_in("fftnd_plan_create", REDIST_ERR_METHOD,
                              "options->fusion = FFTND_FUSE_ALWAYS, but tiles do not suit these "
                              "sizes and this grid");
    if (code != REDIST_OK || !plan->may_fuse)
        free_fused(plan);
    return code;
}

static int build_pipelines(fftnd_plan *plan, const struct fftnd__request *request) {
    struct fftnd__transform *transform = &plan->transform;
    int code = fftnd__chain_build(&transform->chain, request->ndims, request->sizes,
                                  halved_axis(request), transform->grid);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__pipeline_build(&plan->pipelines[direction], transform, direction);
    return code;
}

/* The largest array of any step: what planning needs twice, and what arrays have that serve as work
 * space. */
static size_t largest_bytes(const fftnd_plan *plan) {
    size_t most = 0;
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i <= plan->pipelines[direction].nsteps; i++) {
            size_t bytes =
                fftnd__step_bytes(&plan->transform, &plan->pipelines[direction].steps[i]);
            most = bytes > most ? bytes : most;
        }
    return most;
}

static int plan_serial(fftnd_plan *plan) {
    size_t bytes = (largest_bytes(plan) + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    char *memory = redist_calloc(2 * bytes + ALIGNMENT, 1);
    if (memory == NULL)
        return redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                              "no memory for planning in two arrays of %zu bytes", bytes);
    char *first = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
    void *const scratch[2] = {first, first + bytes};
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__pipeline_plan_serial(&plan->pipelines[direction], &plan->transform, scratch);
    redist_release(memory);
    return code;
}

static void work_arrays(const fftnd_plan *plan, void *work[2]) {
    work[0] = plan->workspace;
    work[1] = plan->workspace != NULL ? plan->workspace + plan->work_bytes[0] : NULL;
}

/* The steps with the exchanges in use. */
static const struct fftnd__pipeline *steps_of(const fftnd_plan *plan, int direction) {
    return plan->is_fused ? &plan->fused[direction].list : &plan->pipelines[direction];
}

static void find_method(fftnd_plan *plan) {
    const struct fftnd__pipeline *pipeline = steps_of(plan, REDIST_FORWARD);
    strcpy(plan->method, "none");
    for (int i = pipeline->nsteps; i >= 1; i--) {
        redist_plan_info info;
        if (pipeline->steps[i].exchange != NULL &&
            redist_plan_get_info(pipeline->steps[i].exchange, &info) == REDIST_OK)
            strncpy(plan->method, info.method, sizeof plan->method - 1);
    }
}

static int plan_fused_exchanges(fftnd_plan *plan, void *const work[2]) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__fused_plan_exchanges(&plan->fused[direction], &plan->transform, work);
    return code;
}

static int plan_whole_exchanges(fftnd_plan *plan, void *const work[2]) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__pipeline_plan_exchanges(&plan->pipelines[direction], &plan->transform, work);
    return code;
}

static void free_exchanges(fftnd_plan *plan) {
    for (int direction = 0; direction < 2; direction++) {
        fftnd__pipeline_free_exchanges(&plan->fused[direction].list);
        fftnd__pipeline_free_exchanges(&plan->pipelines[direction]);
    }
}

/* Joined in tiles if the methods can, and if not, whether that is an error. Collective. */
static int try_fused_exchanges(fftnd_plan *plan) {
    void *work[2];
    work_arrays(plan, work);
    int code = plan->may_fuse ? plan_fused_exchanges(plan, work) : REDIST_OK;
    plan->is_fused = plan->may_fuse && code == REDIST_OK;
    if (plan->is_fused)
        find_method(plan);
    int insists = plan->transform.options.fusion == FFTND_FUSE_ALWAYS;
    return code == REDIST_ERR_METHOD && !insists ? REDIST_OK : code;
}

static int take_whole_exchanges(fftnd_plan *plan) {
    void *work[2];
    work_arrays(plan, work);
    free_exchanges(plan);
    int code = plan_whole_exchanges(plan, work);
    if (code == REDIST_OK)
        find_method(plan);
    return code;
}

static int allocate_work(fftnd_plan *plan) {
    void *memory = NULL;
    count_work(plan);
    int code =
        redist_alloc(plan->transform.comm, plan->work_bytes[0] + plan->work_bytes[1], &memory);
    plan->workspace = memory;
    plan->has_workspace = plan->owns_workspace = code == REDIST_OK;
    return code;
}

static void free_work(fftnd_plan *plan) {
    void *memory = plan->workspace;
    if (plan->owns_workspace)
        redist_free(&memory);
    plan->workspace = NULL;
    plan->has_workspace = plan->owns_workspace = 0;
}

/* A plan that turns out not to fuse has other needs. */
static int take_workspace(fftnd_plan *plan) {
    int code = allocate_work(plan);
    if (code == REDIST_OK)
        code = try_fused_exchanges(plan);
    if (code != REDIST_OK || plan->is_fused)
        return code;
    if (plan->may_fuse) {
        free_exchanges(plan);
        free_work(plan);
        free_fused(plan);
        code = allocate_work(plan);
    }
    return code == REDIST_OK ? take_whole_exchanges(plan) : code;
}

/* Collective. Leaves what is there to destroy_plan when it fails. */
static int complete_plan(fftnd_plan *plan, const struct fftnd__request *request) {
    struct fftnd__transform *transform = &plan->transform;
    transform->kind = request->kind;
    transform->precision = request->precision;
    transform->options = request->options;
    transform->library = &fftnd__serial_fftw;
    transform->batch = fftnd__batch_of(&request->options, request->ndims);
    set_r2r(transform, request);
    set_scale(plan, request);
    int code = create_grid(transform, request);
    if (code != REDIST_OK)
        return code;
    code = build_pipelines(plan, request);
    if (code == REDIST_OK)
        code = plan_serial(plan);
    code = redist_agree(transform->comm, code);
    if (code == REDIST_OK)
        code = build_fused(plan);
    if (code != REDIST_OK)
        return code;
    if (!request->options.user_workspace)
        return take_workspace(plan);
    count_work(plan);
    find_method(plan);
    return REDIST_OK;
}

static void destroy_plan(fftnd_plan *plan) {
    if (plan == NULL)
        return;
    for (int direction = 0; direction < 2; direction++)
        fftnd__pipeline_free(&plan->pipelines[direction], &plan->transform);
    free_fused(plan);
    free_work(plan);
    if (plan->transform.grid != NULL)
        redist_grid_free(&plan->transform.grid);
    redist_handle_remove(plan);
    redist_release(plan->transform.method);
    redist_release(plan->transform.wisdom_file);
    redist_release(plan);
}

/* The plan keeps its own copy of a text: exchanges may be planned later. */
static int keep_text(const char **text, char **copy) {
    if (*text == NULL)
        return 1;
    *copy = redist_calloc(strlen(*text) + 1, 1);
    if (*copy != NULL)
        strcpy(*copy, *text);
    *text = *copy;
    return *copy != NULL;
}

static fftnd_plan *allocate_plan(struct fftnd__request *request) {
    fftnd_plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    int kept = keep_text(&request->options.method, &plan->transform.method) &&
               keep_text(&request->options.wisdom_file, &plan->transform.wisdom_file);
    if (kept && redist_handle_add(plan, REDIST_HANDLE_FFT))
        return plan;
    destroy_plan(plan);
    return NULL;
}

int fftnd_plan_create(MPI_Comm comm, int ndims, const int sizes[], enum fftnd_kind kind,
                      enum fftnd_precision precision, const fftnd_options *options,
                      fftnd_plan **result) {
    MPI_Comm agreed;
    int code = redist_check_comm(comm);
    if (code == REDIST_OK)
        code = redist_private_comm(comm, &agreed);
    if (code != REDIST_OK)
        return code;
    struct fftnd__request request = {agreed, ndims, sizes, kind, precision, {0}};
    code = fftnd__check_request(&request, options, result);
    if (code != REDIST_OK)
        return code;
    fftnd_plan *plan = allocate_plan(&request);
    code = plan != NULL
               ? REDIST_OK
               : redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY, "no memory for a plan");
    code = redist_agree(agreed, code);
    request.comm = comm;
    if (code == REDIST_OK)
        code = complete_plan(plan, &request);
    if (code != REDIST_OK) {
        destroy_plan(plan);
        return code;
    }
    plan->transform.options.grid = NULL; /* the user's arrays need not live as long as the plan */
    plan->transform.options.r2r = NULL;
    *result = plan;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- questions */

static int check_plan(const char *function, const fftnd_plan *plan) {
    if (!redist_handle_is(plan, REDIST_HANDLE_FFT))
        return redist_fail_in(function, REDIST_ERR_STATE, "plan is %s",
                              plan == NULL ? "NULL" : "not a plan, or already freed");
    return redist_check_comm_in(function, plan->transform.comm);
}

/* The array that a direction begins with. */
static const struct fftnd__step *input_of(const fftnd_plan *plan, int direction) {
    return &plan->pipelines[direction].steps[0];
}

/* What the user allocates for a side: arrays that serve as work space have room for every step. */
static size_t side_bytes(const fftnd_plan *plan, const struct fftnd__step *step) {
    const fftnd_options *options = &plan->transform.options;
    return options->in_place || options->overwrite_input
               ? largest_bytes(plan)
               : fftnd__step_bytes(&plan->transform, step);
}

int fftnd_plan_layout(const fftnd_plan *plan, enum fftnd_side side, fftnd_layout *layout) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && layout == NULL)
        code = redist_fail(REDIST_ERR_NULL, "layout = NULL");
    if (code == REDIST_OK && side != FFTND_PHYSICAL && side != FFTND_SPECTRAL)
        code = redist_fail(REDIST_ERR_ARGUMENT, "side = %d is neither physical nor spectral",
                           (int)side);
    if (code != REDIST_OK)
        return code;
    const struct fftnd__transform *transform = &plan->transform;
    int direction = side == FFTND_PHYSICAL ? REDIST_FORWARD : REDIST_BACKWARD;
    const struct fftnd__step *step = input_of(plan, direction);
    const struct fftnd__batch *batch = &transform->batch;
    *layout = (fftnd_layout){.ndims = transform->chain.ndims};
    for (int axis = 0; axis < layout->ndims; axis++) {
        layout->size[axis] = step->alignment->size[axis];
        layout->start[axis] = step->alignment->start[axis];
        layout->count[axis] = step->alignment->count[axis];
        layout->stride[axis] = step->local.stride[axis + batch->shift];
    }
    layout->batch_stride =
        batch->axis >= 0 ? step->local.stride[batch->axis] : (ptrdiff_t)step->local.elements;
    layout->element_bytes = fftnd__element_bytes(transform, step->real);
    layout->bytes = side_bytes(plan, step);
    return REDIST_OK;
}

static int count_exchanges(const struct fftnd__pipeline *pipeline) {
    int count = 0;
    for (int i = 1; i <= pipeline->nsteps; i++)
        count += pipeline->steps[i].hop.type == FFTND__EXCHANGE;
    return count;
}

int fftnd_plan_get_info(const fftnd_plan *plan, fftnd_plan_info *info) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && info == NULL)
        code = redist_fail(REDIST_ERR_NULL, "info = NULL");
    if (code != REDIST_OK)
        return code;
    *info = (fftnd_plan_info){.nexchanges = count_exchanges(&plan->pipelines[REDIST_FORWARD]),
                              .method = plan->method,
                              .workspace_bytes = plan->work_bytes[0] + plan->work_bytes[1],
                              .scale_forward = plan->scale[REDIST_FORWARD],
                              .scale_backward = plan->scale[REDIST_BACKWARD],
                              .serial_seconds = plan->seconds[0],
                              .exchange_seconds = plan->seconds[1],
                              .fused = plan->is_fused};
    if (plan->transform.grid != NULL)
        code = redist_grid_get(plan->transform.grid, &info->grid_ndims, info->grid, NULL);
    return code;
}

/* ---------------------------------------------------------------- work space */

static int check_workspace(const fftnd_plan *plan, const void *workspace, size_t bytes) {
    const char *function = "fftnd_plan_set_workspace";
    size_t needed = plan->work_bytes[0] + plan->work_bytes[1];
    if (!plan->transform.options.user_workspace)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has its own work space: options.user_workspace was 0");
    if (bytes < needed)
        return redist_fail_in(function, REDIST_ERR_SIZE, "bytes = %zu is below the %zu needed",
                              bytes, needed);
    if (workspace == NULL && needed != 0)
        return redist_fail_in(function, REDIST_ERR_NULL, "workspace = NULL");
    if ((uintptr_t)workspace % ALIGNMENT != 0)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "workspace = %p is not aligned to %d bytes", workspace, ALIGNMENT);
    return REDIST_OK;
}

int fftnd_plan_set_workspace(fftnd_plan *plan, void *workspace, size_t bytes) {
    int code = check_plan(__func__, plan);
    if (code != REDIST_OK)
        return code;
    code = redist_agree(plan->transform.comm, check_workspace(plan, workspace, bytes));
    if (code != REDIST_OK)
        return code;
    free_exchanges(plan);
    plan->workspace = workspace;
    plan->has_workspace = 1;
    code = try_fused_exchanges(plan);
    if (code == REDIST_OK && !plan->is_fused)
        code = take_whole_exchanges(plan);
    plan->has_workspace = code == REDIST_OK;
    return code;
}

/* ---------------------------------------------------------------- execution */

static int run(fftnd_plan *plan, int direction, void *in, void *out) {
    void *work[2];
    work_arrays(plan, work);
    void *const buffers[FFTND__BUFFERS] = {in, out, work[0], work[1]};
    if (plan->is_fused)
        return fftnd__fused_run(&plan->fused[direction], &plan->transform, buffers,
                                plan->scale[direction], plan->seconds);
    int code =
        fftnd__pipeline_run(&plan->pipelines[direction], &plan->transform, buffers, plan->seconds);
    if (code == REDIST_OK && plan->scale[direction] != 1.0)
        fftnd__scale(out, fftnd__step_bytes(&plan->transform, input_of(plan, !direction)),
                     plan->transform.precision, plan->scale[direction]);
    return code;
}

static int execute(const char *function, fftnd_plan *plan, int direction, void *in, void *out) {
    static const char *const names[2] = {"physical", "spectral"};
    int code = check_plan(function, plan);
    if (code != REDIST_OK)
        return code;
    const struct fftnd__transform *transform = &plan->transform;
    const struct fftnd__array arrays[2] = {
        {names[direction], in, side_bytes(plan, input_of(plan, direction))},
        {names[!direction], out, side_bytes(plan, input_of(plan, !direction))}};
    code = fftnd__check_arrays(function, arrays, transform->options.in_place);
    if (code == REDIST_OK && !plan->has_workspace)
        code = redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has no work space: call fftnd_plan_set_workspace");
    code = redist_agree(transform->comm, code);
    return code == REDIST_OK ? run(plan, direction, in, out) : code;
}

int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral) {
    return execute(__func__, plan, REDIST_FORWARD, physical, spectral);
}

int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical) {
    return execute(__func__, plan, REDIST_BACKWARD, spectral, physical);
}

int fftnd_plan_free(fftnd_plan **plan) {
    if (plan == NULL)
        return redist_fail(REDIST_ERR_NULL, "plan = NULL");
    if (*plan == NULL)
        return REDIST_OK;
    int code = check_plan(__func__, *plan);
    if (code != REDIST_OK)
        return code;
    destroy_plan(*plan);
    *plan = NULL;
    return REDIST_OK;
}
