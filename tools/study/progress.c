/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

void study_progress_begin(study_progress *progress, int shown, double all) {
    *progress = (study_progress){
        .shown = shown, .terminal = isatty(STDERR_FILENO), .begin = MPI_Wtime(), .all = all};
}

static void format_time(double seconds, size_t bytes, char text[]) {
    long whole = (long)(seconds + 0.5);
    if (whole < 3600)
        snprintf(text, bytes, "%ld:%02ld", whole / 60, whole % 60);
    else
        snprintf(text, bytes, "%ld:%02ld h", whole / 3600, whole / 60 % 60);
}

/* What is left takes as long for each unit of work as what was done. */
static void format_left(const study_progress *progress, size_t bytes, char text[]) {
    double measured = progress->done - progress->spared, left = progress->all - progress->done;
    snprintf(text, bytes, "?");
    if (measured > 0)
        format_time((MPI_Wtime() - progress->begin) * left / measured, bytes, text);
}

static void clear(study_progress *progress) {
    if (progress->terminal && progress->width > 0)
        fprintf(stderr, "\r%*s\r", progress->width, "");
    progress->width = 0;
}

void study_progress_add(study_progress *progress, double work, int spared, const char *text) {
    char left[32];
    progress->done += work;
    progress->spared += spared ? work : 0;
    if (!progress->shown || spared)
        return;
    format_left(progress, sizeof left, left);
    clear(progress);
    progress->width =
        fprintf(stderr, "[%3.0f %%, %s left] %s%s", 100 * progress->done / progress->all, left,
                text, progress->terminal ? "" : "\n");
    fflush(stderr);
}

void study_progress_say(study_progress *progress, const char *text) {
    if (!progress->shown)
        return;
    clear(progress);
    fprintf(stderr, "%s\n", text);
}

void study_progress_end(study_progress *progress) {
    if (progress->shown)
        clear(progress);
}
