/* SPDX-License-Identifier: BSD-3-Clause */
/* Order against streams, large arrays, executions under way together, and refusals on devices. */
#include "device.h"
#include "harness.h"
#include "pattern.h"

#include <stdlib.h>
#include <string.h>

static const char *const methods[] = {"direct:engines",
                                      "direct:kernel",
                                      "direct:paced",
                                      "direct:lockstep",
                                      "p2p",
                                      "p2p-streams",
                                      "alltoallv",
                                      "kway:2",
                                      "kway",
                                      "auto",
                                      "nccl",
                                      "nccl:plain",
                                      "hier:nccl"};
enum { METHODS = sizeof(methods) / sizeof(methods[0]) };

/* An exchange of a three-dimensional array of bytes between axes 1 and 0. */
typedef struct test_move {
    redist_index sizes[2][3];
    pattern_block blocks[2];
    unsigned char *arrays[2];
    redist_plan *plan;
    cudaStream_t stream;
} test_move;

static void set_block(test_move *move, const int sizes[3], int side, int split) {
    pattern_block *block = &move->blocks[side];
    redist_index start[3] = {0, 0, 0};
    redist_index count[3] = {sizes[0], sizes[1], sizes[2]};
    redist_decompose(sizes[split], harness_nranks, harness_rank, &count[split], &start[split]);
    for (int i = 0; i < 3; i++) {
        block->size[i] = sizes[i];
        block->start[i] = start[i];
        block->count[i] = move->sizes[side][i] = count[i];
    }
}

static size_t bytes_of(const pattern_block *block) {
    return (size_t)(block->count[0] * block->count[1] * block->count[2]);
}

static void move_create(test_move *move, const int sizes[3]) {
    memset(move, 0, sizeof(*move));
    for (int side = 0; side < 2; side++) {
        void *array = NULL;
        set_block(move, sizes, side, side);
        check_ok(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, bytes_of(&move->blocks[side]),
                                 &array));
        move->arrays[side] = array;
    }
    check_all(cudaStreamCreateWithFlags(&move->stream, cudaStreamNonBlocking) == cudaSuccess,
              "no stream");
}

static int move_plan(test_move *move, const char *method) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.stream = move->stream;
    options.tune_seconds = 1e-3;
    return redist_plan_exchange(MPI_COMM_WORLD, MPI_BYTE, 3, move->sizes[0], move->arrays[0], 1,
                                move->sizes[1], move->arrays[1], 0, &options, &move->plan);
}

static void move_free(test_move *move) {
    check_ok(redist_plan_free(&move->plan));
    for (int side = 0; side < 2; side++) {
        void *array = move->arrays[side];
        check_ok(redist_free(&array));
    }
    cudaStreamDestroy(move->stream);
}

static unsigned long long wrong_bytes(const test_move *move, int side, unsigned salt) {
    unsigned long long *wrong, result = 0;
    if (cudaMalloc((void **)&wrong, sizeof(*wrong)) != cudaSuccess)
        return 1;
    cudaMemsetAsync(wrong, 0, sizeof(*wrong), move->stream);
    pattern_check(move->arrays[side], move->blocks[side], salt, wrong, move->stream);
    cudaMemcpyAsync(&result, wrong, sizeof(result), cudaMemcpyDeviceToHost, move->stream);
    cudaError_t error = cudaStreamSynchronize(move->stream);
    cudaFree(wrong);
    return error == cudaSuccess ? result : 1;
}

/* Fills the source late, by work that its stream still has to do when the execution starts. */
static void move_begin(test_move *move, int direction, unsigned salt) {
    const pattern_block *to = &move->blocks[!direction];
    cudaMemsetAsync(move->arrays[!direction], 0, bytes_of(to), move->stream);
    pattern_fill(move->arrays[direction], move->blocks[direction], salt,
                 (harness_rank + 1) * 1000000, move->stream);
    check_ok(redist_plan_start(move->plan, direction));
}

static void move_end(test_move *move, int direction, unsigned salt) {
    check_ok(redist_plan_wait(move->plan));
    unsigned long long wrong = wrong_bytes(move, !direction, salt);
    check_all(wrong == 0, "direction %d: %llu wrong bytes", direction, wrong);
}

static void check_moves(int n, test_move moves[], const int sizes[3], const char *method) {
    int planned = 1;
    for (int i = 0; i < n; i++) {
        harness_case("method %s, %d x %d x %d, %d at once", method, sizes[0], sizes[1], sizes[2],
                     n);
        move_create(&moves[i], sizes);
        int code = move_plan(&moves[i], method);
        check_all(code == REDIST_OK || (code == REDIST_ERR_METHOD && strstr(method, "nccl")), "%s",
                  redist_error_message());
        planned &= code == REDIST_OK;
    }
    for (int direction = 0; direction < 2 && planned; direction++) {
        for (int i = 0; i < n; i++)
            move_begin(&moves[i], direction, (unsigned)(10 * direction + i));
        for (int i = 0; i < n; i++)
            move_end(&moves[i], direction, (unsigned)(10 * direction + i));
    }
    for (int i = 0; i < n; i++)
        move_free(&moves[i]);
}

START_TEST(streams) {
    NEEDS_DEVICE();
    for (int i = 0; i < METHODS; i++) {
        test_move moves[1];
        const int sizes[3] = {67, 130, 256};
        check_moves(1, moves, sizes, methods[i]);
    }
}
END_TEST

START_TEST(together) {
    NEEDS_DEVICE();
    for (int i = 0; i < METHODS; i++) {
        test_move moves[4];
        const int sizes[3] = {40, 64, 96};
        check_moves(4, moves, sizes, methods[i]);
    }
}
END_TEST

START_TEST(one_time_exchange) {
    NEEDS_DEVICE();
    test_move move;
    const int sizes[3] = {33, 20, 70};
    move_create(&move, sizes);
    cudaMemset(move.arrays[1], 0, bytes_of(&move.blocks[1]));
    pattern_fill(move.arrays[0], move.blocks[0], 5, 0, NULL);
    check_ok(redist_exchange(MPI_COMM_WORLD, MPI_BYTE, 3, move.sizes[0], move.arrays[0], 1,
                             move.sizes[1], move.arrays[1], 0));
    check_all(wrong_bytes(&move, 1, 5) == 0, "wrong bytes");
    move_free(&move);
}
END_TEST

/* More than 2^31 elements in each rank's array. */
START_TEST(large) {
    NEEDS_DEVICE();
    if (harness_nranks > 2 || getenv("REDIST_TEST_LARGE") == NULL)
        skip_test("only on 1 or 2 ranks, with REDIST_TEST_LARGE set");
    static const char *const large_methods[] = {"direct:engines", "direct:kernel", "nccl", "auto"};
    const int sizes[3] = {2050 * harness_nranks, 1026, 1024};
    for (int i = 0; i < 4; i++) {
        test_move moves[1];
        check_moves(1, moves, sizes, large_methods[i]);
    }
}
END_TEST

/* ---------------------------------------------------------------- refusals */

START_TEST(out_of_memory) {
    NEEDS_DEVICE();
    void *array = NULL;
    size_t bytes = harness_rank == harness_nranks - 1 ? (size_t)1 << 46 : 1024;
    check_code(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, bytes, &array),
               REDIST_ERR_MEMORY);
    check_all(array == NULL && cudaGetLastError() == cudaSuccess, "something was left behind");
}
END_TEST

static int plan_on(void *a, void *b, enum redist_space space, redist_plan **plan) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_index sizes_b[3] = {8, 8, 4};
    redist_index start;
    redist_index sizes_a[3] = {8, 8, 4};
    redist_decompose(8, harness_nranks, harness_rank, &sizes_a[0], &start);
    redist_decompose(8, harness_nranks, harness_rank, &sizes_b[1], &start);
    options.space = space;
    return redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, 3, sizes_a, a, 1, sizes_b, b, 0,
                                &options, plan);
}

START_TEST(other_memory) {
    NEEDS_DEVICE();
    static double host[2][256];
    void *array = NULL;
    redist_plan *plan = NULL;
    check_ok(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, 2 * sizeof(host[0]), &array));
    check_code(plan_on(array, host[0], REDIST_SPACE_AUTO, &plan), REDIST_ERR_ARGUMENT);
    check_code(plan_on(host[0], host[1], REDIST_SPACE_CUDA, &plan), REDIST_ERR_ARGUMENT);
    check_code(plan_on(array, (char *)array + 2048, REDIST_SPACE_HOST, &plan), REDIST_ERR_ARGUMENT);
    if (harness_nranks > 1) {
        int mine = harness_rank == 0;
        check_code(plan_on(mine ? array : host[0], mine ? (char *)array + 2048 : (void *)host[1],
                           REDIST_SPACE_AUTO, &plan),
                   REDIST_ERR_DISAGREE);
    }
    check_ok(redist_free(&array));
}
END_TEST

/* Freed and allocated again at the same address: peers must not write to where the old one was. */
START_TEST(reallocated) {
    NEEDS_DEVICE();
    test_move moves[1], *move = &moves[0];
    const int sizes[3] = {64, 256, 256};
    redist_plan *kept = NULL;
    move_create(move, sizes);
    check_ok(move_plan(move, "direct"));
    kept = move->plan; /* holds the mappings */
    for (int round = 0; round < 4; round++) {
        void *own[2] = {move->arrays[0], move->arrays[1]};
        for (int side = 0; side < 2; side++)
            check_all(cudaMalloc((void **)&move->arrays[side], bytes_of(&move->blocks[side]) + 1) ==
                          cudaSuccess,
                      "cudaMalloc");
        check_ok(move_plan(move, "direct"));
        for (int direction = 0; direction < 2; direction++) {
            move_begin(move, direction, (unsigned)round);
            move_end(move, direction, (unsigned)round);
        }
        check_ok(redist_plan_free(&move->plan));
        for (int side = 0; side < 2; side++) {
            cudaFree(move->arrays[side]);
            move->arrays[side] = own[side];
        }
    }
    move->plan = kept;
    move_free(move);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {one_time_exchange, streams,      together,    large,
                                  out_of_memory,     other_memory, reallocated, NULL};
    return device_run(argc, argv, "test_gpu_device", tests);
}
