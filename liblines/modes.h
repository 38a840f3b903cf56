/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of modes where an axis is truncated or padded, one element at a time, on the host and in kernels of
 * devices. */
#ifndef LINES__MODES_H
#define LINES__MODES_H

#include "on_device.h"
#include "redist_base.h"

#include <stddef.h>

enum lines__change {
    LINES__CLEAR,         /* becomes zero */
    LINES__ADD,           /* adds its partner */
    LINES__ADD_CONJUGATE, /* adds its conjugate */
    LINES__SPLIT,         /* halves it, and copies it to its partner, which may be itself */
    LINES__HALVE,         /* its partner becomes half of it */
    LINES__MULTIPLY       /* multiplies it by the factor */
};

/* The mode half-way (Nyquist), which stands for two frequencies of the longer transform. */
enum lines__nyquist {
    LINES__NYQUIST_NONE,   /* no such mode */
    LINES__NYQUIST_PAIR,   /* both frequencies are in the piece */
    LINES__NYQUIST_MIRROR, /* halved axis: one is, the other is its mirror image */
    LINES__NYQUIST_ALONE   /* R2HC: one is, whose cosine both share */
};

/* Modes that the array retains of the `modes` of an axis in a piece: the first `low` and the last `high`. */
struct lines__retained {
    int axis; /* of the array */
    redist_index modes, low, high;
    enum lines__nyquist nyquist;
};

/* Defines the change of an element of `numbers` numbers of type T. */
#define LINES__CHANGE_ELEMENT(name, T)                                                             \
    static inline LINES__ON_DEVICE void name(enum lines__change change, T *mode, T *partner,       \
                                             int numbers, T factor) {                              \
        for (int i = 0; i < numbers; i++)                                                          \
            if (change == LINES__CLEAR)                                                            \
                mode[i] = 0;                                                                       \
            else if (change == LINES__ADD)                                                         \
                mode[i] += partner[i];                                                             \
            else if (change == LINES__ADD_CONJUGATE)                                               \
                mode[i] = i == 0 ? 2 * mode[i] : 0;                                                \
            else if (change == LINES__HALVE)                                                       \
                partner[i] = mode[i] / 2;                                                          \
            else if (change == LINES__MULTIPLY)                                                    \
                mode[i] *= factor;                                                                 \
            else                                                                                   \
                partner[i] = mode[i] /= 2;                                                         \
    }

/* A box of modes to change. The partner of the first one is `partner` bytes from it. */
struct lines__modes {
    enum lines__change change;
    size_t number_bytes;
    int numbers; /* of an element */
    int ndims;
    redist_index count[REDIST_MAX_NDIMS];
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    char *memory;
    ptrdiff_t partner;
    ptrdiff_t partner_stride[REDIST_MAX_NDIMS]; /* bytes */
    double factor;                              /* double is the longest number of devices */
};

/* Changes modes in memory of the host. */
void lines__change_modes(const struct lines__modes *modes);

#endif
