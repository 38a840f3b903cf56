/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of which a datatype consists, for plans that add them. */
#include "api.h"

static enum redist__number integer_of(size_t bytes) {
    return bytes == 1   ? REDIST__BYTES_1
           : bytes == 2 ? REDIST__BYTES_2
           : bytes == 4 ? REDIST__BYTES_4
                        : REDIST__BYTES_8;
}

static enum redist__number real_of(size_t bytes) {
    return bytes == sizeof(float)         ? REDIST__FLOAT
           : bytes == sizeof(double)      ? REDIST__DOUBLE
           : bytes == sizeof(long double) ? REDIST__LONG_DOUBLE
                                          : REDIST__NO_NUMBER;
}

static int is_among(MPI_Datatype type, int n, const MPI_Datatype types[]) {
    int found = 0;
    for (int i = 0; i < n && !found; i++)
        found = types[i] != MPI_DATATYPE_NULL && types[i] == type;
    return found;
}

#define IS_AMONG(type, list) is_among(type, (int)(sizeof(list) / sizeof *(list)), list)

/* Returns the kind of a predefined type. */
static enum redist__number named(MPI_Datatype type) {
    const MPI_Datatype
        reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION},
        complexes[] = {MPI_C_FLOAT_COMPLEX,   MPI_C_DOUBLE_COMPLEX,   MPI_C_LONG_DOUBLE_COMPLEX,
                       MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX,
                       MPI_COMPLEX,           MPI_DOUBLE_COMPLEX},
        integers[] = {MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                      MPI_SHORT,       MPI_UNSIGNED_SHORT,
                      MPI_INT,         MPI_UNSIGNED,
                      MPI_LONG,        MPI_UNSIGNED_LONG,
                      MPI_LONG_LONG,   MPI_UNSIGNED_LONG_LONG,
                      MPI_INT8_T,      MPI_INT16_T,
                      MPI_INT32_T,     MPI_INT64_T,
                      MPI_UINT8_T,     MPI_UINT16_T,
                      MPI_UINT32_T,    MPI_UINT64_T,
                      MPI_AINT,        MPI_OFFSET,
                      MPI_COUNT,       MPI_INTEGER};
    int size = 0;
    if (MPI_Type_size(type, &size) != MPI_SUCCESS)
        return REDIST__NO_NUMBER;
    return IS_AMONG(type, reals)       ? real_of((size_t)size)
           : IS_AMONG(type, complexes) ? real_of((size_t)size / 2)
           : IS_AMONG(type, integers)  ? integer_of((size_t)size)
                                       : REDIST__NO_NUMBER;
}

static int find_kind(MPI_Datatype type, enum redist__number *kind);

/* Finds the common kind of the types of which a type is made, and frees those that are not predefined. */
static int find_common(int ntypes, MPI_Datatype types[], enum redist__number *kind) {
    int code = REDIST_OK;
    for (int i = 0; i < ntypes; i++) {
        enum redist__number one = REDIST__NO_NUMBER;
        int integers, addresses, inner, combiner = MPI_COMBINER_NAMED;
        redist__keep_first(&code, find_kind(types[i], &one));
        *kind = i == 0 || one == *kind ? one : REDIST__NO_NUMBER;
        if (MPI_Type_get_envelope(types[i], &integers, &addresses, &inner, &combiner) ==
                MPI_SUCCESS &&
            combiner != MPI_COMBINER_NAMED && inner > 0)
            MPI_Type_free(&types[i]);
    }
    return code;
}

/* Finds the kind of all numbers of a type; none if there are several. */
static int find_kind(MPI_Datatype type, enum redist__number *kind) {
    int nintegers, naddresses, ntypes, combiner;
    *kind = REDIST__NO_NUMBER;
    REDIST_TRY(
        redist_check_mpi(MPI_Type_get_envelope(type, &nintegers, &naddresses, &ntypes, &combiner)));
    if (combiner == MPI_COMBINER_NAMED)
        *kind = named(type);
    if (ntypes == 0)
        return REDIST_OK;
    int *integers = redist_calloc((size_t)nintegers, sizeof *integers);
    MPI_Aint *addresses = redist_calloc((size_t)naddresses, sizeof *addresses);
    MPI_Datatype *types = redist_calloc((size_t)ntypes, sizeof(MPI_Datatype));
    int code = integers != NULL && addresses != NULL && types != NULL
                   ? redist_check_mpi(MPI_Type_get_contents(type, nintegers, naddresses, ntypes,
                                                            integers, addresses, types))
                   : redist__fail(REDIST_ERR_MEMORY, "no memory to examine a datatype");
    if (code == REDIST_OK)
        code = find_common(ntypes, types, kind);
    redist_release(integers);
    redist_release(addresses);
    redist_release(types);
    return code;
}

int redist__find_numbers(struct redist__request *request) {
    enum redist_overlap overlap = request->options.overlap;
    int may_add = overlap == REDIST_OVERLAP_REFUSED && request->halo != NULL;
    if (overlap != REDIST_OVERLAP_ADD && !may_add)
        return REDIST_OK;
    REDIST_TRY(find_kind(request->datatype, &request->adds));
    if (request->element.run % redist__number_bytes(request->adds) != 0 ||
        request->element.run == 0)
        request->adds = REDIST__NO_NUMBER;
    if (request->adds != REDIST__NO_NUMBER || may_add)
        return REDIST_OK;
    return redist_fail_in(request->function, REDIST_ERR_DATATYPE,
                          "options->overlap = REDIST_OVERLAP_ADD, but datatype does not consist of "
                          "numbers of one kind, at equal distances");
}
