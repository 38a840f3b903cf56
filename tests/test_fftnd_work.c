/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work space that a plan shares with its operators: executions of all of them in turns, compared with those of a plan
 * whose operators have memory of their own, and the bytes that are allocated. In host memory, and on a device that
 * stands in for CUDA.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fftnd_operators.h"
#include "harness.h"
#include "random.h"
#include "stream_device.h"

/* ---------------------------------------------------------------- a plan with operators */

enum action { FORWARD, BACKWARD, FIRST, SECOND, ACTIONS };

static const enum fftnd_operator_kind kinds[] = {FFTND_INVERSE_LAPLACIAN, FFTND_GRADIENT};

struct plan {
    fftnd_plan *plan;
    fftnd_operator *ops[2];
    void *workspace; /* of the user, else NULL */
};

static const test_device *device; /* NULL = host memory */

static void *allocate(size_t bytes) {
    void *memory = NULL;
    if (device != NULL)
        return device->allocate(MPI_COMM_WORLD, bytes + 16, 1);
    check_ok(redist_alloc(MPI_COMM_WORLD, bytes + 16, &memory));
    return memory;
}

static void release(void *memory) {
    if (device != NULL)
        device->release(memory, 1);
    else
        check_ok(redist_free(&memory));
}

static void copy(void *to, const void *from, size_t bytes) {
    if (device != NULL)
        device->copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

static fftnd_plan_info info_of(const struct plan *plan) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check_ok(fftnd_plan_get_info(plan->plan, &info));
    return info;
}

static void open_plan(const fft_case *given, int has_own, struct plan *plan) {
    fft_case own = *given;
    *plan = (struct plan){.plan = NULL};
    own.options.user_workspace = has_own;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &own, &plan->plan));
    const size_t bytes = info_of(plan).workspace_bytes;
    if (!has_own)
        return;
    plan->workspace = allocate(bytes);
    check_ok(fftnd_plan_set_workspace(plan->plan, plan->workspace, bytes));
}

/* Without memory of freed plans, which may be larger than needed. */
static void create_operator(struct plan *plan, int i) {
    check_ok(fftnd_cache_clear(MPI_COMM_WORLD));
    check_ok(fftnd_operator_create(plan->plan, kinds[i], NULL, &plan->ops[i]));
}

static void close_plan(struct plan *plan) {
    const int first = random_between(0, 1);
    check_ok(fftnd_operator_free(&plan->ops[first]));
    if (plan->ops[!first] != NULL)
        check_code(fftnd_plan_free(&plan->plan), REDIST_ERR_STATE);
    check_ok(fftnd_operator_free(&plan->ops[!first]));
    check_all(info_of(plan).operator_bytes == 0, "%zu bytes of no operator",
              info_of(plan).operator_bytes);
    check_ok(fftnd_plan_free(&plan->plan));
    if (plan->workspace != NULL)
        release(plan->workspace);
}

/* ---------------------------------------------------------------- executions */

/* An execution with its arrays, and what it reads and is to write. */
struct execution {
    enum action action;
    fftnd_layout layouts[2];
    char *arrays[2], *values[2];
};

static void find_layouts(const struct plan *plan, enum action action, fftnd_layout layouts[2]) {
    for (int i = 0; i < 2; i++) {
        fftnd_layout_init(&layouts[i], sizeof layouts[i]);
        if (action >= FIRST)
            check_ok(fftnd_operator_layout(plan->ops[action - FIRST], i, &layouts[i]));
        else
            check_ok(fftnd_plan_layout(plan->plan, (enum fftnd_side)(i ^ (action == BACKWARD)),
                                       &layouts[i]));
    }
}

static int run(const struct plan *plan, const struct execution *of) {
    void *in = of->arrays[0], *out = of->arrays[1];
    return of->action == FORWARD ? fftnd_forward(plan->plan, in, out)
           : of->action == BACKWARD
               ? fftnd_backward(plan->plan, in, out)
               : fftnd_apply(plan->plan, plan->ops[of->action - FIRST], in, out);
}

static void load(const struct execution *of) {
    copy(of->arrays[0], of->values[0], of->layouts[0].bytes);
}

/* Allocates the arrays of an execution. */
static void prepare(const fft_case *given, const struct plan *plan, enum action action,
                    struct execution *of) {
    of->action = action;
    find_layouts(plan, action, of->layouts);
    const size_t bytes[2] = {of->layouts[0].bytes, of->layouts[1].bytes};
    of->arrays[0] = allocate(bytes[bytes[1] > bytes[0]]);
    of->arrays[1] = given->options.in_place ? of->arrays[0] : allocate(bytes[1]);
}

static void release_arrays(const fft_case *given, const struct execution *of) {
    release(of->arrays[0]);
    if (!given->options.in_place)
        release(of->arrays[1]);
}

static void wait(const fft_case *given) {
    if (device != NULL)
        stream_device_wait(given->options.stream);
}

/* Finds what an execution writes. Backward begins with the spectrum that forward has written, which has the symmetry
 * of real fields. */
static void find_values(const fft_case *given, const struct plan *plan, enum action action,
                        const char *spectrum, struct execution *of) {
    const size_t number = fft_case_number_bytes(given);
    uint64_t sequence = random_bits() + (uint64_t)harness_rank * 977;
    prepare(given, plan, action, of);
    for (int i = 0; i < 2; i++)
        of->values[i] = calloc(of->layouts[i].bytes + 1, 1);
    for (size_t i = 0; i < of->layouts[0].bytes / number && action != BACKWARD; i++) {
        const double value = random_from(&sequence, -1000, 1000) * 1e-3;
        const float single = (float)value;
        memcpy(of->values[0] + i * number, number == 8 ? (const void *)&value : &single, number);
    }
    if (action == BACKWARD)
        memcpy(of->values[0], spectrum, of->layouts[0].bytes);
    load(of);
    check_ok(run(plan, of));
    wait(given);
    copy(of->values[1], of->arrays[1], of->layouts[1].bytes);
    release_arrays(given, of);
}

static double number_at(const char *values, size_t i, size_t number) {
    double value;
    float single;
    memcpy(number == 8 ? (void *)&value : &single, values + i * number, number);
    return number == 8 ? value : (double)single;
}

/* The largest difference between the elements of two outputs. */
static double find_error(const fft_case *given, const fftnd_layout *layout, const char *found,
                         const char *wanted) {
    const size_t number = fft_case_number_bytes(given), each = layout->element_bytes / number;
    size_t elements = 1;
    double error = 0, largest = 1;
    for (int axis = 0; axis < layout->ndims; axis++)
        elements *= (size_t)layout->count[axis];
    for (size_t field = 0; field < (size_t)layout->batch; field++)
        for (size_t i = 0; i < elements * each; i++) {
            const size_t at = field * (size_t)layout->batch_stride * each + i;
            const double value = number_at(wanted, at, number);
            const double off = fabs(number_at(found, at, number) - value);
            error = off <= error ? error : off; /* a NaN stays */
            largest = fmax(largest, fabs(value));
        }
    return error / largest;
}

static void compare(const fft_case *given, const struct execution *of, const char *wanted) {
    const size_t bytes = of->layouts[1].bytes;
    char *found = malloc(bytes + 1);
    copy(found, of->arrays[1], bytes);
    const double error = find_error(given, &of->layouts[1], found, wanted);
    check_all(error < (given->precision == FFTND_DOUBLE ? 1e-12 : 1e-4), "action %d is off by %g",
              (int)of->action, error);
    free(found);
}

/* Runs plan and operators in any order, in a stream without waiting in between, and frees some operators. */
static void run_in_turns(const fft_case *given, const struct execution expected[ACTIONS]) {
    enum { RUNS = 8 };
    struct execution runs[RUNS];
    struct plan plan;
    open_plan(given, 0, &plan);
    for (int i = 0; i < 2; i++)
        create_operator(&plan, i);
    for (int i = 0; i < RUNS; i++) {
        const enum action action = (enum action)random_between(0, ACTIONS - 1);
        prepare(given, &plan, action, &runs[i]);
        runs[i].values[0] = expected[action].values[0];
        load(&runs[i]);
    }
    for (int i = 0; i < RUNS; i++) {
        check_ok(run(&plan, &runs[i]));
        if (random_chance(20)) {
            const int which = random_between(0, 1);
            check_ok(fftnd_operator_free(&plan.ops[which]));
            create_operator(&plan, which);
        }
    }
    wait(given);
    check_ok(fftnd_plan_query(plan.plan));
    for (int i = 0; i < RUNS; i++) {
        compare(given, &runs[i], expected[runs[i].action].values[1]);
        release_arrays(given, &runs[i]);
    }
    close_plan(&plan);
}

static void check_turns(const fft_case *given) {
    struct execution expected[ACTIONS];
    struct plan apart;
    harness_case("%s", fft_case_text(given));
    open_plan(given, 1, &apart);
    for (int i = 0; i < 2; i++)
        create_operator(&apart, i);
    for (int i = 0; i < ACTIONS; i++)
        find_values(given, &apart, (enum action)i, expected[FORWARD].values[1], &expected[i]);
    close_plan(&apart);
    run_in_turns(given, expected);
    for (int i = 0; i < ACTIONS; i++)
        for (int side = 0; side < 2; side++)
            free(expected[i].values[side]);
}

static fft_case random_box(void) {
    fft_case given = FFT_CASE(random_chance(50) ? FFTND_R2C : FFTND_C2C, random_between(3, 12),
                              random_between(3, 12), random_between(3, 12));
    given.options.grid_ndims = random_between(0, 2);
    given.options.in_place = given.kind == FFTND_C2C && random_chance(20);
    given.options.overwrite_input = random_chance(20);
    given.options.tile_bytes = random_chance(50) ? (size_t)random_between(50, 2000) : 0;
    given.options.batch = random_between(1, 2);
    given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
    if (random_chance(30))
        fft_random_filled(&given);
    return given;
}

START_TEST(host) {
    device = NULL;
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = random_box();
        given.options.mapped_arrays = random_chance(30);
        given.options.fusion = random_chance(30) ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
        check_turns(&given);
    }
}
END_TEST

START_TEST(in_a_stream) {
    NEEDS_STREAM_DEVICE();
    device = stream_device_memory();
    for (int i = 0; harness_another(i, 6); i++) {
        fft_case given = random_box();
        given.options.space = REDIST_SPACE_CUDA;
        given.options.stream = stream_device_create();
        given.options.asynchronous = random_chance(70);
        fft_use_chunks(random_between(1, 4), random_between(0, 1), random_between(1, 4),
                       random_between(0, 1));
        check_turns(&given);
        stream_device_destroy(given.options.stream);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* ---------------------------------------------------------------- bytes */

/* Finds what the first operator, and another one of its kind, allocate; returns the bytes of the plan. */
static size_t count_bytes(const fft_case *given, int has_own, size_t bytes[2]) {
    struct plan plan;
    fftnd_operator *again = NULL;
    check_ok(fftnd_cache_clear(MPI_COMM_WORLD));
    open_plan(given, has_own, &plan);
    const size_t planned = info_of(&plan).workspace_bytes;
    create_operator(&plan, 0);
    bytes[0] = info_of(&plan).operator_bytes;
    check_ok(fftnd_cache_clear(MPI_COMM_WORLD));
    check_ok(fftnd_operator_create(plan.plan, kinds[0], NULL, &again));
    bytes[1] = info_of(&plan).operator_bytes;
    check_ok(fftnd_operator_free(&plan.ops[0]));
    check_all(has_own || info_of(&plan).operator_bytes == bytes[1],
              "memory in use was freed with the operator that allocated it");
    check_ok(fftnd_operator_free(&again));
    close_plan(&plan);
    return planned;
}

/* An operator that fits the plan's memory allocates nothing, and one that does not has some of its arrays there; on one
 * rank an array alone may be larger. */
static void check_bytes(const fft_case *given) {
    size_t own[2], shared[2];
    harness_case("%s", fft_case_text(given));
    count_bytes(given, 1, own);
    const size_t planned = count_bytes(given, 0, shared);
    check_all(own[1] == 2 * own[0], "%zu bytes apart, %zu of two", own[0], own[1]);
    check_all(shared[1] == shared[0], "%zu bytes of an operator, %zu of two", shared[0], shared[1]);
    int fits = own[0] <= planned, all;
    MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    check_all(all ? shared[0] == 0 : harness_nranks == 1 || shared[0] + planned / 2 <= own[0],
              "%zu bytes beside %zu of the plan, %zu apart", shared[0], planned, own[0]);
}

START_TEST(bytes_of_host) {
    device = NULL;
    for (int i = 0; i < 6; i++) {
        fft_case given = FFT_CASE(FFTND_R2C, 24, 24, 24);
        given.options.grid_ndims = 1 + i % 2;
        given.options.fusion = i / 2 == 0 ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
        if (i / 2 == 2)
            fft_case_fill(&given, (const int[]){12, 12, 12});
        check_bytes(&given);
    }
}
END_TEST

START_TEST(bytes_of_device) {
    NEEDS_STREAM_DEVICE();
    device = stream_device_memory();
    for (int i = 0; i < 8; i++) {
        fft_case given = FFT_CASE(FFTND_R2C, 24, 24, 24);
        given.options.space = REDIST_SPACE_CUDA;
        given.options.asynchronous = i / 4;
        fft_use_chunks(1 + i % 2 * 3, 0, 1, 0);
        if (i / 2 % 2)
            fft_case_fill(&given, (const int[]){12, 12, 12});
        check_bytes(&given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {host, in_a_stream, bytes_of_host, bytes_of_device, NULL};
    return harness_run(argc, argv, "test_fftnd_work", tests);
}
