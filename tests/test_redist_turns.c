/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pacing of method direct (libredist/methods/direct_turns.c), simulated: ranks begin and end their turns in
 * any order. Whoever waits gets on, and a receiver has one sender at a time, or, where a second copy stands
 * by, at most two.
 */
#include <string.h>

#include "../libredist/methods/direct.h"
#include "harness.h"
#include "random.h"

enum { MOST_RANKS = 8, MOST_ROUNDS = 6 };

/* All ranks, and where each of them is */
static struct {
    int nranks, rounds[MOST_RANKS]; /* of turns */
    struct redist__context contexts[MOST_RANKS];
    struct redist__schedule schedules[MOST_RANKS];
    struct redist__problem problems[MOST_RANKS];
    struct redist__direct states[MOST_RANKS];
    struct redist__line lines[MOST_RANKS];
    struct redist__traits traits;
} all;

/* What direct_turns.c takes from elsewhere */
struct redist__line *redist__direct_line(const struct redist__direct *state, int rank) {
    (void)state;
    return &all.lines[rank];
}

int redist__direct_peer(const struct redist__direct *state, int distance) {
    return (state->problem->schedule->context->rank + distance) % all.nranks;
}

static void begin(int nranks, int paced, uint64_t number) {
    all.nranks = nranks;
    all.traits.paced = paced;
    for (int rank = 0; rank < nranks; rank++) {
        all.contexts[rank].rank = rank;
        all.contexts[rank].size = nranks;
        all.schedules[rank].context = &all.contexts[rank];
        all.problems[rank].schedule = &all.schedules[rank];
        all.states[rank].problem = &all.problems[rank];
        all.states[rank].traits = &all.traits;
        all.states[rank].number = number;
        all.states[rank].turn = all.states[rank].ended = 0;
    }
}

static int has_more(int rank) {
    return all.states[rank].turn < all.rounds[rank] * (all.nranks - 1);
}

/* Ends the oldest turn, or begins the next one; 0 if this rank can do neither. */
static int step(int rank) {
    struct redist__direct *state = &all.states[rank];
    if (state->ended < state->turn && (random_chance(50) || !has_more(rank))) {
        redist__direct_end_turn(state);
        if (state->ended == state->turn && !has_more(rank))
            redist__direct_end_turns(state);
        return 1;
    }
    if (has_more(rank) && redist__direct_has_turn(state)) {
        state->turn++;
        return 1;
    }
    return 0;
}

static int count_senders(int receiver) {
    int senders = 0;
    for (int rank = 0; rank < all.nranks; rank++) {
        const struct redist__direct *state = &all.states[rank];
        for (int turn = state->ended; turn < state->turn; turn++)
            senders += (rank + turn % (all.nranks - 1) + 1) % all.nranks == receiver;
    }
    return senders;
}

/* Ranks that cannot do anything are asked again later; if that goes on, nobody can. */
static int run(int *most_senders) {
    int idle = 0, left = 1;
    *most_senders = 0;
    while (left && idle < 10000) {
        int moved = step(random_between(0, all.nranks - 1));
        idle = moved ? 0 : idle + 1;
        left = 0;
        for (int rank = 0; rank < all.nranks; rank++) {
            int senders = count_senders(rank);
            *most_senders = senders > *most_senders ? senders : *most_senders;
            left += has_more(rank) || all.states[rank].ended < all.states[rank].turn;
        }
    }
    return left;
}

/* One execution after the other: what was told in earlier ones must not count. */
static void try_executions(int nranks, int paced, int alike) {
    for (uint64_t number = 1; number <= 3; number++) {
        int most_senders, rounds = random_between(0, MOST_ROUNDS);
        begin(nranks, paced, number);
        for (int rank = 0; rank < nranks; rank++) {
            all.rounds[rank] = alike ? rounds : random_between(0, MOST_ROUNDS);
            if (all.rounds[rank] == 0)
                redist__direct_end_turns(&all.states[rank]);
        }
        harness_case("%d ranks, %d copies of each at once, %s", nranks, paced,
                     alike ? "as many rounds on all" : "any number of rounds");
        check_all(run(&most_senders) == 0, "some rank waits for ever");
        check_all(!alike || most_senders <= paced, "%d senders", most_senders);
    }
    memset(&all, 0, sizeof all);
}

START_TEST(any_order) {
    for (int i = 0; i < harness_cases(100); i++)
        for (int paced = 1; paced <= 2; paced++)
            try_executions(random_between(2, MOST_RANKS), paced, i % 2);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {any_order, NULL};
    return harness_run(argc, argv, "test_redist_turns", tests);
}
