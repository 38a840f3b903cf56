/* SPDX-License-Identifier: BSD-3-Clause */
/* lines-host-bench: kernels that transform lines of a cube on the host, and their variants, beside FFTW. No MPI. */
#include "../liblines/clock.h"
#include "../liblines/host/columns.h"
#include "sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: lines-host-bench [N,N,...|random:COUNT:SEED [ROUNDS [double|float]]]\n"
    "Transforms lines of a cube of N^3 from array to array: x, y, z = complex ones along its "
    "first,\n"
    "second and last axis, r, c = real to complex ones along the last axis, and back. A row has\n"
    "FFTW's milliseconds, then over these the time of each library that is suited, * = the one\n"
    "that plans take, and of each variant of columns or contiguous lines: its radix passes and,\n"
    "of columns, the groups that are transformed at once. Medians of ROUNDS (11), interleaved.\n";

enum { ALIGNMENT = 64, MOST = 2 + LINES__WAYS * 2 + 4, MOST_ROUNDS = 101, NAME_BYTES = 64 };

struct candidate {
    char name[NAME_BYTES];
    struct lines__plan plan;
    double seconds[MOST_ROUNDS];
};

struct cube {
    char layout;
    struct lines__problem problem;
    void *in, *out;
    int count;
    struct candidate candidates[MOST];
};

static void must(int code) {
    if (code != REDIST_OK) {
        fprintf(stderr, "lines-host-bench: %s\n", redist_error_message());
        exit(1);
    }
}

/* Strides of a side whose rows have `row` elements. */
static void set_strides(int out, ptrdiff_t n, ptrdiff_t row, struct lines__loop loops[3]) {
    const ptrdiff_t strides[] = {n * row, row, 1};
    for (int i = 0; i < 3; i++) {
        loops[i].n = n;
        *(out ? &loops[i].out : &loops[i].in) = strides[i];
    }
}

static struct lines__problem describe(char layout, int n, enum fftnd_precision precision) {
    int is_real = layout == 'r' || layout == 'c', axis = layout == 'x' ? 0 : layout == 'y' ? 1 : 2;
    struct lines__problem problem = {.kind = is_real ? FFTND_R2C : FFTND_C2C,
                                     .precision = precision,
                                     .direction = layout == 'c' ? REDIST_BACKWARD : REDIST_FORWARD,
                                     .effort = FFTND_MEASURE,
                                     .seconds = 1,
                                     .naxes = 1,
                                     .general = lines__library_for(REDIST_SPACE_HOST)};
    struct lines__loop loops[3];
    set_strides(layout == 'c', n, is_real ? n / 2 * 2 + 2 : n, loops);
    set_strides(layout != 'c', n, is_real ? n / 2 + 1 : n, loops);
    for (int i = 0; i < 3; i++)
        *(i == axis ? &problem.axes[0] : &problem.loops[problem.nloops++]) = loops[i];
    return problem;
}

/* ---------------------------------------------------------------- candidates */

static void add_library(struct cube *cube, const struct lines__library *library, int is_chosen) {
    struct candidate *candidate = &cube->candidates[cube->count++];
    snprintf(candidate->name, NAME_BYTES, "%s%s", library->name, is_chosen ? "*" : "");
    must(lines__create(library, &cube->problem, cube->in, cube->out, &candidate->plan));
}

/* The general library first. */
static void add_libraries(struct cube *cube) {
    const struct lines__problem *problem = &cube->problem;
    const struct lines__library *chosen = lines__choose(problem, cube->in, cube->out), *library;
    add_library(cube, problem->general, chosen == problem->general);
    for (int i = 0; (library = lines__library_at(i)) != NULL; i++)
        if (library->percent != NULL && library->percent(problem, cube->in, cube->out) > 0)
            add_library(cube, library, library == chosen);
}

static void name_variant(const struct lines__radices *radices, int groups, char name[]) {
    int length = 0;
    for (int i = 0; i < radices->n; i++)
        length += snprintf(name + length, NAME_BYTES - (size_t)length, "%s%d", i > 0 ? "." : "",
                           radices->radix[i]);
    if (groups > 0)
        snprintf(name + length, NAME_BYTES - (size_t)length, "/%d", groups);
}

/* `groups` of columns at once; 0 = contiguous lines. */
static void add_variant(struct cube *cube, const struct lines__radices *radices, int groups) {
    const struct lines__column_loops *loops = lines__column_loops_here();
    struct candidate *candidate = &cube->candidates[cube->count];
    struct lines__plan *plan = &candidate->plan;
    plan->library = groups > 0 ? &lines__library_columns : &lines__library_contiguous;
    int code = groups > 0
                   ? lines__columns_create(loops, &cube->problem, radices, groups, &plan->data)
                   : lines__contiguous_create(loops, &cube->problem, radices, &plan->data);
    name_variant(radices, groups, candidate->name);
    cube->count += code == REDIST_OK;
}

static void add_variants(struct cube *cube) {
    const struct lines__column_loops *loops = lines__column_loops_here();
    int n = (int)cube->problem.axes[0].n, is_real = cube->problem.kind == FFTND_R2C;
    int at_once = LINES__AT_ONCE_BYTES / (2 * loops->register_bytes);
    struct lines__radices radices;
    for (int way = 0;
         !(is_real && n % 2 != 0) && lines__radices_at(loops, is_real ? n / 2 : n, way, &radices);
         way++)
        if (cube->layout == 'x' || cube->layout == 'y') {
            add_variant(cube, &radices, 1);
            add_variant(cube, &radices, at_once);
        } else
            add_variant(cube, &radices, 0);
}

/* ---------------------------------------------------------------- times */

static int compare(const void *a, const void *b) {
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static double median(struct candidate *candidate, int rounds) {
    qsort(candidate->seconds, (size_t)rounds, sizeof candidate->seconds[0], compare);
    return candidate->seconds[rounds / 2];
}

/* A round before the first one fetches code and factors. */
static void time_rounds(struct cube *cube, int rounds) {
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < cube->count; i++) {
            double begin = lines__clock();
            must(lines__execute(&cube->candidates[i].plan, cube->in, cube->out));
            cube->candidates[i].seconds[round > 0 ? round : 0] = lines__clock() - begin;
        }
}

static void measure(char layout, int n, enum fftnd_precision precision, int rounds) {
    static struct cube cube;
    size_t bytes = (size_t)n * (size_t)n * (size_t)(n + 2) * lines__item_bytes(precision, 0);
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    cube = (struct cube){.layout = layout, .problem = describe(layout, n, precision)};
    cube.in = aligned_alloc(ALIGNMENT, bytes);
    cube.out = aligned_alloc(ALIGNMENT, bytes);
    if (cube.in == NULL || cube.out == NULL)
        must(redist_fail_in("lines-host-bench", REDIST_ERR_MEMORY, "no memory for %d^3", n));
    add_libraries(&cube);
    add_variants(&cube);
    memset(cube.in, 0, bytes); /* what planning left may overflow */
    memset(cube.out, 0, bytes);
    time_rounds(&cube, rounds);
    double general = median(&cube.candidates[0], rounds);
    printf("%-5d %c  %s %.3f ms", n, layout, cube.candidates[0].name, 1e3 * general);
    for (int i = 1; i < cube.count; i++)
        printf("  %s %.2f", cube.candidates[i].name, median(&cube.candidates[i], rounds) / general);
    printf("\n");
    for (int i = 0; i < cube.count; i++)
        lines__destroy(&cube.candidates[i].plan);
    free(cube.in);
    free(cube.out);
}

int main(int argc, char **argv) {
    int count = 0,
        *sizes = bench_read_sizes(argc > 1 ? argv[1] : "48,64,96,128,127,200,256", &count);
    long long rounds = 11;
    int is_float = argc > 3 && strcmp(argv[3], "float") == 0;
    if (sizes == NULL || argc > 4 ||
        (argc > 2 && !redist_read_number(argv[2], 1, MOST_ROUNDS, &rounds)) ||
        (argc > 3 && !is_float && strcmp(argv[3], "double") != 0)) {
        free(sizes);
        fputs(usage, stderr);
        return 2;
    }
    const enum fftnd_precision precision = is_float ? FFTND_FLOAT : FFTND_DOUBLE;
    const char *lacks = lines__library_for(REDIST_SPACE_HOST)->lacks(precision);
    if (lacks != NULL)
        must(redist_fail_in("lines-host-bench", REDIST_ERR_ARGUMENT, "%s", lacks));
    for (int i = 0; i < count; i++)
        for (const char *layout = "xyzrc"; *layout != '\0'; layout++)
            measure(*layout, sizes[i], precision, (int)rounds);
    free(sizes);
    return 0;
}
