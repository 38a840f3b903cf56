/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of copy loops in a wisdom file, where some ranks have a decimal comma: what one rank reads all of them
 * read, and what is written has points. A process has one table, so that each argument is a test of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../libredist/copy/copy.h"
#include "comma_locale.h"
#include "harness.h"
#include "redist_support.h"

enum { TEXT = REDIST_WISDOM_BYTES, THRESHOLD = 12345 };

static char file[TEXT];

static void write_key(FILE *stream, const char *what) {
    const redist_caches *caches = redist_find_caches();
    char processor[sizeof caches->processor];
    strcpy(processor, caches->processor);
    for (char *blank = processor; (blank = strchr(blank, ' ')) != NULL;)
        *blank = '_';
    fprintf(stream, "loops/%s/caches=%zu,%zu/ranks=%d/%s ", processor, caches->second,
            caches->last_whole, harness_nranks, what);
}

/* As a process with a decimal point writes it. */
static void write_file(void) {
    FILE *stream = fopen(file, "w");
    fprintf(stream, "redist-wisdom 1\n");
    for (int i = 0; i < REDIST__CASES; i++) {
        write_key(stream, redist__copy_cases[i]);
        for (int class = 0; class < REDIST__CLASSES; class ++)
            fprintf(stream, "plain/1/0=%d.5%c", class, class + 1 < REDIST__CLASSES ? ',' : '\n');
    }
    write_key(stream, "nontemporal_bytes");
    fprintf(stream, "%d\n", THRESHOLD);
    fclose(stream);
}

static void make_file(void) {
    snprintf(file, sizeof file, "/tmp/redist-locale-XXXXXX");
    int descriptor = harness_rank == 0 ? mkstemp(file) : -1;
    if (harness_rank == 0)
        close(descriptor);
    MPI_Bcast(file, TEXT, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void remove_file(void) {
    comma_locale_reset();
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 0)
        unlink(file);
}

static void choose_loops(size_t *threshold) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.effort = REDIST_MEASURE;
    options.wisdom_file = file;
    check_ok(redist_choose_loops(MPI_COMM_WORLD, &options, (size_t)1 << 30, threshold));
}

/* Here lists end and decimal fractions begin with a comma. */
START_TEST(is_read) {
    size_t threshold;
    if (!comma_locale_set(harness_rank % 2 == 1 || harness_nranks == 1))
        skip_test("no locale to make one with a comma from");
    make_file();
    if (harness_rank == 0)
        write_file();
    choose_loops(&threshold);
    check_all(threshold == THRESHOLD, "%zu bytes, not those of the file", threshold);
    for (int i = 0; i < REDIST__CASES; i++)
        for (int class = 0; class < REDIST__CLASSES; class ++)
            check_all((int)(10 * redist__copy_table()->rates[i][class]) == 10 * class + 5,
                      "%s has another rate", redist__copy_cases[i]);
    remove_file();
}
END_TEST

/* Nonzero if all numbers have points and nothing else has. */
static int is_written(const char *line) {
    const char *values = strchr(line, ' ');
    int commas = 0, points = 0;
    for (; values != NULL && *values != '\0'; values++) {
        commas += *values == ',';
        points += *values == '.';
    }
    return commas == REDIST__CLASSES - 1 && points == REDIST__CLASSES;
}

START_TEST(is_written_with_points) {
    size_t threshold;
    char line[2 * TEXT];
    int n = 0, right = 0;
    if (!comma_locale_set(harness_rank % 2 == 0))
        skip_test("no locale to make one with a comma from");
    make_file();
    choose_loops(&threshold);
    FILE *stream = harness_rank == 0 ? fopen(file, "r") : NULL;
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        if (strncmp(line, "loops/", 6) == 0 && strstr(line, "/nontemporal_bytes ") == NULL) {
            n++;
            right += is_written(line);
        }
    if (stream != NULL)
        fclose(stream);
    check_all(harness_rank != 0 || (n == REDIST__CASES && right == n), "%d of %d lines are right",
              right, n);
    remove_file();
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const reading[] = {is_read, NULL};
    const TTest *const writing[] = {is_written_with_points, NULL};
    int writes = argc > 1 && strcmp(argv[1], "write") == 0;
    return harness_run(argc, argv, "test_redist_locale", writes ? writing : reading);
}
