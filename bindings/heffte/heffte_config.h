/* SPDX-License-Identifier: BSD-3-Clause */
/** What programs ask of heFFTe before they compile: the version whose interface this is, and that host memory is served
 * by the tag fftw. A program that wants devices defines Heffte_ENABLE_CUDA. */
#ifndef HEFFTE_CONFIG_H
#define HEFFTE_CONFIG_H

#define Heffte_VERSION_MAJOR 2
#define Heffte_VERSION_MINOR 4
#define Heffte_VERSION_PATCH 0

#ifndef Heffte_ENABLE_FFTW
#define Heffte_ENABLE_FFTW
#endif
#if defined(Heffte_ENABLE_CUDA) && !defined(Heffte_ENABLE_GPU)
#define Heffte_ENABLE_GPU
#endif

#endif
