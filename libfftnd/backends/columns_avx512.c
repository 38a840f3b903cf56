/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of 64 bytes. */
#define BITS           512
#define TARGET_NAME    "avx512f"
#define INSTRUCTION(f) _mm512_##f
#define DOUBLES        __m512d
#define FLOATS         __m512
#define LOOPS          fftnd__columns_avx512
#include "column_x86.h"
