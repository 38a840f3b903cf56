/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stagings[] = {"auto", "staged", "aware", NULL};
static const char *const layouts[] = {"default", "realigned", "auto", NULL};
static const char *const fusions[] = {"auto", "never", "always", NULL};
static const char *const kinds[] = {"c2c", "r2c", "r2r", NULL};
static const char *const precisions[] = {"double", "float", NULL};
static const char *const directions[] = {"forward", "backward", NULL};

const char *const *const study_choice_words[STUDY_CHOICES] = {
    [STUDY_SPACE] = bench_spaces,  [STUDY_STAGING] = stagings, [STUDY_LAYOUT] = layouts,
    [STUDY_FUSION] = fusions,      [STUDY_KIND] = kinds,       [STUDY_PRECISION] = precisions,
    [STUDY_DIRECTION] = directions};

/* ---------------------------------------------------------------- grids */

static int same_grid(const bench_list *a, const bench_list *b) {
    return a->count == b->count &&
           memcmp(a->values, b->values, (size_t)a->count * sizeof *a->values) == 0;
}

static void add_ordered(study_sweep *sweep, const bench_list *grid, int last_second) {
    for (int i = 0; i < sweep->ngrids; i++)
        if (same_grid(&sweep->grids[i], grid) && sweep->last_second[i] == last_second)
            return;
    if (sweep->ngrids == STUDY_MOST_GRIDS)
        return;
    sweep->last_second[sweep->ngrids] = last_second;
    sweep->grids[sweep->ngrids++] = *grid;
}

static void add_grid(study_sweep *sweep, const bench_list *grid) {
    add_ordered(sweep, grid, 0);
}

/* All ranks along the last dimension. */
static void add_slab(study_sweep *sweep, int grid_ndims, int last_second) {
    bench_list grid = {grid_ndims, {0}};
    for (int i = 0; i < grid_ndims; i++)
        grid.values[i] = i == grid_ndims - 1 ? sweep->nranks : 1;
    if (grid_ndims > 0)
        add_ordered(sweep, &grid, last_second);
}

/* All ways to write `rest` as a product of factors above 1, from dimension `dim` on. */
static void add_factors(study_sweep *sweep, bench_list *grid, int dim, int rest) {
    if (dim == grid->count - 1) {
        grid->values[dim] = rest;
        if (rest > 1)
            add_grid(sweep, grid);
        return;
    }
    for (int factor = rest; factor > 1; factor--)
        if (rest % factor == 0) {
            grid->values[dim] = factor;
            add_factors(sweep, grid, dim + 1, rest / factor);
        }
}

static void add_grids(study_sweep *sweep, int least, int most) {
    for (int n = least; n <= most; n++) {
        bench_list grid = {n, {0}};
        add_factors(sweep, &grid, 0, sweep->nranks);
    }
}

/* Nonzero if the word is a grid of numbers; one for other numbers of ranks is passed over. */
static int add_numbers(study_sweep *sweep, const char *word) {
    bench_list grid = {0, {0}};
    long product = 1;
    char *end = (char *)(size_t)word;
    do {
        const char *from = end + (grid.count > 0);
        long value = strtol(from, &end, 10);
        if (end == from || value < 1 || value > 1 << 20 || grid.count == REDIST_MAX_NDIMS - 1)
            return 0;
        product *= product <= sweep->nranks ? value : 1;
        grid.values[grid.count++] = (int)value;
    } while (*end == 'x');
    if (*end == '\0' && product == sweep->nranks && grid.count < sweep->job->ndims)
        add_grid(sweep, &grid);
    return *end == '\0';
}

enum { AUTO, SLAB_2D_1D, SLAB_1D_2D, SLAB_LATE, PENCIL, HIGHER, ALL, WORDS };

static const char *const words[WORDS] = {"auto",   "slab-2d-1d", "slab-1d-2d", "slab-late",
                                         "pencil", "higher",     "all"};

/* With one rank, or two axes, there is only one slab. */
static void add_kind(study_sweep *sweep, int kind) {
    int most = sweep->job->ndims - 1, several = most > 1 && sweep->nranks > 1;
    const bench_list chosen = {0, {0}};
    if (kind == AUTO)
        add_grid(sweep, &chosen);
    else if (kind == SLAB_2D_1D)
        add_slab(sweep, most < 1 ? most : 1, 0);
    else if (kind == SLAB_1D_2D && several)
        add_slab(sweep, 1, 1);
    else if (kind == SLAB_LATE && several)
        add_slab(sweep, most, 0);
    else if (kind == PENCIL)
        add_grids(sweep, 2, most < 2 ? most : 2);
    else if (kind == HIGHER)
        add_grids(sweep, 3, most);
}

static int add_word(study_sweep *sweep, const char *word) {
    int kind = 0;
    while (kind < WORDS && strcmp(words[kind], word) != 0)
        kind++;
    if (kind == WORDS)
        return add_numbers(sweep, word);
    for (int i = kind == ALL ? SLAB_2D_1D : kind; i <= (kind == ALL ? HIGHER : kind); i++)
        add_kind(sweep, i);
    return 1;
}

/* 0, d - 1, 1, 2, ... */
static void set_order(study_sweep *sweep) {
    int ndims = sweep->job->ndims;
    for (int i = 0; i < ndims; i++)
        sweep->order[i] = i < 2 ? i * (ndims - 1) : i - 1;
}

int study_sweep_create(const study_job *job, int nranks, study_sweep *sweep, size_t bytes,
                       char fault[]) {
    *sweep = (study_sweep){.job = job, .nranks = nranks};
    set_order(sweep);
    for (int i = 0; i < job->ngrids; i++)
        if (!add_word(sweep, job->grids[i])) {
            snprintf(fault, bytes, "\"grids\": \"%s\" is not known", job->grids[i]);
            return 0;
        }
    if (sweep->ngrids > 0)
        return 1;
    snprintf(fault, bytes, "\"grids\": none of them is one of %d ranks and %d axes", nranks,
             job->ndims);
    return 0;
}

const char *study_decomposition(const study_config *config) {
    const bench_list *grid = &config->grid;
    int above = 0, first = 0;
    for (int i = grid->count - 1; i >= 0; i--)
        if (grid->values[i] > 1) {
            above++;
            first = i;
        }
    if (grid->count == 0)
        return "auto";
    if (above == 1 && first > 0)
        return "slab-late";
    if (above < 2)
        return above == 0 ? "single" : config->order != NULL ? "slab-1d-2d" : "slab-2d-1d";
    return above == 2 ? "pencil" : "higher";
}

const char *study_times(int count, const int values[], size_t bytes, char text[]) {
    size_t used = 0;
    snprintf(text, bytes, "auto");
    for (int i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%d", i > 0 ? "x" : "", values[i]);
    return text;
}

/* ---------------------------------------------------------------- configurations */

/* The digits of a configuration's number, the fastest first. */
static const enum study_choice order[] = {STUDY_STAGING, STUDY_LAYOUT,    STUDY_FUSION,
                                          STUDY_SPACE,   STUDY_PRECISION, STUDY_KIND};
enum { ORDERED = sizeof order / sizeof *order };

int study_sweep_count(const study_sweep *sweep) {
    int count = sweep->job->nsizes * sweep->ngrids * sweep->job->methods.count;
    for (int i = 0; i < ORDERED; i++)
        count *= sweep->job->choices[order[i]].count;
    return count;
}

static int next_digit(int *index, int base) {
    int digit = *index % base;
    *index /= base;
    return digit;
}

/* Whether how MPI gets arrays of a device makes no difference to an exchange. */
static int is_without_mpi(const study_config *config) {
    size_t length = strcspn(config->method, ":");
    return config->choice[STUDY_SPACE] == 0 ||
           (length == 6 && strncmp(config->method, "direct", length) == 0) ||
           (length == 4 && strncmp(config->method, "nccl", length) == 0);
}

int study_sweep_config(const study_sweep *sweep, int index, study_config *config) {
    const study_job *job = sweep->job;
    int first_staging = index % job->choices[STUDY_STAGING].count == 0;
    *config = (study_config){0};
    for (int i = 0; i < ORDERED; i++) {
        const bench_list *list = &job->choices[order[i]];
        config->choice[order[i]] = list->values[next_digit(&index, list->count)];
    }
    config->method = job->methods.names[next_digit(&index, job->methods.count)];
    int grid = next_digit(&index, sweep->ngrids);
    config->grid = sweep->grids[grid];
    config->order = sweep->last_second[grid] ? sweep->order : NULL;
    config->sizes = job->sizes[index];
    for (int axis = 0; axis < job->ndims; axis++)
        config->extents[axis] = config->sizes[axis];
    config->without_mpi = is_without_mpi(config);
    if (!config->without_mpi)
        return 1;
    config->choice[STUDY_STAGING] = 0;
    return first_staging;
}
