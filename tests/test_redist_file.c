/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw files: random fields are written by each method and compared with the bytes that the file must have, read by
 * plain functions; and read again by other ranks, into other boxes, memory orders and padding.
 */
#include "arrays.h"
#include "file_folder.h"
#include "harness.h"
#include "needs_device.h"
#include "redist_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL unless the library has a device that stands in for CUDA's: then half of the arrays are there. */
const test_device *stream_device_memory(void) __attribute__((weak));

enum { MOST_NDIMS = 5, MOST_FIELDS = 3, GUARD = 64 };

/* ---------------------------------------------------------------- values */

/* The byte of an element of the global array of a field. */
static unsigned char value_of(uint64_t salt, size_t element, size_t byte) {
    return (unsigned char)random_hash(salt ^ (element * 64 + byte) * 0x9E3779B97F4A7C15u);
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

/* Returns what the file must have, after `old`. */
static file_image expect_image(const file_image *old, int n, const struct given given[],
                               const redist_file_options *options) {
    size_t end = (size_t)options->offset, start = end;
    for (int i = 0; i < n; i++)
        end += given[i].elements * given[i].element.extent;
    file_image image = {NULL, options->truncate || old->length < end ? end : old->length};
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
static long long find_difference(const file_image *expected, const file_image *found) {
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
static void check_file(const file_image *old, int n, const struct given given[],
                       const redist_file_options *options) {
    long long difference = -1;
    size_t lengths[2] = {0, 0};
    if (harness_rank == 0) {
        file_image expected = expect_image(old, n, given, options), found = read_image();
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
    check_ok(redist_read(MPI_COMM_WORLD, test_path, n, fields, &options));
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
    file_image old = {NULL, 0};
    say_case(n, given, &options);
    if (harness_rank == 0) {
        make_old_file(has_old ? (size_t)old_length : 0);
        old = read_image();
    }
    list_fields(n, given, fields);
    if (starts) {
        redist_file_request *request = NULL;
        check_ok(redist_write_start(MPI_COMM_WORLD, test_path, n, fields, &options, &request));
        for (int i = 0; i < n; i++) {
            memset(given[i].memory + GUARD, 0x55, given[i].bytes);
            copy_to_device(&given[i]);
        }
        check_ok(redist_file_wait(&request));
        check_all(request == NULL, "the request is not NULL");
    } else {
        check_ok(redist_write(MPI_COMM_WORLD, test_path, n, fields, &options));
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
    NEEDS_ARRAYS();
    for (int i = 0; harness_another(i, 20); i++)
        run_case(0);
}
END_TEST

START_TEST(in_the_background) {
    NEEDS_ARRAYS();
    for (int i = 0; harness_another(i, 5); i++)
        run_case(1);
}
END_TEST

/* ---------------------------------------------------------------- sizes */

/* Ten elements at the end of a long axis, far behind the start of the file. */
START_TEST(far_away) {
    NEEDS_ARRAYS();
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
        check_ok(redist_write(MPI_COMM_WORLD, test_path, 1, &field, &options));
        field.start[0] = size - LAST;
        field.count[0] = LAST;
        field.array = read;
        check_ok(redist_read(MPI_COMM_WORLD, test_path, 1, &field, &options));
        int right = 1;
        for (int i = 0; i < LAST; i++)
            right &= read[i] == (double)(size - LAST + i);
        struct stat status = {.st_size = 0};
        (void)stat(test_path, &status);
        check_all(right, "other numbers are read");
        check_all(status.st_size == offset + (off_t)sizeof values, "the file has %lld bytes",
                  (long long)status.st_size);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_fields, in_the_background, far_away, NULL};
    return file_tests_run(argc, argv, "test_redist_file", tests);
}
