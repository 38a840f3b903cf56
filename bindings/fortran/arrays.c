/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrays.h"

void redist__f_extents(const CFI_cdesc_t *array, redist_index extents[]) {
    for (int i = 0; i < array->rank; i++)
        extents[array->rank - 1 - i] = array->dim[i].extent;
}

static int is_empty(const CFI_cdesc_t *array) {
    for (int i = 0; i < array->rank; i++)
        if (array->dim[i].extent == 0)
            return 1;
    return 0;
}

void *redist__f_address(const CFI_cdesc_t *array) {
    return is_empty(array) || array->rank == 0 || CFI_is_contiguous(array) ? array->base_addr
                                                                           : NULL;
}

/* Returns MPI's datatype of a number, which sums need; MPI_DATATYPE_NULL for other elements. */
static MPI_Datatype number_type(CFI_type_t type) {
    const struct {
        CFI_type_t type;
        MPI_Datatype datatype;
    } numbers[] = {{CFI_type_float, MPI_FLOAT},
                   {CFI_type_double, MPI_DOUBLE},
                   {CFI_type_long_double, MPI_LONG_DOUBLE},
                   {CFI_type_float_Complex, MPI_C_FLOAT_COMPLEX},
                   {CFI_type_double_Complex, MPI_C_DOUBLE_COMPLEX},
                   {CFI_type_long_double_Complex, MPI_C_LONG_DOUBLE_COMPLEX},
                   {CFI_type_int8_t, MPI_INT8_T},
                   {CFI_type_int16_t, MPI_INT16_T},
                   {CFI_type_int32_t, MPI_INT32_T},
                   {CFI_type_int64_t, MPI_INT64_T}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].type == type)
            return numbers[i].datatype;
    return MPI_DATATYPE_NULL;
}

MPI_Datatype redist__f_element_type(CFI_type_t type, size_t bytes) {
    MPI_Datatype datatype = bytes == 1 ? MPI_BYTE : MPI_DATATYPE_NULL;
    if (bytes > INT32_MAX)
        return MPI_DATATYPE_NULL;
    if (number_type(type) != MPI_DATATYPE_NULL)
        datatype = number_type(type);
    if (datatype == MPI_DATATYPE_NULL &&
        (MPI_Type_contiguous((int)bytes, MPI_BYTE, &datatype) || MPI_Type_commit(&datatype)))
        return MPI_DATATYPE_NULL;
    return datatype;
}

MPI_Datatype redist__f_datatype(const CFI_cdesc_t *a, const CFI_cdesc_t *b) {
    return a->elem_len == b->elem_len ? redist__f_element_type(a->type, a->elem_len)
                                      : MPI_DATATYPE_NULL;
}

void redist__f_datatype_free(MPI_Datatype *datatype) {
    int integers, addresses, types, combiner = MPI_COMBINER_NAMED;
    if (*datatype != MPI_DATATYPE_NULL)
        MPI_Type_get_envelope(*datatype, &integers, &addresses, &types, &combiner);
    if (combiner != MPI_COMBINER_NAMED)
        MPI_Type_free(datatype);
}

int redist__f_point(CFI_cdesc_t *pointer, void *memory, const redist_index lower[],
                    const redist_index counts[], const ptrdiff_t strides[]) {
    CFI_CDESC_T(CFI_MAX_RANK) store;
    CFI_cdesc_t *array = (CFI_cdesc_t *)&store;
    CFI_index_t extents[CFI_MAX_RANK], bounds[CFI_MAX_RANK];
    for (int i = 0; i < pointer->rank; i++) {
        extents[i] = counts[i];
        bounds[i] = lower[i];
    }
    int code = CFI_establish(array, memory, CFI_attribute_other, pointer->type, pointer->elem_len,
                             pointer->rank, extents);
    /* the standard has no function for axes in another order */
    for (int i = 0; strides != NULL && i < pointer->rank; i++)
        array->dim[i].sm = strides[i];
    code = code || CFI_setpointer(pointer, array, bounds);
    return code ? redist_fail(REDIST_ERR_ARGUMENT, "pointer cannot have these bounds") : REDIST_OK;
}
