/* SPDX-License-Identifier: BSD-3-Clause */
/* The public plan: check, agree, describe, choose, run. */
#include "api.h"

#include <stddef.h>
#include <string.h>

/* Default of wait_seconds (guess): more than a live rank is behind the others. */
static const double usual_wait_seconds = 600;

static const redist_halo no_ghosts = {.size = sizeof(redist_halo)};

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
    plan->request.boxes = NULL;
    plan->request.options.method = NULL; /* the user's strings need not live as long as the plan */
    plan->request.options.wisdom_file = NULL;
    plan->request.options.operation = NULL;
    plan->request.halo = request->halo != NULL ? &no_ghosts : NULL;
    plan->request.around = NULL;
    plan->problem.context = request->context;
    plan->problem.datatype = request->datatype;
    plan->transfer.rank = request->context->rank;
    plan->transfer.nranks = request->context->size;
    plan->transfer.element = request->element;
    plan->transfer.array_ndims = request->ndims;
    plan->request.operation.failure = &plan->failure;
    plan->transfer.adds =
        redist__operation_is_given(request) ? &plan->request.operation.sum : request->adds;
    plan->transfer.one_way =
        request->adds == NULL && (request->halo != NULL || request->options.overlap);
    plan->problem.transfer = &plan->transfer;
    plan->problem.one_array = request->halo != NULL;
    plan->problem.tiles = request->options.tiles;
    plan->problem.partitions = request->options.partitions > 1 ? request->options.partitions : 1;
    plan->problem.partition_axis =
        request->options.partitions > 1 ? request->options.partition_axis : 0;
    plan->problem.segments = request->options.segments > 0 ? request->options.segments : 0;
    plan->problem.segment_axis = request->options.segments > 1 ? request->options.segment_axis : 0;
    plan->problem.nontemporal_bytes = request->options.nontemporal_bytes;
    plan->problem.stream = request->options.stream;
    plan->problem.concurrent = request->options.concurrent != 0;
    plan->problem.wait_seconds =
        request->options.wait_seconds > 0 ? request->options.wait_seconds : usual_wait_seconds;
    plan->problem.mappings = &plan->mappings;
    plan->problem.timer = request->options.phases ? &plan->timer : NULL;
    plan->problem.failure = &plan->failure;
    plan->problem.tag = request->tag;
    plan->problem.life = &plan->life;
    redist__life_begin(&plan->life, request->context, request->tag, &plan->failure);
    const enum redist_binding later[2] = {request->options.bind_a, request->options.bind_b};
    for (int side = 0; side < 2; side++) {
        plan->problem.bound[side] = later[side] == REDIST_BIND_AT_PLAN;
        if (later[side] != REDIST_BIND_AT_PLAN)
            plan->request.arrays[side] = NULL;
        plan->problem.arrays[side] = plan->request.arrays[side];
    }
    return plan;
}

/* Forgets the stream: without pending executions the user may have destroyed it. */
static void drop_stream(struct redist_plan *plan) {
    plan->problem.place.has_stream = plan->problem.place.has_stream && plan->problem.asynchronous;
}

static void empty_plan(struct redist_plan *plan) {
    redist_visit visit;
    drop_stream(plan);
    if (!plan->has_left) /* else a plan whose word it has may be freed */
        redist__plan_leave(plan);
    (void)redist_enter(&plan->problem.place, &visit);
    redist__life_end(&plan->life);
    redist__transport_destroy(&plan->transport);
    redist__close_mappings(&plan->problem);
    redist_leave(&visit);
    redist__transfer_free(&plan->transfer);
    for (int i = 0; i < plan->problem.naxes; i++)
        redist__transfer_free(&plan->axes[i]);
    redist_release(plan->axes);
    plan->axes = NULL;
}

void redist__plan_destroy(struct redist_plan *plan) {
    if (plan == NULL)
        return;
    redist_closer_remove(&plan->closer);
    if (!plan->closed)
        empty_plan(plan);
    redist__failure_forget(&plan->failure);
    redist_handle_remove(plan);
    redist_release((void *)(size_t)plan->request.boxes);
    redist_release(plan);
}

/* Chooses copy loops. Arrays on devices need no measurement: host loops copy little of them. */
static int choose_loops(struct redist__problem *problem, const redist_options *options) {
    size_t *bytes = &problem->nontemporal_bytes, chosen = *bytes;
    if (problem->knows_loops || problem->space->asynchronous ||
        !redist__loops_matter(problem->largest_bytes))
        return REDIST_OK;
    REDIST_TRY(redist__loops_choose(problem->context, options, problem->largest_bytes, &chosen));
    *bytes = options->nontemporal_bytes == 0 ? chosen : *bytes;
    return REDIST_OK;
}

/* Devices have no long doubles to add, nor operations of the user's. */
static int check_sums(const struct redist__request *request, struct redist_plan *plan) {
    struct redist__transfer *transfer = &plan->transfer;
    enum redist__number added = redist__added(transfer->adds);
    if (!plan->problem.space->asynchronous)
        return REDIST_OK;
    if (added == REDIST__OPERATION)
        return redist_fail_in(request->function, REDIST_ERR_ARGUMENT,
                              "options->operation is for arrays in host memory: copy them there, "
                              "or add by options->operation = NULL");
    if (added != REDIST__LONG_DOUBLE)
        return REDIST_OK;
    if (request->options.overlap == REDIST_OVERLAP_ADD)
        return redist_fail_in(request->function, REDIST_ERR_DATATYPE,
                              "options->overlap = REDIST_OVERLAP_ADD, but devices add no long "
                              "doubles");
    transfer->adds = NULL;
    transfer->one_way = 1;
    return REDIST_OK;
}

/* Takes the format of messages, if there are some that it is for. */
static void take_format(const struct redist__request *request, struct redist__problem *problem) {
    const struct redist__context *context = problem->context;
    problem->formats_all = request->options.wire_scope == REDIST_WIRE_EVERYWHERE;
    problem->keeps_format = request->keeps_format;
    if (problem->formats_all ? context->size > 1 : context->nnodes > 1)
        problem->format = request->format;
}

/* Chooses the method, in the plan's place. */
static int choose_method(struct redist_plan *plan, const redist_options *options) {
    struct redist__problem *problem = &plan->problem;
    int alike;
    REDIST_TRY(redist__find_arrays(&plan->request, problem, &alike));
    if (!alike)
        plan->transfer.element.run = 0; /* only MPI can match these elements */
    if (plan->request.options.asynchronous && problem->space->asynchronous)
        problem->asynchronous = plan->request.options.skip_agreement = 1;
    REDIST_TRY(choose_loops(problem, options));
    return redist__tune(problem, options, &plan->transport);
}

/* Collective. */
static int find_method(struct redist_plan *plan, const redist_options *options) {
    redist_visit visit;
    REDIST_TRY(redist__find_space(&plan->request, &plan->problem));
    REDIST_TRY(check_sums(&plan->request, plan));
    take_format(&plan->request, &plan->problem);
    (void)redist_enter(&plan->problem.place, &visit); /* the current one */
    int code = choose_method(plan, options);
    redist_leave(&visit);
    return code;
}

/* Completes a plan; `described` is the code of its description, the same on all ranks. Frees it after a failure. */
static int complete_plan(struct redist_plan *plan, int described, const redist_options *options,
                         redist_plan **result) {
    int code = described == REDIST_OK ? find_method(plan, options) : described;
    if (code != REDIST_OK) {
        redist__plan_destroy(plan);
        return code;
    }
    redist__candidate_name(&plan->transport.candidate, sizeof plan->method_name, plan->method_name);
    *result = plan;
    return REDIST_OK;
}

static int no_memory(const struct redist__request *request) {
    return redist_fail_in(request->function, REDIST_ERR_MEMORY, "no memory for a plan");
}

static int check_common(struct redist__request *request, const redist_options *options,
                        int least_ndims, redist_plan **plan) {
    REDIST_TRY(redist__check_options(request, options));
    REDIST_TRY(redist__check_ndims(request, least_ndims));
    REDIST_TRY(redist__check_partitions(request));
    REDIST_TRY(redist__check_segments(request));
    REDIST_TRY(redist__check_datatype(request));
    REDIST_TRY(redist__find_numbers(request));
    REDIST_TRY(redist__find_format(request));
    return redist__check_pointer(request->function, "plan", plan);
}

/* Releases the resources of open_request. */
static void close_request(struct redist__request *request) {
    redist__operation_free(&request->operation);
    redist__tags_give(request->context, request->tag);
    redist__context_release(request->context);
}

/* Takes a reference to the context, and tags: no rank may fail alone in between, as all take the same tags. */
static int open_request(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                        void *a, void *b, struct redist__request *request) {
    static const char *const names[2] = {"a", "b"};
    *request = (struct redist__request){.function = function,
                                        .datatype = datatype,
                                        .ndims = ndims,
                                        .names = names,
                                        .arrays = {a, b}};
    REDIST_TRY(redist_check_comm_in(function, comm));
    REDIST_TRY(redist__context_get(comm, &request->context));
    int code = redist__tags_take(function, request->context, &request->tag);
    if (code != REDIST_OK)
        close_request(request);
    return code;
}

/* Closes a plan unless an execution is pending, which would need its peers. */
static void close_plan(redist_closer *closer) {
    redist_plan *plan = (redist_plan *)(void *)((char *)closer - offsetof(redist_plan, closer));
    if (plan->started || plan->opened)
        return;
    empty_plan(plan);
    close_request(&plan->request);
    plan->closed = 1;
}

/* ---------------------------------------------------------------- axis to axis */

static int plan_exchange(struct redist__request *request, const redist_index sizes_a[], int axis_a,
                         const redist_index sizes_b[], int axis_b, const redist_options *options,
                         redist_plan **result) {
    int code = check_common(request, options, 2, result);
    if (code == REDIST_OK)
        code = redist__check_exchange(request, sizes_a, axis_a, sizes_b, axis_b);
    redist_index sizes[REDIST_MAX_NDIMS] = {0};
    if (code == REDIST_OK) {
        memcpy(sizes, sizes_a, (size_t)request->ndims * sizeof *sizes);
        sizes[axis_b] = sizes_b[axis_b];
        const struct redist__element *element = &request->element;
        const size_t bytes[2] = {redist__element_array_bytes(element, request->ndims, sizes_a),
                                 redist__element_array_bytes(element, request->ndims, sizes_b)};
        code = redist__check_arrays(request, request->arrays, bytes);
    }
    REDIST_TRY(redist__agree_request(request, code, axis_a, axis_b, sizes));
    struct redist_plan *plan = allocate_plan(request);
    code = plan != NULL
               ? redist__transfer_exchange(&plan->transfer, sizes_a, axis_a, sizes_b, axis_b)
               : no_memory(request);
    return complete_plan(plan, redist_agree(request->context->comm, code), &request->options,
                         result);
}

int redist__plan_exchange_in(const char *function, MPI_Comm comm, MPI_Datatype datatype, int ndims,
                             const redist_index sizes_a[], void *a, int axis_a,
                             const redist_index sizes_b[], void *b, int axis_b,
                             const redist_options *options, redist_plan **plan) {
    struct redist__request request;
    REDIST_TRY(open_request(function, comm, datatype, ndims, a, b, &request));
    int code = plan_exchange(&request, sizes_a, axis_a, sizes_b, axis_b, options, plan);
    if (code != REDIST_OK)
        close_request(&request);
    return code;
}

int redist_plan_exchange(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                         const redist_index sizes_a[], void *a, int axis_a,
                         const redist_index sizes_b[], void *b, int axis_b,
                         const redist_options *options, redist_plan **plan) {
    REDIST_TRY(redist__plan_exchange_in(__func__, comm, datatype, ndims, sizes_a, a, axis_a,
                                        sizes_b, b, axis_b, options, plan));
    redist_closer_add((*plan)->context->comm, &(*plan)->closer, close_plan);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- box to box */

static size_t box_bytes(const struct redist__request *request, const redist_box *box) {
    redist_index extent[REDIST_MAX_NDIMS];
    for (int i = 0; i < request->ndims; i++)
        extent[i] = box->extent[i] != 0 ? box->extent[i] : box->count[i];
    return redist__element_array_bytes(&request->element, request->ndims, extent);
}

/* Checks and reads the caller's boxes. */
static int check_boxes(const struct redist__request *request, const redist_index sizes[],
                       const redist_box *const given[2], const char *const names[2],
                       redist_box boxes[2]) {
    size_t bytes[2];
    for (int side = 0; side < 2; side++) {
        redist_box *box = &boxes[side];
        *box = REDIST_BOX_DEFAULT;
        REDIST_TRY(
            redist_struct_read(request->function, names[side], given[side], box, sizeof *box));
        REDIST_TRY(redist__check_box(request, sizes, names[side], box));
        bytes[side] = box_bytes(request, box);
    }
    if (request->halo != NULL)
        REDIST_TRY(redist__check_halo(request, sizes, &boxes[0]));
    return redist__check_arrays(request, request->arrays, bytes);
}

/* Describes ghosts with corners once more, one axis after the other, if they are along several axes. */
static int describe_axes(const struct redist__request *request, const redist_index sizes[],
                         const redist_box all[], struct redist_plan *plan) {
    const redist_halo *halo = request->halo;
    int axes[REDIST_MAX_NDIMS], n = 0;
    for (int i = 0; i < request->ndims && halo->corners; i++)
        if (halo->low[i] > 0 || halo->high[i] > 0)
            axes[n++] = i;
    if (n < 2)
        return REDIST_OK;
    plan->axes = redist_calloc((size_t)n, sizeof *plan->axes);
    if (plan->axes == NULL)
        return no_memory(request);
    plan->problem.axes = plan->axes;
    for (int i = 0; i < n; i++) {
        plan->axes[plan->problem.naxes++] =
            (struct redist__transfer){.rank = request->context->rank,
                                      .nranks = request->context->size,
                                      .element = request->element,
                                      .array_ndims = request->ndims,
                                      .one_way = 1};
        REDIST_TRY(redist__transfer_halo(&plan->axes[i], sizes, halo, all, axes[i], 0));
    }
    return REDIST_OK;
}

/* Agrees on the longest list of boxes of each description. Collective. */
static int agree_longest(struct redist_plan *plan) {
    int n = plan->problem.naxes, longest[REDIST_MAX_NDIMS + 1] = {plan->transfer.longest};
    for (int i = 0; i < n; i++)
        longest[i + 1] = plan->axes[i].longest;
    REDIST_TRY(redist_all_reduce(plan->context->comm, longest, n + 1, MPI_INT, MPI_MAX));
    plan->transfer.longest = longest[0];
    for (int i = 0; i < n; i++)
        plan->axes[i].longest = longest[i + 1];
    return REDIST_OK;
}

static int describe_boxes(const struct redist__request *request, const redist_index sizes[],
                          const char *const names[2], redist_box all[], struct redist_plan *plan) {
    REDIST_TRY(redist_all_gather(request->context->comm, request->boxes, 2 * sizeof *all, all));
    REDIST_TRY(redist__check_disjoint(request, names[0], 0, all));
    if (request->halo != NULL) {
        REDIST_TRY(redist__check_cover(request, sizes, all));
        REDIST_TRY(redist__transfer_halo(&plan->transfer, sizes, request->halo, all, -1, 0));
        return describe_axes(request, sizes, all, plan);
    }
    if (request->around != NULL)
        return redist__transfer_halo(&plan->transfer, sizes, request->around, all, -1, 1);
    if (request->options.overlap == REDIST_OVERLAP_REFUSED)
        REDIST_TRY(redist__check_disjoint(request, names[1], 1, all));
    return redist__transfer_boxes(&plan->transfer, all);
}

/* Keeps the boxes for the checks of later arrays. */
static int keep_boxes(struct redist_plan *plan, const redist_box boxes[2]) {
    redist_box *own = redist_calloc(2, sizeof *own);
    if (own == NULL)
        return no_memory(&plan->request);
    memcpy(own, boxes, 2 * sizeof *own);
    plan->request.boxes = own;
    return REDIST_OK;
}

static int plan_boxes(struct redist__request *request, int code, const redist_index sizes[],
                      const redist_box *const given[2], const redist_options *options,
                      redist_plan **result) {
    static const char *const names[2][2] = {{"box_a", "box_b"}, {"box", "box"}};
    const char *const *own_names = names[request->halo != NULL];
    redist_box boxes[2];
    request->boxes = boxes;
    if (code == REDIST_OK)
        code = check_common(request, options, 1, result);
    if (request->halo != NULL)
        request->options.bind_b = request->options.bind_a;
    if (code == REDIST_OK)
        code = check_boxes(request, sizes, given, own_names, boxes);
    REDIST_TRY(redist__agree_request(request, code, -1, -1, sizes));
    if (request->halo != NULL)
        REDIST_TRY(redist__agree_halo(request));
    MPI_Comm comm = request->context->comm;
    redist_box *all = redist_calloc(2 * (size_t)request->context->size, sizeof *all);
    struct redist_plan *plan = allocate_plan(request);
    code = all != NULL && plan != NULL ? keep_boxes(plan, boxes) : no_memory(request);
    code = redist_agree(comm, code);
    if (code == REDIST_OK)
        code = redist_agree(comm, describe_boxes(request, sizes, own_names, all, plan));
    if (code == REDIST_OK && (request->halo != NULL || request->around != NULL))
        code = redist_agree(comm, agree_longest(plan));
    redist_release(all);
    return complete_plan(plan, code, &request->options, result);
}

int redist__plan_boxes_in(const char *function, int code, MPI_Comm comm, MPI_Datatype datatype,
                          int ndims, const redist_index sizes[], const redist_box *const boxes[2],
                          void *const arrays[2], const redist_halo *halo,
                          const redist_options *options, redist_plan **plan) {
    static const char *const one_array[2] = {"array", "array"};
    struct redist__request request;
    REDIST_TRY(open_request(function, comm, datatype, ndims, arrays[0], arrays[1], &request));
    if (halo != NULL && boxes[0] == boxes[1]) {
        request.halo = halo;
        request.names = one_array;
    } else
        request.around = halo;
    code = plan_boxes(&request, code, sizes, boxes, options, plan);
    if (code != REDIST_OK)
        close_request(&request);
    else
        redist_closer_add((*plan)->context->comm, &(*plan)->closer, close_plan);
    return code;
}

int redist_plan_boxes(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index sizes[],
                      const redist_box *box_a, void *a, const redist_box *box_b, void *b,
                      const redist_options *options, redist_plan **plan) {
    const redist_box *const boxes[2] = {box_a, box_b};
    void *const arrays[2] = {a, b};
    return redist__plan_boxes_in(__func__, REDIST_OK, comm, datatype, ndims, sizes, boxes, arrays,
                                 NULL, options, plan);
}

int redist_plan_boxes_around(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                             const redist_index sizes[], const redist_box *box_a, void *a,
                             const redist_box *box_b, void *b, const redist_halo *halo,
                             const redist_options *options, redist_plan **plan) {
    const redist_box *const boxes[2] = {box_a, box_b};
    void *const arrays[2] = {a, b};
    return redist__plan_boxes_in(__func__, REDIST_OK, comm, datatype, ndims, sizes, boxes, arrays,
                                 halo, options, plan);
}

int redist_plan_halo(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index sizes[],
                     const redist_box *box, void *array, const redist_halo *halo,
                     const redist_options *options, redist_plan **plan) {
    const redist_box *const boxes[2] = {box, box};
    void *const arrays[2] = {array, array};
    redist_halo own = REDIST_HALO_DEFAULT;
    int code = redist_struct_read(__func__, "halo", halo, &own, sizeof own);
    if (code == REDIST_OK)
        code = redist_check_reserved_in(__func__, "halo", own.reserved);
    return redist__plan_boxes_in(__func__, code, comm, datatype, ndims, sizes, boxes, arrays, &own,
                                 options, plan);
}

/* ---------------------------------------------------------------- the end */

int redist_plan_free(redist_plan **plan) {
    REDIST_TRY(redist__check_pointer(__func__, "plan", plan));
    if (*plan == NULL)
        return REDIST_OK;
    if (redist_handle_is(*plan, REDIST_HANDLE_PLAN) && (*plan)->closed) {
        redist__plan_destroy(*plan);
        *plan = NULL;
        return REDIST_OK;
    }
    REDIST_TRY(redist__check_plan(__func__, *plan));
    drop_stream(*plan);
    const redist_place place = (*plan)->problem.place;
    redist_visit visit;
    (void)redist_enter(&place, &visit);
    int code = REDIST_OK; /* result of a pending execution; the plan is freed in any case */
    if ((*plan)->started)
        code = redist_plan_wait(*plan);
    else if ((*plan)->opened)
        code = redist__close_tiles(__func__, *plan, (*plan)->problem.tiles);
    struct redist__request request = (*plan)->request;
    redist__plan_destroy(*plan);
    close_request(&request);
    redist_leave(&visit);
    *plan = NULL;
    return code;
}
