/* SPDX-License-Identifier: BSD-3-Clause */
/* operator-bench --operator convolution: the field and the kernel fill the first half of each axis. */
#ifndef BENCH_CONVOLUTION_H
#define BENCH_CONVOLUTION_H

#include "options.h"

/* Times a convolution of real fields in double precision with `filled` and with explicit zeros, and checks the results.
 * Beside it are FFTW-MPI's transforms around the multiplication, where FFTW-MPI is installed, or on devices cuFFT's
 * transforms on all of them without the multiplication. Prints on rank 0. Collective. */
void bench_convolution(const bench_settings *settings, int threads, int overwrite);

#endif
