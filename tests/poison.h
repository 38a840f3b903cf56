/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * Memory that nothing may read as numbers: signalling NaNs, each with a place of its own in its payload, so that one
 * that was moved is found too. Arithmetic with one of them raises an exception of the processor.
 */
#ifndef POISON_H
#define POISON_H

#include <stddef.h>

/** Fills memory with numbers of 4, 8 or 16 (long double) bytes. */
void poison_fill(void *memory, size_t bytes, size_t number_bytes);

/** The number of bytes that are not as they were filled, those apart for which `used` is not 0. */
size_t poison_changed(const void *memory, size_t bytes, size_t number_bytes,
                      const unsigned char used[]);

/** Forgets the exceptions of this thread; and says which of invalid, division by zero and overflow it had since then,
 * NULL = none. */
void poison_forget(void);
const char *poison_raised(void);

#endif
