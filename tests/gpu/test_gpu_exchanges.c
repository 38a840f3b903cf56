/* SPDX-License-Identifier: BSD-3-Clause */
/* Every method on arrays of a device, staged and, if MPI takes them, not; every byte is compared. */
#include "device.h"
#include "exchanges.h"
#include "harness.h"

#include <string.h>

/* Both ways to hand arrays to MPI, as far as there are two. */
static void try_both(const exchange *given) {
    exchange_use_staging(REDIST_STAGING_ALWAYS);
    exchange_try_methods(given);
    exchange_use_staging(REDIST_STAGING_AUTO);
    if (device_mpi_is_aware())
        exchange_try_methods(given);
}

static void try_axes(int ndims, int most) {
    test_element element = element_create(random_between(0, copyable_element_count() - 1));
    int axes[REDIST_MAX_NDIMS];
    redist_index sizes[REDIST_MAX_NDIMS];
    random_sizes(ndims, 0, 40, most, sizes);
    random_permutation(ndims, axes);
    exchange given =
        exchange_between_axes(MPI_COMM_WORLD, &element, ndims, sizes, axes[0], axes[1]);
    try_both(&given);
    element_free(&element);
}

START_TEST(axes) {
    NEEDS_DEVICE();
    for (int i = 0; i < harness_cases(6); i++)
        try_axes(2 + i % 5, 20000);
}
END_TEST

/* ---------------------------------------------------------------- boxes */

/* A side split along one axis, in an order of its own, in padded local arrays. */
static void split_side(exchange *given, int side, int axis) {
    int order[EXCHANGE_MOST_RANKS];
    random_permutation(given->nranks, order);
    for (int rank = 0; rank < given->nranks; rank++) {
        redist_box *box = &given->boxes[side][rank];
        memcpy(box->count, given->sizes, sizeof(box->count));
        redist_decompose(given->sizes[axis], given->nranks, order[rank], &box->count[axis],
                         &box->start[axis]);
        for (int i = 0; i < given->ndims; i++) {
            box->offset[i] = random_between(0, 2);
            box->extent[i] = box->count[i] + box->offset[i] + random_between(0, 2);
        }
    }
}

START_TEST(boxes) {
    NEEDS_DEVICE();
    for (int i = 0; i < harness_cases(4); i++) {
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        int ndims = random_between(1, 4);
        redist_index sizes[REDIST_MAX_NDIMS];
        random_sizes(ndims, 1, 30, 6000, sizes);
        exchange given = exchange_between_boxes(MPI_COMM_WORLD, &element, ndims, sizes);
        given.is_complete = 1;
        for (int side = 0; side < 2; side++)
            split_side(&given, side, random_between(0, ndims - 1));
        try_both(&given);
        element_free(&element);
    }
}
END_TEST

/* Elements that cannot be copied as bytes go to an MPI that takes them, or nowhere. */
START_TEST(elements) {
    NEEDS_DEVICE();
    for (int i = 0; i < element_count(); i++) {
        test_element element = element_create(i);
        const redist_index sizes[3] = {7, 5, 9};
        exchange given =
            exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, i % 3, (i + 1) % 3);
        try_both(&given);
        element_free(&element);
    }
}
END_TEST

/* Rows long enough for the copy engines, in arrays of several megabytes. */
START_TEST(long_rows) {
    NEEDS_DEVICE();
    test_element element = element_create(copyable_element_count() > 1);
    const redist_index sizes[4] = {6, 40, 24, 130};
    for (int i = 0; i < 2; i++) {
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 4, sizes, 1 + i, i);
        try_both(&given);
    }
    element_free(&element);
}
END_TEST

/* ---------------------------------------------------------------- other memory */

/* By every method; whether `direct` takes memory that it has to map. */
static void try_memory(const test_device *device, int may_be_mapped) {
    test_element element = element_create(1);
    const redist_index sizes[3] = {9, 11, 8};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 1, 0);
    arrays_use(device);
    for (int i = 0; i < request_count(); i++) {
        exchange_way way = {request_name(i), {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
        test_array arrays[2];
        redist_plan *plan = NULL;
        exchange_say(&given, &way);
        exchange_arrays(&given, way.memory, arrays);
        int code = exchange_plan(&given, &way, arrays, &plan);
        int maps = !strncmp(way.method, "direct", 6) || !strncmp(way.method, "hier", 4) ||
                   strstr(way.method, "nccl") != NULL;
        check_all(code == REDIST_OK || (maps && code == REDIST_ERR_METHOD), "%s",
                  redist_error_message());
        check_all(harness_nranks == 1 || strncmp(way.method, "direct", 6) || !plan || may_be_mapped,
                  "%s took memory that nobody else can map", way.method);
        check_all(strcmp(way.method, "direct") || plan || !may_be_mapped, "%s",
                  redist_error_message());
        if (plan != NULL) {
            exchange_execute(&given, &way, arrays, plan, REDIST_FORWARD);
            exchange_execute(&given, &way, arrays, plan, REDIST_BACKWARD);
            check_ok(redist_plan_free(&plan));
        }
        exchange_free_arrays(arrays);
    }
    element_free(&element);
}

START_TEST(pools) {
    NEEDS_DEVICE();
    try_memory(&device_pool, 0);
    try_memory(&device_shared_pool, device_exports_pools());
}
END_TEST

START_TEST(virtual_memory) {
    NEEDS_DEVICE();
    try_memory(&device_virtual, 1);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {axes, boxes, elements, long_rows, pools, virtual_memory, NULL};
    return device_run(argc, argv, "test_gpu_exchanges", tests);
}
