/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of datasets, groups and the file. */
#include "calls.h"

#include <string.h>

/* An attribute that is set or got: numbers of HDF5's type `type`, or a text where that is 0. */
struct attribute {
    const char *function, *object, *key;
    hid_t (*type)(void);
    int n; /* of numbers, of bytes of a text; out: of the attribute */
    const void *values;
    void *got; /* out: all values, freed by the caller */
};

/* HDF5's types have values once HDF5 has begun. */
static hid_t type_of_numbers(void) {
    return H5T_NATIVE_DOUBLE;
}

static hid_t type_of_integers(void) {
    return H5T_NATIVE_INT64;
}

/* ---------------------------------------------------------------- setting */

/* A text has a variable length, as h5py makes them. */
static hid_t make_text_type(void) {
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

static int replace(struct redist_hdf5 *file, const struct attribute *given, hid_t type,
                   const void *values) {
    const hsize_t n = (hsize_t)given->n;
    htri_t exists = H5Aexists_by_name(file->id, given->object, given->key, H5P_DEFAULT);
    HDF5_TRY(exists);
    if (exists)
        HDF5_TRY(H5Adelete_by_name(file->id, given->object, given->key, H5P_DEFAULT));
    hid_t space =
        given->type != NULL && n > 1 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate_by_name(file->id, given->object, given->key, type, space,
                                        H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int code = attribute < 0 ? -1 : H5Awrite(attribute, type, values);
    redist__hdf5_drop(attribute);
    redist__hdf5_drop(space);
    return code;
}

static int set(struct redist_hdf5 *file, void *data) {
    const struct attribute *given = data;
    hid_t type = given->type != NULL ? H5Tcopy(given->type()) : make_text_type();
    int code = replace(file, given, type, given->type != NULL ? given->values : &given->values);
    redist__hdf5_drop(type);
    return code;
}

/* Returns what the user's function calls the number of values or bytes. */
static const char *name_of_number(const struct attribute *given, int sets) {
    if (given->type == NULL)
        return sets ? "the length of text" : "bytes";
    return sets ? "n" : "most";
}

/* Checks and agrees on an attribute; `values` or the text may be NULL without room for any. */
static int agree(struct redist_hdf5 *file, struct attribute *given, const void *values, int least,
                 int sets) {
    const char *function = given->function;
    int code = REDIST_OK;
    if (given->key == NULL || (values == NULL && (sets || given->n > 0)))
        code = redist_fail_in(function, REDIST_ERR_NULL, "%s = NULL",
                              given->key == NULL    ? "key"
                              : given->type == NULL ? "text"
                                                    : "values");
    else if (given->key[0] == 0)
        code = redist_fail_in(function, REDIST_ERR_ARGUMENT, "key = '' is no name");
    else if (given->n < least)
        code = redist_fail_in(function, REDIST_ERR_ARGUMENT, "%s = %d is less than %d",
                              name_of_number(given, sets), given->n, least);
    else if (sets && file->mode == REDIST_HDF5_READ)
        code = redist_fail_in(function, REDIST_ERR_STATE,
                              "the file is open for reading: open it with REDIST_HDF5_APPEND");
    size_t bytes = code == REDIST_OK && sets ? (size_t)given->n * (given->type ? 8 : 1) : 0;
    const redist_shared_value shared[] = {
        redist_share("object", REDIST_SHARED_TEXT, given->object, 1),
        redist_share("key", REDIST_SHARED_TEXT, given->key, 1),
        redist_share_number(name_of_number(given, sets), given->n),
        redist_share_number("the values (their hash)",
                            redist_hash_bytes(0, bytes > 0 ? given->values : NULL, bytes))};
    if (given->object == NULL)
        given->object = "/";
    return redist_agree_values_in(function, file->comm, code, sets ? 4 : 3, shared);
}

static int set_all(struct redist_hdf5 *file, struct attribute *given) {
    REDIST_TRY(redist__hdf5_check(given->function, file));
    REDIST_TRY(agree(file, given, given->values, given->type != NULL, 1));
    return redist__hdf5_act(given->function, file, "set an attribute", set, given);
}

int redist_hdf5_set_numbers(redist_hdf5 *file, const char *object, const char *key, int n,
                            const double values[]) {
    struct attribute given = {__func__, object, key, type_of_numbers, n, values, NULL};
    return set_all(file, &given);
}

int redist_hdf5_set_integers(redist_hdf5 *file, const char *object, const char *key, int n,
                             const int64_t values[]) {
    struct attribute given = {__func__, object, key, type_of_integers, n, values, NULL};
    return set_all(file, &given);
}

int redist_hdf5_set_text(redist_hdf5 *file, const char *object, const char *key, const char *text) {
    struct attribute given = {__func__, object, key, NULL, text ? (int)strlen(text) : 0,
                              text,     NULL};
    return set_all(file, &given);
}

/* ---------------------------------------------------------------- getting */

static int no_memory(const struct attribute *given) {
    return redist_fail_in(given->function, REDIST_ERR_MEMORY, "no memory for attribute '%s'",
                          given->key);
}

static int refuse_class(const struct attribute *given) {
    return redist_fail_in(given->function, REDIST_ERR_FILE, "attribute '%s' of '%s' is no %s",
                          given->key, given->object,
                          given->type != NULL ? "list of numbers" : "text");
}

static int get_numbers(struct attribute *given, hid_t attribute, hid_t type) {
    H5T_class_t class = H5Tget_class(type);
    hid_t space = H5Aget_space(attribute);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    redist__hdf5_drop(space);
    if ((class != H5T_INTEGER && class != H5T_FLOAT) || n < 0 || n > INT32_MAX)
        return refuse_class(given);
    given->n = (int)n;
    given->got = redist_calloc((size_t)n + 1, sizeof(double));
    return given->got != NULL ? H5Aread(attribute, given->type(), given->got) : no_memory(given);
}

static int keep_text(struct attribute *given, const char *text, size_t length) {
    if (length >= INT32_MAX)
        return refuse_class(given);
    given->n = (int)length;
    given->got = redist_calloc(length + 1, 1);
    if (given->got == NULL)
        return no_memory(given);
    memcpy(given->got, text, length);
    return REDIST_OK;
}

static int get_variable_text(struct attribute *given, hid_t attribute) {
    char *text = NULL;
    hid_t type = make_text_type(), own = H5Aget_type(attribute);
    H5Tset_cset(type, H5Tget_cset(own));
    int code = H5Aread(attribute, type, &text);
    if (code >= 0)
        code = keep_text(given, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
    H5free_memory(text);
    redist__hdf5_drop(own);
    redist__hdf5_drop(type);
    return code;
}

static int get_fixed_text(struct attribute *given, hid_t attribute, hid_t type) {
    size_t bytes = H5Tget_size(type);
    if (bytes >= INT32_MAX)
        return refuse_class(given);
    char *text = redist_calloc(bytes + 1, 1);
    if (text == NULL)
        return no_memory(given);
    int code = H5Aread(attribute, type, text);
    if (code >= 0)
        code = keep_text(given, text, strlen(text));
    redist_release(text);
    return code;
}

static int get_text(struct attribute *given, hid_t attribute, hid_t type) {
    hid_t space = H5Aget_space(attribute);
    hssize_t n = H5Sget_simple_extent_npoints(space);
    redist__hdf5_drop(space);
    if (H5Tget_class(type) != H5T_STRING || n != 1)
        return refuse_class(given);
    return H5Tis_variable_str(type) > 0 ? get_variable_text(given, attribute)
                                        : get_fixed_text(given, attribute, type);
}

static int get(struct redist_hdf5 *file, void *data) {
    struct attribute *given = data;
    hid_t attribute =
        H5Aopen_by_name(file->id, given->object, given->key, H5P_DEFAULT, H5P_DEFAULT);
    HDF5_TRY(attribute);
    hid_t type = H5Aget_type(attribute);
    int code = given->type != NULL ? get_numbers(given, attribute, type)
                                   : get_text(given, attribute, type);
    redist__hdf5_drop(type);
    redist__hdf5_drop(attribute);
    return code;
}

/* Gets an attribute; all ranks take rank 0's, of which `most` values of `bytes` bytes are wanted. */
static int get_all(struct redist_hdf5 *file, struct attribute *given, void *values, int *n) {
    const int most = given->n;
    const int least = given->type == NULL;
    REDIST_TRY(redist__hdf5_check(given->function, file));
    REDIST_TRY(agree(file, given, values, least, 0));
    int code = redist__hdf5_act(given->function, file, "get an attribute", get, given);
    if (code == REDIST_OK)
        code =
            redist_agree(file->comm, redist_broadcast(file->comm, &given->n, sizeof given->n, 0));
    if (code == REDIST_OK) {
        int wanted = given->n < most - least ? given->n : most - least;
        size_t bytes = (size_t)wanted * (given->type != NULL ? 8 : 1);
        if (file->rank == 0 && bytes > 0)
            memcpy(values, given->got, bytes);
        code = bytes > 0 ? redist_broadcast(file->comm, values, bytes, 0) : REDIST_OK;
        code = redist_agree(file->comm, code);
        if (least)
            ((char *)values)[wanted] = 0;
        if (n != NULL)
            *n = given->n;
    }
    redist_release(given->got);
    return code;
}

int redist_hdf5_get_numbers(redist_hdf5 *file, const char *object, const char *key, int most,
                            double values[], int *n) {
    struct attribute given = {__func__, object, key, type_of_numbers, most, NULL, NULL};
    return get_all(file, &given, values, n);
}

int redist_hdf5_get_integers(redist_hdf5 *file, const char *object, const char *key, int most,
                             int64_t values[], int *n) {
    struct attribute given = {__func__, object, key, type_of_integers, most, NULL, NULL};
    return get_all(file, &given, values, n);
}

int redist_hdf5_get_text(redist_hdf5 *file, const char *object, const char *key, int bytes,
                         char text[]) {
    struct attribute given = {__func__, object, key, NULL, bytes, NULL, NULL};
    return get_all(file, &given, text, NULL);
}
