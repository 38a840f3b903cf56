/* SPDX-License-Identifier: BSD-3-Clause */
/* Structures of callers that were built with an older or a newer header, and their initialisers. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fftnd.h"
#include "harness.h"
#include "redist_halo.h"
#include "redist_model.h"

enum { ROOM = 4096, NEWER = 40, GARBAGE = 0x5a };

/* What a caller passes: a structure and the bytes behind it. */
union passed {
    size_t size;
    unsigned char bytes[ROOM];
    redist_box box;
    redist_options options;
    redist_halo halo;
    redist_plan_info info;
    redist_phases phases;
    redist_model model;
    fftnd_options fft_options;
    fftnd_layout layout;
    fftnd_plan_info fft_info;
    fftnd_phases fft_phases;
};

/* Behind the last field there is no padding: a newer field could lie in it, and an older caller would fill it with
 * anything. */
#define ENDS_WITH(type, field)                                                                     \
    _Static_assert(offsetof(type, field) + sizeof(((type *)0)->field) == sizeof(type) &&           \
                       offsetof(type, size) == 0,                                                  \
                   #type)
ENDS_WITH(redist_box, offset);
ENDS_WITH(redist_options, wire_scope);
ENDS_WITH(redist_halo, reserved);
ENDS_WITH(redist_plan_info, sent_bytes);
ENDS_WITH(redist_phases, own_part);
ENDS_WITH(redist_model, network);
ENDS_WITH(fftnd_options, filled);
ENDS_WITH(fftnd_layout, offset);
ENDS_WITH(fftnd_plan_info, operator_bytes);
ENDS_WITH(fftnd_phases, rest);

/* ---------------------------------------------------------------- initialisers */

static redist_box box_defaults;
static redist_options options_defaults;
static redist_halo halo_defaults;
static redist_plan_info info_defaults;
static redist_phases phases_defaults;
static redist_model model_defaults;
static fftnd_options fft_options_defaults;
static fftnd_layout layout_defaults;
static fftnd_plan_info fft_info_defaults;
static fftnd_phases fft_phases_defaults;

static void assign_defaults(void) {
    box_defaults = REDIST_BOX_DEFAULT;
    options_defaults = REDIST_OPTIONS_DEFAULT;
    halo_defaults = REDIST_HALO_DEFAULT;
    info_defaults = REDIST_PLAN_INFO_DEFAULT;
    phases_defaults = REDIST_PHASES_DEFAULT;
    model_defaults = REDIST_MODEL_DEFAULT;
    fft_options_defaults = FFTND_OPTIONS_DEFAULT;
    layout_defaults = FFTND_LAYOUT_DEFAULT;
    fft_info_defaults = FFTND_PLAN_INFO_DEFAULT;
    fft_phases_defaults = FFTND_PHASES_DEFAULT;
}

#define INITIALISER(type)                                                                          \
    static int init_##type(union passed *passed, size_t size) {                                    \
        return type##_init((void *)passed, size);                                                  \
    }
INITIALISER(redist_box)
INITIALISER(redist_options)
INITIALISER(redist_halo)
INITIALISER(redist_plan_info)
INITIALISER(redist_phases)
INITIALISER(redist_model)
INITIALISER(fftnd_options)
INITIALISER(fftnd_layout)
INITIALISER(fftnd_plan_info)
INITIALISER(fftnd_phases)

static const struct structure {
    const char *name;
    size_t bytes;
    const void *defaults;
    int (*init)(union passed *passed, size_t size);
} structures[] = {
    {"redist_box", sizeof(redist_box), &box_defaults, init_redist_box},
    {"redist_options", sizeof(redist_options), &options_defaults, init_redist_options},
    {"redist_plan_info", sizeof(redist_plan_info), &info_defaults, init_redist_plan_info},
    {"redist_phases", sizeof(redist_phases), &phases_defaults, init_redist_phases},
    {"redist_model", sizeof(redist_model), &model_defaults, init_redist_model},
    {"fftnd_options", sizeof(fftnd_options), &fft_options_defaults, init_fftnd_options},
    {"fftnd_layout", sizeof(fftnd_layout), &layout_defaults, init_fftnd_layout},
    {"fftnd_plan_info", sizeof(fftnd_plan_info), &fft_info_defaults, init_fftnd_plan_info},
    {"fftnd_phases", sizeof(fftnd_phases), &fft_phases_defaults, init_fftnd_phases},
    {"redist_halo", sizeof(redist_halo), &halo_defaults, init_redist_halo},
};
enum { STRUCTURES = sizeof structures / sizeof *structures };

/* Bytes from `first` on, below `end`, that are not `value`. */
static int others(const union passed *passed, size_t first, size_t end, int value) {
    int count = 0;
    for (size_t i = first; i < end; i++)
        count += passed->bytes[i] != value;
    return count;
}

static void check_init(const struct structure *structure, size_t size) {
    union passed passed;
    size_t both = size < structure->bytes ? size : structure->bytes;
    memset(&passed, GARBAGE, sizeof passed);
    harness_case("%s of %zu bytes instead of %zu", structure->name, size, structure->bytes);
    check_ok(structure->init(&passed, size));
    check_all(passed.size == size, "its size is %zu", passed.size);
    check_all(memcmp(passed.bytes + sizeof size, (const char *)structure->defaults + sizeof size,
                     both - sizeof size) == 0,
              "it is not the default one");
    check_all(others(&passed, both, size, 0) == 0, "newer fields are not 0");
    check_all(others(&passed, size, sizeof passed, GARBAGE) == 0, "bytes behind it were written");
}

START_TEST(initialisers) {
    for (int i = 0; i < STRUCTURES; i++) {
        const size_t bad[] = {0, 4, structures[i].bytes + 1, (size_t)1 << 40};
        union passed passed;
        for (size_t size = sizeof size; size <= structures[i].bytes + NEWER; size += sizeof size)
            check_init(&structures[i], size);
        for (int j = 0; j < 4; j++)
            check_code(structures[i].init(&passed, bad[j]), REDIST_ERR_ARGUMENT);
        check_code(structures[i].init(NULL, structures[i].bytes), REDIST_ERR_NULL);
    }
}
END_TEST

/* ---------------------------------------------------------------- what callers pass */

static const redist_index square[2] = {4, 4};
static double array_a[64], array_b[64];

static int pass_box(const union passed *passed) {
    redist_box own = REDIST_BOX_DEFAULT;
    redist_plan *plan = NULL;
    int code = redist_plan_boxes(MPI_COMM_SELF, MPI_DOUBLE, 2, square, &passed->box, array_a, &own,
                                 array_b, NULL, &plan);
    redist_plan_free(&plan);
    return code;
}

static int pass_options(const union passed *passed) {
    redist_plan *plan = NULL;
    int code = redist_plan_exchange(MPI_COMM_SELF, MPI_DOUBLE, 2, square, array_a, 0, square,
                                    array_b, 1, &passed->options, &plan);
    redist_plan_free(&plan);
    return code;
}

static int pass_halo(const union passed *passed) {
    const redist_box own = {.size = sizeof(redist_box), .count = {square[0], square[1]}};
    redist_plan *plan = NULL;
    int code = redist_plan_halo(MPI_COMM_SELF, MPI_DOUBLE, 2, square, &own, array_a, &passed->halo,
                                NULL, &plan);
    check_ok(redist_plan_free(&plan));
    return code;
}

static int pass_options_to_fit(const union passed *passed) {
    redist_model model = REDIST_MODEL_DEFAULT;
    return redist_model_fit(MPI_COMM_SELF, &passed->options, &model);
}

static int pass_model(const union passed *passed) {
    const int grid[1] = {1};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    double seconds;
    options.grid_ndims = 1;
    options.grid = grid;
    return fftnd_predict(&passed->model, 1, 2, square, FFTND_C2C, FFTND_DOUBLE, &options, &seconds);
}

static int pass_fft_options(const union passed *passed) {
    fftnd_plan *plan = NULL;
    int code = fftnd_plan_create(MPI_COMM_SELF, 2, square, FFTND_C2C, FFTND_DOUBLE,
                                 &passed->fft_options, &plan);
    fftnd_plan_free(&plan);
    return code;
}

static const struct {
    int structure;
    const char *name;
    int (*pass)(const union passed *passed);
} passes[] = {
    {0, "box_a", pass_box},   {1, "options", pass_options},     {1, "options", pass_options_to_fit},
    {4, "model", pass_model}, {5, "options", pass_fft_options}, {9, "halo", pass_halo}};

/* An older caller has something else behind its structure. */
START_TEST(older_and_newer_arguments) {
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        const struct structure *structure = &structures[passes[i].structure];
        for (size_t size = sizeof size; size <= structure->bytes + NEWER; size += sizeof size) {
            union passed passed;
            memset(&passed, GARBAGE, sizeof passed);
            check_ok(structure->init(&passed, size));
            harness_case("%s of %zu bytes instead of %zu", structure->name, size, structure->bytes);
            check_ok(passes[i].pass(&passed));
            if (size <= structure->bytes)
                continue;
            passed.bytes[size - 1] = 1;
            check_code(passes[i].pass(&passed), REDIST_ERR_ARGUMENT);
            check_all(strstr(redist_error_message(), passes[i].name) != NULL &&
                          strstr(redist_error_message(), "is older") != NULL,
                      "%s", redist_error_message());
        }
    }
}
END_TEST

START_TEST(no_sizes) {
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        const struct structure *structure = &structures[passes[i].structure];
        const size_t bad[] = {0, 1, 13, (size_t)GARBAGE << 32};
        for (int j = 0; j < 4; j++) {
            union passed passed;
            check_ok(structure->init(&passed, structure->bytes));
            passed.size = bad[j];
            harness_case("%s with size = %zu", structure->name, bad[j]);
            check_code(passes[i].pass(&passed), REDIST_ERR_ARGUMENT);
            check_all(strstr(redist_error_message(), "_DEFAULT") != NULL, "%s",
                      redist_error_message());
        }
    }
}
END_TEST

/* The fields that a caller does have count. */
START_TEST(older_fields_count) {
    union passed passed;
    check_ok(redist_options_init(&passed.options, offsetof(redist_options, tiles)));
    passed.options.space = (enum redist_space)99;
    check_code(pass_options(&passed), REDIST_ERR_ARGUMENT);
    check_ok(redist_options_init(&passed.options, offsetof(redist_options, space)));
    passed.options.space = (enum redist_space)99;
    check_ok(pass_options(&passed));
}
END_TEST

/* ---------------------------------------------------------------- what callers get */

static redist_grid *grid;
static redist_plan *plan;
static fftnd_plan *fft_plan;

static int get_box(union passed *passed) {
    static const int axes[1] = {1};
    return redist_grid_box(grid, 2, square, axes, &passed->box);
}

static int get_info(union passed *passed) {
    return redist_plan_get_info(plan, &passed->info);
}

static int get_phases(union passed *passed) {
    return redist_plan_get_phases(plan, &passed->phases);
}

static int get_model(union passed *passed) {
    return redist_model_fit(MPI_COMM_SELF, NULL, &passed->model);
}

static int get_layout(union passed *passed) {
    return fftnd_plan_layout(fft_plan, FFTND_SPECTRAL, &passed->layout);
}

static int get_fft_info(union passed *passed) {
    return fftnd_plan_get_info(fft_plan, &passed->fft_info);
}

static int get_fft_phases(union passed *passed) {
    return fftnd_plan_get_phases(fft_plan, &passed->fft_phases);
}

static const struct {
    int structure;
    const char *name;
    int (*get)(union passed *passed);
} results[] = {{0, "box", get_box},          {2, "info", get_info},     {3, "phases", get_phases},
               {4, "model", get_model},      {6, "layout", get_layout}, {7, "info", get_fft_info},
               {8, "phases", get_fft_phases}};

static void make_plans(void) {
    const int any[1] = {0};
    const redist_index halves[2] = {4, 4};
    redist_options options = REDIST_OPTIONS_DEFAULT;
    fftnd_options fft_options = FFTND_OPTIONS_DEFAULT;
    options.phases = fft_options.phases = 1;
    check_ok(redist_grid_create(MPI_COMM_SELF, 1, any, &grid));
    check_ok(redist_plan_exchange(MPI_COMM_SELF, MPI_DOUBLE, 2, halves, array_a, 0, halves, array_b,
                                  1, &options, &plan));
    check_ok(redist_plan_execute(plan, REDIST_FORWARD));
    check_ok(fftnd_plan_create(MPI_COMM_SELF, 2, halves, FFTND_C2C, FFTND_DOUBLE, &fft_options,
                               &fft_plan));
    check_ok(fftnd_forward(fft_plan, array_a, array_b));
}

static void free_plans(void) {
    check_ok(redist_grid_free(&grid));
    check_ok(redist_plan_free(&plan));
    check_ok(fftnd_plan_free(&fft_plan));
}

START_TEST(older_and_newer_results) {
    make_plans();
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        const struct structure *structure = &structures[results[i].structure];
        union passed full;
        check_ok(structure->init(&full, structure->bytes));
        check_ok(results[i].get(&full));
        for (size_t size = sizeof size; size <= structure->bytes + NEWER; size += sizeof size) {
            union passed passed;
            size_t both = size < structure->bytes ? size : structure->bytes;
            memset(&passed, GARBAGE, sizeof passed);
            check_ok(structure->init(&passed, size));
            harness_case("%s of %zu bytes instead of %zu", structure->name, size, structure->bytes);
            check_ok(results[i].get(&passed));
            check_all(passed.size == size, "its size became %zu", passed.size);
            check_all(others(&passed, size, sizeof passed, GARBAGE) == 0,
                      "bytes behind it were written");
            int same = memcmp(passed.bytes + sizeof size, full.bytes + sizeof size,
                              both - sizeof size) == 0;
            check_all(same || results[i].get == get_model, "it differs from the full one");
        }
    }
    free_plans();
}
END_TEST

START_TEST(no_sizes_of_results) {
    make_plans();
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        const size_t bad[] = {0, 1, 13, (size_t)GARBAGE << 32};
        for (int j = 0; j < 4; j++) {
            union passed passed;
            memset(&passed, GARBAGE, sizeof passed);
            passed.size = bad[j];
            harness_case("%s->size = %zu", results[i].name, bad[j]);
            check_code(results[i].get(&passed), REDIST_ERR_ARGUMENT);
            check_all(others(&passed, sizeof passed.size, sizeof passed, GARBAGE) == 0,
                      "a refused call wrote its result");
        }
    }
    free_plans();
}
END_TEST

/* ---------------------------------------------------------------- versions */

START_TEST(versions) {
    int redist[3] = {-1, -1, -1}, fft[3] = {-1, -1, -1};
    char text[32];
    redist_version(&redist[0], &redist[1], &redist[2]);
    fftnd_version(&fft[0], &fft[1], &fft[2]);
    check_all(redist[0] == REDIST_VERSION_MAJOR && redist[1] == REDIST_VERSION_MINOR &&
                  redist[2] == REDIST_VERSION_PATCH,
              "libredist says %d.%d.%d", redist[0], redist[1], redist[2]);
    check_all(memcmp(redist, fft, sizeof fft) == 0, "libfftnd says %d.%d.%d", fft[0], fft[1],
              fft[2]);
    snprintf(text, sizeof text, "%d.%d.%d", FFTND_VERSION_MAJOR, FFTND_VERSION_MINOR,
             FFTND_VERSION_PATCH);
    check_all(strcmp(text, PROJECT_VERSION) == 0, "fftnd.h says %s, the build %s", text,
              PROJECT_VERSION);
    redist_version(NULL, NULL, NULL);
    fftnd_version(NULL, NULL, NULL);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {initialisers,
                                  older_and_newer_arguments,
                                  no_sizes,
                                  older_fields_count,
                                  older_and_newer_results,
                                  no_sizes_of_results,
                                  versions,
                                  NULL};
    assign_defaults();
    return harness_run(argc, argv, "test_structures", tests);
}
