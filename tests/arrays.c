/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/* ---------------------------------------------------------------- elements */

static void make_char(MPI_Datatype *type) {
    *type = MPI_CHAR;
}

static void make_float(MPI_Datatype *type) {
    *type = MPI_FLOAT;
}

static void make_double(MPI_Datatype *type) {
    *type = MPI_DOUBLE;
}

static void make_float_complex(MPI_Datatype *type) {
    *type = MPI_C_FLOAT_COMPLEX;
}

static void make_double_complex(MPI_Datatype *type) {
    *type = MPI_C_DOUBLE_COMPLEX;
}

static void make_long_double_complex(MPI_Datatype *type) {
    *type = MPI_C_LONG_DOUBLE_COMPLEX;
}

static void make_derived_complex(MPI_Datatype *type) {
    MPI_Type_contiguous(1, MPI_C_LONG_DOUBLE_COMPLEX, type);
}

static void make_seven(MPI_Datatype *type) {
    MPI_Type_contiguous(7, MPI_BYTE, type);
}

static void make_twelve(MPI_Datatype *type) {
    MPI_Type_contiguous(3, MPI_FLOAT, type);
}

/* Elements of `place` bytes behind where they are, as if they were of a structure of `extent` bytes */
static void make_part(MPI_Datatype part, MPI_Aint place, MPI_Aint extent, MPI_Datatype *type) {
    MPI_Datatype placed;
    MPI_Type_create_hindexed_block(1, 1, &place, part, &placed);
    MPI_Type_create_resized(placed, 0, extent, type);
    MPI_Type_free(&placed);
}

static void make_first(MPI_Datatype *type) {
    make_part(MPI_DOUBLE, 0, 16, type);
}

static void make_second(MPI_Datatype *type) {
    make_part(MPI_C_FLOAT_COMPLEX, 12, 28, type);
}

static void make_pair(MPI_Datatype *type) {
    *type = MPI_DOUBLE_INT;
}

/* Three floats, each but the last followed by a gap */
static void make_column(MPI_Datatype *type) {
    MPI_Type_vector(3, 1, 2, MPI_FLOAT, type);
}

/* Twice two shorts */
static void make_columns(MPI_Datatype *type) {
    MPI_Datatype shorts, twice;
    MPI_Type_vector(2, 1, 2, MPI_SHORT, &shorts);
    MPI_Type_create_hvector(2, 1, 10, shorts, &twice);
    make_part(twice, 3, 23, type);
    MPI_Type_free(&shorts);
    MPI_Type_free(&twice);
}

/* The second of two floats before the first */
static void make_reversed(MPI_Datatype *type) {
    const int places[] = {3, 1};
    MPI_Datatype floats;
    MPI_Type_create_indexed_block(2, 1, places, MPI_FLOAT, &floats);
    MPI_Type_create_resized(floats, 0, 20, type);
    MPI_Type_free(&floats);
}

static void make_short_pair(MPI_Datatype *type) {
    *type = MPI_SHORT_INT;
}

/* A double at byte 0 and a char at byte 9, of 24 bytes */
static void make_gap(MPI_Datatype *type) {
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {0, 9};
    const MPI_Datatype types[] = {MPI_DOUBLE, MPI_CHAR};
    MPI_Datatype packed;
    MPI_Type_create_struct(2, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, 0, 24, type);
    MPI_Type_free(&packed);
}

/* A double at byte 16, of 16 bytes that begin at byte `low` */
static void make_far(MPI_Aint low, MPI_Datatype *type) {
    const MPI_Aint place = 16;
    MPI_Datatype far;
    MPI_Type_create_hindexed_block(1, 1, &place, MPI_DOUBLE, &far);
    MPI_Type_create_resized(far, low, 16, type);
    MPI_Type_free(&far);
}

static void make_beyond(MPI_Datatype *type) {
    make_far(0, type);
}

static void make_shifted(MPI_Datatype *type) {
    make_far(16, type);
}

static const struct {
    const char *name;
    void (*make)(MPI_Datatype *type);
    size_t extent;
    int derived, copyable, axes;
    size_t shift;
    struct {
        size_t first, end;
    } data[4];
} kinds[] = {
    {"char", make_char, 1, 0, 1, 0, 0, {{0, 1}}},
    {"float", make_float, 4, 0, 1, 0, 0, {{0, 4}}},
    {"double", make_double, 8, 0, 1, 0, 0, {{0, 8}}},
    {"float complex", make_float_complex, 8, 0, 1, 0, 0, {{0, 8}}},
    {"double complex", make_double_complex, 16, 0, 1, 0, 0, {{0, 16}}},
    {"long double complex", make_long_double_complex, 32, 0, 1, 0, 0, {{0, 10}, {16, 26}}},
    {"7 bytes", make_seven, 7, 1, 1, 0, 0, {{0, 7}}},
    {"12 bytes", make_twelve, 12, 1, 1, 0, 0, {{0, 12}}},
    {"derived complex", make_derived_complex, 32, 1, 1, 0, 0, {{0, 10}, {16, 26}}},
    {"first of a structure", make_first, 16, 1, 1, 0, 0, {{0, 8}}},
    {"second of a structure", make_second, 28, 1, 1, 0, 0, {{12, 20}}},
    {"pair with padding", make_pair, 16, 0, 1, 0, 0, {{0, 12}}},
    {"column", make_column, 20, 1, 1, 1, 0, {{0, 4}, {8, 12}, {16, 20}}},
    {"columns", make_columns, 23, 1, 1, 2, 0, {{3, 5}, {7, 9}, {13, 15}, {17, 19}}},
    {"reversed", make_reversed, 20, 1, 1, 1, 0, {{4, 8}, {12, 16}}},
    {"with gaps of its own", make_gap, 24, 1, 0, 0, 0, {{0, 8}, {9, 10}}},
    {"short pair", make_short_pair, 8, 0, 0, 0, 0, {{0, 2}, {4, 8}}},
    {"beyond its extent", make_beyond, 16, 1, 0, 0, 16, {{0, 8}}},
    {"shifted", make_shifted, 16, 1, 0, 0, 16, {{0, 8}}},
};

enum { NKINDS = sizeof(kinds) / sizeof(kinds[0]) };

int element_count(void) {
    return NKINDS;
}

int copyable_element_count(void) {
    int count = 0;
    for (int i = 0; i < NKINDS; i++)
        count += kinds[i].copyable;
    return count;
}

test_element element_create(int index) {
    test_element element = {.name = kinds[index].name,
                            .extent = kinds[index].extent,
                            .copyable = kinds[index].copyable,
                            .axes = kinds[index].axes,
                            .shift = kinds[index].shift};
    kinds[index].make(&element.type);
    if (kinds[index].derived)
        MPI_Type_commit(&element.type);
    int size;
    MPI_Type_size(element.type, &size);
    if ((size_t)size == element.extent)
        memset(element.holds, HOLDS_FILLING, element.extent);
    for (int part = 0; part < 4; part++)
        for (size_t i = kinds[index].data[part].first; i < kinds[index].data[part].end; i++)
            element.holds[i] = HOLDS_DATA;
    return element;
}

void element_free(test_element *element) {
    int integers, addresses, types, combiner;
    MPI_Type_get_envelope(element->type, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(&element->type);
}

/* ---------------------------------------------------------------- memory */

enum { GUARD_BYTES = 128 };

const char *memory_name(enum test_memory memory) {
    static const char *const names[] = {"plain", "unaligned", "redist_alloc", "inside redist_alloc",
                                        "redist_alloc_local"};
    return names[memory];
}

int memory_is_shared(enum test_memory memory) {
    return memory >= MEMORY_SHARED;
}

static void out_of_memory(const char *what) {
    fprintf(stderr, "the test has no memory: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static const test_device *used_device;

void arrays_use(const test_device *device) {
    used_device = device;
}

const test_device *arrays_device(void) {
    return used_device;
}

static void *allocate_plain(size_t bytes) {
    void *memory = aligned_alloc(64, bytes);
    if (!memory)
        out_of_memory("aligned_alloc");
    return memory;
}

static int allocate_shared(MPI_Comm comm, test_array *array) {
    return array->memory == MEMORY_LOCAL
               ? redist_alloc_local(array->allocation_bytes, &array->allocation)
               : redist_alloc(comm, array->allocation_bytes, &array->allocation);
}

test_array array_create(MPI_Comm comm, enum test_memory memory, size_t bytes) {
    static const size_t before[] = {GUARD_BYTES, GUARD_BYTES + 3, 0, GUARD_BYTES + 8, 0};
    test_array array = {.memory = memory, .bytes = bytes, .before = before[memory]};
    array.allocation_bytes = (before[memory] + bytes + 2 * GUARD_BYTES) / 64 * 64;
    if (used_device) {
        array.allocation = allocate_plain(array.allocation_bytes);
        array.on_device =
            used_device->allocate(comm, array.allocation_bytes, memory_is_shared(memory));
    } else if (!memory_is_shared(memory)) {
        array.allocation = allocate_plain(array.allocation_bytes);
    } else if (allocate_shared(comm, &array) != REDIST_OK) {
        out_of_memory(redist_error_message());
    }
    array.data = (char *)(array.on_device ? array.on_device : array.allocation) + before[memory];
    return array;
}

void array_free(test_array *array) {
    if (array->on_device)
        used_device->release(array->on_device, memory_is_shared(array->memory));
    if (array->on_device || !memory_is_shared(array->memory))
        free(array->allocation);
    else if (redist_free(&array->allocation) != REDIST_OK)
        out_of_memory(redist_error_message());
    memset(array, 0, sizeof(*array));
}

static void to_device(const test_array *array) {
    if (array->on_device)
        used_device->copy(array->on_device, array->allocation, array->allocation_bytes);
}

static void from_device(const test_array *array) {
    if (array->on_device)
        used_device->copy(array->allocation, array->on_device, array->allocation_bytes);
}

/* ---------------------------------------------------------------- contents */

/* One element on the way through a local array. */
struct cursor {
    redist_index index[REDIST_MAX_NDIMS];        /* in the local array */
    redist_index global_index[REDIST_MAX_NDIMS]; /* in the global one */
    int in_box;
    uint64_t global_number; /* position in the global array, if in the box */
};

static int local_extent(const redist_box *box, int axis) {
    return (int)(box->extent[axis] ? box->extent[axis] : box->count[axis]);
}

size_t place_elements(const test_place *place) {
    size_t elements = 1;
    for (int i = 0; i < place->ndims; i++)
        elements *= (size_t)local_extent(place->box, i);
    return elements;
}

static void cursor_locate(struct cursor *cursor, const test_place *place) {
    const redist_box *box = place->box;
    cursor->in_box = 1;
    cursor->global_number = 0;
    for (int i = 0; i < place->ndims; i++) {
        redist_index in_box = cursor->index[i] - box->offset[i];
        cursor->in_box &= in_box >= 0 && in_box < box->count[i];
        cursor->global_index[i] = (int)(box->start[i] + in_box);
        cursor->global_number =
            cursor->global_number * (uint64_t)place->sizes[i] + (uint64_t)cursor->global_index[i];
    }
}

static void cursor_advance(struct cursor *cursor, const test_place *place) {
    for (int i = place->ndims - 1; i >= 0; i--) {
        if (++cursor->index[i] < local_extent(place->box, i))
            return;
        cursor->index[i] = 0;
    }
}

static int box_has(const redist_box *box, int ndims, const redist_index index[]) {
    for (int i = 0; i < ndims; i++)
        if (index[i] < box->start[i] || index[i] >= box->start[i] + box->count[i])
            return 0;
    return 1;
}

static int is_covered(const test_place *place, const redist_index index[]) {
    for (int i = 0; i < place->nsources; i++)
        if (box_has(&place->sources[i], place->ndims, index))
            return 1;
    return 0;
}

/* Nonzero if the element is one that holds a value of the global array. */
static int has_value(const struct cursor *cursor, const test_place *place,
                     enum test_contents contents) {
    return cursor->in_box &&
           (contents == CONTENTS_VALUES ||
            (contents == CONTENTS_MIXED && is_covered(place, cursor->global_index)));
}

static unsigned char background(size_t position) {
    return (unsigned char)random_hash(position);
}

/* The bytes of one element; those of a blank one differ from the values everywhere, and what the type does not describe
 * from array to array. */
static void element_bytes(const struct cursor *cursor, size_t position, const test_element *element,
                          int value, uint64_t salt, unsigned char bytes[]) {
    uint64_t hash = random_hash(cursor->global_number ^ random_hash(salt));
    for (size_t i = 0; i < element->extent; i++) {
        unsigned char byte = (unsigned char)((hash >> (8 * (i % 8))) + 91 * (i / 8));
        bytes[i] = value ? byte : (unsigned char)~byte;
        if (!cursor->in_box || element->holds[i] == HOLDS_NOTHING)
            bytes[i] = background(position + i);
    }
}

static size_t array_position(const test_array *array, const test_place *place) {
    return array->before + place->element->shift;
}

void array_fill(const test_array *array, const test_place *place, enum test_contents contents,
                uint64_t salt) {
    unsigned char *bytes = array->allocation;
    size_t extent = place->element->extent;
    size_t position = array_position(array, place);
    struct cursor cursor = {{0}, {0}, 0, 0};
    for (size_t i = 0; i < array->allocation_bytes; i++)
        bytes[i] = background(i);
    for (size_t n = place_elements(place); n > 0; n--, position += extent) {
        cursor_locate(&cursor, place);
        element_bytes(&cursor, position, place->element, has_value(&cursor, place, contents), salt,
                      &bytes[position]);
        cursor_advance(&cursor, place);
    }
    to_device(array);
}

/* ---------------------------------------------------------------- comparison */

struct comparison {
    size_t wrong;
    size_t text_bytes;
    char *text;
};

static void describe_byte(struct comparison *comparison, const struct cursor *cursor, int ndims,
                          size_t byte, const char *what) {
    size_t used = 0;
    char *text = comparison->text;
    used += (size_t)snprintf(text, comparison->text_bytes, "%s byte %zu", what, byte);
    for (int i = 0; i < ndims && used < comparison->text_bytes; i++)
        used += (size_t)snprintf(text + used, comparison->text_bytes - used, "%s%lld",
                                 i ? "," : " at local index ", (long long)cursor->index[i]);
}

static void compare_element(struct comparison *comparison, const struct cursor *cursor,
                            const test_place *place, int value, const unsigned char bytes[],
                            const unsigned char expected[]) {
    const test_element *element = place->element;
    for (size_t i = 0; i < element->extent; i++) {
        int holds = element->holds[i];
        if (bytes[i] == expected[i] || (value && holds == HOLDS_FILLING))
            continue;
        const char *what = holds == HOLDS_NOTHING ? "gap"
                           : value                ? "value"
                           : cursor->in_box       ? "uncovered element"
                                                  : "padding";
        if (comparison->wrong++ == 0)
            describe_byte(comparison, cursor, place->ndims, i, what);
    }
}

static void compare_guards(struct comparison *comparison, const test_array *array, size_t first,
                           size_t end) {
    const unsigned char *bytes = array->allocation;
    for (size_t i = first; i < end; i++)
        if (bytes[i] != background(i) && comparison->wrong++ == 0)
            describe_byte(comparison, NULL, 0, i, "guard");
}

size_t array_wrong(const test_array *array, const test_place *place, enum test_contents contents,
                   uint64_t salt, size_t text_bytes, char text[]) {
    struct comparison comparison = {0, text_bytes, text};
    unsigned char expected[ELEMENT_BYTES];
    size_t extent = place->element->extent;
    size_t position = array_position(array, place);
    struct cursor cursor = {{0}, {0}, 0, 0};
    from_device(array);
    compare_guards(&comparison, array, 0, position);
    for (size_t n = place_elements(place); n > 0; n--, position += extent) {
        cursor_locate(&cursor, place);
        int value = has_value(&cursor, place, contents);
        element_bytes(&cursor, position, place->element, value, salt, expected);
        compare_element(&comparison, &cursor, place, value,
                        (const unsigned char *)array->allocation + position, expected);
        cursor_advance(&cursor, place);
    }
    compare_guards(&comparison, array, position, array->allocation_bytes);
    return comparison.wrong;
}

void box_text(int ndims, const redist_box *box, size_t text_bytes, char text[]) {
    size_t used = (size_t)snprintf(text, text_bytes, "[");
    for (int i = 0; i < ndims && used < text_bytes; i++)
        used += (size_t)snprintf(text + used, text_bytes - used, "%s%lld+%lld", i ? ", " : "",
                                 (long long)box->start[i], (long long)box->count[i]);
    for (int i = 0; i < ndims && used < text_bytes; i++)
        if (box->extent[i])
            used += (size_t)snprintf(text + used, text_bytes - used, " axis %d: %lld of %lld", i,
                                     (long long)box->offset[i], (long long)box->extent[i]);
    if (used < text_bytes)
        snprintf(text + used, text_bytes - used, "]");
}
