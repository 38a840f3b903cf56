/* SPDX-License-Identifier: BSD-3-Clause */
#include "../program/program.h"
#include "parts.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { AREA = 2 };

static long double logical_size(const struct fftnd__request *request) {
    long double product = 1;
    for (int i = 0; i < request->shape.ndims; i++)
        product *= fftnd__logical_extent(request->shape.axes[i], request->r2r[i],
                                         request->shape.points[i]);
    return product;
}

static void set_scale(struct fftnd__engine *engine, const struct fftnd__request *request) {
    long double size = logical_size(request);
    enum fftnd_scaling scaling = request->settings.scaling;
    long double unitary = scaling == FFTND_SCALE_UNITARY ? 1 / sqrtl(size) : 1;
    engine->scales[REDIST_FORWARD] = scaling == FFTND_SCALE_FORWARD ? 1 / size : unitary;
    engine->scales[REDIST_BACKWARD] = scaling == FFTND_SCALE_BACKWARD ? 1 / size : unitary;
}

/* ---------------------------------------------------------------- programs */

static size_t step_bytes_at(const struct fftnd__engine *engine, int direction, int i) {
    return fftnd__step_bytes(&engine->transform, &engine->programs[direction].steps[i]);
}

/* Returns the bytes of the largest array of any step: for planning, and of arrays that serve as work space. */
static size_t find_largest(const struct fftnd__engine *engine) {
    size_t most = 0;
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0;
             engine->programs[direction].steps != NULL && i <= engine->programs[direction].nsteps;
             i++) {
            size_t bytes = step_bytes_at(engine, direction, i);
            most = bytes > most ? bytes : most;
        }
    return most;
}

/* Bytes of the array after a step, or of the segments that take turns there. */
static size_t memory_of(const struct fftnd__engine *engine, int direction, int i) {
    const struct fftnd__step *step = &engine->programs[direction].steps[i];
    const struct fftnd__stage *stage = step->stage;
    if (!step->takes_turns)
        return step_bytes_at(engine, direction, i);
    return stage != NULL ? (size_t)stage->out.turns * stage->piece_bytes : 0;
}

static void note_bytes(struct fftnd__engine *engine, int work, size_t bytes) {
    bytes = fftnd__round_up(bytes, engine->transform.workplace->alignment);
    if (bytes > engine->work_bytes[work])
        engine->work_bytes[work] = bytes;
}

/* Counts the work space of the programs, besides that counted before. */
static void count_work(struct fftnd__engine *engine) {
    for (int direction = 0; direction < 2; direction++) {
        const struct fftnd__program *program = &engine->programs[direction];
        note_bytes(engine, AREA, fftnd__stages_bytes(program, FFTND__IN_AREA));
        for (int i = 1; i <= program->nsteps; i++)
            if (program->steps[i].buffer >= FFTND__WORK0)
                note_bytes(engine, program->steps[i].buffer - FFTND__WORK0,
                           memory_of(engine, direction, i));
    }
}

/* Allocates tiles once for all stages: one runs at a time. */
static int allocate_tiles(struct fftnd__engine *engine) {
    size_t bytes = 0;
    for (int direction = 0; direction < 2; direction++) {
        size_t needed = fftnd__stages_bytes(&engine->programs[direction], FFTND__IN_CACHES);
        bytes = needed > bytes ? needed : bytes;
    }
    engine->tile_bytes = bytes;
    if (bytes == 0)
        return REDIST_OK;
    if (!fftnd__spare_take_tiles(engine, bytes + FFTND__ALIGNMENT))
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for tiles of %zu bytes",
                              bytes);
    char *memory = fftnd__align(engine->tiles, FFTND__ALIGNMENT);
    for (int direction = 0; direction < 2; direction++)
        REDIST_TRY(
            fftnd__set_stages_memory(&engine->programs[direction], FFTND__IN_CACHES, memory));
    return REDIST_OK;
}

static int plan_programs(struct fftnd__engine *engine, void *const scratch[2],
                         const int directions[2]) {
    for (int direction = 0; direction < 2; direction++)
        if (directions[direction])
            REDIST_TRY(
                fftnd__plan_stages(&engine->programs[direction], &engine->transform, scratch));
    return REDIST_OK;
}

static int plan_in_scratch(struct fftnd__engine *engine, const int directions[2]) {
    static char nowhere[2]; /* addresses, whose memory is not used */
    void *const apart[2] = {&nowhere[0], &nowhere[1]};
    if (!fftnd__needs_scratch(&engine->programs[0], &engine->transform) &&
        !fftnd__needs_scratch(&engine->programs[1], &engine->transform))
        return plan_programs(engine, apart, directions);
    size_t bytes = fftnd__round_up(find_largest(engine) + 1, FFTND__ALIGNMENT);
    char *memory = redist_malloc(2 * bytes + FFTND__ALIGNMENT); /* FFTW writes before it measures */
    if (memory == NULL)
        return redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                              "no memory for planning in two arrays of %zu bytes", bytes);
    char *first = fftnd__align(memory, FFTND__ALIGNMENT);
    void *const scratch[2] = {first, first + bytes};
    int code = plan_programs(engine, scratch, directions);
    redist_release(memory);
    return code;
}

static void free_exchanges(struct fftnd__engine *engine) {
    if (engine->transform.settings.phases)
        engine->past = fftnd__engine_exchange_phases(engine);
    fftnd__replays_forget(engine);
    fftnd__engine_leave(engine);
    for (int direction = 1; direction >= 0; direction--)
        fftnd__free_exchanges(&engine->programs[direction]);
}

static void free_stages(struct fftnd__engine *engine) {
    for (int direction = 0; direction < 2; direction++)
        fftnd__free_stages(&engine->programs[direction], &engine->transform);
    fftnd__spare_put_tiles(engine);
    engine->tile_bytes = 0;
}

static void free_programs(struct fftnd__engine *engine) {
    free_exchanges(engine);
    free_stages(engine);
    for (int direction = 0; direction < 2; direction++)
        engine->programs[direction].nsteps = 0;
    engine->built = FFTND__NOT_BUILT;
    engine->is_planned = 0;
}

/* Plans all stages, once; none after a failure. Collective. */
static int plan_once(struct fftnd__engine *engine) {
    if (engine->is_planned)
        return REDIST_OK;
    int code = fftnd__plan_taught(engine, plan_in_scratch);
    if (code == REDIST_OK)
        code = allocate_tiles(engine);
    code = redist_agree(engine->transform.comm, code);
    if (code == REDIST_OK)
        code = fftnd__plan_scaling(engine);
    engine->is_planned = code == REDIST_OK;
    if (code != REDIST_OK)
        free_stages(engine);
    return code;
}

/* Collective. */
static int build_stepwise(struct fftnd__engine *engine) {
    int code = REDIST_OK;
    if (engine->built == FFTND__STEPWISE)
        return REDIST_OK;
    free_programs(engine);
    for (int direction = engine->first; direction <= engine->last && code == REDIST_OK; direction++)
        code = fftnd__build_stepwise(&engine->programs[direction], &engine->transform, direction);
    REDIST_TRY(redist_agree(engine->transform.comm, code));
    engine->built = FFTND__STEPWISE;
    fftnd__find_turns(engine);
    return REDIST_OK;
}

/* Builds fused programs. Clears may_fuse if fusion is unsuitable. Collective. */
static int build_fused(struct fftnd__engine *engine) {
    if (engine->built == FFTND__FUSED)
        return plan_once(engine);
    free_programs(engine);
    for (int direction = engine->first; direction <= engine->last && engine->may_fuse; direction++)
        REDIST_TRY(fftnd__build_fused(&engine->programs[direction], &engine->transform, direction,
                                      &engine->may_fuse));
    engine->built = engine->may_fuse ? FFTND__FUSED : FFTND__NOT_BUILT;
    return engine->may_fuse ? plan_once(engine) : REDIST_OK;
}

static int insists_on_fusion(const struct fftnd__engine *engine) {
    return engine->transform.settings.fusion == FFTND_FUSION_ALWAYS;
}

static int wants_fusion(const struct fftnd__transform *transform) {
    int wants = transform->settings.fusion == FFTND_FUSION_AUTO
                    ? transform->configuration.fused
                    : transform->settings.fusion == FFTND_FUSION_ALWAYS;
    return wants && transform->workplace->fuses;
}

/* Builds fused programs if they are suitable, else programs over whole arrays, and counts their work space. That of the
 * user, which may turn out not to be mapped, has room for both. Collective. */
static int build_programs(struct fftnd__engine *engine) {
    struct fftnd__transform *transform = &engine->transform;
    int user = transform->settings.user_workspace;
    REDIST_TRY(build_stepwise(engine));
    engine->largest_bytes = find_largest(engine);
    if (transform->workplace->scratch_in_work || (transform->workplace->copies_tiles && user))
        REDIST_TRY(plan_once(engine)); /* before work space is counted */
    engine->may_fuse = wants_fusion(transform);
    if (engine->may_fuse) {
        REDIST_TRY(build_fused(engine));
        if (engine->may_fuse)
            count_work(engine);
        else if (insists_on_fusion(engine))
            return redist_fail_in("fftnd_plan_create", REDIST_ERR_METHOD,
                                  "options->fusion = FFTND_FUSION_ALWAYS, but tiles of these sizes "
                                  "on this grid are too "
                                  "short, or there are none: use FFTND_FUSION_AUTO");
    }
    if (engine->may_fuse && !user)
        return REDIST_OK;
    REDIST_TRY(build_stepwise(engine));
    count_work(engine);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- work space and exchanges */

static void find_method(struct fftnd__engine *engine) {
    const struct fftnd__program *program = &engine->programs[REDIST_FORWARD];
    strcpy(engine->method, "none");
    for (int i = program->nsteps; i >= 1; i--) {
        redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
        if (program->steps[i].type == FFTND__EXCHANGE && program->steps[i].exchange != NULL &&
            redist_plan_get_info(program->steps[i].exchange, &info) == REDIST_OK)
            strncpy(engine->method, info.method, sizeof engine->method - 1);
    }
}

/* Finds the exchange that comes after `exchange`, NULL = the first one, in both programs; NULL = none. */
static redist_plan *next_exchange(const struct fftnd__engine *engine, const redist_plan *exchange) {
    int is_behind = exchange == NULL;
    for (int direction = 0; direction < 2; direction++)
        for (int i = 0; i < fftnd__end_of_exchanges(&engine->programs[direction]); i++) {
            redist_plan *next = engine->programs[direction].steps[i].exchange;
            if (is_behind && next != NULL)
                return next;
            is_behind |= next == exchange;
        }
    return NULL;
}

/* Sums the work space of all exchanges, and finds whether one has a format of its own. */
static size_t find_buffers(const struct fftnd__engine *engine, int *is_narrow) {
    size_t bytes = 0;
    redist_plan *exchange = NULL;
    *is_narrow = 0;
    while ((exchange = next_exchange(engine, exchange)) != NULL) {
        redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
        if (redist_plan_get_info(exchange, &info) != REDIST_OK)
            continue;
        *is_narrow |= info.wire != REDIST_WIRE_SAME;
        bytes += info.workspace_bytes;
    }
    return bytes;
}

int fftnd__engine_is_narrow(const struct fftnd__engine *engine) {
    int is_narrow;
    (void)find_buffers(engine, &is_narrow);
    return is_narrow;
}

size_t fftnd__engine_memory(const struct fftnd__engine *engine) {
    int is_narrow;
    return engine->tile_bytes + fftnd__work_allocated(engine, 1) + find_buffers(engine, &is_narrow);
}

static int join_with(const struct fftnd__engine *engine, const redist_plan *one) {
    redist_plan *exchange = NULL;
    while ((exchange = next_exchange(engine, exchange)) != NULL)
        REDIST_TRY(redist_plan_join(exchange, one));
    return REDIST_OK;
}

/* Joins all exchanges: if one fails on a device, all fail. Not every one can be the one that others join. Exchanges of
 * an operator fail with those of the plan: a late peer may still write into the memory that they share. */
static int join_exchanges(const struct fftnd__engine *engine) {
    int code = REDIST_OK,
        has_lender = engine->lender != NULL && next_exchange(engine->lender, NULL);
    const struct fftnd__engine *first = has_lender ? engine->lender : engine;
    redist_plan *one = next_exchange(first, NULL);
    for (; one != NULL; one = next_exchange(first, one)) {
        code = join_with(engine, one);
        if (code != REDIST_ERR_METHOD)
            return code;
    }
    return code;
}

/* Collective. */
static int connect_exchanges(struct fftnd__engine *engine) {
    int code = REDIST_OK;
    for (int direction = 0; direction < 2 && code == REDIST_OK; direction++)
        code = fftnd__set_stages_memory(&engine->programs[direction], FFTND__IN_AREA,
                                        engine->work[AREA]);
    REDIST_TRY(redist_agree(engine->transform.comm, code));
    for (int direction = 0; direction < 2; direction++)
        REDIST_TRY(
            fftnd__plan_exchanges(&engine->programs[direction], &engine->transform, engine->work));
    find_method(engine);
    code = join_exchanges(engine);
    return fftnd__fails_with_plan(engine) ? redist_agree(engine->transform.comm, code) : code;
}

static int plan_exchanges(struct fftnd__engine *engine) {
    double begin = MPI_Wtime();
    int code = connect_exchanges(engine);
    engine->connection_seconds += MPI_Wtime() - begin;
    return code;
}

static int allocate_work(struct fftnd__engine *engine) {
    double begin = MPI_Wtime();
    REDIST_TRY(fftnd__work_take(engine));
    engine->allocation_seconds += MPI_Wtime() - begin;
    return REDIST_OK;
}

/* Plans fused programs. Methods that cannot are an error if the user insists. Collective. */
static int try_fused(struct fftnd__engine *engine) {
    engine->is_fused = 0;
    if (!engine->may_fuse)
        return REDIST_OK;
    int code = build_fused(engine);
    if (code == REDIST_OK)
        code = plan_exchanges(engine);
    engine->is_fused = code == REDIST_OK;
    return code == REDIST_ERR_METHOD && !insists_on_fusion(engine) ? REDIST_OK : code;
}

/* Collective. */
static int take_stepwise(struct fftnd__engine *engine) {
    REDIST_TRY(build_stepwise(engine));
    REDIST_TRY(plan_once(engine));
    return plan_exchanges(engine);
}

/* Allocates work space anew, for other programs. Collective. */
static int renew_work(struct fftnd__engine *engine) {
    fftnd__work_give(engine);
    memset(engine->work_bytes, 0, sizeof engine->work_bytes);
    count_work(engine);
    return allocate_work(engine);
}

/* Has arrays of all segments, as the method needs them. Collective. */
static int take_arrays(struct fftnd__engine *engine) {
    engine->needs_arrays = 1;
    engine->takes_turns = 0;
    free_programs(engine);
    REDIST_TRY(build_stepwise(engine));
    REDIST_TRY(plan_once(engine));
    REDIST_TRY(renew_work(engine));
    return take_stepwise(engine);
}

/* Allocates work space and plans the exchanges; both anew if they turn out not to fuse. Collective. */
static int take_workspace(struct fftnd__engine *engine) {
    REDIST_TRY(allocate_work(engine));
    REDIST_TRY(try_fused(engine));
    if (engine->is_fused)
        return REDIST_OK;
    if (engine->may_fuse) {
        engine->may_fuse = 0;
        REDIST_TRY(build_stepwise(engine));
        REDIST_TRY(renew_work(engine));
    }
    int code = take_stepwise(engine);
    return code == REDIST_ERR_METHOD && engine->takes_turns ? take_arrays(engine) : code;
}

int fftnd__engine_create(struct fftnd__engine *engine, const struct fftnd__request *request,
                         const struct fftnd__configuration *configuration) {
    struct fftnd__transform *transform = &engine->transform;
    *engine = (struct fftnd__engine){
        .first = REDIST_FORWARD, .last = REDIST_BACKWARD, .owns_resources = 1};
    set_scale(engine, request);
    find_method(engine);
    REDIST_TRY(fftnd__transform_create(transform, request, configuration));
    REDIST_TRY(build_programs(engine));
    return request->settings.user_workspace
               ? fftnd__check_exchanges(&engine->programs[REDIST_FORWARD], transform)
               : take_workspace(engine);
}

int fftnd__engine_set_workspace(struct fftnd__engine *engine, void *workspace) {
    free_exchanges(engine);
    fftnd__work_give(engine);
    fftnd__work_take_from_user(engine, workspace);
    int code = try_fused(engine);
    if (code == REDIST_OK && !engine->is_fused)
        code = take_stepwise(engine);
    engine->has_workspace = code == REDIST_OK;
    return code;
}

int fftnd__engine_take_plain(struct fftnd__engine *engine) {
    engine->transform.settings.mapped_arrays = 0;
    free_programs(engine);
    fftnd__work_give(engine);
    memset(engine->work_bytes, 0, sizeof engine->work_bytes);
    redist_warn_plain(engine->transform.comm);
    REDIST_TRY(build_programs(engine));
    return take_workspace(engine);
}

/* Takes work space of its own instead of the plan's, with which it cannot fail. Collective. */
static int take_apart(struct fftnd__engine *engine) {
    free_exchanges(engine);
    fftnd__work_give(engine);
    engine->lender = NULL;
    REDIST_TRY(allocate_work(engine));
    return take_stepwise(engine);
}

/* Gives the side without an array the layout that the steps leave. */
static void drop_side(struct fftnd__transform *transform, enum fftnd_side side) {
    memcpy(transform->memory[side], transform->memory[FFTND_PHYSICAL], sizeof transform->memory[0]);
    if (transform->room != NULL)
        transform->room->padding[side] = (struct fftnd__padding){{0}, {0}};
    transform->chain.moves[side] = 0;
}

/* Joins more axes for several fields, as another stage would pass over all of them, and bounds pieces: where all axes
 * are whole, as on one rank, a piece of the whole array would fit no cache. */
static void join_axes(struct fftnd__configuration *configuration, int fields) {
    enum { MOST_TILES = 64 }; /* of each field, a guess */
    size_t tiles = MOST_TILES * (size_t)fields, bytes = configuration->tile_bytes;
    size_t most = bytes <= SIZE_MAX / tiles ? tiles * bytes : SIZE_MAX;
    if (fields > 2 || configuration->group_bytes > most)
        configuration->group_bytes = most;
}

/* Returns the settings of a plan for one of its operators. */
static struct fftnd__settings settings_of(const struct fftnd__engine *plan,
                                          const struct fftnd__operator *op) {
    struct fftnd__settings settings = plan->transform.settings;
    settings.overwrite_input = settings.overwrite_input && !op->keeps_input;
    settings.user_workspace = 0;
    settings.fusion = plan->is_fused ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
    return settings;
}

int fftnd__engine_apply(struct fftnd__engine *engine, struct fftnd__engine *plan,
                        const struct fftnd__operator *op, int direction) {
    struct fftnd__transform *transform = &engine->transform;
    *engine = (struct fftnd__engine){
        .transform = plan->transform, .first = direction, .last = direction, .life = plan->life};
    engine->lender = plan->works != NULL ? plan : NULL; /* not the user's memory */
    transform->applied = op;
    transform->chain.is_borrowed = 1;
    transform->settings = settings_of(plan, op);
    transform->fields[0] = op->inputs;
    transform->fields[1] = op->outputs;
    transform->batch = fftnd__batch_of(transform->settings.batch,
                                       op->inputs > op->outputs ? op->inputs : op->outputs,
                                       transform->settings.batch_position, transform->chain.ndims);
    REDIST_TRY(redist_agree(transform->comm, fftnd__set_room(transform, plan->transform.room)));
    if (op->takes_subset)
        REDIST_TRY(redist_agree(transform->comm, fftnd__subset_take(transform, op->depends)));
    drop_side(transform, (enum fftnd_side) !direction);
    transform->configuration.transposed = 0;
    if (!transform->workplace->sends_segments)
        transform->configuration.segments = transform->configuration.partitions = 1;
    if (transform->workplace->in_caches)
        join_axes(&transform->configuration, op->inputs + op->outputs);
    engine->scales[direction] = 1;
    find_method(engine);
    REDIST_TRY(build_programs(engine));
    int code = take_workspace(engine);
    return code == REDIST_ERR_METHOD && fftnd__fails_with_plan(engine) ? take_apart(engine) : code;
}

/* Some failures show only once the device has done all work, for which the first round waits. */
void fftnd__engine_leave(struct fftnd__engine *engine) {
    int code = REDIST_OK;
    if (!engine->transform.settings.asynchronous || next_exchange(engine, NULL) == NULL)
        return;
    for (int round = 0; round < 2 && code == REDIST_OK; round++) {
        redist_plan *exchange = NULL;
        code = fftnd__engine_query(engine);
        while ((exchange = next_exchange(engine, exchange)) != NULL) {
            if (code != REDIST_OK)
                redist_plan_break(exchange, code);
            redist_plan_leave(exchange);
        }
    }
}

void fftnd__engine_destroy(struct fftnd__engine *engine) {
    struct fftnd__transform *transform = &engine->transform;
    free_programs(engine);
    for (int direction = 0; direction < 2; direction++)
        fftnd__free_steps(&engine->programs[direction]);
    fftnd__work_give(engine);
    fftnd__failure_forget(&engine->failure);
    fftnd__chain_free(&transform->chain);
    redist_release(transform->room);
    if (engine->owns_resources)
        fftnd__transform_free(transform);
}
