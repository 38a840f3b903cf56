/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts: filled from their owners and added to them, against what the global array says. */
#include <stdlib.h>
#include <string.h>

#include "halo_run.h"
#include "redist_support.h"

/* ---------------------------------------------------------------- random cases */

static void try_random(int blocks, int i) {
    int ndims = i % 4 + 1;
    redist_index sizes[REDIST_MAX_NDIMS];
    random_sizes(ndims, 1, ndims == 1 ? 40 : 24 / ndims, 400, sizes);
    halo_case given = case_of(ndims, sizes, random_between(0, KINDS - 1));
    if (blocks)
        exchange_set_blocks(&given.given, 0, random_between(1, ndims));
    else
        exchange_set_bricks(&given.given, 0);
    set_halo(&given);
    try_methods(&given);
}

START_TEST(blocks) {
    NEEDS_ARRAYS();
    for (int i = 0; harness_another(i, 4); i++)
        try_random(1, i);
}
END_TEST

START_TEST(bricks) {
    NEEDS_ARRAYS();
    for (int i = 0; harness_another(i, 4); i++)
        try_random(0, i);
}
END_TEST

/* Operations in the place of sums, one of which depends on the order of ghosts. */
START_TEST(operations) {
    NEEDS_ARRAYS();
    if (arrays_device() != NULL)
        skip_test("in host memory");
    operation all[OPERATIONS];
    make_operations(all);
    for (int i = 0; harness_another(i, 4 * OPERATIONS); i++) {
        int ndims = i / OPERATIONS % 3 + 1;
        const operation *by = &all[i % OPERATIONS];
        redist_index sizes[REDIST_MAX_NDIMS];
        random_sizes(ndims, 1, ndims == 1 ? 40 : 24 / ndims, 400, sizes);
        halo_case given = case_of(ndims, sizes, kind_for(by));
        given.by = by;
        exchange_set_bricks(&given.given, 0);
        set_halo(&given);
        try_methods(&given);
    }
    MPI_Op_free(&all[OPERATIONS - 1].op);
}
END_TEST

/* ---------------------------------------------------------------- named cases */

static void try_named(int ndims, int size, int low, int high, int periodic, int corners,
                      int index) {
    redist_index sizes[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < ndims; i++)
        sizes[i] = i == 0 ? size : size > 4 ? 4 : size;
    halo_case given = case_of(ndims, sizes, index);
    exchange_set_blocks(&given.given, 0, ndims > 2 ? 2 : 1);
    given.halo.corners = corners;
    for (int i = 0; i < ndims; i++) {
        given.halo.low[i] = low;
        given.halo.high[i] = high;
        given.halo.periodic[i] = periodic;
    }
    try_methods(&given);
}

/* One rank has all elements: its ghosts are its own elements. */
START_TEST(periodic_on_one_rank) {
    NEEDS_ARRAYS();
    const redist_index sizes[2] = {5, 3};
    halo_case given = case_of(2, sizes, 0);
    exchange_empty(&given.given, 0);
    memcpy(given.given.boxes[0][harness_nranks - 1].count, sizes, sizeof(sizes));
    given.halo.low[0] = given.halo.high[1] = 2;
    given.halo.periodic[0] = given.halo.periodic[1] = given.halo.corners = 1;
    try_methods(&given);
}
END_TEST

START_TEST(wider_than_blocks) {
    NEEDS_ARRAYS();
    try_named(1, 2 * harness_nranks, 5, 3, 1, 0, 0);
    try_named(2, 9, 4, 4, 0, 1, 2);
}
END_TEST

/* Messages that copy engines stage on a device, of numbers and of bytes without sums: those between two ranks are a
 * list of two boxes, of three one box. */
START_TEST(long_messages) {
    NEEDS_ARRAYS();
    enum { BYTES = 1 << 18 };
    for (int index = 0; index < KINDS; index += KINDS - 1) {
        redist_index row = 1 + (redist_index)(BYTES / kind_at(index).extent);
        halo_case given = ring_of_rows(row, index);
        try_methods(&given);
    }
}
END_TEST

START_TEST(several_times_around) {
    NEEDS_ARRAYS();
    try_named(1, 3, 7, 8, 1, 0, 5);
    try_named(2, 2, 5, 3, 1, 1, 1);
}
END_TEST

START_TEST(extents_of_one) {
    NEEDS_ARRAYS();
    try_named(3, 1, 1, 1, 1, 1, 0);
    try_named(2, 1, 1, 1, 0, 0, 3);
}
END_TEST

START_TEST(no_ghosts) {
    NEEDS_ARRAYS();
    try_named(2, 6, 0, 0, 1, 1, 0);
}
END_TEST

START_TEST(no_elements) {
    NEEDS_ARRAYS();
    try_named(2, 0, 0, 0, 0, 0, 0);
}
END_TEST

START_TEST(all_dimensions) {
    NEEDS_ARRAYS();
    for (int ndims = 1; ndims <= 6; ndims++)
        try_named(ndims, ndims > 4 ? 2 : 5, 1, 1, 1, ndims < 6, ndims);
}
END_TEST

/* Fields are an axis that each rank has whole, in front or behind. */
START_TEST(fields) {
    NEEDS_ARRAYS();
    for (int batch = 0; batch < 3; batch += 2) {
        redist_index sizes[3] = {6, 5, 4};
        halo_case given = case_of(3, sizes, 0);
        exchange_set_bricks(&given.given, 0);
        sizes[batch] = 3;
        given.given.sizes[batch] = 3;
        for (int rank = 0; rank < harness_nranks; rank++) {
            redist_box *box = &given.given.boxes[0][rank];
            *box = (redist_box){.size = sizeof(*box), .count = {sizes[0], sizes[1], sizes[2]}};
            redist_decompose(sizes[1], harness_nranks, rank, &box->count[1], &box->start[1]);
        }
        given.halo.low[1] = 2;
        given.halo.high[1] = 1;
        given.halo.periodic[1] = given.halo.periodic[2 - batch] = given.halo.corners = 1;
        given.halo.low[2 - batch] = 1;
        try_methods(&given);
    }
}
END_TEST

/* ---------------------------------------------------------------- messages */

static int messages; /* sent by this rank */

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    messages++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

static int messages_of(redist_plan *plan) {
    messages = 0;
    check_ok(redist_plan_execute(plan, REDIST_FILL));
    return messages;
}

/* Along one axis after the other there are no messages to ranks that are neighbours across corners only. */
START_TEST(messages_along_axes) {
    NEEDS_ARRAYS();
    if (harness_nranks != 4 || arrays_device() != NULL)
        skip_test("for four ranks, in host memory");
    static const char *const names[] = {"p2p", "axes:p2p"};
    const redist_index sizes[2] = {8, 6};
    halo_case given = case_of(2, sizes, 0);
    exchange_set_blocks(&given.given, 0, 2);
    for (int i = 0; i < 2; i++)
        given.halo.low[i] = given.halo.high[i] = given.halo.periodic[i] = 1;
    given.halo.corners = 1;
    set_room(&given);
    test_array array =
        array_create(MPI_COMM_WORLD, MEMORY_PLAIN,
                     elements_of(&given, &given.given.boxes[0][harness_rank]) * sizeof(double));
    for (int i = 0; i < 2; i++) {
        redist_plan *plan = NULL;
        check_ok(plan_of(&given, MPI_DOUBLE, &array, names[i], REDIST_OVERLAP_REFUSED, 0, &plan));
        check_all(messages_of(plan) == 3 - i, "%s sends %d messages", names[i], messages);
        check_ok(redist_plan_free(&plan));
    }
    array_free(&array);
}
END_TEST

/* ---------------------------------------------------------------- sums */

static halo_case case_of_sums(void) {
    const redist_index sizes[2] = {12, 7};
    halo_case given = case_of(2, sizes, 0);
    exchange_set_blocks(&given.given, 0, 2);
    given.halo.low[0] = given.halo.high[0] = 5;
    given.halo.low[1] = given.halo.high[1] = 3;
    given.halo.periodic[0] = given.halo.periodic[1] = given.halo.corners = 1;
    set_room(&given);
    return given;
}

/* Fills an array with numbers whose sums are rounded. */
static void fill_with_fractions(const test_array *array) {
    double *values = (double *)(void *)on_host(array);
    for (size_t k = 0; k < array->bytes / sizeof(double); k++)
        values[k] = 1.0 / (double)(1 + random_hash(k * 64 + (size_t)harness_rank) % 1000000);
    copy_to_device(array);
}

/* Accumulates by a method, and compares the array with the first result. */
static void try_sums(const halo_case *given, const char *method, const test_array *array,
                     char *first, int *compared) {
    redist_plan *plan = NULL;
    harness_case("method %s%s", method, given->enqueued ? ", enqueued" : "");
    int code = plan_of(given, MPI_DOUBLE, array, method, REDIST_OVERLAP_ADD, 0, &plan);
    if (code == REDIST_ERR_METHOD)
        return;
    check_ok(code);
    fill_with_fractions(array);
    run_plan(given, plan, REDIST_ACCUMULATE, 0, array);
    if (!*compared)
        memcpy(first, on_host(array), array->bytes);
    *compared = 1;
    check_all(memcmp(first, on_host(array), array->bytes) == 0, "the sums differ");
    check_ok(redist_plan_free(&plan));
}

/* The bits of sums do not depend on the method, nor on which message is first. */
START_TEST(sums_are_the_same_bits) {
    NEEDS_ARRAYS();
    halo_case given = case_of_sums();
    size_t elements = elements_of(&given, &given.given.boxes[0][harness_rank]);
    test_array array = array_create(MPI_COMM_WORLD, MEMORY_SHARED, elements * sizeof(double));
    char *first = calloc(elements + 1, sizeof(double));
    int compared = 0;
    for (int i = 0; i < 2 * ghost_request_count(); i++)
        try_sums(&given, ghost_request_name(i / 2), &array, first, &compared);
    if (arrays_device() != NULL && stream_device_begin()) {
        given.enqueued = 1;
        given.stream = stream_device_create();
        for (int i = 0; i < ENQUEUING; i++)
            try_sums(&given, enqueuing[i], &array, first, &compared);
        stream_device_destroy(given.stream);
    }
    free(first);
    array_free(&array);
}
END_TEST

/* Arrays of boxes with ghosts, and of slabs along the other axis. */
struct moved {
    halo_case given;
    redist_box slab;
    test_array from, to;
};

static int plan_moved(struct moved *moved, const char *method, redist_plan **plan) {
    const exchange *of = &moved->given.given;
    const redist_options options = options_of(&moved->given, method, REDIST_OVERLAP_ADD);
    return redist_plan_boxes_around(MPI_COMM_WORLD, MPI_DOUBLE, 2, of->sizes, &moved->slab,
                                    moved->to.data, &of->boxes[0][of->rank], moved->from.data,
                                    &moved->given.halo, &options, plan);
}

/* The sums that an exchange of the ghosts alone makes, moved by another one. */
static void move_sums(struct moved *moved, const char *method) {
    const exchange *of = &moved->given.given;
    const redist_options options = options_of(&moved->given, method, REDIST_OVERLAP_REFUSED);
    redist_plan *sums = NULL, *move = NULL;
    check_ok(
        plan_of(&moved->given, MPI_DOUBLE, &moved->from, method, REDIST_OVERLAP_ADD, 0, &sums));
    check_ok(redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 2, of->sizes, &of->boxes[0][of->rank],
                               moved->from.data, &moved->slab, moved->to.data, &options, &move));
    fill_with_fractions(&moved->from);
    check_ok(redist_plan_execute(sums, REDIST_ACCUMULATE));
    check_ok(redist_plan_execute(move, REDIST_FORWARD));
    copy_from_device(&moved->to);
    check_ok(redist_plan_free(&sums));
    check_ok(redist_plan_free(&move));
}

/* Returns nonzero if the method does it, in one exchange: with the same bits, whatever was there before. */
static int compare_moved(struct moved *moved, const char *method, const char *expected) {
    redist_plan *plan = NULL;
    harness_case("method %s%s", method, moved->given.enqueued ? ", enqueued" : "");
    int code = plan_moved(moved, method, &plan);
    if (code == REDIST_ERR_METHOD)
        return 0;
    check_ok(code);
    for (int again = 0; again < 2; again++) {
        fill_with_fractions(&moved->from);
        fill_with_fractions(&moved->to);
        check_ok(redist_plan_execute(plan, REDIST_BACKWARD));
        if (moved->given.enqueued)
            stream_device_wait(moved->given.stream);
        copy_from_device(&moved->to);
        check_all(memcmp(expected, on_host(&moved->to), moved->to.bytes) == 0, "the sums differ");
    }
    check_ok(redist_plan_free(&plan));
    return 1;
}

/* Makes the slabs, without the array of the boxes. */
static struct moved begin_moved(void) {
    struct moved moved = {.given = case_of_sums(), .slab = REDIST_BOX_DEFAULT};
    redist_decompose(moved.given.given.sizes[1], harness_nranks, harness_rank, &moved.slab.count[1],
                     &moved.slab.start[1]);
    moved.slab.count[0] = moved.given.given.sizes[0];
    moved.to = array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                            (size_t)(moved.slab.count[0] * moved.slab.count[1]) * sizeof(double));
    return moved;
}

/* Ghosts are added on the way from boxes to others. */
START_TEST(sums_on_the_way) {
    NEEDS_ARRAYS();
    struct moved moved = begin_moved();
    const exchange *of = &moved.given.given;
    int compared = 0;
    moved.from = array_create(MPI_COMM_WORLD, MEMORY_SHARED,
                              elements_of(&moved.given, &of->boxes[0][of->rank]) * sizeof(double));
    char *expected = malloc(moved.to.bytes + 1);
    move_sums(&moved, "p2p");
    memcpy(expected, on_host(&moved.to), moved.to.bytes);
    for (int i = 0; i < ghost_request_count(); i++)
        compared += compare_moved(&moved, ghost_request_name(i), expected);
    check_all(compared >= 3, "by %d methods", compared);
    moved.given.enqueued = arrays_device() != NULL && stream_device_begin();
    for (int i = 0; i < ENQUEUING && moved.given.enqueued; i++) {
        moved.given.stream = stream_device_create();
        const int done = compare_moved(&moved, enqueuing[i], expected);
        check_all(done || strncmp(enqueuing[i], "axes", 4) == 0, "%s does not", enqueuing[i]);
        stream_device_destroy(moved.given.stream);
    }
    free(expected);
    array_free(&moved.from);
    array_free(&moved.to);
}
END_TEST

/* Fills the ghosts around the boxes on the way from the slabs. */
static void fill_moved(const struct moved *moved, const char *method) {
    const exchange *of = &moved->given.given;
    redist_options options = options_of(&moved->given, method, REDIST_OVERLAP_READ);
    redist_plan *plan = NULL;
    options.bind_b = REDIST_BIND_AT_EXECUTION;
    harness_case("method %s", method);
    check_ok(redist_plan_boxes_around(MPI_COMM_WORLD, MPI_DOUBLE, 2, of->sizes, &moved->slab,
                                      moved->to.data, &of->boxes[0][of->rank], NULL,
                                      &moved->given.halo, &options, &plan));
    memset(on_host(&moved->from), 0x7f, moved->from.bytes);
    copy_to_device(&moved->from);
    check_ok(redist_plan_execute_arrays(plan, REDIST_FORWARD, moved->to.data, moved->from.data));
    if (moved->given.enqueued)
        stream_device_wait(moved->given.stream);
    copy_from_device(&moved->from);
    check_ok(redist_plan_free(&plan));
}

/* In a stream they are read out of the array that peers know, into any. */
START_TEST(ghosts_on_the_way) {
    NEEDS_ARRAYS();
    if (arrays_device() == NULL || !stream_device_begin())
        skip_test("for a device of each rank");
    struct moved moved = begin_moved();
    moved.from = array_create(MPI_COMM_WORLD, MEMORY_PLAIN,
                              elements_of(&moved.given, &moved.given.given.boxes[0][harness_rank]) *
                                  sizeof(double));
    char *expected = malloc(moved.from.bytes + 1);
    fill_with_fractions(&moved.to);
    fill_moved(&moved, "p2p");
    memcpy(expected, on_host(&moved.from), moved.from.bytes);
    moved.given.enqueued = 1;
    moved.given.stream = stream_device_create();
    for (int i = 0; i < ENQUEUING; i++) {
        if (strncmp(enqueuing[i], "axes", 4) == 0)
            continue;
        fill_moved(&moved, enqueuing[i]);
        check_all(memcmp(expected, on_host(&moved.from), moved.from.bytes) == 0,
                  "boxes or ghosts differ");
    }
    stream_device_destroy(moved.given.stream);
    free(expected);
    array_free(&moved.from);
    array_free(&moved.to);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {blocks,
                                  bricks,
                                  operations,
                                  periodic_on_one_rank,
                                  wider_than_blocks,
                                  long_messages,
                                  several_times_around,
                                  extents_of_one,
                                  no_ghosts,
                                  no_elements,
                                  all_dimensions,
                                  fields,
                                  messages_along_axes,
                                  sums_are_the_same_bits,
                                  sums_on_the_way,
                                  ghosts_on_the_way,
                                  NULL};
    return halo_tests_run(argc, argv, "test_redist_halo", tests);
}
