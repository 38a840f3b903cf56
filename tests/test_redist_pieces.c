/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between devices in pieces: their number, and whose memory MPI is given, on a device that stands in for
 * CUDA. */
#include <string.h>

#include "../libredist/runtime/space.h"
#include "exchanges.h"
#include "harness.h"
#include "stream_device.h"

/* Bytes from which a message is one of data, the extent of an axis that makes it so long, and the kind of element. */
enum { LARGE = 1 << 16, LONG = 8192, DOUBLES = 2 };

/* ---------------------------------------------------------------- what MPI is given */

static int sends, sends_of_device;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request) {
    int size = 0;
    MPI_Type_size(type, &size);
    if ((long long)count * size >= LARGE) {
        sends++;
        sends_of_device += redist__space_of(buffer) == REDIST_SPACE_CUDA;
    }
    return PMPI_Isend(buffer, count, type, peer, tag, comm, request);
}

/* ---------------------------------------------------------------- whole arrays */

/* Parts of rows * 8 * LONG doubles: half a MiB for each of the `rows`. */
static exchange exchange_rows(const test_element *element, int rows) {
    const redist_index sizes[3] = {(redist_index)rows * harness_nranks,
                                   (redist_index)8 * harness_nranks, LONG};
    return exchange_between_axes(MPI_COMM_WORLD, element, 3, sizes, 1, 0);
}

static void check_sends(const char *method, enum redist_staging staging, int rows, int expected) {
    static const enum test_memory memory[2] = {MEMORY_PLAIN, MEMORY_PLAIN};
    const exchange_way way = {method, {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    int aware = staging == REDIST_STAGING_NEVER;
    test_element element = element_create(DOUBLES);
    test_array arrays[2];
    redist_plan *plan = NULL;
    exchange given = exchange_rows(&element, rows);
    exchange_arrays(&given, memory, arrays);
    exchange_use_staging(staging);
    exchange_say(&given, &way);
    check_ok(exchange_plan(&given, &way, arrays, &plan));
    for (int direction = 0; direction < 2; direction++) {
        sends = sends_of_device = 0;
        exchange_execute(&given, &way, arrays, plan, direction);
        check_all(sends == expected * (harness_nranks - 1), "%d messages, not %d for each peer",
                  sends, expected);
        check_all(sends_of_device == (aware ? sends : 0), "%d of %d messages were in a device",
                  sends_of_device, sends);
    }
    check_ok(redist_plan_free(&plan));
    exchange_use_staging(REDIST_STAGING_AUTO);
    exchange_free_arrays(arrays);
    element_free(&element);
}

START_TEST(number_of_pieces) {
    NEEDS_STREAM_DEVICE();
    for (int staging = REDIST_STAGING_ALWAYS; staging <= REDIST_STAGING_NEVER; staging++) {
        check_sends("p2p", (enum redist_staging)staging, 9, 2);
        check_sends("p2p-streams", (enum redist_staging)staging, 1, 1);
        check_sends("p2p:1m", (enum redist_staging)staging, 3, 2);
        check_sends("p2p:64m", (enum redist_staging)staging, 3, 1);
        check_sends("alltoallv", (enum redist_staging)staging, 1, 0);
    }
}
END_TEST

/* Shapes whose pieces have any number of rows, along axes of any order. */
START_TEST(random_pieces) {
    static const char *const methods[] = {"p2p:1m", "p2p", "p2p-streams"};
    NEEDS_STREAM_DEVICE();
    for (int i = 0; harness_another(i, 6); i++) {
        exchange_way way = random_way(methods[i % 3]);
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        int axis = random_between(0, 2), shift = random_between(1, 2);
        redist_index sizes[3];
        for (int k = 0; k < 3; k++)
            sizes[k] = random_between(1, 30);
        sizes[random_between(0, 2)] *= 12;
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, axis, (axis + shift) % 3);
        exchange_use_staging(random_chance(50) ? REDIST_STAGING_NEVER : REDIST_STAGING_AUTO);
        exchange_try(&given, 1, &way);
        exchange_use_staging(REDIST_STAGING_AUTO);
        element_free(&element);
    }
}
END_TEST

/* ---------------------------------------------------------------- segments */

enum { SEGMENTS = 4, PATIENCE = 20 };

/* Puts a segment of array A, of the last axis, and continues until its messages have left, or not. */
static void put_segment(redist_plan *plan, const redist_index sizes[3], double *a, int segment) {
    const redist_index length = sizes[2] / SEGMENTS, start[3] = {0, 0, segment * length},
                       count[3] = {sizes[0], sizes[1], length};
    const ptrdiff_t stride[3] = {(ptrdiff_t)(8 * sizes[1] * sizes[2]), (ptrdiff_t)(8 * sizes[2]),
                                 8};
    const double begin = MPI_Wtime();
    const int expected = (segment + 1) * (harness_nranks - 1);
    int code = redist_plan_put(plan, start, count, a + start[2], stride);
    while (code == REDIST_OK && sends < expected && MPI_Wtime() < begin + PATIENCE)
        code = redist_plan_put_progress(plan);
    check_all(code == REDIST_OK && sends == expected, "%d messages after segment %d, not %d (%s)",
              sends, segment, expected, redist_error_message());
}

START_TEST(leave_with_segments) {
    NEEDS_STREAM_DEVICE();
    const test_device *device = stream_device_memory();
    const redist_index n = harness_nranks, sizes_a[3] = {8, 8 * n, LONG / 2},
                       sizes_b[3] = {8 * n, 8, LONG / 2};
    const size_t bytes = sizeof(double) * (size_t)(64 * n * (LONG / 2));
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    double *a = device->allocate(MPI_COMM_WORLD, bytes, 0);
    double *b = device->allocate(MPI_COMM_WORLD, bytes, 0);
    options.method = "p2p";
    options.tiles = REDIST_PUT;
    options.segments = SEGMENTS;
    options.segment_axis = 2;
    check_ok(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, sizes_a, NULL, 1, sizes_b, b, 0,
                                  &options, &plan));
    check_ok(redist_plan_put_begin(plan, b));
    sends = 0;
    for (int segment = 0; segment < SEGMENTS; segment++)
        put_segment(plan, sizes_a, a, segment);
    check_ok(redist_plan_put_end(plan));
    check_ok(redist_plan_free(&plan));
    device->release(a, 0);
    device->release(b, 0);
}
END_TEST

/* ---------------------------------------------------------------- the host */

START_TEST(on_the_host) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    const redist_index sizes[2] = {8, 8};
    redist_plan *plan = NULL;
    redist_index own, start;
    double a[64] = {0}, b[64] = {0};
    redist_decompose(8, harness_nranks, harness_rank, &own, &start);
    const redist_index rows[2] = {own, sizes[1]}, columns[2] = {sizes[0], own};
    options.method = "p2p:1m";
    check_code(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, rows, a, 1, columns, b, 0,
                                    &options, &plan),
               REDIST_ERR_METHOD);
    options.method = "p2p";
    check_ok(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, rows, a, 1, columns, b, 0,
                                  &options, &plan));
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    check_ok(redist_plan_get_info(plan, &info));
    check_all(strcmp(info.method, "p2p") == 0, "method %s", info.method);
    check_ok(redist_plan_free(&plan));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {number_of_pieces, random_pieces, leave_with_segments, on_the_host,
                                  NULL};
    return harness_run(argc, argv, "test_redist_pieces", tests);
}
