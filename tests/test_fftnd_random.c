/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cases at random: any shape, grid, kind and option; compared with serial FFTW.
 *     test_fftnd_random [RANKS_PER_NODE]
 * With an argument the ranks are on several nodes, imitated by REDIST_NODE_SIZE.
 */
#include <stdlib.h>

#include "fft_random.h"
#include "fft_run.h"
#include "harness.h"

static int has_nodes;

START_TEST(random_cases) {
    for (int i = 0; harness_another(i, 4); i++) {
        const fft_case given = has_nodes && random_chance(50)
                                   ? fft_random_mixed_case(harness_nranks, has_nodes)
                                   : fft_random_case(harness_nranks, has_nodes);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_cases_on_one_rank_each) {
    for (int i = 0; harness_another(i, 4); i++) {
        const fft_case given = fft_random_case(1, has_nodes);
        fft_check_once(MPI_COMM_SELF, &given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_cases, random_cases_on_one_rank_each, NULL};
    has_nodes = argc > 1;
    if (has_nodes) {
        setenv("REDIST_NODE_SIZE", argv[1], 1);
    }
    return harness_run(argc, argv, "test_fftnd_random", tests);
}
