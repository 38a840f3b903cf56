/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes as the system describes them: which they are, whether they have ended, and their cores. */
#include "comm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* State and start of a process; 0 if there is no such file. The second field, the program's name in
 * parentheses, may contain anything. */
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

/* 0 where ranks are threads of one process and getpid numbers these, as SimGrid's does: no rank is a process that
 * could be looked at. */
static uint64_t find_space(void) {
    struct stat status;
    if (syscall(SYS_getpid) != getpid())
        return 0;
    return stat("/proc/self/ns/pid", &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* The first thread started with the process. An emulator (qemu) makes up /proc/self/stat, with a start that
 * is not the one that others see. */
static int read_own_stat(char *state, unsigned long long *start) {
    char file[64];
    snprintf(file, sizeof file, "/proc/self/task/%d/stat", (int)getpid());
    return read_stat(file, state, start) || read_stat("/proc/self/stat", state, start);
}

/* ---------------------------------------------------------------- notices */

/* A page of this process that the others of its user find among its open files for as long as it lives, and read
 * when they have waited for a while: nothing of it is left behind, whichever way the process ends. */
enum { NOTICES = 512 };
static const char notice_name[] = "redist-given-up";

struct notices {
    _Atomic uint64_t count, contexts[NOTICES];
};

static struct notices *notices;
static int notices_descriptor = -1;

static void create_notices(void) {
    int descriptor = memfd_create(notice_name, MFD_CLOEXEC);
    if (descriptor < 0)
        return;
    void *page = MAP_FAILED;
    if (ftruncate(descriptor, sizeof *notices) == 0)
        page = mmap(NULL, sizeof *notices, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (page == MAP_FAILED) {
        close(descriptor);
        return;
    }
    notices = page;
    notices_descriptor = descriptor;
}

/* The oldest are forgotten where there is no more room. */
void redist__process_give_up(uint64_t context) {
    if (notices != NULL)
        atomic_store(&notices->contexts[atomic_fetch_add(&notices->count, 1) % NOTICES], context);
}

/* The file may be another one, if the program has closed what is not its own. */
static int has_given_up(const struct redist__process *process, uint64_t context) {
    char file[64], target[64] = "";
    struct notices theirs = {0};
    snprintf(file, sizeof file, "/proc/%llu/fd/%lld", (unsigned long long)process->number,
             (long long)process->notice);
    if (context == 0 || process->notice < 0 || readlink(file, target, sizeof target - 1) < 0 ||
        strstr(target, notice_name) == NULL)
        return 0;
    int descriptor = open(file, O_RDONLY | O_CLOEXEC), found = 0;
    ssize_t bytes = descriptor >= 0 ? read(descriptor, &theirs, sizeof theirs) : 0;
    for (int i = 0; i < NOTICES && bytes == sizeof theirs; i++)
        found |= theirs.contexts[i] == context;
    if (descriptor >= 0)
        close(descriptor);
    return found;
}

/* ---------------------------------------------------------------- processes */

struct redist__process redist__process_self(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char state;
    unsigned long long start = 0;
    if (!read_own_stat(&state, &start))
        start = 0;
    pthread_once(&once, create_notices);
    return (struct redist__process){find_space(), (uint64_t)getpid(), start, notices_descriptor};
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

int redist__process_is_gone(const struct redist__process *process, uint64_t context) {
    char file[64], state = ' ';
    unsigned long long start = 0;
    if (process->space == 0 || process->number == 0 || process->space != find_space())
        return 0;
    if (kill((pid_t)process->number, 0) != 0 && errno == ESRCH)
        return 1;
    snprintf(file, sizeof file, "/proc/%llu/stat", (unsigned long long)process->number);
    if (!read_stat(file, &state, &start))
        return 0;
    return state == 'Z' || state == 'X' || (process->start != 0 && start != process->start) ||
           has_given_up(process, context);
}

/* ---------------------------------------------------------------- cores */

/* Cores are those that the system lets a process use (its affinity mask). Each rank counts the ranks of the
 * communicator whose masks overlap its own. A communicator may be a part of the job, though: where processes are
 * not bound, all that the launcher has started on the node share its cores. */
enum { MASK_BYTES = 1024 }; /* 8192 cores */

struct mask {
    cpu_set_t sets[MASK_BYTES / sizeof(cpu_set_t)];
};

/* All zero if it cannot be read: the system knows more cores, or the process is another's. */
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

/* Processes of the job on this node, as its launcher says; 0 if it says nothing. */
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

/* A launcher binds processes to fewer cores than it has itself, and not all to the same ones. */
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
        code = redist_check_mpi(redist_insist(
            MPI_Allgather(&mine, sizeof mine, MPI_BYTE, masks, sizeof mine, MPI_BYTE, node)));
    if (code == REDIST_OK)
        *crowded = is_crowded(size, masks, &mine);
    redist_release(masks);
    return code;
}
