/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"

#if defined __x86_64__
#include <cpuid.h>
#endif
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Bytes of a sample: one takes longer than the clock's resolution, a hundred at most a tenth of a second. */
enum { SAMPLE = 1 << 19 };

/* ---------------------------------------------------------------- the memory */

/* Creates an arena; small pages are those of shared memory, as of most arrays that peers map. */
int redist__arena_create(struct redist__arena *arena, size_t bytes, int huge_pages) {
    int kind = huge_pages ? MAP_PRIVATE : MAP_SHARED;
    char *memory = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    if (huge_pages)
        (void)madvise(memory, 2 * bytes, MADV_HUGEPAGE);
    memset(memory, 1, 2 * bytes);
    *arena = (struct redist__arena){{memory, memory + bytes}, bytes, 0};
    return 1;
}

void redist__arena_free(struct redist__arena *arena) {
    munmap(arena->arrays[0], 2 * arena->bytes);
}

/* ---------------------------------------------------------------- one copy */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int is_cold(enum redist__copy_case where) {
    return where >= REDIST__FAR;
}

static size_t nearby(size_t bytes, size_t room) {
    return bytes < room ? bytes : room;
}

#if defined __x86_64__
/* Returns whether the processor flushes lines in parallel: older ones take longer for that than for the copies. */
static int flushes_lines(void) {
    enum { CLFLUSHOPT = 1 << 23 };
    unsigned a, b = 0, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & CLFLUSHOPT) != 0;
}

static void flush(const char *line) {
    __asm__ volatile("clflushopt %0" : : "m"(*line) : "memory");
}
#elif defined __aarch64__
static int flushes_lines(void) {
    return 1;
}

static void flush(const char *line) {
    __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}
#else
static int flushes_lines(void) {
    return 0;
}

static void flush(const char *line) {
    (void)line;
}
#endif

/* Flushes rows out of all caches: the last one may be too large to overwrite in time. */
static void evict(const char *rows, size_t count, ptrdiff_t stride, size_t run) {
    enum { LINE = 64 };
    if (!flushes_lines())
        return;
    for (size_t row = 0; row < count; row++, rows += stride)
        for (size_t line = 0; line < run; line += LINE)
            flush(rows + line);
    __sync_synchronize();
}

/* Returns an offset beyond the last copy's memory, so that a copy finds nothing in the caches. */
static size_t go_on(struct redist__arena *arena, size_t span) {
    size_t begin = arena->next + span <= arena->bytes ? arena->next : 0;
    arena->next = begin + span;
    return begin;
}

/* Measures a copy; tiles reuse memory, arrays are fresh. */
double redist__measure(struct redist__arena *arena, enum redist__copy_case where,
                       const struct redist__rows *rows, const struct redist__loop *loop) {
    size_t most = arena->bytes / (size_t)rows->source_stride,
           bytes = rows->bytes < most * rows->run ? rows->bytes : most * rows->run;
    size_t count = bytes / rows->run > 0 ? bytes / rows->run : 1;
    size_t span = count * (size_t)rows->source_stride,
           other = count * (size_t)rows->destination_stride;
    size_t begin = is_cold(where) ? go_on(arena, span > other ? span : other) : 0;
    int loads = where == REDIST__LOADS,
        stores = where == REDIST__STORES || where == REDIST__STORES_NONTEMPORAL;
    struct redist__copy copy = {.ndims = 1,
                                .run = rows->run,
                                .count = {count},
                                .source = {rows->source_stride},
                                .destination = {rows->destination_stride}};
    const char *from = arena->arrays[0] + (stores ? 0 : begin);
    char *to = arena->arrays[1] + (loads ? 0 : begin);
    if (is_cold(where) && !stores)
        evict(from, count, rows->source_stride, rows->run);
    if (is_cold(where) && !loads)
        evict(to, count, rows->destination_stride, rows->run);
    double start = now();
    redist__copy_run_with(&copy, from, to, loop);
    redist__copy_fence();
    return (now() - start) / (double)(count * rows->run);
}

/* Returns typical rows: of an array half the rows, as for the other of two ranks; of a tile without gaps. Neither has
 * powers of two, which would use a part of the caches only. */
struct redist__rows redist__typical_rows(enum redist__copy_case where, int class) {
    const redist_caches *caches = redist_find_caches();
    size_t run = redist__class_bytes(class), tile = caches->second / 8;
    if (class > 0)
        run += run / 2;
    struct redist__rows rows = {.run = run,
                                .source_stride = (ptrdiff_t)(2 * run),
                                .destination_stride = (ptrdiff_t)(2 * run)};
    rows.bytes = where == REDIST__FAR || where == REDIST__FAR_NONTEMPORAL ? (size_t)SAMPLE
                 : where == REDIST__MIDDLE ? nearby(caches->last / 8, (size_t)SAMPLE)
                                           : nearby(tile, (size_t)SAMPLE / 2);
    if (where == REDIST__STORES || where == REDIST__STORES_NONTEMPORAL)
        rows.source_stride = (ptrdiff_t)run;
    if (where == REDIST__LOADS)
        rows.destination_stride = (ptrdiff_t)run;
    return rows;
}

double redist__measure_pair(struct redist__arena *arena, size_t bytes,
                            const struct redist__loop *loop) {
    const size_t run = redist__class_bytes(REDIST__CLASSES - 1);
    struct redist__copy copy = {.ndims = 1,
                                .run = run,
                                .count = {bytes / run},
                                .source = {(ptrdiff_t)run},
                                .destination = {(ptrdiff_t)run}};
    redist__copy_run_with(&copy, arena->arrays[0], arena->arrays[1], loop);
    redist__copy_fence();
    double start = now();
    for (int back = 1; back >= 0; back--) {
        redist__copy_run_with(&copy, arena->arrays[back], arena->arrays[!back], loop);
        redist__copy_fence();
    }
    return (now() - start) / (double)(2 * bytes);
}

/* ---------------------------------------------------------------- candidates */

/* Checks that runs have whole lines to store past the caches. */
static int is_possible(const struct redist__loop *loop, int class) {
    enum { LINE = 64 };
    size_t run = redist__class_bytes(class);
    return run >= (size_t)loop->registers->least_run &&
           (!loop->nontemporal || (loop->registers->fence != NULL && run >= LINE));
}

/* Candidates: adjacent rows, and prefetch distance. */
static const struct {
    int abreast;
    size_t ahead;
} shapes[] = {{1, 0}, {1, 1024}, {1, 4096}, {2, 0},    {2, 8192},
              {4, 0}, {4, 8192}, {8, 0},    {8, 16384}};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Returns whether two shapes are the same loop: short rows are never copied side by side through the caches. */
static int is_same(enum redist__copy_case where, int class, int shape) {
    enum { SHORT_RUN = 256 };
    return shapes[shape].abreast > 1 && redist__class_bytes(class) < SHORT_RUN &&
           !redist__stores_past(where);
}

int redist__loop_candidate(enum redist__copy_case where, int class, int i,
                           const struct redist__loop *best, struct redist__loop *loop) {
    int past = redist__stores_past(where) && redist__class_bytes(class) >= 64;
    for (int shape = 0; shape < SHAPES; shape++) {
        if (is_same(where, class, shape))
            continue;
        *loop = (struct redist__loop){redist__registers_at(0), past, shapes[shape].abreast,
                                      shapes[shape].ahead};
        if (is_possible(loop, class) && i-- == 0)
            return 1;
    }
    for (int kind = 1; redist__registers_at(kind) != NULL; kind++) {
        *loop = (struct redist__loop){redist__registers_at(kind), past, best->abreast, best->ahead};
        if (is_possible(loop, class) && i-- == 0)
            return 1;
    }
    return 0;
}
