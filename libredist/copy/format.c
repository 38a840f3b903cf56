/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats of numbers on their way between ranks, and the boxes that are narrowed into them while they are packed.
 *
 * Sixteen bits are integers with one exponent for the row: 15 bits below that of the largest number, where half
 * precision has 11 bits of each number and a tenfold error of the row. Scales are powers of two, which are exact.
 */
#include "copy.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---------------------------------------------------------------- double as float */

#define UNALIGNED(type)                                                                            \
    struct __attribute__((packed, may_alias)) unaligned_##type {                                   \
        type number;                                                                               \
    };
UNALIGNED(float)
UNALIGNED(double)
UNALIGNED(int16_t)

static void narrow_double(const char *from, char *to, size_t count) {
    const struct unaligned_double *source = (const void *)from;
    struct unaligned_float *narrow = (void *)to;
    for (size_t i = 0; i < count; i++)
        narrow[i].number = (float)source[i].number;
}

static void widen_double(const char *from, char *to, size_t count) {
    const struct unaligned_float *narrow = (const void *)from;
    struct unaligned_double *destination = (void *)to;
    for (size_t i = 0; i < count; i++)
        destination[i].number = (double)narrow[i].number;
}

/* ---------------------------------------------------------------- integers with the exponent of their row */

enum { MANTISSA_BITS = 52, TOP_SHIFT = 48 };

/* The sum with this has the nearest integer in its low bits. */
static const double to_integer = 0x1.8p52;

static uint64_t bits_of(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static double power_of_two(int exponent) {
    uint64_t bits = (uint64_t)(exponent + REDIST__BIAS) << MANTISSA_BITS;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Returns the exponent of the largest number, by the 15 bits behind the sign, of which the processor has maxima. */
static int find_exponent(const double numbers[], size_t count) {
    int16_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        int16_t top = (int16_t)(bits_of(numbers[i]) >> TOP_SHIFT & INT16_MAX);
        largest = top > largest ? top : largest;
    }
    return largest >> (MANTISSA_BITS - TOP_SHIFT);
}

static void narrow_row(const double numbers[], struct unaligned_int16_t *narrow, size_t count) {
    int exponent = find_exponent(numbers, count);
    int is_scaled = exponent >= REDIST__LEAST_EXPONENT && exponent < REDIST__NOT_FINITE;
    narrow[0].number = (int16_t)(exponent >= REDIST__LEAST_EXPONENT ? exponent : 0);
    if (!is_scaled) {
        memset(narrow + 1, 0, count * sizeof *narrow);
        return;
    }
    const double scale = power_of_two(REDIST__INTEGER_BITS - 1 - (exponent - REDIST__BIAS));
    for (size_t i = 0; i < count; i++) {
        double scaled = numbers[i] * scale;
        scaled = scaled < REDIST__LARGEST ? scaled : REDIST__LARGEST;
        scaled = scaled > -REDIST__LARGEST ? scaled : -REDIST__LARGEST;
        narrow[i + 1].number = (int16_t)(bits_of(scaled + to_integer) & UINT16_MAX);
    }
}

/* Returns by what the integers of a row are multiplied. */
static double quantum_of(int exponent) {
    return exponent == 0 ? 0
           : exponent == REDIST__NOT_FINITE
               ? (double)NAN
               : power_of_two(exponent - REDIST__BIAS - (REDIST__INTEGER_BITS - 1));
}

#define SIXTEEN_BITS(type)                                                                         \
    static void narrow_##type##_to_16(const char *from, char *to, size_t count) {                  \
        const struct unaligned_##type *source = (const void *)from;                                \
        double numbers[REDIST__FORMAT_ROW];                                                        \
        for (size_t i = 0; i < count; i++)                                                         \
            numbers[i] = (double)source[i].number;                                                 \
        narrow_row(numbers, (void *)to, count);                                                    \
    }                                                                                              \
    static void widen_16_to_##type(const char *from, char *to, size_t count) {                     \
        const struct unaligned_int16_t *narrow = (const void *)from;                               \
        struct unaligned_##type *destination = (void *)to;                                         \
        const double quantum = quantum_of(narrow[0].number);                                       \
        for (size_t i = 0; i < count; i++)                                                         \
            destination[i].number = (type)(narrow[i + 1].number * quantum);                        \
    }
SIXTEEN_BITS(float)
SIXTEEN_BITS(double)

/* ---------------------------------------------------------------- the formats */

static const struct redist__format formats[] = {
    {REDIST_WIRE_FLOAT, REDIST__DOUBLE, sizeof(double), 0, sizeof(float), narrow_double,
     widen_double},
    {REDIST_WIRE_16_BITS, REDIST__FLOAT, sizeof(float), sizeof(int16_t), sizeof(int16_t),
     narrow_float_to_16, widen_16_to_float},
    {REDIST_WIRE_16_BITS, REDIST__DOUBLE, sizeof(double), sizeof(int16_t), sizeof(int16_t),
     narrow_double_to_16, widen_16_to_double}};

const struct redist__format *redist__format_of(enum redist_wire wire, enum redist__number number) {
    const struct redist__format *found = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].wire == (int)wire && formats[i].number == number)
            found = &formats[i];
    return found;
}

/* ---------------------------------------------------------------- boxes */

/* What is left of the exact end of a copy, run after run. */
struct cursor {
    const struct redist__copy *copy;
    const ptrdiff_t *stride;
    char *at;
    size_t left; /* bytes of the current run */
    size_t index[REDIST_MAX_NDIMS];
};

static void next_run(struct cursor *cursor) {
    const struct redist__copy *copy = cursor->copy;
    cursor->at -= copy->run;
    cursor->left = copy->run;
    for (int axis = copy->ndims - 1; axis >= 0; axis--) {
        cursor->at += cursor->stride[axis];
        if (++cursor->index[axis] < copy->count[axis])
            return;
        cursor->at -= cursor->stride[axis] * (ptrdiff_t)copy->count[axis];
        cursor->index[axis] = 0;
    }
}

/* Takes at most `most` contiguous bytes, whose number is in *bytes. */
static char *take(struct cursor *cursor, size_t most, size_t *bytes) {
    if (cursor->left == 0)
        next_run(cursor);
    char *at = cursor->at;
    *bytes = cursor->left < most ? cursor->left : most;
    cursor->at += *bytes;
    cursor->left -= *bytes;
    return at;
}

/* Narrows a row where it is, or gathers it first: it stays in the first-level cache. */
static void narrow(const struct redist__format *format, struct cursor *cursor, char *to,
                   size_t count) {
    char row[REDIST__FORMAT_ROW * sizeof(double)];
    size_t all = count * format->bytes, done;
    const char *from = take(cursor, all, &done);
    if (done < all) {
        memcpy(row, from, done);
        for (size_t bytes; done < all; done += bytes) {
            from = take(cursor, all - done, &bytes);
            memcpy(row + done, from, bytes);
        }
        from = row;
    }
    format->narrow(from, to, count);
}

/* Stores or adds contiguous numbers. */
static void store(const struct redist__sum *adds, const char *from, char *to, size_t bytes) {
    if (adds != NULL)
        adds->add(adds, from, to, bytes / adds->bytes);
    else
        memcpy(to, from, bytes);
}

static void widen(const struct redist__format *format, struct cursor *cursor, const char *from,
                  size_t count) {
    const struct redist__sum *adds = cursor->copy->adds;
    char row[REDIST__FORMAT_ROW * sizeof(double)];
    size_t all = count * format->bytes, done;
    char *to = take(cursor, all, &done);
    if (done == all && adds == NULL) {
        format->widen(from, to, count);
        return;
    }
    format->widen(from, row, count);
    store(adds, row, to, done);
    for (size_t bytes; done < all; done += bytes) {
        to = take(cursor, all - done, &bytes);
        store(adds, row + done, to, bytes);
    }
}

void redist__copy_format(const struct redist__copy *copy, const void *source, void *destination) {
    const struct redist__format *format = copy->format;
    int widens = copy->widens;
    struct cursor cursor = {.copy = copy,
                            .stride = widens ? copy->destination : copy->source,
                            .at = widens ? destination : (char *)(uintptr_t)source,
                            .left = copy->run};
    char *packed = widens ? (char *)(uintptr_t)source : destination;
    size_t numbers = redist__copy_bytes(copy) / format->bytes;
    for (size_t count; numbers > 0; numbers -= count) {
        count = numbers < REDIST__FORMAT_ROW ? numbers : REDIST__FORMAT_ROW;
        if (widens)
            widen(format, &cursor, packed, count);
        else
            narrow(format, &cursor, packed, count);
        packed += redist__format_bytes(format, count * format->bytes);
    }
}
