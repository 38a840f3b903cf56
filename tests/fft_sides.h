/* SPDX-License-Identifier: BSD-3-Clause */
/** How each side of a case lies: memory orders, padding, blocks, boxes; and which part of it a rank has. */
#ifndef FFT_SIDES_H
#define FFT_SIDES_H

#include "fft_case.h"

/** Makes options say what a case says about its sides; the pointers are into `given` and static memory. */
void fft_sides_fill(MPI_Comm comm, const fft_case *given, fftnd_options *options);

/** Whether a case has anything of it. */
int fft_sides_are_usual(const fft_case *given);

/** A rank's part of a side. */
void fft_sides_part(const fft_case *given, enum fftnd_side side, const fftnd_plan_info *info,
                    int nranks, int rank, int start[], int count[]);

/** Elements between neighbours along each axis of a local array with these extents, for one field. */
void fft_sides_strides(const fft_case *given, enum fftnd_side side, const fftnd_plan_info *info,
                       const redist_index count[], ptrdiff_t stride[]);

/** Numbers behind each row of the real side that are there for its modes, in place, and are no padding of the case. */
redist_index fft_sides_spare(const fft_case *given, const fftnd_plan_info *info,
                             const redist_index count[]);

/** The fewest exchanges of a chain, besides those to and from boxes and other split axes. */
int fft_sides_chain_exchanges(const fft_case *given, const fftnd_plan_info *info);

/** Appends it to a text. */
void fft_sides_say(const fft_case *given, char *text, size_t bytes);

/** Sides at random, for a case whose grid and order are chosen already. */
void fft_sides_random(fft_case *given);

#endif
