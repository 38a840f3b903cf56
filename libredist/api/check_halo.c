/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of ghosts. */
#include "../geometry/halo.h"
#include "api.h"

#include <stdio.h>

#define FAIL(code, ...) redist_fail_in(request->function, code, __VA_ARGS__)

/* Checks the ghosts on one side along an axis: `room` of them fit the array, `present` are in the global one. */
static int check_width(const struct redist__request *request, const char *side, int axis,
                       redist_index width, redist_index size, redist_index room,
                       redist_index present) {
    int periodic = request->halo->periodic[axis];
    if (width < 0)
        return FAIL(REDIST_ERR_SIZE, "halo->%s[%d] = %lld is negative", side, axis,
                    (long long)width);
    if (!periodic && width > size)
        return FAIL(REDIST_ERR_SIZE,
                    "halo->%s[%d] = %lld is wider than sizes[%d] = %lld, and the axis is not "
                    "periodic",
                    side, axis, (long long)width, axis, (long long)size);
    if (room < (periodic || width < present ? width : present))
        return FAIL(REDIST_ERR_SIZE,
                    "halo->%s[%d] = %lld, but the array has room for %lld elements there "
                    "(box->offset, box->extent)",
                    side, axis, (long long)width, (long long)room);
    return REDIST_OK;
}

int redist__check_halo(const struct redist__request *request, const redist_index sizes[],
                       const redist_box *box) {
    const redist_halo *halo = request->halo;
    int empty = 0;
    if (request->options.tiles != REDIST_WHOLE)
        return FAIL(REDIST_ERR_ARGUMENT, "options->tiles = %s is not for ghosts",
                    redist__tiles_name((int)request->options.tiles));
    for (int i = 0; i < request->ndims; i++)
        empty |= box->count[i] == 0;
    for (int i = 0; i < request->ndims; i++) {
        redist_index extent = box->extent[i] != 0 ? box->extent[i] : box->count[i];
        redist_index low = box->offset[i], high = extent - low - box->count[i];
        redist_index behind = sizes[i] - box->start[i] - box->count[i];
        if (empty) /* without ghosts, whatever room there is */
            low = high = INT64_MAX;
        REDIST_TRY(check_width(request, "low", i, halo->low[i], sizes[i], low, box->start[i]));
        REDIST_TRY(check_width(request, "high", i, halo->high[i], sizes[i], high, behind));
    }
    return REDIST_OK;
}

int redist__agree_halo(const struct redist__request *request) {
    const redist_halo *halo = request->halo;
    enum { FIELDS = 3, NAME_BYTES = 32 };
    redist_shared_value values[FIELDS * REDIST_MAX_NDIMS + 1];
    char names[FIELDS * REDIST_MAX_NDIMS][NAME_BYTES];
    int n = 0;
    for (int i = 0; i < FIELDS * request->ndims; i++, n++) {
        int axis = i / FIELDS, field = i % FIELDS;
        snprintf(names[n], NAME_BYTES, "halo->%s[%d]",
                 field == 0   ? "low"
                 : field == 1 ? "high"
                              : "periodic",
                 axis);
        values[n] = redist_share_number(names[n], field == 0   ? halo->low[axis]
                                                  : field == 1 ? halo->high[axis]
                                                               : halo->periodic[axis] != 0);
    }
    values[n++] = redist_share_number("halo->corners", halo->corners != 0);
    return redist_agree_values_in(request->function, request->context->comm, REDIST_OK, n, values);
}

int redist__check_cover(const struct redist__request *request, const redist_index sizes[],
                        const redist_box all[]) {
    redist_box whole = REDIST_BOX_DEFAULT;
    redist_index hole[REDIST_MAX_NDIMS];
    char text[REDIST__PLACE_BYTES];
    for (int i = 0; i < request->ndims; i++)
        whole.count[i] = sizes[i];
    if (!redist__find_hole(request->ndims, &whole, request->context->size, all, hole))
        return REDIST_OK;
    redist__print_place(request->ndims, hole, text);
    return FAIL(REDIST_ERR_SIZE, "the boxes leave a hole: no rank holds the element at %s", text);
}
