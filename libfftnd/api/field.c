/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays of transforms as fields of files. */
#include "../program/names.h"
#include "../program/program.h"
#include "fftnd_file.h"
#include "plan.h"

#include <stddef.h>

/* Adds an axis behind the ones that a field has. */
static void add_axis(redist_field *field, redist_index size, redist_index start, redist_index count,
                     ptrdiff_t stride) {
    int axis = field->ndims++;
    field->sizes[axis] = size;
    field->start[axis] = start;
    field->count[axis] = count;
    field->stride[axis] = stride;
}

int fftnd_plan_field(const fftnd_plan *plan, enum fftnd_side side, void *array,
                     redist_field *field) {
    redist_field given = REDIST_FIELD_DEFAULT, own = REDIST_FIELD_DEFAULT;
    fftnd_layout layout = FFTND_LAYOUT_DEFAULT;
    REDIST_TRY(fftnd__check_alive(__func__, plan));
    REDIST_TRY(redist_check_enum_in(__func__, "side", fftnd__side_name, (int)side));
    REDIST_TRY(redist_struct_read(__func__, "field", field, &given, sizeof given));
    REDIST_TRY(fftnd_plan_layout(plan, side, &layout));
    if (layout.batch > 1 && layout.ndims == REDIST_MAX_NDIMS)
        return redist_fail(REDIST_ERR_LIMIT, "a batch and %d axes are more than %d axes",
                           layout.ndims, REDIST_MAX_NDIMS);
    if (layout.batch > 1)
        add_axis(&own, layout.batch, 0, layout.batch, layout.batch_stride);
    for (int i = 0; i < layout.ndims; i++)
        add_axis(&own, layout.sizes[i], layout.start[i], layout.count[i], layout.stride[i]);
    own.name = given.name;
    own.datatype = fftnd__element_type(&plan->engine.transform,
                                       fftnd__engine_input(&plan->engine, (int)side)->real);
    own.offset = layout.offset;
    own.space = plan->engine.transform.settings.space;
    own.array = array;
    return redist_struct_write(__func__, "field", &own, sizeof own, field);
}
