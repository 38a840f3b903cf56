/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure.h"
#include "../clock.h"
#include "columns.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 5, RESOLVED_ELEMENTS = 64000, GUESSED_PERCENT = 60 };

/* Findings beside a plan that the general library has estimated are kept as so much more than their percentage. */
enum { ESTIMATED = LINES__UNSUITED, MOST_FOUND = 2 * LINES__UNSUITED };

int lines__may_take(const struct lines__problem *problem) {
    return problem->threads == NULL && problem->precision <= FFTND_FLOAT &&
           problem->general->yields_lines;
}

void lines__time_plans(int count, const struct lines__plan plans[], redist_index elements, void *in,
                       void *out, double seconds[]) {
    redist_index repeats = 1 + RESOLVED_ELEMENTS / elements;
    for (int trial = 0; trial <= TRIALS; trial++)
        for (int plan = 0; plan < count; plan++) {
            double begin = lines__clock();
            for (redist_index i = 0; i < repeats; i++)
                lines__execute(&plans[plan], in, out);
            double once = lines__clock() - begin;
            if (trial <= 1 || once < seconds[plan])
                seconds[plan] = once;
        }
}

/* Times the own loops beside a plan that the general library makes with this effort. Returns 0 if the trial failed. The
 * input is written to first, since all unwritten pages are one, in the caches. */
static int measure(const struct lines__trial *trial, enum fftnd_effort effort) {
    const struct lines__problem *problem = &trial->problem;
    struct lines__plan plans[2] = {{0}};
    struct lines__problem general = *problem;
    char *memory = redist_calloc(2 * trial->bytes + 2 * LINES__SCRATCH_ALIGNMENT, 1);
    double seconds[2] = {0, 0};
    if (memory == NULL)
        return 0;
    char *in = memory + (LINES__SCRATCH_ALIGNMENT - (uintptr_t)memory % LINES__SCRATCH_ALIGNMENT);
    size_t rows = (trial->bytes + LINES__SCRATCH_ALIGNMENT - 1) / LINES__SCRATCH_ALIGNMENT;
    char *out = in + (trial->apart ? rows * LINES__SCRATCH_ALIGNMENT : 0);
    general.effort = effort;
    if (lines__create(trial->own, problem, in, out, &plans[0]) == REDIST_OK &&
        lines__create(problem->general, &general, in, out, &plans[1]) == REDIST_OK) {
        memset(in, 0, trial->bytes);
        lines__time_plans(2, plans, problem->axes[0].n * problem->loops[0].n, in, out, seconds);
    }
    for (int i = 0; i < 2; i++)
        lines__destroy(&plans[i]);
    redist_release(memory);
    double percent = seconds[1] > 0 ? 1 + 100 * seconds[0] / seconds[1] : 0;
    return percent < LINES__UNSUITED ? (int)percent : LINES__UNSUITED;
}

/* Nonzero if the percentage of an estimated plan's time decides: a measured plan is hardly slower, and not so much
 * faster where own loops take less than trial->sure (docs/performance-notebook.md, "Trials beside estimates"). */
static int decides(const struct lines__trial *trial, int percent) {
    return percent >= trial->as_fast || percent <= trial->sure;
}

/* Returns what is expected beside a measured plan, of which most take a half to all of the time. */
static int from_estimated(const struct lines__trial *trial, int percent) {
    int expected = percent + percent / 2;
    if (percent >= trial->as_fast)
        return percent;
    return expected < trial->as_fast ? expected : trial->as_fast - 1;
}

static int find(const struct lines__trial *trial, short *known) {
    if (*known == 0) {
        int percent = measure(trial, FFTND_ESTIMATE);
        *known = (short)(percent > 0 ? ESTIMATED + percent : LINES__UNSUITED);
    }
    if (*known > ESTIMATED && decides(trial, *known - ESTIMATED))
        return from_estimated(trial, *known - ESTIMATED);
    if (*known > ESTIMATED)
        *known = (short)measure(trial, trial->problem.effort);
    return *known > 0 ? *known : LINES__UNSUITED;
}

int lines__trial_percent(const struct lines__trial *trial, short *known) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (trial->problem.effort == FFTND_ESTIMATE)
        return lines__column_loops_here()->register_bytes > 16 ? GUESSED_PERCENT : LINES__UNSUITED;
    pthread_mutex_lock(&lock);
    int found = find(trial, known);
    pthread_mutex_unlock(&lock);
    return found;
}

/* ---------------------------------------------------------------- passing on what was found */

enum { FINDING_BYTES = 40 };

static short findings[FFTND_FLOAT + 1][LINES__FINDINGS][LINES__LONGEST + 1];

short *lines__finding(enum fftnd_precision precision, int what, redist_index n) {
    return &findings[precision][what][n];
}

char *lines__tell_findings(enum fftnd_precision precision) {
    size_t found = 0;
    if (precision > FFTND_FLOAT)
        return NULL;
    for (int i = 0; i < LINES__FINDINGS; i++)
        for (int n = 0; n <= LINES__LONGEST; n++)
            found += findings[precision][i][n] > 0;
    char *text = calloc(found + 1, FINDING_BYTES), *end = text; /* the caller calls free() */
    for (int i = 0; i < LINES__FINDINGS && text != NULL; i++)
        for (int n = 0; n <= LINES__LONGEST; n++)
            if (findings[precision][i][n] > 0)
                end += snprintf(end, FINDING_BYTES, "%d %d %d\n", i, n, findings[precision][i][n]);
    return text;
}

void lines__take_findings(enum fftnd_precision precision, const char *text) {
    int what, n, value, bytes;
    if (precision > FFTND_FLOAT)
        return;
    for (; sscanf(text, "%d %d %d%n", &what, &n, &value, &bytes) == 3; text += bytes)
        if (what >= 0 && what < LINES__FINDINGS && n >= 0 && n <= LINES__LONGEST && value > 0 &&
            value <= MOST_FOUND && findings[precision][what][n] == 0)
            findings[precision][what][n] = (short)value;
}
