/* SPDX-License-Identifier: BSD-3-Clause */
/* Complex transforms of prime length along lines that lie side by side, for serial libraries of the host. */
#ifndef FFTND__PRIMES_H
#define FFTND__PRIMES_H

#include "serial.h"

/* Whether lines of `n` elements of `item` bytes gain: n is prime, and a library transforms n - 1 elements fast. */
int fftnd__prime_gains(redist_index n, size_t item);

/* Whether all of a problem, from array `in` to `out`, is for fftnd__serial_primes, which has columns.h or
 * problem->library transform the lines of n - 1 elements. */
int fftnd__primes_suit(const struct fftnd__serial_problem *problem, const void *in,
                       const void *out);

extern const struct fftnd__serial fftnd__serial_primes;

#endif
