/* SPDX-License-Identifier: BSD-3-Clause */
#include "pencils.h"
#include "options.h"
#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 3 };

/* The part of an array that a rank has. */
typedef struct part {
    int start[3], count[3];
} part;

/* Messages between two parts of each rank, of types that stand for the elements of a peer; is_needed = 0: none. */
struct hop {
    int is_needed;
    int *counts[2], *places;
    MPI_Datatype *types[2], element;
};

struct bench_pencils {
    int nranks, rank;
    struct hop
        hops[STAGES + 1]; /* before the transform along axis 2, 1 and 0, and behind the last one */
    void *ends[2];        /* the user's arrays */
    void *before[STAGES], *after[STAGES]; /* arrays of the transforms, which may be the same */
    void *owned[2 * STAGES];
    int nowned;
    fftw_plan plans[2][STAGES];
};

/* ---------------------------------------------------------------- messages */

static int overlap(const part *a, const part *b, part *common) {
    for (int axis = 0; axis < 3; axis++) {
        int start = a->start[axis] > b->start[axis] ? a->start[axis] : b->start[axis];
        int end_a = a->start[axis] + a->count[axis], end_b = b->start[axis] + b->count[axis];
        common->start[axis] = start - a->start[axis];
        common->count[axis] = (end_a < end_b ? end_a : end_b) - start;
        if (common->count[axis] <= 0)
            return 0;
    }
    return 1;
}

/* Intersects this rank's part `own` with each rank's part. */
static void find_types(struct hop *hop, int side, int nranks, const part *own, const part parts[]) {
    hop->counts[side] = calloc((size_t)nranks, sizeof(int));
    hop->types[side] = malloc((size_t)nranks * sizeof(MPI_Datatype));
    for (int peer = 0; peer < nranks; peer++) {
        part common;
        hop->types[side][peer] = hop->element;
        hop->counts[side][peer] = overlap(own, &parts[peer], &common);
        if (hop->counts[side][peer] == 0)
            continue;
        MPI_Type_create_subarray(3, own->count, common.count, common.start, MPI_ORDER_C,
                                 hop->element, &hop->types[side][peer]);
        MPI_Type_commit(&hop->types[side][peer]);
    }
}

static void open_hop(const bench_pencils *pencils, const part *from, const part *to,
                     MPI_Datatype element, struct hop *hop) {
    const size_t nranks = (size_t)pencils->nranks;
    part *parts[2] = {malloc(nranks * sizeof(part)), malloc(nranks * sizeof(part))};
    MPI_Allgather(from, sizeof(part), MPI_BYTE, parts[0], sizeof(part), MPI_BYTE, MPI_COMM_WORLD);
    MPI_Allgather(to, sizeof(part), MPI_BYTE, parts[1], sizeof(part), MPI_BYTE, MPI_COMM_WORLD);
    *hop = (struct hop){.is_needed = memcmp(parts[0], parts[1], nranks * sizeof(part)) != 0,
                        .places = calloc(nranks, sizeof(int)),
                        .element = element};
    find_types(hop, 0, pencils->nranks, from, parts[1]);
    find_types(hop, 1, pencils->nranks, to, parts[0]);
    free(parts[0]);
    free(parts[1]);
}

static void close_hop(struct hop *hop, int nranks) {
    for (int side = 0; side < 2; side++) {
        for (int peer = 0; peer < nranks; peer++)
            if (hop->counts[side][peer] > 0)
                MPI_Type_free(&hop->types[side][peer]);
        free(hop->counts[side]);
        free(hop->types[side]);
    }
    free(hop->places);
}

static void run_hop(const struct hop *hop, int direction, const void *from, void *to) {
    const int in = direction == REDIST_FORWARD ? 0 : 1, out = 1 - in;
    if (hop->is_needed)
        MPI_Alltoallw(from, hop->counts[in], hop->places, hop->types[in], to, hop->counts[out],
                      hop->places, hop->types[out], MPI_COMM_WORLD);
}

/* ---------------------------------------------------------------- plans */

static part part_of(const redist_box *box) {
    part result;
    for (int axis = 0; axis < 3; axis++) {
        result.start[axis] = (int)box->start[axis];
        result.count[axis] = (int)box->count[axis];
    }
    return result;
}

/* This rank's pencil along an axis, of a grid of ranks that splits the others. */
static part find_pencil(const bench_pencils *pencils, const redist_index sizes[3], int axis) {
    int dims[2] = {0, 0}, place = 0;
    redist_box box = REDIST_BOX_DEFAULT;
    MPI_Dims_create(pencils->nranks, 2, dims);
    for (int i = 0; i < 3; i++) {
        const int coordinate = place == 0 ? pencils->rank / dims[1] : pencils->rank % dims[1];
        bench_must(redist_decompose(sizes[i], i == axis ? 1 : dims[place],
                                    i == axis ? 0 : coordinate, &box.count[i], &box.start[i]));
        place += i != axis;
    }
    return part_of(&box);
}

static void *own(bench_pencils *pencils, const part *own_part, size_t bytes) {
    for (int axis = 0; axis < 3; axis++)
        bytes *= (size_t)own_part->count[axis];
    void *array = fftw_malloc(bytes > 0 ? bytes : 64);
    if (array == NULL)
        bench_abort("no memory for %zu bytes", bytes);
    memset(array, 0, bytes);
    return pencils->owned[pencils->nowned++] = array;
}

/* The arrays on both sides of each transform: in place, unless one of them is the user's or they differ in size. */
static void find_arrays(bench_pencils *pencils, int is_real, const part *points,
                        const part parts[STAGES]) {
    const size_t complex = sizeof(fftw_complex);
    for (int i = 0; i < STAGES; i++) {
        if (pencils->hops[i].is_needed)
            pencils->before[i] = i > 0 ? own(pencils, &parts[i], complex)
                                       : own(pencils, points, is_real ? sizeof(double) : complex);
        else
            pencils->before[i] = i > 0 ? pencils->after[i - 1] : pencils->ends[0];
        const int differs = i == 0 && (is_real || !pencils->hops[0].is_needed);
        pencils->after[i] = differs ? own(pencils, &parts[i], complex) : pencils->before[i];
    }
    if (!pencils->hops[STAGES].is_needed)
        pencils->after[STAGES - 1] = pencils->ends[1];
}

/* One side of the lines along an axis of a part whose rows have so many elements, and of the loops over them. */
static void find_lines(const part *own_part, int axis, int row, fftw_iodim64 *line,
                       fftw_iodim64 loops[2], int is_output) {
    ptrdiff_t stride[3] = {(ptrdiff_t)own_part->count[1] * row, row, 1};
    fftw_iodim64 *dims[3];
    for (int i = 0, loop = 0; i < 3; i++) {
        dims[i] = i == axis ? line : &loops[loop++];
        dims[i]->n = i == axis && is_output ? dims[i]->n : own_part->count[i];
        *(is_output ? &dims[i]->os : &dims[i]->is) = stride[i];
    }
}

static void plan_complex(bench_pencils *pencils, int stage, const part *own_part) {
    fftw_iodim64 line, loops[2];
    find_lines(own_part, 2 - stage, own_part->count[2], &line, loops, 0);
    find_lines(own_part, 2 - stage, own_part->count[2], &line, loops, 1);
    pencils->plans[0][stage] =
        fftw_plan_guru64_dft(1, &line, 2, loops, pencils->before[stage], pencils->after[stage],
                             FFTW_FORWARD, FFTW_MEASURE);
    pencils->plans[1][stage] =
        fftw_plan_guru64_dft(1, &line, 2, loops, pencils->after[stage], pencils->before[stage],
                             FFTW_BACKWARD, FFTW_MEASURE);
}

static void plan_real(bench_pencils *pencils, const part *points, const part *modes) {
    fftw_iodim64 line, loops[2], back, back_loops[2];
    find_lines(points, 2, points->count[2], &line, loops, 0);
    find_lines(points, 2, modes->count[2], &line, loops, 1);
    find_lines(points, 2, modes->count[2], &back, back_loops, 0);
    find_lines(points, 2, points->count[2], &back, back_loops, 1);
    back.n = line.n;
    pencils->plans[0][0] = fftw_plan_guru64_dft_r2c(1, &line, 2, loops, pencils->before[0],
                                                    pencils->after[0], FFTW_MEASURE);
    pencils->plans[1][0] = fftw_plan_guru64_dft_c2r(1, &back, 2, back_loops, pencils->after[0],
                                                    pencils->before[0], FFTW_MEASURE);
}

bench_pencils *bench_pencils_open(const redist_index sizes[3], int is_real,
                                  const redist_box *physical, void *points,
                                  const redist_box *spectral, void *modes) {
    bench_pencils *pencils = calloc(1, sizeof *pencils);
    const redist_index half[3] = {sizes[0], sizes[1], is_real ? sizes[2] / 2 + 1 : sizes[2]};
    const part ends[2] = {part_of(physical), part_of(spectral)};
    MPI_Comm_size(MPI_COMM_WORLD, &pencils->nranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &pencils->rank);
    pencils->ends[0] = points;
    pencils->ends[1] = modes;
    const part first = find_pencil(pencils, sizes, 2);
    part parts[STAGES];
    for (int i = 0; i < STAGES; i++)
        parts[i] = find_pencil(pencils, half, 2 - i);
    open_hop(pencils, &ends[0], &first, is_real ? MPI_DOUBLE : MPI_C_DOUBLE_COMPLEX,
             &pencils->hops[0]);
    for (int i = 1; i <= STAGES; i++)
        open_hop(pencils, &parts[i - 1], i < STAGES ? &parts[i] : &ends[1], MPI_C_DOUBLE_COMPLEX,
                 &pencils->hops[i]);
    find_arrays(pencils, is_real, &first, parts);
    for (int i = is_real; i < STAGES; i++)
        plan_complex(pencils, i, &parts[i]);
    if (is_real)
        plan_real(pencils, &first, &parts[0]);
    return pencils;
}

/* ---------------------------------------------------------------- executions */

void bench_pencils_run(bench_pencils *pencils, int direction) {
    void **before = pencils->before, **after = pencils->after;
    if (direction == REDIST_FORWARD) {
        for (int i = 0; i < STAGES; i++) {
            run_hop(&pencils->hops[i], direction, i > 0 ? after[i - 1] : pencils->ends[0],
                    before[i]);
            fftw_execute(pencils->plans[direction][i]);
        }
        run_hop(&pencils->hops[STAGES], direction, after[STAGES - 1], pencils->ends[1]);
        return;
    }
    run_hop(&pencils->hops[STAGES], direction, pencils->ends[1], after[STAGES - 1]);
    for (int i = STAGES - 1; i >= 0; i--) {
        fftw_execute(pencils->plans[direction][i]);
        run_hop(&pencils->hops[i], direction, before[i], i > 0 ? after[i - 1] : pencils->ends[0]);
    }
}

void bench_pencils_close(bench_pencils *pencils) {
    for (int i = 0; i < STAGES; i++) {
        fftw_destroy_plan(pencils->plans[0][i]);
        fftw_destroy_plan(pencils->plans[1][i]);
    }
    for (int i = 0; i <= STAGES; i++)
        close_hop(&pencils->hops[i], pencils->nranks);
    for (int i = 0; i < pencils->nowned; i++)
        fftw_free(pencils->owned[i]);
    free(pencils);
}
