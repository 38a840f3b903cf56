/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be transformed, and what must come of it: see fft_case.h. */
#include "fft_case.h"
#include "fft_sides.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By precision; `tolerance` is what results of two elements may be off. */
static const struct {
    const char *name;
    size_t bytes;
    double tolerance;
} precisions[] = {[FFTND_DOUBLE] = {"double", sizeof(double), 1e-14},
                  [FFTND_FLOAT] = {"float", sizeof(float), 1e-6},
                  [FFTND_LONG_DOUBLE] = {"long double", sizeof(long double), 50 * LDBL_EPSILON}};

/* The largest change of a number by the format of an exchange, relative to the largest one; and how many times that
 * together results may be off, of which the largest is sometimes far below those that were sent. */
static const double of_formats[] = {[REDIST_WIRE_FLOAT] = 0x1p-24, [REDIST_WIRE_16_BITS] = 0x1p-15};
enum { MOST_NARROWED = 64 };

fft_case fft_case_make(int ndims, const int sizes[], enum fftnd_kind kind) {
    const fftnd_options defaults = FFTND_OPTIONS_DEFAULT;
    fft_case made = {.ndims = ndims, .kind = kind, .options = defaults};
    for (int axis = 0; axis < ndims; axis++) {
        made.sizes[axis] = sizes[axis];
        made.r2r[axis] = FFTND_DCT2;
    }
    made.options.effort = FFTND_ESTIMATE;
    return made;
}

enum fftnd_precision fft_case_precision(enum fftnd_precision wanted) {
#define SERVED(library, number, precision) [precision] = 1,
    static const int is_served[FFTND_LONG_DOUBLE + 1] = {LINES__FFTW_PRECISIONS(SERVED)};
    return is_served[wanted] ? wanted : FFTND_DOUBLE;
}

void fft_case_grid(fft_case *given, int grid_ndims, const int grid[]) {
    given->options.grid_ndims = grid_ndims;
    for (int i = 0; i < grid_ndims; i++) {
        given->grid[i] = grid[i];
    }
}

/* ---------------------------------------------------------------- words */

static char text[1024];

static void REDIST_PRINTF(1, 2) say(const char *format, ...) {
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof(text) - used, format, arguments);
    va_end(arguments);
}

static void say_numbers(const char *what, int n, const int numbers[]) {
    say("%s", what);
    for (int i = 0; i < n; i++) {
        say("%s%d", i == 0 ? "" : "x", numbers[i]);
    }
}

static void say_options(const fftnd_options *options) {
    static const char *const scalings[] = {"none", "backward", "forward", "unitary"};
    say(" scaling %s", scalings[options->scaling]);
    say("%s", options->alignment == FFTND_ALIGN_INPUT ? " align-input" : "");
    say(" batch %d %s", options->batch,
        options->batch_position == FFTND_BATCH_FIRST ? "first" : "last");
    say("%s%s%s%s", options->in_place ? " in-place" : "",
        options->overwrite_input ? " overwrite-input" : "",
        options->mapped_arrays ? " mapped-arrays" : "",
        options->user_workspace ? " user-workspace" : "");
    if (options->wire != REDIST_WIRE_SAME) {
        say(" wire %d scope %d", (int)options->wire, (int)options->wire_scope);
    }
    say(" method %s effort %d fusion %d local_transpose %d tile %zu threads %d",
        options->method == NULL ? "(null)" : options->method, (int)options->effort,
        (int)options->fusion, (int)options->local_transpose, options->tile_bytes, options->threads);
    if (options->device_bytes != 0 || options->device != REDIST_SPACE_AUTO) {
        say(" device %d of %zu bytes%s", (int)options->device, options->device_bytes,
            options->pin_arrays ? " pinned" : "");
    }
    if (getenv("FFTND_CONFIGURATION") != NULL) {
        say(" choice%s", getenv("FFTND_CONFIGURATION"));
    }
}

const char *fft_case_text(const fft_case *given) {
    static const char *const kinds[] = {"c2c", "r2c", "r2r", "mixed"};
    static const char *const memories[] = {"heap", "unaligned", "shared", "local"};
    text[0] = '\0';
    say_numbers("", given->ndims, given->sizes);
    say(" %s %s", kinds[given->kind], precisions[given->precision].name);
    if (given->kind == FFTND_R2C) {
        say(" halved %d", given->options.halved_axis);
    }
    for (int axis = 0; axis < given->ndims; axis++) {
        if (fft_case_r2r(given, axis) >= 0) {
            say(" r2r[%d] %d", axis, fft_case_r2r(given, axis));
        }
    }
    if (given->drops_modes) {
        say_numbers(" retained ", given->ndims, given->retained);
    }
    if (given->drops_points) {
        say_numbers(" filled ", given->ndims, given->filled);
    }
    say_numbers(" grid ", given->options.grid_ndims, given->grid);
    if (given->has_order) {
        say_numbers(" order ", given->ndims, given->order);
    }
    fft_sides_say(given, text, sizeof(text));
    say_options(&given->options);
    say(" memory %s/%s/%s", memories[given->memory[0]], memories[given->memory[1]],
        memories[given->workspace]);
    return text;
}

/* ---------------------------------------------------------------- the call */

int fft_case_plan(MPI_Comm comm, const fft_case *given, fftnd_plan **plan) {
    fftnd_options options = given->options;
    redist_index sizes[REDIST_MAX_NDIMS], retained[REDIST_MAX_NDIMS], filled[REDIST_MAX_NDIMS];
    for (int axis = 0; axis < REDIST_MAX_NDIMS; axis++) {
        sizes[axis] = given->sizes[axis];
        retained[axis] = given->retained[axis];
        filled[axis] = given->filled[axis];
    }
    options.grid = options.grid_ndims == 0 ? NULL : given->grid;
    options.r2r = given->kind >= FFTND_R2R ? given->r2r : NULL;
    fft_sides_fill(comm, given, &options);
    options.retained_modes = given->drops_modes ? retained : NULL;
    options.filled = given->drops_points ? filled : NULL;
    options.order = given->has_order ? given->order : NULL;
    return fftnd_plan_create(comm, given->ndims, sizes, given->kind, given->precision, &options,
                             plan);
}

/* ---------------------------------------------------------------- expectations */

enum fftnd_side fft_case_opposite(enum fftnd_side side) {
    return side == FFTND_PHYSICAL ? FFTND_SPECTRAL : FFTND_PHYSICAL;
}

int fft_case_halved_axis(const fft_case *given) {
    for (int axis = 0; given->kind == FFTND_MIXED && axis < given->ndims; axis++) {
        if (given->axes[axis] == FFTND_AXIS_HALVED) {
            return axis;
        }
    }
    if (given->kind != FFTND_R2C) {
        return -1;
    }
    return given->options.halved_axis == -1 ? given->ndims - 1 : given->options.halved_axis;
}

int fft_case_r2r(const fft_case *given, int axis) {
    const int is_r2r =
        given->kind == FFTND_MIXED ? given->axes[axis] == FFTND_AXIS_R2R : given->kind == FFTND_R2R;
    return is_r2r ? (int)given->r2r[axis] : -1;
}

void fft_case_retain(fft_case *given, const int retained[]) {
    given->drops_modes = 1;
    memcpy(given->retained, retained, sizeof(retained[0]) * (size_t)given->ndims);
}

void fft_case_fill(fft_case *given, const int filled[]) {
    given->drops_points = 1;
    memcpy(given->filled, filled, sizeof(filled[0]) * (size_t)given->ndims);
}

int fft_case_retained(const fft_case *given, int axis) {
    return given->drops_modes ? given->retained[axis] : given->sizes[axis];
}

int fft_case_filled(const fft_case *given, int axis) {
    return given->drops_points ? given->filled[axis] : given->sizes[axis];
}

int fft_case_repeats(const fft_case *given) {
    return !given->drops_modes || !given->drops_points;
}

static int spectral_size(const fft_case *given, int axis) {
    const int retained = fft_case_retained(given, axis);
    return axis == fft_case_halved_axis(given) ? retained / 2 + 1 : retained;
}

void fft_case_sizes(const fft_case *given, enum fftnd_side side, int sizes[]) {
    for (int axis = 0; axis < given->ndims; axis++) {
        sizes[axis] =
            side == FFTND_SPECTRAL ? spectral_size(given, axis) : fft_case_filled(given, axis);
    }
}

void fft_case_chain(const fft_case *given, const fftnd_plan_info *info, int axes[]) {
    const int halved = fft_case_halved_axis(given);
    const int is_free =
        given->kind == FFTND_MIXED ||
        (given->drops_points && !given->has_split[0] && !given->has_split[1]) ||
        (given->options.space == REDIST_SPACE_CUDA && given->options.grid_ndims == 0);
    int place = 0;
    if (given->has_order || is_free) {
        memcpy(axes, given->has_order ? given->order : info->order,
               sizeof(axes[0]) * (size_t)given->ndims);
        return;
    }
    for (int i = 0; i < given->ndims; i++) {
        const int axis =
            given->has_memory_order[FFTND_PHYSICAL] ? given->memory_order[FFTND_PHYSICAL][i] : i;
        if (axis != halved) {
            axes[place++] = axis;
        }
    }
    if (halved >= 0) {
        axes[place] = halved;
    }
}

int fft_case_components(const fft_case *given, enum fftnd_side side) {
    static const int components[][2] = {
        [FFTND_C2C] = {2, 2}, [FFTND_R2C] = {1, 2}, [FFTND_R2R] = {1, 1}};
    if (given->kind != FFTND_MIXED) {
        return components[given->kind][side];
    }
    for (int axis = 0; axis < given->ndims; axis++) {
        if (given->axes[axis] == FFTND_AXIS_HALVED) {
            return components[FFTND_R2C][side];
        }
    }
    for (int axis = 0; axis < given->ndims; axis++) {
        if (given->axes[axis] == FFTND_AXIS_COMPLEX) {
            return 2;
        }
    }
    return 1;
}

size_t fft_case_number_bytes(const fft_case *given) {
    return precisions[given->precision].bytes;
}

static long double logical_extent(const fft_case *given, int axis) {
    const long double n = given->sizes[axis];
    const int r2r = fft_case_r2r(given, axis);
    if (given->kind == FFTND_MIXED && given->axes[axis] == FFTND_AXIS_NONE) {
        return 1;
    }
    if (r2r < 0 || r2r >= FFTND_R2HC) {
        return n;
    }
    return 2 * (r2r == FFTND_DCT1 ? n - 1 : r2r == FFTND_DST1 ? n + 1 : n);
}

long double fft_case_logical_size(const fft_case *given) {
    long double product = 1;
    for (int axis = 0; axis < given->ndims; axis++) {
        product *= logical_extent(given, axis);
    }
    return product;
}

long double fft_case_scale(const fft_case *given, enum fftnd_side side) {
    const long double all = 1 / fft_case_logical_size(given);
    switch (given->options.scaling) {
    case FFTND_SCALE_NONE:
        return 1;
    case FFTND_SCALE_BACKWARD:
        return side == FFTND_SPECTRAL ? all : 1;
    case FFTND_SCALE_FORWARD:
        return side == FFTND_PHYSICAL ? all : 1;
    case FFTND_SCALE_UNITARY:
        return sqrtl(all);
    }
    return NAN;
}

double fft_case_tolerance(const fft_case *given) {
    double total = 1;
    for (int axis = 0; axis < given->ndims; axis++) {
        total *= given->sizes[axis];
    }
    return precisions[given->precision].tolerance * fmax(1, log2(total)) +
           MOST_NARROWED * of_formats[given->options.wire];
}

/* ---------------------------------------------------------------- who owns what */

/* balanced blocks: the first n % nparts parts have one element more */
static void part_of(int n, int nparts, int part, int *start, int *count) {
    const int extra = n % nparts;
    *start = part * (n / nparts) + (part < extra ? part : extra);
    *count = n / nparts + (part < extra ? 1 : 0);
}

/* From extents in `count` to a rank's part of them, after `nexchanges` exchanges. */
static void split(const fft_case *given, const fftnd_plan_info *info, int rank, int nexchanges,
                  int start[], int count[]) {
    int axes[REDIST_MAX_NDIMS];
    fft_case_chain(given, info, axes);
    memset(start, 0, sizeof(start[0]) * (size_t)given->ndims);
    for (int i = info->grid_ndims - 1; i >= 0; i--) {
        const int place = i < info->grid_ndims - nexchanges ? i : i + 1;
        const int coordinate = rank % info->grid[i];
        rank /= info->grid[i];
        if (place < given->ndims) {
            const int axis = axes[place];
            part_of(count[axis], info->grid[i], coordinate, &start[axis], &count[axis]);
        }
    }
}

void fft_case_part(const fft_case *given, enum fftnd_side side, const fftnd_plan_info *info,
                   int rank, int nexchanges, int start[], int count[]) {
    fft_case_sizes(given, side, count);
    split(given, info, rank, nexchanges, start, count);
}

/* Moves the halved axis to the end, from where transforms begin. */
static void put_halved_last(const fft_case *given, int axes[]) {
    const int halved = fft_case_halved_axis(given);
    for (int i = 0; i + 1 < given->ndims; i++) {
        if (axes[i] == halved) {
            axes[i] = axes[i + 1];
            axes[i + 1] = halved;
        }
    }
}

/* Bytes of the array after `nexchanges` exchanges, when the last `ntransformed` axes of the chain are
 * transformed. The real side in place is as large as the complex one of as many points. */
static size_t bytes_between(const fft_case *given, const fftnd_plan_info *info, int rank,
                            int nexchanges, int ntransformed) {
    int axes[REDIST_MAX_NDIMS];
    int start[REDIST_MAX_NDIMS];
    int count[REDIST_MAX_NDIMS];
    const int is_real = ntransformed == 0 && !given->options.in_place;
    const enum fftnd_side side = is_real ? FFTND_PHYSICAL : FFTND_SPECTRAL;
    size_t bytes = (size_t)given->options.batch * fft_case_number_bytes(given) *
                   (size_t)fft_case_components(given, side);
    fft_case_chain(given, info, axes);
    put_halved_last(given, axes);
    fft_case_sizes(given, FFTND_PHYSICAL, count);
    if (ntransformed == 0 && !is_real && fft_case_halved_axis(given) >= 0) {
        const int axis = fft_case_halved_axis(given);
        count[axis] = fft_case_filled(given, axis) / 2 + 1;
    }
    for (int i = 0; i < ntransformed; i++) {
        const int axis = axes[given->ndims - 1 - i];
        count[axis] = spectral_size(given, axis);
    }
    split(given, info, rank, nexchanges, start, count);
    for (int axis = 0; axis < given->ndims; axis++) {
        bytes *= (size_t)count[axis];
    }
    return bytes;
}

size_t fft_case_largest_bytes(const fft_case *given, const fftnd_plan_info *info, int rank) {
    const int returns = given->options.alignment == FFTND_ALIGN_INPUT;
    size_t largest = returns ? bytes_between(given, info, rank, 0, given->ndims) : 0;
    for (int nexchanges = 0; nexchanges <= info->grid_ndims; nexchanges++) {
        const int first = given->ndims - info->grid_ndims + nexchanges - 1;
        for (int n = nexchanges == 0 ? 0 : first; n <= first + 1 && n <= given->ndims; n++) {
            const size_t bytes = bytes_between(given, info, rank, nexchanges, n);
            largest = bytes > largest ? bytes : largest;
        }
    }
    return largest;
}
