/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes at a place of a file, and the header of a file, which rank 0 reads for all. */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int redist__read_at(int descriptor, void *data, size_t bytes, int64_t place) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(descriptor, (char *)data + done, bytes - done, place + (off_t)done);
        if (n == 0)
            return ENODATA;
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

int redist__write_at(int descriptor, const void *data, size_t bytes, int64_t place) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n =
            pwrite(descriptor, (const char *)data + done, bytes - done, place + (off_t)done);
        if (n == 0)
            return EIO;
        if (n < 0 && errno != EINTR)
            return errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

#define FAIL(...) redist_fail_in(function, REDIST_ERR_FILE, __VA_ARGS__)

static int read_part(const char *function, const char *path, int descriptor, void *data,
                     size_t bytes, int64_t place) {
    int error = redist__read_at(descriptor, data, bytes, place);
    return error == 0 ? REDIST_OK
                      : FAIL("'%s' could not be read at byte %lld: %s", path, (long long)place,
                             strerror(error));
}

/* Reads and checks a header; *memory is to be freed, also after a failure. */
static int read_header(const char *function, const char *path, int descriptor, void **memory) {
    struct redist__checkpoint_head head = {.nfields = 0};
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return FAIL("'%s' could not be examined: %s", path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return FAIL("'%s' is not a regular file", path);
    if ((uint64_t)status.st_size >= sizeof head)
        REDIST_TRY(read_part(function, path, descriptor, &head, sizeof head, 0));
    REDIST_TRY(redist__checkpoint_check_head(function, path, &head, (uint64_t)status.st_size));
    size_t bytes = redist__checkpoint_header_bytes(head.nfields, (size_t)head.parameter_bytes);
    *memory = redist_calloc(bytes, 1);
    if (*memory == NULL)
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for the header of '%s'",
                              path);
    memcpy(*memory, &head, sizeof head);
    REDIST_TRY(read_part(function, path, descriptor, (char *)*memory + sizeof head,
                         bytes - sizeof head, sizeof head));
    struct redist__checkpoint_header header = redist__checkpoint_header_in(*memory);
    return redist__checkpoint_check(function, path, &header);
}

/* Opens a file, without waiting for the other end of a pipe, and reads its header. */
static int find_header(const char *function, const char *path, void **memory) {
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return FAIL("'%s' could not be opened: %s", path, strerror(errno));
    int code = read_header(function, path, descriptor, memory);
    close(descriptor);
    return code;
}

/* Sends rank 0's header to all; other ranks allocate theirs. Collective. */
static int share_header(MPI_Comm comm, void **memory) {
    struct redist__checkpoint_head head;
    if (*memory != NULL)
        memcpy(&head, *memory, sizeof head);
    REDIST_TRY(redist_agree(comm, redist_broadcast(comm, &head, sizeof head, 0)));
    size_t bytes = redist__checkpoint_header_bytes(head.nfields, (size_t)head.parameter_bytes);
    if (*memory == NULL)
        *memory = redist_calloc(bytes, 1);
    REDIST_TRY(redist__agree_memory(comm, *memory, "for the header of a checkpoint"));
    return redist_agree(comm, redist_broadcast(comm, *memory, bytes, 0));
}

int redist__checkpoint_load(const char *function, MPI_Comm comm, const char *path,
                            struct redist__checkpoint_header *header) {
    int rank;
    void *memory = NULL;
    MPI_Comm_rank(comm, &rank);
    int code = redist_agree(comm, rank == 0 ? find_header(function, path, &memory) : REDIST_OK);
    if (code == REDIST_OK)
        code = share_header(comm, &memory);
    if (code == REDIST_OK)
        *header = redist__checkpoint_header_in(memory);
    else
        redist_release(memory);
    return code;
}
