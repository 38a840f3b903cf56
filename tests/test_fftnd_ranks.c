/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains on some of the ranks, between sides on all of them (options.ranks); compared with serial FFTW. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"
#include "operator_run.h"

/* Ignores configurations of the environment, which are for a chain on all ranks. */
static fft_case random_case(int mixed, int has_nodes) {
    fft_case given = mixed ? fft_random_mixed_case(harness_nranks, has_nodes)
                           : fft_random_case(harness_nranks, has_nodes);
    unsetenv("FFTND_CONFIGURATION");
    return given;
}

/* Within a node and over several ones. */
START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 8); i++) {
        int node_size = i % 3;
        fft_case given = random_case(random_chance(50), node_size > 0);
        if (given.ndims == 1)
            continue;
        given.options.ranks = random_between(1, harness_nranks);
        given.options.by_node = random_chance(20);
        MPI_Comm comm = harness_begin_nodes(node_size);
        fft_check_once(comm, &given);
        harness_end_nodes(&comm);
    }
}
END_TEST

/* Every number of ranks, also more than there are rows. */
START_TEST(all_numbers) {
    for (int ranks = 1; ranks <= harness_nranks; ranks++)
        for (int kind = 0; kind < 3; kind++) {
            fft_case given = FFT_CASE((enum fftnd_kind)kind, 6, 3, 5);
            given.options.ranks = ranks;
            fft_check(MPI_COMM_WORLD, &given);
        }
}
END_TEST

START_TEST(operators) {
    for (int i = 0; harness_another(i, 8); i++) {
        fft_case given = random_case(1, 0);
        if (given.ndims == 1)
            continue;
        given.options.ranks = random_between(1, harness_nranks);
        operator_check(&given);
    }
}
END_TEST

START_TEST(chosen) {
    for (int i = 0; i < 4; i++) {
        fft_case given = FFT_CASE(i % 2 ? FFTND_R2C : FFTND_C2C, 8, 6, 5);
        given.options.ranks = FFTND_CHOOSE_RANKS;
        given.options.effort = i < 2 ? FFTND_MEASURE : FFTND_ESTIMATE;
        redist_forget_wisdom();
        fft_check_once(MPI_COMM_WORLD, &given);
        fft_check_once(MPI_COMM_WORLD, &given); /* as remembered */
    }
}
END_TEST

static redist_index ranks_of(MPI_Comm comm, const fft_case *given) {
    fftnd_plan *plan = NULL;
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check_ok(fft_case_plan(comm, given, &plan));
    check_ok(fftnd_plan_get_info(plan, &info));
    check_ok(fftnd_plan_free(&plan));
    return info.ranks;
}

enum { LINE_BYTES = 2000 };

/* Returns how many configurations a file of wisdom has, and copies the last one's line. */
static int read_configurations(const char *file, char line[LINE_BYTES]) {
    char text[LINE_BYTES];
    int n = 0;
    FILE *stream = fopen(file, "r");
    while (stream != NULL && fgets(text, sizeof text, stream) != NULL)
        if (strncmp(text, "fft/", 4) == 0) {
            strcpy(line, text);
            n++;
        }
    if (stream != NULL)
        fclose(stream);
    return n;
}

/* Replaces the configuration in a file by one of two ranks. */
static void write_two_ranks(const char *file) {
    char line[LINE_BYTES] = "";
    (void)read_configurations(file, line);
    FILE *stream = fopen(file, "w");
    fprintf(stream,
            "redist-wisdom 1\n%.*s ranks=2 grid=2 order=0,1,2 fused=0 tiled=1 tile=4096 "
            "group=unlimited nontemporal=9\n",
            (int)strcspn(line, " "), line);
    fclose(stream);
}

/* Ranks that were chosen once are not measured again, nor is their grid between nodes. */
START_TEST(remembered) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5);
    char file[] = "/tmp/test-ranks-XXXXXX", line[LINE_BYTES];
    if (harness_nranks < 3)
        skip_test("two ranks are all or have no grid");
    int made = harness_rank == 0 ? mkstemp(file) : -1;
    if (made >= 0)
        close(made);
    given.options.wisdom_file = file; /* that of rank 0 */
    given.options.ranks = FFTND_CHOOSE_RANKS;
    given.options.effort = FFTND_MEASURE;
    MPI_Comm nodes = harness_begin_nodes(1);
    redist_forget_wisdom();
    (void)ranks_of(nodes, &given);
    if (harness_rank == 0)
        write_two_ranks(file);
    redist_forget_wisdom();
    check_all(ranks_of(nodes, &given) == 2, "the file is not followed");
    check_all(harness_rank != 0 || read_configurations(file, line) == 1, "measured again: %s",
              line);
    harness_end_nodes(&nodes);
    if (harness_rank == 0)
        unlink(file);
}
END_TEST

static void check_refused(fft_case given) {
    fftnd_plan *plan = NULL;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
    check_all(strstr(redist_error_message(), "FFTND_CONFIGURATION") != NULL, "%s",
              redist_error_message());
}

/* A configuration names the ranks as text, of those that there are. */
START_TEST(dictated) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5);
    if (harness_nranks == 1)
        skip_test("there is one rank");
    given.options.ranks = FFTND_CHOOSE_RANKS;
    setenv("FFTND_CONFIGURATION", "ranks=1 fused=1 tiled=1 tile=4096 group=unlimited nontemporal=9",
           1);
    check_all(ranks_of(MPI_COMM_WORLD, &given) == 1, "the text is not followed");
    check_refused(FFT_CASE(FFTND_C2C, 64));
    setenv("FFTND_CONFIGURATION", "ranks=99 grid=99 fused=0 tiled=0 tile=1 group=1 nontemporal=1",
           1);
    check_refused(given);
    unsetenv("FFTND_CONFIGURATION");
}
END_TEST

/* Bad numbers are an error on all ranks, whoever has them. */
START_TEST(refused) {
    fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5), line = FFT_CASE(FFTND_C2C, 64);
    const redist_index bad[] = {-2, harness_nranks + 1, ((redist_index)1 << 32) + 1};
    fftnd_plan *plan = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        given.options.ranks = bad[i];
        check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_ARGUMENT);
        check_all(strstr(redist_error_message(), "options->ranks") != NULL, "%s",
                  redist_error_message());
    }
    if (harness_nranks == 1)
        return;
    given.options.ranks = harness_rank == 0 ? 1 : 2;
    check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), REDIST_ERR_DISAGREE);
    line.options.ranks = 1;
    check_code(fft_case_plan(MPI_COMM_WORLD, &line, &plan), REDIST_ERR_ARGUMENT);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases, all_numbers, operators, chosen,
                                  remembered,   dictated,    refused,   NULL};
    return harness_run(argc, argv, "test_fftnd_ranks", tests);
}
