/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the system: identity and end. */
#include "comm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads a process's state and start; 0 = no file. The second field, a program's name in parentheses, is any text. */
static int read_stat(const char *file, char *state, unsigned long long *start) {
    char text[1024];
    FILE *stream = fopen(file, "r");
    if (stream == NULL)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = '\0';
    const char *behind = strrchr(text, ')');
    return behind != NULL &&
           sscanf(behind,
                  ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                  "%llu",
                  state, start) == 2;
}

/* Returns 0 if ranks are threads of one process numbered by getpid, as in SimGrid: they cannot be checked. */
static uint64_t find_space(void) {
    struct stat status;
    if (syscall(SYS_getpid) != getpid())
        return 0;
    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* Reads the first thread: in /proc/self/stat an emulator (qemu) invents a start that other processes do not see. */
static int read_own_stat(char *state, unsigned long long *start) {
    char file[64];
    snprintf(file, sizeof file, "/proc/self/task/%d/stat", (int)getpid());
    return read_stat(file, state, start) || read_stat("/proc/self/stat", state, start);
}

/* ---------------------------------------------------------------- giving up */

/* Contents of a memory file that other processes of its user open through its descriptors and read when they have
 * waited for a while: it ends with the process. Without such a file only messages report them. */
enum { MOST_LEFT = 64 }; /* peers look five times a second */
struct record {
    uint64_t given_up;        /* count of this process's give_ups, */
    uint64_t left[MOST_LEFT]; /* and the communicators of devices that it has left last */
};

static const char file_name[] = "redist-given-up";
static _Atomic uint64_t own_count;
static int own_descriptor = -1;

static void create_file(void) {
    const struct record none = {0};
    if (!redist__memory_file_may_end(sizeof none))
        return;
    own_descriptor = redist__memory_file_create(file_name);
    if (own_descriptor >= 0 && pwrite(own_descriptor, &none, sizeof none, 0) != sizeof none) {
        close(own_descriptor);
        own_descriptor = -1;
    }
}

uint64_t redist__process_given_up(void) {
    return atomic_load(&own_count);
}

/* Writes a number at an offset of the record. */
static void report(uint64_t number, size_t offset) {
    ssize_t written = -1;
    if (redist__memory_file_may_end(offset + sizeof number))
        written = pwrite(own_descriptor, &number, sizeof number, (off_t)offset);
    (void)written; /* messages report it, too */
}

void redist__process_give_up(void) {
    report(atomic_fetch_add(&own_count, 1) + 1, offsetof(struct record, given_up));
}

void redist__process_leave(uint64_t key) {
    static _Atomic unsigned count;
    report(key,
           offsetof(struct record, left) + atomic_fetch_add(&count, 1) % MOST_LEFT * sizeof key);
}

/* Reads the record. The descriptor may name another file, if the program has closed the library's. */
static struct record read_record(const struct redist__process *process) {
    char file[64], target[64] = "";
    struct record record = {0};
    snprintf(file, sizeof file, "/proc/%llu/fd/%lld", (unsigned long long)process->number,
             (long long)process->notice);
    if (process->notice < 0 || readlink(file, target, sizeof target - 1) < 0 ||
        strstr(target, file_name) == NULL)
        return record;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 && read(descriptor, &record, sizeof record) != sizeof record)
        record = (struct record){0};
    if (descriptor >= 0)
        close(descriptor);
    return record;
}

/* ---------------------------------------------------------------- processes */

struct redist__process redist__process_self(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char state;
    unsigned long long start = 0;
    if (!read_own_stat(&state, &start))
        start = 0;
    pthread_once(&once, create_file);
    return (struct redist__process){find_space(), (uint64_t)getpid(), start, own_descriptor,
                                    redist__process_given_up()};
}

int redist__process_is_same(const struct redist__process *a, const struct redist__process *b) {
    return a->space == b->space && a->number == b->number && a->start == b->start;
}

uint64_t redist__process_key(void) {
    static _Atomic uint32_t counter;
    struct redist__process self = redist__process_self();
    uint64_t process = (self.space * 31 + self.start) * 0x9e3779b97f4a7c15ULL + self.number;
    return process << 32 | (atomic_fetch_add(&counter, 1) + 1);
}

static int can_be_seen(const struct redist__process *process) {
    return process->space != 0 && process->number != 0 && process->space == find_space();
}

int redist__process_has_ended(const struct redist__process *process) {
    char file[64], state = ' ';
    unsigned long long start = 0;
    if (!can_be_seen(process))
        return 0;
    if (kill((pid_t)process->number, 0) != 0 && errno == ESRCH)
        return 1;
    snprintf(file, sizeof file, "/proc/%llu/stat", (unsigned long long)process->number);
    if (!read_stat(file, &state, &start))
        return 0;
    return state == 'Z' || state == 'X' || (process->start != 0 && start != process->start);
}

int redist__process_is_gone(const struct redist__process *process) {
    return redist__process_has_ended(process) ||
           (can_be_seen(process) && read_record(process).given_up > process->given_up);
}

/* The number 0 is that of free places, and of ranks without a communicator. */
int redist__process_has_left(const struct redist__process *process, uint64_t key) {
    if (key == 0 || !can_be_seen(process))
        return 0;
    const struct record record = read_record(process);
    for (int i = 0; i < MOST_LEFT; i++)
        if (record.left[i] == key)
            return 1;
    return 0;
}

/* With more ranks than cores, sleeps now and then, since yielding alone does not always let the others run. */
void redist__give_way(unsigned poll) {
    const unsigned polls_per_nap = 20;
    const struct timespec nap = {0, 1000};
    if (poll % polls_per_nap == polls_per_nap - 1)
        nanosleep(&nap, NULL);
    else
        sched_yield();
}
