/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements: numbers of MPI and of HDF5. A complex number is what h5py has: a compound of r and i. */
#include "types.h"

#include <limits.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* MPI's numbers by kind, the preferred ones first. Their sizes are MPI's own. */
static const struct {
    MPI_Datatype datatype;
    char kind;
} numbers[] = {
    {MPI_DOUBLE, 'f'},
    {MPI_FLOAT, 'f'},
    {MPI_LONG_DOUBLE, 'f'},
    {MPI_C_DOUBLE_COMPLEX, 'c'},
    {MPI_C_FLOAT_COMPLEX, 'c'},
    {MPI_C_LONG_DOUBLE_COMPLEX, 'c'},
    {MPI_INT8_T, 'i'},
    {MPI_INT16_T, 'i'},
    {MPI_INT32_T, 'i'},
    {MPI_INT64_T, 'i'},
    {MPI_UINT8_T, 'u'},
    {MPI_UINT16_T, 'u'},
    {MPI_UINT32_T, 'u'},
    {MPI_UINT64_T, 'u'},
    {MPI_SIGNED_CHAR, 'i'},
    {MPI_CHAR, 'i'},
    {MPI_SHORT, 'i'},
    {MPI_INT, 'i'},
    {MPI_LONG, 'i'},
    {MPI_LONG_LONG, 'i'},
    {MPI_AINT, 'i'},
    {MPI_OFFSET, 'i'},
    {MPI_COUNT, 'i'},
    {MPI_BYTE, 'u'},
    {MPI_UNSIGNED_CHAR, 'u'},
    {MPI_C_BOOL, 'u'},
    {MPI_UNSIGNED_SHORT, 'u'},
    {MPI_UNSIGNED, 'u'},
    {MPI_UNSIGNED_LONG, 'u'},
    {MPI_UNSIGNED_LONG_LONG, 'u'},
    {MPI_INTEGER, 'i'},
    {MPI_REAL, 'f'},
    {MPI_DOUBLE_PRECISION, 'f'},
    {MPI_COMPLEX, 'c'},
    {MPI_DOUBLE_COMPLEX, 'c'},
    {MPI_CXX_FLOAT_COMPLEX, 'c'},
    {MPI_CXX_DOUBLE_COMPLEX, 'c'},
    {MPI_CXX_LONG_DOUBLE_COMPLEX, 'c'},
};

/* Types made of one other type. */
static int open_type(MPI_Datatype datatype, int *combiner, int *count, MPI_Datatype *inner) {
    int nintegers, naddresses, ntypes;
    MPI_Aint address;
    REDIST_TRY(redist_check_mpi(
        MPI_Type_get_envelope(datatype, &nintegers, &naddresses, &ntypes, combiner)));
    *count = 1;
    if (*combiner != MPI_COMBINER_CONTIGUOUS && *combiner != MPI_COMBINER_DUP)
        return REDIST_OK;
    return redist_check_mpi(
        MPI_Type_get_contents(datatype, nintegers, naddresses, 1, count, &address, inner));
}

static int find_number(MPI_Datatype datatype, struct redist__hdf5_type *type) {
    int bytes;
    for (int i = 0; i < COUNT(numbers); i++)
        if (numbers[i].datatype == datatype) {
            REDIST_TRY(redist_check_mpi(MPI_Type_size(datatype, &bytes)));
            type->kind = numbers[i].kind;
            type->bytes = (size_t)bytes;
            return REDIST_OK;
        }
    return REDIST_ERR_DATATYPE;
}

static void free_made(MPI_Datatype *datatype) {
    int combiner, count;
    MPI_Datatype inner;
    if (open_type(*datatype, &combiner, &count, &inner) != REDIST_OK ||
        combiner == MPI_COMBINER_NAMED)
        return;
    if (combiner == MPI_COMBINER_CONTIGUOUS || combiner == MPI_COMBINER_DUP)
        free_made(&inner);
    MPI_Type_free(datatype);
}

int redist__hdf5_type_of(MPI_Datatype datatype, struct redist__hdf5_type *type) {
    int combiner, count;
    MPI_Datatype inner = MPI_DATATYPE_NULL;
    REDIST_TRY(open_type(datatype, &combiner, &count, &inner));
    if (inner == MPI_DATATYPE_NULL) {
        type->items = 1;
        return find_number(datatype, type);
    }
    int code = redist__hdf5_type_of(inner, type);
    type->items *= count;
    free_made(&inner);
    return code;
}

MPI_Datatype redist__hdf5_number(const struct redist__hdf5_type *type) {
    struct redist__hdf5_type number = {0};
    for (int i = 0; i < COUNT(numbers); i++)
        if (numbers[i].datatype != MPI_DATATYPE_NULL && numbers[i].kind == type->kind &&
            find_number(numbers[i].datatype, &number) == REDIST_OK && number.bytes == type->bytes)
            return numbers[i].datatype;
    return MPI_DATATYPE_NULL;
}

/* ---------------------------------------------------------------- HDF5 */

static hid_t make_integer(char kind, size_t bytes) {
    hid_t type = H5Tcopy(kind == 'i' ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64);
    H5Tset_size(type, bytes);
    return type;
}

static hid_t make_real(size_t bytes) {
    const hid_t known[] = {H5T_NATIVE_DOUBLE, H5T_NATIVE_FLOAT, H5T_NATIVE_LDOUBLE};
    for (int i = 0; i < COUNT(known); i++)
        if (H5Tget_size(known[i]) == bytes)
            return H5Tcopy(known[i]);
    return -1;
}

static hid_t make_complex(size_t bytes) {
    hid_t real = make_real(bytes / 2), type = H5Tcreate(H5T_COMPOUND, bytes);
    H5Tinsert(type, "r", 0, real);
    H5Tinsert(type, "i", bytes / 2, real);
    H5Tclose(real);
    return type;
}

hid_t redist__hdf5_type_make(const struct redist__hdf5_type *type) {
    const hsize_t items = (hsize_t)type->items;
    hid_t number = type->kind == 'c'   ? make_complex(type->bytes)
                   : type->kind == 'f' ? make_real(type->bytes)
                                       : make_integer(type->kind, type->bytes);
    if (number < 0 || items == 1)
        return number;
    hid_t array = H5Tarray_create2(number, 1, &items);
    H5Tclose(number);
    return array;
}

/* The real number of a compound of r and i. */
static int is_complex(hid_t type, struct redist__hdf5_type *real) {
    if (H5Tget_nmembers(type) != 2 || H5Tget_member_index(type, "r") != 0 ||
        H5Tget_member_index(type, "i") != 1)
        return 0;
    hid_t member = H5Tget_member_type(type, 0);
    *real = redist__hdf5_type_read(member);
    H5Tclose(member);
    return real->kind == 'f' && 2 * real->bytes == H5Tget_size(type);
}

static struct redist__hdf5_type read_array(hid_t type) {
    hsize_t extent[H5S_MAX_RANK];
    hid_t inner = H5Tget_super(type);
    struct redist__hdf5_type read = redist__hdf5_type_read(inner);
    H5Tclose(inner);
    if (H5Tget_array_ndims(type) == 1 && H5Tget_array_dims2(type, extent) == 1 &&
        extent[0] <= (hsize_t)(INT_MAX / read.items))
        read.items *= (int)extent[0];
    else
        read.kind = 0;
    return read;
}

struct redist__hdf5_type redist__hdf5_type_read(hid_t type) {
    struct redist__hdf5_type read = {.bytes = H5Tget_size(type), .items = 1}, real;
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_ARRAY)
        return read_array(type);
    if (class == H5T_INTEGER)
        read.kind = H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i';
    else if (class == H5T_FLOAT)
        read.kind = 'f';
    else if (class == H5T_COMPOUND && is_complex(type, &real))
        read.kind = 'c';
    return read;
}
