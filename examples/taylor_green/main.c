/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Taylor-Green vortex: a smooth flow that breaks up into turbulence, computed from the
 * Navier-Stokes equations with distributed transforms, and compared with a published run.
 */
#include "checkpoint.h"
#include "example.h"
#include "figures.h"
#include "flow.h"
#include "history.h"
#include "plane.h"
#include "progress.h"
#include "runge_kutta.h"
#include "volume.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const double reynolds_number = 1600;
static const double sampling_interval = 0.5;

/* How far the run may stray from the reference while the grid resolves it. */
static const double energy_tolerance = 2e-4, dissipation_tolerance = 1e-2;

/* The difference between energy loss and dissipation at any time. A truncated Fourier series loses
 * energy by viscosity only, resolved or not, so this shows errors of the program and of the time
 * steps; the energy loss is a difference quotient and is less exact than the run itself. */
static const double imbalance_tolerance = 1e-2;

struct run {
    struct options options;
    struct flow flow;
    struct runge_kutta method;
    struct spectrum spectrum;
    int nsamples; /* sampling intervals of the whole run */
    int moments;  /* those that the pictures have so far */
    double time;
    /* only used on rank 0 */
    struct history history;
    struct figures figures;
    struct progress progress;
};

static void open_run(struct run *run) {
    flow_create(&run->flow, &run->options, 1 / reynolds_number);
    runge_kutta_create(&run->method, &run->flow);
    spectrum_create(&run->spectrum, &run->flow);
    run->nsamples = (int)ceil(run->options.time / sampling_interval - 1e-9);
    run->progress = progress_start(run->options.progress);
}

static void close_run(struct run *run) {
    flow_free(&run->flow);
    runge_kutta_free(&run->method);
    spectrum_free(&run->spectrum);
    history_free(&run->history);
}

/* "2 x 1", say */
static void describe_grid(const fftnd_plan_info *info, char text[], size_t room) {
    size_t length = 0;
    for (int i = 0; i < info->grid_ndims && length < room; i++)
        length +=
            (size_t)snprintf(text + length, room - length, i == 0 ? "%d" : " x %d", info->grid[i]);
}

static void print_start(const struct run *run) {
    fftnd_plan_info info = FFTND_PLAN_INFO_DEFAULT;
    check(fftnd_plan_get_info(run->flow.plan, &info));
    char grid[64] = "";
    describe_grid(&info, grid, sizeof(grid));
    printf("Taylor-Green vortex, Re %.0f, %d^3 points to t = %g, process grid %s, exchanges: %s, "
           "fields in %s memory\n",
           reynolds_number, run->options.size, run->options.time, grid, info.method,
           run->flow.space->name);
    history_print_head();
}

/* Measures the flow and keeps what the table, the pictures and the final check need. */
static void record(struct run *run, double seconds, int sampled) {
    spectrum_measure(&run->spectrum, &run->flow);
    if (my_rank() != 0)
        return;
    double dissipation = 2 * run->flow.viscosity * run->spectrum.total_enstrophy;
    double tail_share = spectrum_tail_share(&run->spectrum, run->options.size);
    history_append(&run->history, (struct record){run->time, run->spectrum.total_energy,
                                                  dissipation, tail_share, seconds, sampled});
    progress_hide(&run->progress);
    history_print(&run->history, 0);
    if (run->time > 0)
        progress_show(&run->progress, run->time / run->options.time);
}

/* Puts folder and name together; the caller frees the result. */
static char *path_to(const struct run *run, const char *name) {
    size_t room = strlen(run->options.output) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    snprintf(path, room, "%s/%s", run->options.output, name);
    return path;
}

/* Records the flow for the pictures at 3/10, 6/10 and 9/10 of the run: to t = 10 the last one then shows the
 * time of the largest dissipation. */
static void record_pictures(struct run *run, int sample) {
    for (int i = 0; i < MOMENTS; i++) {
        if (sample != (int)lround(0.3 * (i + 1) * run->nsamples))
            continue;
        flow_vorticity(&run->flow);
        char *path = path_to(run, "vorticity.raw");
        plane_write(&run->flow, path, run->moments);
        free(path);
        if (run->options.volume != NULL)
            volume_write(&run->flow, run->options.volume, run->moments, run->time);
        run->moments++;
        if (my_rank() == 0)
            figures_add(&run->figures, run->time, run->options.size, &run->spectrum);
    }
}

/* Steps to the end of a sampling interval: as many equal steps as the flow's speed requires. */
static void advance(struct run *run, double end) {
    double spacing = 2 * M_PI / run->options.size;
    double longest_step = run->options.courant * spacing / flow_largest_speed(&run->flow);
    double start = run->time;
    int steps = (int)ceil((end - start) / longest_step);
    for (int s = 1; s <= steps; s++) {
        double begin = MPI_Wtime();
        runge_kutta_step(&run->method, &run->flow, (end - start) / steps);
        run->time = s < steps ? start + s * (end - start) / steps : end;
        record(run, MPI_Wtime() - begin, s == steps);
    }
}

/* Begins with the state of an earlier run, if one is given; returns how many sampling intervals it has. */
static int restart(struct run *run) {
    if (run->options.restart == NULL)
        return 0;
    struct moment then = checkpoint_read(run->options.restart, &run->flow);
    run->time = then.time;
    return (int)then.sample;
}

static void save(struct run *run, int sample) {
    if (run->options.checkpoint != NULL && sample % run->options.every == 0)
        checkpoint_write(run->options.checkpoint, &run->flow, (struct moment){run->time, sample});
}

static void follow(struct run *run) {
    int sample = restart(run);
    if (my_rank() == 0)
        print_start(run);
    record(run, 0, 1);
    record_pictures(run, sample);
    /* The energy can only fall: more than at the start (1/8) means that the run has blown up. */
    while (++sample <= run->nsamples && run->spectrum.total_energy < 1) {
        advance(run, fmin(sample * sampling_interval, run->options.time));
        record_pictures(run, sample);
        save(run, sample);
    }
    if (my_rank() == 0) {
        progress_hide(&run->progress);
        history_print(&run->history, 1);
    }
}

static int complain(const struct run *run) {
    fprintf(stderr, "cannot write to %s: %s\n", run->options.output, strerror(errno));
    return 0;
}

/* Begins the files of the pictures; returns 0 if that fails. */
static int begin_figures(struct run *run) {
    char *vorticity = path_to(run, "vorticity.gp"), *spectrum = path_to(run, "spectrum.dat");
    int begun =
        figures_begin(&run->figures, vorticity, spectrum, run->options.size) || complain(run);
    free(vorticity);
    free(spectrum);
    return begun;
}

/* Writes the table and ends the files of the pictures; returns 0 if that fails. */
static int write_results(const struct run *run) {
    char *table = path_to(run, "taylor_green.csv");
    int written = figures_end(&run->figures);
    written = (history_write(&run->history, table) && written) || complain(run);
    free(table);
    return written;
}

/* Prints the deviations from the reference, with which a run that was restarted late has no time in common. */
static void print_deviations(struct comparison worst) {
    if (worst.resolved_until > 0)
        printf("energy within %.2g %% and dissipation within %.2g %% of the 512^3 reference up to "
               "t = %g, as far as this grid resolves the flow; ",
               100 * worst.energy, 100 * worst.dissipation, worst.resolved_until);
    else
        printf("not compared with the 512^3 reference, for which this grid is too coarse or which "
               "ends before; ");
}

/* Prints the last line; returns 0 if the run has strayed too far from the reference. */
static int judge(const struct run *run) {
    struct comparison worst = history_compare(&run->history);
    int good = worst.energy <= energy_tolerance && worst.dissipation <= dissipation_tolerance &&
               worst.imbalance <= imbalance_tolerance;
    int nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    printf("%zu steps, median %.3g ms\n", run->history.count - 1,
           1e3 * history_median_seconds(&run->history));
    printf("%sTaylor-Green vortex, Re %.0f, %d^3 points to t = %g in %.0f s on %d %s: ",
           good ? "" : "WRONG: ", reynolds_number, run->options.size, run->options.time,
           progress_seconds(&run->progress), nranks, nranks == 1 ? "rank" : "ranks");
    print_deviations(worst);
    printf("energy loss and dissipation agree to %.2g %%; table and figures: %s\n",
           100 * worst.imbalance, run->options.output);
    return good;
}

static int compute(struct run *run) {
    open_run(run);
    follow(run);
    int good = 1;
    if (my_rank() == 0) {
        good = write_results(run);
        good = judge(run) && good;
    }
    close_run(run);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good ? 0 : 1;
}

/* Makes the output folder and the first files now, so that a wrong name is noticed before the work; 0 if it
 * fails. */
static int prepare_output(struct run *run) {
    int made = 1;
    if (my_rank() == 0) {
        made = mkdir(run->options.output, 0777) == 0 || errno == EEXIST || complain(run);
        made = made && begin_figures(run);
    }
    MPI_Bcast(&made, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return made;
}

static int has_volume(const struct run *run) {
    int good = run->options.volume == NULL || volume_possible;
    if (!good && my_rank() == 0)
        fputs("--volume is not to be had: this program was built without HDF5\n", stderr);
    return good;
}

static int start(struct run *run) {
    if (space_begin(run->options.space) != 0 || !has_volume(run) || !prepare_output(run))
        return 1;
    return compute(run);
}

/* The options are read first, since a device has to be chosen before MPI_Init. */
int main(int argc, char *argv[]) {
    struct run run = {0};
    int status = options_read(&run.options, argc, argv);
    if (status == -1 && run.options.space->prepare != NULL)
        run.options.space->prepare();
    MPI_Init(&argc, &argv);
    if (status == -1)
        status = start(&run);
    else if (my_rank() == 0)
        options_explain(&run.options);
    MPI_Finalize();
    return status;
}
