/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast lines of each length are transformed on a device: what was measured, in this process and before. */
#ifndef FFTND__RATES_H
#define FFTND__RATES_H

#include <stddef.h>

/* How lines lie in memory. */
enum { FFTND__STRIDED, FFTND__CONTIGUOUS, FFTND__LAYOUTS };

/* Milliseconds for the same sample; 0 = it cannot be done so. */
struct fftnd__rates {
    long long n;
    int is_double;
    double cufft[FFTND__LAYOUTS], panels[FFTND__LAYOUTS];
};

/* Nonzero if panels are faster, by more than what such measurements differ by. */
int fftnd__rates_prefer_panels(const struct fftnd__rates *rates, int layout);

/* As text for a wisdom file, with the device's name; nonzero if `text` is that of this device, and sound. */
void fftnd__rates_print(const struct fftnd__rates *rates, const char *device, size_t bytes,
                        char text[]);
int fftnd__rates_scan(const char *text, const char *device, struct fftnd__rates *rates);

/* What the process knows: of each device by its number. Returns nonzero if it has these rates, whose n and is_double are
 * set. Any thread may call them. */
int fftnd__rates_find(int device, struct fftnd__rates *rates);
void fftnd__rates_keep(int device, const struct fftnd__rates *rates);

#endif
