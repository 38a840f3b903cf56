/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls out of order, dead handles, bad boxes and arrays: refused on all ranks, nothing touched. */
#include <stdint.h>
#include <string.h>

#include "calls.h"
#include "harness.h"

/* ---------------------------------------------------------------- plans between boxes */

static int plan_boxes(int ndims, const redist_index sizes[], const redist_box *box_a, void *a,
                      const redist_box *box_b, void *b) {
    redist_plan *plan = NULL;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.effort = REDIST_ESTIMATE;
    int code = redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, ndims, sizes, box_a, a, box_b, b,
                                 &options, &plan);
    if (code == REDIST_OK)
        redist_plan_free(&plan);
    return code;
}

static void try_boxes(enum place place) {
    static const redist_index negative[] = {9, -10, 4}, other[] = {9, 10, 5};
    int spoil = call_is_culprit(place);
    const redist_box *a = &call_exchange.boxes[0][call_exchange.rank],
                     *b = &call_exchange.boxes[1][call_exchange.rank];
    void *array_a = call_arrays[0].data, *array_b = call_arrays[1].data;
    harness_case("place %d", place);
    check_ok(plan_boxes(3, call_exchange.sizes, a, array_a, b, array_b));
    check_code(plan_boxes(spoil ? 0 : 3, call_exchange.sizes, a, array_a, b, array_b),
               REDIST_ERR_ARGUMENT);
    call_check_message("ndims = 0");
    call_check_rank(place);
    check_code(plan_boxes(spoil ? 17 : 3, call_exchange.sizes, a, array_a, b, array_b),
               REDIST_ERR_ARGUMENT);
    check_code(plan_boxes(3, spoil ? NULL : call_exchange.sizes, a, array_a, b, array_b),
               REDIST_ERR_NULL);
    call_check_message("sizes");
    check_code(plan_boxes(3, call_exchange.sizes, spoil ? NULL : a, array_a, b, array_b),
               REDIST_ERR_NULL);
    call_check_message("box_a");
    check_code(plan_boxes(3, call_exchange.sizes, a, array_a, spoil ? NULL : b, array_b),
               REDIST_ERR_NULL);
    call_check_message("box_b");
    check_code(plan_boxes(3, call_exchange.sizes, a, spoil ? NULL : array_a, b, array_b),
               REDIST_ERR_NULL);
    call_check_message("a = NULL");
    check_code(plan_boxes(3, call_exchange.sizes, a, array_a, b, spoil ? array_a : array_b),
               REDIST_ERR_OVERLAP);
    call_check_rank(place);
    check_code(plan_boxes(3, spoil ? negative : call_exchange.sizes, a, array_a, b, array_b),
               REDIST_ERR_SIZE);
    call_check_message("-10");
    if (place != EVERYWHERE && harness_nranks > 1)
        check_code(plan_boxes(3, spoil ? other : call_exchange.sizes, a, array_a, b, array_b),
                   REDIST_ERR_DISAGREE);
}

START_TEST(boxes) {
    call_begin();
    for (int place = EVERYWHERE; place < PLACES; place++)
        try_boxes((enum place)place);
    call_check_untouched();
}
END_TEST

/* ---------------------------------------------------------------- wrong state */

static redist_plan *valid_plan(const char *method) {
    redist_plan *plan = NULL;
    struct call call = call_valid();
    call.options.method = method;
    check_ok(redist_plan_exchange(call.comm, call.datatype, 3, call.sizes_a, call.a, 0,
                                  call.sizes_b, call.b, 1, &call.options, &plan));
    return plan;
}

START_TEST(out_of_order) {
    call_begin();
    for (int i = 0; i < request_count(); i++) {
        if (!strncmp(request_name(i), "direct:p", 8) || !strncmp(request_name(i), "direct:l", 8))
            continue; /* the arrays are plain memory */
        harness_case("method %s", request_name(i));
        redist_plan *plan = valid_plan(request_name(i));
        check_code(redist_plan_wait(plan), REDIST_ERR_STATE);
        check_code(redist_plan_execute(plan, 2), REDIST_ERR_ARGUMENT);
        call_check_message("direction = 2");
        check_code(redist_plan_start(plan, -1), REDIST_ERR_ARGUMENT);
        call_check_message("direction = -1");
        call_check_untouched();
        check_ok(redist_plan_start(plan, REDIST_FORWARD));
        check_code(redist_plan_start(plan, REDIST_FORWARD), REDIST_ERR_STATE);
        check_code(redist_plan_execute(plan, REDIST_BACKWARD), REDIST_ERR_STATE);
        check_code(redist_plan_execute_arrays(plan, REDIST_FORWARD, call_arrays[0].data,
                                              call_arrays[1].data),
                   REDIST_ERR_STATE);
        check_ok(redist_plan_wait(plan));
        check_code(redist_plan_wait(plan), REDIST_ERR_STATE);
        check_ok(redist_plan_free(&plan));
        exchange_prepare(&call_exchange, call_arrays, REDIST_FORWARD, 11);
    }
}
END_TEST

START_TEST(after_free) {
    call_begin();
    redist_plan *plan = valid_plan("auto"), *copy = plan;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    check_ok(redist_plan_free(&plan));
    check_code(redist_plan_execute(copy, REDIST_FORWARD), REDIST_ERR_STATE);
    check_code(redist_plan_start(copy, REDIST_FORWARD), REDIST_ERR_STATE);
    check_code(redist_plan_wait(copy), REDIST_ERR_STATE);
    check_code(redist_plan_execute_arrays(copy, 0, call_arrays[0].data, call_arrays[1].data),
               REDIST_ERR_STATE);
    check_code(redist_plan_start_arrays(copy, 0, call_arrays[0].data, call_arrays[1].data),
               REDIST_ERR_STATE);
    check_code(redist_plan_get_info(copy, &info), REDIST_ERR_STATE);
    check_code(redist_plan_free(&copy), REDIST_ERR_STATE);
    check_code(redist_plan_execute(NULL, REDIST_FORWARD), REDIST_ERR_STATE);
    check_code(redist_plan_free(NULL), REDIST_ERR_NULL);
    copy = NULL;
    check_ok(redist_plan_free(&copy));
    call_check_untouched();
}
END_TEST

/* A plan is no grid, and a grid is no plan. */
START_TEST(wrong_handle) {
    call_begin();
    const int dims[1] = {0};
    redist_grid *grid;
    redist_plan *plan = valid_plan("auto");
    check_ok(redist_grid_create(MPI_COMM_WORLD, 1, dims, &grid));
    check_code(redist_plan_execute((redist_plan *)(void *)grid, 0), REDIST_ERR_STATE);
    check_code(redist_grid_get((redist_grid *)(void *)plan, NULL, NULL, NULL), REDIST_ERR_STATE);
    check_code(redist_plan_get_info(plan, NULL), REDIST_ERR_NULL);
    check_ok(redist_plan_free(&plan));
    check_ok(redist_grid_free(&grid));
}
END_TEST

/* ---------------------------------------------------------------- arrays of an execution */

/* Each use of later arrays, with a fault on the given ranks */
static void try_arrays(redist_plan *plan, enum place place) {
    int spoil = call_is_culprit(place);
    void *a = call_arrays[0].data, *b = call_arrays[1].data;
    harness_case("place %d", place);
    check_code(redist_plan_execute_arrays(plan, 0, spoil ? NULL : a, b), REDIST_ERR_NULL);
    call_check_message("a = NULL");
    call_check_rank(place);
    check_code(redist_plan_execute_arrays(plan, 0, a, spoil ? NULL : b), REDIST_ERR_NULL);
    call_check_message("b = NULL");
    check_code(redist_plan_execute_arrays(plan, 1, a, spoil ? a : b), REDIST_ERR_OVERLAP);
    check_code(redist_plan_start_arrays(plan, 0, spoil ? NULL : a, b), REDIST_ERR_NULL);
    check_code(redist_plan_wait(plan), REDIST_ERR_STATE);
}

START_TEST(later_arrays) {
    call_begin();
    for (int place = EVERYWHERE; place < PLACES; place++) {
        redist_plan *plan = NULL;
        struct call call = call_valid();
        call.options.bind_a = REDIST_BIND_AT_EXECUTION;
        call.options.bind_b = place != FIRST ? REDIST_BIND_AT_EXECUTION : REDIST_BIND_AT_PLAN;
        check_ok(redist_plan_exchange(call.comm, call.datatype, 3, call.sizes_a, NULL, 0,
                                      call.sizes_b, call.b, 1, &call.options, &plan));
        check_code(redist_plan_execute(plan, REDIST_FORWARD), REDIST_ERR_STATE);
        check_code(redist_plan_start(plan, REDIST_FORWARD), REDIST_ERR_STATE);
        try_arrays(plan, (enum place)place);
        check_ok(redist_plan_free(&plan));
    }
    call_check_untouched();
}
END_TEST

/* A plan on arrays of redist_alloc wants such arrays, or says so. */
START_TEST(arrays_of_another_kind) {
    call_begin();
    exchange_way way = {"direct", {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    test_array shared[2];
    redist_plan *plan;
    exchange_arrays(&call_exchange, way.memory, shared);
    check_ok(exchange_plan(&call_exchange, &way, shared, &plan));
    for (int place = EVERYWHERE; place < PLACES; place++) {
        void *a = call_is_culprit((enum place)place) ? call_arrays[0].data : shared[0].data;
        void *b = call_is_culprit((enum place)place) ? call_arrays[1].data : shared[1].data;
        harness_case("place %d", place);
        check_code(redist_plan_execute_arrays(plan, 0, a, shared[1].data), REDIST_ERR_ARGUMENT);
        call_check_message("a = ");
        call_check_message("redist_alloc");
        check_code(redist_plan_execute_arrays(plan, 0, shared[0].data, b), REDIST_ERR_ARGUMENT);
        call_check_message("b = ");
    }
    exchange_execute(&call_exchange, &way, shared, plan, REDIST_FORWARD);
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(shared);
    call_check_untouched();
}
END_TEST

/* What was promised of later arrays counts. */
START_TEST(later_arrays_of_another_kind) {
    call_begin();
    redist_plan *plan = NULL;
    struct call call = call_valid();
    call.options.bind_a = (enum redist_binding)3;
    check_code(redist_plan_exchange(call.comm, call.datatype, 3, call.sizes_a, NULL, 0,
                                    call.sizes_b, NULL, 1, &call.options, &plan),
               REDIST_ERR_ARGUMENT);
    call_check_message("bind_a = 3");
    call.options.bind_a = call.options.bind_b = REDIST_BIND_AT_EXECUTION_MAPPED;
    check_ok(redist_plan_exchange(call.comm, call.datatype, 3, call.sizes_a, NULL, 0, call.sizes_b,
                                  NULL, 1, &call.options, &plan));
    check_code(redist_plan_execute_arrays(plan, 0, call_arrays[0].data, call_arrays[1].data),
               REDIST_ERR_ARGUMENT);
    call_check_message("a = ");
    call_check_message("redist_alloc");
    check_ok(redist_plan_free(&plan));
    call_check_untouched();
}
END_TEST

/* ---------------------------------------------------------------- redist_alloc */

START_TEST(allocation) {
    void *array = NULL, *copy, *nothing = NULL;
    int inside = 0, last = harness_rank == harness_nranks - 1;
    check_code(redist_alloc(MPI_COMM_WORLD, 8, last ? NULL : &array), REDIST_ERR_NULL);
    call_check_message("array");
    check_code(redist_free(NULL), REDIST_ERR_NULL);
    check_ok(redist_free(&nothing));
    copy = &inside;
    check_code(redist_free(&copy), REDIST_ERR_STATE);
    check_all(copy == &inside, "a refused redist_free wrote its argument");
    check_ok(redist_alloc(MPI_COMM_WORLD, last ? 0 : 100, &array));
    check_all((size_t)array % 64 == 0, "an array at %p", array);
    copy = array;
    check_ok(redist_free(&array));
    check_all(array == NULL, "the pointer to a freed array is not NULL");
    check_code(redist_free(&copy), REDIST_ERR_STATE);
}
END_TEST

START_TEST(huge_allocation) {
    void *array = NULL;
    int last = harness_rank == harness_nranks - 1;
    for (int all = 0; all < 2; all++) {
        size_t bytes = all || last ? (size_t)PTRDIFF_MAX - 4096 : 8;
        int code = redist_alloc(MPI_COMM_WORLD, bytes, &array);
        check_all(code == REDIST_ERR_MEMORY || code == REDIST_ERR_LIMIT, "%s",
                  redist_error_name(code));
        bytes = all || last ? SIZE_MAX : 8;
        code = redist_alloc(MPI_COMM_WORLD, bytes, &array);
        check_all(code == REDIST_ERR_MEMORY || code == REDIST_ERR_LIMIT, "%s",
                  redist_error_name(code));
        check_all(array == NULL, "a refused redist_alloc wrote its result");
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {boxes,
                                  out_of_order,
                                  after_free,
                                  wrong_handle,
                                  later_arrays,
                                  arrays_of_another_kind,
                                  later_arrays_of_another_kind,
                                  allocation,
                                  huge_allocation,
                                  NULL};
    return harness_run(argc, argv, "test_redist_states", tests);
}
