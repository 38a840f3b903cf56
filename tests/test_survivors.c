/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is left when a rank is killed, or when its MPI calls fail several times in a row: everybody returns from every
 * call within a bound, with an error or with what was done before; so does each later call with the same plan, and
 * freeing it.
 *     test_survivors WORK METHOD FAULT NUMBER VICTIM FILE
 * WORK is execute, arrays, start, put, transform, operator, plan, planfft or first (planning, each time on a new
 * communicator). FAULT is kill (after NUMBER microseconds of work), death (in MPI call NUMBER of it; 0 = before it),
 * calls (that call and the one behind it fail) or silence (that one and all later ones). All but a killed rank append
 * "rank R: CODE after S s" to FILE and end by _exit, since MPI_Finalize would wait for the victim; launchers may lose
 * what is printed after a rank has died. REDIST_TEST_LIMIT is the bound in seconds. REDIST_TEST_SPACE=cuda puts the
 * arrays on devices. test_survivors.sh and test_redist_gone.sh count what they print.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "faults.h"
#include "fftnd_operators.h"
#include "redist.h"

enum { AXES = 3, EXTENT = 12, BEFORE = 3, AFTER = 3000, AGAIN = 2, FRESH = BEFORE + 8 };

static const redist_index shape[AXES] = {EXTENT, EXTENT, EXTENT};
static int rank, nranks;
static redist_index sizes[2][AXES] = {{EXTENT, EXTENT, EXTENT}, {EXTENT, EXTENT, EXTENT}};
static void *arrays[2];
static const char *method;
static MPI_Comm comm = MPI_COMM_WORLD,
                fresh[FRESH]; /* of the plans; those that the library has not seen */
static int nfresh;
static enum redist_space space = REDIST_SPACE_HOST;

/* ---------------------------------------------------------------- what is done */

static redist_plan *exchange;
static fftnd_plan *transform;
static fftnd_operator *laplacian;

static int make_exchange(enum redist_tiles tiles) {
    redist_options options = REDIST_OPTIONS_DEFAULT;
    options.method = method;
    options.tiles = tiles;
    options.space = space;
    return redist_plan_exchange(comm, MPI_DOUBLE, AXES, sizes[0], arrays[0], 0, sizes[1], arrays[1],
                                1, &options, &exchange);
}

static int make_transform(void) {
    fftnd_options options = FFTND_OPTIONS_DEFAULT;
    options.method = method;
    options.space = space;
    return fftnd_plan_create(MPI_COMM_WORLD, AXES, shape, FFTND_C2C, FFTND_DOUBLE, &options,
                             &transform);
}

static int make_whole(void) {
    return make_exchange(REDIST_WHOLE);
}

static int make_put(void) {
    return make_exchange(REDIST_PUT);
}

static int make_operator(void) {
    int code = make_transform();
    return code == REDIST_OK
               ? fftnd_operator_create(transform, FFTND_INVERSE_LAPLACIAN, NULL, &laplacian)
               : code;
}

static int make_nothing(void) {
    return REDIST_OK;
}

static int make_comms(void) {
    for (nfresh = 0; nfresh < FRESH; nfresh++)
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh[nfresh]);
    return REDIST_OK;
}

static int execute(int direction) {
    return redist_plan_execute(exchange, direction);
}

static int execute_arrays(int direction) { /* all ranks agree first */
    return redist_plan_execute_arrays(exchange, direction, arrays[0], arrays[1]);
}

static int start(int direction) {
    int code = redist_plan_start(exchange, direction);
    return code == REDIST_OK ? redist_plan_wait(exchange) : code;
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

static int transform_pair(int direction) {
    return direction ? fftnd_backward(transform, arrays[1], arrays[0])
                     : fftnd_forward(transform, arrays[0], arrays[1]);
}

static int apply(int direction) {
    (void)direction;
    return fftnd_apply(transform, laplacian, arrays[0], arrays[1]);
}

static int release(void) {
    int code = redist_plan_free(&exchange);
    (void)fftnd_operator_free(&laplacian);
    (void)fftnd_plan_free(&transform);
    return code;
}

static int plan_exchange(int direction) {
    (void)direction;
    int code = make_whole();
    (void)release();
    return code;
}

static int plan_first(int direction) {
    comm = nfresh > 0 ? fresh[--nfresh] : MPI_COMM_WORLD;
    return plan_exchange(direction);
}

static int plan_transform(int direction) {
    int code = direction ? make_operator() : make_transform();
    (void)release();
    return code;
}

static const struct work {
    const char *name;
    int (*make)(void);
    int (*run)(int direction);
} works[] = {{"execute", make_whole, execute},
             {"arrays", make_whole, execute_arrays},
             {"start", make_whole, start},
             {"put", make_put, put},
             {"transform", make_transform, transform_pair},
             {"operator", make_operator, apply},
             {"plan", make_nothing, plan_exchange},
             {"planfft", make_nothing, plan_transform},
             {"first", make_comms, plan_first}};

static const struct work *find_work(const char *name) {
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        if (strcmp(name, works[i].name) == 0)
            return &works[i];
    fprintf(stderr, "test_survivors: no work '%s'\n", name);
    exit(EXIT_FAILURE);
}

/* ---------------------------------------------------------------- who is left */

/* Only what a signal handler may call. */
static void time_is_up(int number) {
    static const char text[] = "time is up: a rank waits for one that is gone\n";
    (void)number;
    ssize_t written = write(STDOUT_FILENO, text, sizeof text - 1);
    (void)written;
    _exit(EXIT_FAILURE);
}

static void die(int number) {
    (void)number;
    raise(SIGKILL);
}

static void on_alarm(void (*handler)(int), long microseconds) {
    const struct sigaction action = {.sa_handler = handler};
    const struct itimerval timer = {.it_value = {microseconds / 1000000, microseconds % 1000000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void watch(void) {
    const char *text = getenv("REDIST_TEST_LIMIT");
    signal(SIGUSR1, SIG_IGN); /* what MPICH's launcher sends to those that are left */
    signal(SIGPIPE, SIG_IGN); /* it may also be gone when they print */
    on_alarm(time_is_up, (text != NULL ? atol(text) : 20) * 1000000);
}

static void must(int code, const char *what) {
    if (code == REDIST_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, redist_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void allocate(void) {
    const size_t bytes = 4 * sizeof(double) * EXTENT * EXTENT * (EXTENT + (size_t)nranks);
    redist_index begin;
    redist_decompose(EXTENT, nranks, rank, &sizes[0][1], &begin);
    redist_decompose(EXTENT, nranks, rank, &sizes[1][0], &begin);
    for (int i = 0; i < 2; i++)
        must(redist_alloc_in(MPI_COMM_WORLD, space, bytes, &arrays[i]), "redist_alloc_in");
}

static void arm(const char *fault, long number) {
    if (strcmp(fault, "kill") == 0)
        on_alarm(die, number + 1);
    else if (strcmp(fault, "death") == 0 && number == 0)
        die(SIGKILL);
    else if (strcmp(fault, "death") == 0)
        faults_arm(FAULT_DEATH, (int)number);
    else if (strcmp(fault, "calls") == 0)
        faults_arm_several(FAULT_CALL, (int)number, 2);
    else
        faults_arm(FAULT_SILENCE, (int)number);
}

/* Until a call fails, in a bounded number of them; then more calls, which have to fail. */
static int run(const struct work *work) {
    int code = REDIST_OK;
    for (int i = 0; i < AFTER && code == REDIST_OK; i++)
        code = work->run(i % 2);
    return code;
}

static void report(const char *file, int code, const char *message, double seconds) {
    char line[512];
    int length = snprintf(line, sizeof line, "rank %d: %s after %.1f s: %.300s\n", rank,
                          redist_error_name(code), seconds, message);
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

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (argc != 7) {
        fprintf(stderr,
                "usage: test_survivors WORK METHOD kill|death|calls|silence NUMBER VICTIM FILE\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    const struct work *work = find_work(argv[1]);
    method = argv[2];
    const char *text = getenv("REDIST_TEST_SPACE");
    if (text != NULL && strcmp(text, "cuda") == 0)
        space = REDIST_SPACE_CUDA;
    allocate();
    must(work->make(), argv[1]);
    for (int i = 0; i < BEFORE; i++)
        must(work->run(i % 2), argv[1]);
    PMPI_Barrier(MPI_COMM_WORLD);
    watch();
    if (rank == atoi(argv[5]))
        arm(argv[3], atol(argv[4]));
    double begin = MPI_Wtime();
    char message[300];
    int code = run(work);
    snprintf(message, sizeof message, "%s", redist_error_message());
    for (int i = 0; i < AGAIN; i++) { /* with a plan that is broken, or none */
        int again = exchange != NULL || transform != NULL ? work->run(i) : code;
        if (code != REDIST_OK && again == REDIST_OK)
            snprintf(message, sizeof message, "a broken plan says that all is well");
    }
    (void)release();
    for (int i = 0; i < 2; i++)
        (void)redist_free(&arrays[i]);
    report(argv[6], code, message, MPI_Wtime() - begin);
    int dies = strcmp(argv[3], "kill") == 0 || strcmp(argv[3], "death") == 0;
    stay(argv[6], nranks - dies);
    _exit(EXIT_SUCCESS);
}
