/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the host and kernels of CUDA share. */
#ifndef LINES__ON_DEVICE_H
#define LINES__ON_DEVICE_H

#ifdef __CUDACC__
#define LINES__ON_DEVICE __host__ __device__
#else
#define LINES__ON_DEVICE
#endif

#endif
