/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_exchange, the exchange without a plan; and comparison with a gathered global array. */
#include <stdlib.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"

static void check_once(const exchange *given, const exchange_way *way) {
    test_array arrays[2];
    exchange_say(given, way);
    exchange_arrays(given, way->memory, arrays);
    for (int direction = 0; direction < 2; direction++) {
        uint64_t salt = random_bits();
        exchange_prepare(given, arrays, direction, salt);
        check_ok(exchange_call(given, arrays, direction));
        exchange_check(given, arrays, direction, salt);
    }
    exchange_free_arrays(arrays);
}

/* All pairs of axes, in all kinds of memory */
START_TEST(pairs) {
    for (int ndims = 2; ndims <= 5; ndims++)
        for (int pair = 0; pair < ndims * ndims; pair++) {
            test_element element = element_create(random_between(0, element_count() - 1));
            redist_index sizes[5];
            random_sizes(ndims, 0, 12, 900, sizes);
            exchange given = {.ndims = 0};
            exchange_way way = random_way("redist_exchange");
            if (pair / ndims != pair % ndims) {
                given = exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, pair / ndims,
                                              pair % ndims);
                check_once(&given, &way);
            }
            element_free(&element);
        }
}
END_TEST

/* Both local extents are those of the exchange, and what is refused writes nothing. */
START_TEST(sizes_of_exchanges) {
    test_element element = element_create(4);
    for (int i = 0; harness_another(i, 20); i++) {
        int ndims = random_between(2, 5), axis_a = random_between(0, ndims - 1);
        int axis_b = (axis_a + random_between(1, ndims - 1)) % ndims;
        redist_index sizes[5], a[5] = {-7, -7, -7, -7, -7}, b[5] = {-7, -7, -7, -7, -7};
        random_sizes(ndims, 0, 12, 900, sizes);
        harness_case("%d axes, %d and %d", ndims, axis_a, axis_b);
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, axis_a, axis_b);
        check_ok(redist_exchange_sizes(MPI_COMM_WORLD, ndims, sizes, axis_a, axis_b, a, b));
        size_t bytes = (size_t)ndims * sizeof *a;
        check_all(memcmp(a, given.boxes[0][harness_rank].count, bytes) == 0 &&
                      memcmp(b, given.boxes[1][harness_rank].count, bytes) == 0,
                  "other extents");
    }
    element_free(&element);
}
END_TEST

START_TEST(sizes_refused) {
    const redist_index sizes[3] = {4, 5, 6}, negative[3] = {4, 5, -6};
    redist_index a[3] = {-7, -7, -7}, b[3] = {-7, -7, -7};
    const struct {
        MPI_Comm comm;
        int ndims;
        const redist_index *sizes;
        int axes[2];
        redist_index *own[2];
        int code;
        const char *word;
    } cases[] = {{MPI_COMM_NULL, 3, sizes, {0, 1}, {a, b}, REDIST_ERR_COMM, "comm = MPI_COMM_NULL"},
                 {MPI_COMM_WORLD, 1, sizes, {0, 1}, {a, b}, REDIST_ERR_ARGUMENT, "ndims = 1"},
                 {MPI_COMM_WORLD, 3, NULL, {0, 1}, {a, b}, REDIST_ERR_NULL, "sizes = NULL"},
                 {MPI_COMM_WORLD, 3, sizes, {0, 1}, {NULL, b}, REDIST_ERR_NULL, "sizes_a = NULL"},
                 {MPI_COMM_WORLD, 3, sizes, {0, 1}, {a, NULL}, REDIST_ERR_NULL, "sizes_b = NULL"},
                 {MPI_COMM_WORLD, 3, sizes, {3, 1}, {a, b}, REDIST_ERR_AXIS, "axis_a = 3"},
                 {MPI_COMM_WORLD, 3, sizes, {0, -1}, {a, b}, REDIST_ERR_AXIS, "axis_b = -1"},
                 {MPI_COMM_WORLD, 3, sizes, {2, 2}, {a, b}, REDIST_ERR_AXIS, "are equal"},
                 {MPI_COMM_WORLD, 3, negative, {0, 1}, {a, b}, REDIST_ERR_SIZE, "sizes[2] = -6"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_code(redist_exchange_sizes(cases[i].comm, cases[i].ndims, cases[i].sizes,
                                         cases[i].axes[0], cases[i].axes[1], cases[i].own[0],
                                         cases[i].own[1]),
                   cases[i].code);
        const char *message = redist_error_message();
        check_all(strstr(message, "redist_exchange_sizes") != NULL &&
                      strstr(message, cases[i].word) != NULL,
                  "%s", message);
        for (int axis = 0; axis < 3; axis++)
            check_all(a[axis] == -7 && b[axis] == -7, "something was written");
    }
}
END_TEST

/* The shape of a 4-D array in Dalcin et al., and that of a 3-D one at half size */
START_TEST(published_shapes) {
    static const redist_index shapes[][4] = {{16, 17, 18, 19}, {21, 63, 128, 1}};
    test_element element = element_create(4);
    for (int i = 0; i < 2; i++) {
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 4 - i, shapes[i], 3 - i, 2 - i);
        exchange_way way = random_way("redist_exchange");
        check_once(&given, &way);
    }
    element_free(&element);
}
END_TEST

/* Arrays of redist_alloc take the direct way from the first call on, others what auto remembers. */
START_TEST(repeated) {
    test_element element = element_create(2);
    const redist_index sizes[] = {7, 9, 11};
    for (int i = 0; harness_another(i, 4); i++) {
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 2, 2);
        exchange_way way = {"redist_exchange", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
        way.memory[i % 4 / 2] = MEMORY_SHARED;
        check_once(&given, &way);
    }
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- a gathered copy */

/* Rank 0 collects all local arrays of one side and puts them in a global array by plain loops. */
static char *gather(const exchange *given, int side, const test_array *array) {
    size_t extent = given->element->extent;
    int elements = 1;
    char *global = NULL;
    for (int i = 0; i < given->ndims; i++)
        elements *= (int)given->sizes[i];
    global = calloc((size_t)elements, extent);
    for (int rank = 0; rank < given->nranks; rank++) {
        const redist_box *box = &given->boxes[side][rank];
        int count = (int)(box->count[0] * box->count[1] * box->count[2]);
        char *part = malloc((size_t)count * extent + 1);
        if (rank == given->rank)
            memcpy(part, array->data, (size_t)count * extent);
        MPI_Bcast(part, count * (int)extent, MPI_BYTE, rank, given->comm);
        for (int n = 0; n < count; n++) {
            redist_index k = n % box->count[2], j = n / box->count[2] % box->count[1];
            redist_index i = n / box->count[2] / box->count[1];
            size_t place = (size_t)(((i + box->start[0]) * given->sizes[1] + j + box->start[1]) *
                                        given->sizes[2] +
                                    k + box->start[2]);
            memcpy(global + place * extent, part + (size_t)n * extent, extent);
        }
        free(part);
    }
    return global;
}

/* Before and after any method, the gathered arrays are the same. */
static void check_gathered(const exchange *given, const char *method) {
    exchange_way way = {method, {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE};
    test_array arrays[2];
    redist_plan *plan;
    size_t bytes = given->element->extent;
    for (int i = 0; i < given->ndims; i++)
        bytes *= (size_t)given->sizes[i];
    exchange_say(given, &way);
    exchange_arrays(given, way.memory, arrays);
    exchange_prepare(given, arrays, REDIST_FORWARD, random_bits());
    char *before = gather(given, 0, &arrays[0]);
    check_ok(exchange_plan(given, &way, arrays, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FORWARD));
    char *after = gather(given, 1, &arrays[1]);
    check_all(memcmp(before, after, bytes) == 0, "the gathered arrays differ");
    memset(arrays[0].data, 0, arrays[0].bytes);
    check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
    char *back = gather(given, 0, &arrays[0]);
    check_all(memcmp(before, back, bytes) == 0, "the gathered arrays differ on the way back");
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
    free(before);
    free(after);
    free(back);
}

START_TEST(gathered) {
    for (int i = 0; i < request_count(); i++) {
        test_element element = element_create(i % 7);
        redist_index sizes[3];
        random_sizes(3, 1, 14, 900, sizes);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 3,
                                               (i + random_between(1, 2)) % 3);
        check_gathered(&given, request_name(i));
        element_free(&element);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {pairs,    sizes_of_exchanges, sizes_refused, published_shapes,
                                  repeated, gathered,           NULL};
    return harness_run(argc, argv, "test_redist_exchange", tests);
}
