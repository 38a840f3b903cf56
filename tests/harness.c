/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "random.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096, MAX_SKIPPED = 64 };

int harness_nranks;
int harness_rank;

static const char *program_name;
static const TTest *const *test_list;
static uint64_t program_seed;
static char program_text[256]; /* who speaks: program, rank, seed */
static const char *current_test = "no test";
static double test_begin;
static char current_case[TEXT_BYTES];
static int case_limit;       /* seconds, 0 = none */
static time_t program_ends;  /* when its time is up */
static int random_case = -1; /* number of the current one */
static double random_begin;  /* when its loop began */
static char skipped[MAX_SKIPPED][256];
static int nskipped;
static int has_ended; /* all tests, and MPI */
static int nagreed;   /* failures that all ranks share; rank 0 prints them */

const char *harness_format(const char *format, ...) {
    static char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return text;
}

static void set_alarm(void) {
    time_t left = program_ends - time(NULL);
    left = case_limit > 0 && case_limit < left ? case_limit : left;
    alarm(left > 0 ? (unsigned)left : 1u);
}

void harness_case(const char *format, ...) {
    va_list arguments;
    int used = 0;
    if (random_case >= 0)
        used = snprintf(current_case, sizeof(current_case), "random case %d: ", random_case);
    va_start(arguments, format);
    vsnprintf(current_case + used, sizeof(current_case) - (size_t)used, format, arguments);
    va_end(arguments);
    if (case_limit > 0)
        set_alarm();
}

void harness_case_limit(int seconds) {
    const char *text = getenv("REDIST_TEST_CASE_LIMIT");
    case_limit = seconds > 0 && text ? atoi(text) : seconds;
    set_alarm();
}

const char *harness_current_case(void) {
    return current_case;
}

int harness_cases(int count) {
    const char *text = getenv("REDIST_TEST_SCALE");
    double scaled = count * (text ? atof(text) : 1.0);
    return scaled < 1.0 ? 1 : (int)scaled;
}

int harness_draws_case(void) {
    const char *text = getenv("REDIST_TEST_SHARE");
    return text == NULL || random_case >= 0 || random_chance((int)(100 * atof(text)));
}

static double random_seconds(void) {
    const char *text = getenv("REDIST_TEST_SECONDS");
    return text ? atof(text) : 0.3;
}

MPI_Comm harness_begin_nodes(int ranks) {
    MPI_Comm comm;
    char text[16];
    snprintf(text, sizeof text, "%d", ranks);
    if (ranks > 0)
        setenv("REDIST_NODE_SIZE", text, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

void harness_end_nodes(MPI_Comm *comm) {
    unsetenv("REDIST_NODE_SIZE");
    MPI_Comm_free(comm);
}

int harness_another(int i, int least) {
    int goes_on = 1;
    if (i == 0)
        random_begin = MPI_Wtime();
    if (i >= harness_cases(least)) {
        goes_on = MPI_Wtime() - random_begin < random_seconds();
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    random_case = goes_on ? i : -1;
    harness_case("%s", goes_on ? "not drawn yet" : "none");
    return goes_on;
}

void harness_skip(const char *reason) {
    if (nskipped < MAX_SKIPPED)
        snprintf(skipped[nskipped], sizeof(skipped[0]), "%s (%s)", current_test, reason);
    nskipped++;
}

/* ---------------------------------------------------------------- checks on all ranks */

void harness_agree(int holds, const char *file, int line, const char *message) {
    char text[3 * TEXT_BYTES] = "";
    int mine = holds ? harness_nranks : harness_rank;
    int lowest;
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == harness_nranks)
        return;
    nagreed++;
    snprintf(text, sizeof(text), "%s:%d: rank %d: %s\n    case: %s", file, line, lowest, message,
             current_case);
    MPI_Bcast(text, sizeof(text), MPI_CHAR, lowest, MPI_COMM_WORLD);
    ck_abort_msg("%s", text);
}

void harness_check_code(int code, int expected, const char *file, int line, const char *call) {
    int holds = code == expected;
    const char *message = "";
    if (!holds)
        message = harness_format("%s is %s instead of %s: %s", call, redist_error_name(code),
                                 redist_error_name(expected),
                                 code == REDIST_OK ? "" : redist_error_message());
    harness_agree(holds, file, line, message);
}

/* ---------------------------------------------------------------- seed and time limit */

static uint64_t choose_seed(void) {
    const char *text = getenv("REDIST_TEST_SEED");
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    unsigned long long seed =
        (unsigned long long)now.tv_sec * 1000 + (unsigned long long)now.tv_nsec / 1000000;
    if (text)
        seed = strtoull(text, NULL, 10);
    MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
    return seed;
}

static uint64_t hash_text(const char *text) {
    uint64_t hash = 0;
    for (; *text; text++)
        hash = random_hash(hash ^ (unsigned char)*text);
    return hash;
}

/* Only write(2), which a signal handler may call. */
static void write_text(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void write_place(const char *what) {
    static char text[3 * TEXT_BYTES];
    const char *const parts[] = {program_text, what,         " in test ", current_test,
                                 ", case: ",   current_case, "\n"};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        strncat(text, parts[i], sizeof(text) - strlen(text) - 1);
    write_text(text);
}

static void time_is_up(int number) {
    (void)number;
    write_place("time is up");
    sleep(1); /* lets the other ranks speak before the launcher ends them */
    _exit(EXIT_FAILURE);
}

/* By exit, or by a sanitizer. */
static void ends_early(void) {
    if (!has_ended)
        write_place("the process is ended");
    has_ended = 1;
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void catch_ends(void) {
    atexit(ends_early);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(ends_early);
}

/* What MPI does by itself too, but for the place. */
static void fails_in_mpi(MPI_Comm *comm, int *code, ...) {
    char what[MPI_MAX_ERROR_STRING + 32] = "an error of MPI, ", *text = what + strlen(what);
    int length = 0;
    MPI_Error_string(*code, text, &length);
    write_place(what);
    has_ended = 1;
    MPI_Abort(*comm, *code);
}

/* Errors in requests are fatal in some MPI libraries whatever the communicator's own handler. */
static void catch_mpi_errors(void) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(fails_in_mpi, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
}

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

enum { FATAL_SIGNALS = sizeof(fatal_signals) / sizeof(fatal_signals[0]) };

static struct sigaction previous_actions[FATAL_SIGNALS];

/* Says where, then leaves it to whoever was there before: MPI, a sanitizer, the system. */
static void crash(int number) {
    write_place("crash");
    for (int i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &previous_actions[i], NULL);
    if (number == SIGABRT)
        raise(number); /* the others come again by themselves */
}

/* Check sets a handler of its own whenever it begins to run, so this is done for each test. */
static void catch_alarm(void) {
    struct sigaction on_alarm = {.sa_handler = time_is_up};
    sigaction(SIGALRM, &on_alarm, NULL);
}

static void set_signals(void) {
    const char *text = getenv("REDIST_TEST_LIMIT");
    struct sigaction on_crash = {.sa_handler = crash};
    snprintf(program_text, sizeof(program_text),
             "%s, rank %d of %d, REDIST_TEST_SEED=%llu: ", program_name, harness_rank,
             harness_nranks, (unsigned long long)program_seed);
    catch_alarm();
    catch_ends();
    catch_mpi_errors();
    for (int i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &on_crash, &previous_actions[i]);
    program_ends = time(NULL) + (text ? atoi(text) : 240);
    set_alarm();
}

/* ---------------------------------------------------------------- running */

/* Check offers no name of the running test; each test is a case of its own, started by this. */
static void begin_next_test(void) {
    static int next;
    const char *only = getenv("CK_RUN_CASE");
    while (only && *only && test_list[next] && strcmp(test_list[next]->name, only) != 0)
        next++;
    current_test = test_list[next++]->name;
    random_case = -1;
    harness_case("none");
    catch_alarm();
    harness_case_limit(0);
    random_seed(program_seed ^ hash_text(current_test));
    test_begin = MPI_Wtime();
}

static void end_test(void) {
    if (harness_rank == 0 && getenv("REDIST_TEST_TIMES"))
        printf("%8.3f s %s\n", MPI_Wtime() - test_begin, current_test);
}

static SRunner *make_runner(void) {
    Suite *suite = suite_create(program_name);
    for (int i = 0; test_list[i]; i++) {
        TCase *test_case = tcase_create(test_list[i]->name);
        tcase_add_checked_fixture(test_case, begin_next_test, end_test);
        tcase_add_test(test_case, test_list[i]);
        suite_add_tcase(suite, test_case);
    }
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    return runner;
}

static void print_failures(SRunner *runner) {
    int count = srunner_ntests_failed(runner);
    TestResult **failures = srunner_failures(runner);
    for (int i = 0; i < count; i++)
        printf("FAILED %s: %s\n", tr_tcname(failures[i]), tr_msg(failures[i]));
    free(failures);
}

static void print_summary(int run, int failed) {
    printf("%s on %d rank%s: %d passed, %d failed, %d skipped", program_name, harness_nranks,
           harness_nranks == 1 ? "" : "s", run - failed - nskipped, failed, nskipped);
    for (int i = 0; i < nskipped && i < MAX_SKIPPED; i++)
        printf("%s %s", i ? "," : ":", skipped[i]);
    printf(" [REDIST_TEST_SEED=%llu]\n", (unsigned long long)program_seed);
}

/* Failures of all ranks are printed once; those of one rank alone by itself. */
static int report(SRunner *runner) {
    int failed = srunner_ntests_failed(runner);
    int most;
    if (harness_rank == 0 || failed > nagreed)
        print_failures(runner);
    MPI_Reduce(&failed, &most, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (harness_rank == 0)
        print_summary(srunner_ntests_run(runner), most);
    return failed;
}

/* It may wait for ever like any other call of MPI, and must not hide then what the tests have found. */
static void finalize(void) {
    current_test = "MPI_Finalize";
    harness_case("none");
    fflush(stdout);
    MPI_Finalize();
    has_ended = 1;
}

int harness_run(int argc, char **argv, const char *program, const TTest *const tests[]) {
    program_name = program;
    test_list = tests;
    int initialised;
    MPI_Initialized(&initialised);
    if (!initialised)
        MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &harness_nranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &harness_rank);
    program_seed = choose_seed();
    set_signals();
    SRunner *runner = make_runner();
    srunner_run_all(runner, CK_SILENT);
    int failed = report(runner);
    srunner_free(runner);
    finalize();
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
