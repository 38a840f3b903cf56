/* SPDX-License-Identifier: BSD-3-Clause */
#include "history.h"
#include "reference_values.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* The flow counts as resolved while the last shells hold less than this share of the enstrophy. */
static const double resolved_tail_share = 0.06;

void history_append(struct history *history, struct record record) {
    if (history->count == history->room) {
        history->room = 2 * history->room + 64;
        history->records = realloc(history->records, history->room * sizeof(struct record));
        if (history->records == NULL)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    history->records[history->count++] = record;
}

static int compare_seconds(const void *a, const void *b) {
    const double *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

double history_median_seconds(const struct history *history) {
    size_t steps = history->count > 0 ? history->count - 1 : 0;
    double *seconds = malloc((steps + 1) * sizeof(*seconds));
    if (seconds == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t i = 0; i < steps; i++)
        seconds[i] = history->records[i + 1].seconds;
    qsort(seconds, steps, sizeof(*seconds), compare_seconds);
    double median = steps > 0 ? seconds[steps / 2] : 0;
    free(seconds);
    return median;
}

void history_free(struct history *history) {
    free(history->records);
}

/* -d(energy)/dt: the slope at a record of the parabola through it and its neighbours, or through the
 * three nearest at the first and the last record. Two records make a straight line. */
static double energy_loss(const struct history *history, size_t index) {
    size_t middle = index == 0 ? 1 : index;
    if (middle + 1 == history->count)
        middle--;
    const struct record *r = &history->records[middle];
    if (middle == 0)
        return (r[0].energy - r[1].energy) / (r[1].time - r[0].time);
    double before = (r[0].energy - r[-1].energy) / (r[0].time - r[-1].time);
    double after = (r[1].energy - r[0].energy) / (r[1].time - r[0].time);
    double curvature = (after - before) / (r[1].time - r[-1].time);
    double from_before = history->records[index].time - r[-1].time;
    double from_middle = history->records[index].time - r[0].time;
    return -(before + curvature * (from_before + from_middle));
}

/* The reference values at this time, or NULL if the table has none. */
static const struct reference_value *reference_at(double time) {
    for (int i = 0; i < REFERENCE_COUNT; i++)
        if (fabs(reference_values[i].time - time) < 1e-9)
            return &reference_values[i];
    return NULL;
}

static double deviation(double value, double reference) {
    return fabs(value - reference) / reference;
}

void history_print_head(void) {
    printf("         kinetic  deviation  dissipation  deviation   energy  small\n"
           "  time    energy   from ref.         rate  from ref.     loss  scales\n");
}

static void print_record(const struct history *history, size_t index) {
    const struct record *r = &history->records[index];
    const struct reference_value *reference = reference_at(r->time);
    printf("%6.2f  %8.6f", r->time, r->energy);
    if (reference != NULL)
        printf("  %8.4f %%", 100 * deviation(r->energy, reference->energy));
    else
        printf("  %10s", "");
    printf("   %10.8f", r->dissipation);
    if (reference != NULL)
        printf("  %7.3f %%", 100 * deviation(r->dissipation, reference->dissipation));
    else
        printf("  %9s", "");
    printf("  %10.8f  %5.2f %%\n", energy_loss(history, index), 100 * r->tail_share);
}

void history_print(struct history *history, int finished) {
    for (; history->printed + (finished ? 0 : 2) < history->count; history->printed++)
        if (history->records[history->printed].sampled)
            print_record(history, history->printed);
    fflush(stdout);
}

int history_write(const struct history *history, const char *path) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return 0;
    fprintf(file, "time,energy,dissipation_2_nu_enstrophy,dissipation_minus_dE_dt,"
                  "enstrophy_share_of_last_shells,reference_energy,reference_dissipation\n");
    for (size_t i = 0; i < history->count; i++) {
        const struct record *r = &history->records[i];
        const struct reference_value *reference = reference_at(r->time);
        fprintf(file, "%.10g,%.12g,%.12g,%.12g,%.6g,", r->time, r->energy, r->dissipation,
                energy_loss(history, i), r->tail_share);
        if (reference != NULL)
            fprintf(file, "%.9g,%.9g\n", reference->energy, reference->dissipation);
        else
            fprintf(file, ",\n");
    }
    return fclose(file) == 0;
}

static double largest_imbalance(const struct history *history) {
    double largest = 0, largest_difference = 0;
    for (size_t i = 0; i < history->count; i++) {
        double dissipation = history->records[i].dissipation;
        double difference = fabs(energy_loss(history, i) - dissipation);
        if (!isfinite(difference))
            return INFINITY; /* the run has blown up */
        largest = fmax(largest, dissipation);
        largest_difference = fmax(largest_difference, difference);
    }
    return largest_difference / largest;
}

struct comparison history_compare(const struct history *history) {
    struct comparison worst = {0, 0, 0, largest_imbalance(history)};
    for (size_t i = 0; i < history->count; i++) {
        const struct record *r = &history->records[i];
        if (r->tail_share > resolved_tail_share)
            break;
        const struct reference_value *reference = reference_at(r->time);
        if (reference == NULL)
            continue;
        worst.resolved_until = r->time;
        worst.energy = fmax(worst.energy, deviation(r->energy, reference->energy));
        worst.dissipation =
            fmax(worst.dissipation, deviation(r->dissipation, reference->dissipation));
    }
    return worst;
}
