/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is left when a rank is killed, or when its MPI calls fail several times in a row: everybody returns from every
 * call within a bound, with an error or with what was done before; so does each later call with the same plan, and
 * freeing it.
 *     test_survivors WORK METHOD FAULT NUMBER VICTIM FILE
 * WORK is execute, arrays, start, put, transform, operator, ghosts, plan, planfft or first (planning, each time on a
 * new communicator). FAULT is kill (after NUMBER microseconds of work), death (in MPI call NUMBER of it; 0 = before
 * it), calls (that call and the one behind it fail) or silence (that one and all later ones). All but a killed rank
 * append "rank R: CODE after S s" to FILE. REDIST_TEST_LIMIT is the bound in seconds. REDIST_TEST_SPACE=cuda puts the
 * arrays on devices. test_survivors.sh and test_redist_gone.sh count what they print.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"
#include "survivor.h"

enum { BEFORE = 3, AFTER = 3000, AGAIN = 2, FRESH = BEFORE + 8, LIMIT = 20 };

static MPI_Comm fresh[FRESH]; /* that the library has not seen */
static int nfresh;

/* ---------------------------------------------------------------- what is done */

static int make_nothing(void) {
    return REDIST_OK;
}

static int make_comms(void) {
    for (nfresh = 0; nfresh < FRESH; nfresh++)
        MPI_Comm_dup(MPI_COMM_WORLD, &fresh[nfresh]);
    return REDIST_OK;
}

static int execute_arrays(int direction) { /* all ranks agree first */
    return redist_plan_execute_arrays(survivor.exchange, direction, survivor.arrays[0],
                                      survivor.arrays[1]);
}

static int start(int direction) {
    int code = redist_plan_start(survivor.exchange, direction);
    return code == REDIST_OK ? redist_plan_wait(survivor.exchange) : code;
}

static int plan_exchange(int direction) {
    (void)direction;
    int code = survivor_make_whole();
    (void)survivor_release();
    return code;
}

static int plan_first(int direction) {
    survivor.comm = nfresh > 0 ? fresh[--nfresh] : MPI_COMM_WORLD;
    return plan_exchange(direction);
}

static int plan_transform(int direction) {
    int code = direction ? survivor_make_operator() : survivor_make_transform();
    (void)survivor_release();
    return code;
}

static const struct survivor_work works[] = {
    {"execute", survivor_make_whole, survivor_execute},
    {"arrays", survivor_make_whole, execute_arrays},
    {"start", survivor_make_whole, start},
    {"put", survivor_make_put, survivor_put},
    {"transform", survivor_make_transform, survivor_transform},
    {"operator", survivor_make_operator, survivor_apply},
    {"ghosts", survivor_make_ghosts, survivor_transform},
    {"plan", make_nothing, plan_exchange},
    {"planfft", make_nothing, plan_transform},
    {"first", make_comms, plan_first},
    {NULL, NULL, NULL}};

/* ---------------------------------------------------------------- who is left */

static void arm(const char *fault, long number) {
    if (strcmp(fault, "kill") == 0)
        survivor_die_after(number + 1);
    else if (strcmp(fault, "death") == 0 && number == 0)
        raise(SIGKILL);
    else if (strcmp(fault, "death") == 0)
        faults_arm(FAULT_DEATH, (int)number);
    else if (strcmp(fault, "calls") == 0)
        faults_arm_several(FAULT_CALL, (int)number, 2);
    else
        faults_arm(FAULT_SILENCE, (int)number);
}

/* Until a call fails, in a bounded number of them; then more calls, which have to fail. */
static int run(const struct survivor_work *work) {
    int code = REDIST_OK;
    for (int i = 0; i < AFTER && code == REDIST_OK; i++)
        code = work->run(i % 2);
    return code;
}

int main(int argc, char **argv) {
    survivor_begin(argc, argv, 6,
                   "test_survivors WORK METHOD kill|death|calls|silence NUMBER VICTIM FILE");
    const struct survivor_work *work = survivor_find(works, argv[1]);
    survivor.method = argv[2];
    const char *text = getenv("REDIST_TEST_SPACE");
    if (text != NULL && strcmp(text, "cuda") == 0)
        survivor.space = REDIST_SPACE_CUDA;
    survivor_allocate();
    survivor_must(work->make(), argv[1]);
    for (int i = 0; i < BEFORE; i++)
        survivor_must(work->run(i % 2), argv[1]);
    PMPI_Barrier(MPI_COMM_WORLD);
    survivor_watch(LIMIT);
    if (survivor.rank == atoi(argv[5]))
        arm(argv[3], atol(argv[4]));
    double begin = MPI_Wtime();
    char message[300], line[512];
    int code = run(work);
    snprintf(message, sizeof message, "%s", redist_error_message());
    for (int i = 0; i < AGAIN; i++) { /* with a plan that is broken, or none */
        int has_plan = survivor.exchange != NULL || survivor.transform != NULL;
        int again = has_plan ? work->run(i) : code;
        if (code != REDIST_OK && again == REDIST_OK)
            snprintf(message, sizeof message, "a broken plan says that all is well");
    }
    (void)survivor_release();
    survivor_release_arrays();
    snprintf(line, sizeof line, "rank %d: %s after %.1f s: %s\n", survivor.rank,
             redist_error_name(code), MPI_Wtime() - begin, message);
    int dies = strcmp(argv[3], "kill") == 0 || strcmp(argv[3], "death") == 0;
    survivor_report(argv[6], line, survivor.nranks - dies);
    _exit(EXIT_SUCCESS);
}
