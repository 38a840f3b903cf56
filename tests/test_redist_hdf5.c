/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields in HDF5 files: random ones, written by some ranks, read by others and by HDF5 alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_fields, NULL};
    return harness_run(argc, argv, "test_redist_hdf5", tests);
}
