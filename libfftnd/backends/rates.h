/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast lines of each length are transformed on a device: what was measured, in this process and before. */
#ifndef FFTND__RATES_H
#define FFTND__RATES_H

#include "panels_planes.h"

/* What lines are measured as: in each layout of panels.h; STRIDED with rows of neighbours that begin anywhere in a line
 * of the cache, not where one does; REAL backward, all others being forward. */
enum { FFTND__UNALIGNED = FFTND__LAYOUTS, FFTND__TO_REAL, FFTND__RATES };

/* Milliseconds for the same sample; 0 = it cannot be done so. */
struct fftnd__rates {
    long long n;
    int is_double;
    double cufft[FFTND__RATES], panels[FFTND__RATES];
    int variant[FFTND__RATES]; /* the fastest one of panels, or of planes behind these */
};

/* As text for a wisdom file, with the device's name; nonzero if `text` is that of this device, and sound. */
void fftnd__rates_print(const struct fftnd__rates *rates, const char *device, size_t bytes,
                        char text[]);
int fftnd__rates_scan(const char *text, const char *device, struct fftnd__rates *rates);

/* What the process knows: of each device by its number. Returns nonzero if it has these rates, whose n and is_double
 * are set. Any thread may call them. */
int fftnd__rates_find(int device, struct fftnd__rates *rates);
void fftnd__rates_keep(int device, const struct fftnd__rates *rates);

/* The same of up to three axes that one plan of cuFFT transforms together, the last one may be real: lines are
 * contiguous, or neighbours are, which only planes transform. */
struct fftnd__group_rate {
    long long n[3]; /* 1 = no axis */
    int is_double, is_real;
    double cufft, planes; /* planes: of two complex axes */
    int is_strided, variant;
};
int fftnd__rates_find_group(int device, struct fftnd__group_rate *rate);
void fftnd__rates_keep_group(int device, const struct fftnd__group_rate *rate);

#endif
