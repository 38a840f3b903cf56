/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real-to-real transforms in panels.h: which number each point of a Fourier transform is, and what is done with the
 * points before and after it. All is linear, so that two real lines are the real and imaginary part of one complex
 * line. DCT-II and DCT-III reorder the line (Makhoul, "A fast cosine transform in one and two dimensions", 1980), types
 * I extend it by symmetry, types IV are one complex line of half the length.
 */
#ifndef LINES__PANELS_R2R_H
#define LINES__PANELS_R2R_H

#include "../on_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Points i and sum - i of the Fourier transform are read, or written, together, for all i up to sum / 2: as elements
 * first[0] + step[0] * i and first[1] + step[1] * i of a line, which are neighbours or the same, or because they are
 * combined. Point n is point 0; a point that would be no element of the line is none. */
struct lines__panel_map {
    unsigned sum;
    int first[2], step[2];
    int negates; /* the second points */
    int is_halved; /* points are real and imaginary part of a mode, element i of a halved line; one is a real mode */
};

/* Ends of the transform at which points are changed. */
enum { LINES__BEFORE = 1, LINES__AFTER = 2 };

struct lines__panel_r2r {
    int r2r;           /* r2r_lines.h */
    unsigned n;        /* elements of a line; 0 = lines are complex */
    unsigned count[2]; /* of them in the input, others being zero, and in the output; usually n */
    int changes;       /* ends at which points x[i] are multiplied by factors w[i] */
    int combines; /* ends at which conj(w[i]) x[n - i] is added; before the transform, its transpose: conj(w[n - i]) */
    int folds; /* a point is made of elements i and n - 1 - i of one line, else of element i of two lines */
    int conjugates; /* the results */
    struct lines__panel_map in, out;
};

/* Number of points of the Fourier transform; 0 = panels cannot. */
long long lines__r2r_points(int r2r, long long n);

struct lines__panel_r2r lines__r2r_describe(int r2r, unsigned n);

/* The factor of point i. */
void lines__r2r_factor(const struct lines__panel_r2r *r2r, unsigned i, double factor[2]);

/* The point that is read or written with point i; i = none. */
static inline LINES__ON_DEVICE unsigned lines__r2r_partner(const struct lines__panel_map *map,
                                                           unsigned n, unsigned i) {
    return map->sum - i < n ? map->sum - i : 0;
}

/* The element of the first or the second of two points. */
static inline LINES__ON_DEVICE unsigned lines__r2r_element(const struct lines__panel_map *map,
                                                           unsigned i, int is_second) {
    return is_second ? (unsigned)(map->first[1] + map->step[1] * (int)i)
                     : (unsigned)(map->first[0] + map->step[0] * (int)i);
}

#ifdef __cplusplus
}
#endif

#endif
