/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared memory that cannot be had, for whatever reason, on one rank or on all: plans that were promised mapped arrays
 * take what redist_alloc hands out instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fftnd.h"
#include "fftnd_operators.h"
#include "harness.h"

/* ---------------------------------------------------------------- what the system refuses */

enum refused { MEMFD, SOCKET, SEND, RECEIVE, MAP, PAGES, FILE_SIZE, REFUSALS };
static const char *const names[] = {"memfd_create", "socket",          "sendmsg",  "recvmsg",
                                    "mmap",         "posix_fallocate", "ulimit -f"};
static _Thread_local int refused = -1; /* MPI's own threads go on */

static int is_refused(enum refused call, int error) {
    if (refused == (int)call)
        errno = error;
    return refused == (int)call;
}

/* In the place of the C library's. */
int memfd_create(const char *name, unsigned flags) {
    return is_refused(MEMFD, ENOSYS) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int socket(int domain, int type, int protocol) {
    return is_refused(SOCKET, EMFILE) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags) {
    return is_refused(SEND, ETOOMANYREFS) ? -1 : syscall(SYS_sendmsg, descriptor, message, flags);
}

ssize_t recvmsg(int descriptor, struct msghdr *message, int flags) {
    return is_refused(RECEIVE, EAGAIN) ? -1 : syscall(SYS_recvmsg, descriptor, message, flags);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset) {
    if (descriptor >= 0 && (flags & MAP_SHARED) && is_refused(MAP, ENOMEM))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);
}

int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
    if (is_refused(PAGES, ENOSPC))
        return ENOSPC;
    return syscall(SYS_fallocate, descriptor, 0, offset, bytes) == 0 ? 0 : errno;
}

static void limit_files(rlim_t bytes) {
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int expected = 1; /* arrays are mapped */

static int node_size; /* imitated; 0 = one node */

/* Whether a refusal on this rank leaves its node without shared memory: the first rank of a node sends a file, which
 * the others receive, and a rank alone on its node needs none. */
static int matters(int call, int rank) {
    int size = node_size > 0 ? node_size : harness_nranks, first = rank % size == 0;
    int is_alone = first && rank == harness_nranks - 1;
    return !is_alone && (call == SEND || call == MEMFD ? first : call != RECEIVE || !first);
}

/* victim == harness_nranks: all */
static void refuse(int call, int victim) {
    expected = 1;
    for (int rank = 0; rank < harness_nranks; rank++)
        if (victim == rank || victim == harness_nranks)
            expected &= !matters(call, rank);
    if (victim != harness_rank && victim != harness_nranks)
        return;
    refused = call;
    if (call == FILE_SIZE)
        limit_files(1 << 12);
}

static void allow(void) {
    expected = 1;
    refused = -1;
    limit_files(RLIM_INFINITY);
}

/* ---------------------------------------------------------------- arrays */

/* Whether the array is mapped is the same on all ranks. */
static void alloc(size_t bytes, void **array) {
    int mappable = -1;
    check_ok(redist_alloc(MPI_COMM_WORLD, bytes, array));
    check_ok(redist_alloc_info(*array, &mappable));
    int extremes[2] = {mappable, -mappable};
    MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check_all(extremes[0] == -extremes[1], "mappable on some ranks only");
    check_all(mappable == expected, "mappable is %d", mappable);
}

static void fill(double *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        values[i] = (double)((i * 7919 + (size_t)harness_rank * 104729) % 1000);
}

/* Largest difference to what fill gave, divided by `scale`. */
static double difference(const double *values, size_t n, double scale) {
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double wanted = (double)((i * 7919 + (size_t)harness_rank * 104729) % 1000);
        double gap = values[i] / scale - wanted;
        most = gap > most ? gap : -gap > most ? -gap : most;
    }
    return most;
}

/* ---------------------------------------------------------------- exchanges */

struct exchange {
    redist_index sizes_a[2], sizes_b[2];
    size_t n;
    redist_plan *plan;
};

static void plan_exchange(struct exchange *exchange, enum redist_tiles tiles, int skips) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_index p = harness_nranks;
    options.effort = REDIST_ESTIMATE;
    options.bind_a = options.bind_b = REDIST_BIND_AT_EXECUTION_MAPPED;
    options.tiles = tiles;
    options.skip_agreement = skips;
    *exchange = (struct exchange){{4, 6 * p}, {4 * p, 6}, (size_t)(24 * p), NULL};
    check_ok(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 2, exchange->sizes_a, NULL, 1,
                                  exchange->sizes_b, NULL, 0, &options, &exchange->plan));
}

/* Forward in tiles, else there and back. */
static void run_exchange(const struct exchange *exchange, enum redist_tiles tiles, void *a,
                         void *b) {
    const redist_index start[2] = {0, 0};
    const ptrdiff_t strides[2][2] = {{8 * exchange->sizes_a[1], 8}, {8 * exchange->sizes_b[1], 8}};
    if (tiles == REDIST_PUT) {
        check_ok(redist_plan_put_begin(exchange->plan, b));
        check_ok(redist_plan_put(exchange->plan, start, exchange->sizes_a, a, strides[0]));
        check_ok(redist_plan_put_end(exchange->plan));
    } else if (tiles == REDIST_GET) {
        check_ok(redist_plan_get_begin(exchange->plan, a));
        check_ok(redist_plan_get(exchange->plan, start, exchange->sizes_b, b, strides[1]));
        check_ok(redist_plan_get_end(exchange->plan));
    } else
        check_ok(redist_plan_execute_arrays(exchange->plan, REDIST_FORWARD, a, b));
}

/* The plan is made before the system refuses anything, or after; another plan is the way back. */
static void check_exchange(int call, int victim, enum redist_tiles tiles, int skips, int late) {
    struct exchange forth, back;
    void *a = NULL, *b = NULL;
    if (late)
        refuse(call, victim);
    plan_exchange(&forth, tiles, skips);
    plan_exchange(&back, REDIST_WHOLE, 0);
    refuse(call, victim);
    alloc(forth.n * sizeof(double), &a);
    alloc(forth.n * sizeof(double), &b);
    for (int round = 0; round < 2; round++) {
        fill(a, forth.n);
        memset(b, 0, forth.n * sizeof(double));
        run_exchange(&forth, tiles, a, b);
        memset(a, 0, forth.n * sizeof(double));
        check_ok(redist_plan_execute_arrays(back.plan, REDIST_BACKWARD, a, b));
        double gap = difference(a, forth.n, 1);
        check_all(gap == 0, "%g away", gap);
    }
    allow();
    check_ok(redist_plan_free(&forth.plan));
    check_ok(redist_plan_free(&back.plan));
    check_ok(redist_free(&a));
    check_ok(redist_free(&b));
}

START_TEST(exchanges) {
    for (int i = 0; i < REFUSALS * (harness_nranks + 1) * 3 * 4; i++) {
        int call = i % REFUSALS, victim = i / REFUSALS % (harness_nranks + 1),
            use = i / REFUSALS / (harness_nranks + 1), skips = use / 3 & 1, late = use / 6;
        harness_case("%s fails on rank %d, tiles %d, skips %d, late %d", names[call], victim,
                     use % 3, skips, late);
        check_exchange(call, victim, (enum redist_tiles)(use % 3), skips, late);
    }
}
END_TEST

/* ---------------------------------------------------------------- transforms */

static void check_transform(int call, int victim, const fftnd_options *options, int late) {
    const redist_index sizes[3] = {12, 10, 8};
    const double product = 12.0 * 10 * 8;
    fftnd_plan *plan = NULL;
    fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    void *arrays[2] = {NULL, NULL}, *work = NULL;
    if (late)
        refuse(call, victim);
    check_ok(fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, options, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    if (options->user_workspace) {
        check_ok(redist_alloc(MPI_COMM_WORLD, info.workspace_bytes, &work));
        check_ok(fftnd_plan_set_workspace(plan, work, info.workspace_bytes));
    }
    refuse(call, victim);
    for (int side = 0; side < 2; side++) {
        check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &layouts[side]));
        alloc(layouts[side].bytes, &arrays[side]);
    }
    void *spectral = arrays[!options->in_place];
    redist_index elements = layouts[0].count[0] * layouts[0].count[1] * layouts[0].count[2];
    for (int round = 0; round < 2; round++) {
        fill(arrays[0], 2 * (size_t)elements);
        check_ok(fftnd_forward(plan, arrays[0], spectral));
        check_ok(fftnd_start(plan, REDIST_BACKWARD, spectral, arrays[0]));
        check_ok(fftnd_wait(plan));
        double gap = difference(arrays[0], 2 * (size_t)elements, product);
        check_all(gap < 1e-9, "%g away", gap);
    }
    allow();
    check_ok(fftnd_plan_free(&plan));
    for (int side = 0; side < 2; side++)
        check_ok(redist_free(&arrays[side]));
    check_ok(redist_free(&work));
}

START_TEST(transforms) {
    for (int i = 0; i < REFUSALS * (harness_nranks + 1) * 6; i++) {
        int call = i % REFUSALS, victim = i / REFUSALS % (harness_nranks + 1),
            use = i / REFUSALS / (harness_nranks + 1);
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        options.effort = FFTND_ESTIMATE;
        options.scaling = FFTND_SCALE_NONE;
        options.mapped_arrays = 1;
        options.skip_agreement = use == 1;
        options.overwrite_input = use == 2 || use == 3;
        options.in_place = use == 3;
        options.user_workspace = use == 4;
        options.fusion = use == 2 ? FFTND_FUSION_ALWAYS : FFTND_FUSION_AUTO;
        harness_case("%s fails on rank %d, use %d", names[call], victim, use);
        check_transform(call, victim, &options, use == 5);
    }
}
END_TEST

/* Runs the plan there and back. */
static void check_round_trip(fftnd_plan *plan, const fftnd_layout layouts[2], void *points,
                             void *modes) {
    const size_t n = layouts[0].bytes / sizeof(double);
    fill(points, n);
    check_ok(fftnd_forward(plan, points, modes));
    memset(points, 0, layouts[0].bytes);
    check_ok(fftnd_backward(plan, modes, points));
    const double gap = difference(points, n, 1);
    check_all(gap < 1e-9, "%g away", gap);
}

/* Several parts, and an array of the operator's own; the plan takes other work space while the operator has arrays in
 * the first, or later. */
START_TEST(operators) {
    const redist_index sizes[3] = {12, 10, 8};
    for (int call = 0; call < REFUSALS; call++) {
        fftnd_options options = FFTND_OPTIONS_DEFAULT;
        fftnd_plan *plan = NULL;
        fftnd_operator *op = NULL;
        fftnd_layout layouts[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
        fftnd_layout sides[2] = {FFTND_LAYOUT_DEFAULT, FFTND_LAYOUT_DEFAULT};
        void *arrays[4] = {NULL, NULL, NULL, NULL};
        options.effort = FFTND_ESTIMATE;
        options.mapped_arrays = 1;
        harness_case("%s fails on all ranks", names[call]);
        check_ok(
            fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_R2C, FFTND_DOUBLE, &options, &plan));
        check_ok(fftnd_operator_create(plan, FFTND_CURL, NULL, &op));
        for (int side = 0; side < 2; side++) {
            check_ok(fftnd_operator_layout(op, side, &layouts[side]));
            check_ok(fftnd_plan_layout(plan, (enum fftnd_side)side, &sides[side]));
        }
        refuse(call, harness_nranks);
        for (int side = 0; side < 2; side++) {
            alloc(layouts[side].bytes, &arrays[side]);
            memset(arrays[side], side, layouts[side].bytes);
            alloc(sides[side].bytes, &arrays[2 + side]);
        }
        for (int round = 0; round < 3; round++)
            if ((round + call) % 2)
                check_round_trip(plan, sides, arrays[2], arrays[3]);
            else
                check_ok(fftnd_apply(plan, op, arrays[0], arrays[1]));
        double most = 0;
        for (size_t i = 0; i < layouts[1].bytes / sizeof(double); i++)
            most = ((double *)arrays[1])[i] > most ? ((double *)arrays[1])[i] : most;
        check_all(most == 0, "the curl of nothing is %g", most);
        allow();
        check_ok(fftnd_operator_free(&op));
        check_ok(fftnd_plan_free(&plan));
        for (int i = 0; i < 4; i++)
            check_ok(redist_free(&arrays[i]));
    }
}
END_TEST

/* What is not from the library is an error as before. */
START_TEST(questions) {
    int mappable = -1;
    void *array = NULL;
    check_code(redist_alloc_info(NULL, &mappable), REDIST_ERR_NULL);
    check_code(redist_alloc_info(&mappable, &mappable), REDIST_ERR_STATE);
    check_ok(redist_alloc(MPI_COMM_WORLD, 1000, &array));
    check_code(redist_alloc_info(array, NULL), REDIST_ERR_NULL);
    check_ok(redist_alloc_info((char *)array + 999, &mappable));
    check_all(mappable == 1, "not mappable");
    check_ok(redist_free(&array));
    check_ok(redist_alloc_local(1000, &array));
    check_ok(redist_alloc_info(array, &mappable));
    check_all(mappable == 1, "not mappable");
    check_ok(redist_free(&array));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {questions, exchanges, transforms, operators, NULL};
    signal(SIGXFSZ, SIG_DFL);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0) {
        node_size = 2;
        setenv("REDIST_NODE_SIZE", "2", 1);
    }
    return harness_run(argc, argv, "test_fftnd_plain", tests);
}
