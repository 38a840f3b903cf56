/* SPDX-License-Identifier: BSD-3-Clause */
/* How each side of a case lies: see fft_sides.h. */
#include "fft_sides.h"

#include <stdio.h>
#include <string.h>

#include "random.h"

static int is_none(const fft_case *given, int axis) {
    return given->kind == FFTND_MIXED && given->axes[axis] == FFTND_AXIS_NONE;
}

/* ---------------------------------------------------------------- boxes */

/* The ranks are halved again and again, and with them an axis, at a place that the seed decides. */
static void find_box(const fft_case *given, enum fftnd_side side, int nranks, int rank, int start[],
                     int count[]) {
    uint64_t seed = given->box_seed + (uint64_t)side;
    fft_case_sizes(given, side, count);
    memset(start, 0, sizeof(start[0]) * (size_t)given->ndims);
    while (nranks > 1) {
        const int first = nranks / 2;
        seed = random_hash(seed);
        const int axis = (int)(seed % (uint64_t)given->ndims);
        const int cut = (int)(seed / 64 % (uint64_t)(count[axis] + 1));
        const int behind = rank >= first;
        start[axis] += behind ? cut : 0;
        count[axis] = behind ? count[axis] - cut : cut;
        rank -= behind ? first : 0;
        nranks = behind ? nranks - first : first;
        seed += (uint64_t)behind;
    }
}

/* ---------------------------------------------------------------- options */

void fft_sides_fill(MPI_Comm comm, const fft_case *given, fftnd_options *options) {
    static redist_index padding[2][REDIST_MAX_NDIMS];
    static redist_index offset[2][REDIST_MAX_NDIMS];
    static const redist_index *bounds[2][REDIST_MAX_NDIMS];
    static redist_box box[2];
    int nranks, rank;
    MPI_Comm_size(comm, &nranks);
    MPI_Comm_rank(comm, &rank);
    options->axes = given->kind == FFTND_MIXED ? given->axes : NULL;
    for (int side = 0; side < 2; side++) {
        int start[REDIST_MAX_NDIMS];
        int count[REDIST_MAX_NDIMS];
        int pads = 0;
        find_box(given, (enum fftnd_side)side, nranks, rank, start, count);
        box[side] = REDIST_BOX_DEFAULT;
        for (int i = 0; i < given->ndims; i++) {
            bounds[side][i] = given->bounds[side][i];
            padding[side][i] = given->padding[side][i];
            offset[side][i] = given->offset[side][i];
            pads |= given->padding[side][i] != 0;
            box[side].start[i] = start[i];
            box[side].count[i] = count[i];
            box[side].extent[i] = count[i] + padding[side][i];
            box[side].offset[i] = offset[side][i];
        }
        options->memory_order[side] =
            given->has_memory_order[side] ? given->memory_order[side] : NULL;
        options->padding[side] = pads ? padding[side] : NULL;
        options->offset[side] = pads ? offset[side] : NULL;
        options->blocks[side] = given->blocks[side];
        options->split[side] = given->has_split[side] ? given->split[side] : NULL;
        options->bounds[side] = given->has_bounds[side] ? bounds[side] : NULL;
        options->box[side] = given->has_box[side] ? &box[side] : NULL;
    }
}

int fft_sides_are_usual(const fft_case *given) {
    int usual = given->kind != FFTND_MIXED && given->options.ghosts == NULL;
    for (int side = 0; side < 2; side++) {
        usual = usual && !given->has_memory_order[side] && !given->has_bounds[side] &&
                !given->has_box[side] && !given->has_split[side] &&
                given->blocks[side] == FFTND_BLOCKS_BALANCED;
        for (int i = 0; i < given->ndims; i++) {
            usual = usual && given->padding[side][i] == 0;
        }
    }
    return usual;
}

/* ---------------------------------------------------------------- expectations */

/* The axis that a grid dimension splits where the chain begins (0) or ends. */
static int chain_axis(const fft_case *given, const int order[], int grid_ndims, int dim, int ends) {
    int place = dim;
    if (ends && !is_none(given, order[dim])) {
        place++;
        while (place < grid_ndims && is_none(given, order[place])) {
            place++;
        }
    }
    return order[place];
}

static int split_axis(const fft_case *given, const int order[], int grid_ndims,
                      enum fftnd_side side, int dim) {
    if (given->has_split[side]) {
        return given->split[side][dim];
    }
    return chain_axis(given, order, grid_ndims, dim,
                      side == FFTND_SPECTRAL && given->options.alignment == FFTND_ALIGN_CHAIN);
}

/* FFTW's blocks, or balanced ones: the first n % nparts parts have one element more. */
static void find_part(const fft_case *given, enum fftnd_side side, int dim, int nparts, int part,
                      int *start, int *count) {
    const int n = *count;
    const int extra = n % nparts;
    const int ceiling = (n + nparts - 1) / nparts;
    if (given->has_bounds[side]) {
        *start = (int)given->bounds[side][dim][part];
        *count = (int)given->bounds[side][dim][part + 1] - *start;
    } else if (given->blocks[side] == FFTND_BLOCKS_CEILING) {
        *start = part * ceiling < n ? part * ceiling : n;
        *count = n - *start < ceiling ? n - *start : ceiling;
    } else {
        *start = part * (n / nparts) + (part < extra ? part : extra);
        *count = n / nparts + (part < extra ? 1 : 0);
    }
}

void fft_sides_part(const fft_case *given, enum fftnd_side side, const fftnd_plan_info *info,
                    int nranks, int rank, int start[], int count[]) {
    if (given->has_box[side]) {
        find_box(given, side, nranks, rank, start, count);
        return;
    }
    fft_case_sizes(given, side, count);
    memset(start, 0, sizeof(start[0]) * (size_t)given->ndims);
    for (int i = info->grid_ndims - 1; i >= 0; i--) {
        const int coordinate = rank % info->grid[i];
        rank /= info->grid[i];
        if (given->ndims > 1) {
            const int axis = split_axis(given, info->order, info->grid_ndims, side, i);
            find_part(given, side, i, info->grid[i], coordinate, &start[axis], &count[axis]);
        }
    }
}

int fft_sides_chain_exchanges(const fft_case *given, const fftnd_plan_info *info) {
    int count = 0;
    for (int i = 0; i < info->grid_ndims; i++) {
        count += info->grid[i] > 1 && !is_none(given, info->order[i]);
    }
    return count;
}

/* Nonzero if the chain runs on fewer ranks than the grid of the sides has. */
static int is_on_few(const fftnd_plan_info *info) {
    redist_index product = 1;
    for (int i = 0; i < info->grid_ndims; i++) {
        product *= info->grid[i];
    }
    return info->ranks < product;
}

/* In place the real side has room for the complex one, where the halved axis is transformed before any exchange. */
static int pads_halved(const fft_case *given, const fftnd_plan_info *info) {
    const int halved = fft_case_halved_axis(given);
    if (!given->options.in_place || halved < 0 || given->has_box[FFTND_PHYSICAL] ||
        is_on_few(info)) {
        return 0;
    }
    for (int i = 0; i < info->grid_ndims && given->has_split[FFTND_PHYSICAL]; i++) {
        if (info->grid[i] > 1 && given->split[FFTND_PHYSICAL][i] != info->order[i]) {
            return 0;
        }
    }
    for (int i = info->grid_ndims - 1; i >= 0; i--) {
        if (info->grid[i] > 1 && !is_none(given, info->order[i])) {
            int place = 0;
            while (info->order[place] != halved) {
                place++;
            }
            return place > i;
        }
    }
    return 1;
}

redist_index fft_sides_spare(const fft_case *given, const fftnd_plan_info *info,
                             const redist_index count[]) {
    const int halved = fft_case_halved_axis(given);
    return pads_halved(given, info) ? 2 * (count[halved] / 2 + 1) - count[halved] : 0;
}

void fft_sides_strides(const fft_case *given, enum fftnd_side side, const fftnd_plan_info *info,
                       const redist_index count[], ptrdiff_t stride[]) {
    ptrdiff_t next = 1;
    for (int i = given->ndims - 1; i >= 0; i--) {
        const int axis = given->has_memory_order[side] ? given->memory_order[side][i] : i;
        const int pads = side == FFTND_PHYSICAL && axis == fft_case_halved_axis(given) &&
                         pads_halved(given, info);
        const redist_index least = count[axis] + (pads ? fft_sides_spare(given, info, count) : 0);
        redist_index extent = count[axis] + given->padding[side][axis];
        const redist_halo *ghosts = given->options.ghosts;
        if (side == FFTND_PHYSICAL && ghosts != NULL && !given->has_box[side]) {
            extent += ghosts->low[axis] + ghosts->high[axis];
        }
        extent = pads && extent < least ? least : extent;
        stride[axis] = next;
        next *= extent;
    }
}

/* ---------------------------------------------------------------- words */

void fft_sides_say(const fft_case *given, char *text, size_t bytes) {
    size_t used = strlen(text);
#define SAY(...) used += (size_t)snprintf(text + used, bytes - used, __VA_ARGS__)
    for (int i = 0; given->kind == FFTND_MIXED && i < given->ndims; i++) {
        SAY("%s%c", i == 0 ? " axes " : "", "nchr"[given->axes[i]]);
    }
    for (int side = 0; side < 2; side++) {
        for (int i = 0; given->has_split[side] && i < given->options.grid_ndims; i++) {
            SAY("%s%d", i == 0 ? " split " : ",", given->split[side][i]);
        }
        if (given->has_box[side]) {
            SAY(" boxes[%d]", side);
        }
        if (given->blocks[side] == FFTND_BLOCKS_CEILING) {
            SAY(" ceiling[%d]", side);
        }
        for (int i = 0; given->has_bounds[side] && i < given->options.grid_ndims; i++) {
            SAY(" bounds[%d]", side);
            for (int j = 0; j <= given->grid[i]; j++) {
                SAY(",%d", (int)given->bounds[side][i][j]);
            }
        }
        for (int i = 0; given->has_memory_order[side] && i < given->ndims; i++) {
            SAY("%s%d", i == 0 ? " memory_order " : ",", given->memory_order[side][i]);
        }
        for (int i = 0; i < given->ndims; i++) {
            if (given->padding[side][i] != 0) {
                SAY(" padding[%d][%d] %d+%d", side, i, given->offset[side][i],
                    given->padding[side][i] - given->offset[side][i]);
            }
        }
    }
    const redist_halo *ghosts = given->options.ghosts;
    for (int i = 0; ghosts != NULL && i < given->ndims; i++) {
        SAY("%s%d+%d%s", i == 0 ? " ghosts " : ",", (int)ghosts->low[i], (int)ghosts->high[i],
            ghosts->periodic[i] ? "p" : "");
    }
    if (ghosts != NULL) {
        SAY("%s%s%s", ghosts->corners ? " corners" : "", given->options.fill_ghosts ? " fill" : "",
            given->options.accumulate_ghosts ? " accumulate" : "");
    }
#undef SAY
}

/* ---------------------------------------------------------------- at random */

static int has_grid(const fft_case *given) {
    for (int i = 0; i < given->options.grid_ndims; i++) {
        if (given->grid[i] == 0) {
            return 0;
        }
    }
    return given->options.grid_ndims > 0;
}

static void choose_bounds(fft_case *given, enum fftnd_side side) {
    int sizes[REDIST_MAX_NDIMS];
    fft_case_sizes(given, side, sizes);
    given->has_bounds[side] = 1;
    for (int i = 0; i < given->options.grid_ndims; i++) {
        const int axis = split_axis(given, given->order, given->options.grid_ndims, side, i);
        redist_index *bounds = given->bounds[side][i];
        bounds[given->grid[i]] = sizes[axis];
        for (int j = given->grid[i] - 1; j > 0; j--) {
            bounds[j] = random_between(0, (int)bounds[j + 1]);
        }
        bounds[0] = 0;
    }
}

static void choose_side(fft_case *given, enum fftnd_side side) {
    if (given->options.grid_ndims > 0 && random_chance(20)) {
        given->has_split[side] = 1;
        random_permutation(given->ndims, given->split[side]);
    }
    if (random_chance(30)) {
        given->has_memory_order[side] = 1;
        random_permutation(given->ndims, given->memory_order[side]);
    }
    for (int i = 0; i < given->ndims; i++) {
        given->padding[side][i] = random_chance(15) ? random_between(1, 3) : 0;
        given->offset[side][i] = random_between(0, given->padding[side][i]);
    }
    given->blocks[side] = random_chance(30) ? FFTND_BLOCKS_CEILING : FFTND_BLOCKS_BALANCED;
    if (random_chance(20)) {
        given->has_box[side] = 1;
    } else if (given->has_order && has_grid(given) && random_chance(50)) {
        choose_bounds(given, side);
    }
}

void fft_sides_random(fft_case *given) {
    given->box_seed = random_bits();
    choose_side(given, FFTND_PHYSICAL);
    choose_side(given, FFTND_SPECTRAL);
}
