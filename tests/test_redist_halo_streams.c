/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts in streams of a device: filled and added without the host, in arrays that peers know or not, replayed, and
 * when ranks fail. */
#include <string.h>

#include "halo_run.h"
#include "redist_support.h"

static void try_enqueued(halo_case *given, const char *method) {
    MPI_Datatype type = make_type(&given->kind);
    size_t elements = elements_of(given, &given->given.boxes[0][given->given.rank]);
    int later = random_chance(50);
    enum test_memory memory = random_chance(50) ? MEMORY_SHARED : MEMORY_PLAIN;
    test_array array = array_create(MPI_COMM_WORLD, memory, elements * given->kind.extent);
    redist_plan *plan = NULL;
    given->enqueued = 1;
    given->stream = stream_device_create();
    say_case(given, method, memory, later);
    int code = plan_of(given, type, &array, method, REDIST_OVERLAP_REFUSED, later, &plan);
    if (strncmp(method, "axes", 4) != 0 || has_axes(given))
        check_ok(code);
    else
        check_code(code, REDIST_ERR_METHOD);
    for (int i = 0; i < 2 && plan != NULL; i++) {
        given->replayed = i;
        check_plan(given, type, plan, later, &array);
        check_ok(redist_plan_query(plan));
    }
    check_ok(redist_plan_free(&plan));
    stream_device_destroy(given->stream);
    array_free(&array);
    MPI_Type_free(&type);
}

/* On a device, without the host: lists of boxes, sums, graphs. */
START_TEST(enqueued) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    for (int i = 0; harness_another(i, 2 * ENQUEUING); i++) {
        int ndims = i % 3 + 1;
        redist_index sizes[REDIST_MAX_NDIMS];
        random_sizes(ndims, 1, ndims == 1 ? 40 : 24 / ndims, 400, sizes);
        halo_case given = case_of(ndims, sizes, random_between(0, KINDS - 1));
        exchange_set_bricks(&given.given, 0);
        set_halo(&given);
        set_room(&given);
        try_enqueued(&given, enqueuing[i % ENQUEUING]);
    }
}
END_TEST

/* Messages of half a megabyte; and, between two ranks, lists of 32, which NCCL sends in several waves, of numbers that
 * devices do not add. */
START_TEST(enqueued_long) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    for (int i = 0; i <= ENQUEUING - (harness_nranks > 2); i++) {
        int in_waves = i == ENQUEUING;
        int index = in_waves ? LONG_DOUBLE : 0, bytes = 1 << (in_waves ? 25 : 19);
        halo_case given = ring_of_rows(bytes / (int)kind_at(index).extent, index);
        set_room(&given);
        try_enqueued(&given, in_waves ? "nccl" : enqueuing[i]);
    }
}
END_TEST

static int execute_and_query(const halo_case *given, redist_plan *plan, int direction,
                             const test_array *array) {
    (void)redist_plan_execute_arrays(plan, direction, array->data, array->data);
    stream_device_wait(given->stream);
    return redist_plan_query(plan);
}

/* Rank 0 comes after the others have given up. */
static void come_late(const halo_case *given, redist_plan *plan, int direction,
                      const test_array *array) {
    int code =
        harness_rank != 0 ? execute_and_query(given, plan, direction, array) : REDIST_ERR_PEER;
    check_code(code, REDIST_ERR_PEER);
    check_code(execute_and_query(given, plan, direction, array), REDIST_ERR_PEER);
}

/* The last rank fails before it enqueues anything. */
static void fail_first(const halo_case *given, redist_plan *plan, int direction,
                       const test_array *array) {
    if (harness_rank == harness_nranks - 1)
        (void)redist_plan_break(plan, REDIST_ERR_DEVICE);
    int code = execute_and_query(given, plan, direction, array);
    check_all(code != REDIST_OK, "the failure of rank %d is not known", harness_nranks - 1);
}

static void try_failure(halo_case *given, const char *method, int is_late, int direction,
                        int later) {
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                                    elements_of(given, &given->given.boxes[0][given->given.rank]) *
                                        sizeof(double));
    redist_plan *plan = NULL;
    given->enqueued = 1;
    given->wait_seconds = is_late ? 0.05 : 0;
    given->stream = stream_device_create();
    harness_case("method %s, direction %d, %s%s", method, direction, is_late ? "late" : "failed",
                 later ? ", later" : "");
    check_ok(plan_of(given, MPI_DOUBLE, &array, method, REDIST_OVERLAP_REFUSED, later, &plan));
    (is_late ? come_late : fail_first)(given, plan, direction, &array);
    check_ok(redist_plan_free(&plan));
    stream_device_destroy(given->stream);
    array_free(&array);
}

/* NCCL's kernels wait for a late rank without limit. */
START_TEST(enqueued_failures) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    if (harness_nranks == 1)
        skip_test("for several ranks");
    halo_case given = case_of_all();
    for (int i = 0; i < 4 * ENQUEUING; i++) {
        const char *method = enqueuing[i / 4];
        int is_late = i % 2, direction = i / 2 % 2;
        if (!is_late || strstr(method, "nccl") == NULL)
            try_failure(&given, method, is_late, direction, random_chance(50));
    }
}
END_TEST

/* Both links at once move one box between two ranks, in a stream too. */
START_TEST(enqueued_by_both_links) {
    NEEDS_ARRAYS();
    NEEDS_STREAMS();
    if (harness_nranks == 1)
        skip_test("for several ranks");
    halo_case given = case_of_all();
    test_array array =
        array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                     elements_of(&given, &given.given.boxes[0][harness_rank]) * sizeof(double));
    redist_plan *plan = NULL;
    given.enqueued = 1;
    for (int overlap = REDIST_OVERLAP_REFUSED; overlap <= REDIST_OVERLAP_ADD; overlap++)
        check_code(plan_of(&given, MPI_DOUBLE, &array, "hier:nccl", (enum redist_overlap)overlap, 0,
                           &plan),
                   REDIST_ERR_METHOD);
    array_free(&array);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {enqueued, enqueued_long, enqueued_failures,
                                  enqueued_by_both_links, NULL};
    return halo_tests_run(argc, argv, "test_redist_halo_streams", tests);
}
