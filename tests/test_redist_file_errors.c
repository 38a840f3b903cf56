/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw files: mistakes, and files that the system refuses, are the same error on all ranks, and change nothing. */
#include "file_folder.h"
#include "harness.h"
#include "random.h"
#include "redist_file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 64, COLUMNS = 64 };

/* A field of 64 x 64 doubles, in slabs. */
static redist_field make_slab(double array[ROWS * COLUMNS]) {
    const redist_index sizes[2] = {ROWS, COLUMNS};
    redist_box box = REDIST_BOX_DEFAULT;
    redist_field field = REDIST_FIELD_DEFAULT;
    redist_decompose(ROWS, harness_nranks, harness_rank, &box.count[0], &box.start[0]);
    box.count[1] = COLUMNS;
    check_ok(redist_field_set_box(&field, 2, sizes, &box));
    field.datatype = MPI_DOUBLE;
    field.array = array;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        array[i] = i;
    return field;
}

static void check_message(int code, int expected, const char *text) {
    check_code(code, expected);
    check_all(strstr(redist_error_message(), text) != NULL, "\"%s\" is not in \"%s\"", text,
              redist_error_message());
}

/* A mistake of one rank, or of all. */
struct mistake {
    const char *text;
    int code;
    void (*make)(redist_field *field, redist_file_options *options);
    int of_all;
};

static void no_type(redist_field *field, redist_file_options *options) {
    (void)options;
    field->datatype = MPI_DATATYPE_NULL;
}
static void no_axes(redist_field *field, redist_file_options *options) {
    (void)options;
    field->ndims = 0;
}
static void negative_size(redist_field *field, redist_file_options *options) {
    (void)options;
    field->sizes[1] = -1;
}
static void beyond(redist_field *field, redist_file_options *options) {
    (void)options;
    field->start[1] = 1;
}
static void hole(redist_field *field, redist_file_options *options) {
    (void)options;
    field->count[1]--;
}
static void selected_beyond(redist_field *field, redist_file_options *options) {
    (void)options;
    field->selected_start[0] = ROWS + 1;
}
static void negative_step(redist_field *field, redist_file_options *options) {
    (void)options;
    field->selected_step[1] = -2;
}
static void no_stride(redist_field *field, redist_file_options *options) {
    (void)options;
    field->stride[1] = 0;
}
static void no_array(redist_field *field, redist_file_options *options) {
    (void)options;
    field->array = NULL;
}
static void wrong_space(redist_field *field, redist_file_options *options) {
    (void)options;
    field->space = (enum redist_space)9;
}
static void no_method(redist_field *field, redist_file_options *options) {
    (void)field;
    options->method = "floppy";
}
static void negative_offset(redist_field *field, redist_file_options *options) {
    (void)field;
    options->offset = -1;
}
static void negative_writers(redist_field *field, redist_file_options *options) {
    (void)field;
    options->writers_per_node = -1;
}
static void reserved_option(redist_field *field, redist_file_options *options) {
    (void)field;
    options->reserved = 1;
}
static void reserved_member(redist_field *field, redist_file_options *options) {
    (void)options;
    field->reserved = 7;
}
static void other_offset(redist_field *field, redist_file_options *options) {
    (void)field;
    options->offset = harness_rank == harness_nranks - 1 ? 8 : 0;
}
static void other_step(redist_field *field, redist_file_options *options) {
    (void)options;
    field->selected_step[0] = harness_rank == harness_nranks - 1 ? 2 : 1;
}
static void other_type(redist_field *field, redist_file_options *options) {
    (void)options;
    field->datatype = harness_rank == harness_nranks - 1 ? MPI_FLOAT : MPI_DOUBLE;
}
static void overlap(redist_field *field, redist_file_options *options) {
    (void)options;
    field->start[0] = 0;
    field->count[0] = 2;
}
static void too_far(redist_field *field, redist_file_options *options) {
    (void)field;
    options->offset = INT64_MAX - 5;
}

static const struct mistake mistakes[] = {
    {"fields[0]: datatype = MPI_DATATYPE_NULL", REDIST_ERR_DATATYPE, no_type, 0},
    {"fields[0].ndims = 0", REDIST_ERR_ARGUMENT, no_axes, 0},
    {"fields[0].sizes[1] = -1", REDIST_ERR_SIZE, negative_size, 0},
    {"fields[0].start[1] = 1", REDIST_ERR_SIZE, beyond, 0},
    {"selected elements", REDIST_ERR_SIZE, hole, 0},
    {"fields[0].selected_start[0] = 65", REDIST_ERR_SIZE, selected_beyond, 0},
    {"fields[0].selected_step[1] = -2", REDIST_ERR_SIZE, negative_step, 0},
    {"fields[0].stride[1] = 0", REDIST_ERR_SIZE, no_stride, 0},
    {"fields[0].array = NULL", REDIST_ERR_NULL, no_array, 0},
    {"fields[0].space = 9", REDIST_ERR_ARGUMENT, wrong_space, 0},
    {"options->method = \"floppy\"", REDIST_ERR_METHOD, no_method, 0},
    {"options->offset = -1", REDIST_ERR_ARGUMENT, negative_offset, 0},
    {"options->writers_per_node = -1", REDIST_ERR_ARGUMENT, negative_writers, 0},
    {"options->reserved = 1", REDIST_ERR_ARGUMENT, reserved_option, 0},
    {"fields[0]->reserved = 7", REDIST_ERR_ARGUMENT, reserved_member, 0},
    {"options->offset", REDIST_ERR_LIMIT, too_far, 1},
    {"options->offset: 0 on rank 0, 8 on rank", REDIST_ERR_DISAGREE, other_offset, 2},
    {"fields[0].selected_step", REDIST_ERR_DISAGREE, other_step, 2},
    {"fields[0].the extent of datatype", REDIST_ERR_DISAGREE, other_type, 2},
    {"overlaps that of rank", REDIST_ERR_OVERLAP, overlap, 2},
};

START_TEST(mistakes_are_refused) {
    static double array[ROWS * COLUMNS];
    if (harness_rank == 0)
        make_old_file(100);
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        const struct mistake *mistake = &mistakes[i];
        redist_field field = make_slab(array);
        redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
        int culprit = random_between(0, harness_nranks - 1);
        if (mistake->of_all == 2 && harness_nranks == 1)
            continue;
        harness_case("%s by rank %d", mistake->text, culprit);
        if (mistake->of_all || harness_rank == culprit)
            mistake->make(&field, &options);
        check_message(redist_write(MPI_COMM_WORLD, test_path, 1, &field, &options), mistake->code,
                      mistake->text);
    }
    file_image found = {NULL, 100};
    if (harness_rank == 0)
        found = read_image();
    check_all(found.length == 100, "a refused call has changed the file");
    free(found.bytes);
}
END_TEST

START_TEST(pointers_and_paths_are_refused) {
    static double array[ROWS * COLUMNS];
    redist_field field = make_slab(array);
    redist_file_request *request = NULL;
    int last = harness_rank == harness_nranks - 1;
    char other[PATH_MAX + 8];
    check_message(redist_write(MPI_COMM_WORLD, last ? NULL : test_path, 1, &field, NULL),
                  REDIST_ERR_NULL, "path = NULL");
    check_message(redist_write(MPI_COMM_WORLD, last ? "" : test_path, 1, &field, NULL),
                  REDIST_ERR_ARGUMENT, "path = \"\"");
    check_message(redist_write(MPI_COMM_WORLD, test_path, 1, last ? NULL : &field, NULL),
                  REDIST_ERR_NULL, "fields = NULL");
    check_message(redist_write(MPI_COMM_WORLD, test_path, last ? -1 : 1, &field, NULL),
                  REDIST_ERR_ARGUMENT, "nfields = -1");
    check_message(
        redist_write_start(MPI_COMM_WORLD, test_path, 1, &field, NULL, last ? NULL : &request),
        REDIST_ERR_NULL, "request = NULL");
    check_code(redist_write(MPI_COMM_NULL, test_path, 1, &field, NULL), REDIST_ERR_COMM);
    check_code(redist_file_wait(NULL), REDIST_ERR_NULL);
    check_code(redist_file_wait(&request), REDIST_ERR_NULL);
    request = (redist_file_request *)(void *)&field;
    check_code(redist_file_wait(&request), REDIST_ERR_STATE);
    snprintf(other, sizeof other, "%s%s", test_path, last ? ".other" : "");
    if (harness_nranks > 1)
        check_message(redist_read(MPI_COMM_WORLD, other, 1, &field, NULL), REDIST_ERR_DISAGREE,
                      "path");
}
END_TEST

/* Calls with a file that the system refuses: the array that would be read is unchanged. */
static void check_refused_file(const char *name, const char *method, int writes, const char *text) {
    static double array[ROWS * COLUMNS];
    redist_field field = make_slab(array);
    redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
    options.method = method;
    options.truncate = 0;
    options.buffer_bytes = 4096; /* several rounds */
    harness_case("%s %s, method %s", writes ? "write" : "read", name, method);
    double begin = MPI_Wtime();
    check_message(writes ? redist_write(MPI_COMM_WORLD, name, 1, &field, &options)
                         : redist_read(MPI_COMM_WORLD, name, 1, &field, &options),
                  REDIST_ERR_FILE, text);
    check_all(MPI_Wtime() - begin < 30, "the error took %g seconds", MPI_Wtime() - begin);
    int same = 1;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        same &= (int)array[i] == i;
    check_all(same, "the array is changed");
}

START_TEST(files_are_refused) {
    char name[PATH_MAX + 16];
    const char *const both[] = {"stripes", "mpi"};
    for (int m = 0; m < 2; m++) {
        (void)snprintf(name, sizeof name, "%s/none/file", test_folder);
        check_refused_file(name, both[m], 1, strerror(ENOENT));
        check_refused_file(name, both[m], 0, strerror(ENOENT));
        check_refused_file(test_folder, both[m], 1, strerror(EISDIR));
        check_refused_file(test_folder, both[m], 0, "not a regular file");
        if (harness_rank == 0)
            make_old_file(ROWS * COLUMNS * sizeof(double) - 1);
        MPI_Barrier(MPI_COMM_WORLD);
        check_refused_file(test_path, both[m], 0, "too short: it has 32767 bytes");
        (void)snprintf(name, sizeof name, "%s/fifo", test_folder);
        if (harness_rank == 0)
            (void)mkfifo(name, 0600);
        MPI_Barrier(MPI_COMM_WORLD);
        check_refused_file(name, both[m], 1, name);
        check_refused_file(name, both[m], 0, "not a regular file");
    }
}
END_TEST

START_TEST(no_permission) {
    if (geteuid() == 0)
        skip_test("root may write all files");
    if (harness_rank == 0) {
        make_old_file(ROWS * COLUMNS * sizeof(double));
        (void)chmod(test_path, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_refused_file(test_path, "stripes", 1, strerror(EACCES));
    check_refused_file(test_path, "stripes", 0, strerror(EACCES));
}
END_TEST

START_TEST(the_disk_is_full) {
    if (access("/dev/full", W_OK) != 0)
        skip_test("/dev/full is not here");
    check_refused_file("/dev/full", "stripes", 1, strerror(ENOSPC));
}
END_TEST

/* A disk that becomes full in the middle: the first pieces are written. */
START_TEST(the_disk_becomes_full) {
    static double array[ROWS * COLUMNS];
    char disk[PATH_MAX], name[PATH_MAX + 8];
    int mounted = 1;
    (void)snprintf(disk, sizeof disk, "%s/disk", test_folder);
    (void)snprintf(name, sizeof name, "%s/file", disk);
    if (harness_rank == 0)
        mounted = mkdir(disk, 0700) == 0 && mount("tmpfs", disk, "tmpfs", 0, "size=16k") == 0;
    MPI_Bcast(&mounted, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!mounted)
        skip_test("a small disk cannot be mounted");
    check_refused_file(name, "stripes", 1, strerror(ENOSPC));
    check_refused_file(name, "mpi", 1, strerror(ENOSPC));
    redist_field field = make_slab(array);
    redist_file_request *request = NULL;
    int code = redist_write_start(MPI_COMM_WORLD, name, 1, &field, NULL, &request);
    if (code == REDIST_OK)
        code = redist_file_wait(&request);
    check_message(code, REDIST_ERR_FILE, strerror(ENOSPC));
    if (harness_rank == 0) {
        (void)unlink(name);
        (void)umount(disk);
        (void)rmdir(disk);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {mistakes_are_refused,
                                  pointers_and_paths_are_refused,
                                  files_are_refused,
                                  no_permission,
                                  the_disk_is_full,
                                  the_disk_becomes_full,
                                  NULL};
    return file_tests_run(argc, argv, "test_redist_file_errors", tests);
}
