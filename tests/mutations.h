/* SPDX-License-Identifier: BSD-3-Clause */
/** Random changes of text that the libraries read, such as lines of a wisdom file. */
#ifndef TESTS_MUTATIONS_H
#define TESTS_MUTATIONS_H

#include <stddef.h>

/**
 * Changes `bytes` bytes of text, with room for `room`, at up to `most` places: other bytes, numbers out of all ranges,
 * separators and line ends, parts that are gone, or there twice. Returns how many bytes there are then. The same on all
 * ranks (random.h).
 */
size_t mutate(char text[], size_t bytes, size_t room, int most);

#endif
