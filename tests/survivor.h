/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Programs of which a rank ends, or fails, while all of them work with a plan: the work, and what those that are left
 * report. They append lines to a file and end by _exit, since MPI_Finalize would wait for the victim, and launchers may
 * lose what is printed after a rank has died.
 */
#ifndef TESTS_SURVIVOR_H
#define TESTS_SURVIVOR_H

#include "fftnd_operators.h"
#include "redist.h"

/** What a rank works with; a program sets the options before it makes a plan. */
struct survivor {
    int rank, nranks;
    MPI_Comm comm; /**< of exchanges */
    const char *method;
    enum redist_space space;
    int estimates, asynchronous;
    int grid_ndims; /**< of transforms, 0 = chosen */
    double wait_seconds;
    void *stream;
    void *arrays[2]; /**< each is large enough for either side of all plans */
    redist_plan *exchange;
    fftnd_plan *transform;
    fftnd_operator *laplacian;
};
extern struct survivor survivor;

/** Initialises MPI; prints the usage and ends all ranks if there are not `expected` arguments. */
void survivor_begin(int argc, char **argv, int expected, const char *usage);

/** Ends all ranks after an error. */
void survivor_must(int code, const char *what);

/** Allocates the arrays. Collective. */
void survivor_allocate(void);

/** Make plans: of array A as a whole, or put as one tile; of transforms on the grid, on one of two dimensions, or with
 * ghosts. */
int survivor_make_whole(void);
int survivor_make_put(void);
int survivor_make_transform(void);
int survivor_make_pencils(void);
int survivor_make_ghosts(void);
int survivor_make_operator(void);

/** Use them in a direction. */
int survivor_execute(int direction);
int survivor_put(int direction);
int survivor_transform(int direction);
int survivor_apply(int direction);

/** Frees plans and operator; returns what freeing the exchange returned. The second one frees the arrays. */
int survivor_release(void);
void survivor_release_arrays(void);

struct survivor_work {
    const char *name; /**< NULL behind the last one */
    int (*make)(void);
    int (*run)(int direction);
};

/** The work with a name; ends the program if there is none. */
const struct survivor_work *survivor_find(const struct survivor_work works[], const char *name);

/** Ends a rank that still waits after REDIST_TEST_LIMIT seconds, by default so many. Uses SIGALRM. */
void survivor_watch(unsigned seconds);

/** Kills this rank after so many microseconds. Uses SIGALRM. */
void survivor_die_after(long microseconds);

/** Appends a line to a file, and waits until `expected` lines are in it: a rank that ends is gone for the others. */
void survivor_report(const char *file, const char *line, int expected);

#endif
