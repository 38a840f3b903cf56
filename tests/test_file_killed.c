/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes one raw file after the other over the one before until a rank is killed:
 *     test_file_killed MICROSECONDS VICTIM WRITERS REPORT
 * The ranks that are left get an error, and append "rank R: CODE after S s" to REPORT, with FAILED where something is
 * wrong: each element of the file REPORT.raw is then one of a write around the last one, or 0; and a file that has
 * become too short is refused within a second. test_file_killed.sh counts what they print.
 */
#include "redist_file.h"
#include "survivor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 61, COLUMNS = 3001, LIMIT = 20, BEFORE = 2, AGAIN = 2, PERIOD = 7 };

static double array[ROWS * COLUMNS];
static char path[300], message[300];
static redist_file_options options;

/* All of it on a communicator of one rank. */
static redist_field field_on(int nranks, int rank) {
    redist_field field = REDIST_FIELD_DEFAULT;
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = ROWS;
    field.sizes[1] = field.count[1] = COLUMNS;
    redist_decompose(ROWS, nranks, rank, &field.count[0], &field.start[0]);
    field.array = array;
    return field;
}

static double value(int number, redist_index index) {
    return PERIOD * number + (double)(index % PERIOD);
}

/* Every second write lets the array change meanwhile. */
static int write_one(int number) {
    const redist_field field = field_on(survivor.nranks, survivor.rank);
    redist_file_request *request;
    for (redist_index i = 0; i < field.count[0] * COLUMNS; i++)
        array[i] = value(number, field.start[0] * COLUMNS + i);
    if (number % 2 == 0)
        return redist_write(MPI_COMM_WORLD, path, 1, &field, &options);
    int code = redist_write_start(MPI_COMM_WORLD, path, 1, &field, &options, &request);
    memset(array, 0, sizeof array);
    return code == REDIST_OK ? redist_file_wait(&request) : code;
}

/* Returns a sentence about the file after a write that failed; others may have been one write behind or ahead. */
static const char *judge_file(int number) {
    const redist_field whole = field_on(1, 0);
    int code = redist_read(MPI_COMM_SELF, path, 1, &whole, NULL);
    if (code != REDIST_OK)
        return redist_error_message();
    for (redist_index i = 0; i < (redist_index)ROWS * COLUMNS; i++) {
        int is_known = array[i] == 0;
        for (int near = number - 2; near <= number + 1; near++)
            is_known |= array[i] == value(near, i);
        if (!is_known)
            return "the file has what nobody has written";
    }
    return NULL;
}

/* Cuts the file, which is then refused without waiting. */
static const char *judge_short_file(void) {
    const redist_field whole = field_on(1, 0);
    double begin = MPI_Wtime();
    (void)truncate(path, (off_t)(sizeof array - 1));
    int code = redist_read(MPI_COMM_SELF, path, 1, &whole, NULL);
    if (code != REDIST_ERR_FILE || strstr(redist_error_message(), "too short") == NULL)
        return "a file that is too short is read";
    return MPI_Wtime() - begin < 1 ? NULL : "a file that is too short is refused late";
}

/* Writes until a call fails; each later one has to fail, too. Returns the number of the first one. */
static int write_until_failure(int *code) {
    int number = BEFORE;
    for (*code = REDIST_OK; *code == REDIST_OK;)
        *code = write_one(++number);
    snprintf(message, sizeof message, "%s", redist_error_message());
    for (int i = 0; i < AGAIN; i++)
        if (write_one(number) == REDIST_OK)
            snprintf(message, sizeof message, "FAILED: a write without a rank succeeds");
    return number;
}

int main(int argc, char **argv) {
    survivor_begin(argc, argv, 4, "test_file_killed MICROSECONDS VICTIM WRITERS REPORT");
    char line[400];
    int code;
    snprintf(path, sizeof path, "%.200s.raw", argv[4]);
    redist_file_options_init(&options, sizeof options);
    options.writers_per_node = atoi(argv[3]);
    options.buffer_bytes = 1 << 16;
    for (int i = 1; i <= BEFORE; i++)
        survivor_must(write_one(i), "the first writes");
    MPI_Barrier(MPI_COMM_WORLD);
    survivor_watch(LIMIT);
    if (survivor.rank == atoi(argv[2]))
        survivor_die_after(1 + atol(argv[1]));
    double begin = MPI_Wtime();
    int number = write_until_failure(&code);
    double end = MPI_Wtime();
    const char *wrong = judge_file(number);
    snprintf(line, sizeof line, "rank %d: %s after %.1f s, in write %d: %s%s\n", survivor.rank,
             redist_error_name(code), end - begin, number, wrong != NULL ? "FAILED: " : "",
             wrong != NULL ? wrong : message);
    survivor_report(argv[4], line, survivor.nranks - 1);
    wrong = judge_short_file();
    if (wrong != NULL) {
        snprintf(line, sizeof line, "FAILED: %s\n", wrong);
        survivor_report(argv[4], line, 0);
    }
    _exit(EXIT_SUCCESS);
}
