/* SPDX-License-Identifier: BSD-3-Clause */
/* Transforms through heFFTe's interface, for a benchmark in C. */
#ifndef BENCH_HEFFTE_CALLS_H
#define BENCH_HEFFTE_CALLS_H

#include "fftnd.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_heffte bench_heffte;

/* Plans transforms in double between boxes of three axes in C order on MPI_COMM_WORLD, real ones with the last axis
 * halved if `is_real`, in host memory or on a device. Functions end the program after an error. */
bench_heffte *bench_heffte_open(int is_real, int on_device, enum fftnd_effort effort,
                                const redist_box *physical, const redist_box *spectral);

/* Bytes of a workspace. */
size_t bench_heffte_workspace(const bench_heffte *transform);

/* One call, REDIST_FORWARD or REDIST_BACKWARD, which leaves its input as it is. */
void bench_heffte_call(bench_heffte *transform, int direction, void *input, void *output,
                       void *workspace);

void bench_heffte_close(bench_heffte *transform);

#ifdef __cplusplus
}
#endif

#endif
