/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of 7_heat_graph on GPUs: graph_cuda.c, or graph_absent.c in a build without CUDA. */
#ifndef GRAPH_H
#define GRAPH_H

#include <fftnd.h>

enum { N = 48, STEPS = 50 };

static const double time_step = 1e-3;

/* Ends the program with the library's message if a call has failed. */
void must(int code);

/* Makes this rank's GPU the current one, before MPI_Init. */
void graph_choose_device(void);

/* Whether each rank has a GPU of its own. Collective. */
int graph_is_possible(void);

/* State of a plan whose transforms are captured: arrays on the device, a stream of its own. */
void graph_set_options(fftnd_options *options);

/* All steps, as one graph that is replayed; `u` is the physical array, and has room for `bytes` of its layout. */
void graph_run(fftnd_plan *plan, const fftnd_options *options, double *u);

/* Gives the stream back, once the plan is freed. */
void graph_end(const fftnd_options *options);

#endif
