/* SPDX-License-Identifier: BSD-3-Clause */
#include "poison.h"

#include <fenv.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

enum { MOST_BYTES = 16, PAYLOADS = 0x3ffffe };

/* The highest bit of the fraction is clear: such a NaN signals. */
static void make_number(size_t i, size_t number_bytes, unsigned char number[MOST_BYTES]) {
    const uint32_t payload = 1 + (uint32_t)(i % PAYLOADS);
    const uint32_t single = 0x7f800000u | payload;
    const uint64_t fraction = LDBL_MANT_DIG == 64 ? 0x8000000000000000u | payload : payload;
    const uint64_t number64 = number_bytes == 8 ? 0x7ff0000000000000u | payload : fraction;
    memset(number, 0x5a, MOST_BYTES);
    if (number_bytes == sizeof single) {
        memcpy(number, &single, sizeof single);
        return;
    }
    memcpy(number, &number64, sizeof number64);
    const uint64_t exponent = LDBL_MANT_DIG == 64 ? 0x5a5a5a5a5a5a7fffu : 0x7fff000000000000u;
    if (number_bytes > 8) {
        memcpy(number + 8, &exponent, sizeof exponent);
    }
}

void poison_fill(void *memory, size_t bytes, size_t number_bytes) {
    unsigned char number[MOST_BYTES];
    for (size_t at = 0; at < bytes; at += number_bytes) {
        const size_t left = bytes - at;
        make_number(at / number_bytes, number_bytes, number);
        memcpy((unsigned char *)memory + at, number, left < number_bytes ? left : number_bytes);
    }
}

size_t poison_changed(const void *memory, size_t bytes, size_t number_bytes,
                      const unsigned char used[]) {
    unsigned char number[MOST_BYTES];
    size_t changed = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (i % number_bytes == 0) {
            make_number(i / number_bytes, number_bytes, number);
        }
        changed += !used[i] && ((const unsigned char *)memory)[i] != number[i % number_bytes];
    }
    return changed;
}

void poison_forget(void) {
    feclearexcept(FE_ALL_EXCEPT);
}

const char *poison_raised(void) {
    const int raised = fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    return raised & FE_INVALID     ? "an invalid operation"
           : raised & FE_DIVBYZERO ? "a division by zero"
           : raised != 0           ? "an overflow"
                                   : NULL;
}
