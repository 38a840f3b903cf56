/* SPDX-License-Identifier: BSD-3-Clause */
/* The public plan: check, agree, describe, choose, run. */
#include "arrays.h"
#include "error.h"
#include "request.h"
#include "tune.h"

#include <pthread.h>
#include <string.h>

/* An array of no more bytes is likely to stay in the caches, where stores past them only cost. */
static const size_t usual_stream_bytes = (size_t)16 << 20;

struct redist_plan {
    struct redist__context *context;
    struct redist__schedule schedule;
    struct redist__problem problem;
    struct redist__transport transport;
    struct redist__request request; /* for the checks of later arrays */
    struct redist__watch watch;     /* of the problem, if it has one */
    int started, opened;            /* an execution is under way: whole, in tiles */
    char method_name[REDIST__NAME_BYTES];
};

/* ---------------------------------------------------------------- making a plan */

static struct redist_plan *allocate_plan(const struct redist__request *request) {
    struct redist_plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return NULL;
    if (!redist_handle_add(plan, REDIST_HANDLE_PLAN)) {
        redist_release(plan);
        return NULL;
    }
    plan->context = request->context;
    plan->request = *request;
    plan->request.options.method = NULL; /* the user's strings need not live as long as the plan */
    plan->request.options.wisdom_file = NULL;
    plan->schedule.context = request->context;
    plan->schedule.datatype = request->datatype;
    plan->schedule.item = request->item;
    plan->schedule.before = request->before;
    plan->schedule.behind = request->behind;
    plan->schedule.ndims = request->ndims;
    plan->problem.schedule = &plan->schedule;
    plan->problem.tiles = request->options.tiles;
    plan->problem.stream_bytes =
        request->options.stream_bytes != 0 ? request->options.stream_bytes : usual_stream_bytes;
    plan->problem.stream = request->options.stream;
    plan->problem.concurrent = request->options.concurrent != 0;
    plan->problem.watch = request->options.phases ? &plan->watch : NULL;
    plan->problem.tag = (int)(request->context->plans % REDIST__TAGGED_PLANS * REDIST__TAGS);
    if (request->options.later_a)
        plan->request.arrays[0] = NULL;
    if (request->options.later_b)
        plan->request.arrays[1] = NULL;
    return plan;
}

/* Frees what a plan has; the context stays. Collective if the plan has a transport. */
static void destroy_plan(struct redist_plan *plan) {
    if (plan == NULL)
        return;
    redist__transport_destroy(&plan->transport);
    redist__count_plan(&plan->problem, -1);
    redist__schedule_free(&plan->schedule);
    redist_handle_remove(plan);
    redist_release(plan);
}

/* The description is there on all ranks: chooses a method. Frees the plan if that fails. */
static int complete_plan(struct redist_plan *plan, const redist_options *options,
                         redist_plan **result) {
    int code = redist__find_arrays(&plan->request, &plan->problem);
    if (code == REDIST_OK)
        code = redist__tune(&plan->problem, options, &plan->transport);
    if (code != REDIST_OK) {
        destroy_plan(plan);
        return code;
    }
    redist__choice_name(&plan->transport.choice, sizeof plan->method_name, plan->method_name);
    *result = plan;
    return REDIST_OK;
}

static int no_memory(const struct redist__request *request) {
    return redist_fail_in(request->function, REDIST_ERR_MEMORY, "no memory for a plan");
}

static int check_common(struct redist__request *request, const redist_options *options,
                        int least_ndims, redist_plan **plan) {
    int code = redist__check_options(request, options);
    if (code == REDIST_OK)
        code = redist__check_ndims(request, least_ndims);
    if (code == REDIST_OK)
        code = redist__check_datatype(request);
    if (code == REDIST_OK && plan == NULL)
        code = redist_fail_in(request->function, REDIST_ERR_NULL, "plan = NULL");
    return code;
}

/* Takes a reference to the context, which the plan keeps. */
static int open_request(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                        void *a, void *b, struct redist__request *request) {
    *request = (struct redist__request){.function = function,
                                        .datatype = datatype,
                                        .ndims = ndims,
                                        .names = {"a", "b"},
                                        .arrays = {a, b}};
    int code = redist_check_comm_in(function, comm);
    if (code == REDIST_OK)
        code = redist__context_get(comm, &request->context);
    if (code == REDIST_OK)
        request->context->plans++;
    return code;
}

/* ---------------------------------------------------------------- axis to axis */

static int plan_exchange(struct redist__request *request, const int sizes_a[], int axis_a,
                         const int sizes_b[], int axis_b, const redist_options *options,
                         redist_plan **result) {
    int code = check_common(request, options, 2, result);
    if (code == REDIST_OK)
        code = redist__check_exchange(request, sizes_a, axis_a, sizes_b, axis_b);
    int sizes[REDIST_MAX_NDIMS] = {0};
    if (code == REDIST_OK) {
        memcpy(sizes, sizes_a, (size_t)request->ndims * sizeof *sizes);
        sizes[axis_b] = sizes_b[axis_b];
        const size_t bytes[2] = {redist__array_bytes(request->ndims, sizes_a, request->item),
                                 redist__array_bytes(request->ndims, sizes_b, request->item)};
        code = redist__check_arrays(request, request->arrays, bytes);
    }
    code = redist__agree_request(request, code, axis_a, axis_b, sizes);
    if (code != REDIST_OK)
        return code;
    struct redist_plan *plan = allocate_plan(request);
    int described =
        plan != NULL ? redist__schedule_exchange(&plan->schedule, sizes_a, axis_a, sizes_b, axis_b)
                     : no_memory(request);
    code = redist_agree(request->context->comm, described);
    if (code == REDIST_OK)
        return complete_plan(plan, &request->options, result);
    destroy_plan(plan);
    return code;
}

static int plan_exchange_in(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                            const int sizes_a[], void *a, int axis_a, const int sizes_b[], void *b,
                            int axis_b, const redist_options *options, redist_plan **plan) {
    struct redist__request request;
    int code = open_request(function, comm, datatype, ndims, a, b, &request);
    if (code != REDIST_OK)
        return code;
    code = plan_exchange(&request, sizes_a, axis_a, sizes_b, axis_b, options, plan);
    if (code != REDIST_OK)
        redist__context_release(request.context);
    return code;
}

int redist_plan_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const int sizes_a[],
                         void *a, int axis_a, const int sizes_b[], void *b, int axis_b,
                         const redist_options *options, redist_plan **plan) {
    return plan_exchange_in(__func__, comm, datatype, ndims, sizes_a, a, axis_a, sizes_b, b, axis_b,
                            options, plan);
}

int redist_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims, const int sizes_a[],
                    const void *a, int axis_a, const int sizes_b[], void *b, int axis_b) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.effort = REDIST_ESTIMATE;
    redist_plan *plan = NULL;
    int code = plan_exchange_in(__func__, comm, datatype, ndims, sizes_a, (void *)(size_t)a, axis_a,
                                sizes_b, b, axis_b, &options, &plan);
    if (code != REDIST_OK)
        return code;
    code = redist_plan_execute(plan, REDIST_FORWARD);
    int freed = redist_plan_free(&plan);
    return code != REDIST_OK ? code : freed;
}

/* ---------------------------------------------------------------- box to box */

static size_t box_bytes(const struct redist__request *request, const redist_box *box) {
    int extent[REDIST_MAX_NDIMS];
    for (int i = 0; i < request->ndims; i++)
        extent[i] = box->extent[i] != 0 ? box->extent[i] : box->count[i];
    return redist__array_bytes(request->ndims, extent, request->item);
}

static int check_boxes(const struct redist__request *request, const int sizes[],
                       const redist_box *const boxes[2]) {
    static const char *const names[2] = {"box_a", "box_b"};
    size_t bytes[2];
    for (int side = 0; side < 2; side++) {
        int code = redist__check_box(request, sizes, names[side], boxes[side]);
        if (code != REDIST_OK)
            return code;
        bytes[side] = box_bytes(request, boxes[side]);
    }
    return redist__check_arrays(request, request->arrays, bytes);
}

/* Gathers the boxes of all ranks: first all of A, then all of B. */
static int gather_boxes(const struct redist__request *request, const redist_box *const boxes[2],
                        redist_box all[]) {
    const struct redist__context *context = request->context;
    for (int side = 0; side < 2; side++) {
        int code = redist_check_mpi(MPI_Allgather(boxes[side], sizeof **boxes, MPI_BYTE,
                                                  all + side * context->size, sizeof **boxes,
                                                  MPI_BYTE, context->comm));
        if (code != REDIST_OK)
            return code;
    }
    return REDIST_OK;
}

static int describe_boxes(const struct redist__request *request, const redist_box *const boxes[2],
                          redist_box all[], struct redist_plan *plan) {
    const struct redist__context *context = request->context;
    int code =
        redist_agree(context->comm, all != NULL && plan != NULL ? REDIST_OK : no_memory(request));
    if (code == REDIST_OK)
        code = gather_boxes(request, boxes, all);
    if (code != REDIST_OK)
        return code;
    code = redist__check_disjoint(request, "box_a", all);
    if (code == REDIST_OK)
        code = redist__check_disjoint(request, "box_b", all + context->size);
    if (code == REDIST_OK)
        code = redist__schedule_boxes(&plan->schedule, all, all + context->size);
    return redist_agree(context->comm, code);
}

static int plan_boxes(struct redist__request *request, const int sizes[],
                      const redist_box *const boxes[2], const redist_options *options,
                      redist_plan **result) {
    int code = check_common(request, options, 1, result);
    if (code == REDIST_OK)
        code = check_boxes(request, sizes, boxes);
    code = redist__agree_request(request, code, -1, -1, sizes);
    if (code != REDIST_OK)
        return code;
    redist_box *all = redist_calloc(2 * (size_t)request->context->size, sizeof *all);
    struct redist_plan *plan = allocate_plan(request);
    code = describe_boxes(request, boxes, all, plan);
    redist_release(all);
    if (code == REDIST_OK)
        return complete_plan(plan, &request->options, result);
    destroy_plan(plan);
    return code;
}

int redist_plan_boxes(MPI_Comm comm, MPI_Datatype datatype, int ndims, const int sizes[],
                      const redist_box *box_a, void *a, const redist_box *box_b, void *b,
                      const redist_options *options, redist_plan **plan) {
    struct redist__request request;
    int code = open_request(__func__, comm, datatype, ndims, a, b, &request);
    if (code != REDIST_OK)
        return code;
    const redist_box *const boxes[2] = {box_a, box_b};
    code = plan_boxes(&request, sizes, boxes, options, plan);
    if (code != REDIST_OK)
        redist__context_release(request.context);
    return code;
}

/* ---------------------------------------------------------------- executing */

static int check_plan(const char *function, const redist_plan *plan) {
    if (!redist_handle_is(plan, REDIST_HANDLE_PLAN))
        return redist_fail_in(function, REDIST_ERR_STATE, "plan is %s",
                              plan == NULL ? "NULL" : "not a plan, or already freed");
    if (!redist__mpi_is_running())
        return redist_fail_in(function, REDIST_ERR_STATE, "MPI is not running");
    return REDIST_OK;
}

static int check_start(const char *function, const redist_plan *plan, int direction) {
    int code = check_plan(function, plan);
    if (code == REDIST_OK && direction != REDIST_FORWARD && direction != REDIST_BACKWARD)
        code = redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "direction = %d is neither REDIST_FORWARD nor REDIST_BACKWARD",
                              direction);
    if (code == REDIST_OK && (plan->started || plan->opened))
        code = redist_fail_in(function, REDIST_ERR_STATE,
                              "an execution of the plan is under way: complete it first");
    return code;
}

static int check_whole(const char *function, const redist_plan *plan) {
    if (plan->problem.tiles == REDIST_WHOLE)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_STATE,
                          "the plan was made for tiles: options.tiles was not REDIST_WHOLE");
}

static int check_bound(const char *function, const redist_plan *plan) {
    const redist_options *options = &plan->request.options;
    if (!options->later_a && !options->later_b)
        return REDIST_OK;
    return redist_fail_in(function, REDIST_ERR_STATE,
                          "array %s was left for later: call redist_plan_%s_arrays",
                          options->later_a ? "a" : "b",
                          strcmp(function, "redist_plan_start") == 0 ? "start" : "execute");
}

/* An array that peers mapped when the plan was made must be one that they can map. */
static int check_mapped(const char *function, const redist_plan *plan, const char *name, int side,
                        const void *array) {
    size_t bytes = plan->schedule.side[side].bytes;
    const struct redist__space *space = plan->problem.space;
    if (bytes == 0)
        return REDIST_OK;
    int code = space->check(array);
    if (code != REDIST_OK || !plan->problem.mapped[side] || space->place(array, bytes).key != 0)
        return code;
    return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                          space->asynchronous
                              ? "%s = %p cannot be mapped by peers, as the plan's own array was"
                              : "%s = %p is not from redist_alloc, as the plan's own array was",
                          name, array);
}

static int check_later_arrays(const char *function, redist_plan *plan, void *const arrays[2]) {
    struct redist__request request = plan->request;
    request.function = function;
    request.options.later_a = request.options.later_b = 0;
    const size_t bytes[2] = {plan->schedule.side[0].bytes, plan->schedule.side[1].bytes};
    int code = redist__check_arrays(&request, arrays, bytes);
    for (int side = 0; side < 2 && code == REDIST_OK; side++)
        code = check_mapped(function, plan, request.names[side], side, arrays[side]);
    return plan->request.options.trusted ? code : redist_agree(plan->context->comm, code);
}

static int execute(redist_plan *plan, int direction, void *const arrays[2]) {
    redist__watch_begin(plan->problem.watch, 1);
    int code = redist__transport_execute(&plan->transport, direction, arrays[direction],
                                         arrays[!direction]);
    redist__watch_end(plan->problem.watch);
    return code;
}

static int start(redist_plan *plan, int direction, void *const arrays[2]) {
    redist__watch_begin(plan->problem.watch, 1);
    int code = plan->transport.choice.method->start(plan->transport.state, direction,
                                                    arrays[direction], arrays[!direction]);
    redist__watch_end(plan->problem.watch);
    plan->started = code == REDIST_OK;
    return code;
}

typedef int run_plan(redist_plan *plan, int direction, void *const arrays[2]);

static int run_bound(const char *function, redist_plan *plan, int direction, run_plan *run) {
    int code = check_start(function, plan, direction);
    if (code == REDIST_OK)
        code = check_whole(function, plan);
    if (code == REDIST_OK)
        code = check_bound(function, plan);
    return code == REDIST_OK ? run(plan, direction, plan->request.arrays) : code;
}

static int run_on(const char *function, redist_plan *plan, int direction, void *a, void *b,
                  run_plan *run) {
    void *const arrays[2] = {a, b};
    int code = check_start(function, plan, direction);
    if (code == REDIST_OK)
        code = check_whole(function, plan);
    if (code == REDIST_OK)
        code = check_later_arrays(function, plan, arrays);
    return code == REDIST_OK ? run(plan, direction, arrays) : code;
}

int redist_plan_execute(redist_plan *plan, int direction) {
    return run_bound(__func__, plan, direction, execute);
}

int redist_plan_execute_arrays(redist_plan *plan, int direction, void *a, void *b) {
    return run_on(__func__, plan, direction, a, b, execute);
}

int redist_plan_start(redist_plan *plan, int direction) {
    return run_bound(__func__, plan, direction, start);
}

int redist_plan_start_arrays(redist_plan *plan, int direction, void *a, void *b) {
    return run_on(__func__, plan, direction, a, b, start);
}

int redist_plan_wait(redist_plan *plan) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && !plan->started)
        code = redist_fail(REDIST_ERR_STATE, "the plan is not started");
    if (code != REDIST_OK)
        return code;
    plan->started = 0;
    redist__watch_begin(plan->problem.watch, 0);
    code = plan->transport.choice.method->wait(plan->transport.state);
    redist__watch_end(plan->problem.watch);
    return code;
}

/* ---------------------------------------------------------------- tiles */

static int open_method(redist_plan *plan, void *array) {
    redist__watch_begin(plan->problem.watch, 1);
    int code = plan->transport.choice.method->open(plan->transport.state, array);
    redist__watch_end(plan->problem.watch);
    return code;
}

static int open_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles,
                      void *array) {
    int code = check_start(function, plan, REDIST_FORWARD), side = tiles == REDIST_PUT;
    if (code == REDIST_OK && plan->problem.tiles != tiles)
        code = redist_fail_in(function, REDIST_ERR_STATE,
                              "the plan was not made for this: "
                              "options.tiles = %d",
                              (int)plan->problem.tiles);
    const char *name = side ? "destination" : "source";
    if (code == REDIST_OK && array == NULL && plan->schedule.side[side].bytes != 0)
        code = redist_fail_in(function, REDIST_ERR_NULL, "%s = NULL", name);
    if (code == REDIST_OK)
        code = check_mapped(function, plan, name, side, array);
    if (code == REDIST_OK)
        code = open_method(plan, array);
    if (code == REDIST_OK)
        plan->opened = 1;
    return code;
}

static int check_open(const char *function, const redist_plan *plan, enum redist_tiles tiles) {
    int code = check_plan(function, plan);
    if (code == REDIST_OK && (!plan->opened || plan->problem.tiles != tiles))
        code = redist_fail_in(function, REDIST_ERR_STATE, "no execution in tiles is open");
    return code;
}

static int check_tile(const char *function, const redist_plan *plan, enum redist_tiles tiles,
                      const int start[], const int count[]) {
    int code = check_open(function, plan, tiles);
    if (code == REDIST_OK && (start == NULL || count == NULL))
        code = redist_fail_in(function, REDIST_ERR_NULL, "%s = NULL",
                              start == NULL ? "start" : "count");
    for (int i = 0; code == REDIST_OK && i < plan->schedule.ndims; i++) {
        int extent = plan->schedule.side[tiles == REDIST_GET].extent[i];
        if (start[i] < 0 || count[i] < 0 || start[i] > extent - count[i])
            code = redist_fail_in(function, REDIST_ERR_SIZE,
                                  "start[%d] = %d and count[%d] = %d do not lie in the extent %d",
                                  i, start[i], i, count[i], extent);
    }
    return code;
}

static int close_tiles(const char *function, redist_plan *plan, enum redist_tiles tiles) {
    int code = check_open(function, plan, tiles);
    if (code != REDIST_OK)
        return code;
    plan->opened = 0;
    redist__watch_begin(plan->problem.watch, 0);
    code = plan->transport.choice.method->close(plan->transport.state);
    redist__watch_end(plan->problem.watch);
    return code;
}

int redist_plan_put_begin(redist_plan *plan, void *destination) {
    return open_tiles(__func__, plan, REDIST_PUT, destination);
}

int redist_plan_get_begin(redist_plan *plan, const void *source) {
    return open_tiles(__func__, plan, REDIST_GET, (void *)(size_t)source);
}

/* Methods that call MPI while tiles move do so for one thread at a time, of whatever plan, which MPI
 * has to allow. */
static int allows_threads(const redist_plan *plan) {
    int level;
    if (!plan->problem.concurrent || plan->transport.choice.method->concurrent)
        return plan->problem.concurrent;
    MPI_Query_thread(&level);
    return level >= MPI_THREAD_SERIALIZED;
}

typedef int move_tile(void *state, const struct redist__tile *tile);

static int move(redist_plan *plan, move_tile *move_one, const struct redist__tile *tile) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    int alone = plan->problem.concurrent && !plan->transport.choice.method->concurrent;
    struct redist__watch *watch = plan->problem.concurrent ? NULL : plan->problem.watch;
    if (alone)
        pthread_mutex_lock(&one_at_a_time);
    redist__watch_begin(watch, 0);
    int code = move_one(plan->transport.state, tile);
    redist__watch_end(watch);
    if (alone)
        pthread_mutex_unlock(&one_at_a_time);
    return code;
}

int redist_plan_put(redist_plan *plan, const int start[], const int count[], const void *tile,
                    const ptrdiff_t stride[]) {
    int code = check_tile(__func__, plan, REDIST_PUT, start, count);
    const struct redist__tile put = {start, count, (char *)(size_t)tile, stride};
    return code == REDIST_OK ? move(plan, plan->transport.choice.method->put, &put) : code;
}

int redist_plan_get(redist_plan *plan, const int start[], const int count[], void *tile,
                    const ptrdiff_t stride[]) {
    int code = check_tile(__func__, plan, REDIST_GET, start, count);
    const struct redist__tile get = {start, count, tile, stride};
    return code == REDIST_OK ? move(plan, plan->transport.choice.method->get, &get) : code;
}

int redist_plan_put_end(redist_plan *plan) {
    return close_tiles(__func__, plan, REDIST_PUT);
}

int redist_plan_get_end(redist_plan *plan) {
    return close_tiles(__func__, plan, REDIST_GET);
}

/* ---------------------------------------------------------------- questions, and the end */

int redist_plan_get_info(const redist_plan *plan, redist_plan_info *info) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && info == NULL)
        code = redist_fail(REDIST_ERR_NULL, "info = NULL");
    if (code != REDIST_OK)
        return code;
    *info = (redist_plan_info){.method = plan->method_name,
                               .workspace_bytes =
                                   plan->transport.choice.method->workspace(plan->transport.state),
                               .moved_bytes = plan->schedule.side[0].elements * plan->schedule.item,
                               .concurrent = allows_threads(plan)};
    return REDIST_OK;
}

int redist_plan_get_phases(const redist_plan *plan, redist_phases *phases) {
    int code = check_plan(__func__, plan);
    if (code == REDIST_OK && phases == NULL)
        code = redist_fail(REDIST_ERR_NULL, "phases = NULL");
    if (code == REDIST_OK && phases->size != sizeof *phases)
        code = redist_fail(REDIST_ERR_ARGUMENT,
                           "phases->size = %zu, but this library knows the size %zu: start from "
                           "REDIST_PHASES_DEFAULT",
                           phases->size, sizeof *phases);
    if (code == REDIST_OK)
        redist__watch_read(&plan->watch, phases);
    return code;
}

int redist_plan_free(redist_plan **plan) {
    if (plan == NULL)
        return redist_fail(REDIST_ERR_NULL, "plan = NULL");
    if (*plan == NULL)
        return REDIST_OK;
    int code = check_plan(__func__, *plan);
    if (code == REDIST_OK && (*plan)->started)
        code = redist_plan_wait(*plan);
    if (code == REDIST_OK && (*plan)->opened)
        code = close_tiles(__func__, *plan, (*plan)->problem.tiles);
    if (code == REDIST_ERR_STATE)
        return code;
    struct redist__context *context = (*plan)->context;
    destroy_plan(*plan);
    redist__context_release(context);
    *plan = NULL;
    return code;
}
