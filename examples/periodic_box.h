/* SPDX-License-Identifier: BSD-3-Clause */
/* The periodic box [0, 2 pi)^3: what a local index of a transform's array stands for. */
#ifndef PERIODIC_BOX_H
#define PERIODIC_BOX_H

#include <fftnd.h>
#include <math.h>

/* Where a local element stands in the local array. */
static inline ptrdiff_t box_place(const fftnd_layout *layout, int i, int j, int k) {
    return i * layout->stride[0] + j * layout->stride[1] + k * layout->stride[2];
}

/* The coordinate of a grid point along an axis. */
static inline double box_coordinate(const fftnd_layout *physical, int axis, int index) {
    return 2 * M_PI * (physical->start[axis] + index) / physical->size[axis];
}

/* The wavenumber along an axis with so many modes: the upper half of the indices stands for
 * negative ones. */
static inline int box_wavenumber(const fftnd_layout *spectral, int modes, int axis, int index) {
    int k = spectral->start[axis] + index;
    return k <= modes / 2 ? k : k - modes;
}

#endif
