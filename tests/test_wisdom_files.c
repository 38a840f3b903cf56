/* SPDX-License-Identifier: BSD-3-Clause */
/* Wisdom files as they should not be: exchanges and transforms work, after one warning on rank 0. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchanges.h"
#include "fft_run.h"
#include "harness.h"
#include "mutations.h"
#include "redist_support.h"

enum { NAME_BYTES = 300, MOST_BYTES = 1 << 16, ROOM = 20000 };

static const char heading[] = "redist-wisdom 1\n";
static char directory[NAME_BYTES], file[NAME_BYTES];
static pid_t locker;

/* ---------------------------------------------------------------- making files */

/* Random bytes of rank 0's own: the common ones are for all ranks. */
static void write_bytes(const char *start, size_t random_bytes) {
    static uint64_t bits = 88172645463325252;
    FILE *stream = fopen(file, "w");
    fputs(start, stream);
    for (size_t i = 0; i < random_bytes; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        fputc((int)(bits >> 32 & 255), stream);
    }
    fclose(stream);
}

static void make_random(void) {
    write_bytes("", 20000);
}

static void make_random_lines(void) {
    write_bytes(heading, 20000);
}

static void make_other_text(void) {
    write_bytes("This is not wisdom.\nNor is this.\n", 0);
}

static void make_nearly(void) {
    write_bytes("redist-wisdom 10\n", 0);
}

static void make_short(void) {
    write_bytes("redist", 0);
}

static void make_cut(void) {
    write_bytes("redist-wisdom 1\nauto/host/ranks=", 0);
}

static void make_empty(void) {
    write_bytes("", 0);
}

static void make_nothing(void) {
}

static void make_missing_folder(void) {
    snprintf(file, sizeof file, "%.200s/missing/wisdom", directory);
}

static void make_file_as_folder(void) {
    write_bytes(heading, 0);
    snprintf(file, sizeof file, "%.200s/wisdom/wisdom", directory);
}

static void make_directory(void) {
    if (mkdir(file, 0777) != 0)
        perror(file);
}

static void make_pipe(void) {
    if (mkfifo(file, 0666) != 0)
        perror(file);
}

static void make_loop(void) {
    if (symlink(file, file) != 0)
        perror(file);
}

static void make_full(void) {
    if (symlink("/dev/full", file) != 0)
        perror(file);
}

/* A process of its own holds the lock until it is killed. */
static void make_locked(void) {
    int ready[2];
    char byte = 0;
    write_bytes(heading, 0);
    if (pipe(ready) != 0)
        return;
    locker = fork();
    if (locker == 0) {
        int descriptor = open(file, O_RDWR);
        if (descriptor < 0 || lockf(descriptor, F_LOCK, 0) != 0 || write(ready[1], "x", 1) != 1)
            _exit(EXIT_FAILURE);
        for (;;)
            pause();
    }
    if (read(ready[0], &byte, 1) != 1)
        perror("the lock");
    close(ready[0]);
    close(ready[1]);
}

/* Files of this process may not grow: writing fails. */
static void set_no_room(int no_room) {
    struct rlimit limit;
    signal(SIGXFSZ, no_room ? SIG_IGN : SIG_DFL);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = no_room ? ROOM + 10 : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void make_no_room(void) {
    write_bytes(heading, 0);
    if (truncate(file, ROOM) != 0)
        perror(file);
}

static const struct damage {
    const char *name;
    void (*make)(void);
    int warnings, kept; /* the file stays as it was */
} damages[] = {
    {"random bytes", make_random, 1, 1},
    {"random lines", make_random_lines, 0, 0},
    {"another text", make_other_text, 1, 1},
    {"another heading", make_nearly, 1, 1},
    {"half a heading", make_short, 1, 1},
    {"a line that is cut off", make_cut, 0, 0},
    {"an empty file", make_empty, 0, 0},
    {"no file", make_nothing, 0, 0},
    {"no folder", make_missing_folder, 1, 0},
    {"a file in the place of the folder", make_file_as_folder, 1, 0},
    {"a directory", make_directory, 1, 0},
    {"a pipe", make_pipe, 1, 0},
    {"a link to itself", make_loop, 1, 0},
    {"a full device", make_full, 1, 0},
    {"a locked file", make_locked, 1, 1},
};

enum { DAMAGES = sizeof damages / sizeof *damages };

/* ---------------------------------------------------------------- the frame */

/* What there is in the file, on rank 0. */
static size_t contents(char bytes[MOST_BYTES]) {
    size_t length = 0;
    struct stat status;
    if (harness_rank == 0 && stat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        FILE *stream = fopen(file, "r");
        length = fread(bytes, 1, MOST_BYTES, stream);
        fclose(stream);
    }
    return length;
}

static void begin(const struct damage *damage) {
    snprintf(directory, sizeof directory, "/tmp/wisdom-files-XXXXXX");
    if (harness_rank == 0 && !mkdtemp(directory))
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Bcast(directory, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(file, sizeof file, "%.200s/wisdom", directory);
    if (harness_rank == 0)
        damage->make();
    MPI_Bcast(file, NAME_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("REDIST_WISDOM", file, 1);
    redist_forget_wisdom();
}

static void end(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    unsetenv("REDIST_WISDOM");
    redist_forget_wisdom();
    if (locker > 0) {
        kill(locker, SIGKILL);
        waitpid(locker, NULL, 0);
        locker = 0;
    }
    char command[NAME_BYTES + 20];
    snprintf(command, sizeof command, "rm -rf '%.200s'", directory);
    if (harness_rank == 0 && system(command) != 0)
        perror(command);
}

/* Everything that goes to stderr, to a file instead, and back. */
static int usual_stderr;

static void catch_stderr(void) {
    char path[NAME_BYTES];
    snprintf(path, sizeof path, "%.200s/stderr-%d", directory, harness_rank);
    fflush(stderr);
    usual_stderr = dup(STDERR_FILENO);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(descriptor, STDERR_FILENO);
    close(descriptor);
}

/* The warnings that name the file. */
static int count_warnings(void) {
    char path[NAME_BYTES], line[2000];
    int count = 0;
    fflush(stderr);
    dup2(usual_stderr, STDERR_FILENO);
    close(usual_stderr);
    snprintf(path, sizeof path, "%.200s/stderr-%d", directory, harness_rank);
    FILE *stream = fopen(path, "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL)
        count += strncmp(line, "redist: warning: ", 17) == 0 && strstr(line, file) != NULL;
    if (stream != NULL)
        fclose(stream);
    return count;
}

static void try_exchange(void) {
    static const redist_index sizes[] = {6, 7, 8};
    test_element element = element_create(2);
    exchange given = exchange_between_axes(MPI_COMM_WORLD, &element, 3, sizes, 0, 1);
    const exchange_way ways[2] = {{"auto", {MEMORY_SHARED, MEMORY_PLAIN}, USE_EXECUTE},
                                  {"auto", {MEMORY_PLAIN, MEMORY_PLAIN}, USE_START}};
    exchange_try(&given, 2, ways);
    element_free(&element);
}

/* On several nodes, since all is guessed on one. */
static void try_transform(void) {
    fft_case given = FFT_CASE(FFTND_R2C, 8, 6, 5);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    setenv("REDIST_NODE_SIZE", "1", 1);
    given.options.effort = FFTND_MEASURE;
    given.options.plan_seconds = 0.01;
    fft_check_once(comm, &given);
    unsetenv("REDIST_NODE_SIZE");
    MPI_Comm_free(&comm);
}

static void try_damage(const struct damage *damage, void (*try)(void)) {
    static char before[MOST_BYTES], after[MOST_BYTES];
    begin(damage);
    size_t bytes = contents(before);
    catch_stderr();
    double start = MPI_Wtime();
    for (int i = 0; i < 3; i++) {
        try();
        redist_forget_wisdom();
    }
    double seconds = MPI_Wtime() - start;
    int warnings = count_warnings(), expected = harness_rank == 0 ? damage->warnings : 0;
    harness_case("%s", damage->name);
    check_all(warnings == expected, "%d warnings instead of %d", warnings, expected);
    check_all(seconds < 60, "%.1f seconds", seconds);
    int same = contents(after) == bytes && memcmp(before, after, bytes) == 0;
    check_all(!damage->kept || same, "the file was changed");
    check_all(damage->kept || damage->warnings != 0 || harness_rank != 0 || !same,
              "nothing was written");
    end();
}

/* ---------------------------------------------------------------- tests */

START_TEST(exchanges) {
    for (int i = 0; i < DAMAGES; i++)
        try_damage(&damages[i], try_exchange);
}
END_TEST

START_TEST(transforms) {
    if (harness_nranks == 1)
        skip_test("configurations are measured on several nodes");
    for (int i = 0; i < DAMAGES; i++)
        try_damage(&damages[i], try_transform);
}
END_TEST

/* What is in the file, or in the process */
static void find(const char *key, char choice[REDIST_WISDOM_BYTES]) {
    check_ok(redist_wisdom_find(MPI_COMM_WORLD, file, key, REDIST_WISDOM_BYTES, choice));
}

/* Lines that are complete count among others that are not, and what is appended after half a line too. */
START_TEST(lines_among_damage) {
    char choice[REDIST_WISDOM_BYTES], longest[4000] = "";
    const struct damage damage = {"lines among damage", make_nothing, 0, 0};
    begin(&damage);
    memset(longest, 'x', sizeof longest - 1);
    if (harness_rank == 0) {
        FILE *stream = fopen(file, "w");
        fprintf(stream, "%skey first\n%s\nkey second\n\n\nkey", heading, longest);
        fputc(0, stream);
        fprintf(stream, "third\n%skey fourth\nkey fif", longest);
        fclose(stream);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    find("key", choice);
    check_all(strcmp(choice, "second") == 0, "\"%s\" instead of \"second\"", choice);
    check_ok(redist_wisdom_store(MPI_COMM_WORLD, file, "other", "sixth"));
    redist_forget_wisdom();
    find("other", choice);
    check_all(strcmp(choice, "sixth") == 0, "\"%s\" instead of \"sixth\"", choice);
    find("key", choice);
    check_all(strncmp(choice, "fif", 3) == 0, "\"%s\": the cut line has become one", choice);
    end();
}
END_TEST

/* Where the file is locked, plans do not wait for it again and again. */
START_TEST(lock_is_not_waited_for) {
    char choice[REDIST_WISDOM_BYTES];
    const struct damage damage = {"a locked file", make_locked, 1, 1};
    begin(&damage);
    catch_stderr();
    double start = MPI_Wtime();
    for (int i = 0; i < 100; i++)
        check_ok(redist_wisdom_store(MPI_COMM_WORLD, file, "key", "value"));
    double seconds = MPI_Wtime() - start;
    int warnings = count_warnings();
    check_all(warnings == (harness_rank == 0), "%d warnings", warnings);
    check_all(seconds < 10, "%.1f seconds", seconds);
    find("key", choice);
    check_all(strcmp(choice, "value") == 0, "the process has forgotten the choice");
    end();
}
END_TEST

/* Of a line for which there is not enough room nothing is left. */
START_TEST(no_room) {
    static char before[MOST_BYTES], after[MOST_BYTES];
    char choice[REDIST_WISDOM_BYTES];
    const struct damage damage = {"no room", make_no_room, 1, 1};
    begin(&damage);
    size_t bytes = contents(before);
    catch_stderr();
    set_no_room(harness_rank == 0);
    for (int i = 0; i < 3; i++)
        check_ok(redist_wisdom_store(MPI_COMM_WORLD, file, "a long key", "a long choice"));
    set_no_room(0);
    int warnings = count_warnings();
    check_all(warnings == (harness_rank == 0), "%d warnings", warnings);
    check_all(contents(after) == bytes && memcmp(before, after, bytes) == 0, "half a line");
    find("a long key", choice);
    check_all(strcmp(choice, "a long choice") == 0, "the process has forgotten the choice");
    end();
}
END_TEST

/* Who has looked together with a rank that gave the warning gives none in a smaller communicator. */
START_TEST(one_warning_for_all) {
    char choice[REDIST_WISDOM_BYTES];
    const struct damage damage = {"another text", make_other_text, 1, 1};
    begin(&damage);
    catch_stderr();
    find("key", choice);
    check_ok(redist_wisdom_find(MPI_COMM_SELF, file, "key", REDIST_WISDOM_BYTES, choice));
    int warnings = count_warnings();
    check_all(warnings == (harness_rank == 0), "%d warnings", warnings);
    end();
}
END_TEST

/* A choice that is no line is not remembered: neither cut, nor as two lines, nor with what lies behind it in memory. */
START_TEST(choices_that_are_no_lines) {
    static char before[MOST_BYTES], after[MOST_BYTES];
    static const size_t lengths[] = {REDIST_WISDOM_BYTES - 1, REDIST_WISDOM_BYTES, 1000, 30000};
    char choice[REDIST_WISDOM_BYTES], *text = calloc(30001, 1), key[600] = "";
    const struct damage damage = {"long choices", make_empty, 0, 0};
    for (int i = 0; i < 5; i++) {
        begin(&damage);
        memset(text, 'x', 30000);
        text[i < 4 ? lengths[i] : 40] = '\0';
        if (i == 4)
            text[20] = '\n';
        size_t bytes = contents(before);
        harness_case("a choice of %zu bytes", strlen(text));
        check_ok(redist_wisdom_store(MPI_COMM_WORLD, file, "key", text));
        find("key", choice);
        check_all(strcmp(choice, i == 0 ? text : "") == 0, "it was remembered: \"%s\"", choice);
        redist_forget_wisdom();
        find("key", choice);
        check_all(strcmp(choice, i == 0 ? text : "") == 0, "it was stored: \"%s\"", choice);
        check_all(i == 0 || contents(after) == bytes, "something was written");
        end();
    }
    free(text);
    begin(&damage);
    memset(key, 'k', sizeof key - 1);
    check_ok(redist_wisdom_store(MPI_COMM_WORLD, file, key, "choice"));
    redist_forget_wisdom();
    find(key, choice);
    check_all(strcmp(choice, "choice") == 0, "\"%s\" for a key that is cut", choice);
    end();
}
END_TEST

static long most_memory(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* 512 MiB that the file system need not have. */
static void make_endless_line(void) {
    write_bytes("redist-wisdom 1\nkey first\n", 0);
    if (truncate(file, (off_t)512 << 20) != 0)
        perror(file);
}

/* It is neither kept in memory nor read as a whole; what is behind it counts. */
START_TEST(endless_line) {
    char choice[REDIST_WISDOM_BYTES];
    const struct damage damage = {"a line without an end", make_endless_line, 1, 0};
    begin(&damage);
    catch_stderr();
    long before = most_memory();
    double start = MPI_Wtime();
    find("key", choice);
    check_ok(redist_wisdom_store(MPI_COMM_WORLD, file, "key", "second"));
    redist_forget_wisdom();
    char latest[REDIST_WISDOM_BYTES];
    find("key", latest);
    double seconds = MPI_Wtime() - start;
    int warnings = count_warnings();
    check_all(warnings == (harness_rank == 0), "%d warnings", warnings);
    check_all(most_memory() - before < 64, "%ld MiB of memory", most_memory() - before);
    check_all(seconds < 20, "%.1f seconds", seconds);
    check_all(strcmp(choice, "") == 0, "\"%s\" was read before the last 16 MiB", choice);
    check_all(strcmp(latest, "second") == 0, "\"%s\" instead of \"second\"", latest);
    end();
}
END_TEST

/* ---------------------------------------------------------------- mutations */

enum { TEXT_BYTES = 1 << 14 };

/* Its lines are those of the file that exchanges and transforms have written. */
static size_t make_original(char text[TEXT_BYTES]) {
    unsigned long bytes = 0;
    try_exchange();
    try_transform();
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *stream = harness_rank == 0 ? fopen(file, "r") : NULL;
    if (stream != NULL) {
        bytes = fread(text, 1, TEXT_BYTES, stream);
        fclose(stream);
    }
    MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    MPI_Bcast(text, TEXT_BYTES, MPI_CHAR, 0, MPI_COMM_WORLD);
    return bytes;
}

static void write_text(const char text[], size_t bytes) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (harness_rank == 0) {
        FILE *stream = fopen(file, "w");
        fwrite(text, 1, bytes, stream);
        fclose(stream);
    }
    redist_forget_wisdom();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Whatever the file holds, results are right. */
START_TEST(mutated_files) {
    static char original[TEXT_BYTES], text[TEXT_BYTES];
    const struct damage damage = {"mutations", make_nothing, 0, 0};
    begin(&damage);
    size_t bytes = make_original(original);
    for (int i = 0; harness_another(i, 4); i++) {
        size_t n = bytes;
        memcpy(text, original, bytes);
        n = mutate(text, n, sizeof text, 8);
        write_text(text, n);
        harness_case("mutation %d", i);
        try_exchange();
        try_transform();
    }
    end();
}
END_TEST

/* A configuration is one for this transform, or refused by its name. */
START_TEST(mutated_configurations) {
    static char text[TEXT_BYTES];
    static const char original[] =
        "grid=1 order=0,1,2 fused=1 tiled=1 tile=65536 group=18446744073709551615 "
        "nontemporal=100000 segments=1 transposed=0 untiled=0 partitions=1 "
        "direct_stores=0";
    for (int i = 0; harness_another(i, 20); i++) {
        fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5);
        fftnd_plan *plan = NULL;
        size_t n = (size_t)snprintf(text, sizeof text, "grid=%d%s", harness_nranks, original + 6);
        if (random_chance(80))
            n = mutate(text, n, sizeof text - 1, 3);
        text[n] = '\0';
        setenv("FFTND_CONFIGURATION", text, 1);
        harness_case("%.300s", text);
        int code = fft_case_plan(MPI_COMM_WORLD, &given, &plan);
        check_all(code == REDIST_OK || code == REDIST_ERR_ARGUMENT, "%s", redist_error_message());
        check_ok(fftnd_plan_free(&plan));
        if (code == REDIST_OK)
            fft_check_once(MPI_COMM_WORLD, &given);
        unsetenv("FFTND_CONFIGURATION");
    }
}
END_TEST

/* Direct stores have a word, and another one in older files. */
START_TEST(words_of_direct_stores) {
    static const struct {
        const char *word;
        int code;
    } words[] = {
        {"direct_stores", REDIST_OK}, {"stored", REDIST_OK}, {"stores", REDIST_ERR_ARGUMENT}};
    for (int i = 0; i < 3; i++) {
        fft_case given = FFT_CASE(FFTND_C2C, 8, 6, 5);
        fftnd_plan *plan = NULL;
        char text[200];
        snprintf(text, sizeof text,
                 "grid=%d order=0,1,2 fused=0 tiled=1 tile=65536 group=65536 nontemporal=100000 "
                 "segments=1 transposed=0 untiled=0 partitions=1 %s=0",
                 harness_nranks, words[i].word);
        setenv("FFTND_CONFIGURATION", text, 1);
        check_code(fft_case_plan(MPI_COMM_WORLD, &given, &plan), words[i].code);
        check_ok(fftnd_plan_free(&plan));
        unsetenv("FFTND_CONFIGURATION");
    }
}
END_TEST

int main(int argc, char **argv) {
    unsetenv("REDIST_TEST_SHARE"); /* the tests look at what their cases did, so all of them run */
    const TTest *const tests[] = {exchanges,
                                  transforms,
                                  lines_among_damage,
                                  lock_is_not_waited_for,
                                  no_room,
                                  one_warning_for_all,
                                  choices_that_are_no_lines,
                                  endless_line,
                                  mutated_files,
                                  mutated_configurations,
                                  words_of_direct_stores,
                                  NULL};
    unsetenv("REDIST_WISDOM");
    return harness_run(argc, argv, "test_wisdom_files", tests);
}
