/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fastest copy loops of this machine: measured once, by all ranks of a node at the same time, since they share its
 * memory, then remembered under the name of the processor. Ranks may use different loops; only the size from which
 * arrays are stored past the caches affects methods, and is agreed on.
 */
#include "../copy/measure.h"
#include "planner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Limit of small arrays, which fit the caches of all processors, where loops differ little. */
enum { LEAST_BYTES = 1 << 20 };

/* Limits of the measurement. The best of three sweeps is undisturbed. An arena is larger than this rank's part of the
 * last cache, so that copied data are evicted before their next turn, and small enough for half a second. */
enum { SWEEPS = 3, MOST_LOOPS = 16, LARGEST_ARENA = 32 << 20, SMALLEST_ARENA = 4 << 20 };

/* ---------------------------------------------------------------- measuring */

struct contest {
    MPI_Comm node;
    struct redist__arena arena;
    struct redist__copy_table *table;
    size_t second, last, largest; /* the caches and the arrays, the smallest of any rank */
    int code;
};

/* Agrees on the times of the slowest rank. */
static void agree_on_times(struct contest *contest, int n, double seconds[]) {
    redist__keep_first(&contest->code,
                       redist_all_reduce(contest->node, seconds, n, MPI_DOUBLE, MPI_MAX));
}

/* Times the candidates from `first` to `last` - 1, interleaved, and keeps the best. */
static void compete(struct contest *contest, enum redist__copy_case where, int class, int first,
                    int last, double *least) {
    const struct redist__rows rows = redist__typical_rows(where, class);
    struct redist__loop *best = &contest->table->loops[where][class], loops[MOST_LOOPS];
    double seconds[MOST_LOOPS];
    int n = 0;
    for (int i = first; i < last && redist__loop_candidate(where, class, i, best, &loops[n]); i++)
        seconds[n++] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int i = 0; i < n; i++) {
            double once = redist__measure(&contest->arena, where, &rows, &loops[i]);
            seconds[i] = once < seconds[i] ? once : seconds[i];
        }
    agree_on_times(contest, n, seconds);
    for (int i = 0; i < n; i++)
        if (*least <= 0 || seconds[i] < *least) {
            *best = loops[i];
            *least = seconds[i];
        }
}

/* Counts the candidates of different shapes. */
static int count_shapes(enum redist__copy_case where, int class) {
    struct redist__loop loop, best = {redist__registers_at(0), 0, 1, 0};
    int n = 0;
    while (redist__loop_candidate(where, class, n, &best, &loop) &&
           loop.registers == redist__registers_at(0))
        n++;
    return n;
}

static void measure_case(struct contest *contest, enum redist__copy_case where) {
    for (int class = 0; class < REDIST__CLASSES; class ++) {
        int n = count_shapes(where, class);
        double least = 0;
        compete(contest, where, class, 0, n, &least);
        compete(contest, where, class, n, MOST_LOOPS, &least);
        contest->table->rates[where][class] = 1e-9 / least;
    }
}

/* Times arrays of a size, in seconds for a byte: through the caches, by the best loop, and past them. */
static void time_size(struct contest *contest, size_t bytes, double *cached, double *past) {
    static const enum redist__copy_case cases[] = {REDIST__MIDDLE, REDIST__FAR,
                                                   REDIST__FAR_NONTEMPORAL};
    enum { LOOPS = 3, LONG_RUNS = REDIST__CLASSES - 1, LONG_ENOUGH = 8 << 20 };
    double seconds[LOOPS] = {1, 1, 1};
    for (int i = 0; i < (bytes > LONG_ENOUGH ? LOOPS : 2 * LOOPS); i++) {
        const struct redist__loop *loop = &contest->table->loops[cases[i % LOOPS]][LONG_RUNS];
        double once = redist__measure_pair(&contest->arena, bytes, loop);
        seconds[i % LOOPS] = once < seconds[i % LOOPS] ? once : seconds[i % LOOPS];
    }
    agree_on_times(contest, LOOPS, seconds);
    *cached = seconds[0] < seconds[1] ? seconds[0] : seconds[1];
    *past = seconds[2];
}

/* Finds the threshold with the least time for all sizes from the second-level cache to a part of the last one. */
static void measure_threshold(struct contest *contest) {
    enum { MOST_SIZES = 8 };
    size_t sizes[MOST_SIZES], bytes = contest->last / 2;
    double gains[MOST_SIZES], gain = 0, most = 0;
    int n = 0;
    for (; bytes >= contest->second && n < MOST_SIZES; bytes /= 2)
        if (bytes <= contest->largest) {
            double cached, past;
            time_size(contest, bytes, &cached, &past);
            sizes[n] = bytes;
            gains[n++] = (cached - past) / cached;
        }
    contest->table->nontemporal_bytes = n > 0 ? sizes[0] : contest->last / 2;
    for (int i = 0; i < n; i++) {
        gain += gains[i]; /* by storing this size and all larger ones past the caches */
        if (gain > most) {
            most = gain;
            contest->table->nontemporal_bytes = sizes[i] / 10 * 7; /* half way to the next size */
        }
    }
}

static size_t arena_bytes(void) {
    size_t bytes = 2 * redist_find_caches()->last;
    bytes = bytes < LARGEST_ARENA ? bytes : LARGEST_ARENA;
    return bytes > SMALLEST_ARENA ? bytes : SMALLEST_ARENA;
}

/* Agrees on the sizes to time, as ranks bound to different cores may have different caches. */
static void agree_on_sizes(struct contest *contest, int created) {
    const redist_caches *caches = redist_find_caches();
    unsigned long long sizes[] = {caches->second, caches->last, created ? contest->arena.bytes : 0};
    contest->code = redist_all_reduce(contest->node, sizes, 3, MPI_UNSIGNED_LONG_LONG, MPI_MIN);
    contest->second = sizes[0];
    contest->last = sizes[1];
    contest->largest = sizes[2];
}

/* Measures the table, or leaves the guess without memory for it; *measured: whether all ranks had memory. */
static int measure(const struct redist__context *context, struct redist__copy_table *table,
                   int *measured) {
    struct contest contest = {.node = context->node, .table = table};
    int created = redist__arena_create(&contest.arena, arena_bytes(), 0);
    agree_on_sizes(&contest, created);
    *measured = contest.largest != 0;
    for (int i = 0; i < REDIST__CASES && *measured; i++)
        measure_case(&contest, (enum redist__copy_case)i);
    if (*measured)
        measure_threshold(&contest);
    if (created)
        redist__arena_free(&contest.arena);
    return contest.code;
}

/* ---------------------------------------------------------------- remembering */

static const char threshold_name[] = "nontemporal_bytes";

/* Makes a key of one word, for this processor and number of ranks. */
static void make_key(const struct redist__context *context, const char *what,
                     char key[REDIST_WISDOM_BYTES]) {
    const redist_caches *caches = redist_find_caches();
    snprintf(key, REDIST_WISDOM_BYTES, "loops/%s/caches=%zu,%zu/ranks=%d/%s", caches->processor,
             caches->second, caches->last_whole, context->node_size, what);
    for (char *blank = key; (blank = strchr(blank, ' ')) != NULL;)
        *blank = '_';
}

static void print_case(const struct redist__copy_table *table, enum redist__copy_case where,
                       char text[REDIST_WISDOM_BYTES]) {
    size_t length = 0;
    for (int class = 0; class < REDIST__CLASSES; class ++) {
        char loop[REDIST__LOOP_BYTES];
        redist__loop_print(&table->loops[where][class], loop);
        length +=
            (size_t)redist_text_print(text + length, REDIST_WISDOM_BYTES - length, "%s%s=%.1f",
                                      class > 0 ? "," : "", loop, table->rates[where][class]);
    }
}

/* Reads loops from a file: with nontemporal stores only for the cases whose copies are always fenced. */
static int scan_case(const char *text, struct redist__copy_table *table,
                     enum redist__copy_case where) {
    for (int class = 0; class < REDIST__CLASSES; class ++) {
        char loop[REDIST__LOOP_BYTES];
        int length = 0;
        double *rate = &table->rates[where][class];
        if (redist_text_scan(text, "%31[^=,]=%lf%n", loop, rate, &length) != 2 || !(*rate > 0) ||
            !isfinite(*rate) || !redist__loop_scan(loop, &table->loops[where][class]) ||
            (table->loops[where][class].nontemporal && !redist__stores_past(where)))
            return 0;
        text += length;
        if (*text++ != (class + 1 < REDIST__CLASSES ? ',' : '\0'))
            return 0;
    }
    return 1;
}

static int scan_threshold(const char *text, struct redist__copy_table *table) {
    int length = 0;
    return redist_text_scan(text, "%zu%n", &table->nontemporal_bytes, &length) == 1 &&
           text[length] == '\0' && table->nontemporal_bytes > 0;
}

/* Finds the table. All ranks of the node use its first rank's text if all have the loops of it. */
static int find(const struct redist__context *context, const char *file,
                struct redist__copy_table *table, int *found) {
    char key[REDIST_WISDOM_BYTES], text[REDIST_WISDOM_BYTES];
    make_key(context, threshold_name, key);
    REDIST_TRY(redist_wisdom_find(context->node, file, key, sizeof text, text));
    *found = text[0] != '\0';
    if (!*found) /* on all ranks */
        return REDIST_OK;
    *found = scan_threshold(text, table);
    int code = REDIST_OK;
    for (int i = 0; i < REDIST__CASES; i++) {
        make_key(context, redist__copy_cases[i], key);
        int looked = redist_wisdom_find(context->node, file, key, sizeof text, text);
        redist__keep_first(&code, looked);
        *found &= code == REDIST_OK && scan_case(text, table, (enum redist__copy_case)i);
    }
    redist__keep_first(&code, redist_all_lowest(context->node, *found, found));
    return code;
}

static void store(const struct redist__context *context, const char *file,
                  const struct redist__copy_table *table) {
    char key[REDIST_WISDOM_BYTES], text[REDIST_WISDOM_BYTES];
    for (int i = 0; i < REDIST__CASES; i++) {
        make_key(context, redist__copy_cases[i], key);
        print_case(table, (enum redist__copy_case)i, text);
        redist_wisdom_store(context->node, file, key, text);
    }
    make_key(context, threshold_name, key);
    snprintf(text, sizeof text, "%zu", table->nontemporal_bytes);
    redist_wisdom_store(context->node, file, key, text);
}

/* ---------------------------------------------------------------- choosing */

static int find_or_measure(const struct redist__context *context, const redist_options *options) {
    struct redist__copy_table table;
    int found = 0, measured = 0;
    redist__copy_guess(&table);
    int code = find(context, options->wisdom_file, &table, &found);
    if (code == REDIST_OK && !found && options->effort != REDIST_ESTIMATE) {
        redist__copy_guess(&table);
        code = measure(context, &table, &measured);
        if (code == REDIST_OK && measured)
            store(context, options->wisdom_file, &table);
    }
    if (code == REDIST_OK && (found || measured))
        redist__copy_set_table(&table);
    return code;
}

int redist__loops_matter(size_t largest_bytes) {
    return largest_bytes > LEAST_BYTES;
}

/* Chooses loops. Small arrays too need one threshold: the tables of other communicators or nodes may differ. */
int redist__loops_choose(struct redist__context *context, const redist_options *options,
                         size_t largest_bytes, size_t *nontemporal_bytes) {
    int matter = redist__loops_matter(largest_bytes), code = REDIST_OK;
    int known = !matter || redist__copy_is_set();
    if (matter)
        code = redist_all_lowest(context->node, known, &known);
    if (code == REDIST_OK && !known)
        code = find_or_measure(context, options);
    unsigned long long bytes = redist__copy_table()->nontemporal_bytes;
    redist__keep_first(
        &code, redist_all_reduce(context->comm, &bytes, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX));
    *nontemporal_bytes = bytes;
    return redist_agree(context->comm, code);
}

int redist_choose_loops(MPI_Comm comm, const redist_options *options, size_t largest_bytes,
                        size_t *nontemporal_bytes) {
    struct redist__context *context;
    int code = redist_check_comm(comm);
    if (code == REDIST_OK)
        code = redist__context_get(comm, &context);
    if (code != REDIST_OK)
        return code;
    code = redist__loops_choose(context, options, largest_bytes, nontemporal_bytes);
    redist__context_release(context);
    return code;
}
