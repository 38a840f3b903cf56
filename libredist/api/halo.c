/* SPDX-License-Identifier: BSD-3-Clause */
/* Ghosts of distributed arrays: the plan is one between boxes, in lists. */
#include "api.h"

int redist_plan_boxes_around(MPI_Comm comm, MPI_Datatype datatype, int ndims,
                             const redist_index sizes[], const redist_box *box_a, void *a,
                             const redist_box *box_b, void *b, const redist_halo *halo,
                             const redist_options *options, redist_plan **plan) {
    const redist_box *const boxes[2] = {box_a, box_b};
    void *const arrays[2] = {a, b};
    return redist__plan_boxes_in(__func__, REDIST_OK, comm, datatype, ndims, sizes, boxes, arrays,
                                 halo, options, plan);
}

int redist_plan_halo(MPI_Comm comm, MPI_Datatype datatype, int ndims, const redist_index sizes[],
                     const redist_box *box, void *array, const redist_halo *halo,
                     const redist_options *options, redist_plan **plan) {
    const redist_box *const boxes[2] = {box, box};
    void *const arrays[2] = {array, array};
    redist_halo own = REDIST_HALO_DEFAULT;
    int code = redist_struct_read(__func__, "halo", halo, &own, sizeof own);
    if (code == REDIST_OK)
        code = redist_check_reserved_in(__func__, "halo", own.reserved);
    return redist__plan_boxes_in(__func__, code, comm, datatype, ndims, sizes, boxes, arrays, &own,
                                 options, plan);
}
