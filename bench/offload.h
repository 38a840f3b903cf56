/* SPDX-License-Identifier: BSD-3-Clause */
/* A transform of arrays in host memory on a device, beside the transfers that it cannot do without. */
#ifndef BENCH_OFFLOAD_H
#define BENCH_OFFLOAD_H

#include "options.h"
#include "transform.h"

typedef struct bench_offload {
    const bench_settings *settings;
    const bench_problem *problem;
    bench_transform *transform; /* scaled unitarily; its plan is freed */
    const char *kind;
    const char *precision;
    const char *device;
    const bench_space *device_space;
    int device_mib;
} bench_offload;

/* Checks a round trip, times transforms and transfers in turn, and prints on rank 0. Returns the exit code:
 * 1 if the error is too large. Collective. */
int bench_offload_measure(const bench_offload *offload);

#endif
