/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What fails while hosts wait for nothing: a kernel of the user's on one rank's device, a rank that is killed, one that
 * comes too late. Everybody learns of it within a bound, from the plan's query and from each later call, and can free
 * the plan.
 *     test_stream_survivors WORK METHOD FAULT VICTIM FILE
 * WORK is execute, put, transform, pencils or operator; with a method "signals..." it is asynchronous. FAULT is kernel
 * (it fails, and the rank queries its plan), call (it fails, and the rank goes on), kill or late. All but a killed rank
 * append "rank R: CODE after S s" to FILE and end by _exit, since MPI_Finalize would wait for the victim.
 * REDIST_TEST_LIMIT is the bound in seconds of all that a rank does. On a device that stands in for CUDA, or on CUDA's
 * (stream_device.h). test_stream_survivors.sh counts what they print.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fftnd_operators.h"
#include "redist.h"
#include "stream_device.h"

enum { AXES = 3, EXTENT = 12, BEFORE = 5, ENQUEUED = 6, AFTER = 200, AGAIN = 2 };

/* Seconds: the patience of a device that is not to be needed, and that for the one who is late; how long an error may
 * take in both cases. */
static const double patient = 60, impatient = 5, bound = 15, late_bound = 9;

static const redist_index shape[AXES] = {EXTENT, EXTENT, EXTENT};
static redist_index sizes[2][AXES] = {{EXTENT, EXTENT, EXTENT}, {EXTENT, EXTENT, EXTENT}};
static int rank, nranks, asynchronous, is_late;
static void *arrays[2], *stream;
static const char *method;

/* ---------------------------------------------------------------- what is done */

static redist_plan *exchange;
static fftnd_plan *transform;
static fftnd_operator *laplacian;

static int make_exchange(enum redist_tiles tiles) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.effort = REDIST_ESTIMATE;
    options.tiles = tiles;
    options.space = REDIST_SPACE_CUDA;
    options.stream = stream;
    options.asynchronous = asynchronous;
    options.wait_seconds = is_late ? impatient : patient;
    return redist_plan_exchange(MPI_COMM_WORLD, MPI_DOUBLE, AXES, sizes[0], arrays[0], 0, sizes[1],
                                arrays[1], 1, &options, &exchange);
}

static int make_whole(void) {
    return make_exchange(REDIST_WHOLE);
}

static int make_put(void) {
    return make_exchange(REDIST_PUT);
}

static int make_on_grid(int grid_ndims) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.method = method;
    options.effort = FFTND_ESTIMATE;
    options.grid_ndims = grid_ndims;
    options.space = REDIST_SPACE_CUDA;
    options.stream = stream;
    options.asynchronous = asynchronous;
    options.wait_seconds = is_late ? impatient : patient;
    return fftnd_plan_create(MPI_COMM_WORLD, AXES, shape, FFTND_C2C, FFTND_DOUBLE, &options,
                             &transform);
}

static int make_transform(void) {
    return make_on_grid(1);
}

static int make_pencils(void) {
    return make_on_grid(2);
}

static int make_operator(void) {
    int code = make_transform();
    return code == REDIST_OK
               ? fftnd_operator_create(transform, FFTND_INVERSE_LAPLACIAN, NULL, &laplacian)
               : code;
}

static int execute(int direction) {
    return redist_plan_execute(exchange, direction);
}

/* Array A as one tile */
static int put(int direction) {
    const redist_index begin[AXES] = {0};
    const ptrdiff_t item = sizeof(double),
                    stride[AXES] = {item * sizes[0][1] * sizes[0][2], item * sizes[0][2], item};
    (void)direction;
    int code = redist_plan_put_begin(exchange, arrays[1]);
    if (code != REDIST_OK)
        return code;
    code = redist_plan_put(exchange, begin, sizes[0], arrays[0], stride);
    int ended = redist_plan_put_end(exchange);
    return code != REDIST_OK ? code : ended;
}

static int transform_once(int direction) {
    return direction ? fftnd_backward(transform, arrays[1], arrays[0])
                     : fftnd_forward(transform, arrays[0], arrays[1]);
}

static int apply(int direction) {
    return fftnd_apply(transform, laplacian, arrays[direction], arrays[!direction]);
}

static int query(void) {
    return exchange != NULL ? redist_plan_query(exchange) : fftnd_plan_query(transform);
}

static void release(void) {
    (void)redist_plan_free(&exchange);
    (void)fftnd_operator_free(&laplacian);
    (void)fftnd_plan_free(&transform);
    for (int i = 0; i < 2; i++)
        (void)redist_free(&arrays[i]);
}

static const struct work {
    const char *name;
    int (*make)(void);
    int (*run)(int direction);
} works[] = {{"execute", make_whole, execute},
             {"put", make_put, put},
             {"transform", make_transform, transform_once},
             {"pencils", make_pencils, transform_once},
             {"operator", make_operator, apply}};

static const struct work *find_work(const char *name) {
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
        if (strcmp(name, works[i].name) == 0)
            return &works[i];
    fprintf(stderr, "test_stream_survivors: no work '%s'\n", name);
    exit(EXIT_FAILURE);
}

/* ---------------------------------------------------------------- who is left */

/* Only what a signal handler may call. */
static void time_is_up(int number) {
    static const char text[] = "time is up: a rank waits, or its device\n";
    (void)number;
    ssize_t written = write(STDOUT_FILENO, text, sizeof(text) - 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

static void watch(void) {
    const char *text = getenv("REDIST_TEST_LIMIT");
    signal(SIGUSR1, SIG_IGN); /* what MPICH's launcher sends to those that are left */
    signal(SIGPIPE, SIG_IGN); /* it may also be gone when they print */
    signal(SIGALRM, time_is_up);
    alarm(text != NULL ? (unsigned)atol(text) : 30);
}

static void must(int code, const char *what) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void prepare(const struct work *work) {
    const size_t bytes = 4 * sizeof(double) * EXTENT * EXTENT * (EXTENT + (size_t)nranks);
    redist_index begin;
    redist_decompose(EXTENT, nranks, rank, &sizes[0][1], &begin);
    redist_decompose(EXTENT, nranks, rank, &sizes[1][0], &begin);
    for (int i = 0; i < 2; i++)
        must(redist_alloc_in(MPI_COMM_WORLD, REDIST_SPACE_CUDA, bytes, &arrays[i]),
             "redist_alloc_in");
    (void)stream_device_create();
    stream = stream_device_create(); /* the second kind: transforms become graphs of the library */
    must(work->make(), work->name);
    for (int i = 0; i < BEFORE; i++)
        must(work->run(i % 2), work->name);
    stream_device_wait(stream);
    must(query(), "query");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Enqueues, and waits as a program does that knows nothing of the plan. A host that waits itself learns of it in one of
 * its calls. */
static int run_beside(const struct work *work) {
    int code = REDIST_OK;
    for (int i = 0; i < (asynchronous ? ENQUEUED : AFTER) && code == REDIST_OK; i++)
        code = work->run(i % 2);
    if (asynchronous)
        stream_device_wait(stream);
    return code == REDIST_OK ? query() : code;
}

static int query_until_error(void) {
    int code = query();
    for (int i = 0; i < AFTER && code == REDIST_OK; i++) {
        usleep(50000);
        code = query();
    }
    return code;
}

static int run_until_error(const struct work *work) {
    int code = REDIST_OK;
    for (int i = 0; i < AFTER && code == REDIST_OK; i++) {
        usleep(50000);
        code = work->run(i % 2);
    }
    return code;
}

/* Others may wait for the next call of who has queried its plan. */
static int query_and_run(const struct work *work) {
    int code = query_until_error();
    if (!asynchronous)
        (void)work->run(0);
    return code;
}

/* What the victim does; who is late does nothing yet. */
static int fail(const struct work *work, const char *fault) {
    if (strcmp(fault, "kill") == 0)
        raise(SIGKILL);
    if (is_late)
        return REDIST_OK;
    stream_device_fault(stream);
    return strcmp(fault, "kernel") == 0 ? query_and_run(work) : run_until_error(work);
}

static void report(const char *file, int code, const char *message, double learnt, double freed) {
    char line[512];
    int length =
        snprintf(line, sizeof(line), "rank %d: %s after %.1f s, freed after %.1f s: %.300s\n", rank,
                 redist_error_name(code), learnt, freed, message);
    FILE *reports = fopen(file, "a");
    if (reports == NULL || length < 0)
        return;
    fputs(line, reports);
    fclose(reports);
}

/* A rank that ends is gone: each stays until all have reported. */
static void stay(const char *file, int expected) {
    for (int lines = 0; lines < expected;) {
        FILE *reports = fopen(file, "r");
        lines = 0;
        for (int c; reports != NULL && (c = fgetc(reports)) != EOF;)
            lines += c == '\n';
        if (reports != NULL)
            fclose(reports);
        usleep(5000);
    }
}

static int run_all(const struct work *work, const char *fault, int victim, const char *file) {
    char message[300];
    prepare(work);
    watch();
    double begin = MPI_Wtime();
    int code = rank == victim ? fail(work, fault) : run_beside(work);
    double learnt = MPI_Wtime() - begin;
    if (is_late) { /* who is late comes when all others have waited, and learns that he is */
        MPI_Barrier(MPI_COMM_WORLD);
        code = rank == victim ? run_beside(work) : code;
    }
    snprintf(message, sizeof(message), "%s", redist_error_message());
    if (learnt > (is_late ? late_bound : bound))
        snprintf(message, sizeof(message), "too late");
    for (int i = 0; i < AGAIN; i++) /* with a plan that is broken */
        if (work->run(i % 2) == REDIST_OK || (asynchronous && query() == REDIST_OK))
            snprintf(message, sizeof(message), "a broken plan says that all is well");
    begin = MPI_Wtime();
    release();
    report(file, code, message, learnt, MPI_Wtime() - begin);
    stay(file, nranks - (strcmp(fault, "kill") == 0));
    _exit(EXIT_SUCCESS);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc != 6) {
        fprintf(stderr, "usage: test_stream_survivors WORK METHOD kernel|call|kill|late VICTIM "
                        "FILE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    if (!stream_device_begin()) {
        printf("skipped: fewer CUDA devices than ranks\n");
        MPI_Finalize();
        return EXIT_SUCCESS;
    }
    method = argv[2];
    asynchronous = strncmp(method, "signals", 7) == 0;
    is_late = strcmp(argv[3], "late") == 0;
    return run_all(find_work(argv[1]), argv[3], atoi(argv[4]), argv[5]);
}
