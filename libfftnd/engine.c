/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"
#include "offload.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64, DEVICE_ALIGNMENT = 256, AREA = 2 };

/* ---------------------------------------------------------------- what is wanted */

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

static void set_scale(struct fftnd__engine *engine, const struct fftnd__request *request) {
    double size = logical_size(request);
    enum fftnd_scaling scaling = request->options.scaling;
    double unitary = scaling == FFTND_SCALE_UNITARY ? 1 / sqrt(size) : 1;
    engine->scale[REDIST_FORWARD] = scaling == FFTND_SCALE_FORWARD ? 1 / size : unitary;
    engine->scale[REDIST_BACKWARD] = scaling == FFTND_SCALE_BACKWARD ? 1 / size : unitary;
}

/* One rank with a one-dimensional array needs no grid, and there is none for it. Collective. */
static int create_grid(struct fftnd__transform *transform, const struct fftnd__request *request) {
    if (request->ndims == 1)
        return redist_private_comm(request->comm, &transform->comm);
    int dims[REDIST_MAX_NDIMS];
    memcpy(dims, transform->choice.grid, sizeof dims);
    int code = (request->options.by_node ? redist_grid_create_by_node : redist_grid_create)(
        request->comm, transform->choice.grid_ndims, dims, &transform->grid);
    return code == REDIST_OK ? redist_grid_comm(transform->grid, &transform->comm) : code;
}

static int is_on_device(const struct fftnd__transform *transform) {
    return transform->library->space != REDIST_SPACE_HOST;
}

static void note_bytes(struct fftnd__engine *engine, int work, size_t bytes) {
    size_t alignment = is_on_device(&engine->transform) ? DEVICE_ALIGNMENT : ALIGNMENT;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > engine->work_bytes[work])
        engine->work_bytes[work] = bytes;
}

/* What the plan needs as it is now. With work space of the user, which may turn out not to be mapped,
 * room for either way. */
static void count_work(struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    int user = transform->options.user_workspace;
    engine->work_bytes[0] = engine->work_bytes[1] = engine->work_bytes[AREA] = 0;
    for (int direction = 0; direction < 2; direction++) {
        note_bytes(engine, AREA, fftnd__pipeline_area(&engine->pipelines[direction], transform));
        for (int i = 0; i < 2; i++) {
            if (engine->may_fuse)
                note_bytes(
                    engine, i,
                    fftnd__fused_bytes(&engine->fused[direction], transform, FFTND__WORK0 + i));
            if (!engine->may_fuse || user)
                note_bytes(engine, i,
                           fftnd__pipeline_bytes(&engine->pipelines[direction], transform,
                                                 FFTND__WORK0 + i));
        }
    }
}

/* The largest array of any step: what planning needs twice, and what arrays have that serve as work
 * space. */
static size_t largest_bytes(const struct fftnd__engine *engine) {
    size_t most = 0;
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i <= engine->pipelines[direction].nsteps; i++) {
            size_t bytes =
                fftnd__step_bytes(&engine->transform, &engine->pipelines[direction].steps[i]);
            most = bytes > most ? bytes : most;
        }
    return most;
}

/* Makes serial plans on two arrays. */
typedef int planning(struct fftnd__engine *engine, void *const scratch[2]);

static int plan_pipelines(struct fftnd__engine *engine, void *const scratch[2]) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code =
            fftnd__pipeline_plan_serial(&engine->pipelines[direction], &engine->transform, scratch);
    return code;
}

static int plan_fused(struct fftnd__engine *engine, void *const scratch[2]) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__fused_plan_whole(&engine->fused[direction], &engine->transform, scratch);
    return code;
}

/* Whether serial transforms are planned on arrays: tiles on a device are not, but a copy is. */
static int plans_on_arrays(const struct fftnd__engine *engine) {
    if (engine->transform.offload == NULL)
        return !is_on_device(&engine->transform);
    for (int direction = 0; direction < 2; direction++)
        for (int i = 1; i <= engine->pipelines[direction].nsteps; i++) {
            const struct fftnd__step *step = &engine->pipelines[direction].steps[i];
            if (step->hop.type != FFTND__EXCHANGE && step->naxes == 0)
                return 1;
        }
    return 0;
}

static int plan_in_scratch(struct fftnd__engine *engine, planning *plan) {
    static char nowhere[2]; /* addresses that nobody uses */
    void *const apart[2] = {&nowhere[0], &nowhere[1]};
    if (!plans_on_arrays(engine))
        return plan(engine, apart);
    size_t bytes = (largest_bytes(engine) + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    char *memory = redist_calloc(2 * bytes + ALIGNMENT, 1);
    if (memory == NULL)
        return redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                              "no memory for planning in two arrays of %zu bytes", bytes);
    char *first = memory + (ALIGNMENT - (uintptr_t)memory % ALIGNMENT) % ALIGNMENT;
    void *const scratch[2] = {first, first + bytes};
    int code = plan(engine, scratch);
    redist_release(memory);
    return code;
}

/* Collective. */
static int plan_whole_in_fused(struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    if (!fftnd__fused_has_whole(&engine->fused[0], transform) &&
        !fftnd__fused_has_whole(&engine->fused[1], transform))
        return REDIST_OK;
    return redist_agree(transform->comm, plan_in_scratch(engine, plan_fused));
}

static void free_fused(struct fftnd__engine *engine) {
    for (int direction = 0; direction < 2; direction++)
        fftnd__fused_free(&engine->fused[direction], &engine->transform);
    engine->may_fuse = engine->is_fused = 0;
}

/* Collective. */
static int build_fused(struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    int code = REDIST_OK;
    enum fftnd_fusion fusion = transform->options.fusion;
    if (is_on_device(transform))
        return REDIST_OK;
    engine->may_fuse =
        fusion == FFTND_FUSION_AUTO ? transform->choice.fused : fusion == FFTND_FUSION_ALWAYS;
    for (int direction = 0; direction < 2 && code == REDIST_OK && engine->may_fuse; direction++)
        code =
            fftnd__fused_build(&engine->fused[direction], transform, direction, &engine->may_fuse);
    if (code == REDIST_OK && !engine->may_fuse && transform->options.fusion == FFTND_FUSION_ALWAYS)
        code = redist_fail_in("fftnd_plan_create", REDIST_ERR_METHOD,
                              "options->fusion = FFTND_FUSION_ALWAYS, but tiles do not suit these "
                              "sizes and this grid");
    if (code == REDIST_OK && engine->may_fuse)
        code = plan_whole_in_fused(engine);
    if (code != REDIST_OK || !engine->may_fuse)
        free_fused(engine);
    return code;
}

/* Collective. */
static int build_pipelines(struct fftnd__engine *engine, const struct fftnd__request *request) {
    struct fftnd__transform *transform = &engine->transform;
    int code = fftnd__team_create(request->options.threads, &transform->team);
    if (code == REDIST_OK)
        code = fftnd__chain_build(&transform->chain, request->ndims, request->sizes,
                                  request->options.retained_modes, fftnd__halved_axis(request),
                                  transform->choice.order, transform->grid);
    code = redist_agree(transform->comm, code);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__pipeline_build(&engine->pipelines[direction], transform, direction);
    return code;
}

/* Tiles have plans of their own, so only where whole arrays are transformed. Collective. */
static int plan_serial(struct fftnd__engine *engine) {
    if (engine->has_serial)
        return REDIST_OK;
    int code = redist_agree(engine->transform.comm, plan_in_scratch(engine, plan_pipelines));
    engine->has_serial = code == REDIST_OK;
    return code;
}

static void work_arrays(const struct fftnd__engine *engine, void *work[3]) {
    char *next = engine->workspace;
    for (int i = 0; i < 3; i++) {
        work[i] = next;
        next = next != NULL ? next + engine->work_bytes[i] : NULL;
    }
}

/* The steps with the exchanges in use. */
static const struct fftnd__pipeline *steps_of(const struct fftnd__engine *engine, int direction) {
    return engine->is_fused ? &engine->fused[direction].list : &engine->pipelines[direction];
}

static void find_method(struct fftnd__engine *engine) {
    const struct fftnd__pipeline *pipeline = steps_of(engine, REDIST_FORWARD);
    strcpy(engine->method, "none");
    for (int i = pipeline->nsteps; i >= 1; i--) {
        redist_plan_info info;
        if (pipeline->steps[i].exchange != NULL &&
            redist_plan_get_info(pipeline->steps[i].exchange, &info) == REDIST_OK)
            strncpy(engine->method, info.method, sizeof engine->method - 1);
    }
}

static int plan_fused_exchanges(struct fftnd__engine *engine, void *const work[2]) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__fused_plan_exchanges(&engine->fused[direction], &engine->transform, work);
    return code;
}

static int plan_whole_exchanges(struct fftnd__engine *engine, void *const work[2]) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code =
            fftnd__pipeline_plan_exchanges(&engine->pipelines[direction], &engine->transform, work);
    return code;
}

static void free_exchanges(struct fftnd__engine *engine) {
    fftnd__engine_keep_phases(engine);
    for (int direction = 0; direction < 2; direction++) {
        fftnd__pipeline_free_exchanges(&engine->fused[direction].list);
        fftnd__pipeline_free_exchanges(&engine->pipelines[direction]);
    }
}

/* Joined in tiles if the methods can, and if not, whether that is an error. Collective. */
static int try_fused_exchanges(struct fftnd__engine *engine) {
    void *work[3];
    work_arrays(engine, work);
    int code = engine->may_fuse ? plan_fused_exchanges(engine, work) : REDIST_OK;
    engine->is_fused = engine->may_fuse && code == REDIST_OK;
    if (engine->is_fused)
        find_method(engine);
    int insists = engine->transform.options.fusion == FFTND_FUSION_ALWAYS;
    return code == REDIST_ERR_METHOD && !insists ? REDIST_OK : code;
}

static int take_whole_exchanges(struct fftnd__engine *engine) {
    void *work[3];
    work_arrays(engine, work);
    free_exchanges(engine);
    int code = plan_serial(engine);
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code =
            fftnd__pipeline_set_area(&engine->pipelines[direction], &engine->transform, work[AREA]);
    code = redist_agree(engine->transform.comm, code);
    if (code == REDIST_OK)
        code = plan_whole_exchanges(engine, work);
    if (code == REDIST_OK)
        find_method(engine);
    return code;
}

size_t fftnd__engine_work(const struct fftnd__engine *engine) {
    return engine->work_bytes[0] + engine->work_bytes[1] + engine->work_bytes[AREA];
}

/* Lets the device reach work space of the plan, and of the user if he wants that. */
static void pin_work(struct fftnd__engine *engine) {
    struct fftnd__transform *transform = &engine->transform;
    if (transform->offload != NULL && (engine->owns_workspace || transform->options.pin_arrays))
        fftnd__offload_pin(transform->offload, FFTND__PIN_WORK, engine->workspace,
                           fftnd__engine_work(engine));
}

static int allocate_work(struct fftnd__engine *engine) {
    void *memory = NULL;
    count_work(engine);
    int code = redist_alloc_in(engine->transform.comm, engine->transform.library->space,
                               fftnd__engine_work(engine), &memory);
    engine->workspace = memory;
    engine->has_workspace = engine->owns_workspace = code == REDIST_OK;
    if (code == REDIST_OK)
        pin_work(engine);
    return code;
}

static void free_work(struct fftnd__engine *engine) {
    void *memory = engine->workspace;
    if (engine->transform.offload != NULL)
        fftnd__offload_unpin(engine->transform.offload, FFTND__PIN_WORK);
    if (engine->owns_workspace)
        redist_free(&memory);
    engine->workspace = NULL;
    engine->has_workspace = engine->owns_workspace = 0;
}

/* A plan that turns out not to fuse has other needs. */
static int take_workspace(struct fftnd__engine *engine) {
    int code = allocate_work(engine);
    if (code == REDIST_OK)
        code = try_fused_exchanges(engine);
    if (code != REDIST_OK || engine->is_fused)
        return code;
    if (engine->may_fuse) {
        free_exchanges(engine);
        free_work(engine);
        free_fused(engine);
        code = allocate_work(engine);
    }
    return code == REDIST_OK ? take_whole_exchanges(engine) : code;
}

static int create_marks(struct fftnd__transform *transform) {
    int code = REDIST_OK;
    for (int i = 0; i < 2 && code == REDIST_OK && transform->library->mark_create != NULL; i++)
        code = transform->library->mark_create(&transform->marks[i]);
    return code;
}

/* Collective. */
static int create_offload(struct fftnd__transform *transform) {
    if (!fftnd__offload_wanted(&transform->options))
        return REDIST_OK;
    int code = fftnd__offload_create(transform->comm, &transform->options, &transform->offload);
    if (code == REDIST_OK)
        fftnd__offload_adjust(transform->offload, &transform->choice);
    return code;
}

/* Collective. Leaves what is there to fftnd__engine_destroy when it fails. */
int fftnd__engine_create(struct fftnd__engine *engine, const struct fftnd__request *request,
                         const struct fftnd__choice *choice) {
    struct fftnd__transform *transform = &engine->transform;
    *engine = (struct fftnd__engine){0};
    transform->kind = request->kind;
    transform->precision = request->precision;
    transform->options = request->options;
    transform->choice = *choice;
    transform->library = fftnd__serial_for(request->options.space);
    transform->batch = fftnd__batch_of(&request->options, request->ndims);
    set_r2r(transform, request);
    set_scale(engine, request);
    int code = create_grid(transform, request);
    if (code != REDIST_OK)
        return code;
    code = create_offload(transform);
    if (code == REDIST_OK)
        code = redist_agree(transform->comm, create_marks(transform));
    if (code == REDIST_OK)
        code = redist_agree(transform->comm, build_pipelines(engine, request));
    if (code == REDIST_OK)
        code = build_fused(engine);
    int refuses_late = transform->offload != NULL && request->options.user_workspace;
    if (code == REDIST_OK && (is_on_device(transform) || refuses_late))
        code = plan_serial(engine); /* plans on a device say what scratch they need */
    if (code != REDIST_OK)
        return code;
    if (!request->options.user_workspace)
        return take_workspace(engine);
    count_work(engine);
    find_method(engine);
    return REDIST_OK;
}

int fftnd__engine_set_workspace(struct fftnd__engine *engine, void *workspace) {
    free_exchanges(engine);
    engine->workspace = workspace;
    engine->has_workspace = 1;
    pin_work(engine);
    int code = try_fused_exchanges(engine);
    if (code == REDIST_OK && !engine->is_fused)
        code = take_whole_exchanges(engine);
    engine->has_workspace = code == REDIST_OK;
    return code;
}

void fftnd__engine_destroy(struct fftnd__engine *engine) {
    for (int direction = 0; direction < 2; direction++)
        fftnd__pipeline_free(&engine->pipelines[direction], &engine->transform);
    free_fused(engine);
    free_work(engine);
    for (int i = 0; i < 2; i++)
        if (engine->transform.marks[i] != NULL)
            engine->transform.library->mark_destroy(engine->transform.marks[i]);
    fftnd__team_free(engine->transform.team);
    fftnd__offload_free(engine->transform.offload);
    if (engine->transform.grid != NULL)
        redist_grid_free(&engine->transform.grid);
}

/* ---------------------------------------------------------------- questions and use */

const struct fftnd__step *fftnd__engine_input(const struct fftnd__engine *engine, int direction) {
    return &engine->pipelines[direction].steps[0];
}

/* Arrays that serve as work space have room for every step. */
size_t fftnd__engine_bytes(const struct fftnd__engine *engine, int direction) {
    const fftnd_options *options = &engine->transform.options;
    return options->in_place || options->overwrite_input
               ? largest_bytes(engine)
               : fftnd__step_bytes(&engine->transform, fftnd__engine_input(engine, direction));
}

int fftnd__engine_exchanges(const struct fftnd__engine *engine) {
    const struct fftnd__pipeline *pipeline = &engine->pipelines[REDIST_FORWARD];
    int count = 0;
    for (int i = 1; i <= pipeline->nsteps; i++)
        count += pipeline->steps[i].hop.type == FFTND__EXCHANGE;
    return count;
}

size_t fftnd__engine_transfers(const struct fftnd__engine *engine) {
    const struct fftnd__transform *transform = &engine->transform;
    const struct fftnd__pipeline *pipeline = steps_of(engine, REDIST_FORWARD);
    size_t bytes = 0;
    for (int i = 1; i <= pipeline->nsteps && transform->offload != NULL; i++)
        if (pipeline->steps[i].naxes > 0 && pipeline->steps[i].local.elements > 0)
            bytes += fftnd__step_bytes(transform, &pipeline->steps[i - 1]) +
                     fftnd__step_bytes(transform, &pipeline->steps[i]);
    return bytes;
}

/* Arrays of the user that the device may reach. */
static void pin_arrays(const struct fftnd__engine *engine, int direction, void *in, void *out) {
    struct fftnd__offload *offload = engine->transform.offload;
    if (offload != NULL)
        offload->buffered = 0;
    if (offload == NULL || !engine->transform.options.pin_arrays)
        return;
    enum fftnd__pinned input =
        direction == REDIST_FORWARD ? FFTND__PIN_PHYSICAL : FFTND__PIN_SPECTRAL;
    enum fftnd__pinned output =
        direction == REDIST_FORWARD ? FFTND__PIN_SPECTRAL : FFTND__PIN_PHYSICAL;
    fftnd__offload_pin(offload, input, in, fftnd__engine_bytes(engine, direction));
    fftnd__offload_pin(offload, output, out, fftnd__engine_bytes(engine, !direction));
}

int fftnd__engine_run(struct fftnd__engine *engine, int direction, void *in, void *out) {
    void *work[3];
    pin_arrays(engine, direction, in, out);
    work_arrays(engine, work);
    engine->executions++;
    void *const buffers[FFTND__BUFFERS] = {in, out, work[0], work[1]};
    if (engine->is_fused)
        fftnd__fused_run(&engine->fused[direction], &engine->transform, buffers,
                         engine->scale[direction], engine->seconds, &engine->failure);
    else
        fftnd__pipeline_run(&engine->pipelines[direction], &engine->transform, buffers,
                            engine->scale[direction], engine->seconds, &engine->failure);
    return fftnd__failure_report(&engine->failure);
}

int fftnd__engine_pieces(const struct fftnd__engine *engine) {
    for (int direction = 0; direction < 2 && !engine->is_fused; direction++)
        for (int i = 1; i <= engine->pipelines[direction].nsteps; i++)
            if (engine->pipelines[direction].steps[i].pieced)
                return engine->transform.choice.pieces;
    return 1;
}
