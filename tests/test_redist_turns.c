/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pacing of method direct (libredist/methods/direct_turns.c), simulated: ranks begin and end their turns in
 * any order. Whoever waits gets on, and where no copies stand by a receiver has one sender at a time.
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

static void begin(int nranks, int paced, enum redist_tiles tiles, uint64_t number) {
    all.nranks = nranks;
    all.traits.paced = paced;
    for (int rank = 0; rank < nranks; rank++) {
        all.contexts[rank].rank = rank;
        all.contexts[rank].size = nranks;
        all.schedules[rank].context = &all.contexts[rank];
        all.problems[rank].schedule = &all.schedules[rank];
        all.problems[rank].tiles = tiles;
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

static void note_most(int *most, int value) {
    *most = value > *most ? value : *most;
}

/* Ranks that cannot do anything are asked again later; if that goes on, nobody can. */
static int run(int *most_senders, int *most_copies) {
    int idle = 0, left = 1;
    *most_senders = *most_copies = 0;
    while (left && idle < 10000) {
        int moved = step(random_between(0, all.nranks - 1));
        idle = moved ? 0 : idle + 1;
        left = 0;
        for (int rank = 0; rank < all.nranks; rank++) {
            int copies = all.states[rank].turn - all.states[rank].ended;
            note_most(most_senders, count_senders(rank));
            note_most(most_copies, copies);
            left += has_more(rank) || copies > 0;
        }
    }
    return left;
}

/* Copies of each rank that may be under way, the one that stands by among them */
static int copies_at_once(int nranks, int paced, enum redist_tiles tiles) {
    if (tiles == REDIST_WHOLE)
        return paced;
    return paced != 0 && nranks > 2 ? 1 : 2;
}

/* One execution after the other: what was told in earlier ones must not count. */
static void try_executions(int nranks, int paced, enum redist_tiles tiles, int alike) {
    int copies = copies_at_once(nranks, paced, tiles);
    for (uint64_t number = 1; number <= 3; number++) {
        int most_senders, most_copies, rounds = random_between(0, MOST_ROUNDS);
        begin(nranks, paced, tiles, number);
        for (int rank = 0; rank < nranks; rank++) {
            all.rounds[rank] = alike ? rounds : random_between(0, MOST_ROUNDS);
            if (all.rounds[rank] == 0)
                redist__direct_end_turns(&all.states[rank]);
        }
        harness_case("%d ranks, paced %d, %d copies of each at once, %s", nranks, paced, copies,
                     alike ? "as many rounds on all" : "any number of rounds");
        check_all(run(&most_senders, &most_copies) == 0, "some rank waits for ever");
        check_all(most_copies <= copies, "%d copies of one rank", most_copies);
        check_all(!alike || copies > 1 || most_senders <= 1, "%d senders", most_senders);
    }
    memset(&all, 0, sizeof all);
}

START_TEST(any_order) {
    for (int i = 0; harness_another(i, 10); i++)
        for (int paced = 0; paced <= 2; paced++) {
            if (paced > 0)
                try_executions(random_between(2, MOST_RANKS), paced, REDIST_WHOLE, i % 2);
            try_executions(random_between(2, MOST_RANKS), paced, REDIST_PUT, i % 2);
        }
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {any_order, NULL};
    return harness_run(argc, argv, "test_redist_turns", tests);
}
