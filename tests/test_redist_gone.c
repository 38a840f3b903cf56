/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that is killed in the middle of exchanges, or whose MPI refuses every call from then on: all others get an
 * error within a bound, and so does the one that lives; then all free what they have.
 *     test_redist_gone METHOD execute|arrays|start|put VICTIM K FILE
 * VICTIM kills itself: 0 = between two executions, k = in the k-th MPI call of an execution; or its MPI calls fail from
 * the k-th one on: -k. All others append "rank R: CODE after S s" to FILE, since launchers may lose what is printed
 * after a rank has died, and end by _exit, since MPI_Finalize would wait for the victim. REDIST_TEST_LIMIT is the bound
 * in seconds. test_redist_gone.sh counts what they print.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "faults.h"
#include "redist.h"

enum { AXES = 3, EXTENT = 24, BEFORE = 5, AFTER = 3000 };

static int rank, nranks;
static redist_index sizes_a[AXES] = {EXTENT, EXTENT, EXTENT};
static double *arrays[2];

static void must(int code, const char *what) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static redist_plan *make_plan(const char *method, const char *use) {
    redist_index sizes_b[AXES] = {EXTENT, EXTENT, EXTENT}, start;
    redist_options options = REDIST_OPTIONS_DEFAULT;
    redist_plan *plan = NULL;
    redist_decompose(EXTENT, nranks, rank, &sizes_a[1], &start);
    redist_decompose(EXTENT, nranks, rank, &sizes_b[0], &start);
    size_t bytes = sizeof(double) * EXTENT * EXTENT * (size_t)sizes_a[1];
    must(redist_alloc(MPI_COMM_WORLD, bytes, (void **)&arrays[0]), "redist_alloc");
    must(redist_alloc(MPI_COMM_WORLD, bytes, (void **)&arrays[1]), "redist_alloc");
    options.method = method;
    options.tiles = strcmp(use, "put") == 0 ? REDIST_PUT : REDIST_WHOLE;
    must(redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, AXES, sizes_a, arrays[0], 0, sizes_b,
                              arrays[1], 1, &options, &plan),
         method);
    return plan;
}

/* Only write(2), which a signal handler may call. */
static void time_is_up(int number) {
    static const char text[] = "time is up: a rank waits for one that is gone\n";
    (void)number;
    ssize_t written = write(STDOUT_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

static void watch(void) {
    const char *text = getenv("REDIST_TEST_LIMIT");
    struct sigaction on_alarm = {.sa_handler = time_is_up};
    sigaction(SIGALRM, &on_alarm, NULL);
    signal(SIGUSR1, SIG_IGN); /* what MPICH's launcher sends to those that are left */
    signal(SIGPIPE, SIG_IGN); /* it may also be gone when they print */
    alarm(text != NULL ? (unsigned)atoi(text) : 20u);
}

/* Array A as one tile */
static int put_all(redist_plan *plan) {
    const redist_index start[AXES] = {0};
    const ptrdiff_t item = sizeof(double),
                    stride[AXES] = {item * sizes_a[1] * sizes_a[2], item * sizes_a[2], item};
    int code = redist_plan_put_begin(plan, arrays[1]);
    if (code != REDIST_OK)
        return code;
    int put = redist_plan_put(plan, start, sizes_a, arrays[0], stride);
    int ended = redist_plan_put_end(plan);
    return put != REDIST_OK ? put : ended;
}

static int execute(redist_plan *plan, const char *use, int direction) {
    if (strcmp(use, "put") == 0)
        return put_all(plan);
    if (strcmp(use, "execute") == 0)
        return redist_plan_execute(plan, direction);
    if (strcmp(use, "arrays") == 0) /* all ranks agree first */
        return redist_plan_execute_arrays(plan, direction, arrays[0], arrays[1]);
    int code = redist_plan_start(plan, direction);
    return code == REDIST_OK ? redist_plan_wait(plan) : code;
}

/* Executions until one fails; the victim does not get far. */
static int run(redist_plan *plan, const char *use, int victim, int k) {
    int code = REDIST_OK;
    for (int i = 0; i < BEFORE; i++)
        must(execute(plan, use, i % 2), use);
    if (rank == victim && k == 0)
        raise(SIGKILL);
    if (rank == victim)
        faults_arm(k > 0 ? FAULT_DEATH : FAULT_SILENCE, abs(k));
    for (int i = 0; i < AFTER && code == REDIST_OK; i++)
        code = execute(plan, use, i % 2);
    return code;
}

/* A rank that ends is gone: each stays until all have reported. */
static void stay(const char *file) {
    for (int lines = 0; lines < nranks;) {
        FILE *reports = fopen(file, "r");
        lines = 0;
        for (int c; reports != NULL && (c = fgetc(reports)) != EOF;)
            lines += c == '\n';
        if (reports != NULL)
            fclose(reports);
        usleep(10000);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc != 6) {
        fprintf(stderr, "usage: test_redist_gone METHOD execute|arrays|start|put VICTIM K FILE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    redist_plan *plan = make_plan(argv[1], argv[2]);
    watch();
    double begin = MPI_Wtime();
    int code = run(plan, argv[2], atoi(argv[3]), atoi(argv[4]));
    char message[256];
    snprintf(message, sizeof message, "%s", redist_error_message());
    if (atoi(argv[4]) < 0) { /* the codes say what was found out meanwhile */
        (void)redist_plan_free(&plan);
        (void)redist_free((void **)&arrays[0]);
        (void)redist_free((void **)&arrays[1]);
    }
    FILE *report = fopen(argv[5], "a");
    if (report != NULL) {
        fprintf(report, "rank %d: %s after %.1f s: %s\n", rank, redist_error_name(code),
                MPI_Wtime() - begin, message);
        fclose(report);
    }
    if (atoi(argv[4]) < 0)
        stay(argv[5]);
    _exit(code == REDIST_OK ? EXIT_FAILURE : EXIT_SUCCESS);
}
