/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of the system: identity, end, and cores. */
#include "comm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Count of this process's give_ups, in a memory file that other processes of its user open through its descriptors and
 * read when they have waited for a while: it ends with the process. Without such a file only messages report them. */
static const char file_name[] = "redist-given-up";
static _Atomic uint64_t own_count;
static int own_descriptor = -1;

static void create_file(void) {
    const uint64_t none = 0;
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

void redist__process_give_up(void) {
    uint64_t count = atomic_fetch_add(&own_count, 1) + 1;
    ssize_t written = -1;
    if (redist__memory_file_may_end(sizeof count))
        written = pwrite(own_descriptor, &count, sizeof count, 0);
    (void)written; /* messages report it, too */
}

/* Reads the count. The descriptor may name another file, if the program has closed the library's. */
static uint64_t read_given_up(const struct redist__process *process) {
    char file[64], target[64] = "";
    uint64_t count = 0;
    snprintf(file, sizeof file, "/proc/%llu/fd/%lld", (unsigned long long)process->number,
             (long long)process->notice);
    if (process->notice < 0 || readlink(file, target, sizeof target - 1) < 0 ||
        strstr(target, file_name) == NULL)
        return 0;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 && read(descriptor, &count, sizeof count) != sizeof count)
        count = 0;
    if (descriptor >= 0)
        close(descriptor);
    return count;
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
           (can_be_seen(process) && read_given_up(process) > process->given_up);
}

/* ---------------------------------------------------------------- cores */

/* Cores are those of a process's affinity mask. Each rank counts the ranks of the communicator whose masks overlap its
 * own. As a communicator may be a part of the job, unbound processes count all that the launcher has started on the
 * node. */
enum { MASK_BYTES = 1024 }; /* 8192 cores */

struct mask {
    cpu_set_t sets[MASK_BYTES / sizeof(cpu_set_t)];
};

/* Reads a mask; all zero for more cores, or a process of another user. */
static struct mask read_mask(pid_t process) {
    struct mask mask;
    if (sched_getaffinity(process, sizeof mask, mask.sets) != 0)
        CPU_ZERO_S(sizeof mask, mask.sets);
    return mask;
}

static int count_cores(const struct mask *mask) {
    return CPU_COUNT_S(sizeof *mask, mask->sets);
}

static int overlap(const struct mask *a, const struct mask *b) {
    struct mask both;
    CPU_AND_S(sizeof both, both.sets, a->sets, b->sets);
    return count_cores(&both) > 0;
}

static int are_equal(const struct mask *a, const struct mask *b) {
    return CPU_EQUAL_S(sizeof *a, a->sets, b->sets);
}

/* Returns the processes of the job on this node by its launcher's variables; 0 without them. */
static int launched_here(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE",
                                        "SLURM_TASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        long count = text != NULL ? strtol(text, NULL, 10) : 0; /* SLURM: "4(x2),3" */
        if (count > 0 && count < INT32_MAX)
            return (int)count;
    }
    return 0;
}

/* Returns whether the launcher binds processes: to fewer cores than its own, and not all to the same ones. */
static int is_bound(int nmasks, const struct mask masks[], const struct mask *mine) {
    for (int i = 0; i < nmasks; i++)
        if (!are_equal(&masks[i], mine))
            return 1;
    struct mask launcher = read_mask(getppid());
    if (count_cores(&launcher) > 0)
        return !are_equal(&launcher, mine);
    return count_cores(mine) < sysconf(_SC_NPROCESSORS_ONLN);
}

static int is_crowded(int nmasks, const struct mask masks[], const struct mask *mine) {
    int cores = count_cores(mine), sharing = 0, launched = launched_here();
    for (int i = 0; i < nmasks; i++)
        sharing += overlap(&masks[i], mine);
    if (cores == 0) { /* no masks on this system */
        cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
        sharing = nmasks;
    }
    if (launched > sharing && !is_bound(nmasks, masks, mine))
        sharing = launched;
    return sharing > cores;
}

int redist__cores_count(MPI_Comm node, int *crowded) {
    int size;
    MPI_Comm_size(node, &size);
    struct mask mine = read_mask(0), *masks = redist_calloc((size_t)size, sizeof *masks);
    int code = redist_agree(node, masks != NULL ? REDIST_OK
                                                : redist__fail(REDIST_ERR_MEMORY,
                                                               "no memory for the cores of %d "
                                                               "ranks",
                                                               size));
    if (code == REDIST_OK)
        code = redist_all_gather(node, &mine, sizeof mine, masks);
    if (code == REDIST_OK)
        *crowded = is_crowded(size, masks, &mine);
    redist_release(masks);
    return code;
}
