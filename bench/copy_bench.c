/* SPDX-License-Identifier: BSD-3-Clause */
/* copy-bench: the loops that copy rows, beside each other and beside a plain one. */
#include "../libredist/copy/measure.h"
#include "json.h"
#include "options.h"
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const pages[] = {"small", "huge", NULL};
static const char *const strides[] = {"typical", "power", "odd", NULL};
enum { POWER = 1, ODD };
enum { SHORTEST = 16, LONGEST = 1 << 20, MOST_LOOPS = 32 };

static const char notes[] =
    "Each line is one loop for runs of one length: registers, rows side by side, bytes fetched "
    "ahead,\n"
    "and whether stores bypass the caches (past). All ranks copy at the same time; a rate is that "
    "of\n"
    "the slowest rank, the median of all rounds, interleaved. 1 GB = 10^9 bytes that are copied.\n"
    "Cases: near = both arrays in the second-level cache, middle = in the last one, far = in "
    "memory,\n"
    "load = from memory into a tile in the cache, store = back.\n"
    "exit code: 0; 1 if a loop copies anything else than the plain one; 2 for a bad command line\n";

struct settings {
    int iterations, page, stride, json, ranks;
    const char *loops, *only;
    struct redist__arena arena;
};

/* ---------------------------------------------------------------- what is measured */

/* Of the class that the planner has for this length. */
static int class_of(size_t run) {
    int class = REDIST__CLASSES - 1;
    while (class > 0 && run < redist__class_bytes(class))
        class --;
    return class;
}

static struct redist__rows rows_of(const struct settings *settings, enum redist__copy_case where,
                                   size_t power) {
    struct redist__rows rows = redist__typical_rows(where, class_of(power));
    ptrdiff_t apart[2] = {rows.source_stride / (ptrdiff_t)rows.run,
                          rows.destination_stride / (ptrdiff_t)rows.run};
    rows.run = settings->stride == POWER || power < 32 ? power : power + power / 2;
    rows.source_stride = apart[0] * (ptrdiff_t)rows.run;
    rows.destination_stride =
        apart[1] * (ptrdiff_t)rows.run + (settings->stride == ODD ? SHORTEST : 0);
    return rows;
}

/* Those that were named, else those that plans try. */
static int list_loops(const struct settings *settings, enum redist__copy_case where, size_t run,
                      struct redist__loop loops[MOST_LOOPS]) {
    int n = 0;
    for (const char *text = settings->loops; text != NULL && *text != '\0' && n < MOST_LOOPS;) {
        char name[REDIST__LOOP_BYTES];
        size_t length = strcspn(text, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, text);
        n += redist__loop_scan(name, &loops[n]);
        text += length + (text[length] == ',');
    }
    if (settings->loops != NULL)
        return n;
    loops[n++] = (struct redist__loop){&redist__registers_plain, 0, 1, 0};
    for (int abreast = 1; abreast <= 8; abreast *= 8) /* the later ones depend on the best one */
        for (int i = 0; n < MOST_LOOPS; i++, n++) {
            const struct redist__loop best = {NULL, 0, abreast, abreast == 1 ? 0 : 16384};
            if (!redist__loop_candidate(where, class_of(run), i, &best, &loops[n]))
                break;
            n -= abreast == 8 && loops[n].registers == redist__registers_at(0);
        }
    return n;
}

/* ---------------------------------------------------------------- checking */

/* Whether a loop copies what a plain one copies, and nothing else. */
static int is_right(const struct settings *settings, const struct redist__rows *rows,
                    const struct redist__loop *loop) {
    enum { SHIFT = 48 }; /* not at the begin of a line */
    size_t span = (size_t)(rows->destination_stride > rows->source_stride ? rows->destination_stride
                                                                          : rows->source_stride),
           n = 1 + 5 * (rows->run < 65536), bytes = n * span + SHIFT;
    unsigned char *from = malloc(bytes), *to = malloc(bytes), *expected = malloc(bytes);
    if (from == NULL || to == NULL || expected == NULL || bytes > settings->arena.bytes)
        bench_abort("copy-bench: no memory to check %zu bytes", bytes);
    for (size_t i = 0; i < bytes; i++)
        from[i] = (unsigned char)(i * 2654435761u >> 13);
    memset(to, 0, bytes);
    memset(expected, 0, bytes);
    for (size_t row = 0; row < n; row++)
        memcpy(expected + SHIFT + row * (size_t)rows->destination_stride,
               from + row * (size_t)rows->source_stride, rows->run);
    struct redist__copy copy = {.ndims = 1,
                                .run = rows->run,
                                .count = {n},
                                .source = {rows->source_stride},
                                .destination = {rows->destination_stride}};
    redist__copy_run_with(&copy, from, to + SHIFT, loop);
    redist__copy_fence();
    int right = memcmp(to, expected, bytes) == 0;
    free(from);
    free(to);
    free(expected);
    return right;
}

/* ---------------------------------------------------------------- measuring */

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void print_rate(const struct settings *settings, enum redist__copy_case where,
                       const struct redist__rows *rows, const struct redist__loop *loop,
                       double rate, int best) {
    char name[REDIST__LOOP_BYTES];
    redist__loop_print(loop, name);
    if (!settings->json) {
        printf("%-18s %8zu  %-24s %8.2f%s\n", redist__copy_cases[where], rows->run, name, rate,
               best ? "  <- best" : "");
        return;
    }
    bench_json_begin();
    bench_json_text("benchmark", "copy-bench");
    bench_json_machine();
    bench_json_text("case", redist__copy_cases[where]);
    bench_json_text("pages", pages[settings->page]);
    bench_json_text("strides", strides[settings->stride]);
    bench_json_text("loop", name);
    bench_json_integer("run", (long long)rows->run);
    bench_json_integer("ranks", settings->ranks);
    bench_json_number("gb_per_s", rate);
    bench_json_end();
}

/* Medians over the rounds of the slowest rank's times. */
static void time_loops(struct settings *settings, enum redist__copy_case where,
                       const struct redist__rows *rows, int n, const struct redist__loop loops[],
                       double rates[]) {
    double *seconds = malloc((size_t)(n * settings->iterations) * sizeof *seconds);
    if (seconds == NULL)
        bench_abort("copy-bench: no memory for times");
    for (int round = -1; round < settings->iterations; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < n; i++)
            seconds[i * settings->iterations + (round < 0 ? 0 : round)] =
                redist__measure(&settings->arena, where, rows, &loops[i]);
    }
    MPI_Allreduce(MPI_IN_PLACE, seconds, n * settings->iterations, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        double *first = seconds + i * settings->iterations;
        qsort(first, (size_t)settings->iterations, sizeof *first, compare);
        rates[i] = 1e-9 / first[settings->iterations / 2];
    }
    free(seconds);
}

/* Returns how many loops are wrong. */
static int measure_runs(struct settings *settings, enum redist__copy_case where, size_t run) {
    struct redist__loop loops[MOST_LOOPS];
    const struct redist__rows rows = rows_of(settings, where, run);
    double rates[MOST_LOOPS];
    int n = list_loops(settings, where, run, loops), best = 0, wrong = 0, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    time_loops(settings, where, &rows, n, loops, rates);
    for (int i = 0; i < n; i++)
        best = rates[i] > rates[best] ? i : best;
    for (int i = 0; i < n; i++) {
        int right = is_right(settings, &rows, &loops[i]);
        wrong += !right;
        if (rank == 0)
            print_rate(settings, where, &rows, &loops[i], rates[i], i == best);
        if (!right)
            fprintf(stderr, "copy-bench: the loop above is wrong on rank %d\n", rank);
    }
    return wrong;
}

/* ---------------------------------------------------------------- command line */

static struct settings settings = {.iterations = 11};

/* clang-format off */
static const bench_option options[] = {
    {.name = "case", .kind = BENCH_TEXT, .value = &settings.only, .argument = "CASE",
     .help = "only this one: near, middle, far, far-nontemporal, load, store, store-nontemporal"},
    {.name = "loops", .kind = BENCH_TEXT, .value = &settings.loops, .argument = "LOOP,...",
     .help = "these, such as avx2/8/8192/past,plain/1/0, not those that plans try"},
    {.name = "pages", .kind = BENCH_CHOICE, .value = &settings.page, .words = pages,
     .help = "of the memory (small)"},
    {.name = "strides", .kind = BENCH_CHOICE, .value = &settings.stride, .words = strides,
     .help = "twice one and a half of a power of two, a power of two, or 16 bytes more than the "
             "first in destinations, where rows do not begin at lines of the caches (typical)"},
    {.name = "iters", .kind = BENCH_NUMBER, .value = &settings.iterations, .argument = "N",
     .help = "rounds (11)", .minimum = 1},
    {.name = "json", .kind = BENCH_FLAG, .value = &settings.json,
     .help = "one JSON object a line, no table"}};
/* clang-format on */

static int run(const bench_program *program) {
    (void)program;
    MPI_Comm_size(MPI_COMM_WORLD, &settings.ranks);
    if (!redist__arena_create(&settings.arena, (size_t)64 << 20, settings.page))
        bench_abort("copy-bench: no memory to copy in");
    int wrong = 0;
    for (int where = 0; where < REDIST__CASES; where++) {
        if (settings.only != NULL && strcmp(settings.only, redist__copy_cases[where]) != 0)
            continue;
        for (size_t bytes = SHORTEST; bytes <= LONGEST; bytes *= bytes < 1024 ? 2 : 4)
            wrong += measure_runs(&settings, (enum redist__copy_case)where, bytes);
    }
    redist__arena_free(&settings.arena);
    return wrong > 0;
}

BENCH_MAIN("copy-bench", "times the loops that copy rows of arrays", notes, NULL, run)
