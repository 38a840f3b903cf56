/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail while a file is written and while it is read: all ranks get an error, or all are right. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "fault_run.h"
#include "file_folder.h"
#include "redist_file.h"
#include "redist_support.h"

enum { ROWS = 6, COLUMNS = 8 };

/* Columns of a matrix, in the order of columns, so that parts are packed; in several rounds. */
struct job {
    int writes, starts;
    double *array;
};

static redist_field field_of(const struct job *job) {
    redist_field field = REDIST_FIELD_DEFAULT;
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = field.count[0] = ROWS;
    field.sizes[1] = COLUMNS;
    redist_decompose(COLUMNS, harness_nranks, harness_rank, &field.count[1], &field.start[1]);
    field.stride[0] = 1;
    field.stride[1] = ROWS;
    field.array = job->array;
    return field;
}

static double value_of(const redist_field *field, int i) {
    return (double)(field->start[1] * ROWS + i);
}

/* Writes or reads the file, whose call is to fail. */
static int move(void *data) {
    const struct job *job = data;
    const redist_field field = field_of(job);
    redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
    redist_file_request *request = NULL;
    options.buffer_bytes = 64;
    for (int i = 0; i < ROWS * (int)field.count[1]; i++)
        job->array[i] = job->writes ? value_of(&field, i) : -1;
    if (!job->writes)
        return redist_read(MPI_COMM_WORLD, test_path, 1, &field, &options);
    if (!job->starts)
        return redist_write(MPI_COMM_WORLD, test_path, 1, &field, &options);
    REDIST_TRY(redist_write_start(MPI_COMM_WORLD, test_path, 1, &field, &options, &request));
    return redist_file_wait(&request);
}

/* Looks at what was read, or reads what was written, without faults. */
static int look(void *data, int execution, char wrong[FAULT_TEXT_BYTES]) {
    struct job reads = *(struct job *)data;
    const redist_field field = field_of(&reads);
    (void)execution;
    reads.writes = 0;
    wrong[0] = '\0';
    REDIST_TRY(move(&reads));
    for (int i = 0; i < ROWS * (int)field.count[1]; i++)
        if (reads.array[i] != value_of(&field, i))
            snprintf(wrong, FAULT_TEXT_BYTES, "element %d is %g, not %g", i, reads.array[i],
                     value_of(&field, i));
    return REDIST_OK;
}

static int release(void *data) {
    (void)data;
    return REDIST_OK;
}

START_TEST(files) {
    static const char *const kinds[] = {"write", "start", "read"};
    double array[ROWS * COLUMNS];
    MPI_Comm comm;
    check_ok(redist_private_comm(MPI_COMM_WORLD, &comm));
    fault_begin(0.2);
    for (int i = 0; i < 3; i++) {
        struct job job = {i < 2, i == 1, array};
        const fault_subject subject = {&job, 1, move, look, release, comm};
        harness_case("%s", kinds[i]);
        check_ok(move(&job));
        fault_try_planning(&subject, kinds[i]);
        fault_try_allocations(&subject, kinds[i]);
    }
    fault_end();
    ck_assert_msg(fcntl(STDIN_FILENO, F_GETFD) != -1, "a call that failed has closed descriptor 0");
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {files, NULL};
    counters_begin();
    while (open("/dev/null", O_RDWR) <= STDERR_FILENO) { /* descriptor 0 is open */
    }
    return file_tests_run(argc, argv, "test_redist_file_faults", tests);
}
