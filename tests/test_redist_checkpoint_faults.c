/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail while checkpoints are written and read: all ranks get the same error, and the file is whole. */
#include "counters.h"
#include "fault_run.h"
#include "file_folder.h"
#include "redist_checkpoint.h"
#include "redist_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 3, COLUMNS = 40 };

struct job {
    double array[ROWS * COLUMNS];
    float converted[2][ROWS * COLUMNS];
    redist_checkpoint_request *request;
    int kind; /* of the faulty call */
};

enum { WRITE, START, READ, CONVERT, KINDS };

static const char *const kinds[KINDS] = {"write", "start", "read", "convert"};

/* Rows of all ranks, as columns of the local array, so that parts are packed; or all rows of the last rank. */
static redist_field field_of(struct job *job, redist_checkpoint_options *options) {
    redist_field field = REDIST_FIELD_DEFAULT;
    *options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    options->piece_bytes = 700;
    options->convert = 1;
    field.name = "u";
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = (redist_index)ROWS * harness_nranks;
    field.sizes[1] = field.count[1] = COLUMNS;
    field.start[0] = (redist_index)ROWS * harness_rank;
    field.count[0] = ROWS;
    field.stride[0] = 1;
    field.stride[1] = ROWS;
    field.array = job->array;
    return field;
}

static double value(int i) {
    return harness_rank * 1000 + i;
}

static void fill(struct job *job) {
    for (int i = 0; i < ROWS * COLUMNS; i++)
        job->array[i] = value(i);
}

static int write_file(struct job *job) {
    redist_checkpoint_options options;
    redist_field fields[2] = {field_of(job, &options), field_of(job, &options)};
    fields[1].name = "v";
    fill(job);
    return redist_checkpoint_write(MPI_COMM_WORLD, test_path, 2, fields, "x", 1, &options);
}

static int start_file(struct job *job) {
    redist_checkpoint_options options;
    redist_field field = field_of(job, &options);
    fill(job);
    return redist_checkpoint_write_start(MPI_COMM_WORLD, test_path, 1, &field, "x", 1, &options,
                                         &job->request);
}

static int read_file(struct job *job) {
    redist_checkpoint_options options;
    redist_field field = field_of(job, &options);
    char letter;
    return redist_checkpoint_read(MPI_COMM_WORLD, test_path, 1, &field, &letter, 1, &options);
}

/* Reads fields that were written in another precision. */
static int convert_file(struct job *job) {
    redist_checkpoint_options options;
    redist_field fields[2] = {field_of(job, &options), field_of(job, &options)};
    fields[1].name = "v";
    for (int i = 0; i < 2; i++) {
        fields[i].datatype = MPI_FLOAT;
        fields[i].array = job->converted[i];
    }
    REDIST_TRY(redist_checkpoint_read(MPI_COMM_WORLD, test_path, 2, fields, NULL, 0, &options));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        job->array[i] = (double)job->converted[1][i];
    return REDIST_OK;
}

static int plan(void *data) {
    struct job *job = data;
    int (*const calls[KINDS])(struct job *) = {write_file, start_file, read_file, convert_file};
    return calls[job->kind](job);
}

static int release(void *data) {
    struct job *job = data;
    return job->request != NULL ? redist_checkpoint_wait(&job->request) : REDIST_OK;
}

/* Reads what was written, unless that has only started or was read. */
static int execute(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job *job = data;
    int code = execution == 0 && job->kind == WRITE ? read_file(job) : REDIST_OK;
    wrong[0] = '\0';
    for (int i = 0; i < ROWS * COLUMNS && code == REDIST_OK; i++)
        if (job->array[i] != value(i))
            snprintf(wrong, FAULT_TEXT_BYTES, "element %d is %g", i, job->array[i]);
    return code;
}

START_TEST(calls_fail) {
    struct job job = {.request = NULL};
    MPI_Comm comm;
    if (write_file(&job) == REDIST_ERR_METHOD)
        skip_test("no xxHash in this build");
    check_ok(redist_private_comm(MPI_COMM_WORLD, &comm));
    fault_begin(0.3);
    for (int kind = 0; kind < KINDS && !fault_time_is_up(); kind++) {
        const fault_subject subject = {&job, 1, plan, execute, release, comm};
        check_ok(write_file(&job)); /* both fields, which a write that has started has not */
        job.kind = kind;
        fault_try_planning(&subject, kinds[kind]);
        fault_try_allocations(&subject, kinds[kind]);
    }
    fault_end();
    check_ok(read_file(&job));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {calls_fail, NULL};
    counters_begin();
    return file_tests_run(argc, argv, "test_redist_checkpoint_faults", tests);
}
