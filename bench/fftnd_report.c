/* SPDX-License-Identifier: BSD-3-Clause */
#include "fftnd_report.h"
#include "json.h"
#include "redist_support.h"
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const bench_candidate *serial_candidate(const bench_report *report) {
    return &report->candidates[report->ntransforms];
}

static double exchange_ms(const bench_transform *transform, const bench_candidate *candidate) {
    return transform->exchange_seconds ? bench_median_ms(candidate, BENCH_COUNTED) : NAN;
}

static void describe_json(const bench_report *report, const bench_transform *transform) {
    const bench_problem *problem = report->problem;
    int nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    bench_json_text("benchmark", "fftnd-bench");
    bench_json_machine();
    bench_json_text("fftw", fftw_version);
    bench_json_text("library", transform->library);
    bench_json_text("method", transform->method);
    bench_json_text("chosen", transform->chosen);
    bench_json_text("ordering", transform->ordering);
    bench_json_text("effort", transform->effort);
    bench_json_text("placement", transform->in_place ? "in-place" : "out-of-place");
    bench_json_integers("shape", report->settings->shape.values, problem->ndims);
    bench_json_text("kind", report->kind);
    bench_json_text("precision", report->precision);
    bench_json_integers("grid", transform->grid, transform->grid_ndims);
    bench_json_integer("batch", problem->batch);
    bench_json_text("space", problem->space->name);
    bench_json_text("memory", bench_memories[report->settings->memory]);
    bench_json_integer("ranks", nranks);
    bench_json_integer("threads", problem->threads);
    bench_json_integer("iters", report->settings->iterations);
}

static void print_json(const bench_report *report, const bench_transform *transform,
                       const bench_candidate *candidate) {
    const bench_candidate *serial = serial_candidate(report);
    bench_json_begin();
    describe_json(report, transform);
    bench_json_number("pair_ms_min", bench_min_ms(candidate, BENCH_WHOLE));
    bench_json_number("pair_ms_median", bench_median_ms(candidate, BENCH_WHOLE));
    bench_json_number("forward_ms_median", bench_median_ms(candidate, BENCH_FIRST_STEP));
    bench_json_number("backward_ms_median", bench_median_ms(candidate, BENCH_SECOND_STEP));
    bench_json_number("exchange_ms_median", exchange_ms(transform, candidate));
    bench_json_number("serial_ms_median", bench_median_ms(serial, BENCH_WHOLE));
    bench_json_number("bound_ms", report->bound_ms);
    bench_json_number("max_error", transform->max_error);
    bench_json_number("workspace_bytes", transform->workspace_bytes);
    bench_json_number("plan_ms", transform->plan_ms);
    if (report->settings->samples) {
        bench_json_samples("pair_ms_samples", candidate, BENCH_WHOLE);
        bench_json_samples("serial_ms_samples", serial, BENCH_WHOLE);
    }
    bench_json_end();
}

static void print_list(const int values[], int count, const char *separator) {
    for (int i = 0; i < count; i++)
        printf("%s%d", i > 0 ? separator : "", values[i]);
}

static void print_heading(const bench_report *report) {
    const bench_problem *problem = report->problem;
    const bench_settings *settings = report->settings;
    const bench_candidate *serial = serial_candidate(report);
    int nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    print_list(settings->shape.values, problem->ndims, " x ");
    printf(" %s %s, batch of %d, %s, %d ranks x %d threads, grid ", report->kind, report->precision,
           problem->batch, problem->in_place ? "in place" : "out of place", nranks,
           problem->threads);
    print_list(report->transforms[0].grid, report->transforms[0].grid_ndims, "x");
    printf("%s, %s memory (%s), %d rounds after %d to warm up\n",
           report->transforms[0].grid_ndims == 0 ? "none" : "", problem->space->name,
           bench_memories[settings->memory], settings->iterations, settings->warmup);
    const redist_caches *caches = redist_find_caches();
    printf("%s, caches of %zu and %zu KiB, %s\n", caches->processor, caches->second >> 10,
           caches->last_whole >> 10, fftw_version);
    printf("serial transforms of a pair alone, all ranks at once: min %.3f, median %.3f ms\n\n",
           bench_min_ms(serial, BENCH_WHOLE), bench_median_ms(serial, BENCH_WHOLE));
    printf("%-10s %-18s %-10s %-8s %10s %10s %10s %10s %10s %9s %10s %8s %9s  %s\n", "library",
           "method", "ordering", "effort", "pair min", "median ms", "forward", "backward",
           "exchange", "of serial", "max error", "work MB", "plan ms", "chosen");
}

static void print_row(const bench_report *report, const bench_transform *transform,
                      const bench_candidate *candidate) {
    double median = bench_median_ms(candidate, BENCH_WHOLE);
    printf(
        "%-10s %-18s %-10s %-8s %10.3f %10.3f %10.3f %10.3f %10.3f %9.2f %10.1e %8.1f %9.1f  %s\n",
        transform->library, transform->method, transform->ordering, transform->effort,
        bench_min_ms(candidate, BENCH_WHOLE), median, bench_median_ms(candidate, BENCH_FIRST_STEP),
        bench_median_ms(candidate, BENCH_SECOND_STEP), exchange_ms(transform, candidate),
        median / bench_median_ms(serial_candidate(report), BENCH_WHOLE), transform->max_error,
        1e-6 * transform->workspace_bytes, transform->plan_ms, transform->chosen);
}

void bench_print_report(const bench_report *report) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    if (!report->settings->json)
        print_heading(report);
    for (int i = 0; i < report->ntransforms; i++)
        (report->settings->json ? print_json : print_row)(report, &report->transforms[i],
                                                          &report->candidates[i]);
}

/* The fastest of a library's; NAN = there is none. */
static double best_ms(const bench_report *report, const char *library, double *plan_ms) {
    double best = NAN;
    for (int i = 0; i < report->ntransforms; i++) {
        double median = bench_median_ms(&report->candidates[i], BENCH_WHOLE);
        if (strcmp(report->transforms[i].library, library) == 0 && (isnan(best) || median < best)) {
            best = median;
            *plan_ms = report->transforms[i].plan_ms;
        }
    }
    return best;
}

void bench_print_size(const bench_report *report) {
    static int is_headed;
    int rank;
    double plan_ms = NAN, peer_plan_ms, mine = best_ms(report, "fftnd", &plan_ms),
           xt = best_ms(report, "cufftxt", &peer_plan_ms),
           serial = bench_median_ms(serial_candidate(report), BENCH_WHOLE);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    if (!is_headed)
        printf("%-6s %-4s %-6s %10s %10s %10s %10s %8s %9s %8s %9s\n", "size", "kind", "", "fftnd",
               "cufftxt", "serial", "bound", "of xt", "of serial", "of bound", "plan ms");
    is_headed = 1;
    printf("%-6d %-4s %-6s %10.3f %10.3f %10.3f %10.3f %8.2f %9.2f %8.2f %9.1f\n",
           report->settings->shape.values[0], report->kind, report->precision, mine, xt, serial,
           report->bound_ms, mine / xt, mine / serial, mine / report->bound_ms, plan_ms);
    (void)fflush(stdout);
}

int bench_errors_are_small(const bench_report *report) {
    double points = 1.0;
    for (int axis = 0; axis < report->problem->ndims; axis++)
        points *= (double)report->problem->sizes[axis];
    double unit = report->problem->precision == FFTND_DOUBLE ? 1e-14 : 5.4e-6;
    static const double of_formats[] = {0, 1e-6, 1e-3}; /* of enum redist_wire */
    double limit = fmax(unit * fmax(1.0, log2(points)), of_formats[report->wire]);
    for (int i = 0; i < report->ntransforms; i++)
        if (!report->transforms[i].unchecked && !(report->transforms[i].max_error <= limit))
            return 0;
    return 1;
}
