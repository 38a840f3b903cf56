/* SPDX-License-Identifier: BSD-3-Clause */
/* The periodic box [0, 2 pi)^3: what an index along an axis of a transform's array stands for. CUDA
 * code may call this too. */
#ifndef PERIODIC_BOX_H
#define PERIODIC_BOX_H

#include <math.h>

#ifdef __CUDACC__
#define BOX_FUNCTION static __host__ __device__ inline
#else
#define BOX_FUNCTION static inline
#endif

/* The coordinate of a grid point, given its global index. */
BOX_FUNCTION double box_coordinate(long long points, long long index) {
    return 2 * M_PI * (double)index / (double)points;
}

/* The wavenumber along an axis with so many modes: the upper half of the indices stands for
 * negative ones. */
BOX_FUNCTION int box_wavenumber(int modes, int index) {
    return index <= modes / 2 ? index : index - modes;
}

#endif
