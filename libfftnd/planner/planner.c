/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measuring starts from a good guess and changes one thing at a time, keeping what is faster in a round trip
 * on arrays of the real shapes. The time that counts is the slowest rank's, so all ranks choose alike. In host memory
 * only process grids over several nodes are measured: on one node no other configuration gained 5 % on the guess
 * (docs/performance.md).
 */
#include "planner.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REMARK_BYTES = 600 };

static void report(const struct fftnd__search *search,
                   const struct fftnd__configuration *configuration, double seconds,
                   const char *remark) {
    char text[FFTND__CONFIGURATION_BYTES];
    int rank;
    MPI_Comm_rank(search->comm, &rank);
    if (rank != 0 || !search->verbose)
        return;
    fftnd__configuration_print(configuration, search->request->shape.ndims, text);
    if (seconds >= 0)
        fprintf(stderr, "fftnd: %9.3f ms a round trip  %s%s\n", 1e3 * seconds, text, remark);
    else
        fprintf(stderr, "fftnd: %s%s\n", text, remark);
}

/* ---------------------------------------------------------------- trying a candidate */

/* A change has to gain this much, or noise would decide: there is less of it on devices. */
static int is_faster(const struct fftnd__search *search, double seconds, double best) {
    double worthwhile = search->space != REDIST_SPACE_HOST ? 0.985 : 0.97;
    return best < 0 || seconds < worthwhile * best;
}

/* Times a candidate and keeps it if it is the best so far. One that cannot be set up (memory), or fails, is no
 * reason to give up the others: where no plan at all can be made, making it fails. Collective, the same on all
 * ranks. */
static void try_candidate(struct fftnd__search *search,
                          const struct fftnd__configuration *candidate) {
    struct fftnd__trial trial;
    double seconds = -1;
    const char *failure = " could not be set up: ";
    int code = fftnd__trial_open(search, candidate, &trial);
    if (code == REDIST_OK) {
        code = fftnd__trial_time(search, &trial, &seconds);
        failure = " failed while it was timed: ";
    }
    char remark[REMARK_BYTES] = "";
    if (code != REDIST_OK)
        snprintf(remark, sizeof remark, "%s%s", failure, redist_error_message());
    struct fftnd__configuration taken = *candidate;
    taken.fused = trial.engine != NULL && trial.engine->is_fused;
    if (code == REDIST_OK && is_faster(search, seconds, search->best_seconds)) {
        search->best = taken;
        search->best_seconds = seconds;
    }
    report(search, &taken, code == REDIST_OK ? seconds : -1, remark);
    fftnd__trial_close(&trial);
}

/* ---------------------------------------------------------------- measuring */

static int is_best(const struct fftnd__search *search,
                   const struct fftnd__configuration *candidate) {
    char texts[2][FFTND__CONFIGURATION_BYTES];
    fftnd__configuration_print(candidate, search->request->shape.ndims, texts[0]);
    fftnd__configuration_print(&search->best, search->request->shape.ndims, texts[1]);
    return strcmp(texts[0], texts[1]) == 0;
}

/* On a device the first plan of a process takes time that others do not: whole arrays, and stored ones, have their turn
 * all the same. */
static int sure_candidates(const struct fftnd__search *search) {
    return search->space == REDIST_SPACE_HOST ? 0 : 2;
}

static void measure(struct fftnd__search *search, struct fftnd__candidates *candidates) {
    struct fftnd__configuration candidate = candidates->guess;
    int tried = 0;
    try_candidate(search, &candidate);
    const struct fftnd__configuration first = search->best; /* the guess as it could be built */
    while (fftnd__candidates_next(candidates, &search->best, &candidate))
        if (!is_best(search, &candidate)) {
            if (++tried > sure_candidates(search) && fftnd__trial_is_late(search))
                break;
            try_candidate(search, &candidate);
        }
    if (!is_best(search, &first)) /* it was timed when nothing was warm yet */
        try_candidate(search, &first);
}

/* ---------------------------------------------------------------- what is remembered */

int fftnd__planner_key(const struct fftnd__request *request, char key[FFTND__CONFIGURATION_BYTES]) {
    int nranks, node_size;
    REDIST_TRY(redist_node_size(request->user_comm, &node_size));
    key[0] = '\0';
    MPI_Comm_size(request->comm, &nranks);
    fftnd__append(key, "fft/ranks=%d/node=%d%s", nranks, node_size, request->arguments);
    return REDIST_OK;
}

/* What nothing could be timed of is a guess, which is not to be remembered. */
static void store(const struct fftnd__search *search, const char *key) {
    char text[FFTND__CONFIGURATION_BYTES];
    int is_timed = search->best_seconds >= 0;
    report(search, &search->best, search->best_seconds,
           is_timed ? "  <- chosen" : "  <- chosen, but nothing could be timed");
    fftnd__configuration_print(&search->best, search->request->shape.ndims, text);
    if (is_timed)
        redist_wisdom_store(search->comm, search->request->settings.wisdom_file, key, text);
}

/* Finds the text of a configuration; empty = none. */
static int recall(const struct fftnd__search *search, const char *key, int recalls,
                  char text[FFTND__CONFIGURATION_BYTES]) {
    text[0] = '\0';
    return recalls ? redist_wisdom_find(search->comm, search->request->settings.wisdom_file, key,
                                        FFTND__CONFIGURATION_BYTES, text)
                   : REDIST_OK;
}

static int recall_or_measure(struct fftnd__search *search, struct fftnd__candidates *candidates,
                             int recalls, int *remembered) {
    char key[FFTND__CONFIGURATION_BYTES], text[FFTND__CONFIGURATION_BYTES];
    struct fftnd__configuration found = search->best;
    REDIST_TRY(fftnd__planner_key(search->request, key));
    REDIST_TRY(recall(search, key, recalls, text));
    *remembered = fftnd__configuration_scan(text, search->request, &found);
    if (*remembered) {
        search->best = found;
        report(search, &found, -1, "  <- remembered");
    } else {
        measure(search, candidates);
        store(search, key);
    }
    return REDIST_OK;
}

/* ---------------------------------------------------------------- choosing */

/* The configuration in the environment, which is rank 0's; for tests, and to have one again. Collective. */
static int find_dictated(const struct fftnd__request *request,
                         char text[FFTND__CONFIGURATION_BYTES]) {
    MPI_Comm comm = request->comm;
    int rank;
    MPI_Comm_rank(comm, &rank);
    text[0] = '\0';
    if (request->settings.is_inner)
        return REDIST_OK;
    if (rank == 0 && getenv("FFTND_CONFIGURATION") != NULL)
        snprintf(text, FFTND__CONFIGURATION_BYTES, "%s", getenv("FFTND_CONFIGURATION"));
    return redist_broadcast(comm, text, FFTND__CONFIGURATION_BYTES, 0);
}

static int refuse_dictated(const char *text) {
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_ARGUMENT,
                          "FFTND_CONFIGURATION = \"%s\" is not a configuration for this transform",
                          text);
}

static int take_dictated(struct fftnd__search *search, const char *text) {
    return fftnd__configuration_scan(text, search->request, &search->best) ? REDIST_OK
                                                                           : refuse_dictated(text);
}

/* Takes the number of ranks of a text that has one. One axis over all ranks needs all of them. */
static int take_dictated_ranks(const struct fftnd__request *request, const char *text, int *ranks) {
    int number = fftnd__configuration_ranks(text);
    if (number > request->nranks || (number != 0 && request->shape.twiddles))
        return refuse_dictated(text);
    *ranks = number != 0 ? number : *ranks;
    return REDIST_OK;
}

static int measures(const struct fftnd__request *request) {
    return request->settings.effort != FFTND_ESTIMATE && !request->settings.offloads;
}

/* Chooses for a chain on the ranks of the request; `dictated` may be empty. */
static int choose(struct fftnd__search *search, const char *dictated, int recalls,
                  int *remembered) {
    struct fftnd__candidates candidates;
    REDIST_TRY(fftnd__candidates_init(&candidates, search->request, search->verbose));
    search->best = candidates.guess;
    if (dictated[0] != '\0')
        return take_dictated(search, dictated);
    if (candidates.is_open && measures(search->request))
        return recall_or_measure(search, &candidates, recalls, remembered);
    if (*remembered) /* the ranks */
        report(search, &search->best, -1, "  <- remembered");
    return REDIST_OK;
}

/* ---------------------------------------------------------------- choosing the ranks of the chain */

/* A chain on half the ranks is not tried if one on these takes more than this many times the least: still fewer would
 * take longer yet. */
enum { HOPELESS = 2 };

/* Divides the seconds of a plan among the numbers of ranks, down to those that plans of small arrays have. */
static double share_seconds(const struct fftnd__request *request) {
    static const double fewest = 0.04;
    double seconds = request->settings.plan_seconds;
    int numbers = 0;
    for (int n = request->nranks; n >= 1; n /= 2)
        numbers++;
    double share = seconds / numbers > fewest ? seconds / numbers : fewest;
    return share < seconds ? share : seconds;
}

/* Measures a chain on some ranks, and keeps it if it is the best so far. *seconds: of its best configuration, < 0 =
 * none could be timed. */
static int try_ranks(struct fftnd__search *search, int ranks, double *seconds) {
    struct fftnd__request own;
    struct fftnd__candidates candidates;
    struct fftnd__search trial = *search;
    REDIST_TRY(fftnd__ranks_take(search->request, ranks, &own));
    own.settings.plan_seconds = share_seconds(search->request);
    REDIST_TRY(fftnd__candidates_init(&candidates, &own, search->verbose));
    trial.request = &own;
    trial.begin = MPI_Wtime();
    trial.best = candidates.guess;
    trial.best_seconds = -1;
    if (candidates.is_open)
        measure(&trial, &candidates);
    else
        try_candidate(&trial, &candidates.guess);
    *seconds = trial.best_seconds;
    if (*seconds >= 0 && is_faster(search, *seconds, search->best_seconds)) {
        search->best = trial.best;
        search->best_seconds = *seconds;
    }
    return REDIST_OK;
}

/* Finds how many ranks are fastest: remembered, or measured. *ranks: 0 = all. The configuration of these ranks is
 * remembered under the same key. */
static int choose_ranks(struct fftnd__search *search, int recalls, int *ranks, int *remembered) {
    char key[FFTND__CONFIGURATION_BYTES], text[FFTND__CONFIGURATION_BYTES];
    int most = search->request->nranks;
    REDIST_TRY(fftnd__planner_key(search->request, key));
    REDIST_TRY(recall(search, key, recalls, text));
    *ranks = fftnd__configuration_ranks(text);
    *remembered = text[0] != '\0' && *ranks < most;
    if (*remembered)
        return REDIST_OK;
    for (int n = most; n >= 1; n /= 2) {
        double seconds = -1;
        REDIST_TRY(try_ranks(search, n, &seconds));
        if (seconds > HOPELESS * search->best_seconds)
            break;
    }
    store(search, key);
    *ranks = search->best.ranks;
    return REDIST_OK;
}

int fftnd__planner_choose(struct fftnd__request *request,
                          struct fftnd__configuration *configuration, int *remembered) {
    const struct fftnd__settings *settings = &request->settings;
    const struct fftnd__request wanted = *request;
    struct fftnd__search search = {.comm = request->comm,
                                   .request = &wanted,
                                   .space = settings->space,
                                   .best_seconds = -1,
                                   .begin = MPI_Wtime(),
                                   .verbose = redist_is_verbose(settings->verbose)};
    char dictated[FFTND__CONFIGURATION_BYTES];
    int recalls = *remembered, ranks = wanted.ranks;
    *remembered = 0;
    REDIST_TRY(find_dictated(request, dictated));
    REDIST_TRY(take_dictated_ranks(&wanted, dictated, &ranks));
    if (ranks == FFTND_CHOOSE_RANKS) {
        ranks = 0;
        if (dictated[0] == '\0' && measures(&wanted) && wanted.nranks > 1)
            REDIST_TRY(choose_ranks(&search, recalls, &ranks, remembered));
    }
    REDIST_TRY(fftnd__ranks_take(&wanted, ranks, request));
    search.request = request;
    if (search.best_seconds < 0) /* else it was measured with the ranks */
        REDIST_TRY(choose(&search, dictated, recalls, remembered));
    *configuration = search.best;
    return REDIST_OK;
}
