/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct progress progress_start(enum progress_style style) {
    struct progress progress = {0, 0, MPI_Wtime()};
    /* Some launchers give each rank a terminal of its own as standard output, whatever theirs is;
     * standard error decides then. */
    int terminal = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    progress.bar = style == PROGRESS_BAR || (style == PROGRESS_AUTO && terminal);
    return progress;
}

double progress_seconds(const struct progress *progress) {
    return MPI_Wtime() - progress->started;
}

static void draw_bar(double fraction, double seconds_left) {
    static const char full[] = "########################################";
    int width = (int)strlen(full), done = (int)(fraction * width);
    printf("\r[%.*s%*s] %3.0f %%, %.0f s left \033[K", done, full, width - done, "", 100 * fraction,
           seconds_left);
}

void progress_show(struct progress *progress, double fraction) {
    double seconds_left = progress_seconds(progress) * (1 - fraction) / fraction;
    int tenths = (int)(10 * fraction);
    if (progress->bar) {
        draw_bar(fraction, seconds_left);
    } else if (tenths > progress->tenths_shown && tenths < 10) {
        progress->tenths_shown = tenths;
        printf("%d %% done, %.0f s left\n", 10 * tenths, seconds_left);
    }
    fflush(stdout);
}

void progress_hide(const struct progress *progress) {
    if (progress->bar)
        printf("\r\033[K");
}
