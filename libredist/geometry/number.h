/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of numbers that copies add, also for kernels of devices. */
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
    REDIST__LONG_DOUBLE
};

/* Bytes of a number. */
size_t redist__number_bytes(enum redist__number number);

#endif
