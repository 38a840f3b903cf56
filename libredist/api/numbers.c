/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of which a datatype consists, for plans that add them. */
#include "../copy/copy.h"
#include "api.h"

/* Properties that all numbers of a type have in common. */
struct numbers {
    enum redist__number kind;
    MPI_Datatype type; /* predefined; MPI_DATATYPE_NULL = there are several */
};

static enum redist__number integer_of(size_t bytes) {
    return bytes == 1   ? REDIST__BYTES_1
           : bytes == 2 ? REDIST__BYTES_2
           : bytes == 4 ? REDIST__BYTES_4
           : bytes == 8 ? REDIST__BYTES_8
                        : REDIST__NO_NUMBER;
}

static enum redist__number real_of(size_t bytes) {
    return bytes == sizeof(float)    ? REDIST__FLOAT
           : bytes == sizeof(double) ? REDIST__DOUBLE
                                     : REDIST__NO_NUMBER;
}

/* Fortran's reals of 16 bytes may have another format than long double. */
static enum redist__number c_real_of(size_t bytes) {
    enum redist__number kind = real_of(bytes);
    return kind == REDIST__NO_NUMBER && bytes == sizeof(long double) ? REDIST__LONG_DOUBLE : kind;
}

static int is_among(MPI_Datatype type, int n, const MPI_Datatype types[]) {
    int found = 0;
    for (int i = 0; i < n && !found; i++)
        found = types[i] != MPI_DATATYPE_NULL && types[i] == type;
    return found;
}

#define IS_AMONG(type, list) is_among(type, (int)(sizeof(list) / sizeof *(list)), list)

/* Returns the kind of a predefined type, or of one of MPI_Type_create_f90_real and the like. */
static enum redist__number named(MPI_Datatype type, int combiner) {
    const MPI_Datatype c_reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE},
                       c_complexes[] = {MPI_C_FLOAT_COMPLEX,       MPI_C_DOUBLE_COMPLEX,
                                        MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX,
                                        MPI_CXX_DOUBLE_COMPLEX,    MPI_CXX_LONG_DOUBLE_COMPLEX},
                       reals[] = {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8},
                       complexes[] = {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16},
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
                                     MPI_COUNT,       MPI_INTEGER,
                                     MPI_INTEGER1,    MPI_INTEGER2,
                                     MPI_INTEGER4,    MPI_INTEGER8};
    int size = 0;
    if (MPI_Type_size(type, &size) != MPI_SUCCESS)
        return REDIST__NO_NUMBER;
    size_t bytes = (size_t)size;
    return IS_AMONG(type, c_reals)                                      ? c_real_of(bytes)
           : IS_AMONG(type, c_complexes)                                ? c_real_of(bytes / 2)
           : IS_AMONG(type, reals) || combiner == MPI_COMBINER_F90_REAL ? real_of(bytes)
           : IS_AMONG(type, complexes) || combiner == MPI_COMBINER_F90_COMPLEX ? real_of(bytes / 2)
           : IS_AMONG(type, integers) || combiner == MPI_COMBINER_F90_INTEGER  ? integer_of(bytes)
                                                                               : REDIST__NO_NUMBER;
}

static int find_common(MPI_Datatype type, struct numbers *common);

/* Finds what the types have in common of which a type is made, and frees those that are not predefined. */
static int find_common_of(int ntypes, MPI_Datatype types[], struct numbers *common) {
    int code = REDIST_OK;
    for (int i = 0; i < ntypes; i++) {
        struct numbers one = {REDIST__NO_NUMBER, MPI_DATATYPE_NULL};
        int integers, addresses, inner, combiner = MPI_COMBINER_NAMED;
        redist__keep_first(&code, find_common(types[i], &one));
        common->kind = i == 0 || one.kind == common->kind ? one.kind : REDIST__NO_NUMBER;
        common->type = i == 0 || one.type == common->type ? one.type : MPI_DATATYPE_NULL;
        if (MPI_Type_get_envelope(types[i], &integers, &addresses, &inner, &combiner) ==
                MPI_SUCCESS &&
            combiner != MPI_COMBINER_NAMED && inner > 0)
            MPI_Type_free(&types[i]);
    }
    return code;
}

/* Finds what all numbers of a type have in common. */
static int find_common(MPI_Datatype type, struct numbers *common) {
    int nintegers, naddresses, ntypes, combiner;
    *common = (struct numbers){REDIST__NO_NUMBER, MPI_DATATYPE_NULL};
    REDIST_TRY(
        redist_check_mpi(MPI_Type_get_envelope(type, &nintegers, &naddresses, &ntypes, &combiner)));
    if (ntypes == 0) { /* predefined, or one of Fortran's with a precision or range */
        *common = (struct numbers){named(type, combiner), type};
        return REDIST_OK;
    }
    int *integers = redist_calloc((size_t)nintegers, sizeof *integers);
    MPI_Aint *addresses = redist_calloc((size_t)naddresses, sizeof *addresses);
    MPI_Datatype *types = redist_calloc((size_t)ntypes, sizeof(MPI_Datatype));
    int code = integers != NULL && addresses != NULL && types != NULL
                   ? redist_check_mpi(MPI_Type_get_contents(type, nintegers, naddresses, ntypes,
                                                            integers, addresses, types))
                   : redist__fail(REDIST_ERR_MEMORY, "no memory to examine a datatype");
    if (code == REDIST_OK)
        code = find_common_of(ntypes, types, common);
    redist_release(integers);
    redist_release(addresses);
    redist_release(types);
    return code;
}

int redist__find_predefined(MPI_Datatype type, enum redist__number *kind,
                            MPI_Datatype *predefined) {
    struct numbers numbers;
    REDIST_TRY(find_common(type, &numbers));
    *kind = numbers.kind;
    *predefined = numbers.type;
    return REDIST_OK;
}

/* Widened rows are combined one after the other: elements of the user's operation must not lie across two. */
static int check_operation(const struct redist__request *request) {
    size_t row = REDIST__FORMAT_ROW * request->format->bytes;
    if (!redist__operation_is_given(request) || row % request->operation.sum.bytes == 0)
        return REDIST_OK;
    return redist_fail_in(request->function, REDIST_ERR_ARGUMENT,
                          "options->operation is for elements of %zu bytes, but options->wire = %s "
                          "has rows of %zu bytes: use REDIST_WIRE_SAME",
                          request->operation.sum.bytes, redist_wire_name(request->format->wire),
                          row);
}

int redist__find_format(struct redist__request *request) {
    const struct redist__element *element = &request->element;
    enum redist_wire wire = request->options.wire;
    struct numbers numbers;
    if (wire == REDIST_WIRE_SAME)
        return REDIST_OK;
    REDIST_TRY(find_common(request->datatype, &numbers));
    request->format = redist__format_of(wire, numbers.kind);
    if (request->format != NULL && element->run != 0 && element->run % request->format->bytes == 0)
        return check_operation(request);
    request->format = NULL;
    return redist_fail_in(request->function, REDIST_ERR_DATATYPE,
                          "options->wire = %s is for elements of %s at equal distances, but "
                          "datatype (%d bytes) does not consist of these: use REDIST_WIRE_SAME",
                          redist_wire_name((int)wire),
                          wire == REDIST_WIRE_FLOAT ? "doubles" : "floats or doubles",
                          request->item_size);
}

int redist__find_numbers(struct redist__request *request) {
    enum redist_overlap overlap = request->options.overlap;
    int may_add = overlap == REDIST_OVERLAP_REFUSED && request->halo != NULL;
    int by_operation = redist__operation_is_given(request);
    struct numbers numbers;
    int adds = overlap == REDIST_OVERLAP_ADD || may_add;
    if (by_operation && !adds)
        return redist_fail_in(
            request->function, REDIST_ERR_ARGUMENT,
            "options->operation is given, but the plan adds nothing with options->overlap = %s",
            redist__overlap_name((int)overlap));
    if (!adds)
        return REDIST_OK;
    REDIST_TRY(find_common(request->datatype, &numbers));
    if (by_operation)
        return redist__operation_prepare(request, numbers.type);
    const struct redist__sum *sum = redist__sum_of(numbers.kind);
    if (sum != NULL && request->element.run != 0 && request->element.run % sum->bytes == 0)
        request->adds = sum;
    if (request->adds != NULL || may_add)
        return REDIST_OK;
    return redist_fail_in(request->function, REDIST_ERR_DATATYPE,
                          "options->overlap = REDIST_OVERLAP_ADD, but datatype does not consist of "
                          "numbers of one kind, at equal distances: give options->operation");
}
