/* SPDX-License-Identifier: BSD-3-Clause */
/* A serial library for a copy of libfftnd that a test is built with: it calls FFTW, but fails when faults.h
 * says so. */
#include "../liblines/lines.h"
#include "faults.h"

extern const struct lines__library lines__library_fftw;

static int create(const struct lines__problem *problem, void *in, void *out, void **plan) {
    return lines__library_fftw.create(problem, in, out, plan);
}

static int execute(void *plan, void *in, void *out) {
    if (faults_serial_fails())
        return redist_fail(REDIST_ERR_SERIAL, "this transform was made to fail");
    return lines__library_fftw.execute(plan, in, out);
}

static int scale(void *array, size_t bytes, enum fftnd_precision precision, long double factor,
                 void *stream) {
    if (faults_serial_fails())
        return redist_fail(REDIST_ERR_SERIAL, "this scaling was made to fail");
    return lines__library_fftw.scale(array, bytes, precision, factor, stream);
}

static void destroy(void *plan) {
    lines__library_fftw.destroy(plan);
}

const struct lines__library lines__library_faulty = {.name = "faulty",
                                                     .space = REDIST_SPACE_HOST,
                                                     .create = create,
                                                     .execute = execute,
                                                     .scale = scale,
                                                     .destroy = destroy};
