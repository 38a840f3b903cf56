/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The serial transforms of a distributed transform, alone: FFTW's own in-place plans, axis by axis
 * over the local arrays of the chain, without any communication.
 */
#ifndef BENCH_SERIAL_FFTW_H
#define BENCH_SERIAL_FFTW_H

#include "transform.h"

/* The planner flag of an effort. */
unsigned bench_fftw_effort(enum fftnd_effort effort);

/*
 * Plans the serial transforms on the process grid and in the order of another one. `arrays` is filled in; its contents
 * come from those of `input`, which must outlive it. Collective.
 */
bench_transform bench_serial_create(const bench_problem *problem, const bench_transform *like,
                                    const bench_arrays *input, bench_arrays *arrays);

#endif
