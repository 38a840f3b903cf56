/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of MPI, or of the user, in the place of sums. */
#include "api.h"

#include <limits.h>

#define FAIL(code, ...) redist_fail_in(request->function, code, __VA_ARGS__)

/* MPI accepts predefined operations for predefined datatypes only. */
static int is_predefined(MPI_Op operation) {
    const MPI_Op all[] = {MPI_MAX,  MPI_MIN, MPI_SUM,  MPI_PROD, MPI_MAXLOC, MPI_MINLOC,
                          MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,    MPI_BXOR};
    int found = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && !found; i++)
        found = operation == all[i];
    return found;
}

/* Applies the operation as often as MPI's counts need it. */
static void apply(const struct redist__sum *sum, const char *from, char *to, size_t count) {
    const struct redist__operation *own = (const struct redist__operation *)(const void *)sum;
    for (size_t left = count, n; left > 0; left -= n) {
        n = left < INT_MAX ? left : INT_MAX;
        (void)redist__failure_note_mpi(
            own->failure, MPI_Reduce_local(from, to, (int)n, own->type, own->operation));
        from += n * sum->bytes;
        to += n * sum->bytes;
    }
}

/* Chooses the type of what the operation combines: the elements, or the numbers of which they consist. */
static int choose_type(struct redist__request *request, MPI_Datatype base) {
    struct redist__operation *own = &request->operation;
    int predefined = is_predefined(own->operation);
    own->type = predefined ? base : request->datatype;
    if (own->type == MPI_DATATYPE_NULL)
        return FAIL(REDIST_ERR_DATATYPE,
                    "options->operation is a predefined one, but datatype does not consist of one "
                    "predefined datatype: make an operation for it with MPI_Op_create");
    if (predefined || base == request->datatype)
        return REDIST_OK;
    REDIST_TRY(redist_check_mpi_in(request->function, MPI_Type_dup(request->datatype, &own->type)));
    own->owns_type = 1;
    return REDIST_OK;
}

int redist__operation_is_given(const struct redist__request *request) {
    const MPI_Op *operation = request->options.operation;
    return operation != NULL && *operation != MPI_OP_NULL;
}

int redist__operation_prepare(struct redist__request *request, MPI_Datatype base) {
    struct redist__operation *own = &request->operation;
    MPI_Aint low, extent;
    int size, nothing = 0, none = 0;
    own->operation = *request->options.operation;
    REDIST_TRY(choose_type(request, base));
    REDIST_TRY(redist_check_mpi_in(request->function, MPI_Type_size(own->type, &size)));
    REDIST_TRY(
        redist_check_mpi_in(request->function, MPI_Type_get_extent(own->type, &low, &extent)));
    if (size != extent || request->element.run == 0 || request->element.run % (size_t)size != 0)
        return FAIL(REDIST_ERR_DATATYPE,
                    "options->operation needs elements without gaps, but datatype has %d bytes of "
                    "data in an extent of %zu: make gaps part of it, such as by MPI_BYTE",
                    request->item_size, request->element.extent);
    own->sum = (struct redist__sum){REDIST__OPERATION, (size_t)size, apply};
    request->adds = &own->sum;
    return redist_check_mpi_in(request->function,
                               MPI_Reduce_local(&nothing, &none, 0, own->type, own->operation));
}

void redist__operation_free(struct redist__operation *operation) {
    if (operation->owns_type)
        MPI_Type_free(&operation->type);
    operation->owns_type = 0;
}
