/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions for arrays that peers can map, in any space. */
#include "../comm/error.h"
#include "../runtime/space.h"

enum { LIMIT_BITS = 47 };

static int alloc_in(const char *function, MPI_Comm comm, enum redist_space space, size_t bytes,
                    void **array) {
    int code = redist_check_comm_in(function, comm);
    if (code != REDIST_OK)
        return code;
    if (array == NULL)
        code = redist_fail_in(function, REDIST_ERR_NULL, "array = NULL");
    else if (bytes >> LIMIT_BITS != 0)
        code = redist_fail_in(function, REDIST_ERR_LIMIT,
                              "bytes = %zu is more than any machine maps", bytes);
    if (code == REDIST_OK)
        code = redist__space_check(function, space);
    const redist_shared_value shared = {"space", (long long)space};
    code = redist_agree_values_in(function, comm, code, 1, &shared);
    struct redist__context *context;
    if (code == REDIST_OK)
        code = redist__context_get(comm, &context);
    if (code != REDIST_OK)
        return code;
    code = redist_space_at(space)->create(context, bytes, array);
    if (code != REDIST_OK)
        redist__context_release(context);
    return code;
}

int redist_alloc(MPI_Comm comm, size_t bytes, void **array) {
    return alloc_in(__func__, comm, REDIST_SPACE_HOST, bytes, array);
}

int redist_alloc_in(MPI_Comm comm, enum redist_space space, size_t bytes, void **array) {
    return alloc_in(__func__, comm, space, bytes, array);
}

/* The context of the array's allocation; NULL if no space has such an array. */
static struct redist__context *remove_array(const void *array) {
    struct redist__context *context = NULL;
    for (int id = REDIST_SPACE_HOST; context == NULL && redist_space_at(id) != NULL; id++)
        context = redist_space_at(id)->remove(array);
    return context;
}

int redist_free(void **array) {
    if (array == NULL)
        return redist_fail(REDIST_ERR_NULL, "array = NULL");
    if (*array == NULL)
        return REDIST_OK;
    if (!redist__mpi_is_running())
        return redist_fail(REDIST_ERR_STATE, "MPI is not running: free arrays before MPI_Finalize");
    struct redist__context *context = remove_array(*array);
    if (context == NULL)
        return redist_fail(REDIST_ERR_STATE, "array is not from redist_alloc, or already freed");
    redist__context_release(context);
    *array = NULL;
    return REDIST_OK;
}
