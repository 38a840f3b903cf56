/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file is text: a heading, then one line "key name" for each choice; lines are only appended, the last
 * one counts. A plan does not depend on the file, so nothing here is an error, and nothing waits for long.
 */
#include "wisdom_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 2 * REDIST_WISDOM_BYTES + 2 };

static const char heading[] = "redist-wisdom 1\n";
enum { HEADING_BYTES = sizeof heading - 1 };

/* ---------------------------------------------------------------- warnings */

struct warned {
    struct warned *next;
    char file[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct warned *all_warned;

/* Called with the lock held. */
static int is_listed(const char *file) {
    const struct warned *warned = all_warned;
    while (warned != NULL && strcmp(warned->file, file) != 0)
        warned = warned->next;
    return warned != NULL;
}

static int is_warned(const char *file) {
    pthread_mutex_lock(&lock);
    int listed = is_listed(file);
    pthread_mutex_unlock(&lock);
    return listed;
}

/* Nonzero at the first call for a file. The list stays until the process ends; it is no part of what plans
 * take and give back, so it is not from the user's allocator. */
static int note_warned(const char *file) {
    struct warned *warned = malloc(sizeof *warned + strlen(file) + 1);
    if (warned == NULL)
        return !is_warned(file);
    strcpy(warned->file, file);
    pthread_mutex_lock(&lock);
    int listed = is_listed(file);
    if (!listed) {
        warned->next = all_warned;
        all_warned = warned;
    }
    pthread_mutex_unlock(&lock);
    if (listed)
        free(warned);
    return !listed;
}

static void warn(const char *file, const char *wrong, const char *reason, const char *remedy) {
    if (note_warned(file))
        fprintf(stderr,
                "redist: warning: wisdom file \"%s\" %s: %s. The plan is made without it. %s\n",
                file, wrong, reason, remedy);
}

static void warn_access(const char *file, const char *wrong, const char *reason) {
    warn(file, wrong, reason,
         "Name a file that can be read and written, in wisdom_file or REDIST_WISDOM.");
}

static void warn_heading(const char *file) {
    warn(file, "is left as it is", "its first line is not \"redist-wisdom 1\"",
         "Remove it, or name another file in wisdom_file or REDIST_WISDOM.");
}

/* ---------------------------------------------------------------- opening */

/* Neither a pipe without a partner nor a terminal may hold the plan up. -1 with errno. */
static int open_file(const char *file, int flags) {
    int descriptor = open(file, flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666);
    struct stat status;
    if (descriptor < 0)
        return -1;
    if (fstat(descriptor, &status) == 0 && (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode)))
        return descriptor;
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
    close(descriptor);
    return -1;
}

/* 1 = it begins as it should, 0 = it is empty, -1 = it holds something else, -2 = errno says why it cannot
 * be read. Leaves the position behind the heading. */
static int read_heading(int descriptor) {
    char text[HEADING_BYTES];
    ssize_t length = 0, more;
    do {
        more = read(descriptor, text + length, HEADING_BYTES - (size_t)length);
        length += more > 0 ? more : 0;
    } while (more > 0 && length < HEADING_BYTES);
    if (more < 0)
        return -2;
    if (length == 0)
        return 0;
    return length == HEADING_BYTES && memcmp(text, heading, HEADING_BYTES) == 0 ? 1 : -1;
}

/* Nonzero if the file may be used; warns if not. */
static int check_heading(const char *file, int found) {
    if (found == -1)
        warn_heading(file);
    if (found == -2)
        warn_access(file, "cannot be read", strerror(errno));
    return found >= 0;
}

/* ---------------------------------------------------------------- reading */

/* A line that is cut off, too long or has a 0 in it is no line. */
static int is_complete(const char line[LINE_BYTES], FILE *stream) {
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\n')
        return 1;
    int rest; /* what follows is not the beginning of a line */
    if (length == LINE_BYTES - 1)
        do
            rest = getc(stream);
        while (rest != EOF && rest != '\n');
    return 0;
}

static void read_lines(FILE *stream, const char *key, char name[REDIST_WISDOM_BYTES]) {
    char line[LINE_BYTES];
    size_t length = strlen(key);
    while (fgets(line, sizeof line, stream) != NULL) {
        if (!is_complete(line, stream))
            continue;
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            snprintf(name, REDIST_WISDOM_BYTES, "%.*s", REDIST_WISDOM_BYTES - 1, line + length + 1);
    }
}

void redist__wisdom_read(const char *file, const char *key, char name[REDIST_WISDOM_BYTES]) {
    int descriptor = open_file(file, O_RDONLY);
    if (descriptor < 0) {
        if (errno != ENOENT) /* a file that is not there yet holds nothing */
            warn_access(file, "cannot be read", strerror(errno));
        return;
    }
    if (!check_heading(file, read_heading(descriptor))) {
        close(descriptor);
        return;
    }
    FILE *stream = fdopen(descriptor, "r");
    if (stream == NULL) {
        warn_access(file, "cannot be read", strerror(errno));
        close(descriptor);
        return;
    }
    read_lines(stream, key, name);
    if (ferror(stream))
        warn_access(file, "cannot be read", strerror(errno));
    fclose(stream);
}

/* ---------------------------------------------------------------- appending */

/* For some tenths of a second; where that was in vain before, once. */
static int lock_file(int descriptor, const char *file) {
    const struct timespec moment = {0, 10 * 1000 * 1000};
    int attempts = is_warned(file) ? 1 : 30, result;
    do {
        result = lockf(descriptor, F_TLOCK, 0);
        if (result != 0 && (errno == EACCES || errno == EAGAIN) && attempts > 1)
            nanosleep(&moment, NULL);
        else
            break;
    } while (--attempts > 0);
    return result;
}

/* A last line that was cut off must not swallow the next one. */
static int ends_in_line(int descriptor, off_t end) {
    char last = '\n';
    return pread(descriptor, &last, 1, end - 1) != 1 || last == '\n';
}

/* Some bytes of a line are worse than none. */
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
        return; /* readers skip the half line */
}

void redist__wisdom_append(const char *file, const char *key, const char *name) {
    int descriptor = open_file(file, O_RDWR | O_APPEND | O_CREAT);
    if (descriptor < 0) {
        warn_access(file, "cannot be written", strerror(errno));
        return;
    }
    if (lock_file(descriptor, file) != 0)
        warn_access(file, "cannot be written",
                    errno == EACCES || errno == EAGAIN ? "another process has locked it"
                                                       : strerror(errno));
    else if (check_heading(file, read_heading(descriptor)))
        append_line(descriptor, file, key, name);
    close(descriptor);
}
