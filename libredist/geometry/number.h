/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of copies: the kinds of numbers, also for kernels of devices, and how they are added. */
#ifndef REDIST__NUMBER_H
#define REDIST__NUMBER_H

#include <stddef.h>

/* The numbers of a box that is added to another one. Complex numbers are two real ones each, and the sum of integers
 * does not depend on their sign. */
enum redist__number {
    REDIST__NO_NUMBER,
    REDIST__BYTES_1,
    REDIST__BYTES_2,
    REDIST__BYTES_4,
    REDIST__BYTES_8,
    REDIST__FLOAT,
    REDIST__DOUBLE,
    REDIST__LONG_DOUBLE,
    REDIST__OPERATION /* elements of any kind, by an operation of the user's; on the host only */
};

/* How a box is added to another one. A user's operation has it as its first member. */
struct redist__sum {
    enum redist__number number;
    size_t bytes; /* of a number, or of an element of the user's operation: runs consist of these */
    void (*add)(const struct redist__sum *sum, const char *from, char *to, size_t count);
};

/* A format of numbers on their way to another rank: rows, each narrowed alone. Neither end need be aligned. */
struct redist__format {
    int wire; /* enum redist_wire */
    enum redist__number number;
    size_t bytes;      /* of a number in an array */
    size_t head, each; /* bytes of a row for all of its numbers, and for each of them */
    void (*narrow)(const char *from, char *to, size_t count);
    void (*widen)(const char *from, char *to, size_t count);
};

/* Numbers of a row, except the last one of a box. Longer rows have a larger difference between the least and the
 * largest number; of this length the head is one part in 128. */
enum { REDIST__FORMAT_ROW = 128 };

/* Sixteen bits: integers with an exponent for each row, which is one of double as it is in its bits, with this bias.
 * Rows with a smaller one than the least are sent as zeros, as their scale would exceed double. */
enum { REDIST__BIAS = 1023, REDIST__LEAST_EXPONENT = 15, REDIST__NOT_FINITE = 2047 };

/* Bits of an integer without its sign, and the largest one: -32768 is not used. */
enum { REDIST__INTEGER_BITS = 15, REDIST__LARGEST = 32767 };

/* Returns the kind of what is added; NULL = nothing is. */
static inline enum redist__number redist__added(const struct redist__sum *sum) {
    return sum != NULL ? sum->number : REDIST__NO_NUMBER;
}

#endif
