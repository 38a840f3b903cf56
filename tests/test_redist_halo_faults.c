/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail while ghosts are filled and accumulated, and while their plans are made. */
#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "exchanges.h"
#include "fault_run.h"
#include "redist_halo.h"
#include "redist_support.h"

/* Two rows of the global array on each rank; the halo is the whole array once before them and once behind, so that each
 * rank shows each element twice. */
enum { ROWS = 2, COLUMNS = 3 };

struct job {
    const char *method;
    int starts, first; /* the direction of the first execution */
    double *array;
    redist_plan *plan;
};

static redist_index rows(void) {
    return (redist_index)ROWS * harness_nranks;
}

static int plan(void *data) {
    struct job *job = data;
    const redist_index sizes[2] = {rows(), COLUMNS};
    redist_box box = REDIST_BOX_DEFAULT;
    redist_halo halo = REDIST_HALO_DEFAULT;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = job->method;
    box.start[0] = (redist_index)ROWS * harness_rank;
    box.count[0] = ROWS;
    box.count[1] = COLUMNS;
    box.offset[0] = halo.low[0] = halo.high[0] = rows();
    box.extent[0] = 2 * rows() + ROWS;
    halo.periodic[0] = 1;
    return redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, &box, job->array, &halo, &options,
                            &job->plan);
}

static int release(void *data) {
    struct job *job = data;
    return redist_plan_free(&job->plan);
}

/* The value of the element that a row of the local array holds or shows. */
static double value_of(redist_index row, int column) {
    redist_index global = (row + (redist_index)ROWS * harness_rank) % rows();
    return (double)(global * COLUMNS + column);
}

static int is_own(redist_index row) {
    return row >= rows() && row < rows() + ROWS;
}

static int execute(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job *job = data;
    int direction = execution == 0 ? job->first : !job->first;
    for (redist_index row = 0; row < 2 * rows() + ROWS; row++)
        for (int column = 0; column < COLUMNS; column++)
            job->array[row * COLUMNS + column] = is_own(row) ? value_of(row, column) : 1;
    int code = job->starts ? redist_plan_start(job->plan, direction)
                           : redist_plan_execute(job->plan, direction);
    if (code == REDIST_OK && job->starts)
        code = redist_plan_wait(job->plan);
    wrong[0] = '\0';
    double sum = direction == REDIST_ACCUMULATE ? 2 * harness_nranks : 0;
    for (redist_index row = 0; row < 2 * rows() + ROWS && code == REDIST_OK; row++)
        for (int column = 0; column < COLUMNS; column++) {
            double expected = is_own(row)                ? value_of(row, column) + sum
                              : direction == REDIST_FILL ? value_of(row, column)
                                                         : 1;
            double found = job->array[row * COLUMNS + column];
            if (found != expected)
                snprintf(wrong, FAULT_TEXT_BYTES, "row %lld, column %d is %g, not %g",
                         (long long)row, column, found, expected);
        }
    return code;
}

typedef void try_subject(const fault_subject *subject, const char *name);

static void try_methods(try_subject *run) {
    MPI_Comm comm;
    void *array;
    check_ok(redist_private_comm(MPI_COMM_WORLD, &comm));
    check_ok(redist_alloc(MPI_COMM_WORLD, (size_t)(2 * rows() + ROWS) * COLUMNS * sizeof(double),
                          &array));
    fault_begin(0.3);
    for (int i = 0; i < request_count() && !fault_time_is_up(); i++) {
        struct job job = {request_name(i), random_chance(50), random_between(0, 1), array, NULL};
        const fault_subject subject = {&job, 1, plan, execute, release, comm};
        harness_case("halo by %s, %s", job.method, job.starts ? "start" : "execute");
        int code = plan(&job);
        check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "%s", redist_error_message());
        check_ok(redist_plan_free(&job.plan));
        if (code == REDIST_OK && strcmp(job.method, "auto") != 0)
            run(&subject, harness_current_case());
    }
    fault_end();
    check_ok(redist_free(&array));
}

START_TEST(executions) {
    try_methods(fault_try_executions);
}
END_TEST

START_TEST(plans) {
    try_methods(fault_try_planning);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {executions, plans, NULL};
    counters_begin();
    return harness_run(argc, argv, "test_redist_halo_faults", tests);
}
