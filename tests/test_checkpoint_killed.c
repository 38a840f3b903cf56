/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the checkpoint of an earlier run, and writes one after the other until all ranks are killed:
 *     test_checkpoint_killed PATH MICROSECONDS LEAST
 * LEAST is the number of a checkpoint that is known to be complete (0 = none): that one, or a later one, has to be
 * there, whole. PATH.done has the number of the last one whose writing has returned. Exit status 3: the checkpoint is
 * lost or damaged.
 */
#include "redist_checkpoint.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROWS = 37, COLUMNS = 4000, LOST = 3 };

static double array[ROWS * COLUMNS];
static redist_field field;

static void distribute(void) {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    redist_field_init(&field, sizeof field);
    field.name = "u";
    field.datatype = MPI_DOUBLE;
    field.ndims = 2;
    field.sizes[0] = ROWS;
    field.sizes[1] = field.count[1] = COLUMNS;
    redist_decompose(ROWS, size, rank, &field.count[0], &field.start[0]);
    field.array = array;
}

static double value(int number, size_t index) {
    return number + (double)(index % COLUMNS % 7);
}

static int is_whole(int number) {
    size_t elements = (size_t)field.count[0] * COLUMNS, wrong = 0;
    for (size_t i = 0; i < elements; i++)
        wrong += array[i] != value(number, i);
    return wrong == 0;
}

/* Returns the number of the checkpoint that is there; 0 = none. */
static int restart(const char *path, int least) {
    int number = 0;
    int code =
        redist_checkpoint_read(MPI_COMM_WORLD, path, 1, &field, &number, sizeof number, NULL);
    if (code == REDIST_ERR_FILE && least == 0 && access(path, F_OK) != 0)
        return 0;
    if (code == REDIST_OK && number >= least && is_whole(number))
        return number;
    printf("FAILED: checkpoint %d or later, but it is %d: %s\n", least, number,
           code == REDIST_OK ? "other contents" : redist_error_message());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, LOST);
    return 0;
}

static void write_one(const char *path, int number, int descriptor) {
    redist_checkpoint_options options = REDIST_CHECKPOINT_OPTIONS_DEFAULT;
    redist_checkpoint_request *request;
    options.keep = number % 3;
    options.piece_bytes = 100000;
    for (size_t i = 0; i < (size_t)field.count[0] * COLUMNS; i++)
        array[i] = value(number, i);
    int code = redist_checkpoint_write_start(MPI_COMM_WORLD, path, 1, &field, &number,
                                             sizeof number, &options, &request);
    memset(array, 0, sizeof array);
    if (code == REDIST_OK)
        code = redist_checkpoint_wait(&request);
    if (code != REDIST_OK)
        printf("not written: %s\n", redist_error_message()); /* a rank may be dead already */
    else if (descriptor >= 0 && pwrite(descriptor, &number, sizeof number, 0) != sizeof number)
        abort();
}

static void die(int signal) {
    (void)signal;
    kill(getpid(), SIGKILL);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const char *path = argv[1];
    int rank, microseconds = atoi(argv[2]), done = -1;
    char name[200];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    distribute();
    int number = restart(path, atoi(argv[3]));
    snprintf(name, sizeof name, "%s.done", path);
    if (rank == 0)
        done = open(name, O_WRONLY | O_CREAT, 0666);
    if (microseconds > 0) {
        const struct itimerval time = {
            .it_value = {microseconds / 1000000, microseconds % 1000000}};
        signal(SIGALRM, die);
        MPI_Barrier(MPI_COMM_WORLD);
        setitimer(ITIMER_REAL, &time, NULL);
        for (;;)
            write_one(path, ++number, done);
    }
    if (rank == 0)
        printf("checkpoint %d is whole\n", number);
    MPI_Finalize();
    return 0;
}
