/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a plan, and the estimate of its time. */
#include "../planner/planner.h"
#include "../program/names.h"
#include "../program/program.h"
#include "plan.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static int check_result(const char *function, const fftnd_plan *plan, const char *name,
                        const void *result) {
    REDIST_TRY(fftnd__check_alive(function, plan));
    return result != NULL ? REDIST_OK
                          : redist_fail_in(function, REDIST_ERR_NULL, "%s = NULL", name);
}

int fftnd_plan_get_comm(const fftnd_plan *plan, MPI_Comm *comm) {
    REDIST_TRY(check_result(__func__, plan, "comm", comm));
    *comm = plan->engine.transform.comm;
    return REDIST_OK;
}

int fftnd_plan_get_grid(const fftnd_plan *plan, const redist_grid **grid) {
    REDIST_TRY(check_result(__func__, plan, "grid", grid));
    *grid = plan->engine.transform.grid;
    return REDIST_OK;
}

int fftnd_plan_get_method(const fftnd_plan *plan, const char **method) {
    REDIST_TRY(check_result(__func__, plan, "method", method));
    *method = plan->engine.method;
    return REDIST_OK;
}

/* Elements of a user's axis on a side; of one long axis, its rows one after the other. */
struct range {
    redist_index size, start, count;
    ptrdiff_t stride;
};

static struct range range_of(const struct fftnd__transform *transform,
                             const struct fftnd__step *step, enum fftnd_side side, int axis) {
    const struct fftnd__alignment *alignment = &step->layout->alignment;
    const int *memory = transform->memory[side];
    int own = transform->chain.twiddles ? memory[0] : fftnd__place_of(transform->user_axis, axis);
    struct range range = {alignment->size[own], alignment->start[own], alignment->count[own],
                          step->layout->local.stride[own + transform->batch.shift]};
    if (transform->chain.twiddles) {
        redist_index columns = alignment->size[memory[1]];
        range = (struct range){range.size * columns, range.start * columns, range.count * columns,
                               step->layout->local.stride[memory[1] + transform->batch.shift]};
    }
    return range;
}

int fftnd_plan_wavenumbers(const fftnd_plan *plan, int axis, double k[]) {
    REDIST_TRY(fftnd__check_alive(__func__, plan));
    const struct fftnd__transform *transform = &plan->engine.transform;
    int ndims = transform->user_ndims;
    if (axis < 0 || axis >= ndims)
        return redist_fail(REDIST_ERR_AXIS, "axis = %d is not in 0..%d", axis, ndims - 1);
    const struct range range =
        range_of(transform, fftnd__engine_input(&plan->engine, 1), FFTND_SPECTRAL, axis);
    if (k == NULL && range.count > 0)
        return redist_fail(REDIST_ERR_NULL,
                           "k = NULL, but this rank has %lld elements along axis %d",
                           (long long)range.count, axis);
    int own = fftnd__place_of(transform->user_axis, axis);
    for (redist_index i = 0; i < range.count; i++)
        k[i] = fftnd__wavenumber(transform, own, range.start + i);
    return REDIST_OK;
}

fftnd_layout fftnd__layout_of(const struct fftnd__transform *transform,
                              const struct fftnd__step *array, enum fftnd_side side, size_t bytes) {
    const struct fftnd__batch *batch = &transform->batch;
    fftnd_layout own = {.ndims = transform->user_ndims};
    for (int axis = 0; axis < own.ndims; axis++) {
        const struct range range = range_of(transform, array, side, axis);
        own.sizes[axis] = range.size;
        own.start[axis] = range.start;
        own.count[axis] = range.count;
        own.stride[axis] = range.stride;
    }
    own.batch_stride = batch->axis >= 0 ? array->layout->local.stride[batch->axis]
                                        : (ptrdiff_t)array->layout->local.elements;
    own.element_bytes = fftnd__element_bytes(transform, array->real);
    own.bytes = bytes;
    own.batch = (redist_index)array->fields * batch->count;
    own.offset = array->layout->local.offset;
    return own;
}

int fftnd_plan_layout(const fftnd_plan *plan, enum fftnd_side side, fftnd_layout *layout) {
    REDIST_TRY(fftnd__check_alive(__func__, plan));
    REDIST_TRY(redist_check_enum_in(__func__, "side", fftnd__side_name, (int)side));
    const struct fftnd__step *array = fftnd__engine_input(&plan->engine, (int)side);
    fftnd_layout own = fftnd__layout_of(&plan->engine.transform, array, side,
                                        fftnd__engine_bytes(&plan->engine, (int)side));
    return redist_struct_write(__func__, "layout", &own, sizeof own, layout);
}

/* Older layouts end before the batch, which has one field at least, or before the offset. */
static redist_index batch_of(const fftnd_layout *layout) {
    return layout->size > offsetof(fftnd_layout, batch) ? layout->batch : INT64_MAX;
}

static ptrdiff_t offset_of(const fftnd_layout *layout) {
    return layout->size > offsetof(fftnd_layout, offset) ? layout->offset : 0;
}

void *fftnd_layout_at(const fftnd_layout *layout, void *array, const redist_index index[],
                      redist_index field) {
    if (layout == NULL || array == NULL || index == NULL || field < 0 || field >= batch_of(layout))
        return NULL;
    ptrdiff_t element = offset_of(layout) + (ptrdiff_t)field * layout->batch_stride;
    for (int axis = 0; axis < layout->ndims; axis++) {
        redist_index local = index[axis] - layout->start[axis];
        if (local < 0 || local >= layout->count[axis])
            return NULL;
        element += (ptrdiff_t)local * layout->stride[axis];
    }
    return (char *)array + element * (ptrdiff_t)layout->element_bytes;
}

/* An operator of a plan with work space of the user lists its own. */
static size_t operator_bytes(const fftnd_plan *plan) {
    size_t bytes = fftnd__work_allocated(&plan->engine, 0);
    for (const struct fftnd__engine *at = plan->applying; at != NULL; at = at->next)
        bytes += fftnd__work_allocated(at, 1);
    return bytes;
}

int fftnd_plan_get_info(const fftnd_plan *plan, fftnd_plan_info *info) {
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    const struct fftnd__configuration *configuration = &plan->engine.transform.configuration;
    fftnd_plan_info own = {.nexchanges = fftnd__engine_exchanges(&plan->engine),
                           .method = plan->engine.method,
                           .workspace_bytes = fftnd__engine_work(&plan->engine),
                           .scale_forward = (double)plan->engine.scales[REDIST_FORWARD],
                           .scale_backward = (double)plan->engine.scales[REDIST_BACKWARD],
                           .serial_seconds = plan->engine.seconds[0],
                           .exchange_seconds = plan->engine.seconds[1],
                           .fused = plan->engine.is_fused,
                           .tiled = plan->engine.is_fused || configuration->tiled,
                           .threads = plan->engine.transform.settings.threads,
                           .halved_axis = -1,
                           .segments = plan->engine.is_fused ? 1 : configuration->segments,
                           .partitions = fftnd__engine_partitions(&plan->engine),
                           .locally_transposed =
                               plan->engine.programs[0].transposed && !plan->engine.is_fused};
    const struct fftnd__transform *transform = &plan->engine.transform;
    for (int i = 0; i < transform->user_ndims && !transform->chain.twiddles; i++)
        own.order[i] = transform->user_axis[configuration->order[i]];
    if (transform->chain.halved >= 0)
        own.halved_axis = transform->user_axis[transform->chain.halved];
    if (plan->engine.transform.offload != NULL) {
        own.device_bytes = plan->engine.transform.offload->bytes;
        own.buffered = plan->engine.transform.offload->buffered;
    }
    own.planning_seconds = plan->planning_seconds;
    own.choice_seconds = plan->choice_seconds;
    own.allocation_seconds = plan->engine.allocation_seconds;
    own.connection_seconds = plan->engine.connection_seconds;
    own.steps_seconds = plan->engine_seconds - own.allocation_seconds - own.connection_seconds;
    own.wire = plan->engine.transform.settings.wire;
    memcpy(own.wire_error, plan->wire_error, sizeof own.wire_error);
    own.sent_bytes = fftnd__engine_sends(&plan->engine);
    own.operator_bytes = operator_bytes(plan);
    own.transfer_bytes = fftnd__engine_transfers(&plan->engine);
    own.tile_bytes = own.tiled ? configuration->tile_bytes : 0;
    own.scratch_bytes = plan->engine.tile_bytes;
    if (transform->grid != NULL)
        REDIST_TRY(redist_grid_get(transform->grid, &own.grid_ndims, own.grid, NULL));
    int nranks = 1;
    MPI_Comm_size(transform->comm, &nranks);
    own.ranks = configuration->ranks != 0 ? configuration->ranks : nranks;
    return redist_struct_write(__func__, "info", &own, sizeof own, info);
}

/* Seconds of transforms. Over whole arrays these are all seconds outside of exchanges: the clock of transforms may also
 * run while segments are handed over. */
static double transform_seconds(const struct fftnd__engine *engine, double no_exchange) {
    if (!engine->is_fused)
        return no_exchange;
    return engine->seconds[0] < no_exchange ? engine->seconds[0] : no_exchange;
}

static fftnd_phases phases_of(const struct fftnd__engine *engine) {
    redist_phases exchanges = fftnd__engine_exchange_phases(engine);
    double total = engine->seconds[0] + engine->seconds[1];
    double transform = transform_seconds(engine, total - exchanges.total);
    return (fftnd_phases){.executions = engine->executions,
                          .total = total,
                          .transform = transform,
                          .pack = exchanges.pack,
                          .first_message = exchanges.first_message,
                          .communicate = exchanges.communicate,
                          .unpack = exchanges.unpack,
                          .own_part = exchanges.own_part,
                          .rest = total - exchanges.total - transform};
}

int fftnd_plan_get_phases(const fftnd_plan *plan, fftnd_phases *phases) {
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    fftnd_phases own = FFTND_PHASES_DEFAULT;
    if (plan->engine.transform.settings.phases)
        own = phases_of(&plan->engine);
    return redist_struct_write(__func__, "phases", &own, sizeof own, phases);
}

/* ---------------------------------------------------------------- prediction */

int fftnd_predict(const redist_model *model, int nranks, int ndims, const redist_index sizes[],
                  enum fftnd_kind kind, enum fftnd_precision precision,
                  const fftnd_options *options, double *seconds) {
    redist_model own = REDIST_MODEL_DEFAULT;
    struct fftnd__arguments arguments = {
        .nranks = nranks, .ndims = ndims, .sizes = sizes, .kind = kind, .precision = precision};
    struct fftnd__configuration guess = {0};
    REDIST_TRY(redist_struct_read(__func__, "model", model, &own, sizeof own));
    if (options == NULL || seconds == NULL)
        return redist_fail(REDIST_ERR_NULL, "%s = NULL", options == NULL ? "options" : "seconds");
    REDIST_TRY(fftnd__check_prediction(&arguments, options));
    const struct fftnd__request request = fftnd__resolve(&arguments);
    guess.grid_ndims = request.grid_ndims;
    memcpy(guess.grid, request.grid, sizeof guess.grid);
    fftnd__usual_order(&request.shape, guess.order);
    fftnd__order_guess(&request, &guess, 0);
    *seconds = fftnd__predict(&own, &request, &guess);
    return REDIST_OK;
}
