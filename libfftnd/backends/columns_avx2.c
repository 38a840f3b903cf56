/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 32 bytes. */
#define BITS           256
#define TARGET_NAME    "avx2"
#define INSTRUCTION(f) _mm256_##f
#define DOUBLES        __m256d
#define FLOATS         __m256
#define LOOPS          fftnd__columns_avx2
#include "column_x86.h"
