/* SPDX-License-Identifier: BSD-3-Clause */
/* All arguments: checked, and compared on all ranks. */
#include "check.h"
#include "../program/names.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(code, ...) redist_fail_in(arguments->function, code, __VA_ARGS__)

/* ---------------------------------------------------------------- the options */

/* Options that are numbers: the least value, or the names of all values. */
static const struct named_option {
    const char *name;
    size_t offset;
    enum { NUMBER, FLAG, WIDE } type;
    int least; /* 0 = any */
    redist_name_of *name_of;
} table[] = {
#define ENUM(member, name_of)                                                                      \
    { "options->" #member, offsetof(fftnd_options, member), NUMBER, 0, name_of }
#define FROM(member, least)                                                                        \
    { "options->" #member, offsetof(fftnd_options, member), NUMBER, least, NULL }
#define ANY(member, type)                                                                          \
    { "options->" #member, offsetof(fftnd_options, member), type, 0, NULL }
    ENUM(effort, fftnd__effort_name),
    ENUM(scaling, fftnd__scaling_name),
    ENUM(alignment, fftnd__alignment_name),
    FROM(batch, 1),
    ENUM(batch_position, fftnd__batch_position_name),
    ENUM(blocks[FFTND_PHYSICAL], fftnd__blocks_name),
    ENUM(blocks[FFTND_SPECTRAL], fftnd__blocks_name),
    ENUM(fusion, fftnd__fusion_name),
    ENUM(local_transpose, fftnd__local_transpose_name),
    ENUM(space, redist_space_name),
    ENUM(device, redist_space_name),
    FROM(threads, 1),
    ENUM(staging, redist_staging_name),
    ENUM(wire, redist_wire_name),
    ENUM(wire_scope, redist_wire_scope_name),
    ANY(grid_ndims, NUMBER), /* bounds of the next two depend on the array */
    ANY(halved_axis, NUMBER),
    ANY(in_place, FLAG),
    ANY(overwrite_input, FLAG),
    ANY(user_workspace, FLAG),
    ANY(by_node, FLAG),
    ANY(pin_arrays, FLAG),
    ANY(mapped_arrays, FLAG),
    ANY(skip_agreement, FLAG),
    ANY(asynchronous, FLAG),
    ANY(fill_ghosts, FLAG),
    ANY(accumulate_ghosts, FLAG),
    ANY(keep, FLAG),
    ANY(tile_bytes, WIDE),
    ANY(device_bytes, WIDE),
    ANY(ranks, WIDE),
};

enum { NOPTIONS = sizeof table / sizeof *table };
_Static_assert((int)NOPTIONS == (int)FFTND__AGREED_OPTIONS,
               "one value for each option of the table");

static long long get(const fftnd_options *options, const struct named_option *option) {
    const char *from = (const char *)options + option->offset;
    int number;
    long long wide = 0;
    memcpy(&number, from, sizeof number);
    memcpy(&wide, from, option->type == WIDE ? sizeof wide : 0);
    return option->type == WIDE ? wide : option->type == FLAG ? number != 0 : number;
}

static int check_range(const struct fftnd__arguments *arguments, const char *name, long long value,
                       int least, int most) {
    if (value >= least && value <= most)
        return REDIST_OK;
    return FAIL(REDIST_ERR_ARGUMENT, "%s = %lld is not in %d..%d", name, value, least, most);
}

static int copy_options(struct fftnd__arguments *arguments, const fftnd_options *options) {
    const char *keep = getenv("FFTND_KEEP");
    arguments->options = FFTND_OPTIONS_DEFAULT;
    if (options != NULL)
        REDIST_TRY(redist_struct_read(arguments->function, "options", options, &arguments->options,
                                      sizeof arguments->options));
    if (keep != NULL && !arguments->is_inner && (strcmp(keep, "0") == 0 || strcmp(keep, "1") == 0))
        arguments->options.keep = keep[0] == '1';
    return REDIST_OK;
}

static int check_options(const struct fftnd__arguments *arguments) {
    double seconds = arguments->options.plan_seconds;
    if (!(seconds >= 0))
        return FAIL(REDIST_ERR_ARGUMENT, "options->plan_seconds = %g is not 0 or more", seconds);
    seconds = arguments->options.wait_seconds;
    if (!(seconds >= 0))
        return FAIL(REDIST_ERR_ARGUMENT, "options->wait_seconds = %g is not 0 or more", seconds);
    for (int i = 0; i < NOPTIONS; i++) {
        long long value = get(&arguments->options, &table[i]);
        if (table[i].name_of != NULL)
            REDIST_TRY(
                redist_check_enum_in(arguments->function, table[i].name, table[i].name_of, value));
        else if (table[i].least != 0)
            REDIST_TRY(check_range(arguments, table[i].name, value, table[i].least, INT_MAX));
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- the array */

static int check_array(const struct fftnd__arguments *arguments) {
    REDIST_TRY(check_range(arguments, "ndims", arguments->ndims, 1, REDIST_MAX_NDIMS - 1));
    if (arguments->sizes == NULL)
        return FAIL(REDIST_ERR_NULL, "sizes = NULL");
    for (int i = 0; i < arguments->ndims; i++)
        if (arguments->sizes[i] < 1)
            return FAIL(REDIST_ERR_SIZE, "sizes[%d] = %lld is below 1", i,
                        (long long)arguments->sizes[i]);
    REDIST_TRY(
        redist_check_enum_in(arguments->function, "kind", fftnd__kind_name, (int)arguments->kind));
    return redist_check_enum_in(arguments->function, "precision", fftnd__precision_name,
                                (int)arguments->precision);
}

static int check_halved(const struct fftnd__arguments *arguments) {
    int halved = arguments->options.halved_axis;
    if (arguments->kind == FFTND_R2C && (halved < -1 || halved >= arguments->ndims))
        return FAIL(REDIST_ERR_AXIS, "options->halved_axis = %d is not in -1..%d", halved,
                    arguments->ndims - 1);
    return REDIST_OK;
}

/* Checks numbers of elements of a side, which has those of the transform if `list` is NULL. */
static int check_elements(const struct fftnd__arguments *arguments, const char *name,
                          const redist_index list[]) {
    for (int i = 0; list != NULL && i < arguments->ndims; i++)
        if (list[i] < 1 || list[i] > arguments->sizes[i])
            return FAIL(REDIST_ERR_SIZE, "options->%s[%d] = %lld is not in 1..%lld (sizes[%d])",
                        name, i, (long long)list[i], (long long)arguments->sizes[i], i);
    return REDIST_OK;
}

static int check_truncation(const struct fftnd__arguments *arguments) {
    REDIST_TRY(check_elements(arguments, "retained_modes", arguments->options.retained_modes));
    return check_elements(arguments, "filled", arguments->options.filled);
}

/* ---------------------------------------------------------------- grid and order */

static int check_grid_dims(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    int nranks = arguments->nranks, any_free = 0;
    long long product = 1;
    for (int i = 0; i < options->grid_ndims && product <= nranks; i++) {
        int dim = options->grid[i];
        if (dim < 0 || dim > nranks)
            return FAIL(REDIST_ERR_GRID, "options->grid[%d] = %d does not fit %d ranks", i, dim,
                        nranks);
        any_free |= dim == 0;
        product *= dim != 0 ? dim : 1;
    }
    if (product > nranks || (any_free ? nranks % product != 0 : product != nranks))
        return FAIL(REDIST_ERR_GRID, "the product of options->grid, %lld, does not fit %d ranks",
                    product, nranks);
    return REDIST_OK;
}

static int check_grid(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    int most = arguments->ndims - 1;
    if (options->grid_ndims < 0 || options->grid_ndims > most)
        return FAIL(REDIST_ERR_GRID, "options->grid_ndims = %d is not in 0..%d (ndims - 1)",
                    options->grid_ndims, most);
    if (options->grid_ndims == 0 && options->grid != NULL && most > 0)
        return FAIL(REDIST_ERR_GRID,
                    "options->grid needs options->grid_ndims, the number of its values");
    int given = options->grid_ndims > 0 && options->grid != NULL;
    return given ? check_grid_dims(arguments) : REDIST_OK;
}

/* Refuses an open grid: predictions choose none. */
static int check_given_grid(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    int is_alone = options->grid_ndims == 0 && arguments->nranks == 1;
    if (!is_alone && !fftnd__has_whole_grid(options))
        return FAIL(REDIST_ERR_GRID,
                    "options->grid must be a whole grid of %d ranks: predictions choose none",
                    arguments->nranks);
    return REDIST_OK;
}

/* Returns nonzero if a complex axis would be transformed before the halved one, at `place` of the order. */
static int comes_too_late(const struct fftnd__arguments *arguments, int place) {
    const int *order = arguments->options.order;
    for (int i = place + 1; i < arguments->ndims; i++)
        if (fftnd__user_axis_kind(arguments, order[i]) == FFTND_AXIS_COMPLEX)
            return 1;
    return 0;
}

/* Checks that the order, unless NULL, is a permutation of the axes that transforms the halved one before complex
 * ones. */
static int check_order(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    int split = options->grid_ndims > 0 || arguments->ndims == 1 ? options->grid_ndims : 1;
    REDIST_TRY(fftnd__check_list(arguments, "order", arguments->ndims, options->order));
    for (int i = 0; i < split && options->order != NULL; i++)
        if (fftnd__user_axis_kind(arguments, options->order[i]) == FFTND_AXIS_HALVED &&
            comes_too_late(arguments, i))
            return FAIL(
                REDIST_ERR_AXIS,
                "options->order[%d] = %d is the halved axis: it must come after the complex axes",
                i, options->order[i]);
    return REDIST_OK;
}

static int check_ranks(const struct fftnd__arguments *arguments) {
    redist_index ranks = arguments->options.ranks;
    if (ranks < FFTND_CHOOSE_RANKS || ranks > arguments->nranks)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->ranks = %lld is neither in 0..%d nor FFTND_CHOOSE_RANKS",
                    (long long)ranks, arguments->nranks);
    if (ranks != 0 && fftnd__is_long(arguments))
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->ranks = %lld must be 0 for ndims = 1 over %d ranks", (long long)ranks,
                    arguments->nranks);
    return REDIST_OK;
}

/* ---------------------------------------------------------------- combinations */

/* Refuses an unknown method, even if exchanges are planned later or not at all. */
static int check_method(const struct fftnd__arguments *arguments) {
    return redist_check_method_in(arguments->function, arguments->options.method);
}

static int check_library(const struct fftnd__arguments *arguments, const char *name,
                         enum redist_space space) {
    const struct lines__library *library = lines__library_for(space);
    const char *unavailable = lines__unavailable(space);
    if (unavailable == NULL)
        return library->check_environment != NULL ? library->check_environment(arguments->function)
                                                  : REDIST_OK;
    return FAIL(REDIST_ERR_ARGUMENT, "%s = %s: %s", name, redist_space_name((int)space),
                unavailable);
}

static int drops_some(const struct fftnd__arguments *arguments, const redist_index list[]) {
    for (int i = 0; list != NULL && i < arguments->ndims; i++)
        if (list[i] != arguments->sizes[i])
            return 1;
    return 0;
}

static int check_pairs(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    int there = fftnd__is_on_device(options->space), sent = fftnd__is_on_device(options->device);
    int offloads = fftnd__offloads(options);
    int pads = drops_some(arguments, options->filled);
    int fuses = options->fusion == FFTND_FUSION_ALWAYS;
    int transposes = options->local_transpose == FFTND_LOCAL_TRANSPOSE_ALWAYS;
    const struct {
        int is_refused, code;
        const char *reason;
    } pairs[] = {
        {(there || sent) && arguments->precision == FFTND_LONG_DOUBLE, REDIST_ERR_ARGUMENT,
         "precision = FFTND_LONG_DOUBLE is not supported on a device"},
        {there && fuses, REDIST_ERR_METHOD,
         "options->fusion = FFTND_FUSION_ALWAYS is not supported for arrays of a device"},
        {there && options->device_bytes != 0, REDIST_ERR_ARGUMENT,
         "options->device_bytes is not 0, but options->space is a device: it needs host memory"},
        {there && options->device == REDIST_SPACE_HOST, REDIST_ERR_ARGUMENT,
         "options->device = REDIST_SPACE_HOST, but options->space is a device"},
        {offloads && transposes, REDIST_ERR_ARGUMENT,
         "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS is not supported with "
         "options->device_bytes or a device, which move rows"},
        {transposes && fuses, REDIST_ERR_ARGUMENT,
         "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS needs whole arrays, but "
         "options->fusion = FFTND_FUSION_ALWAYS"},
        {transposes && drops_some(arguments, options->retained_modes), REDIST_ERR_ARGUMENT,
         "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS needs whole arrays, but "
         "options->retained_modes drops modes in tiles"},
        {transposes && pads, REDIST_ERR_ARGUMENT,
         "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS needs whole arrays, but "
         "options->filled is below sizes, and zeros are added in tiles"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].is_refused)
            return FAIL(pairs[i].code, "%s", pairs[i].reason);
    return REDIST_OK;
}

/* Checks the precision with the library of the arrays' space; that of a device takes over only some of its work. */
static int check_precision(const struct fftnd__arguments *arguments) {
    const struct lines__library *library = lines__library_for(arguments->options.space);
    const char *lacks = library->lacks != NULL ? library->lacks(arguments->precision) : NULL;
    return lacks == NULL ? REDIST_OK : FAIL(REDIST_ERR_SERIAL, "%s", lacks);
}

static int check_spaces(const struct fftnd__arguments *arguments) {
    REDIST_TRY(check_library(arguments, "options->space", arguments->options.space));
    REDIST_TRY(check_library(arguments, "options->device", arguments->options.device));
    REDIST_TRY(check_precision(arguments));
    return check_pairs(arguments);
}

/* ---------------------------------------------------------------- the wire */

/* Errors that no format can be expected to reach, in both precisions that have formats: an eighth of what a number of
 * average size may change by. */
static const double least_tolerances[] = {[FFTND_DOUBLE] = 0x1p-27, [FFTND_FLOAT] = 0x1p-19};

static int check_tolerance(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    double tolerance = options->tolerance;
    if (!(tolerance >= 0))
        return FAIL(REDIST_ERR_ARGUMENT, "options->tolerance = %g is not 0 or more", tolerance);
    if (tolerance == 0)
        return REDIST_OK;
    if (options->wire != REDIST_WIRE_SAME)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->tolerance = %g with options->wire = %s: it chooses the format itself",
                    tolerance, redist_wire_name((int)options->wire));
    if (arguments->precision != FFTND_LONG_DOUBLE &&
        tolerance < least_tolerances[arguments->precision])
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->tolerance = %g is below %g, which no format reaches with %s: use 0, "
                    "which is exact",
                    tolerance, least_tolerances[arguments->precision],
                    fftnd__precision_name((int)arguments->precision));
    return REDIST_OK;
}

static int check_wire(const struct fftnd__arguments *arguments) {
    const fftnd_options *options = &arguments->options;
    REDIST_TRY(check_tolerance(arguments));
    if (options->wire == REDIST_WIRE_SAME && options->tolerance == 0)
        return REDIST_OK;
    const char *name =
        options->tolerance != 0 ? "a tolerance" : redist_wire_name((int)options->wire);
    if (arguments->precision == FFTND_LONG_DOUBLE ||
        (options->wire == REDIST_WIRE_FLOAT && arguments->precision != FFTND_DOUBLE))
        return FAIL(REDIST_ERR_ARGUMENT, "options->wire: %s is not supported with precision = %s",
                    name, fftnd__precision_name((int)arguments->precision));
    return REDIST_OK;
}

/* ---------------------------------------------------------------- all checks */

typedef int check(const struct fftnd__arguments *arguments);

static int check_all(struct fftnd__arguments *arguments, const fftnd_options *options,
                     check *const checks[]) {
    REDIST_TRY(check_array(arguments));
    REDIST_TRY(copy_options(arguments, options));
    for (; *checks != NULL; checks++)
        REDIST_TRY((*checks)(arguments));
    return REDIST_OK;
}

/* Options that are lists, or NULL: of an entry for each axis, or grid dimension. */
static const struct listed_option {
    const char *name;
    size_t offset;
    enum redist_shared type;
    int of_grid;
} lists[] = {
#define LIST(member, type, of_grid)                                                                \
    { "options->" #member, offsetof(fftnd_options, member), REDIST_SHARED_##type, of_grid }
#define LISTS_OF(side)                                                                             \
    LIST(memory_order[side], INTS, 0), LIST(padding[side], EXTENTS, 0),                            \
        LIST(split[side], INTS, 1), LIST(offset[side], EXTENTS, 0)
    LISTS_OF(FFTND_PHYSICAL), LISTS_OF(FFTND_SPECTRAL),         LIST(grid, INTS, 1),
    LIST(order, INTS, 0),     LIST(retained_modes, EXTENTS, 0), LIST(filled, EXTENTS, 0),
};

static redist_shared_value agreed_list(const struct fftnd__arguments *arguments, int is_checked,
                                       const struct listed_option *option) {
    const void *list = NULL;
    int n = option->of_grid ? arguments->options.grid_ndims : arguments->ndims;
    if (is_checked)
        memcpy(&list, (const char *)&arguments->options + option->offset, sizeof list);
    return redist_share(option->name, option->type, list, (size_t)n);
}

/* Lists the kinds of axes, and the forward transforms along real-to-real ones; entries of other axes are not read. */
static redist_shared_value *list_axes(const struct fftnd__arguments *arguments, int is_checked,
                                      struct fftnd__agreed *agreed, redist_shared_value *next) {
    const fftnd_options *options = &arguments->options;
    const int has_axes = is_checked && options->axes != NULL;
    int any = 0;
    for (int i = 0; i < arguments->ndims && is_checked; i++) {
        int is_r2r = fftnd__user_axis_kind(arguments, i) == FFTND_AXIS_R2R;
        agreed->axes[i] = has_axes ? (int)options->axes[i] : 0;
        agreed->r2r[i] = is_r2r ? (int)options->r2r[i] : -1;
        any |= is_r2r;
    }
    next[0] = redist_share("options->axes", REDIST_SHARED_INTS, has_axes ? agreed->axes : NULL,
                           (size_t)arguments->ndims);
    next[1] = redist_share("options->r2r", REDIST_SHARED_INTS, any ? agreed->r2r : NULL,
                           (size_t)arguments->ndims);
    next[0].name_of = fftnd__axis_name;
    next[1].name_of = fftnd__r2r_name;
    return next + 2;
}

/* Lists whether a side is in boxes, and its bounds. */
static redist_shared_value *list_side(const struct fftnd__arguments *arguments, int is_checked,
                                      int side, struct fftnd__agreed *agreed,
                                      redist_shared_value *next) {
    static const char *const boxes[2] = {"whether there is options->box[FFTND_PHYSICAL]",
                                         "whether there is options->box[FFTND_SPECTRAL]"};
    const fftnd_options *options = &arguments->options;
    *next++ = redist_share_number(boxes[side], is_checked && options->box[side] != NULL);
    for (int i = 0; i < REDIST_MAX_NDIMS; i++) {
        int given = is_checked && options->bounds[side] != NULL && i < options->grid_ndims;
        char *name = agreed->bounds[side][i];
        snprintf(name, sizeof agreed->bounds[side][i], "options->bounds[%s][%d]",
                 fftnd__side_name(side), i);
        *next++ = redist_share(name, REDIST_SHARED_EXTENTS, given ? options->bounds[side][i] : NULL,
                               given ? (size_t)options->grid[i] + 1 : 0);
    }
    return next;
}

void fftnd__list_agreed(const struct fftnd__arguments *arguments, int is_checked,
                        struct fftnd__agreed *agreed) {
    const fftnd_options *options = &arguments->options;
    const size_t ndims = (size_t)arguments->ndims;
    redist_halo *ghosts = &agreed->ghosts;
    int has_ghosts =
        is_checked && options->ghosts != NULL && fftnd__read_ghosts(arguments, ghosts) == REDIST_OK;
    redist_shared_value *next = agreed->values;
    *next++ = redist_share_number("ndims", arguments->ndims);
    *next++ = redist_share_enum("kind", (int)arguments->kind, fftnd__kind_name);
    *next++ = redist_share_enum("precision", (int)arguments->precision, fftnd__precision_name);
    *next++ =
        redist_share("sizes", REDIST_SHARED_EXTENTS, is_checked ? arguments->sizes : NULL, ndims);
    *next++ = redist_share("options->method", REDIST_SHARED_TEXT, options->method, 0);
    *next++ = redist_share("options->tolerance", REDIST_SHARED_REALS, &options->tolerance, 1);
    for (int i = 0; i < NOPTIONS; i++, next++) {
        *next = redist_share_number(table[i].name, get(options, &table[i]));
        next->name_of = table[i].name_of;
    }
    next = list_axes(arguments, is_checked, agreed, next);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *next++ = agreed_list(arguments, is_checked, &lists[i]);
    for (int side = 0; side < 2; side++)
        next = list_side(arguments, is_checked, side, agreed, next);
    *next++ = redist_share("options->ghosts->low", REDIST_SHARED_EXTENTS,
                           has_ghosts ? ghosts->low : NULL, ndims);
    *next++ = redist_share("options->ghosts->high", REDIST_SHARED_EXTENTS,
                           has_ghosts ? ghosts->high : NULL, ndims);
    *next++ = redist_share("options->ghosts->periodic", REDIST_SHARED_INTS,
                           has_ghosts ? ghosts->periodic : NULL, ndims);
    *next = redist_share_number("options->ghosts->corners", has_ghosts ? ghosts->corners : 0);
}

int fftnd__check_own(struct fftnd__arguments *arguments, const fftnd_options *options,
                     const void *plan) {
    static check *const checks[] = {check_options,
                                    check_ranks,
                                    check_grid,
                                    check_method,
                                    check_halved,
                                    fftnd__check_axes,
                                    check_order,
                                    check_truncation,
                                    fftnd__check_sides,
                                    check_spaces,
                                    fftnd__check_long_axis,
                                    check_wire,
                                    NULL};
    arguments->function = "fftnd_plan_create";
    MPI_Comm_size(arguments->comm, &arguments->nranks);
    REDIST_TRY(check_all(arguments, options, checks));
    return plan != NULL ? REDIST_OK : FAIL(REDIST_ERR_NULL, "plan = NULL");
}

int fftnd__agree_on_plan(const struct fftnd__arguments *arguments, int code) {
    struct fftnd__agreed agreed;
    fftnd__list_agreed(arguments, code == REDIST_OK, &agreed);
    REDIST_TRY(redist_agree_values_in(arguments->function, arguments->comm, code, FFTND__AGREED,
                                      agreed.values));
    return fftnd__check_boxes(arguments);
}

int fftnd__check_prediction(struct fftnd__arguments *arguments, const fftnd_options *options) {
    static check *const checks[] = {check_options,    check_grid,         check_given_grid,
                                    check_halved,     fftnd__check_axes,  check_order,
                                    check_truncation, fftnd__check_sides, NULL};
    arguments->function = "fftnd_predict";
    return check_all(arguments, options, checks);
}

int fftnd__check_arrays(const char *function, const struct fftnd__array arrays[2], int in_place) {
    for (int i = 0; i < 2; i++)
        if (arrays[i].data == NULL && arrays[i].bytes != 0)
            return redist_fail_in(function, REDIST_ERR_NULL,
                                  "%s = NULL, but this rank holds %zu bytes of it", arrays[i].name,
                                  arrays[i].bytes);
    if (arrays[0].bytes == 0 || arrays[1].bytes == 0)
        return REDIST_OK;
    uintptr_t a = (uintptr_t)arrays[0].data, b = (uintptr_t)arrays[1].data;
    if (in_place && a != b)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "%s = %p and %s = %p differ, but the plan was made with "
                              "options->in_place",
                              arrays[0].name, arrays[0].data, arrays[1].name, arrays[1].data);
    if (!in_place && a == b)
        return redist_fail_in(function, REDIST_ERR_OVERLAP,
                              "%s = %p and %s are the same array: make the plan with "
                              "options->in_place, or pass two arrays",
                              arrays[0].name, arrays[0].data, arrays[1].name);
    if (!in_place && a < b + arrays[1].bytes && b < a + arrays[0].bytes)
        return redist_fail_in(function, REDIST_ERR_OVERLAP,
                              "%s = %p (%zu bytes) and %s = %p (%zu bytes) overlap", arrays[0].name,
                              arrays[0].data, arrays[0].bytes, arrays[1].name, arrays[1].data,
                              arrays[1].bytes);
    return REDIST_OK;
}
