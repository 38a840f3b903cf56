/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether ranks share cores: those that they are bound to, and those of ranks in other communicators. */
#include <sched.h>
#include <stdlib.h>

#include "../libredist/comm/comm.h"
#include "harness.h"

static const char *const launchers[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                        "MV2_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE",
                                        "SLURM_TASKS_PER_NODE"};

static cpu_set_t all; /* what this process may use */

/* What the launcher says of the job; NULL = nothing. */
static void say(const char *name, const char *count) {
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
        unsetenv(launchers[i]);
    if (count != NULL)
        setenv(name, count, 1);
}

/* Binds this process to the n-th of its cores, as often as there are ranks. */
static void bind_to(int n) {
    cpu_set_t one;
    CPU_ZERO(&one);
    n %= CPU_COUNT(&all);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && n-- == 0)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void bind_to_all(void) {
    sched_setaffinity(0, sizeof(all), &all);
}

static void check_crowded(MPI_Comm comm, int expected) {
    int crowded = -1;
    check_ok(redist__cores_count(comm, &crowded));
    check_all(crowded == expected, "crowded is %d", crowded);
}

START_TEST(bound_to_one_core) {
    say(NULL, NULL);
    bind_to(0);
    check_crowded(MPI_COMM_WORLD, harness_nranks > 1);
    check_crowded(MPI_COMM_SELF, 0);
    bind_to_all();
}
END_TEST

START_TEST(bound_to_a_core_each) {
    if (CPU_COUNT(&all) < 2)
        skip_test("there is one core only");
    int ncores = CPU_COUNT(&all), sharing = 0;
    for (int rank = harness_rank % ncores; rank < harness_nranks; rank += ncores)
        sharing++;
    say("OMPI_COMM_WORLD_LOCAL_SIZE", "64");
    bind_to(harness_rank);
    check_crowded(MPI_COMM_WORLD, sharing > 1);
    check_crowded(MPI_COMM_SELF, 0);
    bind_to_all();
}
END_TEST

START_TEST(not_bound) {
    say(NULL, NULL);
    check_crowded(MPI_COMM_WORLD, harness_nranks > CPU_COUNT(&all));
    check_crowded(MPI_COMM_SELF, 0);
}
END_TEST

/* Ranks that are in no communicator of this one count too. */
START_TEST(others_of_the_job) {
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        say(launchers[i], "100000");
        check_crowded(MPI_COMM_SELF, 1);
        say(launchers[i], "1");
        check_crowded(MPI_COMM_SELF, 0);
    }
    say("SLURM_STEP_TASKS_PER_NODE", "100000(x2),3");
    check_crowded(MPI_COMM_SELF, 1);
    say("SLURM_STEP_TASKS_PER_NODE", "many");
    check_crowded(MPI_COMM_SELF, 0);
}
END_TEST

/* The real launcher's word. */
START_TEST(as_it_was_started) {
    check_crowded(MPI_COMM_SELF, harness_nranks > CPU_COUNT(&all));
}
END_TEST

int main(int argc, char **argv) {
    const TTest *const tests[] = {as_it_was_started, bound_to_one_core, bound_to_a_core_each,
                                  not_bound,         others_of_the_job, NULL};
    sched_getaffinity(0, sizeof(all), &all);
    return harness_run(argc, argv, "test_redist_cores", tests);
}
