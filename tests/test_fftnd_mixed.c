/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each axis has a kind of its own, and sides lie as the user likes: mixtures, memory orders, padding, blocks, boxes;
 * compared with serial FFTW.
 */
#include "fft_random.h"
#include "fft_run.h"
#include "fft_sides.h"
#include "harness.h"

START_TEST(random_mixtures) {
    for (int i = 0; harness_another(i, 6); i++) {
        const fft_case given = fft_random_mixed_case(harness_nranks);
        fft_check_once(MPI_COMM_WORLD, &given);
    }
}
END_TEST

START_TEST(random_mixtures_on_one_rank_each) {
    for (int i = 0; harness_another(i, 2); i++) {
        const fft_case given = fft_random_mixed_case(1);
        fft_check_once(MPI_COMM_SELF, &given);
    }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_mixtures, random_mixtures_on_one_rank_each, NULL};
    return harness_run(argc, argv, "test_fftnd_mixed", tests);
}
