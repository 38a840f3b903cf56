/* SPDX-License-Identifier: BSD-3-Clause */
/* Options about axes and sides: kinds of axes, memory orders, padding, blocks, boxes; by the user's numbers of axes. */
#include "../geometry/layout.h"
#include "../program/names.h"
#include "check.h"
#include "redist_pieces.h"

#include <stdio.h>

#define FAIL(code, ...) redist_fail_in(arguments->function, code, __VA_ARGS__)

/* ---------------------------------------------------------------- the axes */

enum fftnd_axis fftnd__user_axis_kind(const struct fftnd__arguments *arguments, int axis) {
    static const enum fftnd_axis kinds[] = {[FFTND_C2C] = FFTND_AXIS_COMPLEX,
                                            [FFTND_R2C] = FFTND_AXIS_COMPLEX,
                                            [FFTND_R2R] = FFTND_AXIS_R2R};
    int halved = arguments->options.halved_axis;
    if (arguments->kind == FFTND_MIXED)
        return arguments->options.axes[axis];
    return arguments->kind == FFTND_R2C && axis == (halved >= 0 ? halved : arguments->ndims - 1)
               ? FFTND_AXIS_HALVED
               : kinds[arguments->kind];
}

static int check_element(const struct fftnd__arguments *arguments, const char *list, int axis,
                         redist_name_of *name_of, int value) {
    char name[32];
    snprintf(name, sizeof name, "%s[%d]", list, axis);
    return redist_check_enum_in(arguments->function, name, name_of, value);
}

static int check_r2r(const struct fftnd__arguments *arguments, int axis) {
    const enum fftnd_r2r *r2r = arguments->options.r2r;
    if (r2r == NULL)
        return FAIL(REDIST_ERR_NULL, "options->r2r = NULL, but %s",
                    arguments->kind == FFTND_R2R ? "kind is FFTND_R2R"
                                                 : "options->axes has FFTND_AXIS_R2R");
    REDIST_TRY(check_element(arguments, "options->r2r", axis, fftnd__r2r_name, (int)r2r[axis]));
    if (r2r[axis] == FFTND_DCT1 && arguments->sizes[axis] < 2)
        return FAIL(REDIST_ERR_SIZE, "sizes[%d] = %lld, but FFTND_DCT1 needs at least 2", axis,
                    (long long)arguments->sizes[axis]);
    return REDIST_OK;
}

static int check_axis(const struct fftnd__arguments *arguments, int axis) {
    const redist_index *modes = arguments->options.retained_modes,
                       *filled = arguments->options.filled;
    enum fftnd_axis kind = fftnd__user_axis_kind(arguments, axis);
    REDIST_TRY(check_element(arguments, "options->axes", axis, fftnd__axis_name, (int)kind));
    if (kind == FFTND_AXIS_NONE && modes != NULL && modes[axis] != arguments->sizes[axis])
        return FAIL(REDIST_ERR_SIZE,
                    "options->retained_modes[%d] = %lld, but the axis is FFTND_AXIS_NONE: pass "
                    "its %lld elements",
                    axis, (long long)modes[axis], (long long)arguments->sizes[axis]);
    if (kind == FFTND_AXIS_NONE && filled != NULL && filled[axis] != arguments->sizes[axis])
        return FAIL(REDIST_ERR_SIZE,
                    "options->filled[%d] = %lld, but the axis is FFTND_AXIS_NONE: pass sizes[%d] = "
                    "%lld, or a smaller size",
                    axis, (long long)filled[axis], axis, (long long)arguments->sizes[axis]);
    return kind == FFTND_AXIS_R2R ? check_r2r(arguments, axis) : REDIST_OK;
}

int fftnd__check_axes(const struct fftnd__arguments *arguments) {
    int halved = -1;
    if (arguments->kind == FFTND_MIXED && arguments->options.axes == NULL)
        return FAIL(REDIST_ERR_NULL, "options->axes = NULL, but kind is FFTND_MIXED");
    if (arguments->kind != FFTND_MIXED && arguments->options.axes != NULL)
        return FAIL(REDIST_ERR_ARGUMENT, "options->axes needs kind = FFTND_MIXED, not %s",
                    fftnd__kind_name((int)arguments->kind));
    for (int i = 0; i < arguments->ndims; i++) {
        REDIST_TRY(check_axis(arguments, i));
        if (fftnd__user_axis_kind(arguments, i) != FFTND_AXIS_HALVED)
            continue;
        if (halved >= 0)
            return FAIL(REDIST_ERR_AXIS,
                        "options->axes[%d] and options->axes[%d] are both FFTND_AXIS_HALVED: only "
                        "one axis can be",
                        halved, i);
        halved = i;
    }
    return REDIST_OK;
}

int fftnd__check_list(const struct fftnd__arguments *arguments, const char *name, int n,
                      const int list[]) {
    int seen[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; list != NULL && i < n; i++) {
        if (list[i] < 0 || list[i] >= arguments->ndims || seen[list[i]])
            return FAIL(REDIST_ERR_AXIS, "options->%s[%d] = %d is no axis, or listed twice", name,
                        i, list[i]);
        seen[list[i]] = 1;
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- memory and blocks */

static int check_padding(const struct fftnd__arguments *arguments, int side) {
    const redist_index *padding = arguments->options.padding[side];
    for (int i = 0; padding != NULL && i < arguments->ndims; i++)
        if (padding[i] < 0)
            return FAIL(REDIST_ERR_SIZE, "options->padding[%s][%d] = %lld is negative",
                        fftnd__side_name(side), i, (long long)padding[i]);
    for (int i = 0; padding != NULL && i < arguments->ndims; i++)
        if ((size_t)padding[i] > FFTND__MOST_ELEMENTS)
            return FAIL(REDIST_ERR_LIMIT,
                        "options->padding[%s][%d] = %lld is above the limit of %zu elements",
                        fftnd__side_name(side), i, (long long)padding[i], FFTND__MOST_ELEMENTS);
    return REDIST_OK;
}

static int check_offset(const struct fftnd__arguments *arguments, int side) {
    const redist_index *offset = arguments->options.offset[side],
                       *padding = arguments->options.padding[side];
    for (int i = 0; offset != NULL && i < arguments->ndims; i++) {
        redist_index most = padding != NULL ? padding[i] : 0;
        if (offset[i] < 0 || offset[i] > most)
            return FAIL(REDIST_ERR_SIZE,
                        "options->offset[%s][%d] = %lld is not in 0..%lld (options->padding)",
                        fftnd__side_name(side), i, (long long)offset[i], (long long)most);
    }
    return REDIST_OK;
}

/* Global extent of an axis on a side. */
static redist_index extent_of(const struct fftnd__arguments *arguments, int side, int axis) {
    const redist_index *list =
        side == FFTND_SPECTRAL ? arguments->options.retained_modes : arguments->options.filled;
    redist_index n = list != NULL ? list[axis] : arguments->sizes[axis];
    int halved = fftnd__user_axis_kind(arguments, axis) == FFTND_AXIS_HALVED;
    return halved && side == FFTND_SPECTRAL ? n / 2 + 1 : n;
}

/* Returns the axis that a grid dimension splits on a side, in the given order. */
static int split_axis(const struct fftnd__arguments *arguments, int side, int dim) {
    const fftnd_options *options = &arguments->options;
    enum fftnd_axis axes[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < arguments->ndims; axis++)
        axes[axis] = fftnd__user_axis_kind(arguments, axis);
    if (options->split[side] != NULL)
        return options->split[side][dim];
    int stays = side == FFTND_PHYSICAL || options->alignment == FFTND_ALIGN_INPUT ||
                fftnd__stays_split(axes, options->order[dim]);
    return options
        ->order[stays ? dim
                      : fftnd__place_split_next(axes, options->order, options->grid_ndims, dim)];
}

static int check_bounds_of(const struct fftnd__arguments *arguments, int side, int dim) {
    const redist_index *bounds = arguments->options.bounds[side][dim];
    int axis = split_axis(arguments, side, dim), n = arguments->options.grid[dim];
    redist_index extent = extent_of(arguments, side, axis);
    for (int i = 0; i <= n; i++) {
        redist_index least = i == 0 ? 0 : i == n ? extent : bounds[i - 1];
        redist_index most = i == 0 ? 0 : extent;
        if (bounds[i] < least || bounds[i] > most)
            return FAIL(REDIST_ERR_SIZE,
                        "options->bounds[%s][%d][%d] = %lld is not in %lld..%lld: %d blocks cover "
                        "axis %d from 0 to %lld in their order",
                        fftnd__side_name(side), dim, i, (long long)bounds[i], (long long)least,
                        (long long)most, n, axis, (long long)extent);
    }
    return REDIST_OK;
}

int fftnd__has_whole_grid(const fftnd_options *options) {
    for (int i = 0; i < options->grid_ndims && options->grid != NULL; i++)
        if (options->grid[i] == 0)
            return 0;
    return options->grid_ndims > 0 && options->grid != NULL;
}

static int check_bounds(const struct fftnd__arguments *arguments, int side) {
    const fftnd_options *options = &arguments->options;
    if (options->bounds[side] == NULL)
        return REDIST_OK;
    if (!fftnd__has_whole_grid(options) || options->order == NULL)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->bounds[%s] needs options->order and all numbers of options->grid",
                    fftnd__side_name(side));
    for (int dim = 0; dim < options->grid_ndims; dim++)
        if (options->bounds[side][dim] != NULL)
            REDIST_TRY(check_bounds_of(arguments, side, dim));
    return REDIST_OK;
}

static int check_split(const struct fftnd__arguments *arguments, int side) {
    const fftnd_options *options = &arguments->options;
    const char *names[] = {"split[FFTND_PHYSICAL]", "split[FFTND_SPECTRAL]"};
    if (options->split[side] != NULL && options->grid_ndims == 0)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->%s needs options->grid_ndims, the number of its values", names[side]);
    return fftnd__check_list(arguments, names[side], options->grid_ndims, options->split[side]);
}

/* ---------------------------------------------------------------- boxes */

int fftnd__read_box(const struct fftnd__arguments *arguments, int side, redist_box *box) {
    char name[64];
    snprintf(name, sizeof name, "options->box[%s]", fftnd__side_name(side));
    *box = REDIST_BOX_DEFAULT;
    return redist_struct_read(arguments->function, name, arguments->options.box[side], box,
                              sizeof *box);
}

static int check_box(const struct fftnd__arguments *arguments, int side) {
    redist_box box;
    if (arguments->options.box[side] == NULL)
        return REDIST_OK;
    REDIST_TRY(fftnd__read_box(arguments, side, &box));
    for (int i = 0; i < arguments->ndims; i++) {
        redist_index extent = extent_of(arguments, side, i);
        if (box.start[i] < 0 || box.count[i] < 0 || box.start[i] > extent - box.count[i])
            return FAIL(REDIST_ERR_SIZE,
                        "options->box[%s] has %lld elements from %lld on along axis %d, outside of "
                        "0..%lld",
                        fftnd__side_name(side), (long long)box.count[i], (long long)box.start[i], i,
                        (long long)extent);
        if (box.extent[i] != 0 && box.extent[i] < box.count[i])
            return FAIL(REDIST_ERR_SIZE,
                        "options->box[%s]->extent[%d] = %lld must be its count or more, or 0",
                        fftnd__side_name(side), i, (long long)box.extent[i]);
        redist_index room = box.extent[i] != 0 ? box.extent[i] - box.count[i] : 0;
        if (box.offset[i] < 0 || box.offset[i] > room)
            return FAIL(REDIST_ERR_SIZE,
                        "options->box[%s]->offset[%d] = %lld is not in 0..%lld (extent - count)",
                        fftnd__side_name(side), i, (long long)box.offset[i], (long long)room);
        if (box.extent[i] > box.count[i] &&
            (size_t)(box.extent[i] - box.count[i]) > FFTND__MOST_ELEMENTS)
            return FAIL(REDIST_ERR_LIMIT,
                        "options->box[%s]->extent[%d] = %lld is above the limit of %zu elements",
                        fftnd__side_name(side), i, (long long)box.extent[i], FFTND__MOST_ELEMENTS);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- ghosts */

int fftnd__read_ghosts(const struct fftnd__arguments *arguments, redist_halo *ghosts) {
    *ghosts = REDIST_HALO_DEFAULT;
    REDIST_TRY(redist_struct_read(arguments->function, "options->ghosts", arguments->options.ghosts,
                                  ghosts, sizeof *ghosts));
    REDIST_TRY(redist_check_reserved_in(arguments->function, "options->ghosts", ghosts->reserved));
    ghosts->corners = ghosts->corners != 0;
    for (int i = 0; i < REDIST_MAX_NDIMS; i++)
        ghosts->periodic[i] = ghosts->periodic[i] != 0;
    return REDIST_OK;
}

/* Checks the width on one side along an axis; a box has `room`. */
static int check_width(const struct fftnd__arguments *arguments, const char *side, int axis,
                       redist_index width, int periodic, redist_index room) {
    redist_index size = extent_of(arguments, FFTND_PHYSICAL, axis);
    if (width < 0 || (size_t)width > FFTND__MOST_ELEMENTS)
        return FAIL(REDIST_ERR_SIZE, "options->ghosts->%s[%d] = %lld is not in 0..%zu", side, axis,
                    (long long)width, FFTND__MOST_ELEMENTS);
    if (!periodic && width > size)
        return FAIL(
            REDIST_ERR_SIZE,
            "options->ghosts->%s[%d] = %lld is wider than %s[%d] = %lld, and the axis is not "
            "periodic",
            side, axis, (long long)width,
            size < arguments->sizes[axis] ? "options->filled" : "sizes", axis, (long long)size);
    if (periodic && width > 0 && size < arguments->sizes[axis])
        return FAIL(REDIST_ERR_SIZE,
                    "options->ghosts->%s[%d] = %lld along a periodic axis would show zeros, as "
                    "options->filled[%d] = %lld is below sizes[%d] = %lld: set periodic[%d] = 0",
                    side, axis, (long long)width, axis, (long long)size, axis,
                    (long long)arguments->sizes[axis], axis);
    if (width > room)
        return FAIL(REDIST_ERR_SIZE,
                    "options->ghosts->%s[%d] = %lld, but options->box[FFTND_PHYSICAL] has room for "
                    "%lld elements there (offset, extent)",
                    side, axis, (long long)width, (long long)room);
    return REDIST_OK;
}

static int check_ghosts(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    redist_halo ghosts;
    redist_box box;
    int has_box = options->box[FFTND_PHYSICAL] != NULL, empty = 0;
    if (options->ghosts == NULL)
        return REDIST_OK;
    REDIST_TRY(fftnd__read_ghosts(arguments, &ghosts));
    if (has_box)
        REDIST_TRY(fftnd__read_box(arguments, FFTND_PHYSICAL, &box));
    for (int i = 0; i < arguments->ndims && has_box; i++)
        empty |= box.count[i] == 0;
    for (int i = 0; i < arguments->ndims; i++) {
        redist_index low = INT64_MAX, high = INT64_MAX;
        if (has_box && !empty) {
            low = box.offset[i];
            high = box.extent[i] != 0 ? box.extent[i] - low - box.count[i] : 0;
        }
        REDIST_TRY(check_width(arguments, "low", i, ghosts.low[i], ghosts.periodic[i], low));
        REDIST_TRY(check_width(arguments, "high", i, ghosts.high[i], ghosts.periodic[i], high));
    }
    return REDIST_OK;
}

int fftnd__check_sides(const struct fftnd__arguments *arguments) {
    const char *orders[] = {"memory_order[FFTND_PHYSICAL]", "memory_order[FFTND_SPECTRAL]"};
    for (int side = 0; side < 2; side++) {
        REDIST_TRY(check_split(arguments, side));
        REDIST_TRY(fftnd__check_list(arguments, orders[side], arguments->ndims,
                                     arguments->options.memory_order[side]));
        REDIST_TRY(check_padding(arguments, side));
        REDIST_TRY(check_offset(arguments, side));
        REDIST_TRY(check_bounds(arguments, side));
        REDIST_TRY(check_box(arguments, side));
    }
    return check_ghosts(arguments);
}

int fftnd__is_long(const struct fftnd__arguments *arguments) {
    return arguments->ndims == 1 && arguments->nranks > 1;
}

int fftnd__check_long_axis(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    if (!fftnd__is_long(arguments))
        return REDIST_OK;
    if (fftnd__user_axis_kind(arguments, 0) != FFTND_AXIS_COMPLEX)
        return FAIL(REDIST_ERR_GRID, "ndims = 1 over %d ranks needs a complex axis",
                    arguments->nranks);
    for (int side = 0; side < 2; side++)
        if (options->blocks[side] != FFTND_BLOCKS_BALANCED || options->box[side] != NULL ||
            options->ghosts != NULL ||
            (options->padding[side] != NULL && options->padding[side][0] != 0))
            return FAIL(REDIST_ERR_ARGUMENT,
                        "options->blocks, padding, box and ghosts are not supported for ndims = 1 "
                        "over %d ranks",
                        arguments->nranks);
    const struct {
        const char *name;
        const redist_index *list;
    } lists[] = {{"retained_modes", options->retained_modes}, {"filled", options->filled}};
    for (int i = 0; i < 2; i++)
        if (lists[i].list != NULL && lists[i].list[0] != arguments->sizes[0])
            return FAIL(REDIST_ERR_SIZE,
                        "options->%s[0] = %lld must be sizes[0] for ndims = 1 over %d ranks",
                        lists[i].name, (long long)lists[i].list[0], arguments->nranks);
    if (fftnd__is_on_device(options->space) || fftnd__offloads(options))
        return FAIL(REDIST_ERR_ARGUMENT, "ndims = 1 over %d ranks is not supported on a device",
                    arguments->nranks);
    return REDIST_OK;
}

/* Checks that boxes leave no hole and do not overlap, with the same result on all ranks. */
static int check_cover(const struct fftnd__arguments *arguments, int side, const redist_box all[]) {
    redist_index sizes[REDIST_MAX_NDIMS], start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    char place[REDIST_PLACE_BYTES];
    int ndims = arguments->ndims;
    for (int i = 0; i < arguments->nranks; i++)
        for (int j = 0; j < i; j++)
            if (redist_intersect(ndims, all[i].start, all[i].count, all[j].start, all[j].count,
                                 start, count)) {
                redist_print_place(ndims, start, place);
                return FAIL(REDIST_ERR_OVERLAP,
                            "options->box[%s] of ranks %d and %d overlap: both have the element at "
                            "%s",
                            fftnd__side_name(side), j, i, place);
            }
    for (int axis = 0; axis < ndims; axis++)
        sizes[axis] = extent_of(arguments, side, axis);
    if (!redist_find_hole(ndims, sizes, arguments->nranks, all, 1, start))
        return REDIST_OK;
    redist_print_place(ndims, start, place);
    return FAIL(REDIST_ERR_SIZE,
                "options->box[%s] of all ranks leave a hole: no rank holds the element at %s",
                fftnd__side_name(side), place);
}

static int check_boxes_of(const struct fftnd__arguments *arguments, int side) {
    redist_box box, *all = redist_calloc((size_t)arguments->nranks, sizeof *all);
    int code = all != NULL ? fftnd__read_box(arguments, side, &box)
                           : FAIL(REDIST_ERR_MEMORY, "no memory for the boxes of all ranks");
    code = redist_agree(arguments->comm, code);
    if (code == REDIST_OK)
        code = redist_agree(arguments->comm,
                            redist_all_gather(arguments->comm, &box, sizeof box, all));
    if (code == REDIST_OK)
        code = check_cover(arguments, side, all);
    redist_release(all);
    return code;
}

int fftnd__check_boxes(const struct fftnd__arguments *arguments) {
    for (int side = 0; side < 2; side++)
        if (arguments->options.box[side] != NULL)
            REDIST_TRY(check_boxes_of(arguments, side));
    return REDIST_OK;
}
