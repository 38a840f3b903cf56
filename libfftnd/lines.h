/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms line by line along the last axis, for arrays that are not in the caches. */
#ifndef FFTND__LINES_H
#define FFTND__LINES_H

#include "backends/serial.h"

struct fftnd__lines {
    void *line,
        *rest; /* plans of the library: of one line, and of the other axes, NULL = there are none */
    int nloops;
    struct fftnd__loop loops[REDIST_MAX_NDIMS]; /* over the lines; strides in bytes */
    long long count;                            /* of lines */
    size_t bytes;                               /* of a line of the input */
};

/* Whether a transform can be done so, and is worth it. */
int fftnd__lines_suit(const struct fftnd__serial_problem *problem);

/* As `create` and `execute` of the library; in != out. */
int fftnd__lines_create(struct fftnd__lines *lines, const struct fftnd__serial *library,
                        const struct fftnd__serial_problem *problem, void *in, void *out);
int fftnd__lines_run(const struct fftnd__lines *lines, const struct fftnd__serial *library,
                     char *in, char *out);
void fftnd__lines_free(struct fftnd__lines *lines, const struct fftnd__serial *library);

#endif
