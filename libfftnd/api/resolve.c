/* SPDX-License-Identifier: BSD-3-Clause */
/* Resolves arguments: settings with all defaults filled in, axes in the library's numbers. */
#include "../program/configuration.h"
#include "check.h"

#include <math.h>

/* ---------------------------------------------------------------- settings */

#define SAME(name) .name = options->name
static struct fftnd__settings settings_of(const fftnd_options *options) {
    struct fftnd__settings settings = {
        SAME(scaling),         SAME(batch),         SAME(batch_position), SAME(in_place),
        SAME(overwrite_input), SAME(mapped_arrays), SAME(user_workspace), SAME(space),
        SAME(stream),          SAME(asynchronous),  SAME(device),         SAME(pin_arrays),
        SAME(device_bytes),    SAME(by_node),       SAME(effort),         SAME(fusion),
        SAME(local_transpose), SAME(staging),       SAME(method),         SAME(wisdom_file),
        SAME(plan_seconds),    SAME(wait_seconds),  SAME(tile_bytes),     SAME(threads),
        SAME(verbose),         SAME(phases),        SAME(wire),           SAME(wire_scope),
        SAME(tolerance)};
    settings.offloads = fftnd__offloads(options);
    if (settings.space == REDIST_SPACE_AUTO)
        settings.space = REDIST_SPACE_HOST;
    if (settings.space == REDIST_SPACE_HOST) /* without streams */
        settings.asynchronous = 0;
    return settings;
}

/* Returns the default time for measurements. Small arrays are timed often enough in a short time. */
static double usual_seconds(const struct fftnd__arguments *arguments) {
    const double small = 1 << 20;
    double bytes = (double)lines__item_bytes(arguments->precision, 0) * arguments->options.batch;
    for (int i = 0; i < arguments->ndims; i++)
        bytes *= (double)arguments->sizes[i];
    if (arguments->options.effort == FFTND_PATIENT)
        return 30;
    return bytes < small && !fftnd__is_on_device(arguments->options.space) ? 0.04 : 3;
}

/* ---------------------------------------------------------------- the library's numbers of the axes */

static void number_box(const struct fftnd__arguments *arguments, int side,
                       struct fftnd__request *request) {
    struct fftnd__shape *shape = &request->shape;
    redist_box box, *own = &shape->box[side];
    shape->has_box[side] =
        arguments->options.box[side] != NULL && fftnd__read_box(arguments, side, &box) == REDIST_OK;
    for (int i = 0; i < shape->ndims && shape->has_box[side]; i++) {
        int axis = request->user_axis[i];
        own->start[i] = box.start[axis];
        own->count[i] = box.count[axis];
        request->room.padding[side].added[i] =
            box.extent[axis] != 0 ? box.extent[axis] - box.count[axis] : 0;
        request->room.padding[side].offset[i] = box.offset[axis];
    }
}

/* Adds the ghosts to the padding; a box has room for them. */
static void number_ghosts(const struct fftnd__arguments *arguments,
                          struct fftnd__request *request) {
    const fftnd_options *options = &arguments->options;
    struct fftnd__room *room = &request->room;
    redist_halo ghosts;
    if (options->ghosts == NULL || fftnd__read_ghosts(arguments, &ghosts) != REDIST_OK)
        return;
    room->ghosts = REDIST_HALO_DEFAULT;
    room->ghosts.corners = ghosts.corners;
    room->accumulates = options->accumulate_ghosts != 0;
    room->fills = options->fill_ghosts != 0;
    for (int i = 0; i < request->shape.ndims; i++) {
        int axis = request->user_axis[i];
        room->ghosts.low[i] = ghosts.low[axis];
        room->ghosts.high[i] = ghosts.high[axis];
        room->ghosts.periodic[i] = ghosts.periodic[axis];
        if (!request->shape.has_box[FFTND_PHYSICAL]) {
            room->padding[FFTND_PHYSICAL].added[i] += ghosts.low[axis] + ghosts.high[axis];
            room->padding[FFTND_PHYSICAL].offset[i] += ghosts.low[axis];
        }
    }
}

/* Numbers values of the user's axes; without them others stay. */
static void number_values(const struct fftnd__request *request, const redist_index *given,
                          redist_index values[]) {
    for (int i = 0; i < request->shape.ndims && given != NULL; i++)
        values[i] = given[request->user_axis[i]];
}

static void number_side(const struct fftnd__arguments *arguments, int side, const int own_axis[],
                        struct fftnd__request *request) {
    const fftnd_options *options = &arguments->options;
    const int *memory = options->memory_order[side];
    for (int i = 0; i < request->shape.ndims; i++) {
        request->memory[side][i] = own_axis[memory != NULL ? memory[i] : i];
        request->shape.blocks[side][i] = (struct fftnd__blocks){
            options->blocks[side], options->bounds[side] != NULL && i < options->grid_ndims
                                       ? options->bounds[side][i]
                                       : NULL};
    }
    number_values(request, options->padding[side], request->room.padding[side].added);
    number_values(request, options->offset[side], request->room.padding[side].offset);
    request->shape.has_split[side] = options->split[side] != NULL;
    for (int i = 0; i < options->grid_ndims && options->split[side] != NULL; i++)
        request->shape.split[side][i] = own_axis[options->split[side][i]];
    number_box(arguments, side, request);
}

/* Returns the largest divisor of n that is at most its root. */
static redist_index find_rows(redist_index n) {
    redist_index rows = (redist_index)sqrt((double)n) + 1;
    while (rows > n / rows || n % rows != 0)
        rows--;
    return rows;
}

/* Numbers rows and columns of one axis that is split. Ranks have rows on both sides, in natural order those of the
 * transposed spectral side. */
static void number_long_axis(const struct fftnd__arguments *arguments,
                             struct fftnd__request *request) {
    redist_index n = arguments->sizes[0], rows = find_rows(n);
    int natural = arguments->options.alignment == FFTND_ALIGN_INPUT;
    request->shape = (struct fftnd__shape){.ndims = 2,
                                           .halved = -1,
                                           .points = {rows, n / rows},
                                           .filled = {rows, n / rows},
                                           .modes = {rows, n / rows},
                                           .axes = {FFTND_AXIS_COMPLEX, FFTND_AXIS_COMPLEX},
                                           .has_split = {1, natural},
                                           .split = {{0}, {1}},
                                           .twiddles = 1};
    request->has_order = request->order[0] = 1;
    request->order[1] = 0;
    for (int side = 0; side < 2; side++) {
        int transposed = side == FFTND_SPECTRAL && natural;
        request->memory[side][0] = transposed;
        request->memory[side][1] = !transposed;
    }
}

/* Numbers the axes in their order in memory on the physical side. */
static void number_axes(const struct fftnd__arguments *arguments, struct fftnd__request *request) {
    const fftnd_options *options = &arguments->options;
    const int *memory = options->memory_order[FFTND_PHYSICAL];
    struct fftnd__shape *shape = &request->shape;
    int own_axis[REDIST_MAX_NDIMS];
    *shape = (struct fftnd__shape){.ndims = arguments->ndims,
                                   .halved = -1,
                                   .aligns_input = options->alignment == FFTND_ALIGN_INPUT};
    for (int i = 0; i < shape->ndims; i++) {
        int axis = request->user_axis[i] = memory != NULL ? memory[i] : i;
        own_axis[axis] = i;
        shape->points[i] = arguments->sizes[axis];
        shape->filled[i] = shape->modes[i] = shape->points[i];
        shape->axes[i] = fftnd__user_axis_kind(arguments, axis);
        if (shape->axes[i] == FFTND_AXIS_HALVED)
            shape->halved = i;
        if (shape->axes[i] == FFTND_AXIS_R2R)
            request->r2r[i] = options->r2r[axis];
    }
    number_values(request, options->filled, shape->filled);
    number_values(request, options->retained_modes, shape->modes);
    for (int side = 0; side < 2; side++)
        number_side(arguments, side, own_axis, request);
    number_ghosts(arguments, request);
    request->has_order = options->order != NULL;
    for (int i = 0; i < shape->ndims && request->has_order; i++)
        request->order[i] = own_axis[options->order[i]];
}

/* ---------------------------------------------------------------- the arguments as text */

static int sides_are_usual(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    int usual = arguments->kind != FFTND_MIXED && options->ghosts == NULL;
    for (int side = 0; side < 2; side++)
        usual &= options->memory_order[side] == NULL && options->padding[side] == NULL &&
                 options->blocks[side] == FFTND_BLOCKS_BALANCED && options->bounds[side] == NULL &&
                 options->split[side] == NULL && options->box[side] == NULL &&
                 options->offset[side] == NULL;
    return usual;
}

static long long hash_sides(const struct fftnd__arguments *arguments) {
    struct fftnd__agreed agreed;
    long long hash =
        redist_hash_bytes(0, arguments->options.blocks, sizeof arguments->options.blocks);
    fftnd__list_agreed(arguments, 1, &agreed);
    for (int i = FFTND__AGREED - FFTND__AGREED_LISTS; i < FFTND__AGREED; i++)
        hash = redist_hash_bytes(hash, &agreed.values[i].value, sizeof agreed.values[i].value);
    return hash;
}

static void print(const struct fftnd__arguments *arguments, struct fftnd__request *request) {
    const fftnd_options *options = &arguments->options;
    const struct fftnd__settings *settings = &request->settings;
    char *text = request->arguments;
    fftnd__append(text, "/kind=%d/precision=%d/sizes=", (int)arguments->kind,
                  (int)arguments->precision);
    for (int i = 0; i < arguments->ndims; i++)
        fftnd__append(text, "%s%lld", i > 0 ? "x" : "", (long long)arguments->sizes[i]);
    for (int i = 0; i < arguments->ndims && options->retained_modes != NULL; i++)
        fftnd__append(text, "%s%lld",
                      i > 0 ? "x" : "/retained=", (long long)options->retained_modes[i]);
    for (int i = 0; i < arguments->ndims && options->filled != NULL; i++)
        fftnd__append(text, "%s%lld", i > 0 ? "x" : "/filled=", (long long)options->filled[i]);
    fftnd__append(text, "/grid=%d", options->grid_ndims);
    for (int i = 0; i < options->grid_ndims && options->grid != NULL; i++)
        fftnd__append(text, "x%d", options->grid[i]);
    for (int i = 0; i < arguments->ndims && options->order != NULL; i++)
        fftnd__append(text, "%s%d", i > 0 ? "," : "/order=", options->order[i]);
    if (!sides_are_usual(arguments))
        fftnd__append(text, "/sides=%llx", hash_sides(arguments));
    if (settings->space != REDIST_SPACE_HOST)
        fftnd__append(text, settings->asynchronous ? "/cuda-asynchronous" : "/cuda");
    if (options->ranks != 0)
        fftnd__append(text, "/chain=%lld", (long long)options->ranks);
    fftnd__append(text, "%s/threads=%d", options->by_node ? "/by-node" : "", options->threads);
    fftnd__append(
        text, "/batch=%d%c/halved=%d/lean=%d%d%d/align=%d/fusion=%d/local_transpose=%d/method=%s",
        options->batch, "fl"[options->batch_position], options -> halved_axis, options -> in_place,
        options -> overwrite_input, options -> mapped_arrays, (int)options -> alignment,
        (int)options -> fusion, (int)options -> local_transpose,
        options -> method != NULL ? options -> method : "auto");
    if (settings->wire != REDIST_WIRE_SAME)
        fftnd__append(text, "/wire=%d-%d", (int)settings->wire, (int)settings->wire_scope);
}

struct fftnd__request fftnd__resolve(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    struct fftnd__request request = {.comm = arguments->comm,
                                     .user_comm = arguments->user_comm,
                                     .nranks = arguments->nranks,
                                     .ranks = (int)options->ranks,
                                     .precision = arguments->precision,
                                     .settings = settings_of(options),
                                     .user_ndims = arguments->ndims,
                                     .mixes_kinds = arguments->kind == FFTND_MIXED,
                                     .has_grid = options->grid != NULL,
                                     .grid_ndims = options->grid_ndims};
    request.settings.is_inner = arguments->is_inner;
    if (request.settings.plan_seconds == 0)
        request.settings.plan_seconds = usual_seconds(arguments);
    for (int i = 0; i < options->grid_ndims && options->grid != NULL; i++)
        request.grid[i] = options->grid[i];
    if (fftnd__is_long(arguments))
        number_long_axis(arguments, &request);
    else
        number_axes(arguments, &request);
    print(arguments, &request);
    return request;
}
