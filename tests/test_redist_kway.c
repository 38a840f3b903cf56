/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Method kway on communicators of 1 to all ranks: right for every number of ranks and every k, at most
 * k - 1 messages in each of ceil(log_k P) stages. Messages are counted through MPI's profiling
 * interface; a stage ends with waiting for what it sent.
 */
#include <stdio.h>
#include <string.h>

#include "exchanges.h"
#include "harness.h"

static const int radices[] = {2, 3, 4, 5, 8, 16};
enum { RADICES = sizeof(radices) / sizeof(radices[0]) };

/* ---------------------------------------------------------------- counting */

static struct { int stages, sends, most_sends, total; } seen;

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    seen.sends++;
    seen.total++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

static void end_stage(void) {
    seen.stages += seen.sends != 0;
    seen.most_sends = seen.sends > seen.most_sends ? seen.sends : seen.most_sends;
    seen.sends = 0;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    end_stage();
    return PMPI_Waitall(count, requests, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    end_stage();
    return PMPI_Testall(count, requests, done, statuses);
}

static int stages_needed(int nranks, int k) {
    int stages = 0;
    for (int reached = 1; reached < nranks; reached *= k)
        stages++;
    return stages;
}

/* ---------------------------------------------------------------- parts of the world */

/* The first `size` ranks, and the others. */
static MPI_Comm split(int size) {
    MPI_Comm part;
    MPI_Comm_split(MPI_COMM_WORLD, harness_rank < size, harness_rank, &part);
    return part;
}

static void name_radix(int k, char name[], size_t bytes) {
    snprintf(name, bytes, "kway:%d", k);
}

static void try_random(MPI_Comm comm, int k) {
    char name[16];
    redist_index sizes[4];
    int axis = random_between(0, 3);
    test_element element = element_create(random_between(0, copyable_element_count() - 1));
    random_sizes(4, 1, 19, 1500, sizes);
    exchange given =
        exchange_between_axes(comm, &element, 4, sizes, axis, (axis + random_between(1, 3)) % 4);
    name_radix(k, name, sizeof(name));
    exchange_way way = random_way(name);
    exchange_try(&given, 1, &way);
    element_free(&element);
}

START_TEST(right_on_all_sizes) {
    for (int size = 1; size <= harness_nranks; size++) {
        MPI_Comm part = split(size);
        for (int i = 0; i < RADICES; i++)
            try_random(part, radices[i]);
        MPI_Comm_free(&part);
    }
}
END_TEST

/* Random boxes: parts of all sizes, most of them empty, so that blocks pass ranks that have nothing */
START_TEST(right_on_boxes) {
    for (int i = 0; harness_another(i, 4); i++) {
        char name[16];
        const redist_index sizes[1] = {random_between(1, 99)};
        test_element element = element_create(random_between(0, copyable_element_count() - 1));
        exchange given = exchange_between_boxes(MPI_COMM_WORLD, &element, 1, sizes);
        for (int side = 0; side < 2; side++)
            for (int rank = 0, start = 0; rank < given.nranks; rank++) {
                int place = side == 0 ? rank : given.nranks - 1 - rank;
                int left = (int)sizes[0] - start;
                int count = rank == given.nranks - 1 || random_chance(20) ? left
                            : random_chance(30)                           ? 0
                                                                          : random_between(0, left);
                given.boxes[side][place].start[0] = start;
                given.boxes[side][place].count[0] = count;
                start += count;
            }
        name_radix(radices[i % RADICES], name, sizeof(name));
        exchange_way way = random_way(name);
        exchange_try(&given, 1, &way);
        element_free(&element);
    }
}
END_TEST

/* ---------------------------------------------------------------- messages */

static void check_messages(const exchange *given, const exchange_way *way, int k, redist_plan *plan,
                           int direction) {
    int stages = stages_needed(given->nranks, k);
    memset(&seen, 0, sizeof(seen));
    int code = redist_plan_execute(plan, direction);
    int stages_seen = seen.stages, most = seen.most_sends, total = seen.total, left = seen.sends;
    exchange_say(given, way);
    check_ok(code);
    check_all(stages_seen == stages && left == 0, "%d stages on %d ranks, not %d", stages_seen,
              given->nranks, stages);
    check_all(most < k, "%d messages in a stage of k = %d", most, k);
    check_all(total <= stages * (k - 1) && total < (given->nranks > 1 ? given->nranks : 2),
              "%d messages on %d ranks", total, given->nranks);
}

static void count_messages(MPI_Comm comm, int k) {
    char name[16];
    test_array arrays[2];
    redist_plan *plan;
    test_element element = element_create(2);
    const redist_index sizes[2] = {EXCHANGE_MOST_RANKS, EXCHANGE_MOST_RANKS};
    exchange given = exchange_between_axes(comm, &element, 2, sizes, 0, 1);
    name_radix(k, name, sizeof(name));
    exchange_way way = {name, {MEMORY_PLAIN, MEMORY_PLAIN}, USE_EXECUTE};
    exchange_say(&given, &way);
    exchange_arrays(&given, way.memory, arrays);
    check_ok(exchange_plan(&given, &way, arrays, &plan));
    check_messages(&given, &way, k, plan, REDIST_FORWARD);
    check_messages(&given, &way, k, plan, REDIST_BACKWARD);
    check_ok(redist_plan_free(&plan));
    exchange_free_arrays(arrays);
    element_free(&element);
}

START_TEST(few_messages) {
    for (int size = 1; size <= harness_nranks; size++) {
        MPI_Comm part = split(size);
        for (int i = 0; i < RADICES; i++)
            count_messages(part, radices[i]);
        MPI_Comm_free(&part);
    }
}
END_TEST

/* The name alone, and a k above the number of ranks */
START_TEST(names) {
    static const char *const requests[] = {"kway", "kway:64", "kway:7"};
    for (int i = 0; i < 3; i++) {
        const redist_index sizes[3] = {9, 8, 7};
        test_element element = element_create(2);
        exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 2, 0);
        exchange_way way = random_way(requests[i]);
        exchange_try(&given, 1, &way);
        element_free(&element);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {right_on_all_sizes, right_on_boxes, few_messages, names, NULL};
    return harness_run(argc, argv, "test_redist_kway", tests);
}
