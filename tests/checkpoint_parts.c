/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint_parts.h"
#include "arrays.h"
#include "harness.h"

#include <stdlib.h>
#include <string.h>

/* NULL unless the library has a device that stands in for CUDA's: then half of the arrays are there. */
const test_device *stream_device_memory(void) __attribute__((weak));

enum { NO_VALUE = 0xA5, LARGEST = 24 };

struct with_gaps {
    char letter;
    double number;
};

static void store_double(double value, char *at) {
    memcpy(at, &value, sizeof value);
}

static void store_float(double value, char *at) {
    float own = (float)value;
    memcpy(at, &own, sizeof own);
}

static void store_double_complex(double value, char *at) {
    store_double(value, at);
    store_double(value + 1, at + sizeof(double));
}

static void store_float_complex(double value, char *at) {
    store_float(value, at);
    store_float(value + 1, at + sizeof(float));
}

static void store_int32(double value, char *at) {
    int32_t own = (int32_t)value;
    memcpy(at, &own, sizeof own);
}

static void store_uint8(double value, char *at) {
    *at = (char)((int)value & 127);
}

static void store_vector(double value, char *at) {
    for (size_t i = 0; i < 3; i++)
        store_double(value + (double)i, at + i * sizeof(double));
}

static void store_gaps(double value, char *at) {
    *at = (char)((int)value & 127);
    store_double(value, at + offsetof(struct with_gaps, number));
}

static const struct {
    const char *type;
    size_t extent;
    void (*store)(double value, char *at);
    enum part_kind other;
} kinds[PART_KINDS] = {
    [PART_DOUBLE] = {"double", 8, store_double, PART_FLOAT},
    [PART_FLOAT] = {"float", 4, store_float, PART_DOUBLE},
    [PART_DOUBLE_COMPLEX] = {"double complex", 16, store_double_complex, PART_FLOAT_COMPLEX},
    [PART_FLOAT_COMPLEX] = {"float complex", 8, store_float_complex, PART_DOUBLE_COMPLEX},
    [PART_INT32] = {"int32", 4, store_int32, PART_INT32},
    [PART_UINT8] = {"uint8", 1, store_uint8, PART_UINT8},
    [PART_VECTOR] = {"double", 24, store_vector, PART_VECTOR},
    [PART_GAPS] = {"bytes", sizeof(struct with_gaps), store_gaps, PART_GAPS},
};

const char *part_type(enum part_kind kind) {
    return kinds[kind].type;
}

enum part_kind part_other_precision(enum part_kind kind) {
    return kinds[kind].other;
}

static MPI_Datatype make_datatype(enum part_kind kind) {
    const MPI_Datatype predefined[PART_VECTOR] = {
        MPI_DOUBLE, MPI_FLOAT, MPI_C_DOUBLE_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_INT, MPI_UINT8_T};
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, offsetof(struct with_gaps, number)};
    const MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype made;
    if (kind == PART_VECTOR)
        MPI_Type_contiguous(3, MPI_DOUBLE, &made);
    else if (kind == PART_GAPS)
        MPI_Type_create_struct(2, lengths, places, types, &made);
    else
        MPI_Type_dup(predefined[kind], &made);
    MPI_Type_commit(&made);
    return made;
}

part_array part_array_random(const char *name) {
    part_array array = {.kind = (enum part_kind)random_between(0, PART_KINDS - 1),
                        .ndims = random_between(1, 4)};
    const int most[5] = {0, 300, 30, 12, 7};
    strcpy(array.name, name);
    for (int i = 0; i < array.ndims; i++)
        array.sizes[i] = random_chance(5) ? 0 : random_between(1, most[array.ndims]);
    return array;
}

static void distribute(MPI_Comm comm, const part_array *array, redist_box *box) {
    int axes[REDIST_MAX_NDIMS];
    const int dims[REDIST_MAX_NDIMS] = {0};
    redist_grid *grid;
    int grid_ndims = random_between(1, array->ndims);
    random_permutation(array->ndims, axes);
    if (redist_grid_create(comm, grid_ndims, dims, &grid) != REDIST_OK ||
        redist_grid_box(grid, array->ndims, array->sizes, axes, box) != REDIST_OK)
        abort();
    redist_grid_free(&grid);
}

static void copy_to_device(const part_local *part) {
    if (part->on_device != NULL)
        stream_device_memory()->copy(part->on_device, part->memory, part->bytes + 1);
}

part_local part_create(MPI_Comm comm, const part_array *array) {
    part_local made = {.field = REDIST_FIELD_DEFAULT, .kind = array->kind};
    redist_field *field = &made.field;
    redist_box box = REDIST_BOX_DEFAULT;
    int order[REDIST_MAX_NDIMS];
    distribute(comm, array, &box);
    field->name = array->name;
    field->datatype = make_datatype(array->kind);
    field->ndims = array->ndims;
    field->offset = random_between(0, 3);
    random_permutation(array->ndims, order);
    ptrdiff_t elements = 1;
    for (int i = array->ndims - 1; i >= 0; i--) {
        int axis = order[i];
        field->sizes[axis] = array->sizes[axis];
        field->start[axis] = box.start[axis];
        field->count[axis] = box.count[axis];
        field->stride[axis] = elements;
        elements *= box.count[axis] + random_between(0, 2);
    }
    made.bytes = (size_t)(elements + field->offset) * kinds[array->kind].extent;
    made.memory = malloc(made.bytes + 1);
    memset(made.memory, NO_VALUE, made.bytes + 1);
    if (random_chance(50) && stream_device_memory != NULL && array->kind != PART_GAPS)
        made.on_device = stream_device_memory()->allocate(comm, made.bytes + 1, 0);
    field->array = made.on_device != NULL ? made.on_device : made.memory;
    copy_to_device(&made);
    return made;
}

static double value_at(const redist_field *field, const redist_index index[]) {
    uint64_t place = 0;
    for (int i = 0; i < field->ndims; i++)
        place = place * (uint64_t)field->sizes[i] + (uint64_t)(field->start[i] + index[i]);
    return (double)(random_hash(place + ((uint64_t)field->name[0] << 40)) % (1 << 21)) - (1 << 20);
}

static void store_all(const part_local *part, char *memory) {
    const redist_field *field = &part->field;
    redist_index index[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < field->ndims; i++)
        if (field->count[i] == 0)
            return;
    for (int axis = 0; axis >= 0;) {
        ptrdiff_t at = field->offset;
        for (int i = 0; i < field->ndims; i++)
            at += (ptrdiff_t)index[i] * field->stride[i];
        kinds[part->kind].store(value_at(field, index),
                                memory + (size_t)at * kinds[part->kind].extent);
        for (axis = field->ndims - 1; axis >= 0 && ++index[axis] == field->count[axis]; axis--)
            index[axis] = 0;
    }
}

void part_fill(const part_local *part) {
    store_all(part, part->memory);
    copy_to_device(part);
}

void part_clear(const part_local *part) {
    memset(part->memory, 0, part->bytes);
    copy_to_device(part);
}

int part_is_right(const part_local *part, int is_filled) {
    char *expected = malloc(part->bytes + 1);
    memset(expected, NO_VALUE, part->bytes + 1);
    if (is_filled)
        store_all(part, expected);
    if (part->on_device != NULL)
        stream_device_memory()->copy(part->memory, part->on_device, part->bytes + 1);
    int right = memcmp(expected, part->memory, part->bytes + 1) == 0;
    free(expected);
    return right;
}

void part_free(part_local *part) {
    free(part->memory);
    if (part->on_device != NULL)
        stream_device_memory()->release(part->on_device, 0);
    MPI_Type_free(&part->field.datatype);
}
