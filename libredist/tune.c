/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times the candidates on scratch arrays of the real shape, interleaved; all ranks agree on the
 * slowest rank's times, so all choose the same.
 */
#include "tune.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5, HOPELESS = 2, UTTERLY_HOPELESS = 6 };

static const double default_seconds = 1.0;

struct candidate {
    struct redist__choice choice;
    double best; /* seconds of a round; < 0 = never timed */
};

struct contest {
    const struct redist__problem *problem;
    const redist_options *options;
    MPI_Comm comm;
    int verbose;
    int count;
    struct candidate candidates[REDIST__MOST_CHOICES];
    void *scratch[2];
    void *array[2]; /* within scratch */
};

/* ---------------------------------------------------------------- candidates */

static int preference(const struct contest *contest, int i) {
    const struct redist__choice *choice = &contest->candidates[i].choice;
    return choice->method->preference != NULL
               ? choice->method->preference(contest->problem, choice->variant)
               : 0;
}

/* What tiles cost shows in the transforms that use them, so a measurement here would mislead: what the
 * methods say of themselves decides. */
static void keep_preferred(struct contest *contest) {
    int count = 0, best = 0;
    for (int i = 1; i < contest->count; i++)
        if (preference(contest, i) > preference(contest, best))
            best = i;
    int most = preference(contest, best);
    for (int i = 0; i < contest->count; i++)
        if (preference(contest, i) == most)
            contest->candidates[count++] = contest->candidates[i];
    contest->count = count;
}

/* What nobody asked for by name does not compete, if anything else does; if nothing does, what the
 * method itself thinks best. */
static void drop_by_name(struct contest *contest) {
    int count = 0, most = preference(contest, 0);
    for (int i = 1; i < contest->count; i++)
        most = preference(contest, i) > most ? preference(contest, i) : most;
    for (int i = 0; i < contest->count; i++)
        if (preference(contest, i) > REDIST__BY_NAME || preference(contest, i) == most)
            contest->candidates[count++] = contest->candidates[i];
    contest->count = count;
}

static int can_tile(const struct redist__problem *problem, const struct redist__method *method) {
    if (problem->pieces > 1 && method->arrived == NULL)
        return redist__fail(REDIST_ERR_METHOD, "method %s cannot tell which pieces have arrived",
                            method->name);
    if (problem->tiles == REDIST_WHOLE ||
        (problem->tiles == REDIST_PUT ? method->put : method->get))
        return REDIST_OK;
    return redist__fail(REDIST_ERR_METHOD, "method %s does not work in tiles", method->name);
}

/* Keeps the choices that apply on all ranks. With one request and no candidate left, the reason is
 * the message. */
static int collect(struct contest *contest) {
    struct redist__choice choices[REDIST__MOST_CHOICES];
    const char *request = contest->options->method;
    int n = redist__choices(request, REDIST__MOST_CHOICES, choices);
    if (n == 0)
        return redist_agree(contest->comm, redist__fail(REDIST_ERR_METHOD,
                                                        "method = \"%s\" is not known", request));
    int refused[REDIST__MOST_CHOICES] = {0}, reason = REDIST_OK;
    for (int i = n - 1; i >= 0; i--) {
        int code = can_tile(contest->problem, choices[i].method);
        if (code == REDIST_OK)
            code = choices[i].method->applies(contest->problem, choices[i].variant);
        refused[i] = code != REDIST_OK;
        reason = refused[i] ? code : reason;
    }
    int code = redist_check_mpi(
        redist__insist(MPI_Allreduce(MPI_IN_PLACE, refused, n, MPI_INT, MPI_MAX, contest->comm)));
    for (int i = 0; i < n && code == REDIST_OK; i++)
        if (!refused[i])
            contest->candidates[contest->count++] = (struct candidate){choices[i], -1.0};
    if (code == REDIST_OK && contest->count == 0)
        code = redist_agree(contest->comm, reason);
    if (code == REDIST_OK)
        drop_by_name(contest);
    if (code == REDIST_OK && contest->problem->tiles != REDIST_WHOLE)
        keep_preferred(contest);
    return code;
}

/* Without measurement: what the methods say of themselves, then the order of the register. */
static int estimate(const struct contest *contest) {
    int best = 0;
    for (int i = 1; i < contest->count; i++)
        if (preference(contest, i) > preference(contest, best))
            best = i;
    return best;
}

/* ---------------------------------------------------------------- measuring */

/* Peers need not map arrays of a datatype that no method can copy. */
static int is_mapped(const struct contest *contest, int side) {
    return contest->problem->mapped[side] && redist__schedule_copyable(contest->problem->schedule);
}

static int allocate_side(struct contest *contest, int side, size_t bytes) {
    const struct redist__space *space = contest->problem->space;
    void **scratch = &contest->scratch[side];
    if (is_mapped(contest, side))
        return space->create(contest->problem->schedule->context, bytes, scratch);
    *scratch = space->allocate(bytes);
    return redist_agree(
        contest->comm,
        *scratch != NULL
            ? REDIST_OK
            : redist__fail(REDIST_ERR_MEMORY, "no memory for scratch of %zu bytes", bytes));
}

/* Clears it too, so that pages exist before they are timed. */
static int allocate_scratch(struct contest *contest) {
    const struct redist__schedule *schedule = contest->problem->schedule;
    int code = REDIST_OK;
    for (int side = 0; side < 2 && code == REDIST_OK; side++) {
        size_t bytes = schedule->before + schedule->side[side].bytes + schedule->behind;
        code = allocate_side(contest, side, bytes);
        if (code == REDIST_OK)
            code = redist_agree(contest->comm,
                                contest->problem->space->clear(contest->scratch[side], bytes));
        if (contest->scratch[side] != NULL)
            contest->array[side] = (char *)contest->scratch[side] + schedule->before;
    }
    return code;
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

/* The whole array as one tile. */
static void execute_tile(const struct contest *contest, struct redist__transport *transport) {
    const struct redist__problem *problem = contest->problem;
    const struct redist__method *method = transport->choice.method;
    int put = problem->tiles == REDIST_PUT, start[REDIST_MAX_NDIMS] = {0};
    const struct redist__side *side = &problem->schedule->side[!put];
    const struct redist__tile tile = {start, side->extent, contest->array[!put], side->stride};
    method->open(transport->state, contest->array[put]);
    (put ? method->put : method->get)(transport->state, &tile);
    method->close(transport->state);
}

static void execute_pair(const struct contest *contest, struct redist__transport *transport) {
    redist__transport_execute(transport, REDIST_FORWARD, contest->array[0], contest->array[1]);
    redist__transport_execute(transport, REDIST_BACKWARD, contest->array[1], contest->array[0]);
}

/* What the plan will do, both ways where it can go both ways; in seconds of the slowest rank. */
static int time_round(struct contest *contest, const struct redist__failure *failure,
                      struct redist__transport *transport, double *seconds) {
    MPI_Barrier(contest->comm);
    double begin = MPI_Wtime();
    (contest->problem->tiles != REDIST_WHOLE ? execute_tile : execute_pair)(contest, transport);
    *seconds = MPI_Wtime() - begin;
    MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, contest->comm);
    return redist_agree(contest->comm, redist__failure_report(failure));
}

static int fastest(const struct contest *contest) {
    int best = 0;
    for (int i = 1; i < contest->count; i++) {
        double seconds = contest->candidates[i].best, leader = contest->candidates[best].best;
        if (seconds >= 0 && (leader < 0 || seconds < leader))
            best = i;
    }
    return best;
}

/* One candidate that cannot be set up (memory) drops out; the others stay. What fails while it is timed is no
 * failure of the plan. */
static int time_candidate(struct contest *contest, struct candidate *candidate, int rounds) {
    struct redist__transport transport;
    struct redist__failure failure = {REDIST_OK, ""};
    struct redist__problem problem = *contest->problem;
    problem.failure = &failure;
    double leader = contest->candidates[fastest(contest)].best;
    if (redist__transport_create(&problem, &candidate->choice, &transport) != REDIST_OK)
        return REDIST_OK;
    int code = REDIST_OK;
    for (int round = 0; round < rounds && code == REDIST_OK; round++) {
        double seconds;
        code = time_round(contest, &failure, &transport, &seconds);
        int hopeless = leader > 0 && seconds > UTTERLY_HOPELESS * leader;
        int warm = round > 0 || hopeless; /* the first round touches fresh buffers */
        if (hopeless)
            rounds = 0;
        if (warm && (candidate->best < 0 || seconds < candidate->best))
            candidate->best = seconds;
    }
    redist__transport_destroy(&transport);
    return code;
}

static int out_of_time(const struct contest *contest, double begin) {
    double budget = contest->options->tune_seconds;
    int out = MPI_Wtime() - begin > (budget > 0 ? budget : default_seconds);
    MPI_Bcast(&out, 1, MPI_INT, 0, contest->comm);
    return out;
}

/* A first round for all, then more for those that still have a chance, while time is left. */
static int compete(struct contest *contest) {
    double begin = MPI_Wtime();
    int code = REDIST_OK;
    for (int pass = 0; pass < ROUNDS && code == REDIST_OK; pass++) {
        double leader = contest->candidates[fastest(contest)].best;
        for (int i = 0; i < contest->count && code == REDIST_OK; i++) {
            struct candidate *candidate = &contest->candidates[i];
            if (pass == 0 || (candidate->best >= 0 && candidate->best < HOPELESS * leader))
                code = time_candidate(contest, candidate, 2);
        }
        if (code == REDIST_OK && out_of_time(contest, begin))
            break;
    }
    return code;
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
        redist__choice_name(&contest->candidates[i].choice, sizeof name, name);
        double seconds = contest->candidates[i].best;
        if (seconds >= 0)
            fprintf(stderr, "redist: %-20s %9.3f ms a round%s\n", name, 1e3 * seconds,
                    i == winner ? "  <- chosen" : "");
        else
            fprintf(stderr, "redist: %-20s could not be set up\n", name);
    }
}

/* ---------------------------------------------------------------- choosing */

static int choose_measured(struct contest *contest, int *winner) {
    int code = allocate_scratch(contest);
    if (code == REDIST_OK)
        code = compete(contest);
    free_scratch(contest);
    *winner = fastest(contest);
    if (code == REDIST_ERR_MEMORY) { /* too little to measure in: choose without */
        *winner = estimate(contest);
        return REDIST_OK;
    }
    if (code == REDIST_OK)
        report(contest, *winner);
    return code;
}

static int find_by_name(const struct contest *contest, const char *name) {
    for (int i = 0; i < contest->count; i++) {
        char own[REDIST__NAME_BYTES];
        redist__choice_name(&contest->candidates[i].choice, sizeof own, own);
        if (strcmp(own, name) == 0)
            return i;
    }
    return -1;
}

/* Words that name this exchange in the memory of what was measured. */
static void describe(const struct contest *contest, size_t bytes, char key[]) {
    const struct redist__problem *problem = contest->problem;
    const struct redist__schedule *schedule = problem->schedule;
    uint64_t hash = redist__schedule_hash(schedule);
    MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, contest->comm);
    const char *request = contest->options->method;
    snprintf(key, bytes, "%s/%s%s/ranks=%d/node=%d/bytes=%zu/axes=%d/mapped=%d%d/tiles=%d/%016llx",
             request != NULL ? request : "auto", problem->space->name,
             problem->staged ? "-staged" : "", schedule->context->size,
             schedule->context->node_size, schedule->item, schedule->ndims, problem->mapped[0],
             problem->mapped[1], (int)problem->tiles, (unsigned long long)hash);
}

static int choose(struct contest *contest, int *winner) {
    *winner = 0;
    if (contest->count == 1)
        return REDIST_OK;
    char key[REDIST_WISDOM_BYTES], name[REDIST__NAME_BYTES] = "";
    const char *file = contest->options->wisdom_file;
    describe(contest, sizeof key, key);
    int code = redist_wisdom_find(contest->comm, file, key, sizeof name, name);
    if (code != REDIST_OK)
        return code;
    int remembered = find_by_name(contest, name);
    if (remembered >= 0) {
        *winner = remembered;
        return REDIST_OK;
    }
    if (contest->options->effort == REDIST_ESTIMATE) {
        *winner = estimate(contest);
        return REDIST_OK;
    }
    code = choose_measured(contest, winner);
    if (code != REDIST_OK)
        return code;
    redist__choice_name(&contest->candidates[*winner].choice, sizeof name, name);
    return redist_wisdom_store(contest->comm, file, key, name);
}

int redist__tune(const struct redist__problem *problem, const redist_options *options,
                 struct redist__transport *transport) {
    const char *verbose = getenv("REDIST_VERBOSE");
    struct contest contest = {.problem = problem, .options = options};
    contest.comm = problem->schedule->context->comm;
    contest.verbose = options->verbose || (verbose != NULL && strcmp(verbose, "0") != 0);
    int winner = 0;
    int code = collect(&contest);
    if (code == REDIST_OK)
        code = choose(&contest, &winner);
    if (code == REDIST_OK)
        code = redist__transport_create(problem, &contest.candidates[winner].choice, transport);
    return code;
}
