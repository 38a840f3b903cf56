/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts from a good guess and changes one thing at a time, keeping what is faster in a round trip on
 * arrays of the real shapes. The time that counts is the slowest rank's, so all ranks choose alike.
 */
#include "planner.h"
#include "../offload.h"
#include "cache.h"
#include "choice.h"
#include "grids.h"
#include "node_grid.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stores that bypass the caches pay for arrays that would not stay in them. */
static const size_t usual_nontemporal_bytes = (size_t)16 << 20;

enum { USUAL_CHUNKS = 4 };
enum { ROUNDS = 4 };

struct contest {
    MPI_Comm comm;
    const struct fftnd__request *request;
    struct fftnd__choice best;
    double best_seconds; /* of a round trip; < 0 = nothing could be timed */
    double begin, budget;
    int verbose, patient;
};

static int is_on_device(const struct fftnd__request *request) {
    return fftnd__serial_for(request->options.space)->space != REDIST_SPACE_HOST;
}

/* A change has to gain this much, or noise would decide: there is less of it on devices. */
static double worthwhile(const struct contest *contest) {
    return is_on_device(contest->request) ? 0.985 : 0.97;
}

/* ---------------------------------------------------------------- the guess */

static void guess_grid(const struct fftnd__request *request, int nranks,
                       struct fftnd__choice *choice) {
    const fftnd_options *options = &request->options;
    int halved = fftnd__halved_axis(request);
    fftnd__usual_order(request->ndims, halved, choice->order);
    if (options->order != NULL)
        memcpy(choice->order, options->order, (size_t)request->ndims * sizeof *options->order);
    if (request->ndims == 1)
        return;
    choice->grid_ndims = options->grid_ndims;
    if (choice->grid_ndims == 0)
        choice->grid_ndims = fftnd__choose_grid_ndims(
            request->ndims,
            options->retained_modes != NULL ? options->retained_modes : request->sizes, halved,
            choice->order, nranks);
    else if (options->grid != NULL)
        memcpy(choice->grid, options->grid, (size_t)choice->grid_ndims * sizeof *choice->grid);
    MPI_Dims_create(nranks, choice->grid_ndims, choice->grid);
    fftnd__align_grid(request, nranks, choice);
}

/* Pieces hide all of the last transform but its last piece, early transforms only make it shorter; but pieces
 * need a second work array, which nobody asks for who does not even want to measure. */
static void guess_chunks(const fftnd_options *options, int nranks, struct fftnd__choice *choice) {
    int chunks = options->fusion != FFTND_FUSION_NEVER && nranks > 1 ? USUAL_CHUNKS : 1;
    int measures = options->effort != FFTND_ESTIMATE;
    choice->fused = choice->tiled = 0;
    choice->chunks = chunks;
    choice->pieces = measures ? chunks : 1;
    choice->early = choice->pieces == 1;
}

/* What estimating takes, and where measuring starts. */
static void guess(struct contest *contest) {
    const struct fftnd__request *request = contest->request;
    const fftnd_options *options = &request->options;
    struct fftnd__choice *choice = &contest->best;
    int nranks;
    MPI_Comm_size(contest->comm, &nranks);
    int realigned = options->local_transpose == FFTND_LOCAL_TRANSPOSE_ALWAYS;
    *choice = (struct fftnd__choice){.fused = options->fusion != FFTND_FUSION_NEVER && !realigned,
                                     .tiled = nranks > 1 && !realigned,
                                     .realigned = realigned,
                                     .tile_bytes = fftnd__cache_bytes() / 8,
                                     .group_bytes = SIZE_MAX,
                                     .nontemporal_bytes = usual_nontemporal_bytes,
                                     .chunks = 1,
                                     .pieces = 1};
    if (is_on_device(request))
        guess_chunks(options, nranks, choice);
    if (options->tile_bytes != 0)
        choice->tile_bytes = options->tile_bytes;
    if (nranks == 1 && options->threads > 1) { /* nothing to join; tiles are what threads share */
        choice->tiled = 1;
        choice->group_bytes = fftnd__cache_bytes() / 2;
    }
    guess_grid(request, nranks, choice);
}

/* ---------------------------------------------------------------- timing */

static int out_of_time(const struct contest *contest) {
    int out = MPI_Wtime() - contest->begin > contest->budget;
    int result = redist_insist(MPI_Bcast(&out, 1, MPI_INT, 0, contest->comm));
    return out || result != MPI_SUCCESS;
}

/* Back even if forth has failed: the peers may not know, and would wait. */
static int round_trip(struct contest *contest, struct fftnd__engine *engine, void *const arrays[2],
                      double *seconds) {
    int begun = redist_check_mpi(redist_insist(MPI_Barrier(contest->comm)));
    double begin = MPI_Wtime();
    int forth = fftnd__engine_run(engine, REDIST_FORWARD, arrays[0], arrays[1]);
    int back = fftnd__engine_run(engine, REDIST_BACKWARD, arrays[1], arrays[0]);
    *seconds = MPI_Wtime() - begin;
    int ended = redist_check_mpi(
        redist_insist(MPI_Allreduce(MPI_IN_PLACE, seconds, 1, MPI_DOUBLE, MPI_MAX, contest->comm)));
    const int codes[] = {begun, forth, back, ended};
    int code = REDIST_OK;
    for (int i = 0; i < 4 && code == REDIST_OK; i++)
        code = codes[i];
    return redist_agree(contest->comm, code);
}

/* The best of some rounds after one to warm up. */
static int time_rounds(struct contest *contest, struct fftnd__engine *engine, void *const arrays[2],
                       double *best) {
    int code = REDIST_OK;
    for (int round = 0; round <= ROUNDS && code == REDIST_OK; round++) {
        double seconds;
        code = round_trip(contest, engine, arrays, &seconds);
        if (round > 0 && (*best < 0 || seconds < *best))
            *best = seconds;
        if (round > 0 && out_of_time(contest))
            break;
    }
    return code;
}

static int is_mapped(const struct contest *contest) {
    return is_on_device(contest->request) || contest->request->options.mapped_arrays;
}

/* There may be no room for more shared memory. Collective. */
static int allocate_mapped(struct contest *contest, size_t bytes, void **array) {
    enum redist_space space = fftnd__serial_for(contest->request->options.space)->space;
    int code = redist_alloc_in(contest->comm, space, bytes, array);
    if (code == REDIST_OK && contest->request->options.mapped_arrays && bytes != 0 &&
        !redist_is_mappable(space, *array, bytes))
        code = redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                              "no memory that peers can map to measure in");
    return redist_agree(contest->comm, code);
}

/* An array as a user may have it. Collective. */
static int allocate_array(struct contest *contest, size_t bytes, void **array) {
    if (is_mapped(contest))
        return allocate_mapped(contest, bytes, array);
    *array = redist_calloc(bytes, 1);
    int code = REDIST_OK;
    if (*array == NULL)
        code = redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY, "no memory to measure in");
    return redist_agree(contest->comm, code);
}

static void free_array(const struct contest *contest, void *array) {
    if (is_mapped(contest))
        redist_free(&array);
    else
        redist_release(array);
}

static int time_engine(struct contest *contest, struct fftnd__engine *engine, double *best) {
    void *arrays[2] = {NULL, NULL};
    int in_place = contest->request->options.in_place != 0, code = REDIST_OK;
    for (int i = 0; i < 2 - in_place && code == REDIST_OK; i++)
        code = allocate_array(contest, fftnd__engine_bytes(engine, i), &arrays[i]);
    void *const pair[2] = {arrays[0], arrays[in_place ? 0 : 1]};
    if (code == REDIST_OK)
        code = time_rounds(contest, engine, pair, best);
    free_array(contest, arrays[0]);
    free_array(contest, arrays[1]);
    return code;
}

static void report(const struct contest *contest, const struct fftnd__choice *choice,
                   double seconds, const char *remark) {
    char text[FFTND__CHOICE_BYTES];
    int rank;
    MPI_Comm_rank(contest->comm, &rank);
    if (rank != 0 || !contest->verbose)
        return;
    fftnd__choice_print(choice, contest->request->ndims, text);
    if (seconds >= 0)
        fprintf(stderr, "fftnd: %9.3f ms a round trip  %s%s\n", 1e3 * seconds, text, remark);
    else
        fprintf(stderr, "fftnd: %s%s\n", text, remark);
}

/* Times one choice and keeps it if it is the best so far. One that cannot be set up (memory), or fails, is no
 * reason to give up the others: a plan that cannot be had at all fails when it is made. Collective, the same on
 * all ranks. */
static void try_choice(struct contest *contest, const struct fftnd__choice *choice) {
    struct fftnd__request request = *contest->request;
    request.options.user_workspace = 0;
    request.options.verbose = 0;
    struct fftnd__engine *engine = redist_calloc(1, sizeof *engine);
    int code = redist_agree(contest->comm, engine != NULL ? REDIST_OK : REDIST_ERR_MEMORY);
    double seconds = -1;
    const char *failure = " could not be set up";
    if (code == REDIST_OK) {
        code = fftnd__engine_create(engine, &request, choice);
        if (code == REDIST_OK) {
            code = time_engine(contest, engine, &seconds);
            failure = code == REDIST_OK ? "" : " failed while it was timed";
        }
        struct fftnd__choice taken = *choice;
        taken.fused = engine->is_fused;
        if (code == REDIST_OK &&
            (contest->best_seconds < 0 || seconds < worthwhile(contest) * contest->best_seconds)) {
            contest->best = taken;
            contest->best_seconds = seconds;
        }
        report(contest, &taken, code == REDIST_OK ? seconds : -1, failure);
        fftnd__engine_destroy(engine);
    }
    redist_release(engine);
}

/* ---------------------------------------------------------------- what is tried */

static int is_best(const struct contest *contest, const struct fftnd__choice *choice) {
    char texts[2][FFTND__CHOICE_BYTES];
    fftnd__choice_print(choice, contest->request->ndims, texts[0]);
    fftnd__choice_print(&contest->best, contest->request->ndims, texts[1]);
    return strcmp(texts[0], texts[1]) == 0;
}

static void try_other(struct contest *contest, const struct fftnd__choice *choice) {
    if (!is_best(contest, choice) && !out_of_time(contest))
        try_choice(contest, choice);
}

/* The grids that have a chance, those first that have most. */
static void try_grids(struct contest *contest) {
    int nranks;
    MPI_Comm_size(contest->comm, &nranks);
    if (nranks == 1 || contest->request->options.grid != NULL)
        return;
    struct fftnd__grids *grids = redist_calloc(1, sizeof *grids);
    int code = redist_agree(contest->comm, grids != NULL ? REDIST_OK : REDIST_ERR_MEMORY);
    if (code == REDIST_OK)
        code = fftnd__grids_find(contest->comm, contest->request, contest->best.order,
                                 contest->verbose, grids);
    for (int i = 0; code == REDIST_OK && i < grids->count; i++) {
        struct fftnd__choice choice = contest->best;
        choice.grid_ndims = grids->list[i].ndims;
        memcpy(choice.grid, grids->list[i].dims, sizeof choice.grid);
        try_other(contest, &choice);
    }
    redist_release(grids);
}

/* With fewer grid dimensions than could be, the last axis may be split in place of the next one: then
 * the transforms between exchanges are along the slowest axes or along the fastest. */
static void split_last(struct contest *contest) {
    const struct fftnd__request *request = contest->request;
    struct fftnd__choice choice = contest->best;
    int last = request->ndims - 1, n = choice.grid_ndims, axis = choice.order[last];
    if (request->options.order != NULL || request->options.grid_ndims != 0 || n >= last)
        return;
    memmove(&choice.order[n + 1], &choice.order[n], (size_t)(last - n) * sizeof *choice.order);
    choice.order[n] = axis;
    try_other(contest, &choice);
}

static void try_realigned(struct contest *contest) {
    struct fftnd__choice choice = contest->best;
    if (contest->request->options.local_transpose != FFTND_LOCAL_TRANSPOSE_AUTO)
        return;
    choice.realigned = !choice.realigned;
    try_other(contest, &choice);
}

static void try_orders(struct contest *contest) {
    int nranks;
    MPI_Comm_size(contest->comm, &nranks);
    if (nranks == 1)
        return;
    split_last(contest);
    struct fftnd__choice choice = contest->best;
    choice.early = !choice.early;
    try_other(contest, &choice);
    try_realigned(contest);
}

static void try_ways(struct contest *contest) {
    static const struct {
        int fused, tiled, whole;
    } ways[] = {{0, 1, 0}, {0, 0, 0}, {1, 1, 0}, {1, 1, 1}};
    int fusion = (int)contest->request->options.fusion;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct fftnd__choice choice = contest->best;
        choice.fused = ways[i].fused;
        choice.tiled = ways[i].tiled;
        choice.whole = ways[i].whole;
        int allowed = choice.fused ? contest->best.fused : fusion != FFTND_FUSION_ALWAYS;
        if (allowed)
            try_other(contest, &choice);
    }
}

/* Values of one number of a choice that works in tiles. */
static void try_values(struct contest *contest, size_t offset, int n, const size_t values[]) {
    for (int i = 0; i < n; i++) {
        struct fftnd__choice choice = contest->best;
        memcpy((char *)&choice + offset, &values[i], sizeof values[i]);
        if (choice.fused || choice.tiled)
            try_other(contest, &choice);
    }
}

static void try_stores(struct contest *contest) {
    const size_t streams[] = {1, SIZE_MAX};
    try_values(contest, offsetof(struct fftnd__choice, nontemporal_bytes), 2, streams);
}

static void try_tiles(struct contest *contest) {
    size_t cache = fftnd__cache_bytes(), tile = contest->best.tile_bytes;
    const size_t groups[] = {cache / 2, SIZE_MAX};
    const size_t tiles[] = {tile / 2, tile * 2, tile / 4, tile * 4};
    try_values(contest, offsetof(struct fftnd__choice, group_bytes), 2, groups);
    if (contest->patient && contest->request->options.tile_bytes == 0)
        try_values(contest, offsetof(struct fftnd__choice, tile_bytes), 4, tiles);
}

/* Into how many chunks a transform is cut that are sent as they are done, and into how many pieces the next
 * one: first as many of both, since what one gains is often lost without the other. 0 = as it is. */
static void try_chunks(struct contest *contest) {
    static const struct {
        int chunks, pieces;
    } numbers[] = {{8, 8}, {16, 16}, {2, 2}, {8, 0}, {4, 0}, {2, 0},
                   {1, 0}, {0, 8},   {0, 4}, {0, 2}, {0, 1}};
    int nranks;
    MPI_Comm_size(contest->comm, &nranks);
    if (nranks == 1 || contest->request->options.fusion == FFTND_FUSION_NEVER)
        return;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct fftnd__choice choice = contest->best;
        choice.chunks = numbers[i].chunks != 0 ? numbers[i].chunks : choice.chunks;
        choice.pieces = numbers[i].pieces != 0 ? numbers[i].pieces : choice.pieces;
        try_other(contest, &choice);
    }
}

/* ---------------------------------------------------------------- choosing */

static void measure(struct contest *contest) {
    contest->begin = MPI_Wtime();
    struct fftnd__choice first = contest->best;
    try_choice(contest, &first);
    if (is_on_device(contest->request)) {
        try_grids(contest);
        try_orders(contest);
        try_chunks(contest);
        return;
    }
    try_stores(contest);
    try_grids(contest);
    try_ways(contest);
    try_tiles(contest);
}

static int is_verbose(const fftnd_options *options) {
    const char *text = getenv("REDIST_VERBOSE");
    return options->verbose || (text != NULL && strcmp(text, "0") != 0);
}

/* The environment's choice, which is rank 0's; for tests, and to have one again. Collective. */
static int take_dictated(const struct contest *contest, struct fftnd__choice *choice,
                         int *dictated) {
    char text[FFTND__CHOICE_BYTES] = "";
    int rank;
    MPI_Comm_rank(contest->comm, &rank);
    if (rank == 0 && getenv("FFTND_CONFIGURATION") != NULL)
        snprintf(text, sizeof text, "%s", getenv("FFTND_CONFIGURATION"));
    int code = redist_check_mpi(
        redist_insist(MPI_Bcast(text, FFTND__CHOICE_BYTES, MPI_CHAR, 0, contest->comm)));
    *dictated = text[0] != '\0';
    if (code == REDIST_OK && *dictated && !fftnd__choice_scan(text, contest->request, choice))
        code = redist_fail_in(
            "fftnd_plan_create", REDIST_ERR_ARGUMENT,
            "FFTND_CONFIGURATION = \"%s\" is not a configuration for this transform", text);
    return code;
}

/* What nothing could be timed of is a guess, which is not to be remembered. */
static void measure_and_store(struct contest *contest, const char *key,
                              struct fftnd__choice *choice) {
    char text[FFTND__CHOICE_BYTES];
    measure(contest);
    *choice = contest->best;
    if (contest->best_seconds < 0) {
        report(contest, choice, -1, "  <- chosen, but nothing could be timed");
        return;
    }
    report(contest, choice, contest->best_seconds, "  <- chosen");
    fftnd__choice_print(choice, contest->request->ndims, text);
    redist_wisdom_store(contest->comm, contest->request->options.wisdom_file, key, text);
}

static int recall_or_measure(struct contest *contest, struct fftnd__choice *choice,
                             int *remembered) {
    const char *file = contest->request->options.wisdom_file;
    char key[FFTND__CHOICE_BYTES], text[FFTND__CHOICE_BYTES] = "";
    struct fftnd__choice found = contest->best;
    int code = fftnd__choice_key(contest->comm, contest->request, key);
    if (code == REDIST_OK && *remembered)
        code = redist_wisdom_find(contest->comm, file, key, sizeof text, text);
    *remembered = code == REDIST_OK && fftnd__choice_scan(text, contest->request, &found);
    if (*remembered) {
        *choice = found;
        report(contest, choice, -1, "  <- remembered");
    } else if (code == REDIST_OK)
        measure_and_store(contest, key, choice);
    return code;
}

int fftnd__planner_choose(MPI_Comm comm, const struct fftnd__request *request,
                          struct fftnd__choice *choice, int *remembered) {
    const fftnd_options *options = &request->options;
    struct contest contest = {.comm = comm, .request = request, .best_seconds = -1};
    contest.patient = options->effort == FFTND_PATIENT;
    contest.budget = options->plan_seconds;
    contest.verbose = is_verbose(options);
    guess(&contest);
    *choice = contest.best;
    int dictated, measures = options->effort != FFTND_ESTIMATE && !fftnd__offload_wanted(options);
    int code = take_dictated(&contest, choice, &dictated);
    if (code == REDIST_OK && !dictated && measures)
        return recall_or_measure(&contest, choice, remembered);
    *remembered = 0;
    return code;
}
