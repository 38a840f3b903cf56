/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairwise steps (libredist/sync/flags.c), simulated: ranks begin and end their steps in any order. Whoever waits
 * gets on, and where no step begins early a receiver has one sender at a time.
 */
#include <string.h>

#include "../libredist/sync/flags.h"
#include "harness.h"
#include "random.h"

enum { MOST_RANKS = 8, MOST_SWEEPS = 6 };

/* All ranks, and where each of them is */
static struct {
    int nranks, sweeps[MOST_RANKS], numbers[MOST_RANKS];
    struct redist__context contexts[MOST_RANKS];
    struct redist__flag_block memory[MOST_RANKS];
    void *blocks[MOST_RANKS];
    struct redist__flags flags[MOST_RANKS];
    struct redist__steps steps[MOST_RANKS];
} all;

static void begin(int nranks, int paced, int ahead, uint64_t number) {
    all.nranks = nranks;
    for (int rank = 0; rank < nranks; rank++) {
        all.numbers[rank] = rank;
        all.blocks[rank] = &all.memory[rank];
        all.contexts[rank].rank = rank;
        all.contexts[rank].size = nranks;
        all.contexts[rank].node_ranks = all.numbers;
        all.flags[rank] = (struct redist__flags){
            .context = &all.contexts[rank], .blocks = all.blocks, .number = number};
        all.steps[rank] = (struct redist__steps){&all.flags[rank], paced, ahead, 0, 0};
    }
}

static int has_more(int rank) {
    return all.steps[rank].begun < all.sweeps[rank] * (all.nranks - 1);
}

/* Ends the oldest step, or begins the next one; 0 if this rank can do neither. */
static int go_on(int rank) {
    struct redist__steps *steps = &all.steps[rank];
    if (steps->ended < steps->begun && (random_chance(50) || !has_more(rank))) {
        redist__steps_end(steps);
        if (steps->ended == steps->begun && !has_more(rank))
            redist__steps_end_all(steps);
        return 1;
    }
    if (has_more(rank) && redist__steps_may_begin(steps)) {
        steps->begun++;
        return 1;
    }
    return 0;
}

static int count_senders(int receiver) {
    int senders = 0;
    for (int rank = 0; rank < all.nranks; rank++) {
        const struct redist__steps *steps = &all.steps[rank];
        for (int step = steps->ended; step < steps->begun; step++)
            senders += (rank + step % (all.nranks - 1) + 1) % all.nranks == receiver;
    }
    return senders;
}

static void note_most(int *most, int value) {
    *most = value > *most ? value : *most;
}

/* Ranks that cannot do anything are asked again later; if that goes on, nobody can. */
static int run(int *most_senders, int *most_copies) {
    int idle = 0, left = 1;
    *most_senders = *most_copies = 0;
    while (left && idle < 10000) {
        int moved = go_on(random_between(0, all.nranks - 1));
        idle = moved ? 0 : idle + 1;
        left = 0;
        for (int rank = 0; rank < all.nranks; rank++) {
            int copies = all.steps[rank].begun - all.steps[rank].ended;
            note_most(most_senders, count_senders(rank));
            note_most(most_copies, copies);
            left += has_more(rank) || copies > 0;
        }
    }
    return left;
}

/* One execution after the other: what was published in earlier ones must not count. */
static void try_executions(int nranks, int paced, int ahead, int alike) {
    int copies = ahead + 1;
    for (uint64_t number = 1; number <= 3; number++) {
        int most_senders, most_copies, sweeps = random_between(0, MOST_SWEEPS);
        begin(nranks, paced, ahead, number);
        for (int rank = 0; rank < nranks; rank++) {
            all.sweeps[rank] = alike ? sweeps : random_between(0, MOST_SWEEPS);
            if (all.sweeps[rank] == 0)
                redist__steps_end_all(&all.steps[rank]);
        }
        harness_case("%d ranks, paced %d, %d copies of each at once, %s", nranks, paced, copies,
                     alike ? "as many sweeps on all" : "any number of sweeps");
        check_all(run(&most_senders, &most_copies) == 0, "some rank waits for ever");
        check_all(most_copies <= copies, "%d copies of one rank", most_copies);
        check_all(!alike || !paced || copies > 1 || most_senders <= 1, "%d senders", most_senders);
    }
    memset(&all, 0, sizeof all);
}

START_TEST(any_order) {
    for (int i = 0; harness_another(i, 10); i++)
        for (int kind = 0; kind < 3; kind++) {
            try_executions(random_between(2, MOST_RANKS), 1, 0, i % 2);
            try_executions(random_between(2, MOST_RANKS), 1, 1, i % 2);
            try_executions(random_between(2, MOST_RANKS), 0, 1, i % 2);
        }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {any_order, NULL};
    return harness_run(argc, argv, "test_redist_steps", tests);
}
