/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies that add the numbers of the source to those of the destination. */
#include "copy.h"

typedef void add_numbers(const char *from, char *to, size_t count);

/* Neither end need be aligned, since elements may lie anywhere. */
#define ADD(type)                                                                                  \
    static void add_##type(const char *from, char *to, size_t count) {                             \
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

static add_numbers *const additions[] = {[REDIST__BYTES_1] = add_uint8_t,
                                         [REDIST__BYTES_2] = add_uint16_t,
                                         [REDIST__BYTES_4] = add_uint32_t,
                                         [REDIST__BYTES_8] = add_uint64_t,
                                         [REDIST__FLOAT] = add_float,
                                         [REDIST__DOUBLE] = add_double,
                                         [REDIST__LONG_DOUBLE] = add_long_double};

void redist__copy_add(const struct redist__copy *copy, const void *source, void *destination) {
    add_numbers *add = additions[copy->adds];
    size_t count = copy->run / redist__number_bytes(copy->adds), index[REDIST_MAX_NDIMS] = {0};
    const char *from = source;
    char *to = destination;
    int axis = copy->run != 0 ? 0 : -1;
    while (axis >= 0) {
        add(from, to, count);
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
