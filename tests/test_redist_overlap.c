/* SPDX-License-Identifier: BSD-3-Clause */
/* Boxes of which several ranks have the same elements, whose values are added; and two boxes of one array. */
#include <string.h>

#include "exchanges.h"
#include "harness.h"
#include "methods.h"

static redist_plan *plan_overlap(const exchange *given, const char *method,
                                 enum redist_overlap overlap, void *a, void *b, int expected) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.method = method;
    options.overlap = overlap;
    options.tune_seconds = 1e-4;
    int code = redist_plan_boxes(MPI_COMM_WORLD, MPI_INT, given->ndims, given->sizes,
                                 &given->boxes[0][given->rank], a, &given->boxes[1][given->rank], b,
                                 &options, &plan);
    if (code != REDIST_ERR_METHOD || expected == REDIST_ERR_METHOD)
        check_code(code, expected);
    return plan;
}

/* ---------------------------------------------------------------- sums */

/* Each rank adds its rank + 1 to all elements, and finds the sum of all ranks in its own. */
static void add_by(const char *method, void *shared[2]) {
    enum { COUNT = 4 };
    const redist_index sizes[2] = {(redist_index)COUNT * harness_nranks, 3};
    exchange given = exchange_between_boxes(MPI_COMM_WORLD, NULL, 2, sizes);
    int *own = shared[0], *all = shared[1], wrong = 0, n = harness_nranks;
    for (int rank = 0; rank < n; rank++) {
        redist_box *a = &given.boxes[0][rank], *b = &given.boxes[1][rank];
        a->start[0] = (redist_index)COUNT * rank;
        a->count[0] = COUNT;
        b->count[0] = sizes[0];
        a->count[1] = b->count[1] = 3;
    }
    redist_plan *plan = plan_overlap(&given, method, REDIST_OVERLAP_ADD, own, all, REDIST_OK);
    for (int round = 0; round < 2 && plan != NULL; round++) {
        for (int i = 0; i < 3 * COUNT; i++)
            own[i] = 100 * i;
        for (int i = 0; i < 3 * COUNT * n; i++)
            all[i] = harness_rank + 1;
        check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
        for (int i = 0; i < 3 * COUNT; i++)
            wrong += own[i] != 100 * i + n * (n + 1) / 2;
        check_ok(redist_plan_execute(plan, REDIST_FORWARD));
        for (int i = 0; i < 3 * COUNT * n; i++)
            wrong += all[i] != 100 * (i % (3 * COUNT)) + n * (n + 1) / 2;
        check_all(wrong == 0, "%d elements are wrong", wrong);
    }
    check_ok(redist_plan_free(&plan));
}

START_TEST(added_in_a) {
    void *arrays[2];
    for (int side = 0; side < 2; side++)
        check_ok(
            redist_alloc(MPI_COMM_WORLD, sizeof(int) * 12 * (size_t)harness_nranks, &arrays[side]));
    for (int i = 0; i < request_count(); i++) {
        harness_case("method %s", request_name(i));
        add_by(request_name(i), arrays);
    }
    check_ok(redist_free(&arrays[0]));
    check_ok(redist_free(&arrays[1]));
}
END_TEST

/* A number gets the digits of another one behind its own. */
static void append_digits(void *arriving, void *element, int *count, MPI_Datatype *type) {
    const int64_t *from = arriving;
    int64_t *to = element;
    (void)type;
    for (int i = 0; i < *count; i++)
        to[i] = 10 * to[i] + from[i];
}

/* Each rank appends its rank + 1 to all elements, and finds the digits of all ranks in their order in its own. */
static void append_by(const char *method, MPI_Op op, int64_t *own, int64_t *all) {
    enum { COUNT = 3 };
    const redist_index size = (redist_index)COUNT * harness_nranks;
    redist_box mine = REDIST_BOX_DEFAULT, whole = REDIST_BOX_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    int64_t expected = 9;
    int wrong = 0;
    mine.start[0] = (redist_index)COUNT * harness_rank;
    mine.count[0] = COUNT;
    whole.count[0] = size;
    options.method = method;
    options.overlap = REDIST_OVERLAP_ADD;
    options.operation = &op;
    options.tune_seconds = 1e-4;
    int code = redist_plan_boxes(MPI_COMM_WORLD, MPI_INT64_T, 1, &size, &mine, own, &whole, all,
                                 &options, &plan);
    if (code == REDIST_ERR_METHOD)
        return;
    check_ok(code);
    for (int i = 0; i < size; i++)
        all[i] = harness_rank + 1;
    for (int i = 0; i < COUNT; i++)
        own[i] = expected;
    for (int rank = 0; rank < harness_nranks; rank++)
        expected = 10 * expected + rank + 1;
    check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
    for (int i = 0; i < COUNT; i++)
        wrong += own[i] != expected;
    for (int i = 0; i < size; i++)
        wrong += all[i] != harness_rank + 1;
    check_all(wrong == 0, "%d elements are wrong; one is %lld instead of %lld", wrong,
              (long long)own[0], (long long)expected);
    check_ok(redist_plan_free(&plan));
}

START_TEST(in_the_order_of_ranks) {
    void *arrays[2];
    MPI_Op op;
    MPI_Op_create(append_digits, 0, &op);
    for (int side = 0; side < 2; side++)
        check_ok(redist_alloc(MPI_COMM_WORLD, sizeof(int64_t) * 3 * (size_t)harness_nranks,
                              &arrays[side]));
    for (int i = 0; i < request_count(); i++) {
        harness_case("method %s", request_name(i));
        append_by(request_name(i), op, arrays[0], arrays[1]);
    }
    MPI_Op_free(&op);
    check_ok(redist_free(&arrays[0]));
    check_ok(redist_free(&arrays[1]));
}
END_TEST

START_TEST(nothing_to_add) {
    const redist_index size = 4;
    int own[4], all[4];
    redist_box box = REDIST_BOX_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.overlap = REDIST_OVERLAP_ADD;
    check_code(redist_plan_boxes(MPI_COMM_WORLD, MPI_BYTE, 1, &size, &box, own, &box, all, &options,
                                 &plan),
               REDIST_ERR_DATATYPE);
    options.overlap = REDIST_OVERLAP_READ;
    options.tiles = REDIST_PUT;
    check_code(redist_plan_boxes(MPI_COMM_WORLD, MPI_BYTE, 1, &size, &box, own, &box, all, &options,
                                 &plan),
               REDIST_ERR_ARGUMENT);
}
END_TEST

/* Rank 0 adds a number to one that it holds. */
static void add_to(MPI_Datatype type, void *held, void *number) {
    const redist_index size = 1;
    redist_box box = REDIST_BOX_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    box.count[0] = harness_rank == 0;
    options.effort = REDIST_ESTIMATE;
    options.overlap = REDIST_OVERLAP_ADD;
    check_ok(redist_plan_boxes(MPI_COMM_WORLD, type, 1, &size, &box, held, &box, number, &options,
                               &plan));
    check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
    check_ok(redist_plan_free(&plan));
}

union number {
    int64_t integer;
    float single[2];
    double wide[2];
};

/* Fortran's numbers of some bytes, which MPI need not have, and those of a precision or range. */
START_TEST(numbers_of_fortran) {
    const union number integers[2] = {{.integer = 3}, {.integer = 6}},
                       singles[2] = {{.single = {1.5F, 2}}, {.single = {3, 4}}},
                       doubles[2] = {{.wide = {1.5, 2}}, {.wide = {3, 4}}};
    MPI_Datatype real, complex, integer;
    MPI_Type_create_f90_real(6, 30, &real);
    MPI_Type_create_f90_complex(15, 300, &complex);
    MPI_Type_create_f90_integer(9, &integer);
    const struct {
        MPI_Datatype type;
        const union number *once_and_twice;
    } cases[] = {{MPI_REAL4, singles},     {MPI_REAL8, doubles},     {MPI_COMPLEX8, singles},
                 {MPI_COMPLEX16, doubles}, {MPI_INTEGER1, integers}, {MPI_INTEGER2, integers},
                 {MPI_INTEGER4, integers}, {MPI_INTEGER8, integers}, {real, singles},
                 {complex, doubles},       {integer, integers}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int size;
        union number held = cases[i].once_and_twice[0], number = held;
        if (cases[i].type == MPI_DATATYPE_NULL)
            continue;
        harness_case("type %zu", i);
        MPI_Type_size(cases[i].type, &size);
        add_to(cases[i].type, &held, &number);
        check_all(harness_rank > 0 || memcmp(&held, &cases[i].once_and_twice[1], (size_t)size) == 0,
                  "the sum is wrong");
    }
}
END_TEST

/* ---------------------------------------------------------------- two boxes of one array */

enum { ROWS = 5, COLUMNS = 8, WIDTH = 3 };

/* Sets boxes of WIDTH columns in an array: A from the first one, B from column `from`, of the next rank. */
static exchange boxes_of_one_array(int from) {
    const redist_index sizes[2] = {(redist_index)ROWS * harness_nranks, WIDTH};
    exchange given = exchange_between_boxes(MPI_COMM_WORLD, NULL, 2, sizes);
    for (int rank = 0; rank < harness_nranks; rank++)
        for (int side = 0; side < 2; side++)
            given.boxes[side][rank] =
                (redist_box){.size = sizeof(redist_box),
                             .start = {(redist_index)ROWS * ((rank + side) % harness_nranks), 0},
                             .count = {ROWS, WIDTH},
                             .extent = {ROWS, COLUMNS},
                             .offset = {0, side ? from : 0}};
    return given;
}

static void move_in_one_array(const char *method, int *array, int apart) {
    exchange given = boxes_of_one_array(apart ? 0 : WIDTH);
    int wrong = 0, next = (harness_rank + 1) % harness_nranks, *b = array + (apart ? WIDTH : 0);
    redist_plan *plan = plan_overlap(&given, method, REDIST_OVERLAP_REFUSED, array, b, REDIST_OK);
    for (int round = 0; round < 2 && plan != NULL; round++) {
        for (int i = 0; i < ROWS * COLUMNS; i++)
            array[i] = 1000 * harness_rank + i;
        if (round == 0)
            check_ok(redist_plan_execute(plan, REDIST_FORWARD));
        else
            check_ok(redist_plan_execute_arrays(plan, REDIST_FORWARD, array, b));
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            int column = i % COLUMNS, moved = column >= WIDTH && column < 2 * WIDTH;
            wrong += array[i] != (moved ? 1000 * next + i - WIDTH : 1000 * harness_rank + i);
        }
        check_all(wrong == 0, "%d elements are wrong", wrong);
    }
    check_ok(redist_plan_free(&plan));
}

START_TEST(one_array) {
    void *array;
    check_ok(redist_alloc(MPI_COMM_WORLD, sizeof(int) * (ROWS + 1) * COLUMNS, &array));
    for (int i = 0; i < request_count(); i++)
        for (int apart = 0; apart < 2; apart++) {
            harness_case("method %s, %s", request_name(i), apart ? "two addresses" : "one address");
            move_in_one_array(request_name(i), array, apart);
        }
    for (int from = 0; from < 2 * WIDTH; from++) {
        const exchange given = boxes_of_one_array(from);
        harness_case("B from column %d", from);
        redist_plan *plan =
            plan_overlap(&given, NULL, REDIST_OVERLAP_REFUSED, array, array,
                         from < WIDTH && from + WIDTH <= COLUMNS ? REDIST_ERR_OVERLAP
                         : from + WIDTH <= COLUMNS               ? REDIST_OK
                                                                 : REDIST_ERR_SIZE);
        check_ok(redist_plan_free(&plan));
    }
    check_ok(redist_free(&array));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        added_in_a, in_the_order_of_ranks, nothing_to_add, numbers_of_fortran, one_array, NULL};
    return harness_run(argc, argv, "test_redist_overlap", tests);
}
