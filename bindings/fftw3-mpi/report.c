/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One of FFTW's functions that make plans. */
struct row {
    const char *function;
    long here, passed;
    double seconds;
    char reason[160]; /* why FFTW had to make the last of these plans */
};

enum { ROWS = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct row rows[ROWS];
static long executions;
static double executing;
static int world_rank = -1; /* of a process with plans; found while MPI runs */

/* Begins a report. The launcher's file remains if no process plans. */
static void begin_report(void) {
    const char *unused = getenv("FFTND_FFTW_UNUSED");
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    if (unused != NULL)
        (void)unlink(unused);
}

static struct row *row_of(const char *function) {
    int i = 0;
    while (i < ROWS - 1 && rows[i].function != NULL && strcmp(rows[i].function, function) != 0)
        i++;
    rows[i].function = function;
    if (world_rank < 0)
        begin_report();
    return &rows[i];
}

void fftnd_fftw__report_plan(const char *function, double seconds) {
    pthread_mutex_lock(&lock);
    struct row *row = row_of(function);
    row->here++;
    row->seconds += seconds;
    pthread_mutex_unlock(&lock);
}

void fftnd_fftw__report_passed(const char *function, const char *reason) {
    pthread_mutex_lock(&lock);
    struct row *row = row_of(function);
    row->passed++;
    snprintf(row->reason, sizeof row->reason, "%s", reason);
    pthread_mutex_unlock(&lock);
}

void fftnd_fftw__report_execution(double seconds) {
    pthread_mutex_lock(&lock);
    executions++;
    executing += seconds;
    pthread_mutex_unlock(&lock);
}

static void print(FILE *file) {
    const char *name = FFTND_FFTW_LIBRARY;
    fprintf(file, "%s: %ld executions on libfftnd, %.3f s on rank 0\n", name, executions,
            executing);
    for (int i = 0; i < ROWS && rows[i].function != NULL; i++) {
        const struct row *row = &rows[i];
        fprintf(file, "%s: %s: %ld plans on libfftnd, %.3f s", name, row->function, row->here,
                row->seconds);
        if (row->passed > 0)
            fprintf(file, "; %ld left to FFTW (%s)", row->passed, row->reason);
        fprintf(file, "\n");
    }
}

/* Prints the report when the process ends, as no call of FFTW is known to be the last. */
__attribute__((destructor)) static void print_report(void) {
    const char *wanted = getenv("FFTND_FFTW_REPORT");
    if (wanted == NULL || world_rank != 0)
        return;
    FILE *file = strcmp(wanted, "1") == 0 ? stderr : fopen(wanted, "a");
    int is_written = file != NULL;
    if (is_written)
        print(file);
    if (is_written && file != stderr) {
        is_written = !ferror(file);
        is_written = fclose(file) == 0 && is_written;
    }
    if (!is_written)
        fprintf(stderr,
                FFTND_FFTW_LIBRARY ": warning: FFTND_FFTW_REPORT = \"%s\" cannot be "
                                   "written: %s\n",
                wanted, strerror(errno));
}
