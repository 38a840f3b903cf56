/* SPDX-License-Identifier: BSD-3-Clause */
#include "../copy/copy.h"
#include "checkpoint.h"

#include <string.h>

/* The numbers of a file: of a kind, and unsigned or complex ("other") or neither. */
static const struct type {
    const char *name;
    enum redist__number kind;
    int other;
} types[] = {
    {"int8", REDIST__BYTES_1, 0},
    {"int16", REDIST__BYTES_2, 0},
    {"int32", REDIST__BYTES_4, 0},
    {"int64", REDIST__BYTES_8, 0},
    {"uint8", REDIST__BYTES_1, 1},
    {"uint16", REDIST__BYTES_2, 1},
    {"uint32", REDIST__BYTES_4, 1},
    {"uint64", REDIST__BYTES_8, 1},
    {"float", REDIST__FLOAT, 0},
    {"double", REDIST__DOUBLE, 0},
    {"long double", REDIST__LONG_DOUBLE, 0},
    {"float complex", REDIST__FLOAT, 1},
    {"double complex", REDIST__DOUBLE, 1},
    {"long double complex", REDIST__LONG_DOUBLE, 1},
    {"bytes", REDIST__NO_NUMBER, 0},
};

static int is_unsigned(MPI_Datatype type) {
    const MPI_Datatype all[] = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,     MPI_UNSIGNED,
                                MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
                                MPI_UINT16_T,      MPI_UINT32_T,           MPI_UINT64_T};
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        found = found || all[i] == type;
    return found;
}

static size_t bytes_of(enum redist__number kind) {
    const struct redist__sum *sum = redist__sum_of(kind);
    return sum != NULL ? sum->bytes : 0;
}

/* Finds whether elements have no gaps, between or within them. */
static int find_gaps(MPI_Datatype datatype, int *has_gaps) {
    MPI_Aint low, extent, true_low, true_extent;
    int size;
    REDIST_TRY(redist_check_mpi(MPI_Type_size(datatype, &size)));
    REDIST_TRY(redist_check_mpi(MPI_Type_get_extent(datatype, &low, &extent)));
    REDIST_TRY(redist_check_mpi(MPI_Type_get_true_extent(datatype, &true_low, &true_extent)));
    *has_gaps = size != extent || size != true_extent || low != 0 || true_low != 0;
    return REDIST_OK;
}

int redist__type_name(MPI_Datatype datatype, const char **name) {
    enum redist__number kind;
    MPI_Datatype predefined;
    int has_gaps, bytes = 0;
    const struct type *type = types;
    REDIST_TRY(find_gaps(datatype, &has_gaps));
    REDIST_TRY(redist__find_predefined(datatype, &kind, &predefined));
    if (has_gaps || predefined == MPI_DATATYPE_NULL)
        kind = REDIST__NO_NUMBER;
    if (kind != REDIST__NO_NUMBER)
        REDIST_TRY(redist_check_mpi(MPI_Type_size(predefined, &bytes)));
    int other =
        kind != REDIST__NO_NUMBER && (is_unsigned(predefined) || (size_t)bytes > bytes_of(kind));
    while (type->kind != REDIST__NO_NUMBER && (type->kind != kind || type->other != other))
        type++;
    *name = type->name;
    return REDIST_OK;
}

/* Returns the row of float or double numbers, real or complex; NULL for others. */
static const struct type *find_floating(const char *name) {
    for (const struct type *type = types; type->kind != REDIST__NO_NUMBER; type++)
        if ((type->kind == REDIST__FLOAT || type->kind == REDIST__DOUBLE) &&
            strcmp(type->name, name) == 0)
            return type;
    return NULL;
}

int redist__type_converts(const char *from, size_t from_bytes, const char *to, size_t to_bytes) {
    const struct type *a = find_floating(from), *b = find_floating(to);
    if (a == NULL || b == NULL || a->kind == b->kind || a->other != b->other ||
        from_bytes % bytes_of(a->kind) != 0 || to_bytes % bytes_of(b->kind) != 0 ||
        from_bytes / bytes_of(a->kind) != to_bytes / bytes_of(b->kind))
        return 0;
    return a->kind == REDIST__FLOAT ? 1 : -1;
}

static void widen(char *numbers, size_t index) {
    float from;
    memcpy(&from, numbers + index * sizeof from, sizeof from);
    double to = (double)from;
    memcpy(numbers + index * sizeof to, &to, sizeof to);
}

static void narrow(char *numbers, size_t index) {
    double from;
    memcpy(&from, numbers + index * sizeof from, sizeof from);
    float to = (float)from;
    memcpy(numbers + index * sizeof to, &to, sizeof to);
}

/* In place: no number is overwritten before it is read. */
void redist__type_convert(void *numbers, size_t count, int widens) {
    for (size_t i = 0; i < count; i++) {
        if (widens)
            widen(numbers, count - 1 - i);
        else
            narrow(numbers, i);
    }
}
