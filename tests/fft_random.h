/* SPDX-License-Identifier: BSD-3-Clause */
/** Cases at random: any shape, grid, kind and option. All ranks draw the same. */
#ifndef FFT_RANDOM_H
#define FFT_RANDOM_H

#include "fft_case.h"

/** A case for so many ranks; with `has_nodes` the ranks are on several nodes. What a planner might
 * choose goes to the environment variable FFTND_CONFIGURATION. */
fft_case fft_random_case(int nranks, int has_nodes);

/** The same with any mixture of axes, retained modes, filled points, and sides that lie in any way. */
fft_case fft_random_mixed_case(int nranks, int has_nodes);

/** A case of longer lines, of which many lie side by side, with padding on both sides. */
fft_case fft_random_padded_case(int nranks);

/** Sets options that any case may have: scaling, alignment, batch, the halved axis, what is overwritten, work space. */
void fft_random_options(fft_case *given);

/** Makes a case keep some modes along each axis: all, nearly all, or any number; unless it has bounds of modes. */
void fft_random_kept(fft_case *given);

/** Makes a case have some of the points along each axis of the physical side, in the same way. */
void fft_random_filled(fft_case *given);

/** A case with filled axes whose physical side is in boxes of any shape, in half of the cases the spectral one, too. */
fft_case fft_random_filled_boxes(enum fftnd_kind kind);

/** Has numbers travel in a format, by a method that has formats; not in long double, which has none. */
void fft_random_format(fft_case *given);

/** Takes the axes in any order in which no complex axis is transformed before the halved one. */
void fft_random_order(fft_case *given);

/** A case whose arrays are on a device. */
fft_case fft_random_device_case(int nranks);

/** What a planner may choose on a device goes to FFTND_CONFIGURATION. */
void fft_use_chunks(int segments, int transposed, int partitions, int stored);

#endif
