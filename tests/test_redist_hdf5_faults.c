/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocations that fail while HDF5 files are written and read: all ranks get the same error, and none waits. */
#include "counters.h"
#include "file_folder.h"
#include "harness.h"
#include "random.h"
#include "redist_hdf5.h"
#include "redist_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 4, COLUMNS = 5, TEXT = 8 };

struct job {
    double array[ROWS * COLUMNS];
    enum redist_hdf5_access access;
    int writes;
};

static redist_field field_of(struct job *job) {
    redist_field field = REDIST_FIELD_DEFAULT;
    field.name = "group/u";
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = ROWS;
    field.sizes[1] = field.count[1] = COLUMNS;
    redist_decompose(ROWS, harness_nranks, harness_rank, &field.count[0], &field.start[0]);
    field.array = job->array;
    return field;
}

/* Calls all functions for an open file, up to the first that fails. */
static int use(redist_hdf5 *file, struct job *job) {
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    const redist_field field = field_of(job);
    char text[TEXT];
    int count;
    options.step = job->writes ? REDIST_HDF5_NEXT_STEP : REDIST_HDF5_LAST_STEP;
    options.spacing[0] = options.spacing[1] = 1.0;
    if (!job->writes) {
        REDIST_TRY(redist_hdf5_read(file, 1, &field, &options));
        REDIST_TRY(redist_hdf5_count(file, &count));
        return redist_hdf5_get_text(file, NULL, "title", TEXT, text);
    }
    REDIST_TRY(redist_hdf5_write(file, 1, &field, &options));
    return redist_hdf5_set_text(file, NULL, "title", "a title");
}

static int plan(void *data) {
    struct job *job = data;
    redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    redist_hdf5 *file;
    options.access = job->access;
    options.buffer_bytes = 2 * COLUMNS * sizeof(double);
    REDIST_TRY(redist_hdf5_open(MPI_COMM_WORLD, test_path,
                                job->writes ? REDIST_HDF5_CREATE : REDIST_HDF5_READ, &options,
                                &file));
    int code = use(file, job), closed = redist_hdf5_close(&file);
    return code != REDIST_OK ? code : closed;
}

/* Lets one allocation of a rank fail, any of those that a call without failures needs. */
static void fail_one(struct job *job, int guilty) {
    struct job whole = *job;
    whole.writes = 1; /* a write that fails leaves a file without what is read */
    check_ok(plan(&whole));
    long before = counters_memory_asked();
    check_ok(plan(job));
    int needed = (int)(counters_memory_asked() - before), highest = 0;
    MPI_Bcast(&needed, 1, MPI_INT, guilty, MPI_COMM_WORLD);
    int number = random_between(1, needed);
    harness_case("%s, access %d: allocation %d of %d fails on rank %d",
                 job->writes ? "write" : "read", (int)job->access, number, needed, guilty);
    counters_fail_memory(harness_rank == guilty ? number : 0);
    int code = plan(job);
    counters_fail_memory(0);
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    check_all(code == highest, "%s here, %s elsewhere", redist_error_name(code),
              redist_error_name(highest));
    check_all(code == REDIST_OK || code == REDIST_ERR_MEMORY, "%s", redist_error_message());
}

START_TEST(allocations_fail) {
    enum { TRIES = 8, ACCESSES = 2 };
    for (int i = 0; i < TRIES * ACCESSES; i++) {
        struct job job = {.access = i % ACCESSES != 0 ? REDIST_HDF5_ROOT : REDIST_HDF5_AUTO};
        for (job.writes = 1; job.writes >= 0; job.writes--) {
            fail_one(&job, 0);
            fail_one(&job, harness_nranks - 1);
        }
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {allocations_fail, NULL};
    counters_begin();
    return file_tests_run(argc, argv, "test_redist_hdf5_faults", tests);
}
