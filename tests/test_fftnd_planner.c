/* SPDX-License-Identifier: BSD-3-Clause */
/* How a plan chooses its configuration: by measuring, from memory, from a file, or as dictated. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives.h"
#include "fft_run.h"
#include "harness.h"
#include "redist_support.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = 3, LINE_BYTES = 1000 };

/* A file name that all ranks know, of a file that is not there. */
static void choose_file(char name[64]) {
    snprintf(name, 64, "planner-wisdom-%d", (int)getpid());
    MPI_Bcast(name, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (harness_rank == 0)
        remove(name);
}

static void remove_file(const char *name) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 0)
        remove(name);
}

/* How many lines of a file, which rank 0 reads, begin so, and the last one of them. */
static void count_lines(const char *name, const char *start, int *count, char last[LINE_BYTES]) {
    char line[LINE_BYTES];
    *count = 0;
    last[0] = '\0';
    FILE *stream = harness_rank == 0 ? fopen(name, "r") : NULL;
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (strncmp(line, start, strlen(start)) == 0) {
            ++*count;
            memcpy(last, line, sizeof line);
        }
    if (stream != NULL)
        fclose(stream);
    MPI_Bcast(count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(last, LINE_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Several nodes, of two ranks if there are as many, since all but the grid is guessed on one. */
static fftnd_plan_info plan_and_ask(const fft_case *given) {
    setenv("REDIST_NODE_SIZE", harness_nranks > 2 ? "2" : "1", 1);
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    harness_case("%s", fft_case_text(given));
    check_ok(fft_case_plan(MPI_COMM_WORLD, given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    info.method = NULL; /* goes with the plan */
    check_ok(fftnd_plan_free(&plan));
    return info;
}

static int same_configuration(const fftnd_plan_info *a, const fftnd_plan_info *b) {
    return a->grid_ndims == b->grid_ndims &&
           memcmp(a->grid, b->grid, (size_t)a->grid_ndims * sizeof *a->grid) == 0 &&
           a->fused == b->fused && a->tiled == b->tiled && a->tile_bytes == b->tile_bytes;
}

/* All ranks choose alike, and whatever they choose is right. */
START_TEST(measured) {
    for (int i = 0; i < NKINDS * 4; i++) {
        fft_case given = FFT_CASE(kinds[i % NKINDS], 12, 10, 9);
        given.options.effort = i % 2 ? FFTND_PATIENT : FFTND_MEASURE;
        given.options.plan_seconds = i < NKINDS * 2 ? 0.01 : 0.3;
        redist_forget_wisdom();
        const fftnd_plan_info info = plan_and_ask(&given);
        int taken[2] = {info.fused + 2 * info.tiled + 4 * (int)info.tile_bytes, 0};
        taken[1] = -taken[0];
        MPI_Allreduce(MPI_IN_PLACE, taken, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        check_all(taken[0] == -taken[1], "ranks chose differently");
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

/* A case that is measured for a moment, and remembered in a new file. */
static fft_case begin_measured(enum fftnd_kind kind, char name[64]) {
    fft_case given = FFT_CASE(kind, 12, 10, 9);
    choose_file(name);
    redist_forget_wisdom();
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = 0.01;
    given.options.wisdom_file = name;
    return given;
}

/* Adds a line with this choice for the key of the transform in the file. */
static void add_line(const char *name, const char *choice) {
    char line[1000] = "", key[1000] = "";
    FILE *stream = harness_rank == 0 ? fopen(name, "r+") : NULL;
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (strncmp(line, "fft/", 4) == 0)
            sscanf(line, "%999s", key);
    if (stream != NULL) {
        fprintf(stream, "%s %s\n", key, choice);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    redist_forget_wisdom();
}

/* On one node nothing but the guess is tried, and there is nothing to remember. */
START_TEST(guess_on_one_node) {
    char name[64], line[LINE_BYTES];
    int count;
    if (harness_nranks > 1)
        skip_test("each rank is on a node of its own");
    fft_case given = begin_measured(FFTND_R2C, name);
    given.options.effort = FFTND_PATIENT;
    fft_check_once(MPI_COMM_WORLD, &given);
    count_lines(name, "fft/", &count, line);
    check_all(count == 0, "%d lines on transforms", count);
    remove_file(name);
}
END_TEST

#define NEEDS_NODES                                                                                \
    if (harness_nranks == 1)                                                                       \
    skip_test("configurations are measured on several nodes")

START_TEST(remembered_in_a_file) {
    char name[64], line[LINE_BYTES];
    int count, after;
    NEEDS_NODES;
    fft_case given = begin_measured(FFTND_R2C, name);
    given.options.plan_seconds = 0.2;
    const fftnd_plan_info first = plan_and_ask(&given);
    redist_forget_wisdom();
    count_lines(name, "fft/", &count, line);
    check_all(count == 1, "%d lines on transforms in %s", count, name);
    const fftnd_plan_info second = plan_and_ask(&given);
    count_lines(name, "fft/", &after, line);
    check_all(after == 1, "it was measured again");
    check_all(same_configuration(&first, &second),
              "another configuration than the one in the file");
    given.options.batch = 2;
    plan_and_ask(&given);
    count_lines(name, "fft/", &after, line);
    check_all(after == 2, "a batch was taken for a single field");
    remove_file(name);
}
END_TEST

/* A choice in the file is taken without another look. */
START_TEST(read_from_a_file) {
    char name[64];
    NEEDS_NODES;
    fft_case given = begin_measured(FFTND_C2C, name);
    plan_and_ask(&given);
    add_line(name, "fused=0 tiled=1 tile=777 group=555 nontemporal=1");
    const fftnd_plan_info info = plan_and_ask(&given);
    check_all(!info.fused && info.tiled && info.tile_bytes == 777, "fused %d tiled %d tile %zu",
              info.fused, info.tiled, info.tile_bytes);
    remove_file(name);
}
END_TEST

/* A number without a limit is a word, and that of older files is read too. */
START_TEST(unlimited_numbers) {
    char name[64], line[LINE_BYTES];
    int count;
    NEEDS_NODES;
    fft_case given = begin_measured(FFTND_C2C, name);
    plan_and_ask(&given);
    count_lines(name, "fft/", &count, line);
    check_all(count == 1 && strstr(line, "18446744073709551615") == NULL, "%s", line);
    add_line(name, "fused=0 tiled=1 tile=777 group=unlimited nontemporal=unlimited");
    check_all(plan_and_ask(&given).tile_bytes == 777, "the word was not read");
    add_line(name, "fused=0 tiled=1 tile=778 group=18446744073709551615 nontemporal=1");
    check_all(plan_and_ask(&given).tile_bytes == 778, "the number was not read");
    add_line(name, "fused=0 tiled=1 tile=779 group=unlimitedx nontemporal=1");
    check_all(plan_and_ask(&given).tile_bytes != 779, "a word that is no number was read");
    remove_file(name);
}
END_TEST

/* Without memory to measure in there is a plan, but nothing is remembered. */
START_TEST(guess_is_not_remembered) {
    char name[64], line[LINE_BYTES];
    int count;
    if (harness_nranks < 3)
        skip_test("no node has several ranks");
    fft_case given = begin_measured(FFTND_C2C, name);
    given.options.mapped_arrays = 1;
    collectives_no_memory = 1;
    plan_and_ask(&given);
    collectives_no_memory = 0;
    count_lines(name, "fft/", &count, line);
    check_all(count == 0, "%d guesses were remembered", count);
    plan_and_ask(&given);
    count_lines(name, "fft/", &count, line);
    check_all(count == 1, "%d lines after a measurement", count);
    remove_file(name);
}
END_TEST

/* Numbers in the file that no plan can work with: it is measured again. */
START_TEST(unusable_lines) {
    static const char *const values[] = {
        "fused=7 tiled=1 tile=777 group=555 nontemporal=1",
        "fused=0 tiled=1 tile=777 group=555 nontemporal=1 segments=0",
        "fused=0 tiled=1 tile=777 group=555 nontemporal=1 segments=99999999",
        "fused=0 tiled=1 tile=777 group=555 nontemporal=1 segments=1 before_exchange=0",
        "grid=99999999999x2 fused=0 tiled=1 tile=777 group=555",
        "fused=0 tiled",
        "\x01\xff%s%n"};
    char name[64], line[LINE_BYTES];
    int count;
    NEEDS_NODES;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        fft_case given = begin_measured(FFTND_C2C, name);
        plan_and_ask(&given);
        add_line(name, values[i]);
        const fftnd_plan_info info = plan_and_ask(&given);
        check_all(info.tile_bytes != 777, "line %d was taken", (int)i);
        count_lines(name, "fft/", &count, line);
        check_all(count == 3, "%d lines instead of 3", count);
        remove_file(name);
    }
}
END_TEST

START_TEST(dictated) {
    fft_case given = FFT_CASE(FFTND_R2C, 12, 10, 9);
    setenv("FFTND_CONFIGURATION", " fused=0 tiled=1 tile=333 group=100 nontemporal=1", 1);
    fftnd_plan_info info = plan_and_ask(&given);
    check_all(!info.fused && info.tiled && info.tile_bytes == 333, "not as told");
    setenv("FFTND_CONFIGURATION", " fused=0 tiled=0 tile=333 group=100 nontemporal=1", 1);
    info = plan_and_ask(&given);
    check_all(!info.fused && !info.tiled && info.tile_bytes == 0, "not as told");
    static const char *const bad[] = {"fast", "grid= fused=1 tiled=0 tile=1 group=1 nontemporal=1",
                                      "grid=3x99 fused=1 tiled=0 tile=1 group=1 nontemporal=1"};
    for (int i = 0; i < 3; i++) {
        fftnd_plan *plan = NULL;
        setenv("FFTND_CONFIGURATION", bad[i], 1);
        harness_case("%s", bad[i]);
        check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
        check_all(plan == NULL && strstr(redist_error_message(), "FFTND_CONFIGURATION") != NULL,
                  "%s", redist_error_message());
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

START_TEST(bad_options) {
    fft_case given = FFT_CASE(FFTND_R2C, 12, 10, 9);
    fftnd_plan *plan = NULL;
    given.options.plan_seconds = -1;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "plan_seconds") != NULL, "%s", redist_error_message());
    given.options.plan_seconds = 0;
    given.options.tile_bytes = (size_t)harness_rank + 100;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan),
               harness_nranks > 1 ? REDIST_ERR_DISAGREE : REDIST_OK);
    check_all(harness_nranks == 1 || strstr(redist_error_message(), "tile_bytes") != NULL, "%s",
              redist_error_message());
    check_ok(fftnd_plan_free(&plan));
}
END_TEST

/* Ranks on processors with other caches list the same steps: axes are taken apart by the size of a tile. */
START_TEST(other_caches) {
    size_t *second = (size_t *)(uintptr_t)&redist_find_caches()->second;
    const size_t own = *second, others[] = {(size_t)64 << 10, (size_t)1 << 20};
    for (int i = 0; i < 8; i++) {
        static const int order[] = {2, 0, 1};
        fft_case given = FFT_CASE(FFTND_C2C, 20, 20, 8);
        given.has_order = 1;
        memcpy(given.order, order, sizeof order);
        given.options.fusion = i & 1 ? FFTND_FUSION_NEVER : FFTND_FUSION_AUTO;
        given.options.effort = i & 2 ? FFTND_MEASURE : FFTND_ESTIMATE;
        given.options.plan_seconds = 0.02;
        *second = others[(harness_rank + i / 4) % 2];
        harness_case("%s", fft_case_text(&given));
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    *second = own;
}
END_TEST

/* What a plan takes that has no time to try anything: lines across an array are transformed where they lie if there are
 * passes for them, as there are none for 22 elements. */
START_TEST(guess_of_an_axis) {
    size_t *second = (size_t *)(uintptr_t)&redist_find_caches()->second;
    const size_t own = *second;
    char name[64], line[LINE_BYTES];
    int count;
    NEEDS_NODES;
    choose_file(name);
    *second = (size_t)16 << 10;
    for (int i = 0; i < 4; i++) {
        fft_case given = FFT_CASE(FFTND_C2C, i < 2 ? 22 : 24, 16 * harness_nranks, 16);
        given.precision = fft_case_precision(i % 2 ? FFTND_FLOAT : FFTND_DOUBLE);
        given.options.effort = FFTND_MEASURE;
        given.options.plan_seconds = 1e-9;
        given.options.wisdom_file = name;
        redist_forget_wisdom();
        plan_and_ask(&given);
        count_lines(name, "fft/", &count, line);
        check_all(strstr(line, i < 2 ? " untiled=0" : " untiled=") != NULL, "%s", line);
        fft_check_once(MPI_COMM_WORLD, &given);
        remove_file(name);
    }
    *second = own;
}
END_TEST

/* One rank takes tiles of an array that is large for its cache and is transformed along several axes. */
START_TEST(guess_on_one_rank) {
    size_t *second = (size_t *)(uintptr_t)&redist_find_caches()->second;
    const size_t own = *second;
    const fft_case cases[] = {FFT_CASE(FFTND_C2C, 250, 80), FFT_CASE(FFTND_R2C, 60, 21, 30),
                              FFT_CASE(FFTND_C2C, 20000),   FFT_CASE(FFTND_C2C, 8, 2600),
                              FFT_CASE(FFTND_C2C, 4, 4, 4), FFT_CASE(FFTND_C2C, 12, 11, 12, 12)};
    if (harness_nranks > 1)
        skip_test("several ranks");
    FFT_NEEDS(FFTND_FLOAT);
    *second = (size_t)16 << 10;
    for (int i = 0; i < 6; i++) {
        fft_case given = cases[i];
        given.options.effort = FFTND_ESTIMATE;
        given.precision = FFTND_FLOAT;
        given.options.batch = random_between(1, 2);
        const fftnd_plan_info info = plan_and_ask(&given);
        check_all(info.tiled == (i < 2 || i == 5), "tiled %d", info.tiled);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    *second = own;
}
END_TEST

/* One rank takes tiles for a single axis across a large array, unless it has columns, and for a contiguous one of an
 * array that is larger than the last cache, unless it is real. */
START_TEST(guess_of_one_axis_on_one_rank) {
    static const struct {
        enum fftnd_axis axes[3];
        int last_cache, tiled; /* in KiB; -1 = as columns gain on this machine, or not */
    } cases[] = {{{FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX}, 64, 1},
                 {{FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX}, 1 << 10, 0},
                 {{FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_HALVED}, 64, 0},
                 {{FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_R2R}, 64, 1},
                 {{FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_R2R}, 1 << 10, 0},
                 {{FFTND_AXIS_R2R, FFTND_AXIS_NONE, FFTND_AXIS_NONE}, 1 << 10, 1},
                 {{FFTND_AXIS_HALVED, FFTND_AXIS_NONE, FFTND_AXIS_NONE}, 1 << 10, 1},
                 {{FFTND_AXIS_NONE, FFTND_AXIS_COMPLEX, FFTND_AXIS_NONE}, 64, -1},
                 {{FFTND_AXIS_COMPLEX, FFTND_AXIS_NONE, FFTND_AXIS_NONE}, 64, -1},
                 {{FFTND_AXIS_NONE, FFTND_AXIS_NONE, FFTND_AXIS_NONE}, 64, 0}};
    redist_caches *caches = (redist_caches *)(uintptr_t)redist_find_caches();
    const redist_caches own = *caches;
    if (harness_nranks > 1)
        skip_test("several ranks");
    FFT_NEEDS(FFTND_FLOAT);
    caches->second = (size_t)16 << 10;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fft_case given = FFT_CASE(FFTND_MIXED, 40, 30, 40);
        memcpy(given.axes, cases[i].axes, sizeof cases[i].axes);
        given.options.effort = FFTND_ESTIMATE;
        given.precision = FFTND_FLOAT;
        caches->last = (size_t)cases[i].last_cache << 10;
        for (int in_place = 0; in_place < 2; in_place++) {
            given.options.in_place = in_place;
            const fftnd_plan_info info = plan_and_ask(&given);
            check_all(cases[i].tiled < 0 || info.tiled == cases[i].tiled, "tiled %d", info.tiled);
            fft_check_once(MPI_COMM_WORLD, &given);
        }
    }
    *caches = own;
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {measured,
                                  guess_on_one_node,
                                  remembered_in_a_file,
                                  guess_is_not_remembered,
                                  unusable_lines,
                                  read_from_a_file,
                                  unlimited_numbers,
                                  dictated,
                                  other_caches,
                                  bad_options,
                                  guess_of_an_axis,
                                  guess_on_one_rank,
                                  guess_of_one_axis_on_one_rank,
                                  NULL};
    return harness_run(argc, argv, "test_fftnd_planner", tests);
}
