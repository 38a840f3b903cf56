/* SPDX-License-Identifier: BSD-3-Clause */
#include "checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *with_ending(const char *path, const char *ending) {
    size_t bytes = strlen(path) + strlen(ending) + 1;
    char *name = redist_calloc(bytes, 1);
    if (name != NULL)
        snprintf(name, bytes, "%s%s", path, ending);
    return name;
}

char *redist__generation_part(const char *path) {
    return with_ending(path, ".part");
}

static char *generation(const char *path, int number) {
    char ending[16];
    snprintf(ending, sizeof ending, ".%d", number);
    return with_ending(path, ending);
}

static int refuse(const char *function, const char *what, const char *from, const char *to) {
    return redist_fail_in(function, REDIST_ERR_FILE, "'%s' could not %s '%s': %s", from, what, to,
                          strerror(errno));
}

/* Renames generation number - 1 to `number`, if it exists. */
static int move_back(const char *function, const char *path, int number) {
    char *from = generation(path, number - 1), *to = generation(path, number);
    int code = REDIST_OK;
    if (from == NULL || to == NULL)
        code = redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for the names of files");
    else if (rename(from, to) != 0 && errno != ENOENT)
        code = refuse(function, "be renamed to", from, to);
    redist_release(from);
    redist_release(to);
    return code;
}

/* Returns whether a writer was killed between its last two steps: both names are of one file. */
static int is_same(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

/* Gives the current file a second name, as it must keep its first one until the next file takes that. */
static int link_newest(const char *function, const char *path, const char *newest) {
    if (unlink(newest) != 0 && errno != ENOENT)
        return redist_fail_in(function, REDIST_ERR_FILE, "'%s' could not be removed: %s", newest,
                              strerror(errno));
    if (link(path, newest) == 0)
        return REDIST_OK;
    return refuse(function, "be kept (use options->keep = 0 where the file system has no links) as",
                  path, newest);
}

static int keep_earlier(const char *function, const char *path, int keep) {
    int code = REDIST_OK;
    if (keep == 0 || access(path, F_OK) != 0)
        return REDIST_OK;
    char *newest = generation(path, 1);
    if (newest == NULL)
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for the names of files");
    if (!is_same(path, newest)) {
        for (int number = keep; code == REDIST_OK && number > 1; number--)
            code = move_back(function, path, number);
        if (code == REDIST_OK)
            code = link_newest(function, path, newest);
    }
    redist_release(newest);
    return code;
}

int redist__generation_advance(const char *function, const char *path, const char *part, int keep) {
    REDIST_TRY(keep_earlier(function, path, keep));
    return rename(part, path) == 0 ? REDIST_OK : refuse(function, "be renamed to", part, path);
}
