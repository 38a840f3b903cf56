/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Random choices of the tests. The harness seeds the sequence alike on all ranks at the start of
 * each test, so ranks that draw the same number of times draw the same values.
 */
#ifndef TESTS_RANDOM_H
#define TESTS_RANDOM_H

#include <stdint.h>

/** Starts the sequence anew. */
void random_seed(uint64_t seed);

/** The next 64 random bits. */
uint64_t random_bits(void);

/** A random integer, low <= value <= high. */
int random_between(int low, int high);

/** Nonzero in `percent` of all calls. */
int random_chance(int percent);

/** Puts 0 .. count-1 in random order. */
void random_permutation(int count, int order[]);

/** The same as random_between from a sequence of the caller's own, such as one for each rank. */
int random_from(uint64_t *sequence, int low, int high);

/** A fixed scrambling of 64 bits: different inputs give unrelated outputs. Not a draw. */
uint64_t random_hash(uint64_t value);

#endif
