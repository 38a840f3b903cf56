/* SPDX-License-Identifier: BSD-3-Clause */
#include "r2r_factor.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* pi times `turns` / n: less than two pi before anything is rounded, so that long lines are no less exact. */
static double angle_of(double turns, double n) {
    return pi * fmod(turns, 2 * n) / n;
}

/* Halfcomplex, and the Hartley transform. Imaginary parts stand at n - mode, hence no minus. */
static double fourier_factor(enum fftnd_r2r kind, double n, double j, double k) {
    double angle = angle_of(2 * j * k, n);
    if (kind == FFTND_DHT)
        return cos(angle) + sin(angle);
    double mode = kind == FFTND_R2HC ? k : j;
    int is_mirrored = kind == FFTND_HC2R && mode > 0 && 2 * mode != n;
    return (is_mirrored ? 2 : 1) * (2 * mode <= n ? cos(angle) : sin(angle));
}

double r2r_factor(enum fftnd_r2r kind, double n, double j, double k) {
    if (kind > FFTND_DST4)
        return fourier_factor(kind, n, j, k);
    static const struct {
        double more, j, k; /* of the extent, of both indices */
        int is_sine, ends; /* `ends`: 1 = the first element counts once, 2 = the last */
    } kinds[] = {[FFTND_DCT1] = {-1, 0, 0, 0, 3}, [FFTND_DCT2] = {0, .5, 0, 0, 0},
                 [FFTND_DCT3] = {0, 0, .5, 0, 1}, [FFTND_DCT4] = {0, .5, .5, 0, 0},
                 [FFTND_DST1] = {1, 1, 1, 1, 0},  [FFTND_DST2] = {0, .5, 1, 1, 0},
                 [FFTND_DST3] = {0, 1, .5, 1, 2}, [FFTND_DST4] = {0, .5, .5, 1, 0}};
    double angle = angle_of((j + kinds[kind].j) * (k + kinds[kind].k), n + kinds[kind].more);
    int once = (j == 0 && kinds[kind].ends & 1) || (j == n - 1 && kinds[kind].ends & 2);
    return (once ? 1 : 2) * (kinds[kind].is_sine ? sin(angle) : cos(angle));
}
