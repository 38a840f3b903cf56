/* SPDX-License-Identifier: BSD-3-Clause */
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fails with the reason of the system's last call. */
static int fail(const struct redist__file *file, const char *what) {
    return redist_fail_in(file->function, REDIST_ERR_FILE, "%.200s cannot be %s: %s", file->path,
                          what, strerror(errno));
}

/* Opens a path. A FIFO without a reader is refused at once, where a blocking call would wait for one. */
static int open_path(const char *path, int flags) {
    enum { ACCESS = 0666 };
    int descriptor;
    do
        descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, ACCESS);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

int redist__disk_close(const struct redist__file *file, int *descriptor) {
    int closed = *descriptor;
    *descriptor = -1;
    /* Linux has released the descriptor after EINTR, too */
    return closed < 0 || close(closed) == 0 || errno == EINTR ? REDIST_OK : fail(file, "closed");
}

/* A limit of the size of files would end the process with a signal. */
int redist__disk_set_length(const struct redist__file *file, int descriptor, redist_index bytes) {
    if (!redist__memory_file_may_end((uint64_t)bytes))
        return redist_fail_in(file->function, REDIST_ERR_FILE,
                              "%.200s cannot have %lld bytes: the limit is lower (ulimit -f)",
                              file->path, (long long)bytes);
    return ftruncate(descriptor, (off_t)bytes) == 0 ? REDIST_OK : fail(file, "given its length");
}

/* Gives a file the fields' length, or at least that; a device has none. */
static int fit_length(const struct redist__file *file, int descriptor) {
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return fail(file, "examined");
    redist_index end = redist__file_end(file);
    int fits = file->options.truncate ? 0 : (redist_index)status.st_size >= end;
    return fits || !S_ISREG(status.st_mode) ? REDIST_OK
                                            : redist__disk_set_length(file, descriptor, end);
}

int redist__disk_create(const struct redist__file *file) {
    int descriptor = open_path(file->path, O_WRONLY | O_CREAT);
    if (descriptor < 0)
        return fail(file, "opened for writing");
    int code = fit_length(file, descriptor), closed = redist__disk_close(file, &descriptor);
    return code != REDIST_OK ? code : closed;
}

/* Reserves room in an open file. */
static int reserve(const struct redist__file *file, int descriptor) {
    struct stat status;
    redist_index begin = file->options.offset, bytes = redist__file_end(file) - begin;
    if (fstat(descriptor, &status) != 0)
        return fail(file, "examined");
    if (bytes == 0 || !S_ISREG(status.st_mode))
        return REDIST_OK;
    do
        errno = posix_fallocate(descriptor, (off_t)begin, (off_t)bytes);
    while (errno == EINTR);
    return errno == 0 || errno == EOPNOTSUPP ? REDIST_OK : fail(file, "given room on the disk");
}

int redist__disk_reserve(const struct redist__file *file) {
    int descriptor = open_path(file->path, O_RDWR); /* some systems write zeros where nothing is */
    if (descriptor < 0)
        return fail(file, "opened for writing");
    int code = reserve(file, descriptor);
    (void)redist__disk_close(file, &descriptor);
    return code;
}

static int check_length(const struct redist__file *file, int descriptor) {
    struct stat status;
    redist_index end = redist__file_end(file);
    if (fstat(descriptor, &status) != 0)
        return fail(file, "examined");
    if (!S_ISREG(status.st_mode))
        return redist_fail_in(file->function, REDIST_ERR_FILE, "%.200s is not a regular file",
                              file->path);
    if ((redist_index)status.st_size >= end)
        return REDIST_OK;
    return redist_fail_in(file->function, REDIST_ERR_FILE,
                          "%.200s is too short: it has %lld bytes, and the fields end at %lld",
                          file->path, (long long)status.st_size, (long long)end);
}

int redist__disk_open(const struct redist__file *file, int both, int *descriptor) {
    int flags = both ? O_RDWR : file->writes ? O_WRONLY : O_RDONLY;
    *descriptor = open_path(file->path, flags);
    if (*descriptor < 0)
        return fail(file, file->writes ? "opened for writing" : "opened for reading");
    return file->writes ? REDIST_OK : check_length(file, *descriptor);
}

int redist__disk_write(const struct redist__file *file, int descriptor, const char *data,
                       size_t bytes, redist_index offset) {
    while (bytes > 0) {
        ssize_t written = pwrite(descriptor, data, bytes, (off_t)offset);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written == 0 ? EIO : errno;
            return fail(file, "written");
        }
        data += written;
        bytes -= (size_t)written;
        offset += written;
    }
    return REDIST_OK;
}

int redist__disk_read(const struct redist__file *file, int descriptor, char *data, size_t bytes,
                      redist_index offset, int may_be_short) {
    while (bytes > 0) {
        ssize_t got = pread(descriptor, data, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(file, "read");
        if (got == 0 && !may_be_short)
            return redist_fail_in(file->function, REDIST_ERR_FILE,
                                  "%.200s has become too short: it ends at byte %lld", file->path,
                                  (long long)offset);
        if (got == 0) {
            memset(data, 0, bytes);
            return REDIST_OK;
        }
        data += got;
        bytes -= (size_t)got;
        offset += got;
    }
    return REDIST_OK;
}

void redist__disk_begin_flush(int descriptor, size_t bytes, redist_index offset) {
    (void)sync_file_range(descriptor, (off_t)offset, (off_t)bytes, SYNC_FILE_RANGE_WRITE);
}

int redist__disk_flush(const struct redist__file *file, int descriptor) {
    int result;
    do
        result = fsync(descriptor);
    while (result != 0 && errno == EINTR);
    return result == 0 ? REDIST_OK : fail(file, "flushed (fsync)");
}

/* Finds the folder of a path in memory that the caller releases; NULL without memory. */
static char *folder_of(const char *path) {
    const char *end = strrchr(path, '/');
    size_t length = end == NULL ? 1 : end == path ? 1 : (size_t)(end - path);
    char *folder = redist_calloc(length + 1, 1);
    return folder == NULL ? NULL : memcpy(folder, end == NULL ? "." : path, length);
}

int redist__disk_flush_folder(const struct redist__file *file) {
    char *folder = folder_of(file->path);
    if (folder == NULL)
        return redist_fail_in(file->function, REDIST_ERR_MEMORY, "no memory for a path");
    int descriptor = open_path(folder, O_RDONLY | O_DIRECTORY);
    int code = descriptor < 0 ? fail(file, "flushed: its folder cannot be opened")
                              : redist__disk_flush(file, descriptor);
    int closed = redist__disk_close(file, &descriptor);
    redist_release(folder);
    return code != REDIST_OK ? code : closed;
}
