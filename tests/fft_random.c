/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases at random: see fft_random.h. */
#include "fft_random.h"
#include "methods.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft_sides.h"
#include "random.h"

enum { MOST_ELEMENTS = 3000, NR2R = FFTND_DHT + 1 };

static int choose_extent(int most) {
    static const int likely[] = {1, 2, 3, 4, 5, 7, 8, 11, 13, 16};
    const int extent = random_chance(60) ? likely[random_between(0, 9)] : random_between(1, most);
    return extent < most ? extent : most;
}

static void choose_shape(fft_case *given, int lowest) {
    int sizes[6];
    int left = MOST_ELEMENTS;
    const int ndims = random_between(lowest, 6);
    for (int axis = 0; axis < ndims; axis++) {
        sizes[axis] = choose_extent(left < 60 ? left : 60);
        left /= sizes[axis];
    }
    *given = fft_case_make(ndims, sizes, (enum fftnd_kind)random_between(0, 2));
}

static void choose_r2r(fft_case *given) {
    for (int axis = 0; axis < given->ndims; axis++) {
        given->r2r[axis] = (enum fftnd_r2r)random_between(0, NR2R - 1);
        if (given->r2r[axis] == FFTND_DCT1 && given->sizes[axis] == 1) {
            given->r2r[axis] = FFTND_DST1;
        }
    }
}

/* A random product that gives the number of ranks, in random order, some factors left open. */
static void choose_grid(fft_case *given, int nranks) {
    const int grid_ndims = random_between(0, given->ndims - 1);
    int order[REDIST_MAX_NDIMS];
    random_permutation(grid_ndims, order);
    given->options.grid_ndims = grid_ndims;
    for (int i = 0; i < grid_ndims; i++) {
        int factor = i == grid_ndims - 1 ? nranks : random_between(1, nranks);
        while (nranks % factor != 0) {
            factor--;
        }
        given->grid[order[i]] = random_chance(20) ? 0 : factor;
        nranks /= factor;
    }
}

static const char *choose_method(int has_nodes) {
    const int which = random_between(-3, host_method_count() - 1);
    if (which == -1 ||
        (has_nodes && which >= 0 && strcmp(host_method_name(which), "direct") == 0)) {
        return "auto";
    }
    return which >= 0 ? host_method_name(which) : NULL;
}

void fft_random_options(fft_case *given) {
    fftnd_options *options = &given->options;
    options->scaling = (enum fftnd_scaling)random_between(0, 3);
    options->alignment = random_chance(30) ? FFTND_ALIGN_INPUT : FFTND_ALIGN_CHAIN;
    options->batch = random_chance(60) ? 1 : random_between(2, 4);
    options->batch_position = (enum fftnd_batch_position)random_between(0, 1);
    options->halved_axis = random_between(-1, given->ndims - 1);
    options->in_place = random_chance(30);
    options->overwrite_input = !options->in_place && random_chance(30);
    options->user_workspace = random_chance(30);
}

static void choose_options(fft_case *given, int has_nodes) {
    fftnd_options *options = &given->options;
    fft_random_options(given);
    options->method = choose_method(has_nodes);
    options->local_transpose = (enum fftnd_local_transpose)random_between(0, 2);
    options->fusion = random_chance(50) ? FFTND_FUSION_AUTO : FFTND_FUSION_NEVER;
}

/* Small tiles, so that small arrays have several; what a planner may choose, or one configuration. */
static void choose_configuration(fft_case *given) {
    static const int bytes[] = {100, 300, 1000, 4000};
    char text[200];
    unsetenv("FFTND_CONFIGURATION");
    given->options.tile_bytes = random_chance(80) ? (size_t)bytes[random_between(0, 3)] : 0;
    if (random_chance(70)) {
        snprintf(text, sizeof text,
                 " fused=%d tiled=%d tile=%d group=%d nontemporal=%d segments=%d transposed=%d "
                 "untiled=%d partitions=%d",
                 random_between(0, 1), random_between(0, 1), bytes[random_between(0, 3)],
                 random_chance(50) ? bytes[random_between(0, 3)] : 1 << 30,
                 random_chance(50) ? 1 : 1 << 30, random_chance(50) ? 1 : random_between(2, 9),
                 random_between(0, 2), random_between(0, 1),
                 random_chance(50) ? 1 : random_between(2, 6));
        setenv("FFTND_CONFIGURATION", text, 1);
    } else if (random_chance(30)) {
        given->options.effort = random_chance(80) ? FFTND_MEASURE : FFTND_PATIENT;
        given->options.plan_seconds = random_chance(50) ? 0.02 : 0.2;
    }
}

/* Any kinds of axes, of which one is halved at most. */
static void choose_axes(fft_case *given) {
    static const enum fftnd_axis likely[] = {FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX,
                                             FFTND_AXIS_COMPLEX, FFTND_AXIS_R2R, FFTND_AXIS_R2R};
    given->kind = FFTND_MIXED;
    for (int axis = 0; axis < given->ndims; axis++) {
        given->axes[axis] = likely[random_between(0, 4)];
    }
    if (random_chance(50)) {
        given->axes[random_between(0, given->ndims - 1)] = FFTND_AXIS_HALVED;
    }
}

static fft_case random_case(int nranks, int has_nodes, int is_mixed) {
    fft_case given;
    choose_shape(&given, nranks == 1 ? 1 : 2);
    given.precision = fft_case_precision(random_chance(70) ? FFTND_DOUBLE : FFTND_FLOAT);
    if (is_mixed && random_chance(20)) {
        given.precision = fft_case_precision(FFTND_LONG_DOUBLE);
    }
    choose_r2r(&given);
    choose_options(&given, has_nodes);
    choose_grid(&given, nranks);
    if (is_mixed && random_chance(75)) {
        choose_axes(&given);
    }
    if (random_chance(40)) {
        fft_random_order(&given);
    }
    if (is_mixed && random_chance(30)) {
        fft_random_kept(&given);
    }
    if (is_mixed && random_chance(20)) {
        fft_random_filled(&given);
    }
    if (is_mixed && random_chance(60)) {
        fft_sides_random(&given);
    }
    choose_configuration(&given);
    given.memory[0] = (enum fft_memory)random_between(0, 3);
    given.memory[1] = (enum fft_memory)random_between(0, 3);
    if (random_chance(30)) {
        given.memory[0] = (enum fft_memory)random_between(FFT_MEMORY_SHARED, FFT_MEMORY_LOCAL);
        given.memory[1] = (enum fft_memory)random_between(FFT_MEMORY_SHARED, FFT_MEMORY_LOCAL);
        given.options.mapped_arrays = random_chance(70);
    }
    given.options.skip_agreement = random_chance(30);
    given.options.phases = random_chance(15);
    given.workspace = random_chance(50) ? FFT_MEMORY_HEAP : FFT_MEMORY_SHARED;
    return given;
}

fft_case fft_random_case(int nranks, int has_nodes) {
    return random_case(nranks, has_nodes, 0);
}

fft_case fft_random_mixed_case(int nranks, int has_nodes) {
    return random_case(nranks, has_nodes, 1);
}

/* Arrays in which groups of lines, pages and vectors end where a row does, or do not. */
static void choose_long_shape(fft_case *given, int nranks) {
    static const int likely[] = {1, 2, 3, 5, 16, 18, 24, 30, 32, 33, 48, 64, 100, 126, 128};
    int sizes[4];
    int left = 40000;
    const int ndims = random_between(nranks == 1 ? 1 : 2, 4);
    for (int axis = 0; axis < ndims; axis++) {
        const int extent = likely[random_between(0, 14)];
        sizes[axis] = extent < left ? extent : left;
        left /= sizes[axis];
    }
    *given = fft_case_make(ndims, sizes, (enum fftnd_kind)random_between(0, 2));
}

fft_case fft_random_padded_case(int nranks) {
    fft_case given;
    choose_long_shape(&given, nranks);
    given.precision = fft_case_precision((enum fftnd_precision)random_between(0, 2));
    choose_r2r(&given);
    choose_options(&given, 0);
    choose_grid(&given, nranks);
    if (random_chance(40)) {
        choose_axes(&given);
    }
    if (random_chance(30)) {
        fft_random_order(&given);
    }
    if (random_chance(20)) {
        fft_random_kept(&given);
    }
    if (random_chance(40)) {
        fft_sides_random(&given);
    }
    for (int side = 0; side < 2; side++) {
        for (int axis = 0; axis < given.ndims; axis++) {
            given.padding[side][axis] = random_chance(50) ? random_between(1, 4) : 0;
            given.offset[side][axis] = random_between(0, given.padding[side][axis]);
        }
        given.memory[side] = (enum fft_memory)random_between(0, 3);
    }
    choose_configuration(&given);
    if (random_chance(50)) {
        unsetenv("FFTND_CONFIGURATION");
        given.options.tile_bytes = 0;
    }
    return given;
}

/* Nonzero if a complex axis has a place behind one. */
static int has_complex_behind(const fft_case *given, int place) {
    for (int i = place + 1; i < given->ndims; i++) {
        if (given->kind != FFTND_MIXED || given->axes[given->order[i]] == FFTND_AXIS_COMPLEX) {
            return 1;
        }
    }
    return 0;
}

void fft_random_order(fft_case *given) {
    const int halved = fft_case_halved_axis(given);
    const int nsplit =
        given->options.grid_ndims > 0 || given->ndims == 1 ? given->options.grid_ndims : 1;
    int *order = given->order;
    random_permutation(given->ndims, order);
    given->has_order = 1;
    for (int i = 0; i < nsplit; i++) {
        if (order[i] == halved && has_complex_behind(given, i)) {
            const int other = random_between(nsplit, given->ndims - 1);
            order[i] = order[other];
            order[other] = halved;
        }
    }
}

/* Chooses some elements along each axis; all of those that are not transformed. */
static void choose_some(fft_case *given, int some[]) {
    given->options.local_transpose = FFTND_LOCAL_TRANSPOSE_AUTO;
    for (int axis = 0; axis < given->ndims; axis++) {
        const int n = given->sizes[axis];
        const int close = n > 2 ? n - random_between(1, 2) : n;
        some[axis] = random_chance(20) ? n : random_chance(20) ? close : random_between(1, n);
        if (given->kind == FFTND_MIXED && given->axes[axis] == FFTND_AXIS_NONE) {
            some[axis] = n;
        }
    }
}

void fft_random_kept(fft_case *given) {
    if (!given->has_bounds[FFTND_SPECTRAL]) { /* which end with the modes that were retained */
        given->drops_modes = 1;
        choose_some(given, given->retained);
    }
}

void fft_random_filled(fft_case *given) {
    if (!given->has_bounds[FFTND_PHYSICAL]) { /* which end with the points that there were */
        given->drops_points = 1;
        choose_some(given, given->filled);
    }
}

fft_case fft_random_filled_boxes(enum fftnd_kind kind) {
    fft_case given = FFT_CASE(kind, 6, 8, 10);
    fft_case_fill(&given, (const int[]){3, 4, 5});
    given.box_seed = random_bits();
    given.has_box[FFTND_PHYSICAL] = 1;
    given.has_box[FFTND_SPECTRAL] = random_chance(50);
    given.options.batch = random_between(1, 2);
    return given;
}

void fft_random_format(fft_case *given) {
    static const char *const methods[] = {NULL, "p2p", "alltoallv", "kway:2"};
    const int nmethods = given->options.ghosts != NULL ? 3 : 4; /* kway moves one box */
    fftnd_options *options = &given->options;
    if (given->precision == FFTND_LONG_DOUBLE) {
        return;
    }
    options->wire = given->precision == FFTND_DOUBLE ? (enum redist_wire)random_between(1, 2)
                                                     : REDIST_WIRE_16_BITS;
    options->wire_scope = REDIST_WIRE_EVERYWHERE;
    options->method = options->asynchronous ? NULL : methods[random_between(0, nmethods - 1)];
}

/* ---------------------------------------------------------------- arrays of a device */

/* Any kinds of axes, and perhaps a halved one. */
static void mix_axes(fft_case *given) {
    given->kind = FFTND_MIXED;
    for (int axis = 0; axis < given->ndims; axis++)
        given->axes[axis] = (enum fftnd_axis)(random_between(0, 2) * 3 / 2);
    if (random_chance(50))
        given->axes[random_between(0, given->ndims - 1)] = FFTND_AXIS_HALVED;
}

fft_case fft_random_device_case(int nranks) {
    int sizes[REDIST_MAX_NDIMS], left = 2000;
    const int ndims = random_between(nranks == 1 ? 1 : 2, 5);
    for (int axis = 0; axis < ndims; axis++) {
        sizes[axis] = choose_extent(left < 14 ? left : 14);
        left /= sizes[axis];
    }
    fft_case given = fft_case_make(ndims, sizes, (enum fftnd_kind)random_between(0, 2));
    fftnd_options *options = &given.options;
    options->space = REDIST_SPACE_CUDA;
    given.precision = fft_case_precision(random_chance(60) ? FFTND_DOUBLE : FFTND_FLOAT);
    fft_random_options(&given);
    options->mapped_arrays = random_chance(20);
    options->skip_agreement = random_chance(20);
    options->phases = random_chance(15);
    choose_grid(&given, nranks);
    for (int side = 0; side < 2; side++)
        given.memory[side] =
            options->mapped_arrays || random_chance(50) ? FFT_MEMORY_SHARED : FFT_MEMORY_HEAP;
    given.workspace = FFT_MEMORY_SHARED;
    for (int axis = 0; axis < ndims; axis++)
        given.r2r[axis] =
            (enum fftnd_r2r)random_between(sizes[axis] > 1 ? FFTND_DCT1 : FFTND_DCT2, FFTND_DHT);
    if (random_chance(30))
        mix_axes(&given);
    if (random_chance(40))
        fft_random_order(&given);
    if (random_chance(40))
        fft_random_kept(&given);
    if (random_chance(30))
        fft_random_filled(&given);
    if (random_chance(30))
        fft_sides_random(&given);
    options->tile_bytes = random_chance(50) ? (size_t)random_between(100, 4000) : 0;
    return given;
}

void fft_use_chunks(int segments, int transposed, int partitions, int stored) {
    char text[160];
    snprintf(text, sizeof(text),
             " fused=0 tiled=0 tile=1 group=%zu nontemporal=1 segments=%d "
             "transposed=%d untiled=0 partitions=%d direct_stores=%d",
             SIZE_MAX, segments, transposed, partitions, stored);
    setenv("FFTND_CONFIGURATION", text, 1);
}
