/* SPDX-License-Identifier: BSD-3-Clause */
/* Method direct: tiles that continue each other are copied as one, since each copy costs the engine time, however
 * few bytes it has. */
#include "direct.h"

/* The axis along which a tile continues another one, in memory too; -1 if it does not. */
static int joint_of(const struct redist__put *put, const struct redist__put *next, int ndims) {
    int axis = -1;
    for (int i = 0; i < ndims; i++) {
        int alike = put->start[i] == next->start[i] && put->count[i] == next->count[i];
        if (put->stride[i] != next->stride[i] || (!alike && axis >= 0))
            return -1;
        axis = alike ? axis : i;
    }
    int continues = axis >= 0 && next->start[axis] == put->start[axis] + put->count[axis] &&
                    next->data == put->data + put->count[axis] * put->stride[axis];
    return continues ? axis : -1;
}

int redist__direct_join(struct redist__put *put, const struct redist__put *next, int ndims) {
    int same = put->first == next->first && put->last == next->last;
    int axis = same ? joint_of(put, next, ndims) : -1;
    if (axis >= 0)
        put->count[axis] += next->count[axis];
    return axis >= 0;
}
