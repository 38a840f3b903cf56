/* SPDX-License-Identifier: BSD-3-Clause */
/* The public plan of a transform. */
#include "offload.h"
#include "planner/planner.h"

#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64, DEVICE_ALIGNMENT = 256 };

struct fftnd_plan {
    struct fftnd__engine engine;
    char *method, *wisdom_file; /* own copies of the user's options */
};

/* ---------------------------------------------------------------- making a plan */

static void destroy_plan(fftnd_plan *plan) {
    if (plan == NULL)
        return;
    fftnd__engine_destroy(&plan->engine);
    redist_handle_remove(plan);
    redist_release(plan->method);
    redist_release(plan->wisdom_file);
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
    int kept = keep_text(&request->options.method, &plan->method) &&
               keep_text(&request->options.wisdom_file, &plan->wisdom_file);
    if (kept && redist_handle_add(plan, REDIST_HANDLE_FFT))
        return plan;
    destroy_plan(plan);
    return NULL;
}

/* What is remembered may not work here any more, such as for lack of memory: then it is measured again.
 * Collective. */
static int complete_plan(fftnd_plan *plan, MPI_Comm agreed, const struct fftnd__request *request) {
    struct fftnd__choice choice;
    int remembered = 1;
    int code = fftnd__planner_choose(agreed, request, &choice, &remembered);
    if (code == REDIST_OK)
        code = fftnd__engine_create(&plan->engine, request, &choice);
    if (code == REDIST_OK || !remembered)
        return code;
    fftnd__engine_destroy(&plan->engine);
    plan->engine = (struct fftnd__engine){0};
    remembered = 0;
    code = fftnd__planner_choose(agreed, request, &choice, &remembered);
    return code == REDIST_OK ? fftnd__engine_create(&plan->engine, request, &choice) : code;
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
        code = complete_plan(plan, agreed, &request);
    if (code != REDIST_OK) {
        destroy_plan(plan);
        return code;
    }
    plan->engine.transform.options.grid = NULL; /* the user's arrays may go now */
    plan->engine.transform.options.r2r = NULL;
    plan->engine.transform.options.retained_modes = NULL;
    plan->engine.transform.options.order = NULL;
    *result = plan;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- questions */

static int check_plan(const char *function, const fftnd_plan *plan) {
    if (!redist_handle_is(plan, REDIST_HANDLE_FFT))
        return redist_fail_in(function, REDIST_ERR_STATE, "plan is %s",
                              plan == NULL ? "NULL" : "not a plan, or already freed");
    return redist_check_comm_in(function, plan->engine.transform.comm);
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
    const struct fftnd__transform *transform = &plan->engine.transform;
    int direction = side == FFTND_PHYSICAL ? REDIST_FORWARD : REDIST_BACKWARD;
    const struct fftnd__step *step = fftnd__engine_input(&plan->engine, direction);
    const struct fftnd__batch *batch = &transform->batch;
    *layout = (fftnd_layout){.ndims = transform->chain.ndims};
    for (int axis = 0; axis < layout->ndims; axis++) {
        layout->size[axis] = step->alignment.size[axis];
        layout->start[axis] = step->alignment.start[axis];
        layout->count[axis] = step->alignment.count[axis];
        layout->stride[axis] = step->local.stride[axis + batch->shift];
    }
    layout->batch_stride =
        batch->axis >= 0 ? step->local.stride[batch->axis] : (ptrdiff_t)step->local.elements;
    layout->element_bytes = fftnd__element_bytes(transform, step->real);
    layout->bytes = fftnd__engine_bytes(&plan->engine, direction);
    return REDIST_OK;
}

int fftnd_plan_get_info(const fftnd_plan *plan, fftnd_plan_info *info) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && info == NULL)
        code = redist_fail(REDIST_ERR_NULL, "info = NULL");
    if (code != REDIST_OK)
        return code;
    const struct fftnd__choice *choice = &plan->engine.transform.choice;
    *info = (fftnd_plan_info){.nexchanges = fftnd__engine_exchanges(&plan->engine),
                              .method = plan->engine.method,
                              .workspace_bytes = fftnd__engine_work(&plan->engine),
                              .scale_forward = plan->engine.scale[REDIST_FORWARD],
                              .scale_backward = plan->engine.scale[REDIST_BACKWARD],
                              .serial_seconds = plan->engine.seconds[0],
                              .exchange_seconds = plan->engine.seconds[1],
                              .fused = plan->engine.is_fused,
                              .tiled = plan->engine.is_fused || choice->tiled,
                              .threads = plan->engine.transform.options.threads,
                              .segments = plan->engine.is_fused ? 1 : choice->chunks,
                              .partitions = fftnd__engine_pieces(&plan->engine),
                              .locally_transposed =
                                  plan->engine.pipelines[0].realigned && !plan->engine.is_fused};
    memcpy(info->order, choice->order, sizeof info->order);
    if (plan->engine.transform.offload != NULL) {
        info->device_bytes = plan->engine.transform.offload->bytes;
        info->buffered = plan->engine.transform.offload->buffered;
    }
    info->transfer_bytes = fftnd__engine_transfers(&plan->engine);
    info->tile_bytes = info->tiled ? choice->tile_bytes : 0;
    if (plan->engine.transform.grid != NULL)
        code = redist_grid_get(plan->engine.transform.grid, &info->grid_ndims, info->grid, NULL);
    return code;
}

int fftnd_plan_get_phases(const fftnd_plan *plan, fftnd_phases *phases) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && phases == NULL)
        code = redist_fail(REDIST_ERR_NULL, "phases = NULL");
    if (code == REDIST_OK && phases->size != sizeof *phases)
        code = redist_fail(REDIST_ERR_ARGUMENT,
                           "phases->size = %zu, but this library knows the size %zu: start from "
                           "FFTND_PHASES_DEFAULT",
                           phases->size, sizeof *phases);
    if (code == REDIST_OK)
        fftnd__engine_phases(&plan->engine, phases);
    return code;
}

/* ---------------------------------------------------------------- work space */

static int check_workspace(const fftnd_plan *plan, const void *workspace, size_t bytes) {
    const char *function = "fftnd_plan_set_workspace";
    size_t needed = fftnd__engine_work(&plan->engine);
    const struct fftnd__serial *library = plan->engine.transform.library;
    uintptr_t alignment = library->space == REDIST_SPACE_HOST ? ALIGNMENT : DEVICE_ALIGNMENT;
    if (!plan->engine.transform.options.user_workspace)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has its own work space: options.user_workspace was 0");
    if (bytes < needed)
        return redist_fail_in(function, REDIST_ERR_SIZE, "bytes = %zu is below the %zu needed",
                              bytes, needed);
    if (workspace == NULL && needed != 0)
        return redist_fail_in(function, REDIST_ERR_NULL, "workspace = NULL");
    if ((uintptr_t)workspace % alignment != 0)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "workspace = %p is not aligned to %d bytes", workspace,
                              (int)alignment);
    return needed != 0 && library->check != NULL
               ? library->check(function, "workspace", workspace, 1)
               : REDIST_OK;
}

int fftnd_plan_set_workspace(fftnd_plan *plan, void *workspace, size_t bytes) {
    int code = check_plan(__func__, plan);
    if (code != REDIST_OK)
        return code;
    code = redist_agree(plan->engine.transform.comm, check_workspace(plan, workspace, bytes));
    return code == REDIST_OK ? fftnd__engine_set_workspace(&plan->engine, workspace) : code;
}

/* ---------------------------------------------------------------- execution */

static int check_mapped(const char *function, const struct fftnd__transform *transform,
                        const struct fftnd__array *array) {
    if (!transform->options.mapped_arrays || array->bytes == 0 ||
        redist_is_mappable(transform->library->space, array->data, array->bytes))
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          "%s = %p cannot be mapped by peers, but options->mapped_arrays was set",
                          array->name, array->data);
}

/* Whether the arguments are in order on all ranks, and the plan is not broken; what only this rank says may
 * do. With skip_agreement a broken plan takes its peers through their exchanges. */
static int agree(const struct fftnd__engine *engine, int code) {
    const struct fftnd__transform *transform = &engine->transform;
    int nranks = 1;
    if (transform->options.skip_agreement)
        return code;
    if (code == REDIST_OK)
        code = fftnd__failure_report(&engine->failure);
    MPI_Comm_size(transform->comm, &nranks);
    return nranks == 1 ? code : redist_agree(transform->comm, code);
}

static int execute(const char *function, fftnd_plan *plan, int direction, void *in, void *out) {
    static const char *const names[2] = {"physical", "spectral"};
    int code = check_plan(function, plan);
    if (code != REDIST_OK)
        return code;
    const struct fftnd__transform *transform = &plan->engine.transform;
    const struct fftnd__array arrays[2] = {
        {names[direction], in, fftnd__engine_bytes(&plan->engine, direction)},
        {names[!direction], out, fftnd__engine_bytes(&plan->engine, !direction)}};
    code = fftnd__check_arrays(function, arrays, transform->options.in_place);
    /* a driver may fail on this rank alone */
    int checks = transform->library->check != NULL && !transform->options.skip_agreement;
    for (int i = 0; i < 2 && code == REDIST_OK && checks; i++)
        if (arrays[i].bytes != 0)
            code = transform->library->check(function, arrays[i].name, arrays[i].data,
                                             fftnd__element_bytes(transform, 0));
    for (int i = 0; i < 2 && code == REDIST_OK; i++)
        code = check_mapped(function, transform, &arrays[i]);
    if (code == REDIST_OK && !plan->engine.has_workspace)
        code = redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has no work space: call fftnd_plan_set_workspace");
    code = agree(&plan->engine, code);
    return code == REDIST_OK ? fftnd__engine_run(&plan->engine, direction, in, out) : code;
}

int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral) {
    return execute(__func__, plan, REDIST_FORWARD, physical, spectral);
}

int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical) {
    return execute(__func__, plan, REDIST_BACKWARD, spectral, physical);
}

int fftnd_plan_transfer(fftnd_plan *plan, int direction, void *input, void *output) {
    int code = check_plan(__func__, plan);
    if (code != REDIST_OK)
        return code;
    if (plan->engine.transform.offload == NULL) /* on all ranks */
        return redist_fail(REDIST_ERR_STATE, "plan has no tiles on a device");
    if (direction != REDIST_FORWARD && direction != REDIST_BACKWARD)
        code = redist_fail(REDIST_ERR_ARGUMENT, "direction = %d is neither forward nor backward",
                           direction);
    code = redist_agree(plan->engine.transform.comm, code);
    if (code != REDIST_OK)
        return code;
    plan->engine.transform.offload->bare = 1;
    code = execute(__func__, plan, direction, input, output);
    plan->engine.transform.offload->bare = 0;
    return code;
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
