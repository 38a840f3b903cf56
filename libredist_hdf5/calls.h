/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An open file and the calls of HDF5: on all ranks or on rank 0 alone, silent, with one result for all ranks.
 */
#ifndef REDIST__HDF5_CALLS_H
#define REDIST__HDF5_CALLS_H

#include "redist_hdf5.h"
#include "redist_support.h"

#include <hdf5.h>

struct redist_hdf5 {
    MPI_Comm comm; /* the library's own */
    int rank, size;
    int all;  /* all ranks call HDF5 */
    int acts; /* this rank does */
    int mode; /* enum redist_hdf5_mode */
    int is_new;
    size_t buffer_bytes;
    char *path;
    hid_t id;                   /* of a rank that acts */
    hid_t transfer, collective; /* properties of transfers, by a rank alone and by all together */
};

/* Work with HDF5 on a rank that acts: REDIST_OK, a code with a message, or negative if HDF5 has failed. */
typedef int redist__hdf5_work(struct redist_hdf5 *file, void *data);

/* Does work on the ranks that act, and agrees on the result. A failure of HDF5 is "cannot WHAT" with its reasons.
 * Collective. */
int redist__hdf5_act(const char *function, struct redist_hdf5 *file, const char *what,
                     redist__hdf5_work *work, void *data);

/* The same on this rank alone, without agreement. */
int redist__hdf5_act_alone(const char *function, struct redist_hdf5 *file, const char *what,
                           redist__hdf5_work *work, void *data);

/* Checks a handle. Not collective. */
int redist__hdf5_check(const char *function, const struct redist_hdf5 *file);

/* Closes an object of any kind; invalid ones are none. */
void redist__hdf5_drop(hid_t id);

/* Makes the calling function return the failure of a call of HDF5. */
#define HDF5_TRY(call)                                                                             \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            return -1;                                                                             \
    } while (0)

/* HDF5 with MPI (parallel.c), or without (parallel_absent.c): whether it has it; and settings for the access by all
 * ranks, negative after a failure. */
int redist__hdf5_is_parallel(void);
int redist__hdf5_set_parallel(MPI_Comm comm, hid_t access, hid_t collective);

#endif
