/* SPDX-License-Identifier: BSD-3-Clause */
/* HDF5 files: what they say of their contents; mistakes, and disks that are full, are the same error on all ranks. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "file_folder.h"
#include "redist_hdf5.h"

/* ---------------------------------------------------------------- slabs of doubles */

enum { ROWS = 6, COLUMNS = 5 };

/* A field of doubles in slabs, each the number of its row and column. */
static redist_field make_slab(const char *name, double array[ROWS * COLUMNS], double scale) {
    redist_field field = REDIST_FIELD_DEFAULT;
    field.name = name;
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = ROWS;
    field.sizes[1] = field.count[1] = COLUMNS;
    redist_decompose(ROWS, harness_nranks, harness_rank, &field.count[0], &field.start[0]);
    for (int i = 0; i < (int)field.count[0] * COLUMNS; i++)
        array[i] = scale * (double)(field.start[0] * COLUMNS + i);
    field.array = array;
    return field;
}

START_TEST(files_tell_what_they_have) {
    double array[ROWS * COLUMNS], other[ROWS * COLUMNS], numbers[3] = {0}, three[3] = {1, 2, 0.5};
    int64_t integers[2] = {0}, one = 1LL << 40;
    char text[64];
    int count = 0, n = 0;
    redist_hdf5 *file = NULL;
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    redist_hdf5_dataset dataset = REDIST_HDF5_DATASET_DEFAULT;
    const redist_field fields[] = {make_slab("a", array, 1.0), make_slab("group/b", other, 2.0)};
    harness_case("attributes and datasets");
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_CREATE, NULL, &file));
    check_ok(redist_hdf5_write(file, 2, fields, NULL));
    options.step = REDIST_HDF5_NEXT_STEP;
    options.spacing[0] = options.spacing[1] = 0.5;
    redist_field series = make_slab("series", array, 1.0);
    for (int step = 0; step < 3; step++) {
        options.time = 0.1 * step;
        check_ok(redist_hdf5_write(file, 1, &series, &options));
    }
    check_ok(redist_hdf5_set_numbers(file, NULL, "lengths", 3, three));
    check_ok(redist_hdf5_set_integers(file, "a", "seed", 1, &one));
    check_ok(redist_hdf5_set_text(file, "group", "title", "h\xc3\xb6he"));
    check_ok(redist_hdf5_set_text(file, "group", "title", "again"));
    check_ok(redist_hdf5_close(&file));
    check_all(file == NULL, "file is not NULL");

    check_ok(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_APPEND, NULL, &file));
    check_ok(redist_hdf5_count(file, &count));
    check_all(count == 3, "%d datasets", count);
    check_ok(redist_hdf5_info(file, 1, &dataset));
    check_all(strcmp(dataset.name, "group/b") == 0 && dataset.ndims == 2 && dataset.steps == -1 &&
                  dataset.sizes[0] == ROWS && dataset.sizes[1] == COLUMNS &&
                  dataset.number == MPI_DOUBLE && dataset.items == 1,
              "dataset 1 is %s of %d axes", dataset.name, dataset.ndims);
    check_ok(redist_hdf5_info(file, 2, &dataset));
    check_all(strcmp(dataset.name, "series") == 0 && dataset.ndims == 2 && dataset.steps == 3,
              "dataset 2 is %s with %lld steps", dataset.name, (long long)dataset.steps);
    check_ok(redist_hdf5_get_numbers(file, NULL, "lengths", 2, numbers, &n));
    check_all(n == 3 && numbers[0] == 1 && numbers[1] == 2 && numbers[2] == 0, "%d numbers", n);
    check_ok(redist_hdf5_get_integers(file, "a", "seed", 2, integers, &n));
    check_all(n == 1 && integers[0] == one, "%d integers, %lld", n, (long long)integers[0]);
    check_ok(redist_hdf5_get_text(file, "group", "title", 4, text));
    check_all(strcmp(text, "aga") == 0, "title '%s'", text);
    check_code(redist_hdf5_get_text(file, "a", "seed", 4, text), REDIST_ERR_FILE);
    check_code(redist_hdf5_get_numbers(file, "a", "none", 2, numbers, &n), REDIST_ERR_FILE);
    check_code(redist_hdf5_info(file, 3, &dataset), REDIST_ERR_ARGUMENT);
    check_ok(redist_hdf5_close(&file));
    remove(test_path);
}
END_TEST

/* ---------------------------------------------------------------- what is refused */

/* Checks that all ranks get the same message, with a word in it. */
static void check_message(const char *word) {
    char message[512] = "";
    snprintf(message, sizeof message, "%s", redist_error_message());
    check_all(strstr(message, word) != NULL, "no '%s' in: %s", word, message);
    MPI_Bcast(message, sizeof message, MPI_CHAR, 0, MPI_COMM_WORLD);
    check_all(strcmp(message, redist_error_message()) == 0, "another message: %s",
              redist_error_message());
}

START_TEST(refuses_files) {
    redist_hdf5 *file = NULL;
    for (int access = REDIST_HDF5_AUTO; access <= REDIST_HDF5_ROOT; access += REDIST_HDF5_ROOT) {
        redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
        options.access = (enum redist_hdf5_access)access;
        harness_case("access %d", access);
        check_code(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_READ, &options, &file),
                   REDIST_ERR_FILE);
        check_message("field.raw");
        check_code(redist_hdf5_open(MPI_COMM_WORLD, "/no/folder/x.h5", REDIST_HDF5_CREATE, &options,
                                    &file),
                   REDIST_ERR_FILE);
        if (harness_rank == 0) {
            FILE *text = fopen(test_path, "w");
            fputs("no HDF5", text);
            fclose(text);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        check_code(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_APPEND, &options, &file),
                   REDIST_ERR_FILE);
        check_message("HDF5");
        MPI_Barrier(MPI_COMM_WORLD);
        remove(test_path);
    }
    check_code(redist_hdf5_open(MPI_COMM_WORLD, test_path, (enum redist_hdf5_mode)3, NULL, &file),
               REDIST_ERR_ARGUMENT);
    check_message("mode");
    redist_hdf5_file_options reserved = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    reserved.reserved = harness_rank == harness_nranks - 1;
    check_code(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_CREATE, &reserved, &file),
               REDIST_ERR_ARGUMENT);
    check_message("options->reserved = 1");
    check_code(redist_hdf5_open(MPI_COMM_WORLD, NULL, REDIST_HDF5_READ, NULL, &file),
               REDIST_ERR_NULL);
    if (harness_nranks > 1) {
        check_code(redist_hdf5_open(MPI_COMM_WORLD, harness_rank == 1 ? "other" : test_path,
                                    REDIST_HDF5_CREATE, NULL, &file),
                   REDIST_ERR_DISAGREE);
        check_message("path");
    }
    check_all(file == NULL, "a file after errors");
}
END_TEST

/* Writes a field, which is refused with a word in the message. */
static void refuse(redist_hdf5 *file, redist_field field, const redist_hdf5_options *options,
                   int code, const char *word) {
    harness_case("%s", word);
    check_code(redist_hdf5_write(file, 1, &field, options), code);
    check_message(word);
}

START_TEST(refuses_fields) {
    double array[ROWS * COLUMNS] = {0}, other[ROWS * COLUMNS];
    redist_hdf5 *file = NULL;
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    const int last = harness_rank == harness_nranks - 1;
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_CREATE, NULL, &file));
    redist_field field = make_slab("a", array, 1.0), wrong = field;
    redist_hdf5_dataset dataset = REDIST_HDF5_DATASET_DEFAULT;
    check_ok(redist_hdf5_write(file, 1, &field, NULL));

    wrong.name = NULL;
    refuse(file, wrong, NULL, REDIST_ERR_NULL, "fields[0].name");
    wrong = field, wrong.count[1] = last ? COLUMNS + 1 : COLUMNS;
    refuse(file, wrong, NULL, REDIST_ERR_SIZE, "count[1] = 6");
    wrong = field, wrong.datatype = last ? MPI_DATATYPE_NULL : MPI_DOUBLE;
    refuse(file, wrong, NULL, REDIST_ERR_DATATYPE, "MPI_DATATYPE_NULL");
    wrong = field, wrong.datatype = MPI_2INT;
    refuse(file, wrong, NULL, REDIST_ERR_DATATYPE, "MPI_Type_contiguous");
    wrong = field, wrong.array = last ? NULL : array, wrong.count[0] = last ? 1 : field.count[0];
    wrong.start[0] = last ? ROWS - 1 : field.start[0];
    refuse(file, wrong, NULL, REDIST_ERR_NULL, "fields[0].array");
    wrong = field, wrong.selected_start[0] = ROWS + 1;
    refuse(file, wrong, NULL, REDIST_ERR_SIZE, "selected_start[0] = 7");
    wrong = field, wrong.count[0] = last ? 0 : field.count[0];
    refuse(file, wrong, NULL, REDIST_ERR_SIZE, "selected elements");
    wrong = field, wrong.selected_count[0] = 2;
    refuse(file, wrong, NULL, REDIST_ERR_FILE, "6 x 5");
    wrong = field, wrong.datatype = MPI_INT64_T;
    refuse(file, wrong, NULL, REDIST_ERR_FILE, "another type");
    if (harness_nranks > 1) {
        wrong = field, wrong.name = last ? "b" : "a";
        refuse(file, wrong, NULL, REDIST_ERR_DISAGREE, "fields[0].name");
        wrong = field, wrong.datatype = last ? MPI_INT64_T : MPI_DOUBLE;
        refuse(file, wrong, NULL, REDIST_ERR_DISAGREE, "\"f\" on rank 0, \"i\" on rank");
        wrong = field, wrong.start[0] = 0, wrong.count[0] = ROWS;
        refuse(file, wrong, NULL, REDIST_ERR_OVERLAP, "overlaps that of rank");
    }
    options.step = REDIST_HDF5_LAST_STEP;
    refuse(file, field, &options, REDIST_ERR_ARGUMENT, "options->step");
    options.step = 0;
    refuse(file, field, &options, REDIST_ERR_FILE, "REDIST_HDF5_NO_STEP");
    options = REDIST_HDF5_OPTIONS_DEFAULT, options.compression = 10;
    refuse(file, field, &options, REDIST_ERR_ARGUMENT, "options->compression = 10");
    options = REDIST_HDF5_OPTIONS_DEFAULT, options.reserved = 1;
    refuse(file, field, &options, REDIST_ERR_ARGUMENT, "options->reserved = 1");
    wrong = field, wrong.name = "a/b";
    refuse(file, wrong, NULL, REDIST_ERR_FILE, "HDF5 cannot");
    const redist_field twice[2] = {field, field};
    check_code(redist_hdf5_write(file, 2, twice, NULL), REDIST_ERR_ARGUMENT);
    check_message("fields[1].name = 'a'");
    check_code(redist_hdf5_xdmf(file, test_path), REDIST_ERR_ARGUMENT);
    check_message("is that of the HDF5 file");
    check_code(redist_hdf5_info(file, 1, &dataset), REDIST_ERR_ARGUMENT);
    check_message("index = 1");
    check_code(redist_hdf5_get_numbers(file, NULL, "key", -1, array, NULL), REDIST_ERR_ARGUMENT);
    check_message("most = -1");

    redist_field missing = make_slab("none", other, 1.0);
    check_code(redist_hdf5_read(file, 1, &missing, NULL), REDIST_ERR_FILE);
    check_message("no dataset 'none'");
    missing = field, missing.datatype = MPI_C_DOUBLE_COMPLEX;
    check_code(redist_hdf5_read(file, 1, &missing, NULL), REDIST_ERR_FILE);
    check_message("does not convert");
    memset(array, 0, sizeof array);
    check_ok(redist_hdf5_read(file, 1, &field, NULL));
    check_all(field.count[0] == 0 || array[COLUMNS - 1] == (double)(field.start[0] * COLUMNS + 4),
              "the dataset has changed: %g", array[COLUMNS - 1]);
    check_ok(redist_hdf5_close(&file));
    check_code(redist_hdf5_write(file, 1, &field, NULL), REDIST_ERR_STATE);
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_READ, NULL, &file));
    refuse(file, field, NULL, REDIST_ERR_STATE, "REDIST_HDF5_APPEND");
    check_code(redist_hdf5_set_text(file, NULL, "key", "text"), REDIST_ERR_STATE);
    check_ok(redist_hdf5_close(&file));
    remove(test_path);
}
END_TEST

/* ---------------------------------------------------------------- failures in the middle */

/* Limits the size of files, in the place of a full disk; 0 = the limit before. */
static void limit_files(rlim_t bytes) {
    static struct rlimit before;
    struct rlimit limit;
    if (bytes > 0)
        getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = bytes > 0 ? bytes : before.rlim_cur;
    setrlimit(RLIMIT_FSIZE, &limit);
}

enum { WIDE = 1000, COUNT = 40, LIMIT = 1 << 16 };

static redist_field make_wide(void) {
    redist_field field = REDIST_FIELD_DEFAULT;
    field.name = "wide";
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = WIDE;
    field.sizes[1] = field.count[1] = COUNT;
    redist_decompose(WIDE, harness_nranks, harness_rank, &field.count[0], &field.start[0]);
    field.array = calloc((size_t)(field.count[0] * COUNT) + 1, sizeof(double));
    return field;
}

/* Fails to write on some ranks, and writes once the disk has room again. */
static void fill_disk(enum redist_hdf5_access access, int is_limited) {
    redist_hdf5 *file = NULL;
    redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    redist_field field = make_wide();
    options.access = access;
    options.buffer_bytes = 1 << 14;
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_CREATE, &options, &file));
    if (is_limited)
        limit_files(LIMIT);
    int code = redist_hdf5_write(file, 1, &field, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_limited)
        limit_files(0);
    check_all(code == REDIST_ERR_FILE, "a write beyond the limit returns %d", code);
    check_message("HDF5 cannot write");
    check_ok(redist_hdf5_write(file, 1, &field, NULL));
    check_ok(redist_hdf5_close(&file));
    free(field.array);
    remove(test_path);
}

/* Returns whether HDF5 has MPI, so that all ranks write. */
static int all_may_write(void) {
    redist_hdf5 *file = NULL;
    redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    options.access = REDIST_HDF5_ALL;
    int code = redist_hdf5_open(MPI_COMM_WORLD, test_path, REDIST_HDF5_CREATE, &options, &file);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "access of all ranks: %d", code);
    if (code == REDIST_OK)
        check_ok(redist_hdf5_close(&file));
    return code == REDIST_OK;
}

START_TEST(fails_on_all_ranks) {
    signal(SIGXFSZ, SIG_IGN);
    harness_case("all ranks, on all of them");
    fill_disk(REDIST_HDF5_AUTO, 1);
    harness_case("all ranks, on rank 0");
    fill_disk(REDIST_HDF5_AUTO, harness_rank == 0);
    harness_case("all ranks, on the last one");
    if (all_may_write())
        fill_disk(REDIST_HDF5_AUTO, harness_rank == harness_nranks - 1);
    harness_case("rank 0");
    fill_disk(REDIST_HDF5_ROOT, harness_rank == 0);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {files_tell_what_they_have, refuses_files, refuses_fields,
                                  fails_on_all_ranks, NULL};
    return file_tests_run(argc, argv, "test_redist_hdf5_errors", tests);
}
