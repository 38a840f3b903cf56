/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts that are refused, and operations in the place of sums that fail. */
#include <string.h>

#include "halo_run.h"

/* ---------------------------------------------------------------- operations that fail */

static int reduction_fails;

int MPI_Reduce_local(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op) {
    return reduction_fails ? MPI_ERR_OTHER : PMPI_Reduce_local(from, to, count, type, op);
}

/* MPI refuses an operation on the last rank: it knows at once, the others at the end of the next execution. */
START_TEST(failing_operations) {
    NEEDS_ARRAYS();
    if (arrays_device() != NULL)
        skip_test("in host memory");
    static const char *const names[] = {"direct", "p2p", "alltoallv"};
    const operation by = {"max", MPI_MAX, 0};
    halo_case given = case_of_all();
    size_t elements = elements_of(&given, &given.given.boxes[0][harness_rank]);
    given.by = &by;
    for (int i = 0; i < 3; i++) {
        test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, elements * sizeof(double));
        redist_plan *plan = NULL;
        harness_case("method %s", names[i]);
        check_ok(plan_of(&given, MPI_DOUBLE, &array, names[i], REDIST_OVERLAP_REFUSED, 0, &plan));
        visit_all(&given, harness_rank, set_element, array.data);
        reduction_fails = harness_rank == harness_nranks - 1;
        int first = redist_plan_execute(plan, REDIST_ACCUMULATE);
        check_all(first == REDIST_ERR_MPI || !reduction_fails, "the failure has code %d", first);
        reduction_fails = 0;
        int second = redist_plan_execute(plan, REDIST_ACCUMULATE);
        check_all(second != REDIST_OK, "the failure of rank %d is not known", harness_nranks - 1);
        check_ok(redist_plan_free(&plan));
        array_free(&array);
    }
}
END_TEST

/* ---------------------------------------------------------------- refused */

static void check_refused(const halo_case *given, MPI_Datatype type, enum redist_overlap overlap,
                          int expected, const char *text) {
    static char room[100000];
    const test_array array = {.data = room};
    redist_plan *plan = NULL;
    check_code(plan_of(given, type, &array, "auto", overlap, 0, &plan), expected);
    check_all(strstr(redist_error_message(), text) != NULL, "the message lacks \"%s\": %s", text,
              redist_error_message());
    check_all(plan == NULL, "there is a plan");
}

static halo_case simple_case(void) {
    const redist_index sizes[2] = {8, 6};
    halo_case given = case_of(2, sizes, 0);
    exchange_set_blocks(&given.given, 0, 1);
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        for (int i = 0; i < 2; i++) {
            box->offset[i] = 3;
            box->extent[i] = box->count[i] + 6;
        }
    }
    for (int i = 0; i < 2; i++)
        given.halo.low[i] = given.halo.high[i] = given.halo.periodic[i] = 1;
    return given;
}

START_TEST(bad_widths) {
    NEEDS_ARRAYS();
    int culprit = random_between(0, harness_nranks - 1);
    halo_case given = simple_case();
    if (harness_rank == culprit)
        given.halo.low[1] = -2;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE,
                  "halo->low[1] = -2 is negative");
    given = simple_case();
    given.halo.reserved = harness_rank == culprit;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_ARGUMENT,
                  "halo->reserved = 1");
    given = simple_case();
    given.halo.periodic[0] = 0;
    given.halo.high[0] = 9;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE,
                  "halo->high[0] = 9 is wider than sizes[0] = 8");
    given = simple_case();
    given.halo.low[1] = 4;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE,
                  "halo->low[1] = 4, but the array has room for 3");
    given = simple_case();
    redist_plan *plan = NULL;
    check_code(redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, given.given.sizes,
                                &given.given.boxes[0][harness_rank], NULL,
                                harness_rank == culprit ? NULL : &given.halo, NULL, &plan),
               REDIST_ERR_NULL);
}
END_TEST

START_TEST(tiles) {
    NEEDS_ARRAYS();
    halo_case given = simple_case();
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    options.tiles = REDIST_PUT;
    check_code(redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, given.given.sizes,
                                &given.given.boxes[0][harness_rank], NULL, &given.halo, &options,
                                &plan),
               REDIST_ERR_ARGUMENT);
}
END_TEST

START_TEST(widths_that_differ) {
    NEEDS_ARRAYS();
    if (harness_nranks < 2)
        skip_test("one rank");
    halo_case given = simple_case();
    given.halo.high[1] = harness_rank == harness_nranks - 1 ? 2 : 1;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_DISAGREE, "halo->high[1]");
    given = simple_case();
    given.halo.periodic[0] = harness_rank == 0;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_DISAGREE,
                  "halo->periodic[0]");
}
END_TEST

START_TEST(holes_and_overlaps) {
    NEEDS_ARRAYS();
    halo_case given = simple_case();
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        for (int i = 0; i < 2; i++)
            if (box->start[i] + box->count[i] == given.given.sizes[i])
                box->count[i] -= i == 1 && box->count[0] * box->count[1] > 0;
    }
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_SIZE, "5 along axis 1");
    if (harness_nranks < 2)
        return;
    given = simple_case();
    for (int rank = 0; rank < 2; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        *box = (redist_box){
            .size = sizeof(*box), .count = {8, 6}, .extent = {14, 12}, .offset = {3, 3}};
    }
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_REFUSED, REDIST_ERR_OVERLAP,
                  "box overlaps the box of rank 1 of the communicator: both have the element at 0 "
                  "along axis 0, 0 along axis 1");
}
END_TEST

START_TEST(elements_without_sums) {
    NEEDS_ARRAYS();
    halo_case given = simple_case();
    MPI_Datatype mixed;
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, 200 * sizeof(double));
    redist_plan *plan = NULL;
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    check_refused(&given, mixed, REDIST_OVERLAP_ADD, REDIST_ERR_DATATYPE, "REDIST_OVERLAP_ADD");
    check_ok(plan_of(&given, mixed, &array, "auto", REDIST_OVERLAP_REFUSED, 0, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FILL));
    check_code(redist_plan_execute(plan, REDIST_ACCUMULATE), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(),
                     "direction = REDIST_ACCUMULATE, but the plan has REDIST_FILL only") != NULL,
              "%s", redist_error_message());
    check_ok(redist_plan_free(&plan));
    MPI_Type_free(&mixed);
    check_ok(plan_of(&given, MPI_DOUBLE, &array, "alltoallw", REDIST_OVERLAP_READ, 0, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FILL));
    check_code(redist_plan_start(plan, REDIST_ACCUMULATE), REDIST_ERR_ARGUMENT);
    check_ok(redist_plan_free(&plan));
    array_free(&array);
}
END_TEST

START_TEST(operations_refused) {
    NEEDS_ARRAYS();
    operation all[OPERATIONS];
    make_operations(all);
    const operation *max = &all[0], *own = &all[OPERATIONS - 1];
    halo_case given = simple_case();
    given.by = max;
    check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_READ, REDIST_ERR_ARGUMENT,
                  "options->overlap = REDIST_OVERLAP_READ");
    check_refused(&given, MPI_DOUBLE_INT, REDIST_OVERLAP_ADD, REDIST_ERR_DATATYPE, "without gaps");
    kind with_gaps = kind_at(6), bytes = kind_at(KINDS - 1);
    MPI_Datatype type = make_type(&with_gaps), mixed;
    given.by = own;
    check_refused(&given, type, REDIST_OVERLAP_ADD, REDIST_ERR_DATATYPE, "without gaps");
    MPI_Type_free(&type);
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, 4};
    const MPI_Datatype types[2] = {MPI_INT, MPI_FLOAT};
    MPI_Type_create_struct(2, lengths, places, types, &mixed);
    MPI_Type_commit(&mixed);
    given.by = max;
    check_refused(&given, mixed, REDIST_OVERLAP_REFUSED, REDIST_ERR_DATATYPE, "MPI_Op_create");
    MPI_Type_free(&mixed);
    MPI_Errhandler usual;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &usual);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    check_refused(&given, MPI_C_DOUBLE_COMPLEX, REDIST_OVERLAP_REFUSED, REDIST_ERR_MPI, "MPI");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, usual);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, usual);
    MPI_Errhandler_free(&usual);
    given.by = harness_rank == harness_nranks - 1 ? own : NULL;
    if (harness_nranks > 1)
        check_refused(&given, MPI_DOUBLE, REDIST_OVERLAP_ADD, REDIST_ERR_DISAGREE,
                      "whether options->operation is given");
    type = make_type(&bytes);
    given.by = own;
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, 200 * sizeof(double));
    redist_plan *plan = NULL;
    check_code(plan_of(&given, type, &array, "auto", REDIST_OVERLAP_REFUSED, 0, &plan),
               arrays_device() != NULL ? REDIST_ERR_ARGUMENT : REDIST_OK);
    check_all(arrays_device() == NULL || strstr(redist_error_message(), "host memory") != NULL,
              "the message is %s", redist_error_message());
    check_ok(redist_plan_free(&plan));
    array_free(&array);
    MPI_Type_free(&type);
    MPI_Op_free(&all[OPERATIONS - 1].op);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        failing_operations,    bad_widths,         tiles, widths_that_differ, holes_and_overlaps,
        elements_without_sums, operations_refused, NULL};
    return halo_tests_run(argc, argv, "test_redist_halo_errors", tests);
}
