/* SPDX-License-Identifier: BSD-3-Clause */
/* Methods that fail while they are measured, or cannot be measured: there is a plan, it is right, and what
 * failed is neither chosen nor remembered. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives.h"
#include "exchanges.h"
#include "harness.h"
#include "redist_support.h"

enum { NAME_BYTES = 100 };

static const redist_index sizes[3] = {36, 32, 40};
static char file[NAME_BYTES];

/* ---------------------------------------------------------------- memory that runs out */

/* From this many bytes on there is no memory; 0 = there is. */
static size_t too_many;

static void *allocate(size_t bytes) {
    return too_many != 0 && bytes >= too_many ? NULL : malloc(bytes);
}

static int is_victim(int victim) {
    return victim == harness_nranks || victim == harness_rank;
}

/* ---------------------------------------------------------------- what was remembered */

static void begin(void) {
    snprintf(file, sizeof file, "contest-wisdom-%d", (int)getpid());
    MPI_Bcast(file, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("REDIST_WISDOM", file, 1);
    redist_forget_wisdom();
}

/* The file's lines that end with a word ("" = all) but for the heading. */
static int count_lines(const char *word) {
    char line[1000];
    int count = 0;
    FILE *stream = harness_rank == 0 ? fopen(file, "r") : NULL;
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\n")] = 0;
        size_t length = strlen(line), end = strlen(word);
        count += strncmp(line, "redist-wisdom", 13) != 0 && length >= end &&
                 strcmp(line + length - end, word) == 0;
    }
    if (stream != NULL)
        fclose(stream);
    MPI_Bcast(&count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return count;
}

static void end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    unsetenv("REDIST_WISDOM");
    redist_forget_wisdom();
    if (harness_rank == 0)
        remove(file);
}

/* Makes a plan while things fail, and uses it when they do not any more. */
static void check_plan(const enum test_memory memory[2], size_t bytes, int error) {
    test_element element = element_create(4);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    exchange_way way = {"auto", {memory[0], memory[1]}, USE_EXECUTE};
    test_array arrays[2];
    redist_plan *plan = NULL;
    redist_plan_info info = REDIST_PLAN_INFO_DEFAULT;
    exchange_arrays(&given, memory, arrays);
    too_many = bytes;
    collectives_until_error = error;
    int code = exchange_plan(&given, &way, arrays, &plan);
    too_many = 0;
    collectives_until_error = 0;
    check_ok(code);
    check_ok(redist_plan_get_info(plan, &info));
    int failing = error != 0;
    MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check_all(!failing || strcmp(info.method, "alltoallw") != 0, "%s has failed", info.method);
    exchange_execute(&given, &way, arrays, plan, REDIST_FORWARD);
    exchange_execute(&given, &way, arrays, plan, REDIST_BACKWARD);
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
    element_free(&element);
}

/* ---------------------------------------------------------------- tests */

/* No memory for arrays to measure in, nor for messages: on all ranks, or on one */
START_TEST(no_memory_to_measure_in) {
    const enum test_memory plain[2] = {MEMORY_PLAIN, MEMORY_PLAIN};
    size_t bytes = 16 * 36 * 32 * 40 / (2 * (size_t)harness_nranks);
    for (int victim = 0; victim <= harness_nranks; victim++) {
        begin();
        harness_case("no memory on rank %d", victim);
        check_plan(plain, is_victim(victim) ? bytes : 0, 0);
        check_all(count_lines("") == 0, "something was remembered");
        check_plan(plain, 0, 0);
        check_all(count_lines("") == 1, "nothing was remembered");
        end();
    }
}
END_TEST

/* A call of MPI_Ialltoallw fails on all ranks: the methods that make it drop out. */
START_TEST(failing_method) {
    const enum test_memory shared[2] = {MEMORY_SHARED, MEMORY_SHARED};
    for (int fails = 0; fails < 2; fails++) {
        begin();
        harness_case("errors %d", fails);
        check_plan(shared, 0, fails);
        check_all(count_lines("") == 1, "nothing was remembered");
        check_all(!fails || count_lines("alltoallw") == 0, "what failed was remembered");
        end();
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {no_memory_to_measure_in, failing_method, NULL};
    redist_set_allocator(allocate, free);
    return harness_run(argc, argv, "test_redist_contest", tests);
}
