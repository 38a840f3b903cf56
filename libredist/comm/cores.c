/* SPDX-License-Identifier: BSD-3-Clause */
/* Cores of this process, and whether it shares them. */
#include "comm.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

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
    int code = redist__agree_memory(node, masks, "for the cores of all ranks");
    if (code == REDIST_OK)
        code = redist_all_gather(node, &mine, sizeof mine, masks);
    if (code == REDIST_OK)
        *crowded = is_crowded(size, masks, &mine);
    redist_release(masks);
    return code;
}
