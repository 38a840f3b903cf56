/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process sends a file's descriptor to its peers over a local socket. The list of its open files in /proc (local.c)
 * is inaccessible between user namespaces, such as containers with one rank each. A socket's name is random. Other
 * users may send to it, too, but not the expected file.
 */
#include "memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

char *redist__memory_file_map(int descriptor, uint64_t begin, uint64_t bytes) {
    void *address =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, (off_t)begin);
    return address != MAP_FAILED ? address : NULL;
}

/* Takes pages in steps: a signal undoes the call, and a profiler's may repeat too fast for all pages at once. */
int redist__memory_file_take(int descriptor, uint64_t begin, uint64_t end) {
    uint64_t at_once = 64 << 20;
    int error = 0;
    while (begin < end && (error == 0 || error == EINTR)) {
        uint64_t bytes = end - begin < at_once ? end - begin : at_once;
        error = posix_fallocate(descriptor, (off_t)begin, (off_t)bytes);
        begin += error == 0 ? bytes : 0;
        if (error == EINTR && at_once > REDIST__FILE_PAGE)
            at_once /= 2;
    }
    return error == 0;
}

int redist__memory_has_room(uint64_t bytes) {
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *stream = fopen("/proc/meminfo", "r");
    if (stream == NULL)
        return 1;
    int found = 0;
    while (!found && fgets(line, sizeof line, stream) != NULL)
        found = sscanf(line, "MemAvailable: %llu", &kilobytes) == 1;
    fclose(stream);
    return !found || bytes >> 10 < kilobytes;
}

/* ---------------------------------------------------------------- to other processes */

/* Identity of the file, and its receivers' sockets: names begin with a zero (abstract) and end with the rank. */
struct offer {
    uint64_t device, file;
    struct sockaddr_un address;
};

static int describe_file(int file, struct offer *offer) {
    struct stat status;
    if (file < 0 || fstat(file, &status) != 0)
        return 0;
    offer->device = status.st_dev;
    offer->file = status.st_ino;
    return 1;
}

static int create_offer(int file, struct offer *offer) {
    const size_t bytes = sizeof offer->address.sun_path - 1;
    offer->address.sun_family = AF_UNIX;
    return getrandom(offer->address.sun_path + 1, bytes, 0) == (ssize_t)bytes &&
           describe_file(file, offer);
}

static struct sockaddr_un address_of(const struct offer *offer, int rank) {
    struct sockaddr_un address = offer->address;
    memcpy(address.sun_path + sizeof address.sun_path - sizeof rank, &rank, sizeof rank);
    return address;
}

/* Opens a socket, or returns -1. */
static int open_socket(const struct offer *offer, int rank) {
    struct sockaddr_un address = address_of(offer, rank);
    int opened = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (opened >= 0 && bind(opened, (const struct sockaddr *)&address, sizeof address) != 0) {
        close(opened);
        return -1;
    }
    return opened;
}

/* Room for one descriptor in a message. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_file(int socket, int file, const struct offer *offer, int rank) {
    char nothing = 0;
    struct sockaddr_un address = address_of(offer, rank);
    union control control = {.bytes = {0}};
    struct iovec data = {&nothing, 1};
    struct msghdr message = {.msg_name = &address,
                             .msg_namelen = sizeof address,
                             .msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

/* Receives the descriptor of the next message, -1 without one; returns 0 without a message. */
static int receive_message(int socket, int *file) {
    char nothing;
    union control control;
    struct iovec data = {&nothing, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    *file = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) < 0)
        return 0;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (header != NULL && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
        memcpy(file, CMSG_DATA(header), sizeof *file);
    return 1;
}

static int receive_file(int socket, const struct offer *wanted) {
    int file;
    struct offer found;
    while (receive_message(socket, &file)) {
        if (describe_file(file, &found) && found.device == wanted->device &&
            found.file == wanted->file)
            return file;
        if (file >= 0)
            close(file);
    }
    return -1;
}

static int check(int done) {
    return done ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no shared memory on this node");
}

/* Passes the file on; messages have arrived once the sender has reported success. */
static int pass_on(const struct redist__context *context, const struct offer *offer, int socket,
                   int *descriptor) {
    int is_sent = 1;
    for (int rank = 1; rank < context->node_size && context->node_rank == 0; rank++)
        is_sent &= send_file(socket, *descriptor, offer, rank);
    REDIST_TRY(redist_agree(context->node, check(is_sent)));
    if (context->node_rank != 0)
        *descriptor = receive_file(socket, offer);
    return check(*descriptor >= 0);
}

int redist__memory_file_share(const struct redist__context *context, int code, int *descriptor) {
    struct offer offer = {0};
    if (code == REDIST_OK && context->node_rank == 0)
        code = check(create_offer(*descriptor, &offer));
    redist__keep_first(&code, redist_broadcast(context->node, &offer, sizeof offer, 0));
    int socket = code == REDIST_OK ? open_socket(&offer, context->node_rank) : -1;
    code = redist_agree(context->node, code != REDIST_OK ? code : check(socket >= 0));
    if (code == REDIST_OK)
        code = pass_on(context, &offer, socket, descriptor);
    if (socket >= 0)
        close(socket);
    return code;
}
