/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that copy rows: each of the family against a plain one, several copies at once, loops as text, and what is
 * remembered of a measurement, also where the file is damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libredist/copy/copy.h"
#include "harness.h"
#include "mutations.h"
#include "random.h"
#include "redist_support.h"

enum { SPACE = 1 << 18, GUARD = 256, TEXT = REDIST_WISDOM_BYTES };

static unsigned char source[SPACE], destination[SPACE], expected[SPACE];

static void fill(void) {
    static int byte;
    byte++;
    for (size_t i = 0; i < SPACE && byte == 1; i++)
        source[i] = (unsigned char)random_hash(i);
    memset(destination, byte & 0xff, SPACE);
    memset(expected, byte & 0xff, SPACE);
}

static void check_same(void) {
    size_t first = 0;
    while (first < SPACE && destination[first] == expected[first])
        first++;
    check_all(first == SPACE, "byte %zu of the destination is wrong", first);
}

/* ---------------------------------------------------------------- one loop */

static struct redist__loop draw_loop(void) {
    static const size_t aheads[] = {0, 64, 1000, 4096, 40000};
    int kinds = 0;
    while (redist__registers_at(kinds) != NULL)
        kinds++;
    struct redist__loop loop = {.registers = redist__registers_at(random_between(0, kinds - 1)),
                                .abreast = 1 << random_between(0, 3),
                                .ahead = aheads[random_between(0, 4)]};
    loop.nontemporal = loop.registers->fence != NULL && random_chance(50);
    return loop;
}

/* Of rows that fit the arrays */
static struct redist__copy draw_rows(size_t least) {
    size_t run = least + (size_t)random_between(0, random_chance(70) ? 600 : 50000);
    size_t room = (SPACE - 2 * GUARD) / (run + 200);
    size_t rows = (size_t)random_between(1, room < 40 ? (int)room : 40);
    struct redist__copy copy = {.ndims = 1, .run = run, .count = {rows}};
    copy.source[0] = (ptrdiff_t)run + random_between(0, 130);
    copy.destination[0] = random_chance(50) ? (ptrdiff_t)(run + 63) / 64 * 64
                                            : (ptrdiff_t)run + random_between(0, 130);
    return copy;
}

static void copy_plainly(const struct redist__copy *copy, size_t from, size_t to) {
    for (size_t row = 0; row < copy->count[0]; row++)
        memcpy(expected + to + row * (size_t)copy->destination[0],
               source + from + row * (size_t)copy->source[0], copy->run);
}

START_TEST(every_loop) {
    for (int i = 0; harness_another(i, 60); i++) {
        struct redist__loop loop = draw_loop();
        struct redist__copy copy = draw_rows((size_t)loop.registers->least_run);
        size_t from = (size_t)random_between(0, 130), to = GUARD + (size_t)random_between(0, 130);
        char text[REDIST__LOOP_BYTES];
        redist__loop_print(&loop, text);
        harness_case("%s: %zu rows of %zu bytes from %zu to %zu, strides %td and %td", text,
                     copy.count[0], copy.run, from, to, copy.source[0], copy.destination[0]);
        fill();
        redist__copy_run_with(&copy, source + from, destination + to, &loop);
        redist__copy_fence();
        copy_plainly(&copy, from, to);
        check_same();
    }
}
END_TEST

/* ---------------------------------------------------------------- several copies */

/* Runs the copies in one call, through the caches or past them; `expected` holds what they have to give. */
static void check_together(int n, const struct redist__copy copies[], const char *const from[],
                           char *const to[]) {
    redist__copy_run_together(
        n, copies, from, to,
        (enum redist__copy_use)random_between(REDIST__COPY_CACHED, REDIST__COPY_STORE_NONTEMPORAL));
    redist__copy_fence();
    check_same();
}

/* Parts of one array's rows, to places one behind another; some may be empty */
START_TEST(together) {
    enum { MOST = 5 };
    for (int i = 0; harness_another(i, 20); i++) {
        struct redist__copy copies[MOST];
        const char *from[MOST];
        char *to[MOST];
        int n = random_between(1, MOST);
        size_t rows = (size_t)random_between(1, 60), begin = 0, end = GUARD;
        size_t part = (size_t)random_between(1, SPACE / 2 / 60 / MOST);
        fill();
        for (int j = 0; j < n; j++) {
            int empty = random_chance(20);
            copies[j] = (struct redist__copy){.ndims = !empty,
                                              .run = empty ? 0 : part,
                                              .count = {rows},
                                              .source = {(ptrdiff_t)part * n},
                                              .destination = {(ptrdiff_t)part + 3}};
            from[j] = (const char *)source + begin;
            to[j] = (char *)destination + end;
            if (!empty)
                copy_plainly(&copies[j], begin, end);
            begin += part;
            end += rows * (part + 3);
        }
        harness_case("%d copies of %zu rows of %zu bytes", n, rows, part);
        check_together(n, copies, from, to);
    }
}
END_TEST

/* Rows of one array to two others, which do not fit the second-level cache together */
START_TEST(in_bands) {
    enum { RUN = 528 };
    size_t rows = redist_find_caches()->second / RUN + 1, bytes = 2 * rows * RUN, wrong = 0;
    unsigned char *array = malloc(bytes), *parts = calloc(bytes, 1);
    for (size_t i = 0; i < bytes; i++)
        array[i] = (unsigned char)(i * 2654435761U >> 13);
    const struct redist__copy copy = {
        .ndims = 1, .run = RUN, .count = {rows}, .source = {2 * RUN}, .destination = {RUN}};
    const struct redist__copy copies[] = {copy, copy};
    const char *const from[] = {(char *)array, (char *)array + RUN};
    char *const to[] = {(char *)parts, (char *)parts + rows * RUN};
    redist__copy_run_together(2, copies, from, to, REDIST__COPY_CACHED);
    redist__copy_fence();
    for (size_t i = 0; i < 2 * rows; i++)
        wrong += memcmp(parts + i * RUN, array + (i % rows * 2 + i / rows) * RUN, RUN) != 0;
    check_all(wrong == 0, "%zu of %zu rows are wrong", wrong, 2 * rows);
    free(array);
    free(parts);
}
END_TEST

/* A plain copy of elements whose rows and columns change places */
static void transpose_plainly(const struct redist__copy *copy, size_t from, size_t to) {
    for (size_t row = 0; row < copy->count[0]; row++)
        for (size_t column = 0; column < copy->count[1]; column++)
            memcpy(expected + to + row * (size_t)copy->destination[0] +
                       column * (size_t)copy->destination[1],
                   source + from + row * (size_t)copy->source[0] + column * (size_t)copy->source[1],
                   copy->run);
}

/* Columns of one matrix, each copy to a matrix of its own with rows and columns exchanged */
START_TEST(transposed) {
    for (int i = 0; harness_another(i, 10); i++) {
        enum { MOST = 3 };
        struct redist__copy copies[MOST];
        const char *from[MOST];
        char *to[MOST];
        int n = random_between(1, MOST);
        size_t item = (size_t)4 << random_between(0, 3), end = GUARD;
        size_t rows = (size_t)random_between(1, 90), columns = (size_t)random_between(1, 25);
        fill();
        for (int j = 0; j < n; j++) {
            copies[j] = (struct redist__copy){
                .ndims = 2,
                .run = item,
                .count = {rows, columns},
                .source = {(ptrdiff_t)(columns * item) * n, (ptrdiff_t)item},
                .destination = {(ptrdiff_t)item, (ptrdiff_t)((rows + 1) * item)}};
            size_t begin = (size_t)j * columns * item;
            from[j] = (const char *)source + begin;
            to[j] = (char *)destination + end;
            transpose_plainly(&copies[j], begin, end);
            end += columns * (rows + 1) * item;
        }
        harness_case("%d copies of %zu x %zu elements of %zu bytes", n, rows, columns, item);
        check_all(end <= SPACE, "the test has too little space");
        check_together(n, copies, from, to);
    }
}
END_TEST

/* ---------------------------------------------------------------- text */

START_TEST(texts) {
    static const char *const wrong[] = {"",           "plain",           "plain/3/0",
                                        "plain/1",    "plain/1/0/at",    "avx9/1/0",
                                        "plain/16/0", "plain/1/9999999", "plain/1/0/past"};
    struct redist__loop loop, again;
    for (int i = 0; i < 50; i++) {
        char text[REDIST__LOOP_BYTES];
        loop = draw_loop();
        redist__loop_print(&loop, text);
        harness_case("%s", text);
        check_all(redist__loop_scan(text, &again) && again.registers == loop.registers &&
                      again.abreast == loop.abreast && again.ahead == loop.ahead &&
                      again.nontemporal == loop.nontemporal,
                  "it is another loop when it is read again");
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_all(!redist__loop_scan(wrong[i], &again), "\"%s\" counts as a loop", wrong[i]);
}
END_TEST

/* ---------------------------------------------------------------- what is remembered */

static char file[TEXT];

static void make_file(void) {
    snprintf(file, sizeof file, "/tmp/redist-loops-XXXXXX");
    int descriptor = harness_rank == 0 ? mkstemp(file) : -1;
    if (harness_rank == 0)
        close(descriptor);
    MPI_Bcast(file, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* As the library names them, in a file that holds something else under these names. */
static void write_file(const char *values, int cases) {
    const redist_caches *caches = redist_find_caches();
    char processor[TEXT];
    FILE *stream = fopen(file, "w");
    snprintf(processor, sizeof processor, "%s", caches->processor);
    for (char *blank = processor; (blank = strchr(blank, ' ')) != NULL;)
        *blank = '_';
    fprintf(stream, "redist-wisdom 1\n");
    for (int i = 0; i < cases; i++)
        fprintf(stream, "loops/%s/caches=%zu,%zu/ranks=%d/%s %s\n", processor, caches->second,
                caches->last_whole, harness_nranks, redist__copy_cases[i], values);
    fprintf(stream, "loops/%s/caches=%zu,%zu/ranks=%d/nontemporal_bytes 12345\n", processor,
            caches->second, caches->last_whole, harness_nranks);
    fclose(stream);
}

static int count_lines(const char *word) {
    char line[2 * TEXT];
    int n = 0;
    FILE *stream = fopen(file, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        n += strstr(line, word) != NULL;
    if (stream != NULL)
        fclose(stream);
    return n;
}

static void choose(enum redist_effort effort, size_t bytes, size_t *threshold) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    unsigned long long most, least;
    options.effort = effort;
    options.wisdom_file = file;
    check_ok(redist_choose_loops(MPI_COMM_WORLD, &options, bytes, threshold));
    most = least = *threshold;
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    check_all(most == least && least > 0, "the ranks have %llu and %llu bytes", least, most);
}

/* Small arrays, and estimates, measure nothing; a damaged file is measured anew, once for each process. */
START_TEST(remembered) {
    size_t threshold;
    make_file();
    if (harness_rank == 0)
        write_file("plain/1/0=1.0,plain/1,\a", REDIST__CASES);
    MPI_Barrier(MPI_COMM_WORLD);
    choose(REDIST_MEASURE, 1000, &threshold);
    choose(REDIST_ESTIMATE, (size_t)1 << 30, &threshold);
    check_all(threshold != 12345 && !redist__copy_is_set(), "a damaged file was taken");
    choose(REDIST_MEASURE, (size_t)1 << 30, &threshold);
    check_all(redist__copy_is_set(), "nothing was measured");
    choose(REDIST_MEASURE, (size_t)1 << 30, &threshold);
    int lines = harness_rank == 0 ? count_lines("loops/") : 2 * (REDIST__CASES + 1);
    check_all(lines == 2 * (REDIST__CASES + 1), "there are %d lines", lines);
    for (int i = 0; i < REDIST__CASES; i++)
        for (int class = 0; class < REDIST__CLASSES; class ++)
            check_all(redist__copy_table()->rates[i][class] > 0, "%s has no rate for runs of %zu",
                      redist__copy_cases[i], redist__class_bytes(class));
    if (harness_rank == 0)
        unlink(file);
}
END_TEST

/* Random changes in all lines but one, which is missing: whatever they are, no table is taken. */
START_TEST(mutated) {
    static char original[1 << 13], text[1 << 13];
    size_t threshold, bytes = 0;
    make_file();
    if (harness_rank == 0) {
        write_file("plain/1/0=1.5,plain/1/4096=20.25,plain/2/0=0.1,plain/4/8192=3,plain/8/16384=4,"
                   "plain/1/0=5,plain/1/1=6,plain/2/8192=70.7",
                   REDIST__CASES - 1);
        FILE *stream = fopen(file, "r");
        bytes = fread(original, 1, sizeof original, stream);
        fclose(stream);
    }
    MPI_Bcast(&bytes, sizeof bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; harness_another(i, 20); i++) {
        memcpy(text, original, bytes);
        size_t n = mutate(text, bytes, sizeof text, 10);
        if (harness_rank == 0) {
            FILE *stream = fopen(file, "w");
            fwrite(text, 1, n, stream);
            fclose(stream);
        }
        harness_case("mutation %d", i);
        MPI_Barrier(MPI_COMM_WORLD);
        redist_forget_wisdom();
        choose(REDIST_ESTIMATE, (size_t)1 << 30, &threshold);
        check_all(!redist__copy_is_set(), "a damaged file was taken");
    }
    if (harness_rank == 0)
        unlink(file);
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {every_loop, together, in_bands,   transposed,
                                  texts,      mutated,  remembered, NULL};
    return harness_run(argc, argv, "test_redist_loops", tests);
}
