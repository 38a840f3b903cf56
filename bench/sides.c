/* SPDX-License-Identifier: BSD-3-Clause */
#include "sides.h"
#include <string.h>

const char *const bench_blocks[] = {"balanced", "ceiling", NULL};

static const struct {
    const char *name;
    enum fftnd_axis axis;
    enum fftnd_r2r r2r;
} words[] = {{"none", FFTND_AXIS_NONE, FFTND_DCT1},  {"c2c", FFTND_AXIS_COMPLEX, FFTND_DCT1},
             {"r2c", FFTND_AXIS_HALVED, FFTND_DCT1}, {"dct1", FFTND_AXIS_R2R, FFTND_DCT1},
             {"dct2", FFTND_AXIS_R2R, FFTND_DCT2},   {"dct3", FFTND_AXIS_R2R, FFTND_DCT3},
             {"dct4", FFTND_AXIS_R2R, FFTND_DCT4},   {"dst1", FFTND_AXIS_R2R, FFTND_DST1},
             {"dst2", FFTND_AXIS_R2R, FFTND_DST2},   {"dst3", FFTND_AXIS_R2R, FFTND_DST3},
             {"dst4", FFTND_AXIS_R2R, FFTND_DST4},   {"r2hc", FFTND_AXIS_R2R, FFTND_R2HC},
             {"hc2r", FFTND_AXIS_R2R, FFTND_HC2R},   {"dht", FFTND_AXIS_R2R, FFTND_DHT}};

enum { NWORDS = sizeof words / sizeof *words };

/* ---------------------------------------------------------------- axes */

static void set_axes(bench_problem *problem) {
    for (int axis = 0; axis < problem->ndims; axis++) {
        int halved = problem->kind == FFTND_R2C && axis == problem->ndims - 1;
        problem->axes[axis] = problem->kind == FFTND_R2R ? FFTND_AXIS_R2R
                              : halved                   ? FFTND_AXIS_HALVED
                                                         : FFTND_AXIS_COMPLEX;
        problem->r2r[axis] = FFTND_DCT2;
    }
}

/* Moves behind the word and the comma that follows it; 0 if it is none of them. */
static int read_word(const char **text, bench_problem *problem, int axis) {
    size_t length = strcspn(*text, ",");
    for (int i = 0; i < NWORDS; i++)
        if (strlen(words[i].name) == length && strncmp(words[i].name, *text, length) == 0) {
            problem->axes[axis] = words[i].axis;
            problem->r2r[axis] = words[i].r2r;
            *text += length + ((*text)[length] == ',');
            return 1;
        }
    return 0;
}

static int is_list_of(const bench_list *list, int count) {
    return list->count == 0 || list->count == count;
}

int bench_sides_read(const bench_program *program, const bench_sides *sides,
                     bench_problem *problem) {
    const char *text = sides->axes;
    set_axes(problem);
    for (int axis = 0; text != NULL && axis < problem->ndims; axis++) {
        problem->kind = FFTND_MIXED;
        if (!read_word(&text, problem, axis))
            return bench_refuse(program, "--axes '%s' is not a list of %d kinds", sides->axes,
                                problem->ndims);
        if (problem->axes[axis] == FFTND_AXIS_HALVED && axis != problem->ndims - 1)
            return bench_refuse(program, "--axes: only the last axis may be r2c here");
    }
    if (text != NULL && *text != '\0')
        return bench_refuse(program, "--axes '%s' has more than %d kinds", sides->axes,
                            problem->ndims);
    if (!is_list_of(&sides->memory_order[0], problem->ndims) ||
        !is_list_of(&sides->memory_order[1], problem->ndims))
        return bench_refuse(program, "--memory-in and --memory-out have %d axes", problem->ndims);
    if (!is_list_of(&sides->retained, problem->ndims))
        return bench_refuse(program, "--retained has %d numbers", problem->ndims);
    return is_list_of(&sides->filled, problem->ndims)
               ? 0
               : bench_refuse(program, "--filled has %d numbers", problem->ndims);
}

/* ---------------------------------------------------------------- sides */

/* Ranks in the order of a grid of as many dimensions as there are axes. */
static void find_brick(const bench_problem *problem, enum fftnd_side side, redist_box *box) {
    int nranks, rank, dims[REDIST_MAX_NDIMS] = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Dims_create(nranks, problem->ndims, dims);
    *box = REDIST_BOX_DEFAULT;
    for (int axis = problem->ndims - 1; axis >= 0; axis--) {
        int halved = problem->axes[axis] == FFTND_AXIS_HALVED && side == FFTND_SPECTRAL;
        redist_index size = problem->sizes[axis];
        bench_must(redist_decompose(halved ? size / 2 + 1 : size, dims[axis], rank % dims[axis],
                                    &box->count[axis], &box->start[axis]));
        rank /= dims[axis];
    }
}

/* Copies a list; NULL = it is empty. */
static const redist_index *copy_list(const bench_list *list, redist_index copy[]) {
    for (int i = 0; i < list->count; i++)
        copy[i] = list->values[i];
    return list->count > 0 ? copy : NULL;
}

void bench_sides_fill(const bench_sides *sides, const bench_problem *problem,
                      fftnd_options *options) {
    static redist_box boxes[2];
    static redist_index retained[REDIST_MAX_NDIMS], filled[REDIST_MAX_NDIMS];
    options->retained_modes = copy_list(&sides->retained, retained);
    options->filled = copy_list(&sides->filled, filled);
    options->r2r = problem->r2r;
    options->axes = problem->kind == FFTND_MIXED ? problem->axes : NULL;
    for (int side = 0; side < 2; side++) {
        const bench_list *split = &sides->split[side], *memory = &sides->memory_order[side];
        options->split[side] = split->count > 0 ? split->values : NULL;
        options->memory_order[side] = memory->count > 0 ? memory->values : NULL;
        options->blocks[side] = (enum fftnd_blocks)sides->blocks;
        if (!sides->bricks)
            continue;
        find_brick(problem, (enum fftnd_side)side, &boxes[side]);
        options->box[side] = &boxes[side];
    }
}
