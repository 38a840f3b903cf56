/* SPDX-License-Identifier: BSD-3-Clause */
/* redist_alloc_local: memory of one process that its peers map when a plan meets it, and for how long they do; and that
 * no two arrays of redist_alloc are mixed up. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchanges.h"
#include "harness.h"
#include "redist_support.h"

static void *of_before; /* allocated before MPI_Init */

/* ---------------------------------------------------------------- what the system says */

#define FILE_NAME "memfd:redist_alloc_local"

/* Mappings of memory files in this process. */
static int count_mappings(void) {
    char line[1024];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, FILE_NAME) != NULL;
    if (maps != NULL)
        fclose(maps);
    return count;
}

/* Bytes of this process's memory file; files that are open too, in *count. */
static long long file_bytes(int *count) {
    char name[64], target[256];
    struct stat status;
    long long bytes = 0;
    *count = 0;
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
        ssize_t length = readlink(name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        if (strstr(target, FILE_NAME) == NULL || stat(name, &status) != 0)
            continue;
        bytes += (long long)status.st_blocks * 512;
        ++*count;
    }
    return bytes;
}

/* ---------------------------------------------------------------- keys of arrays */

/* While this is set, all arrays of redist_alloc get the key of the first one: a rank tells it to the others of its
 * node. Keys come from numbers of processes, and only chance makes two of them equal. */
static int repeats_keys;
static uint64_t first_key;

/* In the place of the library's. */
int redist_broadcast(MPI_Comm comm, void *data, size_t bytes, int root) {
    int (*broadcast)(MPI_Comm comm, void *data, size_t bytes, int root);
    *(void **)&broadcast = dlsym(RTLD_NEXT, "redist_broadcast");
    int code = broadcast(comm, data, bytes, root);
    if (!repeats_keys || bytes != sizeof first_key)
        return code;
    if (first_key == 0)
        memcpy(&first_key, data, sizeof first_key);
    memcpy(data, &first_key, sizeof first_key);
    return code;
}

/* ---------------------------------------------------------------- one process */

START_TEST(arrays_are_of_one_process) {
    void *array = NULL;
    check_all(of_before != NULL && ((char *)of_before)[999] == 'x', "not there before MPI_Init");
    check_code(redist_alloc_local(1, NULL), REDIST_ERR_NULL);
    check_code(redist_alloc_local((size_t)1 << 50, &array), REDIST_ERR_LIMIT);
    int code = REDIST_OK, zero = 1;
    for (int i = 0; i <= harness_rank && code == REDIST_OK; i++) { /* not as often everywhere */
        code = redist_alloc_local((size_t)i * 70000, &array);
        for (size_t byte = 0; code == REDIST_OK && byte < (size_t)i * 70000; byte++)
            zero &= ((char *)array)[byte] == 0;
        if (code == REDIST_OK && (uintptr_t)array % 64 != 0)
            code = REDIST_ERR_ARGUMENT;
        if (code == REDIST_OK)
            code = redist_free(&array);
    }
    check_ok(code);
    check_all(zero && array == NULL, "not zeroed, or not freed");
    check_ok(redist_alloc_local(100, &array));
    check_all(redist_is_mappable(REDIST_SPACE_HOST, array, 100), "peers cannot map it");
    check_all(!redist_is_mappable(REDIST_SPACE_HOST, array, 1 << 20), "beyond its end");
    void *inside = (char *)array + 64, *outside = &code;
    check_code(redist_free(&inside), REDIST_ERR_STATE);
    check_code(redist_free(&outside), REDIST_ERR_STATE);
    check_ok(redist_free(&array));
}
END_TEST

/* A child has arrays of its own, and frees what it inherits without harm to the parent. */
START_TEST(children_leave_it_alone) {
    char *array = NULL;
    check_ok(redist_alloc_local(5000, (void **)&array));
    memset(array, 'p', 5000);
    pid_t child = fork();
    if (child == 0) {
        void *inherited = array, *own = NULL;
        int wrong = redist_is_mappable(REDIST_SPACE_HOST, array, 1) != 1;
        wrong |= redist_alloc_local(5000, &own) != REDIST_OK;
        memset(own, 'c', 5000);
        wrong |= redist_free(&own) != REDIST_OK || redist_free(&inherited) != REDIST_OK;
        _exit(wrong);
    }
    int status = -1;
    waitpid(child, &status, 0);
    check_all(status == 0 && array[0] == 'p' && array[4999] == 'p', "status %d, '%c'", status,
              array[0]);
    check_ok(redist_free((void **)&array));
}
END_TEST

/* ---------------------------------------------------------------- peers */

static const redist_index sizes[] = {24, 25, 26};

/* push-cached is a candidate only where both arrays are mapped. */
START_TEST(direct_serves_them) {
    test_element element = element_create(2);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    static const exchange_way ways[] = {
        {"direct:push-cached", {MEMORY_LOCAL, MEMORY_LOCAL}, USE_EXECUTE},
        {"direct:push-cached", {MEMORY_LOCAL, MEMORY_SHARED}, USE_START},
        {"direct:push-cached", {MEMORY_INSIDE, MEMORY_LOCAL}, USE_OTHER_ARRAYS},
        {"direct", {MEMORY_LOCAL, MEMORY_PLAIN}, USE_LATER},
        {"auto", {MEMORY_LOCAL, MEMORY_LOCAL}, USE_LATER}};
    exchange_try(&given, sizeof ways / sizeof ways[0], ways);
    element_free(&element);
}
END_TEST

enum { BYTES = 1 << 20 };

/* A plan that moves BYTES from each rank to the next, between arrays bound at execution. */
static redist_plan *plan_shift(MPI_Comm comm) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_box a = REDIST_BOX_DEFAULT, b = REDIST_BOX_DEFAULT;
    redist_plan *plan = NULL;
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const redist_index all = (redist_index)size * BYTES;
    a.start[0] = (redist_index)rank * BYTES;
    b.start[0] = (redist_index)((rank + 1) % size) * BYTES;
    a.count[0] = b.count[0] = BYTES;
    options.method = "direct";
    options.bind_a = options.bind_b = REDIST_BIND_AT_EXECUTION_MAPPED;
    check_ok(redist_plan_boxes(comm, MPI_BYTE, 1, &all, &a, NULL, &b, NULL, &options, &plan));
    return plan;
}

static void check_shift(redist_plan *plan, char *a, char *b) {
    memset(a, harness_rank + 1, BYTES);
    check_ok(redist_plan_execute_arrays(plan, REDIST_FORWARD, a, b));
    int expected = (harness_rank + 1) % harness_nranks + 1;
    check_all(b[0] == expected && b[BYTES - 1] == expected, "%d and %d, not %d", b[0], b[BYTES - 1],
              expected);
}

/* Peers' memory is the system's again when they free it, though the plan still has it mapped; the mapping goes when
 * the plan maps another array, or is freed. */
START_TEST(nothing_outlives_its_array) {
    int files, more;
    char *arrays[2];
    int mappings = count_mappings();
    long long before = file_bytes(&files);
    redist_plan *plan = plan_shift(MPI_COMM_WORLD);
    for (int i = 0; i < 6; i++) {
        check_ok(redist_alloc_local(BYTES, (void **)&arrays[0]));
        check_ok(redist_alloc_local(BYTES, (void **)&arrays[1]));
        check_shift(plan, arrays[0], arrays[1]);
        long long now = file_bytes(&more);
        check_all(now >= before + 2 * BYTES && more == files, "%lld bytes, %d files", now, more);
        PMPI_Barrier(MPI_COMM_WORLD);
        check_ok(redist_free((void **)&arrays[0]));
        check_ok(redist_free((void **)&arrays[1]));
        now = file_bytes(&more);
        check_all(now < before + BYTES / 2, "%lld bytes more are left", now - before);
        check_all(count_mappings() <= mappings + 2, "%d mappings", count_mappings());
        PMPI_Barrier(MPI_COMM_WORLD);
    }
    check_ok(redist_plan_free(&plan));
    check_all(count_mappings() == mappings, "%d mappings are left", count_mappings() - mappings);
}
END_TEST

/* Two plans use the same mapping. */
START_TEST(plans_share_mappings) {
    char *arrays[2];
    check_ok(redist_alloc_local(BYTES, (void **)&arrays[0]));
    check_ok(redist_alloc_local(BYTES, (void **)&arrays[1]));
    int mappings = count_mappings(), most = mappings + 2;
    redist_plan *first = plan_shift(MPI_COMM_WORLD), *second = plan_shift(MPI_COMM_WORLD);
    check_shift(first, arrays[0], arrays[1]);
    check_shift(second, arrays[0], arrays[1]);
    check_all(count_mappings() <= most, "%d mappings", count_mappings() - mappings);
    check_ok(redist_plan_free(&first));
    check_shift(second, arrays[0], arrays[1]);
    check_ok(redist_plan_free(&second));
    check_all(count_mappings() == mappings, "%d mappings are left", count_mappings() - mappings);
    check_ok(redist_free((void **)&arrays[0]));
    check_ok(redist_free((void **)&arrays[1]));
}
END_TEST

/* An array whose key is another one's is memory that peers cannot map, and takes nothing from that one. */
START_TEST(equal_keys_mix_no_arrays) {
    char *arrays[2] = {NULL, NULL}, *third = NULL;
    redist_plan *plan = plan_shift(MPI_COMM_WORLD);
    repeats_keys = 1;
    check_ok(redist_alloc(MPI_COMM_WORLD, BYTES, (void **)&arrays[0]));
    check_ok(redist_alloc(MPI_COMM_WORLD, BYTES, (void **)&third));
    repeats_keys = 0;
    check_ok(redist_alloc(MPI_COMM_WORLD, BYTES, (void **)&arrays[1]));
    check_all(first_key != 0 && redist_is_mappable(REDIST_SPACE_HOST, arrays[0], BYTES), "no key");
    check_all(!redist_is_mappable(REDIST_SPACE_HOST, third, BYTES), "two arrays, one key");
    memset(third, 'x', BYTES);
    check_ok(redist_free((void **)&third));
    check_shift(plan, arrays[0], arrays[1]);
    check_ok(redist_plan_free(&plan));
    check_ok(redist_free((void **)&arrays[0]));
    check_ok(redist_free((void **)&arrays[1]));
}
END_TEST

/* Where one rank cannot open its peers' files, a new plan counts such memory as plain, and one that was made before
 * goes on; one that was promised mapped arrays takes it all the same. The last test: redist_is_mappable says so from
 * then on. */
START_TEST(unreachable_memory_is_plain) {
    char *arrays[2];
    const redist_index all = (redist_index)harness_nranks * BYTES;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_box box = REDIST_BOX_DEFAULT;
    redist_plan *plan = NULL;
    struct rlimit limit, none;
    check_ok(redist_alloc_local(BYTES, (void **)&arrays[0]));
    check_ok(redist_alloc_local(BYTES, (void **)&arrays[1]));
    redist_plan *before = plan_shift(MPI_COMM_WORLD);
    box.start[0] = (redist_index)harness_rank * BYTES;
    box.count[0] = BYTES;
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 3;
    if (harness_rank == 0)
        setrlimit(RLIMIT_NOFILE, &none);
    options.method = "direct:push-cached";
    int at_plan = redist_plan_boxes(MPI_COMM_WORLD, MPI_BYTE, 1, &all, &box, arrays[0], &box,
                                    arrays[1], &options, &plan);
    if (at_plan == REDIST_OK)
        redist_plan_free(&plan);
    redist_plan *later = plan_shift(MPI_COMM_WORLD);
    setrlimit(RLIMIT_NOFILE, &limit);
    int alone = harness_nranks == 1;
    check_code(at_plan, alone ? REDIST_OK : REDIST_ERR_METHOD);
    check_all(redist_is_mappable(REDIST_SPACE_HOST, arrays[0], 1) == alone, "still mappable");
    check_shift(later, arrays[0], arrays[1]);
    check_shift(before, arrays[0], arrays[1]);
    check_ok(redist_plan_free(&before));
    check_ok(redist_plan_free(&later));
    check_ok(redist_free((void **)&arrays[0]));
    check_ok(redist_free((void **)&arrays[1]));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {arrays_are_of_one_process,   children_leave_it_alone,
                                  direct_serves_them,          nothing_outlives_its_array,
                                  plans_share_mappings,        equal_keys_mix_no_arrays,
                                  unreachable_memory_is_plain, NULL};
    if (redist_alloc_local(1000, &of_before) != REDIST_OK)
        of_before = NULL;
    else
        memset(of_before, 'x', 1000);
    int status = harness_run(argc, argv, "test_redist_local", tests);
    return redist_free(&of_before) == REDIST_OK ? status : EXIT_FAILURE;
}
