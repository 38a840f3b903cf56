/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals that do not fit 32 or 64 bits: carried, or refused with the same code on all ranks. The
 * arrays are address space without memory behind it, which a plan does not touch.
 */
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "exchanges.h"
#include "harness.h"

/* 16 GiB of addresses */
static const size_t space_bytes = (size_t)1 << 34;

static char *take_space(void) {
    char *space = mmap(NULL, space_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return space == MAP_FAILED ? NULL : space;
}

/* A plan for a 2-D array of the given extents, of which this rank holds parts in `space` */
static int plan_large(const char *method, MPI_Datatype type, const redist_index sizes[2],
                      char *space) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    redist_index sizes_a[2] = {sizes[0], 0}, sizes_b[2] = {0, sizes[1]}, start;
    options.method = method;
    options.effort = REDIST_ESTIMATE;
    redist_decompose(sizes[1], harness_nranks, harness_rank, &sizes_a[1], &start);
    redist_decompose(sizes[0], harness_nranks, harness_rank, &sizes_b[0], &start);
    int code =
        redist_plan_exchange(MPI_COMM_WORLD, type, 2, sizes_a, space, 0, sizes_b,
                             space == NULL ? NULL : space + space_bytes / 2, 1, &options, &plan);
    if (code == REDIST_OK)
        redist_plan_free(&plan);
    return code;
}

static int max_of(int here) {
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return here;
}

static void check_same(int code) {
    int highest = max_of(code);
    check_all(code == highest, "%s here, %s elsewhere", redist_error_name(code),
              redist_error_name(highest));
}

/* More than 2^31 one-byte elements to each peer: the methods that count elements in an MPI int refuse
 * by name, those that send one object of a datatype accept. */
START_TEST(parts_beyond_int) {
    static const char *const counting[] = {"alltoallv", "p2p", "kway"};
    static const char *const typed[] = {"alltoallw", "p2p-type"};
    char *space = take_space();
    const int rows = 65536 * harness_nranks;
    const redist_index sizes[2] = {rows, 40000 * harness_nranks};
    check_all(space != NULL, "no address space");
    if (harness_nranks == 1 || harness_nranks > 3) {
        munmap(space, space_bytes);
        skip_test("for 2 or 3 ranks");
    }
    for (int i = 0; i < 3; i++) {
        harness_case("%lldx%lld bytes, method %s", (long long)sizes[0], (long long)sizes[1],
                     counting[i]);
        int code = plan_large(counting[i], MPI_CHAR, sizes, space);
        check_same(code);
        check_all(code == REDIST_ERR_LIMIT, "%s: %s", redist_error_name(code),
                  redist_error_message());
        check_all(strstr(redist_error_message(), counting[i]) != NULL, "no method in: %s",
                  redist_error_message());
    }
    for (int i = 0; i < 2; i++) {
        harness_case("%lldx%lld bytes, method %s", (long long)sizes[0], (long long)sizes[1],
                     typed[i]);
        check_ok(plan_large(typed[i], MPI_CHAR, sizes, space));
    }
    munmap(space, space_bytes);
}
END_TEST

/* An axis with more than 2^31 elements: MPI's subarray datatypes cannot describe it, `direct` can. */
START_TEST(extents_beyond_int) {
    static const char *const typed[] = {"alltoallw", "p2p-type"};
    const redist_index sizes[2] = {2, (redist_index)(INT_MAX + 10LL)};
    char *space = take_space();
    check_all(space != NULL, "no address space");
    if (sizes[1] < 0 || harness_nranks > 2) {
        munmap(space, space_bytes);
        skip_test("for 1 or 2 ranks, and extents of 64 bits");
    }
    for (int i = 0; i < 2; i++) {
        harness_case("method %s", typed[i]);
        int code = plan_large(typed[i], MPI_CHAR, sizes, space);
        check_same(code);
        check_all(code == REDIST_ERR_LIMIT && strstr(redist_error_message(), "axis 1") != NULL,
                  "%s: %s", redist_error_name(code), redist_error_message());
    }
    if (harness_nranks == 1) { /* else it would stage the array in shared memory */
        harness_case("method direct");
        check_ok(plan_large("direct", MPI_CHAR, sizes, space));
    }
    munmap(space, space_bytes);
}
END_TEST

/* More bytes than size_t or the address space can count */
START_TEST(arrays_beyond_addresses) {
    static char nothing[16];
    for (int i = 0; i < request_count(); i++) {
        redist_options options = REDIST_OPTIONS_DEFAULT;
        redist_plan *plan = NULL;
        const redist_index sizes[4] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
        redist_index sizes_a[4], sizes_b[4], start;
        memcpy(sizes_a, sizes, sizeof(sizes));
        memcpy(sizes_b, sizes, sizeof(sizes));
        redist_decompose(INT_MAX, harness_nranks, harness_rank, &sizes_a[3], &start);
        redist_decompose(INT_MAX, harness_nranks, harness_rank, &sizes_b[0], &start);
        options.method = request_name(i);
        harness_case("method %s", options.method);
        check_code(redist_plan_exchange(MPI_COMM_WORLD, MPI_C_DOUBLE_COMPLEX, 4, sizes_a, nothing,
                                        0, sizes_b, nothing + 8, 3, &options, &plan),
                   REDIST_ERR_LIMIT);
        check_code(redist_exchange(MPI_COMM_WORLD, MPI_C_DOUBLE_COMPLEX, 4, sizes_a, nothing, 0,
                                   sizes_b, nothing + 8, 3),
                   REDIST_ERR_LIMIT);
    }
}
END_TEST

/* A box in a local array of such extents */
START_TEST(padding_beyond_addresses) {
    static char nothing[16];
    const redist_index sizes[3] = {2, 2, 2};
    redist_box box = {.size = sizeof(redist_box), .extent = {INT_MAX, INT_MAX, INT_MAX}};
    const redist_box empty = REDIST_BOX_DEFAULT;
    redist_plan *plan = NULL;
    if (harness_rank == harness_nranks - 1)
        box.count[0] = box.count[1] = box.count[2] = 2;
    else
        box = empty;
    check_code(redist_plan_boxes(MPI_COMM_WORLD, MPI_DOUBLE, 3, sizes, &box, nothing, &empty,
                                 nothing + 8, NULL, &plan),
               REDIST_ERR_LIMIT);
}
END_TEST

/* Extents whose product is 0 in 32 bits are no empty array. */
START_TEST(products_of_zero) {
    const redist_index sizes[2] = {65536, 65536};
    check_code(plan_large("alltoallw", MPI_CHAR, sizes, NULL), REDIST_ERR_NULL);
}
END_TEST

/* More memory than there is: an error on all ranks, or, where the system promises any memory, an array that
 * nobody touches; never a wait without end. The sanitizer needs allocator_may_return_null=1 for it. */
START_TEST(arrays_beyond_memory) {
    void *array = NULL;
    int code = redist_alloc(MPI_COMM_WORLD, (size_t)1 << 45, &array);
    check_all(code == REDIST_ERR_MEMORY || code == REDIST_OK, "%s", redist_error_name(code));
    check_all((array != NULL) == (code == REDIST_OK), "an array in spite of an error, or none");
    check_ok(redist_free(&array));
}
END_TEST

/* A rank that may not make the file behind shared memory: plain memory on all ranks, never a wait without end. */
START_TEST(arrays_beyond_files) {
    struct rlimit before, small;
    void *array = NULL;
    check_all(getrlimit(RLIMIT_FSIZE, &before) == 0, "getrlimit");
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 1 << 16;
    if (harness_rank == 0)
        setrlimit(RLIMIT_FSIZE, &small);
    int code = redist_alloc(MPI_COMM_WORLD, 1 << 20, &array);
    setrlimit(RLIMIT_FSIZE, &before);
    check_ok(code);
    memset(array, 1, 1 << 20);
    check_ok(redist_free(&array));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {
        parts_beyond_int, extents_beyond_int,   arrays_beyond_addresses, padding_beyond_addresses,
        products_of_zero, arrays_beyond_memory, arrays_beyond_files,     NULL};
    return harness_run(argc, argv, "test_redist_limits", tests);
}
