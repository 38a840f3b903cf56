/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "halo_case.h"
#include "harness.h"

/* ---------------------------------------------------------------- elements */

kind kind_at(int index) {
    const kind kinds[KINDS] = {
        {"double", 'd', 1, 8, 8, MPI_DOUBLE},
        {"float", 'f', 1, 4, 4, MPI_FLOAT},
        {"complex", 'd', 2, 8, 16, MPI_C_DOUBLE_COMPLEX},
        {"3 floats", 'f', 3, 4, 12, MPI_FLOAT},
        {"int8", 'b', 1, 1, 1, MPI_SIGNED_CHAR},
        {"int", 'i', 1, 4, 4, MPI_INT},
        {"2 int64 in 24 bytes", 'q', 2, 8, 24, MPI_INT64_T},
        {"long double", 'l', 1, sizeof(long double), sizeof(long double), MPI_LONG_DOUBLE},
        {"5 bytes", 'x', 5, 1, 5, MPI_BYTE}};
    return kinds[index % KINDS];
}

MPI_Datatype make_type(const kind *of) {
    MPI_Datatype fields, type;
    int size;
    MPI_Type_size(of->base, &size);
    MPI_Type_contiguous((int)(of->bytes * (size_t)of->components) / size, of->base, &fields);
    MPI_Type_create_resized(fields, 0, (MPI_Aint)of->extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&fields);
    return type;
}

void write_number(const kind *of, char *at, long value) {
    const double d = (double)value;
    const float f = (float)value;
    const long double l = (long double)value;
    const int32_t i = (int32_t)value;
    const int64_t q = value;
    const int8_t b = (int8_t)value;
    memcpy(at,
           of->number == 'd'   ? (const void *)&d
           : of->number == 'f' ? (const void *)&f
           : of->number == 'l' ? (const void *)&l
           : of->number == 'i' ? (const void *)&i
           : of->number == 'q' ? (const void *)&q
                               : (const void *)&b,
           of->bytes);
}

long read_number(const kind *of, const char *at) {
    char bytes[sizeof(long double)];
    memcpy(bytes, at, of->bytes);
    switch (of->number) {
    case 'd':
        return (long)*(double *)(void *)bytes;
    case 'f':
        return (long)*(float *)(void *)bytes;
    case 'l':
        return (long)*(long double *)(void *)bytes;
    case 'i':
        return *(int32_t *)(void *)bytes;
    case 'q':
        return *(int64_t *)(void *)bytes;
    default:
        return *(int8_t *)(void *)bytes;
    }
}

/* ---------------------------------------------------------------- operations */

/* An element becomes that which arrives, plus three times itself, byte by byte. */
static void multiply_and_add(void *arriving, void *element, int *count, MPI_Datatype *type) {
    const unsigned char *from = arriving;
    unsigned char *to = element;
    int bytes;
    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *count * bytes; i++)
        to[i] = (unsigned char)(from[i] + 3 * to[i]);
}

void make_operations(operation made[OPERATIONS]) {
    made[0] = (operation){"max", MPI_MAX, 0};
    made[1] = (operation){"min", MPI_MIN, 0};
    made[2] = (operation){"prod", MPI_PROD, 0};
    made[3] = (operation){.name = "multiply and add", .on_elements = 1};
    MPI_Op_create(multiply_and_add, 0, &made[3].op);
}

/* Returns whether an operation is for elements of a kind; long doubles have bytes that are not defined. */
static int is_for(const operation *by, kind of) {
    int is_complex = of.base == MPI_C_DOUBLE_COMPLEX;
    return by->on_elements ? of.number != 'l' && of.extent == of.bytes * (size_t)of.components
                           : of.number != 'x' && (by->op == MPI_PROD || !is_complex);
}

int kind_for(const operation *by) {
    int index = random_between(0, KINDS - 1);
    while (!is_for(by, kind_at(index)))
        index++;
    return index;
}

/* ---------------------------------------------------------------- elements of a local array */

redist_index extent_of(const redist_box *box, int axis) {
    return box->extent[axis] != 0 ? box->extent[axis] : box->count[axis];
}

static int is_empty(const halo_case *given, const redist_box *box) {
    int empty = 0;
    for (int i = 0; i < given->given.ndims; i++)
        empty |= box->count[i] == 0;
    return empty;
}

/* Finds the place of an element, and the number of what it holds or shows in the global array. */
static enum place find_place(const halo_case *given, const redist_box *box,
                             const redist_index index[], size_t *global) {
    const exchange *of = &given->given;
    int outside = 0, beyond = 0;
    *global = 0;
    if (is_empty(given, box))
        return NEITHER;
    for (int i = 0; i < of->ndims; i++) {
        redist_index size = of->sizes[i], at = index[i] - box->offset[i];
        outside += at < 0 || at >= box->count[i];
        beyond |= at < -given->halo.low[i] || at >= box->count[i] + given->halo.high[i];
        at += box->start[i];
        beyond |= !given->halo.periodic[i] && (at < 0 || at >= size);
        *global = *global * (size_t)size + (size_t)(((at % size) + size) % size);
    }
    if (beyond || (outside > 1 && !given->halo.corners))
        return NEITHER;
    return outside ? GHOST : OWN;
}

/* Advances an index in a local array; 0 after the last one. */
static int advance(const halo_case *given, const redist_box *box, redist_index index[]) {
    for (int i = given->given.ndims - 1; i >= 0; i--) {
        if (++index[i] < extent_of(box, i))
            return 1;
        index[i] = 0;
    }
    return 0;
}

size_t elements_of(const halo_case *given, const redist_box *box) {
    size_t elements = 1;
    for (int i = 0; i < given->given.ndims; i++)
        elements *= (size_t)extent_of(box, i);
    return elements;
}

void visit_all(const halo_case *given, int rank, visitor *visit, void *data) {
    const redist_box *box = &given->given.boxes[0][rank];
    redist_index index[REDIST_MAX_NDIMS] = {0};
    size_t global, element = 0;
    if (elements_of(given, box) == 0)
        return;
    do {
        enum place place = find_place(given, box, index, &global);
        visit(given, rank, place, element++, global, data);
    } while (advance(given, box, index));
}

/* ---------------------------------------------------------------- cases */

halo_case case_of(int ndims, const redist_index sizes[], int index) {
    halo_case made = {.kind = kind_at(index), .halo = REDIST_HALO_DEFAULT};
    made.given = exchange_between_boxes(MPI_COMM_WORLD, NULL, ndims, sizes);
    return made;
}

void set_room(halo_case *given) {
    for (int rank = 0; rank < given->given.nranks; rank++) {
        redist_box *box = &given->given.boxes[0][rank];
        for (int i = 0; i < given->given.ndims; i++) {
            redist_index end = given->given.sizes[i] - box->start[i] - box->count[i];
            int periodic = given->halo.periodic[i], exact = random_chance(30);
            redist_index low = given->halo.low[i], high = given->halo.high[i];
            if (exact && !periodic) {
                low = low < box->start[i] ? low : box->start[i];
                high = high < end ? high : end;
            }
            box->offset[i] = low + (exact ? 0 : random_between(0, 1));
            box->extent[i] =
                box->offset[i] + box->count[i] + high + (exact ? 0 : random_between(0, 1));
        }
    }
}

void set_halo(halo_case *given) {
    given->halo.corners = random_chance(60);
    for (int i = 0; i < given->given.ndims; i++) {
        int periodic = random_chance(50), size = (int)given->given.sizes[i];
        int most = random_chance(30) ? 6 : 2;
        most = periodic || most < size ? most : size;
        given->halo.periodic[i] = periodic;
        given->halo.low[i] = random_between(0, most);
        given->halo.high[i] = random_between(0, most);
    }
}

int has_axes(const halo_case *given) {
    int axes = 0;
    for (int i = 0; i < given->given.ndims; i++)
        axes += given->halo.low[i] + given->halo.high[i] > 0;
    return given->halo.corners && axes > 1;
}

halo_case ring_of_rows(redist_index row, int index) {
    const redist_index sizes[2] = {harness_nranks, row};
    halo_case given = case_of(2, sizes, index);
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        box->start[0] = rank;
        box->count[0] = 1;
        box->count[1] = row;
    }
    given.halo.low[0] = given.halo.high[0] = given.halo.periodic[0] = 1;
    return given;
}

halo_case case_of_all(void) {
    const redist_index sizes[2] = {2 * (redist_index)harness_nranks, 3};
    halo_case given = case_of(2, sizes, 0);
    for (int rank = 0; rank < harness_nranks; rank++) {
        redist_box *box = &given.given.boxes[0][rank];
        *box = (redist_box){.size = sizeof(*box), .start = {2 * rank}, .count = {2, 3}};
    }
    given.halo.low[0] = given.halo.high[0] = sizes[0];
    given.halo.low[1] = given.halo.high[1] = 1;
    given.halo.periodic[0] = given.halo.periodic[1] = given.halo.corners = 1;
    set_room(&given);
    return given;
}
