/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times the candidates on scratch arrays of the real shape, each alone, and then the leaders alternately, which
 * decides; all ranks agree on the slowest rank's times, so all choose the same.
 */
#include "../methods/method.h"
#include "planner.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Factors over the leader's time beyond which a candidate is dropped; larger in the noisier first round (guesses). */
static const double hopeless = 2, utterly_hopeless = 6;
enum { SWEEPS = 3 };

/* Seconds to choose, and the fraction of them for turns. */
static const double default_seconds = 1.0, turns_fraction = 0.75;

struct candidate {
    struct redist__candidate candidate;
    double best;        /* seconds of a round; < 0 = untimed */
    double in_turns;    /* with cold caches; < 0 = unknown */
    const char *failed; /* the failed call, the same on all ranks, or NULL */
};

/* A candidate that is set up. Its failures are not the plan's. */
struct trial {
    struct candidate *candidate;
    struct redist__problem problem;
    struct redist__failure failure;
    struct redist__transport transport;
};

struct contest {
    const struct redist__problem *problem;
    const redist_options *options;
    MPI_Comm comm;
    int verbose;
    int count;
    struct candidate candidates[REDIST__MOST_CANDIDATES];
    void *scratch[2];
    void *array[2];       /* within scratch */
    double budget, begin; /* seconds of rank 0; begin of measuring */
    struct trial leaders[REDIST__MOST_TURNS];
};

/* ---------------------------------------------------------------- candidates */

static int preference(const struct contest *contest, int i) {
    return redist__preference(contest->problem, &contest->candidates[i].candidate);
}

/* Drops candidates selectable only by name if others exist, else keeps the method's preferred one. Tiles are not
 * measured, since their cost shows only in the transforms around them: the methods' preferences decide. */
static void keep_preferred(struct contest *contest) {
    int count = 0, most = preference(contest, 0);
    for (int i = 1; i < contest->count; i++)
        most = preference(contest, i) > most ? preference(contest, i) : most;
    int decides = contest->problem->tiles != REDIST_WHOLE || most <= REDIST__BY_NAME;
    for (int i = 0; i < contest->count; i++)
        if (preference(contest, i) >= (decides ? most : REDIST__BY_NAME + 1))
            contest->candidates[count++] = contest->candidates[i];
    contest->count = count;
}

/* Finds the candidates that do not apply on this rank. Returns the reason of the first one. */
static int refuse(const struct contest *contest, int n, const struct redist__candidate candidates[],
                  int refused[]) {
    int reason = REDIST_OK;
    for (int i = n - 1; i >= 0; i--) {
        int code = redist__check_mode(contest->problem, candidates[i].method);
        if (code == REDIST_OK)
            code = candidates[i].method->applies(contest->problem, &candidates[i]);
        refused[i] = code != REDIST_OK;
        reason = refused[i] ? code : reason;
    }
    return reason;
}

/* Keeps the candidates that apply on all ranks. If one is requested and none is left, the reason is the message. */
static int collect(struct contest *contest) {
    struct redist__candidate candidates[REDIST__MOST_CANDIDATES];
    const char *request = contest->options->method;
    int n = redist__candidates(request, REDIST__MOST_CANDIDATES, candidates);
    int refused[REDIST__MOST_CANDIDATES] = {0};
    redist__be_silent(1);
    (void)refuse(contest, n, candidates, refused);
    redist__be_silent(0);
    REDIST_TRY(redist_all_reduce(contest->comm, refused, n, MPI_INT, MPI_MAX));
    for (int i = 0; i < n; i++)
        if (!refused[i])
            contest->candidates[contest->count++] =
                (struct candidate){candidates[i], -1.0, -1.0, NULL};
    if (contest->count == 0)
        return redist_agree(contest->comm, refuse(contest, n, candidates, refused));
    keep_preferred(contest);
    return REDIST_OK;
}

/* Chooses by preference, then by the order of the register, among those that did not fail; -1 = all failed. */
static int estimate(const struct contest *contest) {
    int best = -1;
    for (int i = 0; i < contest->count; i++)
        if (contest->candidates[i].failed == NULL &&
            (best < 0 || preference(contest, i) > preference(contest, best)))
            best = i;
    return best;
}

/* ---------------------------------------------------------------- measuring */

/* Returns whether peers map the array; not for datatypes that no method can copy. */
static int is_mapped(const struct contest *contest, int side) {
    return contest->problem->mapped[side] && redist__transfer_copyable(contest->problem->transfer);
}

static int allocate_side(struct contest *contest, int side, size_t bytes) {
    const struct redist__space *space = contest->problem->space;
    void **scratch = &contest->scratch[side];
    if (is_mapped(contest, side))
        return space->create(contest->problem->context, bytes, scratch);
    return redist_agree(contest->comm, space->allocate(bytes, scratch));
}

/* A byte of numbers that are finite and not zero, in each precision: a host's format has less to do with others. */
enum { ANY_BYTE = 0x3f };

/* Allocates and clears scratch arrays, so that pages exist before timing. */
static int allocate_scratch(struct contest *contest) {
    const struct redist__transfer *transfer = contest->problem->transfer;
    int arrays = contest->problem->one_array ? 1 : 2;
    for (int side = 0; side < arrays; side++) {
        const struct redist__element *element = &transfer->element;
        size_t bytes = element->before + transfer->side[side].bytes + element->behind;
        REDIST_TRY(allocate_side(contest, side, bytes));
        REDIST_TRY(redist_agree(contest->comm,
                                contest->problem->space->clear(contest->scratch[side], bytes)));
        if (contest->problem->format != NULL && !contest->problem->space->asynchronous)
            memset(contest->scratch[side], ANY_BYTE, bytes);
        contest->array[side] = (char *)contest->scratch[side] + element->before;
    }
    if (arrays == 1)
        contest->array[1] = contest->array[0];
    return REDIST_OK;
}

static void free_scratch(struct contest *contest) {
    const struct redist__space *space = contest->problem->space;
    for (int side = 0; side < 2; side++)
        if (contest->scratch[side] != NULL) {
            if (is_mapped(contest, side))
                space->remove(contest->scratch[side]);
            else
                space->release(contest->scratch[side]);
        }
}

/* Executes with the whole array as one tile. */
static void execute_tile(const struct contest *contest, struct redist__transport *transport) {
    const struct redist__problem *problem = contest->problem;
    const struct redist__method *method = transport->method;
    int put = problem->tiles == REDIST_PUT;
    size_t ndims = (size_t)problem->transfer->ndims;
    const struct redist__side *side = &problem->transfer->side[!put];
    struct redist__tile tile = redist__tile_of_elements(problem->transfer, contest->array[!put]);
    memcpy(tile.count, side->extent, ndims * sizeof *side->extent);
    memcpy(tile.stride, side->stride, ndims * sizeof *side->stride);
    method->open(transport->state, contest->array[put]);
    (put ? method->put : method->get)(transport->state, &tile);
    method->close(transport->state);
}

/* Executes both directions, also after a failure of the first: the peers may not know, and would wait. */
static void execute_pair(const struct contest *contest, struct redist__transport *transport) {
    void *const *array = contest->array;
    redist__transport_execute(transport, REDIST_FORWARD, array[0], array[1]);
    if (!contest->problem->transfer->one_way)
        redist__transport_execute(transport, REDIST_BACKWARD, array[1], array[0]);
}

/* Enqueues all executions, for the host to wait once. */
static void enqueue(const struct contest *contest, struct redist__transport *transport) {
    const struct redist__method *method = transport->method;
    void *const *array = contest->array;
    redist__transport_start(transport, REDIST_FORWARD, array[0], array[1]);
    if (contest->problem->transfer->one_way)
        return;
    if (!method->needs_peers_arrays || redist__peers_know(contest->problem, REDIST_BACKWARD))
        redist__transport_start(transport, REDIST_BACKWARD, array[1], array[0]);
}

/* Times the plan's work, in both directions if possible; in seconds of the slowest rank. */
static int time_round(struct contest *contest, struct trial *trial, double *seconds) {
    struct redist__failure *failure = &trial->failure;
    struct redist__transport *transport = &trial->transport;
    int begun = redist_barrier(contest->comm);
    double begin = MPI_Wtime();
    if (contest->problem->tiles != REDIST_WHOLE)
        execute_tile(contest, transport);
    else if (contest->problem->asynchronous)
        enqueue(contest, transport);
    else
        execute_pair(contest, transport);
    if (contest->problem->asynchronous)
        redist__transport_wait(transport);
    *seconds = MPI_Wtime() - begin;
    redist__failure_note(failure, begun);
    redist__failure_note(failure,
                         redist_all_reduce(contest->comm, seconds, 1, MPI_DOUBLE, MPI_MAX));
    return redist_agree(contest->comm, redist__failure_report(failure));
}

/* Returns the fastest candidate; -1 = none was timed. */
static int fastest(const struct contest *contest) {
    int best = -1;
    for (int i = 0; i < contest->count; i++) {
        const struct candidate *candidate = &contest->candidates[i];
        if (candidate->failed == NULL && candidate->best >= 0 &&
            (best < 0 || candidate->best < contest->candidates[best].best))
            best = i;
    }
    return best;
}

static double least_seconds(const struct contest *contest) {
    int best = fastest(contest);
    return best >= 0 ? contest->candidates[best].best : -1;
}

static void time_rounds(struct contest *contest, struct trial *trial, int rounds) {
    struct candidate *candidate = trial->candidate;
    double leader = least_seconds(contest);
    for (int round = 0; round < rounds; round++) {
        double seconds = 0;
        if (time_round(contest, trial, &seconds) != REDIST_OK) {
            candidate->failed = "failed while it was timed";
            return;
        }
        int far_behind = leader > 0 && seconds > utterly_hopeless * leader &&
                         seconds > (1 - turns_fraction) * contest->budget;
        /* the first round touches fresh buffers and makes connections */
        int warm = round > 0 || far_behind;
        if (far_behind)
            rounds = 0;
        if (warm && (candidate->best < 0 || seconds < candidate->best))
            candidate->best = seconds;
    }
}

/* Returns the wait limit of a device for a candidate, shorter than the plan's in case it hangs. */
static double find_patience(const struct contest *contest) {
    double enough = 4 * contest->budget;
    enough = enough > 1 ? enough : 1;
    return contest->problem->wait_seconds < enough ? contest->problem->wait_seconds : enough;
}

static int open_trial(struct contest *contest, struct trial *trial) {
    trial->failure = (struct redist__failure){REDIST_OK, NULL};
    trial->problem = *contest->problem;
    trial->problem.failure = &trial->failure;
    trial->problem.wait_seconds = find_patience(contest);
    for (int side = 0; side < 2; side++)
        trial->problem.arrays[side] = contest->array[side];
    int code =
        redist__transport_create(&trial->problem, &trial->candidate->candidate, &trial->transport);
    if (code != REDIST_OK)
        redist__failure_forget(&trial->failure);
    return code;
}

static void close_trial(struct trial *trial) {
    redist__transport_destroy(&trial->transport);
    redist__failure_forget(&trial->failure);
}

/* Times a candidate. If it cannot be set up (memory), or fails, it is dropped on all ranks. */
static void time_candidate(struct contest *contest, struct candidate *candidate, int rounds) {
    struct trial trial = {.candidate = candidate};
    if (open_trial(contest, &trial) != REDIST_OK) {
        candidate->failed = "could not be set up";
        return;
    }
    time_rounds(contest, &trial, rounds);
    close_trial(&trial);
}

static int out_of_time(const struct contest *contest) {
    int out = MPI_Wtime() - contest->begin > (1 - turns_fraction) * contest->budget;
    int code = redist_broadcast(contest->comm, &out, sizeof out, 0);
    return out || code != REDIST_OK;
}

/* Times all in a first sweep, then those not dropped in more sweeps, while time is left. */
static void compete(struct contest *contest) {
    for (int sweep = 0; sweep < SWEEPS && (sweep == 0 || !out_of_time(contest)); sweep++) {
        double limit = hopeless * least_seconds(contest);
        for (int i = 0; i < contest->count; i++) {
            struct candidate *candidate = &contest->candidates[i];
            int chance = candidate->best >= 0 && candidate->best < limit;
            if (candidate->failed == NULL && (sweep == 0 || chance))
                time_candidate(contest, candidate, 2);
        }
    }
}

/* ---------------------------------------------------------------- turns */

static int open_leader(void *context, int i, size_t *buffers) {
    struct contest *contest = context;
    const struct redist__transport *transport = &contest->leaders[i].transport;
    REDIST_TRY(open_trial(contest, &contest->leaders[i]));
    *buffers = redist__transport_workspace(transport);
    return REDIST_OK;
}

static int time_leader(void *context, int i, double *seconds) {
    struct contest *contest = context;
    return time_round(contest, &contest->leaders[i], seconds);
}

static void close_leader(void *context, int i) {
    struct contest *contest = context;
    if (contest->leaders[i].transport.state != NULL)
        close_trial(&contest->leaders[i]);
}

static int compare_candidates(const void *a, const void *b) {
    const double x = (*(struct candidate *const *)a)->best,
                 y = (*(struct candidate *const *)b)->best;
    return (x > y) - (x < y);
}

/* Finds the leaders and their times, the fastest one first. */
static int find_leaders(struct contest *contest, double alone[]) {
    struct candidate *list[REDIST__MOST_CANDIDATES];
    double limit = hopeless * least_seconds(contest);
    int n = 0;
    for (int i = 0; i < contest->count; i++) {
        struct candidate *candidate = &contest->candidates[i];
        if (candidate->failed == NULL && candidate->best >= 0 && candidate->best <= limit)
            list[n++] = candidate;
    }
    qsort(list, (size_t)n, sizeof *list, compare_candidates);
    n = n < REDIST__MOST_TURNS ? n : REDIST__MOST_TURNS;
    for (int i = 0; i < n; i++) {
        contest->leaders[i] = (struct trial){.candidate = list[i]};
        alone[i] = list[i]->best;
    }
    return n;
}

/* Returns the winner of the turns; -1 = unknown. */
static int find_winner(struct contest *contest) {
    const struct redist__side *sides = contest->problem->transfer->side;
    double medians[REDIST__MOST_TURNS], alone[REDIST__MOST_TURNS];
    int leaders = find_leaders(contest, alone);
    double gone = MPI_Wtime() - contest->begin;
    const struct redist__turns turns = {.comm = contest->comm,
                                        .count = leaders,
                                        .array_bytes = sides[0].bytes + sides[1].bytes,
                                        .on_device =
                                            contest->problem->space->id != REDIST_SPACE_HOST,
                                        .seconds = contest->budget - gone,
                                        .most_seconds = gone,
                                        .alone = alone,
                                        .context = contest,
                                        .open = open_leader,
                                        .time = time_leader,
                                        .close = close_leader};
    int winner = redist__take_turns(&turns, medians);
    for (int i = 0; i < turns.count; i++)
        contest->leaders[i].candidate->in_turns = medians[i];
    return winner >= 0 ? (int)(contest->leaders[winner].candidate - contest->candidates) : -1;
}

static void report(const struct contest *contest, int winner) {
    int rank;
    MPI_Comm_rank(contest->comm, &rank);
    if (rank != 0 || !contest->verbose)
        return;
    if (contest->problem->staged)
        fprintf(stderr, "redist: messages over MPI go through host memory\n");
    for (int i = 0; i < contest->count; i++) {
        char name[REDIST__NAME_BYTES];
        redist__candidate_name(&contest->candidates[i].candidate, sizeof name, name);
        const struct candidate *candidate = &contest->candidates[i];
        char turns[40] = "";
        if (candidate->in_turns >= 0)
            snprintf(turns, sizeof turns, ", in turns %.3f", 1e3 * candidate->in_turns);
        if (candidate->failed != NULL)
            fprintf(stderr, "redist: %-20s %s\n", name, candidate->failed);
        else if (candidate->best >= 0)
            fprintf(stderr, "redist: %-20s %9.3f ms a round%s%s\n", name, 1e3 * candidate->best,
                    turns, i == winner ? "  <- chosen" : "");
        else
            fprintf(stderr, "redist: %-20s was not timed%s\n", name,
                    i == winner ? "  <- chosen without" : "");
    }
}

/* ---------------------------------------------------------------- choosing */

/* Chooses by measurement; -1 = all failed. *measured = 0: nothing could be timed, and the winner is a guess. */
static int choose_measured(struct contest *contest, int *measured) {
    double seconds = contest->options->tune_seconds;
    int winner = -1;
    contest->budget = seconds > 0 ? seconds : default_seconds;
    contest->begin = MPI_Wtime();
    int code = redist_broadcast(contest->comm, &contest->budget, sizeof contest->budget, 0);
    if (redist_agree(contest->comm, code) == REDIST_OK && allocate_scratch(contest) == REDIST_OK) {
        compete(contest);
        winner = find_winner(contest);
    }
    free_scratch(contest);
    winner = winner >= 0 ? winner : fastest(contest);
    *measured = winner >= 0;
    if (winner < 0)
        winner = estimate(contest);
    report(contest, winner);
    return winner;
}

static int find_by_name(const struct contest *contest, const char *name) {
    for (int i = 0; i < contest->count; i++) {
        char own[REDIST__NAME_BYTES];
        redist__candidate_name(&contest->candidates[i].candidate, sizeof own, own);
        if (strcmp(own, name) == 0)
            return i;
    }
    return -1;
}

/* Writes the wisdom key of this exchange. */
static int describe(const struct contest *contest, size_t bytes, char key[]) {
    const struct redist__problem *problem = contest->problem;
    const struct redist__transfer *transfer = problem->transfer;
    uint64_t hash = redist__transfer_hash(transfer);
    int code = redist_all_reduce(contest->comm, &hash, 1, MPI_UINT64_T, MPI_SUM);
    const char *request = contest->options->method;
    snprintf(key, bytes, "%s/%s%s/ranks=%d/node=%d/bytes=%zu/axes=%d/mapped=%d%d/tiles=%d/%016llx",
             request != NULL ? request : "auto", problem->space->name,
             problem->staged         ? "-staged"
             : problem->asynchronous ? "-asynchronous"
                                     : "",
             problem->context->size, problem->context->node_size, transfer->item, transfer->ndims,
             problem->mapped[0], problem->mapped[1], (int)problem->tiles, (unsigned long long)hash);
    size_t end = strlen(key);
    if (problem->format != NULL)
        snprintf(key + end, bytes - end, "/wire=%d%s", problem->format->wire,
                 problem->formats_all ? "-everywhere" : "");
    return code;
}

static int choose(struct contest *contest, int *winner) {
    *winner = 0;
    if (contest->count == 1)
        return REDIST_OK;
    char key[REDIST_WISDOM_BYTES], name[REDIST__NAME_BYTES] = "";
    const char *file = contest->options->wisdom_file;
    REDIST_TRY(describe(contest, sizeof key, key));
    REDIST_TRY(redist_wisdom_find(contest->comm, file, key, sizeof name, name));
    *winner = find_by_name(contest, name);
    if (*winner >= 0)
        return REDIST_OK;
    int measured = 0;
    *winner = contest->options->effort == REDIST_ESTIMATE ? estimate(contest)
                                                          : choose_measured(contest, &measured);
    if (!measured)
        return REDIST_OK;
    redist__candidate_name(&contest->candidates[*winner].candidate, sizeof name, name);
    return redist_wisdom_store(contest->comm, file, key, name);
}

/* Returns whether another method may succeed, with less memory or other resources. */
static int has_alternative(const struct contest *contest, int code) {
    return (code == REDIST_ERR_MEMORY || code == REDIST_ERR_METHOD || code == REDIST_ERR_LIMIT) &&
           estimate(contest) >= 0;
}

/* Sets up the winner, or after a failure the next one, on all ranks alike. If all fail, the first failure counts. */
static int set_up(struct contest *contest, int winner, struct redist__transport *transport) {
    winner = winner >= 0 ? winner : 0;
    char reason[REDIST__MESSAGE_BYTES];
    int first = REDIST_OK;
    for (;;) {
        struct candidate *candidate = &contest->candidates[winner];
        int code = redist__transport_create(contest->problem, &candidate->candidate, transport);
        if (code == REDIST_OK)
            return REDIST_OK;
        if (first == REDIST_OK) {
            first = code;
            snprintf(reason, sizeof reason, "%s", redist_error_message());
        }
        candidate->failed = "could not be set up";
        if (contest->verbose && contest->problem->context->rank == 0)
            fprintf(stderr, "redist: %s could not be set up: %s\n",
                    candidate->candidate.method->name, redist_error_message());
        if (!has_alternative(contest, code))
            break;
        winner = fastest(contest) >= 0 ? fastest(contest) : estimate(contest);
    }
    redist_set_message(reason);
    return first;
}

/* Finds the candidates and the best of them. */
static int hold(struct contest *contest, const struct redist__problem *problem,
                const redist_options *options, int *winner) {
    *contest = (struct contest){.problem = problem,
                                .options = options,
                                .comm = problem->context->comm,
                                .verbose = redist_is_verbose(options->verbose)};
    REDIST_TRY(collect(contest));
    return choose(contest, winner);
}

/* ---------------------------------------------------------------- formats */

/* Times a winner alone; < 0 = unknown. */
static double time_winner(struct contest *contest, int winner) {
    enum { ROUNDS = 6 };
    struct candidate *candidate = &contest->candidates[winner >= 0 ? winner : 0];
    contest->scratch[0] = contest->scratch[1] = NULL;
    contest->budget = default_seconds;
    candidate->best = -1;
    if (winner >= 0 && allocate_scratch(contest) == REDIST_OK)
        time_candidate(contest, candidate, ROUNDS);
    free_scratch(contest);
    return candidate->best;
}

/* Times a format and none, each by its best method. Returns whether the format is slower; *timed becomes 0 if that is
 * unknown. Collective, the same on all ranks. */
static int is_slower(struct contest *narrow, int narrow_winner, struct contest *exact,
                     int exact_winner, int *timed) {
    double seconds = time_winner(narrow, narrow_winner), without = time_winner(exact, exact_winner);
    *timed = seconds >= 0 && without >= 0;
    int declines = *timed && seconds > REDIST_SLOWEST_FORMAT * without;
    if (narrow->verbose && narrow->problem->context->rank == 0)
        fprintf(stderr, "redist: %s takes %.3f ms a round, exact %.3f ms  <- %s\n",
                redist_wire_name(narrow->problem->format->wire), 1e3 * seconds, 1e3 * without,
                declines ? "declined" : "chosen");
    return declines;
}

/* Finds whether a format is declined: remembered, or measured. In *exact and *exact_winner are the candidates without
 * it, if it is. */
static int compare_formats(struct contest *narrow, int winner,
                           const struct redist__problem *without, struct contest *exact,
                           int *exact_winner, int *declines) {
    char key[REDIST_WISDOM_BYTES], choice[sizeof "declined"];
    const char *file = narrow->options->wisdom_file;
    REDIST_TRY(describe(narrow, sizeof key, key));
    size_t end = strlen(key);
    snprintf(key + end, sizeof key - end, "/taken");
    REDIST_TRY(redist_wisdom_find(narrow->comm, file, key, sizeof choice, choice));
    *declines = strcmp(choice, "declined") == 0;
    if (strcmp(choice, "chosen") == 0 ||
        hold(exact, without, narrow->options, exact_winner) != REDIST_OK) {
        *declines = 0;
        return REDIST_OK;
    }
    if (*declines)
        return REDIST_OK;
    int timed;
    *declines = is_slower(narrow, winner, exact, *exact_winner, &timed);
    return timed ? redist_wisdom_store(narrow->comm, file, key, *declines ? "declined" : "chosen")
                 : REDIST_OK;
}

int redist__tune(struct redist__problem *problem, const redist_options *options,
                 struct redist__transport *transport) {
    struct contest contest, without;
    struct redist__problem exact = *problem;
    int winner = 0, exact_winner = 0, declines = 0;
    exact.format = NULL;
    REDIST_TRY(hold(&contest, problem, options, &winner));
    if (problem->format != NULL && !problem->keeps_format && options->effort != REDIST_ESTIMATE)
        REDIST_TRY(compare_formats(&contest, winner, &exact, &without, &exact_winner, &declines));
    if (!declines)
        return set_up(&contest, winner, transport);
    problem->format = NULL;
    without.problem = problem;
    return set_up(&without, exact_winner, transport);
}
