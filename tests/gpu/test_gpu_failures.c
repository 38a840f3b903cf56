/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank fails: memory of the host or of its device is out, or it passes memory of another kind. All
 * ranks get the same error, none waits for ever, and what comes next works. */
#include <cuda_runtime_api.h>
#include <string.h>

#include "counters.h"
#include "device.h"
#include "fft_run.h"

#define NEEDS_FFT_DEVICE()                                                                         \
    do {                                                                                           \
        NEEDS_DEVICE();                                                                            \
        fft_array_use(&device_memory);                                                             \
    } while (0)

/* The rank that fails. */
static int is_guilty(void) {
    return harness_rank == harness_nranks - 1;
}

static int any(int here) {
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return here;
}

static void check_same(int code) {
    int highest = any(code);
    check_all(code == highest, "%s here, %s elsewhere", redist_error_name(code),
              redist_error_name(highest));
}

/* ---------------------------------------------------------------- no memory on the host */

/* An attempt whose n-th allocation fails on the guilty rank; tells whether there was an n-th. */
typedef int test_attempt(void *subject);

static int try_starved(test_attempt *attempt, void *subject, int n, int *failed) {
    counters_fail_memory(is_guilty() ? n : 0);
    int code = attempt(subject);
    *failed = any(counters_memory_failed());
    counters_fail_memory(0);
    check_same(code);
    return code;
}

/* A plan between the arrays of an exchange. */
typedef struct test_planning {
    exchange given;
    exchange_way way;
    test_array arrays[2];
    redist_plan *plan;
} test_planning;

static int plan_exchange(void *subject) {
    test_planning *planning = subject;
    return exchange_plan(&planning->given, &planning->way, planning->arrays, &planning->plan);
}

/* A method that finds no memory to map its peers' arrays does not apply. */
static void starve_exchange(test_planning *planning) {
    int failed = 1;
    for (int n = 1; failed; n++) {
        harness_case("method %s, allocation %d fails", planning->way.method, n);
        int code = try_starved(plan_exchange, planning, n, &failed);
        check_all(code == REDIST_OK || code == REDIST_ERR_MEMORY || code == REDIST_ERR_METHOD, "%s",
                  redist_error_message());
        check_all((planning->plan != NULL) == (code == REDIST_OK), "code and plan do not fit");
        check_all(failed || code != REDIST_ERR_MEMORY, "%s without reason", redist_error_message());
        if (!failed && code == REDIST_OK)
            for (int direction = 0; direction < 2; direction++)
                exchange_execute(&planning->given, &planning->way, planning->arrays, planning->plan,
                                 direction);
        check_ok(redist_plan_free(&planning->plan));
    }
}

START_TEST(no_memory_for_a_plan) {
    NEEDS_DEVICE();
    if (harness_nranks > 4)
        skip_test("only on up to 4 ranks");
    test_element element = element_create(1);
    const redist_index sizes[3] = {9, 12, 10};
    test_planning planning = {
        .given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 1, 0),
        .way = {NULL, {MEMORY_SHARED, MEMORY_SHARED}, USE_EXECUTE},
    };
    exchange_arrays(&planning.given, planning.way.memory, planning.arrays);
    for (int i = 0; i < request_count(); i++) {
        planning.way.method = request_name(i);
        if (strcmp(planning.way.method, "auto") != 0)
            starve_exchange(&planning);
    }
    exchange_free_arrays(planning.arrays);
    element_free(&element);
}
END_TEST

/* A plan of a transform. */
typedef struct test_transform {
    fft_case given;
    fftnd_plan *plan;
} test_transform;

static int plan_transform(void *subject) {
    test_transform *transform = subject;
    return fft_case_plan(MPI_COMM_WORLD, &transform->given, &transform->plan);
}

/* Each plan takes a while; of the later allocations a part has to do. */
static void starve_transform(test_transform *transform) {
    int failed = 1;
    for (int n = 1; failed; n += 1 + n / 10) {
        harness_case("allocation %d fails, %s", n, fft_case_text(&transform->given));
        int code = try_starved(plan_transform, transform, n, &failed);
        check_all(code == REDIST_OK ||
                      (failed && (code == REDIST_ERR_MEMORY || code == REDIST_ERR_METHOD)),
                  "%s: %s", redist_error_name(code), redist_error_message());
        check_all((transform->plan != NULL) == (code == REDIST_OK), "code and plan do not fit");
        check_ok(fftnd_plan_free(&transform->plan));
    }
    fft_check_once(MPI_COMM_WORLD, &transform->given);
}

START_TEST(no_memory_for_a_transform) {
    NEEDS_FFT_DEVICE();
    if (harness_nranks > 4)
        skip_test("only on up to 4 ranks");
    test_transform slab = {.given = FFT_CASE(FFTND_C2C, 9, 10, 11)};
    test_transform pencil = {.given = FFT_CASE(FFTND_R2C, 9, 10, 11)};
    slab.given.options.space = pencil.given.options.space = REDIST_SPACE_CUDA;
    slab.given.options.method = "direct";
    pencil.given.options.method = "p2p";
    slab.given.options.grid_ndims = 1;
    pencil.given.options.grid_ndims = 2;
    starve_transform(&slab);
    starve_transform(&pencil);
}
END_TEST

/* ---------------------------------------------------------------- a full device */

enum { MOST_PIECES = 64 };

/* All memory of a device but about `left` bytes. */
typedef struct test_filling {
    void *pieces[MOST_PIECES];
    int count;
} test_filling;

static void fill_device(test_filling *filling, size_t left) {
    const size_t smallest = (size_t)1 << 24;
    void *spared = NULL;
    filling->count = 0;
    if (cudaMalloc(&spared, left) == cudaSuccess)
        for (size_t bytes = (size_t)1 << 38; bytes >= smallest; bytes /= 2)
            while (filling->count < MOST_PIECES &&
                   cudaMalloc(&filling->pieces[filling->count], bytes) == cudaSuccess)
                filling->count++;
    cudaFree(spared);
    (void)cudaGetLastError();
}

static void empty_device(test_filling *filling) {
    while (filling->count > 0)
        cudaFree(filling->pieces[--filling->count]);
}

/* Ranks that share the device of the guilty one find it full too. */
START_TEST(full_device) {
    NEEDS_FFT_DEVICE();
    const size_t left = (size_t)1 << 28;
    test_filling filling = {.count = 0};
    test_transform large = {.given = FFT_CASE(FFTND_C2C, 509 * harness_nranks, 257, 251)};
    fft_case small = FFT_CASE(FFTND_R2C, 12, 10, 14);
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    large.given.options.space = small.options.space = REDIST_SPACE_CUDA;
    harness_case("%s, before", fft_case_text(&large.given));
    check_ok(plan_transform(&large));
    check_ok(fftnd_plan_get_info(large.plan, &info));
    check_ok(fftnd_plan_free(&large.plan));
    const int fits = !any(is_guilty() && info.workspace_bytes > 2 * left);
    if (is_guilty())
        fill_device(&filling, left);
    harness_case("%s, the device is full", fft_case_text(&large.given));
    MPI_Barrier(MPI_COMM_WORLD);
    const int code = plan_transform(&large);
    check_same(code);
    check_all(code == REDIST_ERR_MEMORY || (fits && code == REDIST_OK), "%s: %s",
              redist_error_name(code), redist_error_message());
    check_all(cudaGetLastError() == cudaSuccess, "an error of CUDA was left behind");
    check_ok(fftnd_plan_free(&large.plan));
    empty_device(&filling);
    MPI_Barrier(MPI_COMM_WORLD);
    harness_case("%s, after", fft_case_text(&large.given));
    check_ok(plan_transform(&large));
    check_ok(fftnd_plan_free(&large.plan));
    fft_check_once(MPI_COMM_WORLD, &small);
}
END_TEST

/* More than the card has, on one rank, by the memory that peers map. */
START_TEST(more_than_the_device_has) {
    NEEDS_DEVICE();
    size_t free_bytes = 0, total = 0;
    void *array = NULL;
    check_all(cudaMemGetInfo(&free_bytes, &total) == cudaSuccess, "cudaMemGetInfo");
    check_code(
        redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, is_guilty() ? total : 1000, &array),
        REDIST_ERR_MEMORY);
    check_all(array == NULL && cudaGetLastError() == cudaSuccess, "something was left behind");
    check_ok(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, 1000, &array));
    check_ok(redist_free(&array));
}
END_TEST

/* ---------------------------------------------------------------- memory of another kind */

START_TEST(host_memory_in_an_exchange) {
    NEEDS_DEVICE();
    static char on_host[2][1 << 16];
    test_element element = element_create(1);
    const redist_index sizes[3] = {9, 12, 10};
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 1, 0);
    exchange_way way = {NULL, {MEMORY_SHARED, MEMORY_SHARED}, USE_LATER};
    for (int i = 0; i < request_count(); i++) {
        test_array arrays[2];
        redist_plan *plan = NULL;
        way.method = request_name(i);
        exchange_say(&given, &way);
        exchange_arrays(&given, way.memory, arrays);
        int code = exchange_plan(&given, &way, arrays, &plan);
        check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
        if (code == REDIST_OK) {
            char *a = is_guilty() ? on_host[0] : arrays[0].data;
            char *b = is_guilty() ? on_host[1] : arrays[1].data;
            code = redist_plan_execute_arrays(plan, REDIST_FORWARD, a, b);
            check_code(code, REDIST_ERR_ARGUMENT);
            exchange_execute(&given, &way, arrays, plan, REDIST_FORWARD);
        }
        check_ok(redist_plan_free(&plan));
        exchange_free_arrays(arrays);
    }
    element_free(&element);
}
END_TEST

START_TEST(host_memory_in_a_transform) {
    NEEDS_FFT_DEVICE();
    static double on_host[1 << 15];
    fft_case given = FFT_CASE(FFTND_R2C, 9, 10, 12);
    fft_run run;
    given.options.space = REDIST_SPACE_CUDA;
    fft_run_create(MPI_COMM_WORLD, &given, &run);
    void *physical = fft_run_data(&run, FFTND_PHYSICAL);
    void *spectral = fft_run_data(&run, FFTND_SPECTRAL);
    const int code = fftnd_forward(run.plan, is_guilty() ? on_host : physical, spectral);
    check_code(code, REDIST_ERR_ARGUMENT);
    fft_run_transform(&run, FFTND_PHYSICAL);
    fft_run_transform(&run, FFTND_SPECTRAL);
    fft_run_free(&run);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {no_memory_for_a_plan,
                                  no_memory_for_a_transform,
                                  full_device,
                                  more_than_the_device_has,
                                  host_memory_in_an_exchange,
                                  host_memory_in_a_transform,
                                  NULL};
    counters_begin();
    return device_run(argc, argv, "test_gpu_failures", tests);
}
