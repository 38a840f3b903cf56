/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan-bench: what a transform costs that is planned, executed once and freed, as in programs that keep no plans:
 *     plan-bench [N [ROUNDS [EFFORT]]]
 * for N^3 complex points (36), the median of ROUNDS rounds (60), EFFORT 0 = estimate or 1 = measure: libfftnd with and
 * without kept plans, FFTW's MPI interface on libfftnd, and FFTW's own. The contestants take turns in each round.
 */
#include "fftnd.h"

#include <dlfcn.h>
#include <fftw3-mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN, EXECUTE, FREE, PARTS };

struct job {
    redist_index n;
    int effort;
    void *in, *out;
    double seconds[PARTS + 1]; /* at the start, and at the end of each part */
};

static void insist(int is_right, const char *what) {
    if (is_right)
        return;
    fprintf(stderr, "plan-bench: %s: %s\n", what, redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---------------------------------------------------------------- the contestants */

static void run_fftnd(struct job *job, int keep) {
    const redist_index sizes[3] = {job->n, job->n, job->n};
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    fftnd_plan *plan = NULL;
    options.effort = job->effort ? FFTND_MEASURE : FFTND_ESTIMATE;
    options.keep = keep;
    int code =
        fftnd_plan_create(MPI_COMM_WORLD, 3, sizes, FFTND_C2C, FFTND_DOUBLE, &options, &plan);
    insist(code == REDIST_OK, "fftnd_plan_create");
    job->seconds[PLAN + 1] = MPI_Wtime();
    insist(fftnd_forward(plan, job->in, job->out) == REDIST_OK, "fftnd_forward");
    job->seconds[EXECUTE + 1] = MPI_Wtime();
    insist(fftnd_plan_free(&plan) == REDIST_OK, "fftnd_plan_free");
}

static void run_fresh(struct job *job) {
    run_fftnd(job, 0);
}

static void run_kept(struct job *job) {
    run_fftnd(job, 1);
}

struct interface {
    fftw_plan (*plan)(int, const ptrdiff_t *, ptrdiff_t, ptrdiff_t, ptrdiff_t, fftw_complex *,
                      fftw_complex *, MPI_Comm, int, unsigned);
    void (*execute)(const fftw_plan);
    void (*release)(fftw_plan);
};

static void run_interface(struct job *job, const struct interface *fftw) {
    const ptrdiff_t n[3] = {job->n, job->n, job->n};
    unsigned flags = job->effort ? FFTW_MEASURE : FFTW_ESTIMATE;
    const ptrdiff_t block = FFTW_MPI_DEFAULT_BLOCK;
    fftw_plan plan =
        fftw->plan(3, n, 1, block, block, job->in, job->out, MPI_COMM_WORLD, FFTW_FORWARD, flags);
    insist(plan != NULL, "fftw_mpi_plan_many_dft");
    job->seconds[PLAN + 1] = MPI_Wtime();
    fftw->execute(plan);
    job->seconds[EXECUTE + 1] = MPI_Wtime();
    fftw->release(plan);
}

/* The functions that this program is linked with are libfftnd's. */
static void run_face(struct job *job) {
    static const struct interface own = {fftw_mpi_plan_many_dft, fftw_execute, fftw_destroy_plan};
    run_interface(job, &own);
}

static void find(void *library, const char *name, void *function) {
    void *found = library != NULL ? dlsym(library, name) : NULL;
    insist(found != NULL, "FFTW's own libfftw3_mpi.so.3 cannot be loaded");
    memcpy(function, &found, sizeof found);
}

static void run_fftw_mpi(struct job *job) {
    static struct interface fftw;
    if (fftw.plan == NULL) {
        void *library = dlopen("libfftw3_mpi.so.3", RTLD_NOW | RTLD_LOCAL);
        find(library, "fftw_execute", &fftw.execute);
        find(library, "fftw_destroy_plan", &fftw.release);
        find(library, "fftw_mpi_plan_many_dft", &fftw.plan);
    }
    run_interface(job, &fftw);
}

static const struct contestant {
    const char *name;
    void (*run)(struct job *job);
} contestants[] = {{"fftnd", run_fresh},
                   {"fftnd-kept", run_kept},
                   {"fftnd-fftw3-mpi", run_face},
                   {"fftw-mpi", run_fftw_mpi}};

enum { CONTESTANTS = sizeof contestants / sizeof *contestants };

/* ---------------------------------------------------------------- rounds */

/* Times the parts and the whole on the slowest rank. */
static void time_once(const struct contestant *contestant, struct job *job, double times[]) {
    MPI_Barrier(MPI_COMM_WORLD);
    job->seconds[0] = MPI_Wtime();
    contestant->run(job);
    job->seconds[PARTS] = MPI_Wtime();
    for (int part = 0; part < PARTS; part++)
        times[part] = job->seconds[part + 1] - job->seconds[part];
    times[PARTS] = job->seconds[PARTS] - job->seconds[0];
    MPI_Allreduce(MPI_IN_PLACE, times, PARTS + 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the time below which a fraction of the rounds is: half, or none for the least time. */
static double quantile(double times[][PARTS + 1], int rounds, int part, double fraction) {
    double *sorted = malloc((size_t)rounds * sizeof *sorted);
    insist(sorted != NULL, "no memory");
    for (int i = 0; i < rounds; i++)
        sorted[i] = times[i][part];
    qsort(sorted, (size_t)rounds, sizeof *sorted, compare);
    double found = sorted[(int)(fraction * rounds)];
    free(sorted);
    return found;
}

static void report(double (*times)[PARTS + 1], int rounds) {
    printf("%-18s %10s %10s %10s %10s %10s %10s  (ms)\n", "", "first", "plan", "execute", "free",
           "all", "least");
    for (int i = 0; i < CONTESTANTS; i++, times += rounds + 1) {
        printf("%-18s %10.3f", contestants[i].name, 1e3 * times[0][PLAN]);
        for (int part = 0; part <= PARTS; part++)
            printf(" %10.3f", 1e3 * quantile(times + 1, rounds, part, 0.5));
        printf(" %10.3f\n", 1e3 * quantile(times + 1, rounds, PARTS, 0));
    }
}

static int argument(int argc, char **argv, int i, int usual) {
    return argc > i ? atoi(argv[i]) : usual;
}

int main(int argc, char **argv) {
    int rank, rounds = argument(argc, argv, 2, 60);
    struct job job = {.n = argument(argc, argv, 1, 36), .effort = argument(argc, argv, 3, 0)};
    MPI_Init(&argc, &argv);
    fftw_mpi_init();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const ptrdiff_t n[3] = {job.n, job.n, job.n};
    ptrdiff_t count, start;
    size_t points = (size_t)fftw_mpi_local_size(3, n, MPI_COMM_WORLD, &count, &start);
    job.in = fftw_alloc_complex(points);
    job.out = fftw_alloc_complex(points);
    double(*times)[PARTS + 1] = calloc((size_t)(CONTESTANTS * (rounds + 1)), sizeof *times);
    insist(rounds > 0 && job.n > 0 && job.in != NULL && job.out != NULL && times != NULL,
           "wrong arguments, or no memory");
    for (int round = 0; round <= rounds; round++)
        for (int i = 0; i < CONTESTANTS; i++)
            time_once(&contestants[i], &job, times[i * (rounds + 1) + round]);
    if (rank == 0)
        report(times, rounds);
    free(times);
    fftw_free(job.in);
    fftw_free(job.out);
    MPI_Finalize();
    return 0;
}
