/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies that add the numbers of the source to those of the destination. */
#include "copy.h"

/* Neither end need be aligned, since elements may lie anywhere. */
#define ADD(type)                                                                                  \
    static void add_##type(const struct redist__sum *sum, const char *from, char *to,              \
                           size_t count) {                                                         \
        (void)sum;                                                                                 \
        struct __attribute__((packed, may_alias)) unaligned {                                      \
            type number;                                                                           \
        };                                                                                         \
        const struct unaligned *source = (const struct unaligned *)(const void *)from;             \
        struct unaligned *destination = (struct unaligned *)(void *)to;                            \
        for (size_t i = 0; i < count; i++)                                                         \
            destination[i].number = (type)(destination[i].number + source[i].number);              \
    }

typedef long double long_double;
ADD(uint8_t)
ADD(uint16_t)
ADD(uint32_t)
ADD(uint64_t)
ADD(float)
ADD(double)
ADD(long_double)

#define SUM(number, type) [number] = {number, sizeof(type), add_##type}

static const struct redist__sum sums[] = {SUM(REDIST__BYTES_1, uint8_t),
                                          SUM(REDIST__BYTES_2, uint16_t),
                                          SUM(REDIST__BYTES_4, uint32_t),
                                          SUM(REDIST__BYTES_8, uint64_t),
                                          SUM(REDIST__FLOAT, float),
                                          SUM(REDIST__DOUBLE, double),
                                          SUM(REDIST__LONG_DOUBLE, long_double)};

const struct redist__sum *redist__sum_of(enum redist__number number) {
    return number != REDIST__NO_NUMBER ? &sums[number] : NULL;
}

void redist__copy_add(const struct redist__copy *copy, const void *source, void *destination) {
    const struct redist__sum *sum = copy->adds;
    size_t count = copy->run / sum->bytes, index[REDIST_MAX_NDIMS] = {0};
    const char *from = source;
    char *to = destination;
    int axis = copy->run != 0 ? 0 : -1;
    while (axis >= 0) {
        sum->add(sum, from, to, count);
        for (axis = copy->ndims - 1; axis >= 0; axis--) {
            from += copy->source[axis];
            to += copy->destination[axis];
            if (++index[axis] < copy->count[axis])
                break;
            from -= copy->source[axis] * (ptrdiff_t)copy->count[axis];
            to -= copy->destination[axis] * (ptrdiff_t)copy->count[axis];
            index[axis] = 0;
        }
    }
}
