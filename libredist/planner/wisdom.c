/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wisdom: earlier choices. Rank 0 of each communicator stores them, and reads and writes the file; the others get its
 * results.
 *
 * The file is text: a heading, then one line "key name" for each candidate; lines are only appended, the last one
 * counts. A plan does not depend on the file, so it causes no errors and no long waits: problems are printed to stderr,
 * once for each file by processes with common searches.
 */
#include "planner.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <search.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 2 * REDIST_WISDOM_BYTES + 2, MOST_BYTES = 16 << 20 };

static const char heading[] = "redist-wisdom 1\n";
enum { HEADING_BYTES = sizeof heading - 1 };

/* ---------------------------------------------------------------- warnings about the file */

/* Hashes of the names of files with a warning: one for each file, up to a limit. */
enum { MOST_WARNED = 64 };

static pthread_mutex_t warned_lock = PTHREAD_MUTEX_INITIALIZER;
static long long warned[MOST_WARNED];
static int nwarned;

/* Returns whether the file of this hash has had a warning; records one if `now`. */
static int is_warned(long long hash, int now) {
    int i = 0;
    pthread_mutex_lock(&warned_lock);
    while (i < nwarned && warned[i] != hash)
        i++;
    int found = i < nwarned || nwarned == MOST_WARNED;
    if (now && !found)
        warned[nwarned++] = hash;
    pthread_mutex_unlock(&warned_lock);
    return found;
}

static void warn(const char *file, const char *wrong, const char *reason, const char *remedy) {
    if (!is_warned(redist_hash_text(file), 1))
        fprintf(stderr, "redist: warning: wisdom file \"%s\" %s: %s. %s\n", file, wrong, reason,
                remedy);
}

static void warn_access(const char *file, const char *wrong, const char *reason) {
    warn(file, wrong, reason,
         "The plan is made without it. Name a file that can be read and written, in wisdom_file or "
         "REDIST_WISDOM.");
}

/* ---------------------------------------------------------------- opening */

/* Opens a file, without blocking on pipes or terminals. NULL with errno. */
static FILE *open_file(const char *file, int flags, const char *mode) {
    int descriptor = open(file, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);
    struct stat status;
    FILE *stream = NULL;
    if (descriptor < 0)
        return NULL;
    if (fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISCHR(status.st_mode))
        errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    else
        stream = fdopen(descriptor, mode);
    if (stream == NULL)
        close(descriptor);
    return stream;
}

/* Checks that the file begins with the heading, or is empty; warns if not. Leaves the position after the heading. */
static int check_heading(const char *file, FILE *stream) {
    char text[HEADING_BYTES + 1];
    const char *line = fgets(text, sizeof text, stream);
    if (line == NULL && ferror(stream)) {
        warn_access(file, "cannot be read", strerror(errno));
        return 0;
    }
    if (line != NULL && strcmp(line, heading) != 0) {
        warn(file, "is left as it is", "its first line is not \"redist-wisdom 1\"",
             "The plan is made without it. Remove it, or name another file in wisdom_file or "
             "REDIST_WISDOM.");
        return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------- reading */

/* Reads the next line, "" for one that is too long or contains a 0; returns 0 without a complete one. */
static int next_line(FILE *stream, size_t *left, char line[LINE_BYTES]) {
    size_t length = 0;
    int byte = EOF, is_line = 1;
    for (; *left > 0 && (byte = getc_unlocked(stream)) != EOF && byte != '\n'; --*left) {
        is_line &= byte != '\0' && length < LINE_BYTES - 1;
        if (is_line)
            line[length++] = (char)byte;
    }
    *left -= *left > 0;
    line[is_line ? length : 0] = '\0';
    return byte == '\n';
}

static void read_lines(FILE *stream, const char *key, char name[REDIST_WISDOM_BYTES]) {
    char line[LINE_BYTES];
    size_t length = strlen(key), left = MOST_BYTES;
    while (next_line(stream, &left, line))
        if (strncmp(line, key, length) == 0 && line[length] == ' ' &&
            strlen(line + length + 1) < REDIST_WISDOM_BYTES)
            strcpy(name, line + length + 1);
}

/* Skips to the end of a file that is too large, where the latest lines are. */
static void skip_to_end(FILE *stream, const char *file) {
    struct stat status;
    char line[LINE_BYTES];
    size_t left = MOST_BYTES;
    if (fstat(fileno(stream), &status) != 0 || status.st_size <= MOST_BYTES)
        return;
    warn(file, "is too large", "it has more than 16 MiB, of which the last ones are read",
         "Remove it, or name another file in wisdom_file or REDIST_WISDOM.");
    if (fseeko(stream, status.st_size - MOST_BYTES, SEEK_SET) == 0)
        next_line(stream, &left, line); /* half a line */
}

/* Reads the last complete line for `key`; without one `name` is unchanged. */
static void read_file(const char *file, const char *key, char name[REDIST_WISDOM_BYTES]) {
    FILE *stream = open_file(file, O_RDONLY, "r");
    if (stream == NULL) {
        if (errno != ENOENT) /* a missing file is empty */
            warn_access(file, "cannot be read", strerror(errno));
        return;
    }
    if (check_heading(file, stream)) {
        skip_to_end(stream, file);
        read_lines(stream, key, name);
        if (ferror(stream))
            warn_access(file, "cannot be read", strerror(errno));
    }
    fclose(stream);
}

/* ---------------------------------------------------------------- appending */

/* Tries to lock for some tenths of a second; after a failure only once. */
static int lock_file(int descriptor, const char *file) {
    const struct timespec moment = {0, 10 * 1000 * 1000};
    int attempts = is_warned(redist_hash_text(file), 0) ? 1 : 30, result;
    do {
        result = lockf(descriptor, F_TLOCK, 0);
        if (result != 0 && (errno == EACCES || errno == EAGAIN) && attempts > 1)
            nanosleep(&moment, NULL);
        else
            break;
    } while (--attempts > 0);
    return result;
}

/* Returns whether the file ends in a whole line, else the next one would be lost. */
static int ends_in_line(int descriptor, off_t end) {
    char last = '\n';
    return pread(descriptor, &last, 1, end - 1) != 1 || last == '\n';
}

/* Appends a line as a whole, or nothing. */
static void append_line(int descriptor, const char *file, const char *key, const char *name) {
    char line[HEADING_BYTES + LINE_BYTES + 2];
    off_t end = lseek(descriptor, 0, SEEK_END);
    const char *before = end <= 0 ? heading : ends_in_line(descriptor, end) ? "" : "\n";
    int length = snprintf(line, sizeof line, "%s%s %s\n", before, key, name);
    errno = 0;
    ssize_t written = write(descriptor, line, (size_t)length);
    if (written == length)
        return;
    warn_access(file, "cannot be written", errno != 0 ? strerror(errno) : "there is no room");
    if (written > 0 && ftruncate(descriptor, end) != 0)
        return; /* readers skip a partial line */
}

/* Appends to the file, which is created if missing; one with another heading is unchanged. */
static void append_file(const char *file, const char *key, const char *name) {
    FILE *stream = open_file(file, O_RDWR | O_APPEND | O_CREAT, "a+");
    if (stream == NULL) {
        warn_access(file, "cannot be written", strerror(errno));
        return;
    }
    if (lock_file(fileno(stream), file) != 0)
        warn_access(file, "cannot be written",
                    errno == EACCES || errno == EAGAIN ? "another process has locked it"
                                                       : strerror(errno));
    else if (check_heading(file, stream))
        append_line(fileno(stream), file, key, name);
    fclose(stream);
}

/* ---------------------------------------------------------------- wisdom of this process */

struct memory {
    char key[REDIST_WISDOM_BYTES], name[REDIST_WISDOM_BYTES];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *memories; /* a tree */
static atomic_uint age;

static int compare(const void *left, const void *right) {
    return strcmp(((const struct memory *)left)->key, ((const struct memory *)right)->key);
}

unsigned redist__wisdom_age(void) {
    return atomic_load(&age);
}

/* Remembers a choice; without memory, the next plan measures again. */
static void remember(const char *key, const char *name) {
    struct memory *memory = redist_calloc(1, sizeof *memory), **found = NULL;
    if (memory == NULL)
        return;
    snprintf(memory->key, sizeof memory->key, "%s", key);
    pthread_mutex_lock(&lock);
    found = tsearch(memory, &memories, compare);
    if (found != NULL)
        snprintf((*found)->name, sizeof memory->name, "%s", name);
    if (found == NULL || *found != memory)
        redist_release(memory);
    pthread_mutex_unlock(&lock);
}

static void recall(const char *key, char name[REDIST_WISDOM_BYTES]) {
    struct memory wanted;
    snprintf(wanted.key, sizeof wanted.key, "%s", key);
    pthread_mutex_lock(&lock);
    struct memory *const *found = tfind(&wanted, &memories, compare);
    if (found != NULL)
        snprintf(name, REDIST_WISDOM_BYTES, "%s", (*found)->name);
    pthread_mutex_unlock(&lock);
}

void redist_forget_wisdom(void) {
    atomic_fetch_add(&age, 1);
    pthread_mutex_lock(&lock);
    while (memories != NULL) {
        struct memory *memory = *(struct memory **)memories;
        tdelete(memory, &memories, compare);
        redist_release(memory);
    }
    pthread_mutex_unlock(&lock);
}

static const char *file_name(const char *file) {
    if (file == NULL)
        file = getenv("REDIST_WISDOM");
    return file != NULL && file[0] != '\0' ? file : NULL;
}

/* Finds a choice. All ranks learn of a warning, so that none repeats it as rank 0 of another communicator. */
int redist_wisdom_find(MPI_Comm comm, const char *file, const char *key, size_t bytes,
                       char name[]) {
    struct {
        char name[REDIST_WISDOM_BYTES];
        long long warned; /* hash of a file; 0 = none */
    } found = {"", 0};
    char own[REDIST_WISDOM_BYTES];
    int rank;
    MPI_Comm_rank(comm, &rank);
    snprintf(own, sizeof own, "%s", key);
    if (rank == 0)
        recall(own, found.name);
    file = file_name(file);
    if (rank == 0 && found.name[0] == '\0' && file != NULL)
        read_file(file, own, found.name);
    if (rank == 0 && file != NULL && is_warned(redist_hash_text(file), 0))
        found.warned = redist_hash_text(file);
    int code = redist_broadcast(comm, &found, sizeof found, 0);
    if (code == REDIST_OK && found.warned != 0)
        is_warned(found.warned, 1);
    snprintf(name, bytes, "%s", code == REDIST_OK ? found.name : "");
    return code;
}

/* Returns whether a name fits a line: a truncated one would be another choice. */
static int is_line(const char *name) {
    return strlen(name) < REDIST_WISDOM_BYTES && strchr(name, '\n') == NULL;
}

int redist_wisdom_store(MPI_Comm comm, const char *file, const char *key, const char *name) {
    char own[REDIST_WISDOM_BYTES];
    int rank;
    MPI_Comm_rank(comm, &rank);
    file = file_name(file);
    atomic_fetch_add(&age, 1);
    snprintf(own, sizeof own, "%s", key);
    if (rank == 0 && is_line(name)) {
        remember(own, name);
        if (file != NULL)
            append_file(file, own, name);
    }
    return REDIST_OK;
}
