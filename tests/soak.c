/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random exchanges and transforms for REDIST_TEST_SECONDS; what ./dev soak runs on changing numbers of ranks.
 *     soak [CASE]      all cases from the first one on, or this one alone
 * Each case begins a sequence of random numbers of its own, which depends on REDIST_TEST_SEED and its number.
 */
#include "soak.h"

#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

enum { CASE_SECONDS = 60 };

struct soak_counts soak_counts;

static int only_case = -1;

static void try_case(uint64_t base, int number) {
    random_seed(random_hash(base ^ random_hash((uint64_t)number)));
    if (random_chance(75))
        soak_exchange();
    else
        soak_transform();
}

START_TEST(random_work) {
    uint64_t base = random_bits();
    harness_case_limit(CASE_SECONDS);
    for (int i = 0; only_case < 0 && harness_another(i, 1); i++)
        try_case(base, i);
    if (only_case >= 0)
        try_case(base, only_case);
}
END_TEST

/* A test of its own, so that it is printed after a failure too. */
START_TEST(what_was_done) {
    if (harness_rank == 0)
        printf("done: %ld exchanges, %ld transforms, %ld plans\n", soak_counts.exchanges,
               soak_counts.transforms, soak_counts.plans);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {random_work, what_was_done, NULL};
    int provided;
    if (argc > 1)
        only_case = atoi(argv[1]);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    return harness_run(argc, argv, "soak", tests);
}
