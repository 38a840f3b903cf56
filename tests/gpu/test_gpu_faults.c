/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of CUDA, cuFFT, NCCL and MPI that fail on one rank in the middle of exchanges and transforms of arrays
 * on devices: fault_run.h says what may happen then. Drawn at random until the time of each test is over.
 *     test_gpu_faults [WORD]    only plans with this word in their names ("direct:engines, put")
 */
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../counters.h"
#include "../fault_run.h"
#include "device.h"
#include "device_faults.h"
#include "fft_run.h"

static const char *only_word = "";

/* ---------------------------------------------------------------- exchanges */

enum use { EXECUTE, START, LATER, PUT, PARTITIONS };

static const char *const use_names[] = {"execute", "start", "arrays bound at execution", "put",
                                        "partitions"};

enum { SLABS = 3, NPARTITIONS = 3 };

struct move {
    exchange given;
    test_array arrays[2];
    const char *method;
    enum use use;
    enum redist_staging staging;
    redist_plan *plan;
};

static int plan_move(void *data) {
    struct move *move = data;
    const exchange *given = &move->given;
    const redist_box *a = &given->boxes[0][given->rank], *b = &given->boxes[1][given->rank];
    const int is_tiled = move->use == PUT || move->use == PARTITIONS;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = move->method;
    options.effort = REDIST_ESTIMATE; /* what is measured is remembered, which looks like a loss */
    options.space = REDIST_SPACE_CUDA;
    options.staging = move->staging;
    options.tiles = is_tiled ? REDIST_PUT : REDIST_WHOLE;
    options.partitions = move->use == PARTITIONS ? NPARTITIONS : 1;
    options.partition_axis = 2;
    options.bind_a = options.bind_b =
        move->use == LATER ? REDIST_BIND_AT_EXECUTION_MAPPED : REDIST_BIND_AT_PLAN;
    return redist_plan_exchange(
        given->comm, given->element->type, given->ndims, a->count,
        is_tiled || move->use == LATER ? NULL : move->arrays[0].data, given->axes[0], b->count,
        move->use == LATER ? NULL : move->arrays[1].data, given->axes[1], &options, &move->plan);
}

static int release_move(void *data) {
    struct move *move = data;
    return redist_plan_free(&move->plan);
}

static int put_slab(const struct move *move, int i) {
    exchange_tile tile = exchange_slab(&move->given, 0, &move->arrays[0], SLABS, i);
    return redist_plan_put(move->plan, tile.start, tile.count, tile.data, tile.stride);
}

static int put_slabs(const struct move *move) {
    int code = redist_plan_put_begin(move->plan, move->arrays[1].data), arrived = 0;
    if (code != REDIST_OK)
        return code;
    for (int i = 0; i < SLABS && code == REDIST_OK; i++)
        code = put_slab(move, i);
    while (move->use == PARTITIONS && code == REDIST_OK && arrived < NPARTITIONS)
        code = redist_plan_put_arrived(move->plan, &arrived);
    const int ended = redist_plan_put_end(move->plan);
    if (code != REDIST_OK && ended == REDIST_OK)
        fault_note("a tile failed, but its execution ended well");
    return code == REDIST_OK ? ended : code;
}

static int run_move(const struct move *move, int direction) {
    int code = REDIST_OK;
    switch (move->use) {
    case EXECUTE:
        return redist_plan_execute(move->plan, direction);
    case START:
        code = redist_plan_start(move->plan, direction);
        return code == REDIST_OK ? redist_plan_wait(move->plan) : code;
    case LATER:
        return redist_plan_execute_arrays(move->plan, direction, move->arrays[0].data,
                                          move->arrays[1].data);
    default:
        return put_slabs(move);
    }
}

/* An execution that has returned is complete, also one that failed, and the user's own checks are not to find
 * an error of the library. */
static void check_device(void) {
    const int busy = device_faults_busy();
    if (busy > 0)
        fault_note("%d streams are still at work", busy);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fault_note("an error of CUDA was left behind: %s", cudaGetErrorString(error));
}

static int execute_move(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct move *move = data;
    const int is_tiled = move->use == PUT || move->use == PARTITIONS;
    const int direction = is_tiled ? REDIST_FORWARD : execution;
    const uint64_t salt = random_bits();
    exchange_prepare(&move->given, move->arrays, direction, salt);
    cudaDeviceSynchronize(); /* what is at work afterwards is the execution's */
    const int code = run_move(move, direction);
    check_device();
    wrong[0] = '\0';
    if (code == REDIST_OK)
        exchange_wrong(&move->given, move->arrays, direction, salt, wrong);
    return code;
}

typedef void try_subject(const fault_subject *subject, const char *name);

/* A plan that there is; what does not apply is left out. */
static void try_move(struct move *move, try_subject *run) {
    const fault_subject subject = {move, 1, plan_move, execute_move, release_move, MPI_COMM_NULL};
    char name[256];
    snprintf(name, sizeof(name), "%s, %s, %s to %s%s", move->method, use_names[move->use],
             memory_name(move->arrays[0].memory), memory_name(move->arrays[1].memory),
             move->staging == REDIST_STAGING_ALWAYS ? ", staged" : "");
    if (strstr(name, only_word) == NULL)
        return;
    harness_case("%s", name);
    const int code = plan_move(move);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
    check_ok(redist_plan_free(&move->plan));
    if (code == REDIST_OK)
        run(&subject, name);
}

/* Of a method's variants those of the register; of kway one with several stages. */
static const char *draw_method(void) {
    const char *method = request_name(random_between(0, request_count() - 1));
    return strcmp(method, "kway") == 0 ? "kway:2" : method;
}

static void try_moves(double share, try_subject *run, enum use last) {
    static const enum test_memory kinds[] = {MEMORY_SHARED, MEMORY_PLAIN};
    test_element element = element_create(4);
    const redist_index sizes[3] = {24, 16, 20};
    struct move move = {.given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1)};
    test_array arrays[2][2];
    for (int kind = 0; kind < 2; kind++)
        exchange_arrays(&move.given, (enum test_memory[2]){kinds[kind], kinds[kind]}, arrays[kind]);
    fault_begin(share);
    while (!fault_time_is_up()) {
        move.method = draw_method();
        move.use = (enum use)random_between(0, (int)last);
        move.staging = random_chance(50) ? REDIST_STAGING_ALWAYS : REDIST_STAGING_AUTO;
        for (int side = 0; side < 2; side++)
            move.arrays[side] = arrays[random_between(0, 1)][side];
        if (strcmp(move.method, "auto") != 0)
            try_move(&move, run);
    }
    fault_end();
    exchange_free_arrays(arrays[0]);
    exchange_free_arrays(arrays[1]);
    element_free(&element);
}

START_TEST(exchanges) {
    NEEDS_DEVICE();
    try_moves(0.8, fault_try_executions, PARTITIONS);
}
END_TEST

START_TEST(planning_exchanges) {
    NEEDS_DEVICE();
    try_moves(0.3, fault_try_planning, START);
}
END_TEST

/* ---------------------------------------------------------------- transforms */

/* How a plan works: on arrays of the device, or on host arrays of which the device has tiles. */
struct form {
    const char *name;
    int is_large;
    int chunks, pieces; /* of arrays of the device */
};

static const struct form forms[] = {
    {"whole arrays", 0, 1, 1},
    {"chunks", 0, 3, 1},
    {"chunks and pieces", 0, 3, 3},
    {"larger than the device", 1, 1, 1},
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

struct wave {
    fft_case given;
    fft_run run;
    enum fftnd_side first;
};

static int plan_wave(void *data) {
    struct wave *wave = data;
    return fft_case_plan(MPI_COMM_WORLD, &wave->given, &wave->run.plan);
}

static int release_wave(void *data) {
    struct wave *wave = data;
    return fftnd_plan_free(&wave->run.plan);
}

static int execute_wave(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct wave *wave = data;
    const enum fftnd_side side = execution == 0 ? wave->first : fft_case_opposite(wave->first);
    const enum fftnd_side target = fft_case_opposite(side);
    wrong[0] = '\0';
    fft_array_poison(wave->run.array[target]);
    fft_run_load(&wave->run, side, 1);
    cudaDeviceSynchronize();
    const int code = fft_run_execute(&wave->run, side);
    check_device();
    const double error = code == REDIST_OK ? fft_run_error(&wave->run, target, 1) : 0;
    if (!(error <= fft_case_tolerance(&wave->given)))
        snprintf(wrong, FAULT_TEXT_BYTES, "a result that is off by %g", error);
    if (!fft_array_is_guarded(wave->run.array[0]) || !fft_array_is_guarded(wave->run.array[1]))
        snprintf(wrong, FAULT_TEXT_BYTES, "bytes outside of an array overwritten");
    return code;
}

static void set_form(const struct form *form, fft_case *given) {
    char text[160];
    fft_array_use(form->is_large ? NULL : &device_memory);
    unsetenv("FFTND_CONFIGURATION");
    if (form->is_large) {
        given->options.device = REDIST_SPACE_CUDA;
        given->options.pin_arrays = random_chance(50);
        fft_run_limit(MPI_COMM_WORLD, given, 1000);
        return;
    }
    given->options.space = REDIST_SPACE_CUDA;
    snprintf(text, sizeof(text),
             " fused=0 tiled=0 tile=1 group=%zu nontemporal=1 segments=%d "
             "transposed=0 untiled=0 partitions=%d",
             SIZE_MAX, form->chunks, form->pieces);
    setenv("FFTND_CONFIGURATION", text, 1);
}

/* A kernel has no part in exchanges of arrays of the host. */
static fft_case draw_case(const struct form *form) {
    const char *const methods[] = {"direct",    form->is_large ? "direct:cached" : "direct:kernel",
                                   "p2p",       "p2p-streams",
                                   "alltoallv", "kway:2"};
    fft_case given = FFT_CASE(random_chance(50) ? FFTND_C2C : FFTND_R2C, 12, 9, 16);
    given.options.grid_ndims = random_between(1, 2);
    given.options.method = methods[random_between(0, 5)];
    given.options.scaling = FFTND_SCALE_BACKWARD;
    given.options.in_place = random_chance(25);
    return given;
}

static void try_wave(const struct form *form, try_subject *run) {
    struct wave wave = {.given = draw_case(form),
                        .first = random_chance(50) ? FFTND_PHYSICAL : FFTND_SPECTRAL};
    const fault_subject subject = {&wave, 1, plan_wave, execute_wave, release_wave, MPI_COMM_NULL};
    char name[256];
    snprintf(name, sizeof(name), "%s, %s, grid of %d, %s", form->name, wave.given.options.method,
             wave.given.options.grid_ndims, wave.first == FFTND_PHYSICAL ? "forward" : "backward");
    if (strstr(name, only_word) == NULL)
        return;
    harness_case("%s", name);
    set_form(form, &wave.given);
    fft_run_create(MPI_COMM_WORLD, &wave.given, &wave.run);
    check_ok(fftnd_plan_free(&wave.run.plan));
    run(&subject, name);
    fft_run_free(&wave.run);
    unsetenv("FFTND_CONFIGURATION");
}

static void try_waves(double share, try_subject *run) {
    fault_begin(share);
    while (!fault_time_is_up())
        try_wave(&forms[random_between(0, FORMS - 1)], run);
    fault_end();
}

START_TEST(transforms) {
    NEEDS_DEVICE();
    try_waves(0.8, fault_try_executions);
}
END_TEST

START_TEST(planning_transforms) {
    NEEDS_DEVICE();
    try_waves(0.3, fault_try_planning);
}
END_TEST

/* ---------------------------------------------------------------- what peers have mapped */

static void check_move(struct move *move, int direction) {
    char wrong[FAULT_TEXT_BYTES];
    check_ok(execute_move(move, direction, wrong));
    check_all(wrong[0] == '\0', "%s", wrong);
}

/* Memory that is freed and allocated anew while a plan lives, which redist_plan_free asks users not to do but
 * which must not lead to where the memory was; and mappings that two plans share, of which either goes first. */
static void use_mappings(const test_element *element) {
    const redist_index sizes[3] = {24, 16, 20};
    const enum test_memory plain[2] = {MEMORY_PLAIN, MEMORY_PLAIN};
    struct move later = {.given = exchange_between_axes(MPI_COMM_WORLD, element, 3, sizes, 0, 1),
                         .method = "direct:engines",
                         .use = LATER};
    check_ok(plan_move(&later));
    for (int i = 0; i < 4; i++) {
        exchange_arrays(&later.given, plain, later.arrays);
        check_move(&later, i % 2);
        struct move bound = later;
        bound.use = EXECUTE;
        check_ok(plan_move(&bound));
        check_move(&bound, 0);
        if (i % 2) {
            check_ok(release_move(&later));
            check_ok(plan_move(&later));
        }
        check_move(&bound, 1);
        check_ok(release_move(&bound));
        check_move(&later, 1);
        exchange_free_arrays(later.arrays);
    }
    check_ok(release_move(&later));
    check_all(device_faults_mapped() == 0, "%d mappings left", device_faults_mapped());
}

START_TEST(mappings) {
    NEEDS_DEVICE();
    test_element element = element_create(4);
    harness_case("mappings");
    use_mappings(&element);
    element_free(&element);
}
END_TEST

/* A k for each kind of fault and plan is drawn again and again, whatever the scale: there is no time for all
 * of them, and few kinds of plans would have their turn. The time is a minute. */
static void limit_scale(void) {
    const char *text = getenv("REDIST_TEST_SCALE");
    if (text == NULL || atof(text) >= 1)
        setenv("REDIST_TEST_SCALE", "0.99", 1);
}

int main(int argc, char **argv) {
    const TTest *const tests[] = {mappings,   exchanges,           planning_exchanges,
                                  transforms, planning_transforms, NULL};
    if (argc > 1)
        only_word = argv[1];
    limit_scale();
    counters_begin();
    return device_run(argc, argv, "test_gpu_faults", tests);
}
