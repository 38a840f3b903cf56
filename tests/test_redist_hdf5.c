/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fields in HDF5 files: random ones, written by some ranks, read by others and by HDF5 alone; attributes, lists of
 * datasets and descriptions in XDMF; and what is refused.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hdf5.h>

#include "harness.h"
#include "redist_hdf5.h"
#include "stream_device.h"

/* NULL unless the library has a device that stands in for CUDA's: then half of the arrays are there. */
const test_device *stream_device_memory(void) __attribute__((weak));

enum { MAX_NDIMS = 4, MAX_EXTENT = 7, MAX_STEPS = 3, PATH_BYTES = 200 };

/* ---------------------------------------------------------------- elements */

typedef struct kind {
    const char *name;
    char number; /* d, f, i (4 bytes), q (8), s (2, no sign), b (1) */
    int components;
    size_t bytes;
    MPI_Datatype base;
    int contiguous; /* of so many of the base; 0 = the base itself */
} kind;

enum { KINDS = 8 };

static kind kind_at(int index) {
    const kind kinds[KINDS] = {{"double", 'd', 1, 8, MPI_DOUBLE, 0},
                               {"float", 'f', 1, 4, MPI_FLOAT, 0},
                               {"complex", 'd', 2, 16, MPI_C_DOUBLE_COMPLEX, 0},
                               {"float complex", 'f', 2, 8, MPI_C_FLOAT_COMPLEX, 0},
                               {"int", 'i', 1, 4, MPI_INT, 0},
                               {"int64", 'q', 1, 8, MPI_INT64_T, 0},
                               {"uint16", 's', 1, 2, MPI_UINT16_T, 0},
                               {"3 doubles", 'd', 3, 24, MPI_DOUBLE, 3}};
    return kinds[index % KINDS];
}

/* The element of global index `at` of the array of a salt. */
static void make_element(const kind *of, uint64_t salt, redist_index at, char element[]) {
    for (int i = 0; i < of->components; i++) {
        uint64_t bits = random_hash(salt * 7919 + (uint64_t)at * 31 + (uint64_t)i);
        const double d = (double)(bits % 1000003);
        const float f = (float)(bits % 1000003);
        const void *from = of->number == 'd'   ? (const void *)&d
                           : of->number == 'f' ? (const void *)&f
                                               : (const void *)&bits;
        size_t bytes = of->bytes / (size_t)of->components;
        memcpy(element + (size_t)i * bytes, from, bytes);
    }
}

/* ---------------------------------------------------------------- distributed arrays */

/* A global array, what a file has of it, and one distribution. */
typedef struct test_case {
    kind kind;
    int ndims, order[MAX_NDIMS]; /* axes in memory, the slowest first */
    redist_field field;          /* of this rank, without stride in the ranks outside */
    size_t elements;             /* of the local array, padding included */
} test_case;

static redist_index lower(redist_index n, int parts, int part) {
    redist_index count, start;
    redist_decompose(n, parts, part, &count, &start);
    return start;
}

/* Distributes along one or two axes among the ranks of a communicator, in a random order of axes and with padding. */
static void distribute(test_case *of, MPI_Comm comm) {
    int nranks = 1, rank = 0, dims[2] = {0, 0}, axes[MAX_NDIMS];
    int second = random_chance(50), pads = random_chance(50);
    random_permutation(of->ndims, of->order);
    random_permutation(of->ndims, axes);
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &nranks);
        MPI_Comm_rank(comm, &rank);
    }
    if (of->ndims < 2 || !second)
        dims[1] = 1;
    MPI_Dims_create(nranks, 2, dims);
    redist_field *field = &of->field;
    for (int i = 0; i < of->ndims; i++) {
        int k = axes[0] == i ? 0 : of->ndims > 1 && axes[1] == i ? 1 : -1;
        int parts = k < 0 ? 1 : dims[k];
        int part = k == 0 ? rank / dims[1] : k == 1 ? rank % dims[1] : 0;
        field->start[i] = lower(field->sizes[i], parts, part);
        field->count[i] =
            lower(field->sizes[i], parts, part + 1 < parts ? part + 1 : part) - field->start[i];
        if (part + 1 == parts)
            field->count[i] = field->sizes[i] - field->start[i];
    }
    ptrdiff_t stride = 1;
    field->offset = pads ? random_between(0, 3) : 0;
    for (int k = of->ndims - 1; k >= 0; k--) {
        int pad = pads ? random_between(0, 2) : 0;
        field->stride[of->order[k]] = stride;
        stride *= (ptrdiff_t)field->count[of->order[k]] + pad + (field->count[of->order[k]] == 0);
    }
    of->elements = (size_t)(stride + field->offset);
}

/* Calls a function for each element of this rank: its place in memory and its global index. */
static redist_index global_index(const test_case *of, const redist_index at[]) {
    redist_index global = 0;
    for (int i = 0; i < of->ndims; i++)
        global = global * of->field.sizes[i] + of->field.start[i] + at[i];
    return global;
}

static int is_selected(const test_case *of, const redist_index at[]) {
    for (int i = 0; i < of->ndims; i++) {
        redist_index from = of->field.selected_start[i], step = of->field.selected_step[i];
        redist_index count = of->field.selected_count[i], global = of->field.start[i] + at[i];
        redist_index end = count > 0 ? from + count : of->field.sizes[i];
        if (global < from || global >= end || (global - from) % (step > 0 ? step : 1) != 0)
            return 0;
    }
    return 1;
}

static size_t place_of(const test_case *of, const redist_index at[]) {
    ptrdiff_t place = of->field.offset;
    for (int i = 0; i < of->ndims; i++)
        place += (ptrdiff_t)at[i] * of->field.stride[i];
    return (size_t)place;
}

static int has_elements(const test_case *of) {
    for (int i = 0; i < of->ndims; i++)
        if (of->field.count[i] == 0)
            return 0;
    return 1;
}

static int advance(const test_case *of, redist_index at[]) {
    for (int i = of->ndims - 1; i >= 0; i--) {
        if (++at[i] < of->field.count[i])
            return 1;
        at[i] = 0;
    }
    return 0;
}

enum { UNTOUCHED = 0x5a };

static size_t bytes_of(const test_case *of) {
    return of->elements * of->kind.bytes + 1;
}

/* Makes this rank's array: its elements, or only those that a read leaves alone; padding is filled. */
static char *make_array(const test_case *of, uint64_t salt, int all) {
    char *array = malloc(bytes_of(of));
    redist_index at[MAX_NDIMS] = {0};
    memset(array, UNTOUCHED, bytes_of(of));
    if (has_elements(of))
        do
            if (all || is_selected(of, at))
                make_element(&of->kind, salt, global_index(of, at),
                             array + place_of(of, at) * of->kind.bytes);
        while (advance(of, at));
    return array;
}

/* Puts an array where the field has it: on the device, or where it is. */
static void put_array(test_case *of, char *array, int on_device) {
    of->field.array = array;
    if (!on_device)
        return;
    of->field.array = stream_device_memory()->allocate(MPI_COMM_SELF, bytes_of(of), 0);
    stream_device_memory()->copy(of->field.array, array, bytes_of(of));
}

/* Gets it back. */
static void get_array(test_case *of, char *array, int on_device) {
    if (!on_device)
        return;
    stream_device_memory()->copy(array, of->field.array, bytes_of(of));
    stream_device_memory()->release(of->field.array, 0);
}

/* ---------------------------------------------------------------- random cases */

static char path[PATH_BYTES];

/* One name for all ranks, in the folder of temporary files. */
static void make_path(const char *ending) {
    const char *folder = getenv("TMPDIR");
    long number = (long)getpid();
    MPI_Bcast(&number, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%.100s/redist_hdf5_%ld%s", folder != NULL ? folder : "/tmp",
             number, ending);
}

static void draw_array(test_case *of) {
    *of = (test_case){.kind = kind_at(random_between(0, KINDS - 1)),
                      .ndims = random_between(1, MAX_NDIMS),
                      .field = REDIST_FIELD_DEFAULT};
    redist_field *field = &of->field;
    int selects = random_chance(50);
    field->ndims = of->ndims;
    field->name = random_chance(50) ? "u" : "flow/fields/u";
    field->datatype = of->kind.base;
    for (int i = 0; i < of->ndims; i++) {
        field->sizes[i] = random_chance(5) ? 0 : random_between(1, MAX_EXTENT);
        if (!selects)
            continue;
        field->selected_start[i] = random_between(0, (int)field->sizes[i]);
        redist_index room = field->sizes[i] - field->selected_start[i];
        field->selected_count[i] = room > 0 ? random_between(0, (int)room) : 0;
        field->selected_step[i] = random_between(0, 3);
    }
}

static MPI_Comm split(int nranks) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, harness_rank < nranks ? 0 : MPI_UNDEFINED, harness_rank, &comm);
    return comm;
}

static redist_hdf5_file_options draw_file_options(void) {
    redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    const size_t sizes[] = {0, 1, 40, 300};
    options.access = random_chance(50) ? REDIST_HDF5_AUTO : REDIST_HDF5_ROOT;
    options.buffer_bytes = sizes[random_between(0, 3)];
    return options;
}

static redist_hdf5_options draw_options(const test_case *of) {
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    options.compression = random_chance(40) ? random_between(1, 9) : 0;
    int chunks = random_chance(40), axes = random_chance(30), spacing = random_chance(30);
    static const char *const names[] = {"x", "y", "z", "w"};
    for (int i = 0; i < of->ndims; i++) {
        options.chunk[i] = chunks ? random_between(0, 4) : 0;
        options.axes[i] = axes ? names[i] : NULL;
        options.spacing[i] = spacing ? 0.5 : 0.0;
    }
    return options;
}

/* Writes steps, or one array without any. */
static int write_steps(test_case *of, MPI_Comm comm, int steps, uint64_t salt) {
    redist_hdf5 *file = NULL;
    redist_hdf5_file_options file_options = draw_file_options();
    redist_hdf5_options options = draw_options(of);
    int counted = random_chance(50), on_device = random_chance(50) && stream_device_memory != NULL;
    if (comm == MPI_COMM_NULL)
        return REDIST_OK;
    int code = redist_hdf5_open(comm, path, REDIST_HDF5_CREATE, &file_options, &file);
    for (int step = 0; step < (steps > 0 ? steps : 1) && code == REDIST_OK; step++) {
        char *array = make_array(of, salt + (uint64_t)step, 1);
        put_array(of, array, on_device);
        if (steps > 0)
            options.step = counted ? step : REDIST_HDF5_NEXT_STEP;
        options.time = 0.25 * step;
        code = redist_hdf5_write(file, 1, &of->field, &options);
        get_array(of, array, on_device);
        free(array);
    }
    int closed = file != NULL ? redist_hdf5_close(&file) : REDIST_OK;
    return code != REDIST_OK ? code : closed;
}

/* Reads a step in another distribution, and returns whether the array is what it should be. */
static int read_step(test_case *of, MPI_Comm comm, redist_index step, uint64_t salt, int *same) {
    redist_hdf5 *file = NULL;
    redist_hdf5_file_options file_options = draw_file_options();
    redist_hdf5_options options = REDIST_HDF5_OPTIONS_DEFAULT;
    int on_device = random_chance(50) && stream_device_memory != NULL;
    *same = 1;
    if (comm == MPI_COMM_NULL)
        return REDIST_OK;
    char *expected = make_array(of, salt, 0), *array = malloc(bytes_of(of));
    memset(array, UNTOUCHED, bytes_of(of));
    put_array(of, array, on_device);
    options.step = step;
    int code = redist_hdf5_open(comm, path, REDIST_HDF5_READ, &file_options, &file);
    if (code == REDIST_OK)
        code = redist_hdf5_read(file, 1, &of->field, &options);
    get_array(of, array, on_device);
    *same = memcmp(array, expected, bytes_of(of)) == 0;
    int closed = file != NULL ? redist_hdf5_close(&file) : REDIST_OK;
    free(array);
    free(expected);
    return code != REDIST_OK ? code : closed;
}

/* Reads the whole dataset by HDF5 alone, and compares it with what it should be, in C order. */
static int file_is_right(const test_case *of, int steps, uint64_t salt) {
    test_case whole = *of;
    hsize_t extent[MAX_NDIMS + 1] = {0}, expected = 1;
    for (int i = 0; i < of->ndims; i++) {
        whole.field.start[i] = 0;
        whole.field.count[i] = of->field.sizes[i];
    }
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, of->field.name, H5P_DEFAULT);
    hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    int rank = H5Sget_simple_extent_dims(space, extent, NULL), right = 1;
    for (int i = 0; i < rank; i++)
        expected *= extent[i];
    right = rank == of->ndims + (steps > 0) && (steps == 0 || extent[0] == (hsize_t)steps) &&
            H5Tget_size(type) == of->kind.bytes;
    if (of->kind.components == 2) /* as h5py has complex numbers */
        right = right && H5Tget_member_index(type, "r") == 0 && H5Tget_member_index(type, "i") == 1;
    char *data = malloc((size_t)expected * of->kind.bytes + 1), *next = data;
    right = right && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    for (int step = 0; step < (steps > 0 ? steps : 1) && right; step++) {
        redist_index at[MAX_NDIMS] = {0};
        char element[ELEMENT_BYTES];
        if (!has_elements(&whole))
            break;
        do
            if (is_selected(&whole, at)) {
                make_element(&of->kind, salt + (uint64_t)step, global_index(&whole, at), element);
                right = right && memcmp(next, element, of->kind.bytes) == 0;
                next += of->kind.bytes;
            }
        while (right && advance(&whole, at));
    }
    right = right && next == data + expected * of->kind.bytes;
    free(data);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return right;
}

static void run_case(int number) {
    test_case given;
    draw_array(&given);
    int writers = random_between(1, harness_nranks), readers = random_between(1, harness_nranks);
    int steps = random_between(0, MAX_STEPS), same = 1;
    uint64_t salt = random_bits() % 100000;
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (given.kind.contiguous > 0) {
        MPI_Type_contiguous(given.kind.contiguous, given.kind.base, &made);
        MPI_Type_commit(&made);
        given.field.datatype = made;
    }
    harness_case("case %d: %s, %d axes of %lld x ..., %d steps, %d ranks write, %d read", number,
                 given.kind.name, given.ndims, (long long)given.field.sizes[0], steps, writers,
                 readers);
    MPI_Comm writing = split(writers), reading = split(readers);
    distribute(&given, writing);
    check_ok(write_steps(&given, writing, steps, salt));
    check_all(harness_rank != 0 || file_is_right(&given, steps, salt), "the file is wrong");
    distribute(&given, reading);
    int step = steps > 0 ? random_between(0, steps - 1) : 0, last = step == steps - 1;
    check_ok(read_step(&given, reading,
                       steps == 0 ? REDIST_HDF5_NO_STEP
                       : last     ? REDIST_HDF5_LAST_STEP
                                  : step,
                       salt + (uint64_t)step, &same));
    check_all(same, "step %d is wrong", step);
    if (writing != MPI_COMM_NULL)
        MPI_Comm_free(&writing);
    if (reading != MPI_COMM_NULL)
        MPI_Comm_free(&reading);
    if (made != MPI_DATATYPE_NULL)
        MPI_Type_free(&made);
    remove(path);
}

START_TEST(random_fields) {
    make_path(".h5");
    for (int i = 0; harness_another(i, 6); i++)
        run_case(i);
}
END_TEST

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
    make_path(".h5");
    harness_case("attributes and datasets");
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, NULL, &file));
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

    check_ok(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_APPEND, NULL, &file));
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
    remove(path);
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
    make_path("_none.h5");
    for (int access = REDIST_HDF5_AUTO; access <= REDIST_HDF5_ROOT; access += REDIST_HDF5_ROOT) {
        redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
        options.access = (enum redist_hdf5_access)access;
        harness_case("access %d", access);
        check_code(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_READ, &options, &file),
                   REDIST_ERR_FILE);
        check_message("_none.h5");
        check_code(redist_hdf5_open(MPI_COMM_WORLD, "/no/folder/x.h5", REDIST_HDF5_CREATE, &options,
                                    &file),
                   REDIST_ERR_FILE);
        if (harness_rank == 0) {
            FILE *text = fopen(path, "w");
            fputs("no HDF5", text);
            fclose(text);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        check_code(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_APPEND, &options, &file),
                   REDIST_ERR_FILE);
        check_message("HDF5");
        MPI_Barrier(MPI_COMM_WORLD);
        remove(path);
    }
    check_code(redist_hdf5_open(MPI_COMM_WORLD, path, (enum redist_hdf5_mode)3, NULL, &file),
               REDIST_ERR_ARGUMENT);
    check_message("mode");
    redist_hdf5_file_options reserved = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    reserved.reserved = harness_rank == harness_nranks - 1;
    check_code(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, &reserved, &file),
               REDIST_ERR_ARGUMENT);
    check_message("options->reserved = 1");
    check_code(redist_hdf5_open(MPI_COMM_WORLD, NULL, REDIST_HDF5_READ, NULL, &file),
               REDIST_ERR_NULL);
    if (harness_nranks > 1) {
        check_code(redist_hdf5_open(MPI_COMM_WORLD, harness_rank == 1 ? "other" : path,
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
    make_path(".h5");
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, NULL, &file));
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
    check_code(redist_hdf5_xdmf(file, path), REDIST_ERR_ARGUMENT);
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
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_READ, NULL, &file));
    refuse(file, field, NULL, REDIST_ERR_STATE, "REDIST_HDF5_APPEND");
    check_code(redist_hdf5_set_text(file, NULL, "key", "text"), REDIST_ERR_STATE);
    check_ok(redist_hdf5_close(&file));
    remove(path);
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
    check_ok(redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, &options, &file));
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
    remove(path);
}

/* Returns whether HDF5 has MPI, so that all ranks write. */
static int all_may_write(void) {
    redist_hdf5 *file = NULL;
    redist_hdf5_file_options options = REDIST_HDF5_FILE_OPTIONS_DEFAULT;
    options.access = REDIST_HDF5_ALL;
    int code = redist_hdf5_open(MPI_COMM_WORLD, path, REDIST_HDF5_CREATE, &options, &file);
    check_all(code == REDIST_OK || code == REDIST_ERR_METHOD, "access of all ranks: %d", code);
    if (code == REDIST_OK)
        check_ok(redist_hdf5_close(&file));
    return code == REDIST_OK;
}

START_TEST(fails_on_all_ranks) {
    make_path("_full.h5");
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
    const TTest *const tests[] = {random_fields,  files_tell_what_they_have, refuses_files,
                                  refuses_fields, fails_on_all_ranks,        NULL};
    return harness_run(argc, argv, "test_redist_hdf5", tests);
}
