/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Allocates and frees until it is killed: by itself, on one rank, at a random moment.
 *     test_redist_killed VICTIM MICROSECONDS
 * test_redist_killed.sh looks at what is left in /dev/shm.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redist.h"

static void *kill_later(void *microseconds) {
    usleep((useconds_t)atoi(microseconds));
    kill(getpid(), SIGKILL);
    return NULL;
}

int main(int argc, char **argv) {
    int rank, level;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned n = 0;; n++) {
        void *array = NULL;
        size_t bytes = (size_t)1 << (12 + n % 11);
        if (n == 1 && argc > 2 && rank == atoi(argv[1]))
            pthread_create(&thread, NULL, kill_later, argv[2]);
        if (redist_alloc(MPI_COMM_WORLD, bytes, &array) != REDIST_OK)
            return 1;
        memset(array, 1, bytes);
        if (redist_free(&array) != REDIST_OK)
            return 1;
    }
}
