/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of a user, on which all checks work. */
#ifndef FFTND__ARGUMENTS_H
#define FFTND__ARGUMENTS_H

#include "../../liblines/lines.h"
#include "fftnd.h"

/* The arguments of fftnd_plan_create, or of fftnd_predict. */
struct fftnd__arguments {
    const char *function; /* of the user, for messages */
    int is_inner; /* of a plan of the library's own, which no environment variable changes */
    MPI_Comm comm, user_comm; /* the library's own one of the same ranks; the user's */
    int nranks, ndims;
    const redist_index *sizes;
    enum fftnd_kind kind;
    enum fftnd_precision precision;
    fftnd_options options; /* a copy; its lists and texts are the user's */
};

/* Returns nonzero if a space is memory of a device. */
static inline int fftnd__is_on_device(enum redist_space space) {
    return lines__library_for(space)->space != REDIST_SPACE_HOST;
}

/* Returns nonzero if the options want a device for arrays in host memory. */
static inline int fftnd__offloads(const fftnd_options *options) {
    return !fftnd__is_on_device(options->space) &&
           (fftnd__is_on_device(options->device) || options->device_bytes != 0);
}

#endif
