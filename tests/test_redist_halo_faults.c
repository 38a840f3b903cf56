/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail while ghosts are filled and accumulated, and while their plans are made. */
#include <stdio.h>
#include <string.h>

#include "counters.h"
#include "exchanges.h"
#include "fault_run.h"
#include "redist_halo.h"
#include "redist_support.h"

/* Two rows of the global array on each rank; the halo is the whole array once before them and once behind, and a column
 * on both sides: each rank shows each row twice, and the first and the last column once more. */
enum { ROWS = 2, COLUMNS = 3, WIDTH = COLUMNS + 2 };

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
    box.offset[1] = halo.low[1] = halo.high[1] = 1;
    box.extent[1] = WIDTH;
    halo.periodic[0] = halo.periodic[1] = halo.corners = 1;
    return redist_plan_halo(MPI_COMM_WORLD, MPI_DOUBLE, 2, sizes, &box, job->array, &halo, &options,
                            &job->plan);
}

static int release(void *data) {
    struct job *job = data;
    return redist_plan_free(&job->plan);
}

/* The value of the element that the local array holds or shows in a row and a column. */
static double value_of(redist_index row, int column) {
    redist_index global = (row + (redist_index)ROWS * harness_rank) % rows();
    return (double)(global * COLUMNS + (column + COLUMNS - 1) % COLUMNS);
}

static int is_own(redist_index row, int column) {
    return row >= rows() && row < rows() + ROWS && column >= 1 && column <= COLUMNS;
}

/* The ghosts that show an element of this rank. */
static int ghosts_of(int column) {
    int is_shown_beside = column == 1 || column == COLUMNS;
    return (2 * harness_nranks + 1) * (1 + is_shown_beside) - 1;
}

static double expected_at(int direction, redist_index row, int column) {
    if (direction == REDIST_FILL)
        return value_of(row, column);
    return is_own(row, column) ? value_of(row, column) + ghosts_of(column) : 1;
}

static int execute(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job *job = data;
    int direction = execution == 0 ? job->first : !job->first;
    for (redist_index row = 0; row < 2 * rows() + ROWS; row++)
        for (int column = 0; column < WIDTH; column++)
            job->array[row * WIDTH + column] = is_own(row, column) ? value_of(row, column) : 1;
    int code = job->starts ? redist_plan_start(job->plan, direction)
                           : redist_plan_execute(job->plan, direction);
    if (code == REDIST_OK && job->starts)
        code = redist_plan_wait(job->plan);
    wrong[0] = '\0';
    for (redist_index row = 0; row < 2 * rows() + ROWS && code == REDIST_OK; row++)
        for (int column = 0; column < WIDTH; column++) {
            double expected = expected_at(direction, row, column);
            double found = job->array[row * WIDTH + column];
            if (found != expected)
                snprintf(wrong, FAULT_TEXT_BYTES, "row %lld, column %d is %g, not %g",
                         (long long)row, column, found, expected);
        }
    return code;
}

typedef void try_subject(const fault_subject *subject, const char *name);

static const char *name_at(int index) {
    return index == 0 ? "axes:p2p" : index == 1 ? "axes:direct" : request_name(index - 2);
}

static void try_methods(try_subject *run) {
    MPI_Comm comm;
    void *array;
    check_ok(redist_private_comm(MPI_COMM_WORLD, &comm));
    check_ok(
        redist_alloc(MPI_COMM_WORLD, (size_t)(2 * rows() + ROWS) * WIDTH * sizeof(double), &array));
    fault_begin(0.3);
    for (int i = 0; i < request_count() + 2 && !fault_time_is_up(); i++) {
        struct job job = {name_at(i), random_chance(50), random_between(0, 1), array, NULL};
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
