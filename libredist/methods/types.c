/* SPDX-License-Identifier: BSD-3-Clause */
#include "types.h"

static int create_type(struct redist__types *types, const struct redist__schedule *schedule,
                       const struct redist__side *side, int peer, int own) {
    const struct redist__part *part = &side->parts[peer];
    types->types[peer] = MPI_DATATYPE_NULL;
    types->counts[peer] = part->elements != 0 && (own || peer != schedule->context->rank);
    if (types->counts[peer] == 0)
        return MPI_SUCCESS;
    int result = MPI_Type_create_subarray(schedule->ndims, side->extent, part->count, part->start,
                                          MPI_ORDER_C, schedule->datatype, &types->types[peer]);
    return result == MPI_SUCCESS ? MPI_Type_commit(&types->types[peer]) : result;
}

int redist__types_create(struct redist__types *types, const struct redist__schedule *schedule,
                         int side, int own) {
    size_t size = (size_t)schedule->context->size;
    types->counts = redist_calloc(size, sizeof *types->counts);
    types->displacements = redist_calloc(size, sizeof *types->displacements);
    types->types = redist_calloc(size, sizeof(MPI_Datatype));
    if (types->counts == NULL || types->displacements == NULL || types->types == NULL)
        return redist__fail(REDIST_ERR_MEMORY, "no memory for the datatypes of %zu ranks", size);
    int code = REDIST_OK;
    for (int peer = 0; peer < (int)size && code == REDIST_OK; peer++) {
        code = redist_check_mpi(create_type(types, schedule, &schedule->side[side], peer, own));
        types->size = peer + 1;
    }
    return code;
}

void redist__types_free(struct redist__types *types) {
    for (int peer = 0; peer < types->size; peer++)
        if (types->counts[peer] != 0 && types->types[peer] != MPI_DATATYPE_NULL)
            MPI_Type_free(&types->types[peer]);
    redist_release(types->counts);
    redist_release(types->displacements);
    redist_release(types->types);
    *types = (struct redist__types){0};
}
