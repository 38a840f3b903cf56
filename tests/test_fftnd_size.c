/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of the heap a plan takes, and whether it says so. */
#include <malloc.h>
#include <stdlib.h>

#include "fftnd.h"
#include "harness.h"
#include "redist_support.h"

static _Atomic size_t held;

static void *take(size_t bytes) {
    void *memory = malloc(bytes);
    held += memory != NULL ? malloc_usable_size(memory) : 0;
    return memory;
}

static void give(void *memory) {
    held -= memory != NULL ? malloc_usable_size(memory) : 0;
    free(memory);
}

/* Bytes of the heap, besides what the communicator keeps; and what the plan says. */
static size_t measure(const redist_index sizes[3], const fftnd_options *options,
                      fftnd_plan_info *info) {
    fftnd_plan *plan = NULL;
    size_t bytes = 0;
    for (int round = 0; round < 2; round++) {
        size_t before = held;
        check_ok(
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, options, &plan));
        bytes = held - before;
        check_ok(fftnd_plan_get_info(plan, info));
        check_ok(fftnd_plan_free(&plan));
    }
    return bytes;
}

START_TEST(small_plan) {
    const redist_index sizes[3] = {4, 5, 6};
    const size_t most = 16 << 10;
    for (int in_place = 0; in_place < 2; in_place++) {
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        options.effort = FFTND_ESTIMATE;
        options.in_place = in_place;
        size_t bytes = measure(sizes, &options, &info);
        check_all(bytes <= most, "%zu bytes", bytes);
    }
}
END_TEST

/* Whatever is large is work space or tiles, and a line is there once. */
START_TEST(long_lines) {
    const redist_index n = 1 << 19, sizes[3] = {1, 1, n};
    const size_t line = 16 * (size_t)n, rest = 256 << 10;
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    options.effort = FFTND_ESTIMATE;
    size_t bytes = measure(sizes, &options, &info);
    check_all(bytes <= info.scratch_bytes + rest, "%zu bytes, %zu of tiles", bytes,
              info.scratch_bytes);
    check_all(info.scratch_bytes <= line + rest, "%zu bytes of tiles", info.scratch_bytes);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {small_plan, long_lines, NULL};
    redist_set_allocator(take, give);
    return harness_run(argc, argv, "test_fftnd_size", tests);
}
