/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad use of a plan that exists, or no longer does: refused, and the arrays stay as they are. */
#include <string.h>

#include "fft_run.h"
#include "harness.h"

/* No rank of eight is without elements. */
static fft_case plain_case(void) {
    fft_case given = FFT_CASE(FFTND_R2C, 9, 10, 16);
    given.options.grid_ndims = 1;
    return given;
}

typedef int (*transform_call)(fftnd_plan *plan, void *source, void *destination);

/* Both directions fail with `code`, and the message has the text. */
static void check_refusal(fft_run *run, void *physical, void *spectral, int code,
                          const char *text) {
    static const transform_call calls[] = {fftnd_forward, fftnd_backward};
    static const char *const names[] = {"fftnd_forward", "fftnd_backward"};
    for (int i = 0; i < 2; i++) {
        fft_array_keep(run->array[0]);
        fft_array_keep(run->array[1]);
        check_code(calls[i](run->plan, i == 0 ? physical : spectral, i == 0 ? spectral : physical),
                   code);
        const char *message = redist_error_message();
        check_all(strstr(message, names[i]) != NULL, "no '%s' in: %s", names[i], message);
        check_all(strstr(message, text) != NULL, "no '%s' in: %s", text, message);
        check_all(strstr(message, "(rank ") != NULL, "no rank in: %s", message);
        check_all(fft_array_is_as_kept(run->array[0]) && fft_array_is_as_kept(run->array[1]),
                  "a refused call changed an array");
    }
}

static void create_run(const fft_case *given, fft_run *run) {
    fft_run_create(MPI_COMM_WORLD, given, run);
    fft_run_load(run, FFTND_PHYSICAL, 1);
    if (!given->options.in_place) {
        fft_run_load(run, FFTND_SPECTRAL, 1);
    }
}

static void free_run(fft_run *run) {
    fft_run_transform(run, FFTND_PHYSICAL);
    fft_run_transform(run, FFTND_SPECTRAL);
    fft_run_free(run);
}

START_TEST(null_arrays) {
    const fft_case given = plain_case();
    fft_run run;
    create_run(&given, &run);
    void *physical = fft_run_data(&run, FFTND_PHYSICAL);
    void *spectral = fft_run_data(&run, FFTND_SPECTRAL);
    check_refusal(&run, NULL, spectral, REDIST_ERR_NULL, "physical = NULL");
    check_refusal(&run, physical, NULL, REDIST_ERR_NULL, "spectral = NULL");
    free_run(&run);
}
END_TEST

/* Each array in turn begins in the other one, at its first, second and last element. */
static void check_overlaps(const fft_case *given) {
    fft_run run;
    fft_array block;
    create_run(given, &run);
    const size_t bytes[] = {run.layout[0].bytes, run.layout[1].bytes};
    check_ok(fft_array_create(MPI_COMM_WORLD, bytes[0] + bytes[1], FFT_MEMORY_HEAP, sizeof(double),
                              &block));
    run.array[0] = run.array[1] = &block;
    unsigned char *data = block.data;
    const size_t element = run.layout[FFTND_SPECTRAL].element_bytes;
    check_refusal(&run, data, data, REDIST_ERR_OVERLAP, "options->in_place");
    check_refusal(&run, data, data + element, REDIST_ERR_OVERLAP, "spectral = ");
    check_refusal(&run, data + element, data, REDIST_ERR_OVERLAP, "spectral = ");
    check_refusal(&run, data, data + bytes[0] - element, REDIST_ERR_OVERLAP, "spectral = ");
    check_refusal(&run, data + bytes[1] - element, data, REDIST_ERR_OVERLAP, "physical = ");
    run.array[0] = &run.store[0];
    run.array[1] = &run.store[1];
    check_ok(fft_array_free(&block));
    free_run(&run);
}

START_TEST(overlapping_arrays) {
    fft_case given = plain_case();
    check_overlaps(&given);
    given.options.overwrite_input = 1;
    check_overlaps(&given);
}
END_TEST

START_TEST(two_arrays_in_place) {
    fft_case given = plain_case();
    fft_run run;
    given.options.in_place = 1;
    create_run(&given, &run);
    unsigned char *data = fft_run_data(&run, FFTND_PHYSICAL);
    check_refusal(&run, data, data + 64, REDIST_ERR_ARGUMENT, "options->in_place");
    check_refusal(&run, data, NULL, REDIST_ERR_NULL, "spectral = NULL");
    free_run(&run);
}
END_TEST

START_TEST(questions_refused) {
    const fft_case given = plain_case();
    fft_run run;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    create_run(&given, &run);
    check_code(fftnd_plan_layout(run.plan, FFTND_PHYSICAL, NULL), REDIST_ERR_NULL);
    check_code(fftnd_plan_layout(run.plan, (enum fftnd_side)2, &layout), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "side = 2 is not in FFTND_PHYSICAL..FFTND_SPECTRAL") !=
                  NULL,
              "no side in: %s", redist_error_message());
    check_code(fftnd_plan_get_info(run.plan, NULL), REDIST_ERR_NULL);
    check_code(fftnd_plan_free(NULL), REDIST_ERR_NULL);
    check_ok(fftnd_plan_layout(run.plan, FFTND_SPECTRAL, &layout));
    check_ok(fftnd_plan_get_info(run.plan, &info));
    free_run(&run);
}
END_TEST

/* All functions on something that is no plan; `plan` may be NULL or freed. */
static void check_no_plan(fftnd_plan *plan) {
    double array[2] = {1, 2};
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check_code(fftnd_forward(plan, &array[0], &array[1]), REDIST_ERR_STATE);
    check_code(fftnd_backward(plan, &array[0], &array[1]), REDIST_ERR_STATE);
    check_code(fftnd_plan_layout(plan, FFTND_PHYSICAL, &layout), REDIST_ERR_STATE);
    check_code(fftnd_plan_get_info(plan, &info), REDIST_ERR_STATE);
    check_code(fftnd_plan_set_workspace(plan, array, 0), REDIST_ERR_STATE);
    check_all(array[0] == 1 && array[1] == 2, "a refused call changed an array");
}

START_TEST(plan_used_after_free) {
    const fft_case given = plain_case();
    fftnd_plan *plan = NULL;
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    fftnd_plan *freed = plan;
    check_ok(fftnd_plan_free(&plan));
    check_all(plan == NULL, "the pointer was left");
    check_no_plan(freed);
    check_code(fftnd_plan_free(&freed), REDIST_ERR_STATE);
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

START_TEST(no_plan) {
    int other = 0;
    check_no_plan(NULL);
    check_no_plan((fftnd_plan *)(void *)&other);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {null_arrays,
                                  overlapping_arrays,
                                  two_arrays_in_place,
                                  questions_refused,
                                  plan_used_after_free,
                                  no_plan,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_calls", tests);
}
