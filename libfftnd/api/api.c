/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of fftnd.h. */
#include "../planner/planner.h"
#include "../program/names.h"
#include "../program/wavenumbers.h"
#include "plan.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ALIGNMENT = 64, DEVICE_ALIGNMENT = 256 };

/* ---------------------------------------------------------------- versions */

void fftnd_version(int *major, int *minor, int *patch) {
    const int version[3] = {FFTND_VERSION_MAJOR, FFTND_VERSION_MINOR, FFTND_VERSION_PATCH};
    int *const wanted[3] = {major, minor, patch};
    for (int i = 0; i < 3; i++)
        if (wanted[i] != NULL)
            *wanted[i] = version[i];
}

int fftnd_options_init(fftnd_options *options, size_t size) {
    const fftnd_options defaults = FFTND_OPTIONS_DEFAULT;
    return redist_struct_init(__func__, options, size, &defaults, sizeof defaults);
}

int fftnd_layout_init(fftnd_layout *layout, size_t size) {
    const fftnd_layout defaults = FFTND_LAYOUT_DEFAULT;
    return redist_struct_init(__func__, layout, size, &defaults, sizeof defaults);
}

int fftnd_plan_info_init(fftnd_plan_info *info, size_t size) {
    const fftnd_plan_info defaults = FFTND_PLAN_INFO_DEFAULT;
    return redist_struct_init(__func__, info, size, &defaults, sizeof defaults);
}

int fftnd_phases_init(fftnd_phases *phases, size_t size) {
    const fftnd_phases defaults = FFTND_PHASES_DEFAULT;
    return redist_struct_init(__func__, phases, size, &defaults, sizeof defaults);
}

/* ---------------------------------------------------------------- making a plan */

static void empty_plan(fftnd_plan *plan) {
    redist_life *life = plan->engine.life;
    int failed = plan->engine.failure.code;
    fftnd__engine_destroy(&plan->engine);
    redist_life_end(&life, failed != REDIST_OK ? failed : plan->operators_failed);
}

static void destroy_plan(fftnd_plan *plan) {
    if (plan == NULL)
        return;
    redist_closer_remove(&plan->closer);
    if (!plan->closed)
        empty_plan(plan);
    redist_handle_remove(plan);
    redist_release(plan->method);
    redist_release(plan->wisdom_file);
    redist_release(plan);
}

/* Copies a text of the user's options: exchanges may be planned later. */
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
    int is_copied = keep_text(&request->settings.method, &plan->method) &&
                    keep_text(&request->settings.wisdom_file, &plan->wisdom_file);
    if (is_copied && redist_handle_add(plan, REDIST_HANDLE_FFT))
        return plan;
    destroy_plan(plan);
    return NULL;
}

/* Wisdom of libredist, for one communicator and file. */
struct remembered {
    struct lines__wisdom wisdom;
    MPI_Comm comm;
    const char *file;
};

static int find_text(const struct lines__wisdom *wisdom, const char *key, size_t bytes,
                     char text[]) {
    const struct remembered *remembered = (const struct remembered *)wisdom;
    return redist_wisdom_find(remembered->comm, remembered->file, key, bytes, text);
}

static int store_text(const struct lines__wisdom *wisdom, const char *key, const char *text) {
    const struct remembered *remembered = (const struct remembered *)wisdom;
    return redist_wisdom_store(remembered->comm, remembered->file, key, text);
}

/* Lets the serial library measure itself. Collective. */
static int learn_lines(const struct fftnd__arguments *arguments) {
    const struct lines__library *library = lines__library_for(arguments->options.space);
    const struct remembered remembered = {
        {find_text, store_text}, arguments->comm, arguments->options.wisdom_file};
    return library->learn == NULL ? REDIST_OK
                                  : library->learn(&remembered.wisdom, arguments->ndims,
                                                   arguments->sizes, arguments->precision);
}

/* Makes the engine; wisdom that does not work any more, for lack of memory or so, is measured anew. Collective. */
static int complete_plan(fftnd_plan *plan, const struct fftnd__request *wanted) {
    struct fftnd__configuration configuration;
    for (int remembered = 1;; remembered = 0) {
        struct fftnd__request request = *wanted;
        int code = fftnd__planner_choose(&request, &configuration, &remembered);
        if (code == REDIST_OK)
            code = fftnd__engine_create(&plan->engine, &request, &configuration);
        if (code == REDIST_OK || !remembered)
            return code;
        fftnd__engine_destroy(&plan->engine);
        plan->engine = (struct fftnd__engine){0};
    }
}

/* Finds the place of the arrays, or of the device that tiles are sent to. */
static int find_place(const struct fftnd__settings *settings, redist_place *place) {
    const char *function = "fftnd_plan_create";
    int offloads = settings->offloads;
    const redist__space *space = redist_space_at(offloads ? settings->device : settings->space);
    REDIST_TRY(redist_check_default_stream(function, space));
    return redist_place_find(function, space, offloads ? NULL : "options->stream",
                             offloads ? NULL : settings->stream, place);
}

int fftnd__enter(fftnd_plan *plan, redist_visit *visit) {
    int code = redist_enter(&plan->place, visit);
    fftnd__failure_note(&plan->engine.failure, code);
    for (struct fftnd__engine *at = plan->applying; at != NULL && code != REDIST_OK; at = at->next)
        fftnd__failure_note(&at->failure, code);
    return code;
}

redist_place fftnd__place_of_rest(const fftnd_plan *plan) {
    redist_place place = plan->place;
    place.has_stream = place.has_stream && plan->engine.transform.settings.asynchronous;
    return place;
}

/* Closes a plan in MPI_Finalize, unless a transform is under way, for which its peers may not wait. */
static void close_plan(redist_closer *closer) {
    fftnd_plan *plan = (fftnd_plan *)(void *)((char *)closer - offsetof(fftnd_plan, closer));
    if (plan->started.is_started)
        return;
    const redist_place place = fftnd__place_of_rest(plan);
    redist_visit visit;
    (void)redist_enter(&place, &visit);
    empty_plan(plan);
    redist_leave(&visit);
    plan->closed = 1;
}

/* Has MPI_Finalize close the plan, with this library still loaded. */
static void close_at_the_end(MPI_Comm comm, fftnd_plan *plan) {
    static atomic_flag stays = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&stays))
        redist_stay_loaded(__func__);
    redist_closer_add(comm, &plan->closer, close_plan);
}

int fftnd_plan_create(MPI_Comm comm, int ndims, const redist_index sizes[], enum fftnd_kind kind,
                      enum fftnd_precision precision, const fftnd_options *options,
                      fftnd_plan **result) {
    struct fftnd__arguments arguments = {
        .user_comm = comm, .ndims = ndims, .sizes = sizes, .kind = kind, .precision = precision};
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist_private_comm(comm, &arguments.comm));
    REDIST_TRY(fftnd__check_plan(&arguments, options, result));
    struct fftnd__request request = fftnd__resolve(&arguments);
    fftnd_plan *plan = allocate_plan(&request);
    redist_place place = {.space = NULL};
    redist_visit visit;
    int code = plan != NULL ? find_place(&request.settings, &place)
                            : redist_fail(REDIST_ERR_MEMORY, "no memory for a plan");
    code = redist_agree(request.comm, code);
    (void)redist_enter(&place, &visit); /* cannot fail: it is current */
    if (code == REDIST_OK)
        code = learn_lines(&arguments);
    if (code == REDIST_OK)
        code = complete_plan(plan, &request);
    if (code == REDIST_OK && !arguments.options.skip_agreement && !request.settings.asynchronous)
        code = redist_life_create(request.comm, &plan->engine.life);
    if (code != REDIST_OK)
        destroy_plan(plan);
    redist_leave(&visit);
    REDIST_TRY(code);
    plan->place = place;
    close_at_the_end(request.comm, plan);
    *result = plan;
    return REDIST_OK;
}

/* ---------------------------------------------------------------- queries */

static int check_plan(const char *function, const fftnd_plan *plan) {
    if (!redist_handle_is(plan, REDIST_HANDLE_FFT))
        return redist_fail_in(function, REDIST_ERR_STATE, "plan is %s",
                              plan == NULL ? "NULL" : "not a plan, or already freed");
    return redist_check_comm_in(function, plan->engine.transform.comm);
}

static int is_closed(const fftnd_plan *plan) {
    return redist_handle_is(plan, REDIST_HANDLE_FFT) && plan->closed;
}

int fftnd__check_idle(const char *function, const fftnd_plan *plan) {
    REDIST_TRY(check_plan(function, plan));
    if (plan->started.is_started)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "a transform of the plan is under way: complete it with fftnd_wait");
    return REDIST_OK;
}

static int check_result(const char *function, const fftnd_plan *plan, const char *name,
                        const void *result) {
    REDIST_TRY(check_plan(function, plan));
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

/* Returns the library's number of a user's axis. */
static int own_axis(const struct fftnd__transform *transform, int axis) {
    int own = 0;
    while (transform->user_axis[own] != axis)
        own++;
    return own;
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
    int own = transform->chain.twiddles ? memory[0] : own_axis(transform, axis);
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
    REDIST_TRY(check_plan(__func__, plan));
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
    for (redist_index i = 0; i < range.count; i++)
        k[i] = fftnd__wavenumber(transform, own_axis(transform, axis), range.start + i);
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
    return own;
}

int fftnd_plan_layout(const fftnd_plan *plan, enum fftnd_side side, fftnd_layout *layout) {
    REDIST_TRY(check_plan(__func__, plan));
    REDIST_TRY(redist_check_enum_in(__func__, "side", fftnd__side_name, (int)side));
    const struct fftnd__step *array = fftnd__engine_input(&plan->engine, (int)side);
    fftnd_layout own = fftnd__layout_of(&plan->engine.transform, array, side,
                                        fftnd__engine_bytes(&plan->engine, (int)side));
    return redist_struct_write(__func__, "layout", &own, sizeof own, layout);
}

/* Older layouts end before the batch, which has one field at least. */
static redist_index batch_of(const fftnd_layout *layout) {
    return layout->size > offsetof(fftnd_layout, batch) ? layout->batch : INT64_MAX;
}

void *fftnd_layout_at(const fftnd_layout *layout, void *array, const redist_index index[],
                      redist_index field) {
    if (layout == NULL || array == NULL || index == NULL || field < 0 || field >= batch_of(layout))
        return NULL;
    ptrdiff_t element = (ptrdiff_t)field * layout->batch_stride;
    for (int axis = 0; axis < layout->ndims; axis++) {
        redist_index local = index[axis] - layout->start[axis];
        if (local < 0 || local >= layout->count[axis])
            return NULL;
        element += (ptrdiff_t)local * layout->stride[axis];
    }
    return (char *)array + element * (ptrdiff_t)layout->element_bytes;
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

/* ---------------------------------------------------------------- work space */

static int check_workspace(const fftnd_plan *plan, const void *workspace, size_t bytes) {
    const char *function = "fftnd_plan_set_workspace";
    size_t needed = fftnd__engine_work(&plan->engine);
    const struct lines__library *library = plan->engine.transform.library;
    uintptr_t alignment = library->space == REDIST_SPACE_HOST ? ALIGNMENT : DEVICE_ALIGNMENT;
    if (!plan->engine.transform.settings.user_workspace)
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
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    int code = fftnd__enter(plan, &visit);
    if (code == REDIST_OK)
        code = check_workspace(plan, workspace, bytes);
    code = redist_agree(plan->engine.transform.comm, code);
    if (code == REDIST_OK)
        code = fftnd__engine_set_workspace(&plan->engine, workspace);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- execution */

int fftnd__check_mapped(const char *function, const struct fftnd__engine *engine,
                        const struct fftnd__array *array) {
    const struct fftnd__transform *transform = &engine->transform;
    if (!transform->settings.mapped_arrays || array->bytes == 0)
        return REDIST_OK;
    return redist_check_mapped(function, array->name, "options->mapped_arrays was set",
                               transform->library->space, array->data, array->bytes,
                               engine->life != NULL);
}

int fftnd__agree_to_run(const char *function, const struct fftnd__engine *engine, int code) {
    int nranks = 1;
    if (engine->life == NULL)
        return code;
    if (code == REDIST_OK)
        code = fftnd__failure_report(&engine->failure);
    MPI_Comm_size(engine->transform.comm, &nranks);
    return nranks == 1 ? code : redist_life_agree(engine->life, 0, function, code, 0, NULL);
}

/* Checks that the library can use an array. With skip_agreement failures of a driver, which may be this rank's alone,
 * are left to the execution. */
static int check_place(const char *function, const struct fftnd__engine *engine,
                       const struct fftnd__array *array) {
    const struct fftnd__transform *transform = &engine->transform;
    int code = transform->library->check(function, array->name, array->data,
                                         fftnd__element_bytes(transform, 0));
    return engine->life == NULL && code != REDIST_ERR_ARGUMENT ? REDIST_OK : code;
}

int fftnd__check_execution(const char *function, const struct fftnd__engine *engine,
                           const struct fftnd__array arrays[2]) {
    const struct fftnd__transform *transform = &engine->transform;
    int checks = transform->library->check != NULL && !redist_place_is_gone();
    REDIST_TRY(fftnd__check_arrays(function, arrays, transform->settings.in_place));
    if (transform->space->asynchronous)
        REDIST_TRY(redist_check_capture(function, redist_place_entered(),
                                        transform->settings.asynchronous));
    for (int i = 0; i < 2 && checks; i++)
        if (arrays[i].bytes != 0)
            REDIST_TRY(check_place(function, engine, &arrays[i]));
    for (int i = 0; i < 2; i++)
        REDIST_TRY(fftnd__check_mapped(function, engine, &arrays[i]));
    if (!engine->has_workspace)
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan has no work space: call fftnd_plan_set_workspace");
    return REDIST_OK;
}

/* Checks the arguments of an execution. Not collective. */
static int check_arguments(const char *function, const fftnd_plan *plan, int direction,
                           const void *in, const void *out) {
    static const char *const names[2] = {"physical", "spectral"};
    REDIST_TRY(redist_check_enum_in(function, "direction", redist_direction_name, direction));
    const struct fftnd__array arrays[2] = {
        {names[direction], in, fftnd__engine_bytes(&plan->engine, direction)},
        {names[!direction], out, fftnd__engine_bytes(&plan->engine, !direction)}};
    return fftnd__check_execution(function, &plan->engine, arrays);
}

/* Agrees that all ranks may run. A plan of mapped arrays that got plain ones becomes one for these. Collective. */
static int prepare(const char *function, fftnd_plan *plan, int direction, const void *in,
                   const void *out) {
    struct fftnd__engine *engine = &plan->engine;
    int code =
        fftnd__agree_to_run(function, engine, check_arguments(function, plan, direction, in, out));
    if (code != REDIST_TAKES_PLAIN)
        return code;
    REDIST_TRY(fftnd__engine_take_plain(engine));
    return fftnd__agree_to_run(function, engine,
                               check_arguments(function, plan, direction, in, out));
}

static int execute(const char *function, fftnd_plan *plan, int direction, void *in, void *out) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(function, plan));
    (void)fftnd__enter(plan, &visit);
    int code = prepare(function, plan, direction, in, out);
    if (code == REDIST_OK)
        code = fftnd__engine_run(&plan->engine, direction, in, out);
    redist_leave(&visit);
    return code;
}

int fftnd_forward(fftnd_plan *plan, void *physical, void *spectral) {
    return execute(__func__, plan, REDIST_FORWARD, physical, spectral);
}

int fftnd_backward(fftnd_plan *plan, void *spectral, void *physical) {
    return execute(__func__, plan, REDIST_BACKWARD, spectral, physical);
}

int fftnd_plan_query(fftnd_plan *plan) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    (void)fftnd__enter(plan, &visit);
    int code = fftnd__engine_query(&plan->engine);
    for (struct fftnd__engine *at = plan->applying; at != NULL && code == REDIST_OK; at = at->next)
        code = fftnd__engine_query(at);
    redist_leave(&visit);
    return code;
}

/* ---------------------------------------------------------------- started and waited for */

static void *run_in_thread(void *data) {
    fftnd_plan *plan = data;
    struct fftnd__started *started = &plan->started;
    (void)fftnd__engine_run(&plan->engine, started->direction, started->in, started->out);
    return NULL;
}

/* Returns nonzero if a thread may run the transform: MPI lets it communicate beside the caller, and no device, which
 * each thread would have to choose, takes part. */
static int may_overlap(const struct fftnd__transform *transform) {
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE && transform->workplace->in_caches;
}

int fftnd_start(fftnd_plan *plan, int direction, void *input, void *output) {
    redist_visit visit;
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    (void)fftnd__enter(plan, &visit);
    int code = prepare(__func__, plan, direction, input, output);
    redist_leave(&visit);
    REDIST_TRY(code);
    struct fftnd__started *started = &plan->started;
    *started = (struct fftnd__started){
        .is_started = 1, .direction = direction, .in = input, .out = output};
    started->has_thread = may_overlap(&plan->engine.transform) &&
                          pthread_create(&started->thread, NULL, run_in_thread, plan) == 0;
    return REDIST_OK;
}

static int complete(fftnd_plan *plan) {
    struct fftnd__started *started = &plan->started;
    redist_visit visit;
    started->is_started = 0;
    if (!started->has_thread) {
        (void)fftnd__enter(plan, &visit);
        int code = fftnd__engine_run(&plan->engine, started->direction, started->in, started->out);
        redist_leave(&visit);
        return code;
    }
    pthread_join(started->thread, NULL);
    return fftnd__failure_report(&plan->engine.failure);
}

int fftnd_wait(fftnd_plan *plan) {
    REDIST_TRY(check_plan(__func__, plan));
    if (!plan->started.is_started)
        return redist_fail(REDIST_ERR_STATE, "no transform is under way: call fftnd_start first");
    return complete(plan);
}

/* ---------------------------------------------------------------- transfers, and the end */

int fftnd_plan_transfer(fftnd_plan *plan, int direction, void *input, void *output) {
    REDIST_TRY(fftnd__check_idle(__func__, plan));
    if (!plan->engine.transform.workplace->copies_tiles)
        return redist_fail(
            REDIST_ERR_STATE,
            "plan has no tiles on a device: make it with options->device = REDIST_SPACE_CUDA");
    plan->engine.transform.offload->bare = 1;
    int code = execute(__func__, plan, direction, input, output);
    plan->engine.transform.offload->bare = 0;
    return code;
}

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
    fftnd__order_guess(&request, &guess);
    *seconds = fftnd__predict(&own, &request, &guess);
    return REDIST_OK;
}

int fftnd_plan_free(fftnd_plan **plan) {
    if (plan == NULL)
        return redist_fail(REDIST_ERR_NULL, "plan = NULL");
    if (*plan == NULL)
        return REDIST_OK;
    if (!is_closed(*plan))
        REDIST_TRY(check_plan(__func__, *plan));
    if ((*plan)->operators > 0) /* on all ranks */
        return redist_fail(REDIST_ERR_STATE, "plan has %d operators: free these first",
                           (*plan)->operators);
    int code = (*plan)->started.is_started ? complete(*plan) : REDIST_OK;
    const redist_place place = fftnd__place_of_rest(*plan);
    redist_visit visit;
    (void)redist_enter(&place, &visit);
    destroy_plan(*plan);
    redist_leave(&visit);
    *plan = NULL;
    return code;
}
