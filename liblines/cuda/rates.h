/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates of lines of each length on devices: measured in this process or before. */
#ifndef LINES__RATES_H
#define LINES__RATES_H

#include "panel_plans.h"

#include <stdint.h>

/* Values of `bytes` bytes that the process has measured, by numbers that stand for what they are of; any thread may
 * find and put them. What exceeds the table is measured again. */
enum { LINES__MOST_KEPT = 512 };
struct lines__kept {
    size_t bytes;
    void *values; /* as many */
    int count;
    uint64_t keys[LINES__MOST_KEPT];
};
int lines__kept_find(const struct lines__kept *kept, uint64_t key, void *value);
void lines__kept_put(struct lines__kept *kept, uint64_t key, const void *value);

/* The number of what `key` stands for and one more property of it. */
uint64_t lines__mix(uint64_t key, long long value);

/* Kinds of lines that have rates: each layout of panels.h; STRIDED with rows of neighbours that do not begin with a
 * line of the cache; REAL backward, all others being forward. */
enum { LINES__UNALIGNED = LINES__LAYOUTS, LINES__TO_REAL, LINES__RATES };

/* Milliseconds for a sample; 0 = cannot. */
struct lines__rates {
    long long n;
    int is_double;
    double cufft[LINES__RATES], panels[LINES__RATES];
    int variant[LINES__RATES]; /* the fastest one of panels, or of planes (LINES__LINE_VARIANTS) */
};

/* Writes rates as text for wisdom, with the device's name; reads them, 0 if `text` is of another device or damaged. */
void lines__rates_print(const struct lines__rates *rates, const char *device, size_t bytes,
                        char text[]);
int lines__rates_scan(const char *text, const char *device, struct lines__rates *rates);

/* Looks up the rates of lines on a device by its number, for n and is_double; 0 = unknown. Keeps them. Any thread may
 * call these. */
int lines__rates_find(int device, struct lines__rates *rates);
void lines__rates_keep(int device, const struct lines__rates *rates);

/* The rate of up to three axes that one plan of cuFFT transforms together, the last one perhaps real: contiguous lines,
 * or neighbours, which only planes transform. */
struct lines__group_rate {
    long long n[3];                  /* 1 = no axis */
    int is_double, is_real, to_real; /* real: on some side, in the output */
    double cufft, planes;            /* planes: of two complex axes */
    int is_strided, variant;
};
int lines__rates_find_group(int device, struct lines__group_rate *rate);
void lines__rates_keep_group(int device, const struct lines__group_rate *rate);

/* ---------------------------------------------------------------- of the current device */

/* The rates of lines of n elements in a problem's precision on the current device: measured once for each length,
 * precision and device, in some milliseconds, or a guess if `measures` is 0 or no memory is left. The environment
 * variable FFTND_LINES overrides them, for tests: cufft, or panels, perhaps with the number of a variant. */
struct lines__rates lines__rates_of_lines(const struct lines__problem *problem, redist_index n,
                                          int measures);

/* Finds the rate of a group. It is measured if LINES__SAMPLE_BYTES hold one, else .cufft is 0; .planes is 0 where
 * planes cannot. FFTND_LINES=planes, perhaps with the number of a variant, takes planes wherever they can, and panels
 * elsewhere. */
void lines__rates_of_group(struct lines__group_rate *rate, void *stream);

/* REDIST_OK, or REDIST_ERR_ARGUMENT if FFTND_LINES has a value that it cannot have. */
int lines__rates_check(const char *function);

/* Nonzero if FFTND_LINES is set. */
int lines__rates_are_dictated(void);

/* Bytes of the complex arrays that rates are of, which exceed the caches of devices; and bytes of the smallest array
 * for which rates are measured: smaller ones take as long as their launches. */
enum { LINES__SAMPLE_BYTES = 1 << 27, LINES__MEASURED_BYTES = 1 << 20 };

/* Reads the rates of all these lengths from wisdom, or measures and stores them. As the functions of wisdom. */
int lines__rates_learn(const struct lines__wisdom *wisdom, int nlengths,
                       const redist_index lengths[], enum fftnd_precision precision);

#endif
