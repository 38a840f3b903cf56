/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw files: random fields are written by each method and compared with the bytes that the file must have, read by
 * plain functions; and read again by other ranks, into other boxes, memory orders and padding. Errors are the same on
 * all ranks.
 */
#include "arrays.h"
#include "harness.h"
#include "redist_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL unless the library has a device that stands in for CUDA's: then half of the arrays are there. */
const test_device *stream_device_memory(void) __attribute__((weak));

enum { MOST_NDIMS = 5, MOST_FIELDS = 3, GUARD = 64 };

static char folder[PATH_MAX - 32], path[PATH_MAX];

/* ---------------------------------------------------------------- values */

/* The byte of an element of the global array of a field. */
static unsigned char value_of(uint64_t salt, size_t element, size_t byte) {
    return (unsigned char)random_hash(salt ^ (element * 64 + byte) * 0x9E3779B97F4A7C15u);
}

/* What is in a byte of memory before. */
static unsigned char junk_of(size_t place) {
    return (unsigned char)random_hash(place + 77);
}

/* ---------------------------------------------------------------- fields */

/* A field, and this rank's array. */
struct given {
    redist_field field;
    test_element element;
    redist_index extent[MOST_NDIMS]; /* of the selected array */
    size_t elements;                 /* of it */
    uint64_t salt;
    size_t bytes;             /* of the array, between guards */
    unsigned char *memory;    /* with the guards; of an array on a device a copy on the host */
    unsigned char *on_device; /* the same on the device, or NULL */
};

static size_t product(int n, const redist_index extent[]) {
    size_t elements = 1;
    for (int i = 0; i < n; i++)
        elements *= (size_t)extent[i];
    return elements;
}

/* Draws the global array and what is selected of it; the same on all ranks. */
static void draw_array(struct given *given, int kind) {
    redist_field *field = &given->field;
    *field = REDIST_FIELD_DEFAULT;
    given->element = element_create(kind);
    given->salt = random_bits();
    field->datatype = given->element.type;
    field->ndims = random_between(1, MOST_NDIMS);
    int selects = random_chance(50);
    for (int i = 0; i < field->ndims; i++) {
        int size = random_chance(3) ? 0 : random_chance(20) ? 1 : random_between(2, 9);
        int start = selects ? random_between(0, size) : 0;
        int count = selects ? random_between(0, size - start) : 0;
        int step = selects ? random_between(0, 4) : 0;
        field->sizes[i] = size;
        field->selected_start[i] = start;
        field->selected_count[i] = count;
        field->selected_step[i] = step;
        count = count == 0 ? size - start : count;
        step = step == 0 ? 1 : step;
        given->extent[i] = (count + step - 1) / step;
    }
    given->elements = product(field->ndims, given->extent);
}

/* Cuts a box into one for each of some ranks, at random places; the same on all ranks. */
static void cut_box(int ndims, const redist_index start[], const redist_index count[], int first,
                    int nranks, redist_field *field) {
    if (nranks == 1) {
        for (int i = 0; i < ndims && first == harness_rank; i++) {
            field->start[i] = start[i];
            field->count[i] = count[i];
        }
        return;
    }
    int axis = random_between(0, ndims - 1), low = nranks / 2;
    int cut =
        random_chance(70) ? (int)(count[axis] * low / nranks) : random_between(0, (int)count[axis]);
    redist_index part_start[MOST_NDIMS], part_count[MOST_NDIMS];
    for (int i = 0; i < ndims; i++) {
        part_start[i] = start[i];
        part_count[i] = count[i];
    }
    part_count[axis] = cut;
    cut_box(ndims, part_start, part_count, first, low, field);
    part_start[axis] = start[axis] + cut;
    part_count[axis] = count[axis] - cut;
    cut_box(ndims, part_start, part_count, first + low, nranks - low, field);
}

/* Draws this rank's own box, which may overlap others. */
static void draw_box(redist_field *field, uint64_t *sequence) {
    for (int i = 0; i < field->ndims; i++) {
        field->start[i] = random_from(sequence, 0, (int)field->sizes[i]);
        field->count[i] = random_from(sequence, 0, (int)(field->sizes[i] - field->start[i]));
    }
}

static void copy_to_device(const struct given *given) {
    if (given->on_device != NULL)
        stream_device_memory()->copy(given->on_device, given->memory, given->bytes + 2 * GUARD);
}

static void copy_from_device(const struct given *given) {
    if (given->on_device != NULL)
        stream_device_memory()->copy(given->memory, given->on_device, given->bytes + 2 * GUARD);
}

/* Draws where this rank's part is in memory: order of the axes, padding, offset. */
static void draw_memory(struct given *given, uint64_t *sequence) {
    redist_field *field = &given->field;
    int order[MOST_NDIMS], plain = random_chance(25);
    ptrdiff_t stride = 1;
    random_permutation(field->ndims, order);
    field->offset = plain ? 0 : random_from(sequence, 0, 5);
    for (int i = field->ndims - 1; i >= 0; i--) {
        int axis = plain ? i : order[i];
        field->stride[axis] = stride;
        stride *= field->count[axis] + (plain ? 0 : random_from(sequence, 0, 2));
    }
    for (int i = 0; i < field->ndims && plain; i++)
        field->stride[i] = 0;
    given->bytes = (size_t)(field->offset + stride + 3) * given->element.extent;
    given->memory = malloc(given->bytes + 2 * GUARD);
    given->on_device = NULL;
    if (stream_device_memory != NULL && random_from(sequence, 0, 1))
        given->on_device =
            stream_device_memory()->allocate(MPI_COMM_WORLD, given->bytes + 2 * GUARD, 0);
    for (size_t i = 0; i < given->bytes + 2 * GUARD; i++)
        given->memory[i] = junk_of(i);
    copy_to_device(given);
    field->array = (given->on_device != NULL ? given->on_device : given->memory) + GUARD;
}

/* ---------------------------------------------------------------- walks */

/* A selected element: its place in the global array, in the file, and in this rank's array. */
struct place {
    size_t global, in_file;
    int is_here;
    ptrdiff_t here;
};

static struct place find_place(const struct given *given, size_t number) {
    const redist_field *field = &given->field;
    redist_index index[MOST_NDIMS], stride = 1;
    struct place place = {.in_file = number, .is_here = 1, .here = field->offset};
    for (int i = field->ndims - 1; i >= 0; number /= (size_t)given->extent[i], i--) {
        redist_index step = field->selected_step[i] == 0 ? 1 : field->selected_step[i];
        index[i] =
            field->selected_start[i] + (redist_index)(number % (size_t)given->extent[i]) * step;
        redist_index local = index[i] - field->start[i];
        int none = 1;
        for (int j = 0; j < field->ndims; j++)
            none &= field->stride[j] == 0;
        place.here += local * (none ? stride : field->stride[i]);
        stride *= field->count[i];
        place.is_here &= local >= 0 && local < field->count[i];
    }
    for (int i = 0; i < field->ndims; i++)
        place.global = place.global * (size_t)field->sizes[i] + (size_t)index[i];
    return place;
}

static int is_data(const struct given *given, size_t byte) {
    return given->element.holds[byte] != HOLDS_NOTHING;
}

/* Puts the values of this rank's selected elements into its array, or into a copy of its memory. */
static void put_values(const struct given *given, unsigned char *memory) {
    for (size_t n = 0; n < given->elements; n++) {
        struct place place = find_place(given, n);
        size_t extent = given->element.extent;
        for (size_t byte = 0; byte < extent && place.is_here; byte++)
            if (is_data(given, byte))
                memory[GUARD + (size_t)place.here * extent + byte] =
                    value_of(given->salt, place.global, byte);
    }
}

/* Returns whether this rank's memory is junk with the values, or without them. */
static int memory_is(const struct given *given, int has_values) {
    size_t bytes = given->bytes + 2 * GUARD;
    unsigned char *expected = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        expected[i] = junk_of(i);
    if (has_values)
        put_values(given, expected);
    copy_from_device(given);
    int same = memcmp(expected, given->memory, bytes) == 0;
    free(expected);
    return same;
}

static void free_given(struct given *given) {
    free(given->memory);
    if (given->on_device != NULL)
        stream_device_memory()->release(given->on_device, 0);
    given->memory = given->on_device = NULL;
}

/* ---------------------------------------------------------------- files */

/* The bytes of a file. */
struct image {
    unsigned char *bytes;
    size_t length;
};

static struct image read_image(void) {
    struct image image = {NULL, 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return image;
    fseek(file, 0, SEEK_END);
    image.length = (size_t)ftell(file);
    rewind(file);
    image.bytes = malloc(image.length + 1);
    image.length = fread(image.bytes, 1, image.length, file);
    fclose(file);
    return image;
}

/* Replaces the file by one with junk of some length, or removes it. */
static void make_old_file(size_t length) {
    (void)unlink(path);
    if (length == 0)
        return;
    FILE *file = fopen(path, "wb");
    for (size_t i = 0; i < length; i++)
        fputc(junk_of(i + 5), file);
    fclose(file);
}

/* Returns what the file must have, after `old`. */
static struct image expect_image(const struct image *old, int n, const struct given given[],
                                 const redist_file_options *options) {
    size_t end = (size_t)options->offset, start = end;
    for (int i = 0; i < n; i++)
        end += given[i].elements * given[i].element.extent;
    struct image image = {NULL, options->truncate || old->length < end ? end : old->length};
    image.bytes = calloc(image.length + 1, 1);
    if (old->bytes != NULL)
        memcpy(image.bytes, old->bytes, old->length < image.length ? old->length : image.length);
    for (int i = 0; i < n; i++) {
        size_t extent = given[i].element.extent;
        for (size_t k = 0; k < given[i].elements; k++)
            for (size_t byte = 0; byte < extent; byte++)
                if (is_data(&given[i], byte))
                    image.bytes[start + k * extent + byte] =
                        value_of(given[i].salt, find_place(&given[i], k).global, byte);
        start += given[i].elements * extent;
    }
    return image;
}

/* Returns the first byte that differs, -1 = none. */
static long long find_difference(const struct image *expected, const struct image *found) {
    size_t length = expected->length < found->length ? expected->length : found->length;
    for (size_t i = 0; i < length; i++)
        if (expected->bytes[i] != found->bytes[i])
            return (long long)i;
    return expected->length == found->length ? -1 : (long long)length;
}

/* ---------------------------------------------------------------- random cases */

static const char *const methods[] = {NULL, "stripes", "mpi"};

static redist_file_options draw_options(void) {
    redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
    options.method = methods[random_between(0, 2)];
    options.offset = random_chance(50) ? 0 : random_between(1, 100);
    options.writers_per_node = random_between(0, 3);
    options.truncate = random_chance(70);
    options.flush = random_chance(5);
    options.buffer_bytes = random_chance(30) ? 0 : (size_t)random_between(1, 4000);
    return options;
}

/* Whether MPI has views of these arrays, which are in host memory, and of their elements: data of views are in the
 * order of their places, and MPICH 4.2 ends the program for predefined pairs. */
static int has_view(const struct given *given) {
    return stream_device_memory == NULL && strcmp(given->element.name, "reversed") != 0 &&
           strstr(given->element.name, "pair") == NULL;
}

static int draw_kind(void) {
    enum { OUTSIDE = 2 }; /* the last ones have data outside of their extent */
    return random_between(0, stream_device_memory != NULL ? copyable_element_count() - 1
                                                          : element_count() - 1 - OUTSIDE);
}

/* Draws fields for a write, whose parts are all elements. */
static int draw_fields(struct given given[], redist_file_options *options, uint64_t *sequence) {
    int n = random_chance(5) ? 0 : random_between(1, MOST_FIELDS);
    for (int i = 0; i < n; i++) {
        draw_array(&given[i], draw_kind());
        redist_field *field = &given[i].field;
        const redist_index zero[MOST_NDIMS] = {0};
        cut_box(field->ndims, zero, field->sizes, 0, harness_nranks, field);
        draw_memory(&given[i], sequence);
        put_values(&given[i], given[i].memory);
        copy_to_device(&given[i]);
        if (!has_view(&given[i]))
            options->method = "stripes";
    }
    return n;
}

static void list_fields(int n, const struct given given[], redist_field fields[]) {
    for (int i = 0; i < n; i++)
        fields[i] = given[i].field;
}

static void say_case(int n, const struct given given[], const redist_file_options *options) {
    char text[400] = "";
    for (int i = 0, end = 0; i < n; i++) {
        end += snprintf(text + end, sizeof text - (size_t)end, " [%s:", given[i].element.name);
        for (int j = 0; j < given[i].field.ndims; j++)
            end += snprintf(text + end, sizeof text - (size_t)end, " %d",
                            (int)given[i].field.sizes[j]);
        end += snprintf(text + end, sizeof text - (size_t)end, "]");
    }
    harness_case("method %s, offset %lld, %d writers, truncate %d, buffer %zu:%s",
                 options->method == NULL ? "NULL" : options->method, (long long)options->offset,
                 options->writers_per_node, options->truncate, options->buffer_bytes, text);
}

/* Compares the file with what it must have. */
static void check_file(const struct image *old, int n, const struct given given[],
                       const redist_file_options *options) {
    long long difference = -1;
    size_t lengths[2] = {0, 0};
    if (harness_rank == 0) {
        struct image expected = expect_image(old, n, given, options), found = read_image();
        difference = find_difference(&expected, &found);
        lengths[0] = expected.length;
        lengths[1] = found.length;
        free(expected.bytes);
        free(found.bytes);
    }
    check_all(difference < 0, "byte %lld of the file is wrong (%zu bytes, %zu expected)",
              difference, lengths[1], lengths[0]);
}

/* Reads the fields again, into other boxes and memory, by either method. */
static void check_read(int n, struct given given[], const redist_file_options *written,
                       uint64_t *sequence) {
    redist_file_options options = draw_options();
    redist_field fields[MOST_FIELDS];
    options.offset = written->offset;
    for (int i = 0; i < n; i++) {
        free_given(&given[i]);
        const redist_index zero[MOST_NDIMS] = {0};
        redist_field *field = &given[i].field;
        if (random_chance(50))
            draw_box(field, sequence);
        else
            cut_box(field->ndims, zero, field->sizes, 0, harness_nranks, field);
        draw_memory(&given[i], sequence);
        if (!has_view(&given[i]))
            options.method = "stripes";
    }
    list_fields(n, given, fields);
    say_case(n, given, &options);
    check_ok(redist_read(MPI_COMM_WORLD, path, n, fields, &options));
    for (int i = 0; i < n; i++)
        check_all(memory_is(&given[i], 1), "field %d is wrong after it was read", i);
}

/* Writes fields at once, or in the background while the arrays change. */
static void run_case(int starts) {
    struct given given[MOST_FIELDS];
    redist_field fields[MOST_FIELDS];
    redist_file_options options = draw_options();
    uint64_t sequence = random_bits() + (uint64_t)harness_rank;
    int n = draw_fields(given, &options, &sequence);
    int has_old = random_chance(50), old_length = random_between(1, 3000);
    struct image old = {NULL, 0};
    say_case(n, given, &options);
    if (harness_rank == 0) {
        make_old_file(has_old ? (size_t)old_length : 0);
        old = read_image();
    }
    list_fields(n, given, fields);
    if (starts) {
        redist_file_request *request = NULL;
        check_ok(redist_write_start(MPI_COMM_WORLD, path, n, fields, &options, &request));
        for (int i = 0; i < n; i++) {
            memset(given[i].memory + GUARD, 0x55, given[i].bytes);
            copy_to_device(&given[i]);
        }
        check_ok(redist_file_wait(&request));
        check_all(request == NULL, "the request is not NULL");
    } else {
        check_ok(redist_write(MPI_COMM_WORLD, path, n, fields, &options));
        for (int i = 0; i < n; i++)
            check_all(memory_is(&given[i], 1), "field %d is changed by writing it", i);
    }
    check_file(&old, n, given, &options);
    check_read(n, given, &options, &sequence);
    for (int i = 0; i < n; i++) {
        free_given(&given[i]);
        element_free(&given[i].element);
    }
    free(old.bytes);
}

START_TEST(random_fields) {
    for (int i = 0; harness_another(i, 20); i++)
        run_case(0);
}
END_TEST

START_TEST(in_the_background) {
    for (int i = 0; harness_another(i, 5); i++)
        run_case(1);
}
END_TEST

/* ---------------------------------------------------------------- sizes */

/* Ten elements at the end of a long axis, far behind the start of the file. */
START_TEST(far_away) {
    enum { LAST = 10 };
    const redist_index size = 3000000000, offset = (redist_index)5 << 30;
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        double values[LAST] = {0}, read[LAST] = {0};
        redist_field field = REDIST_FIELD_DEFAULT;
        redist_file_options options = REDIST_FILE_OPTIONS_DEFAULT;
        options.method = methods[m];
        options.offset = offset;
        field.datatype = MPI_DOUBLE;
        field.ndims = 1;
        field.sizes[0] = size;
        field.selected_start[0] = size - LAST;
        redist_decompose(LAST, harness_nranks, harness_rank, &field.count[0], &field.start[0]);
        field.start[0] += size - LAST;
        field.array = values;
        for (int i = 0; i < LAST; i++)
            values[i] = (double)(field.start[0] + i);
        check_ok(redist_write(MPI_COMM_WORLD, path, 1, &field, &options));
        field.start[0] = size - LAST;
        field.count[0] = LAST;
        field.array = read;
        check_ok(redist_read(MPI_COMM_WORLD, path, 1, &field, &options));
        int right = 1;
        for (int i = 0; i < LAST; i++)
            right &= read[i] == (double)(size - LAST + i);
        struct stat status = {.st_size = 0};
        (void)stat(path, &status);
        check_all(right, "other numbers are read");
        check_all(status.st_size == offset + (off_t)sizeof values, "the file has %lld bytes",
                  (long long)status.st_size);
    }
}
END_TEST

/* ---------------------------------------------------------------- errors */

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
        check_message(redist_write(MPI_COMM_WORLD, path, 1, &field, &options), mistake->code,
                      mistake->text);
    }
    struct image found = {NULL, 100};
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
    check_message(redist_write(MPI_COMM_WORLD, last ? NULL : path, 1, &field, NULL),
                  REDIST_ERR_NULL, "path = NULL");
    check_message(redist_write(MPI_COMM_WORLD, last ? "" : path, 1, &field, NULL),
                  REDIST_ERR_ARGUMENT, "path = \"\"");
    check_message(redist_write(MPI_COMM_WORLD, path, 1, last ? NULL : &field, NULL),
                  REDIST_ERR_NULL, "fields = NULL");
    check_message(redist_write(MPI_COMM_WORLD, path, last ? -1 : 1, &field, NULL),
                  REDIST_ERR_ARGUMENT, "nfields = -1");
    check_message(redist_write_start(MPI_COMM_WORLD, path, 1, &field, NULL, last ? NULL : &request),
                  REDIST_ERR_NULL, "request = NULL");
    check_code(redist_write(MPI_COMM_NULL, path, 1, &field, NULL), REDIST_ERR_COMM);
    check_code(redist_file_wait(NULL), REDIST_ERR_NULL);
    check_code(redist_file_wait(&request), REDIST_ERR_NULL);
    request = (redist_file_request *)(void *)&field;
    check_code(redist_file_wait(&request), REDIST_ERR_STATE);
    snprintf(other, sizeof other, "%s%s", path, last ? ".other" : "");
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
        (void)snprintf(name, sizeof name, "%s/none/file", folder);
        check_refused_file(name, both[m], 1, strerror(ENOENT));
        check_refused_file(name, both[m], 0, strerror(ENOENT));
        check_refused_file(folder, both[m], 1, strerror(EISDIR));
        check_refused_file(folder, both[m], 0, "not a regular file");
        if (harness_rank == 0)
            make_old_file(ROWS * COLUMNS * sizeof(double) - 1);
        MPI_Barrier(MPI_COMM_WORLD);
        check_refused_file(path, both[m], 0, "too short: it has 32767 bytes");
        (void)snprintf(name, sizeof name, "%s/fifo", folder);
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
        (void)chmod(path, 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check_refused_file(path, "stripes", 1, strerror(EACCES));
    check_refused_file(path, "stripes", 0, strerror(EACCES));
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
    (void)snprintf(disk, sizeof disk, "%s/disk", folder);
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

/* ---------------------------------------------------------------- the program */

static void make_folder(void) {
    const char *parent = getenv("TMPDIR");
    if (harness_rank == 0) {
        (void)snprintf(folder, sizeof folder, "%s/redist-file-XXXXXX",
                       parent != NULL ? parent : "/tmp");
        if (mkdtemp(folder) == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(folder, sizeof folder, MPI_CHAR, 0, MPI_COMM_WORLD);
    (void)snprintf(path, sizeof path, "%s/field.raw", folder);
}

static void remove_folder(void) {
    char fifo[PATH_MAX];
    (void)snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    (void)unlink(path);
    (void)unlink(fifo);
    (void)rmdir(folder);
}

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_fields,
                                  in_the_background,
                                  far_away,
                                  mistakes_are_refused,
                                  pointers_and_paths_are_refused,
                                  files_are_refused,
                                  no_permission,
                                  the_disk_is_full,
                                  the_disk_becomes_full,
                                  NULL};
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    harness_rank = rank;
    make_folder();
    if (size > 4) /* several nodes */
        (void)setenv("REDIST_NODE_SIZE", "3", 0);
    int result = harness_run(argc, argv, "test_redist_file", tests);
    if (rank == 0)
        remove_folder();
    return result;
}
