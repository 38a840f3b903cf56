/* SPDX-License-Identifier: BSD-3-Clause */
#include "../../liblines/lines.h"
#include "planner.h"

#include <stdint.h>
#include <string.h>

enum { USUAL_SEGMENTS = 4, NETWORK_SEGMENTS = 2, FEWEST_LINES = 8, MANY_CACHES = 8 };

/* Bytes of the rows that a tile reads and writes: memory is fastest where these are long. The cache holds two of the
 * largest tiles, so that what they come from has room, and four of the smallest, of which there are enough then. */
enum { LONG_ROW = 3 << 9, LEAST_TILES = 2, MOST_TILES = 4 };

/* Larger arrays are faster in segments, since copy engines work beside transforms. */
static const size_t most_stored_bytes = (size_t)512 << 20;

/* Whole arrays that transforms store are the guess below: measured on two and four H200s, where segments of 134 MB are
 * faster and of 131 MB slower (docs/performance-notebook.md). */
static const size_t small_bytes = (size_t)128 << 20;

static int is_on_device(const struct fftnd__request *request) {
    return request->settings.space != REDIST_SPACE_HOST;
}

/* ---------------------------------------------------------------- the guess */

static int has_stores(const struct fftnd__request *request) {
    return lines__library_for(request->settings.space)->stores != NULL;
}

/* Between nodes each segment is a group of messages, of which few large ones are faster than many; transforms store
 * into their buffers, which saves packing them (measured on four H200s with nodes of one:
 * docs/performance-notebook.md). */
static void guess_for_network(struct fftnd__candidates *candidates) {
    struct fftnd__configuration *guess = &candidates->guess;
    guess->segments = NETWORK_SEGMENTS;
    guess->partitions = 1;
    guess->direct_stores = has_stores(candidates->request) ? FFTND__DIRECT_ALL : FFTND__DIRECT_NONE;
}

/* A rank's share of the array on the spectral side, about; the same on all ranks. */
static size_t share_bytes(const struct fftnd__request *request) {
    size_t bytes = lines__item_bytes(request->precision, 0);
    for (int i = 0; i < request->shape.ndims; i++)
        bytes *= (size_t)fftnd__request_extent(request, i);
    return bytes / (size_t)request->nranks;
}

/* Partitions hide all of the last transform but its last one; but they need a second work array, which a user who does
 * not even measure may not have. The more there are the sooner the first one is complete; in a user's stream each costs
 * a kernel that waits. */
static void guess_segments(struct fftnd__candidates *candidates) {
    const struct fftnd__settings *settings = &candidates->request->settings;
    struct fftnd__configuration *guess = &candidates->guess;
    int cuts = settings->fusion != FFTND_FUSION_NEVER && candidates->request->nranks > 1;
    int is_small =
        has_stores(candidates->request) && share_bytes(candidates->request) < small_bytes;
    guess->fused = guess->tiled = 0;
    guess->segments = cuts ? USUAL_SEGMENTS : 1;
    guess->partitions = !cuts || settings->effort == FFTND_ESTIMATE ? 1
                        : settings->asynchronous                    ? USUAL_SEGMENTS
                                                                    : 2 * USUAL_SEGMENTS;
    guess->direct_stores =
        cuts && has_stores(candidates->request) ? FFTND__DIRECT_LOCAL : FFTND__DIRECT_NONE;
    if (cuts && candidates->nnodes > 1) {
        guess_for_network(candidates);
    } else if (cuts && is_small) {
        guess->segments = guess->partitions = 1;
        guess->direct_stores = FFTND__DIRECT_ALL;
    }
}

/* Finds which stores bypass the caches: as measured for copies, and on several ranks into arrays of more than a third
 * of the last cache, which other stages use before the next one reads them. Pairs of 5.6 to 8.4 MB take 0.91 to 0.99 of
 * the time on an AMD EPYC, of 7 to 10 MB 0.8 to 0.95 on an Intel Xeon (docs/performance-notebook.md). Collective. */
static int find_threshold(const struct fftnd__candidates *candidates, size_t *nontemporal_bytes) {
    const struct fftnd__request *request = candidates->request;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    size_t bytes = is_on_device(request) ? 0 : share_bytes(request);
    size_t most = candidates->last_bytes / 3;
    options.effort = request->settings.effort != FFTND_ESTIMATE ? REDIST_MEASURE : REDIST_ESTIMATE;
    options.wisdom_file = request->settings.wisdom_file;
    int code = redist_choose_loops(request->comm, &options, bytes, nontemporal_bytes);
    if (!is_on_device(request) && request->nranks > 1 && *nontemporal_bytes > most)
        *nontemporal_bytes = most;
    return code;
}

/* The axis that is transformed last, and first backward; the last of the order if none is transformed. */
static int find_last_whole(const struct fftnd__request *request,
                           const struct fftnd__configuration *guess) {
    const struct fftnd__shape *shape = &request->shape;
    const int *order = guess->order;
    int place = 0;
    while (place + 1 < shape->ndims && fftnd__stays_split(shape->axes, order[place]))
        place++;
    for (int i = 0; i < shape->ndims && request->nranks > 1; i++)
        if (fftnd__is_late(shape, order, guess->grid_ndims, i))
            return order[i];
    return order[place];
}

/* Whether neighbours in memory belong to different lines along an axis. */
static int lies_across(const struct fftnd__request *request, int axis) {
    const struct fftnd__settings *settings = &request->settings;
    return axis + 1 < request->shape.ndims ||
           (settings->batch > 1 && settings->batch_position == FFTND_BATCH_LAST);
}

/* Lines that are transformed side by side, a few at a time, are read from an array as they would be from a tile, and
 * nothing copies them there and back: the next ones are fetched meanwhile. Complex axes across memory have such
 * lines. */
static int has_columns(const struct fftnd__request *request,
                       const struct fftnd__configuration *guess) {
    const struct lines__problem lines = {.precision = request->precision,
                                         .direction = REDIST_FORWARD,
                                         .effort = request->settings.effort,
                                         .general = lines__library_for(request->settings.space)};
    int axis = find_last_whole(request, guess);
    return !is_on_device(request) && request->settings.threads == 1 &&
           request->shape.axes[axis] == FFTND_AXIS_COMPLEX && lies_across(request, axis) &&
           !request->shape.twiddles && lines__columns_gain(&lines, request->shape.points[axis], 1);
}

/* Ranks may have other caches, but which steps there are, and which candidates are tried, has to be the same on all of
 * them: the smallest caches count, and `untiled` if it holds on all ranks. An array that fits a cache stays there from
 * one transform to the next: the library does as well by itself as tiles do, which have to be copied. Collective. */
static int agree_on_caches(struct fftnd__candidates *candidates, int *untiled) {
    const struct fftnd__request *request = candidates->request;
    const redist_caches *caches = redist_find_caches();
    long long least[3] = {(long long)caches->second, (long long)caches->last,
                          share_bytes(request) <= caches->second ||
                              has_columns(request, &candidates->guess)};
    int code = redist_all_reduce(request->comm, least, 3, MPI_LONG_LONG, MPI_MIN);
    candidates->cache_bytes = (size_t)least[0];
    candidates->last_bytes = (size_t)least[1];
    *untiled = (int)least[2];
    return redist_agree(request->comm, code);
}

/* Of a tile with several lines: with fewer, only parts of cache lines would be moved. */
static size_t bytes_of_lines(const struct fftnd__request *request, redist_index points) {
    return FEWEST_LINES * (size_t)points * lines__item_bytes(request->precision, 0);
}

/* Of the transformed axes, and how many these are. */
static redist_index find_longest(const struct fftnd__shape *shape, int *count) {
    redist_index longest = 1;
    *count = 0;
    for (int i = 0; i < shape->ndims; i++)
        if (shape->axes[i] != FFTND_AXIS_NONE) {
            longest = shape->points[i] > longest ? shape->points[i] : longest;
            (*count)++;
        }
    return longest;
}

/* Guesses the bytes of tiles with long rows of lines that are apart. Rows and columns of one long axis are long. */
static size_t guess_tile(const struct fftnd__candidates *candidates) {
    const struct fftnd__shape *shape = &candidates->request->shape;
    int count;
    redist_index longest = find_longest(shape, &count);
    size_t cache_bytes = candidates->cache_bytes, least = cache_bytes / MOST_TILES,
           most = cache_bytes / LEAST_TILES, bytes = LONG_ROW * (size_t)longest,
           lines = shape->twiddles ? bytes_of_lines(candidates->request, longest) : 0;
    bytes = bytes < least ? least : bytes > most ? most : bytes;
    return bytes < lines ? lines : bytes;
}

/* On one rank. What does not fit the second-level cache is still faster there and back through the last one, which has
 * to hold what goes in and what comes out beside other data, than through memory for each axis. */
static size_t guess_group(const struct fftnd__candidates *candidates) {
    size_t share = candidates->last_bytes / 4;
    return share > candidates->cache_bytes ? share : candidates->cache_bytes;
}

/* Bytes from which on an array is faster in tiles (measured on one core: docs/performance-notebook.md). `only` is the
 * single transformed axis, or -1: a library's plan of several goes through memory for each. Lines across memory a
 * library visits one by one, in rows that many lines share: a tile fetches these once. Contiguous lines wait for
 * memory, out of place twice, as stores read what they overwrite: tiles fetch the next rows meanwhile and store past
 * the caches. That costs more than it saves while the last cache has the array, and for real lines, which have half the
 * bytes. */
static size_t least_tiled_bytes(const struct fftnd__candidates *candidates, int only) {
    const struct fftnd__request *request = candidates->request;
    size_t many = MANY_CACHES * candidates->cache_bytes;
    if (only < 0 || lies_across(request, only))
        return many;
    if (only == request->shape.halved)
        return SIZE_MAX;
    return many > candidates->last_bytes ? many : candidates->last_bytes;
}

/* Tiles are shared by threads. For one thread on one rank they are for large arrays, with several lines in a tile, but
 * not for columns of a single axis, which are read from the array as from a tile. */
static int prefers_tiles(const struct fftnd__candidates *candidates) {
    const struct fftnd__request *request = candidates->request;
    const struct fftnd__configuration *guess = &candidates->guess;
    int count;
    redist_index longest = find_longest(&request->shape, &count);
    int only = count == 1 ? find_last_whole(request, guess) : -1;
    return request->settings.threads > 1 ||
           (count > 0 && !(count == 1 && guess->untiled) && !request->shape.twiddles &&
            share_bytes(request) > least_tiled_bytes(candidates, only) &&
            bytes_of_lines(request, longest) <= candidates->cache_bytes);
}

/* Whether the user leaves the process grid open. */
static int has_grids(const struct fftnd__request *request) {
    return request->nranks > 1 && !request->has_grid;
}

int fftnd__candidates_init(struct fftnd__candidates *candidates,
                           const struct fftnd__request *request, int verbose) {
    const struct fftnd__settings *settings = &request->settings;
    struct fftnd__configuration *guess = &candidates->guess;
    int transposed = settings->local_transpose == FFTND_LOCAL_TRANSPOSE_ALWAYS;
    candidates->request = request;
    candidates->verbose = verbose;
    candidates->kind = candidates->next = 0;
    *guess = (struct fftnd__configuration){.ranks = request->ranks,
                                           .fused = settings->fusion != FFTND_FUSION_NEVER &&
                                                    !transposed,
                                           .tiled = request->nranks > 1 && !transposed,
                                           .transposed = transposed,
                                           .group_bytes = SIZE_MAX,
                                           .segments = 1,
                                           .partitions = 1};
    int untiled;
    const int *node_of;
    fftnd__grids_guess(request, guess);
    int code = agree_on_caches(candidates, &untiled);
    guess->tile_bytes = settings->tile_bytes != 0 ? settings->tile_bytes : guess_tile(candidates);
    guess->untiled =
        !transposed && untiled && settings->tile_bytes == 0; /* a user who names it wants tiles */
    if (code == REDIST_OK)
        code = find_threshold(candidates, &guess->nontemporal_bytes);
    candidates->nnodes = 1;
    if (code == REDIST_OK && (is_on_device(request) || has_grids(request)))
        code = redist_nodes(request->user_comm, 0, &candidates->nnodes, &node_of);
    if (is_on_device(request)) {
        guess_segments(candidates);
    } else if (request->nranks == 1) {
        guess->tiled = !transposed && prefers_tiles(candidates);
        guess->group_bytes = guess_group(candidates);
    }
    candidates->is_open = is_on_device(request) || candidates->nnodes > 1;
    return code;
}

/* ---------------------------------------------------------------- variations */

/* Changes `candidate`, the best so far, for the i-th time. Returns 0 if there is no i-th variation; where
 * one does not suit the request it leaves the candidate as it is. */
typedef int vary(struct fftnd__candidates *candidates, int i,
                 struct fftnd__configuration *candidate);

/* The most promising grids first. */
static int vary_grid(struct fftnd__candidates *candidates, int i,
                     struct fftnd__configuration *candidate) {
    struct fftnd__grids *grids = &candidates->grids;
    if (!has_grids(candidates->request) ||
        (i == 0 && fftnd__grids_find(candidates->request, candidate, candidates->verbose, grids) !=
                       REDIST_OK) ||
        i == grids->count)
        return 0;
    candidate->grid_ndims = grids->list[i].ndims;
    memcpy(candidate->grid, grids->list[i].dims, sizeof candidate->grid);
    return 1;
}

/* Between nodes messages that arrive in the array itself save a pass over it, which partitions need. */
static int vary_arrivals(struct fftnd__candidates *candidates, int i,
                         struct fftnd__configuration *candidate) {
    candidate->transposed = FFTND__TRANSPOSED_ARRIVALS;
    candidate->partitions = 1;
    return i == 0 && candidates->nnodes > 1 && candidates->request->nranks > 1 &&
           candidates->request->settings.local_transpose == FFTND_LOCAL_TRANSPOSE_AUTO;
}

/* Where arrays are small, whole ones are often best, one step after the other, or stored by the transforms. Pieces are
 * as few as there can be then. */
static int vary_stored(struct fftnd__candidates *candidates, int i,
                       struct fftnd__configuration *candidate) {
    const struct fftnd__request *request = candidates->request;
    if (i > 1 || request->nranks == 1 || request->settings.fusion == FFTND_FUSION_NEVER ||
        share_bytes(request) > most_stored_bytes || !has_stores(request))
        return 0;
    candidate->segments = candidate->partitions = 1;
    candidate->direct_stores = i == 0 ? FFTND__DIRECT_NONE : FFTND__DIRECT_ALL;
    return 1;
}

/* A transform that stores what stays on its rank saves a copy, but is not always the fastest one of its lines. */
static int vary_own(struct fftnd__candidates *candidates, int i,
                    struct fftnd__configuration *candidate) {
    const struct fftnd__request *request = candidates->request;
    if (i > 0 || request->nranks == 1 || request->settings.fusion == FFTND_FUSION_NEVER ||
        !has_stores(request))
        return 0;
    if (candidate->direct_stores != FFTND__DIRECT_ALL)
        candidate->direct_stores = candidate->direct_stores == FFTND__DIRECT_LOCAL
                                       ? FFTND__DIRECT_NONE
                                       : FFTND__DIRECT_LOCAL;
    return 1;
}

/* First as many of both, since what one gains is often lost without the other. 0 = as it is. Segments of which all is
 * stored gain nothing within a node; between nodes each leaves as it is stored. */
static int vary_segments(struct fftnd__candidates *candidates, int i,
                         struct fftnd__configuration *candidate) {
    struct cuts {
        int segments, partitions;
    };
    static const struct cuts in_node[] = {{8, 8}, {16, 16}, {2, 2}, {8, 0}, {4, 0}, {2, 0},
                                          {1, 0}, {0, 8},   {0, 4}, {0, 2}, {0, 1}},
                             between_nodes[] = {{2, 2}, {4, 2}, {4, 1}, {1, 1},
                                                {8, 1}, {4, 4}, {1, 4}};
    const struct fftnd__request *request = candidates->request;
    int has_nodes = candidates->nnodes > 1;
    const struct cuts *values = has_nodes ? between_nodes : in_node;
    size_t n = has_nodes ? sizeof between_nodes / sizeof *values : sizeof in_node / sizeof *values;
    if (request->nranks == 1 || request->settings.fusion == FFTND_FUSION_NEVER || (size_t)i == n)
        return 0;
    if (candidate->direct_stores == FFTND__DIRECT_ALL &&
        !(has_nodes && values[i].partitions <= 2)) {
        if (values[i].segments == 0 || values[i].partitions == 0)
            return 1;
        candidate->direct_stores = FFTND__DIRECT_LOCAL;
    }
    if (values[i].segments != 0)
        candidate->segments = values[i].segments;
    if (values[i].partitions != 0)
        candidate->partitions = values[i].partitions;
    return 1;
}

int fftnd__candidates_next(struct fftnd__candidates *candidates,
                           const struct fftnd__configuration *best,
                           struct fftnd__configuration *candidate) {
    static vary *const on_host[] = {vary_grid, NULL};
    static vary *const on_device[] = {vary_stored,   vary_own, vary_grid, vary_arrivals,
                                      vary_segments, vary_own, NULL};
    vary *const *kinds = is_on_device(candidates->request) ? on_device : on_host;
    for (; kinds[candidates->kind] != NULL; candidates->kind++, candidates->next = 0) {
        *candidate = *best;
        if (kinds[candidates->kind](candidates, candidates->next++, candidate))
            return 1;
    }
    return 0;
}
