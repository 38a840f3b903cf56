/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast lines of each length are transformed on a device: what was measured, in this process and before. */
#ifndef LINES__RATES_H
#define LINES__RATES_H

#include "panels_planes.h"

/* What lines are measured as: in each layout of panels.h; STRIDED with rows of neighbours that begin anywhere in a line
 * of the cache, not where one does; REAL backward, all others being forward. */
enum { LINES__UNALIGNED = LINES__LAYOUTS, LINES__TO_REAL, LINES__RATES };

/* Milliseconds for the same sample; 0 = it cannot be done so. */
struct lines__rates {
    long long n;
    int is_double;
    double cufft[LINES__RATES], panels[LINES__RATES];
    int variant[LINES__RATES]; /* the fastest one of panels, or of planes behind these */
};

/* As text for a wisdom file, with the device's name; nonzero if `text` is that of this device, and sound. */
void lines__rates_print(const struct lines__rates *rates, const char *device, size_t bytes,
                        char text[]);
int lines__rates_scan(const char *text, const char *device, struct lines__rates *rates);

/* What the process knows: of each device by its number. Returns nonzero if it has these rates, whose n and is_double
 * are set. Any thread may call them. */
int lines__rates_find(int device, struct lines__rates *rates);
void lines__rates_keep(int device, const struct lines__rates *rates);

/* The same of up to three axes that one plan of cuFFT transforms together, the last one may be real: lines are
 * contiguous, or neighbours are, which only planes transform. */
struct lines__group_rate {
    long long n[3]; /* 1 = no axis */
    int is_double, is_real;
    double cufft, planes; /* planes: of two complex axes */
    int is_strided, variant;
};
int lines__rates_find_group(int device, struct lines__group_rate *rate);
void lines__rates_keep_group(int device, const struct lines__group_rate *rate);

#endif
