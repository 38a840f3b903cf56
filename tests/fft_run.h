/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * A planned case with its arrays and its oracle: transforms are executed and everything that can be
 * seen from outside is checked. All functions are collective over MPI_COMM_WORLD, also where the
 * plan's communicator is a part of it.
 */
#ifndef FFT_RUN_H
#define FFT_RUN_H

#include "fft_array.h"
#include "fft_case.h"
#include "fft_reference.h"

typedef struct fft_run {
    MPI_Comm comm;
    const fft_case *given;
    fftnd_plan *plan;
    fftnd_plan_info info;
    fftnd_layout layout[2];
    fft_reference reference;
    fft_array store[2];
    fft_array *array[2]; /**< by side; both the same in place */
    fft_array own_workspace;
    const char *raised;   /**< an exception of the processor in the last transform; NULL = none */
    fft_array *workspace; /**< NULL unless the case has user_workspace */
} fft_run;

/** Plans, checks what the plan says, allocates arrays and work space, computes the oracle. */
void fft_run_create(MPI_Comm comm, const fft_case *given, fft_run *run);

/** Frees everything. */
void fft_run_free(fft_run *run);

/** Gives a plan with user_workspace another work space. */
void fft_run_set_workspace(fft_run *run, fft_array *workspace);

/** Fills the array of a side with the oracle's values times a factor. */
void fft_run_load(fft_run *run, enum fftnd_side side, long double factor);

/** The largest difference to that, relative to the largest value; NaN counts as infinite. */
double fft_run_error(const fft_run *run, enum fftnd_side side, long double factor);

/** The array of a side as the library gets it. */
void *fft_run_data(const fft_run *run, enum fftnd_side side);

/** Calls fftnd_forward or fftnd_backward: from `side` to the other one. */
int fft_run_execute(fft_run *run, enum fftnd_side side);

/** Loads `side`, transforms it to the other one, checks the result and all bytes around it. */
void fft_run_transform(fft_run *run, enum fftnd_side side);

/** Forward, backward and again, without touching the arrays or waiting for a stream in between; checks the result. */
void fft_run_round_trips(fft_run *run);

/** Sets options.device_bytes to the first of `bytes`, twice as many, ... that a plan can do with. */
void fft_run_limit(MPI_Comm comm, fft_case *given, size_t bytes);

/** All of the above for one case. */
void fft_check_once(MPI_Comm comm, const fft_case *given);

/** The same with transforms and exchanges joined where the library likes to, and never. */
void fft_check(MPI_Comm comm, const fft_case *given);

/** Checks on MPI_COMM_WORLD that both cases transform the same noise to the same bytes. */
void fft_check_same(const fft_case *one, const fft_case *other);

/** Runs fft_check on MPI_COMM_WORLD for every process grid of 1 to ndims - 1 dimensions. */
void fft_check_all_grids(fft_case given);

#endif
