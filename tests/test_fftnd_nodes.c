/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several nodes, imitated on one machine by REDIST_NODE_SIZE: memory of peers on other nodes cannot
 * be mapped, all else works.
 *     test_fftnd_nodes RANKS_PER_NODE
 */
#include <stdlib.h>
#include <string.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "methods.h"

static const enum fftnd_kind kinds[] = {FFTND_C2C, FFTND_R2C, FFTND_R2R};
enum { NKINDS = 3 };

static int node_size;

START_TEST(every_grid) {
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 7, 6, 9);
        fft_check_all_grids(given);
        given.options.alignment = FFTND_ALIGN_INPUT;
        given.options.overwrite_input = 1;
        fft_check_all_grids(given);
    }
}
END_TEST

START_TEST(every_method_but_direct) {
    for (int i = 0; i < host_method_count(); i++) {
        fft_case given = FFT_CASE(FFTND_R2C, 8, 7, 10);
        given.options.method = host_method_name(i);
        given.options.user_workspace = i % 2;
        given.workspace = FFT_MEMORY_SHARED;
        given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
        if (strcmp(given.options.method, "direct") != 0) {
            fft_check_all_grids(given);
        }
    }
}
END_TEST

/* Tiles that are sent while others are transformed, and received in partitions. */
START_TEST(in_partitions) {
    static const char *const methods[] = {"hier", "p2p"};
    setenv("FFTND_CONFIGURATION",
           " fused=0 tiled=0 tile=1000 group=1 nontemporal=1 segments=3 "
           "transposed=0 untiled=0 partitions=4",
           1);
    for (int i = 0; i < 2; i++) {
        fft_case given = FFT_CASE(kinds[i], 8, 13, 10);
        fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
        fftnd_plan *plan;
        given.options.method = methods[i];
        given.memory[0] = given.memory[1] = FFT_MEMORY_SHARED;
        harness_case("%s", fft_case_text(&given));
        check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
        check_ok(fftnd_plan_get_info(plan, &info));
        check_all(info.partitions == 4, "%d partitions", info.partitions);
        check_ok(fftnd_plan_free(&plan));
        fft_check(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

START_TEST(random_mixtures) {
    for (int i = 0; harness_another(i, 4); i++) {
        fft_case given = fft_random_mixed_case(harness_nranks, 1);
        given.options.by_node = random_chance(30);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

static void check_code_of_plan(const fft_case *given, int expected) {
    fftnd_plan *plan = NULL;
    harness_case("%s", fft_case_text(given));
    check_code(fft_case_plan(MPI_COMM_WORLD, given, &plan), expected);
    check_all((plan != NULL) == (expected == REDIST_OK), "code and plan do not fit");
    check_ok(fftnd_plan_free(&plan));
}

/* All ranks hear of it, also those whose own exchange stays on their node. */
START_TEST(methods_that_do_not_apply) {
    const int columns = harness_nranks % 2 == 0 ? 2 : 1;
    fft_case given = FFT_CASE(FFTND_C2C, 8, 7, 10);
    if (harness_nranks <= node_size) {
        skip_test("all ranks are on one node");
    }
    FFT_GRID(&given, harness_nranks / columns, columns);
    given.options.method = "direct";
    check_code_of_plan(&given, REDIST_ERR_METHOD);
    given.options.fusion = FFTND_FUSION_NEVER;
    check_code_of_plan(&given, REDIST_ERR_METHOD);
    given.options.fusion = FFTND_FUSION_ALWAYS;
    check_code_of_plan(&given, REDIST_ERR_METHOD);
    FFT_GRID(&given, columns, harness_nranks / columns);
    check_code_of_plan(&given, REDIST_ERR_METHOD);
    given.options.method = "alltoallw";
    check_code_of_plan(&given, REDIST_ERR_METHOD);
    given.options.method = "p2p";
    check_code_of_plan(&given, REDIST_OK);
}
END_TEST

/* Peers of a rank on other nodes, for each piece of its array that all its peers get one of. */
static double sent_between_nodes(const int dims[2]) {
    double sent = 0;
    for (int rank = 0; rank < harness_nranks; rank++) {
        int row = rank / dims[1], column = rank % dims[1];
        for (int i = 0; i < dims[0]; i++)
            sent += (double)((i * dims[1] + column) / node_size != rank / node_size) / dims[0];
        for (int i = 0; i < dims[1]; i++)
            sent += (double)((row * dims[1] + i) / node_size != rank / node_size) / dims[1];
    }
    return sent;
}

/* An open grid is one of those that send least between nodes. */
START_TEST(grids_know_nodes) {
    fft_case given = FFT_CASE(FFTND_C2C, 12, 12, 12);
    fftnd_plan *plan;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    given.options.grid_ndims = 2;
    given.options.effort = FFTND_ESTIMATE;
    harness_case("%s", fft_case_text(&given));
    check_ok(fft_case_plan(MPI_COMM_WORLD, &given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    double sent = sent_between_nodes(info.grid);
    for (int rows = 2; rows <= harness_nranks / 2; rows++) {
        const int dims[2] = {rows, harness_nranks / rows};
        if (harness_nranks % rows == 0)
            check_all(sent <= sent_between_nodes(dims) + 1e-9, "grid %dx%d, but %dx%d is better",
                      info.grid[0], info.grid[1], dims[0], dims[1]);
    }
}
END_TEST

/* Ranks that are dealt out to the nodes like cards */
START_TEST(arranged_by_node) {
    MPI_Comm dealt;
    MPI_Comm_split(MPI_COMM_WORLD, 0, harness_rank % node_size, &dealt);
    for (int i = 0; i < NKINDS; i++) {
        fft_case given = FFT_CASE(kinds[i], 9, 8, 10);
        given.options.by_node = 1;
        given.options.grid_ndims = 1 + (i != 1);
        fft_check(dealt, &given);
    }
    MPI_Comm_free(&dealt);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {every_grid,
                                  every_method_but_direct,
                                  in_partitions,
                                  random_mixtures,
                                  methods_that_do_not_apply,
                                  grids_know_nodes,
                                  arranged_by_node,
                                  NULL};
    const char *text = argc > 1 ? argv[1] : "1";
    node_size = atoi(text);
    setenv("REDIST_NODE_SIZE", text, 1);
    return harness_run(argc, argv, "test_fftnd_nodes", tests);
}
