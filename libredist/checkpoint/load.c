/* SPDX-License-Identifier: BSD-3-Clause */
/* The header of a file, which rank 0 reads for all. */
#include "../files/disk.h"
#include "checkpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Reads and checks a header; *memory is to be freed, also after a failure. */
static int read_header(const struct redist__file *file, int descriptor, void **memory) {
    struct redist__checkpoint_head head = {.nfields = 0};
    const char *function = file->function, *path = file->path;
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return redist_fail_in(function, REDIST_ERR_FILE, "%.200s cannot be examined: %s", path,
                              strerror(errno));
    if ((uint64_t)status.st_size >= sizeof head)
        REDIST_TRY(redist__disk_read(file, descriptor, (char *)&head, sizeof head, 0, 0));
    REDIST_TRY(redist__checkpoint_check_head(function, path, &head, (uint64_t)status.st_size));
    size_t bytes = redist__checkpoint_header_bytes(head.nfields, (size_t)head.parameter_bytes);
    *memory = redist_calloc(bytes, 1);
    if (*memory == NULL)
        return redist_fail_in(function, REDIST_ERR_MEMORY, "no memory for the header of %.200s",
                              path);
    memcpy(*memory, &head, sizeof head);
    REDIST_TRY(redist__disk_read(file, descriptor, (char *)*memory + sizeof head,
                                 bytes - sizeof head, sizeof head, 0));
    struct redist__checkpoint_header header = redist__checkpoint_header_in(*memory);
    return redist__checkpoint_check(function, path, &header);
}

/* Opens a file and reads its header. */
static int find_header(const char *function, const char *path, void **memory) {
    const struct redist__file file = {.function = function, .path = (char *)path};
    int descriptor = -1;
    int code = redist__disk_open(&file, 0, &descriptor);
    if (code == REDIST_OK)
        code = read_header(&file, descriptor, memory);
    (void)redist__disk_close(&file, &descriptor);
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
