/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire_kinds.h"

const struct wire_kind wire_kinds[WIRE_KINDS] = {{"double", 8, 8, 8, 1},
                                                 {"double complex", 8, 8, 16, 2},
                                                 {"float", 4, 4, 4, 1},
                                                 {"float complex", 4, 4, 8, 2},
                                                 {"doubles with gaps", 8, 16, 32, 2}};

static MPI_Datatype types[WIRE_KINDS];

void wire_types_create(void) {
    MPI_Datatype vector;
    types[DOUBLE] = MPI_DOUBLE;
    types[COMPLEX_DOUBLE] = MPI_C_DOUBLE_COMPLEX;
    types[FLOAT] = MPI_FLOAT;
    types[COMPLEX_FLOAT] = MPI_C_FLOAT_COMPLEX;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &vector);
    MPI_Type_create_resized(vector, 0, 32, &types[WITH_GAPS]);
    MPI_Type_commit(&types[WITH_GAPS]);
    MPI_Type_free(&vector);
}

void wire_types_free(void) {
    MPI_Type_free(&types[WITH_GAPS]);
}

test_element wire_element(const struct wire_kind *kind) {
    return (test_element){.name = kind->name,
                          .type = types[kind - wire_kinds],
                          .extent = kind->extent,
                          .copyable = 1};
}
