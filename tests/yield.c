/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded before MPICH (run_ranks.sh) when ranks share cores. MPICH over UCX asks for progress in a
 * tight loop; a rank that waits then keeps the core from the rank it waits for until the kernel
 * takes it away. Here it gives the core away whenever there was no progress. With more ranks than
 * cores it sleeps for a moment now and then, since yielding alone does not always let the others run.
 */
#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { POLLS_PER_NAP = 20 };

unsigned ucp_worker_progress(void *worker);

/* MPICH's launcher says in PMI_SIZE how many ranks there are. */
static int is_crowded(void) {
    static long spare_cores, known;
    const char *ranks = known ? NULL : getenv("PMI_SIZE");
    if (!known)
        spare_cores = sysconf(_SC_NPROCESSORS_ONLN) - (ranks ? atol(ranks) : 1);
    known = 1;
    return spare_cores < 0;
}

static void give_way(void) {
    static unsigned idle_polls;
    const struct timespec nap = {0, 1000};
    if (is_crowded() && ++idle_polls % POLLS_PER_NAP == 0)
        nanosleep(&nap, NULL);
    else
        sched_yield();
}

unsigned ucp_worker_progress(void *worker) {
    static unsigned (*progress)(void *);
    if (!progress) {
        void *symbol = dlsym(RTLD_NEXT, "ucp_worker_progress");
        __builtin_memcpy(&progress, &symbol, sizeof(progress));
    }
    unsigned events = progress(worker);
    if (events == 0)
        give_way();
    return events;
}
