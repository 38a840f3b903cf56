/* SPDX-License-Identifier: BSD-3-Clause */
/* Wavenumbers of the elements of the spectral side. */
#include "program.h"

const struct fftnd__r2r_kind fftnd__r2r_kinds[] = {
    [FFTND_DCT1] = {FFTND_DCT1, FFTND__COSINES, 0, LINES__NYQUIST_NONE},
    [FFTND_DCT2] = {FFTND_DCT3, FFTND__COSINES, 0, LINES__NYQUIST_NONE},
    [FFTND_DCT3] = {FFTND_DCT2, FFTND__COSINES, 0.5, LINES__NYQUIST_NONE},
    [FFTND_DCT4] = {FFTND_DCT4, FFTND__COSINES, 0.5, LINES__NYQUIST_NONE},
    [FFTND_DST1] = {FFTND_DST1, FFTND__SINES, 1, LINES__NYQUIST_NONE},
    [FFTND_DST2] = {FFTND_DST3, FFTND__SINES, 1, LINES__NYQUIST_NONE},
    [FFTND_DST3] = {FFTND_DST2, FFTND__SINES, 0.5, LINES__NYQUIST_NONE},
    [FFTND_DST4] = {FFTND_DST4, FFTND__SINES, 0.5, LINES__NYQUIST_NONE},
    [FFTND_R2HC] = {FFTND_HC2R, FFTND__HARTLEY, 0, LINES__NYQUIST_ALONE},
    [FFTND_HC2R] = {FFTND_R2HC, FFTND__POINTS, 0, LINES__NYQUIST_NONE},
    [FFTND_DHT] = {FFTND_DHT, FFTND__HARTLEY, 0, LINES__NYQUIST_PAIR}};

/* Returns the wavenumber of element `n` of a real-to-real axis of the spectral side. */
static double wavenumber_r2r(enum fftnd_r2r r2r, redist_index n, redist_index modes) {
    int is_negative =
        (r2r == FFTND_R2HC && n > modes / 2) || (r2r == FFTND_DHT && n >= (modes + 1) / 2);
    return fftnd__r2r_kinds[r2r].lowest + (double)(is_negative ? n - modes : n);
}

/* Returns the mode at a place of the spectral side of one long axis: that of its row and column, n0 modes apart. */
static redist_index long_mode(const struct fftnd__transform *transform, redist_index place) {
    const struct fftnd__chain *chain = &transform->chain;
    const int *memory = transform->memory[FFTND_SPECTRAL];
    redist_index columns = chain->points[memory[1]], mode[2];
    mode[memory[0]] = place / columns;
    mode[memory[1]] = place % columns;
    return mode[0] + chain->points[0] * mode[1];
}

double fftnd__wavenumber(const struct fftnd__transform *transform, int axis, redist_index n) {
    const struct fftnd__chain *chain = &transform->chain;
    redist_index modes = chain->modes[axis];
    if (chain->twiddles) {
        modes = chain->points[0] * chain->points[1];
        n = long_mode(transform, n);
    }
    if (fftnd__is_r2r(transform, axis))
        return wavenumber_r2r(transform->r2r[REDIST_FORWARD][axis], n, modes);
    int is_negative = chain->axes[axis] == FFTND_AXIS_COMPLEX && n >= (modes + 1) / 2;
    return (double)(is_negative ? n - modes : n);
}
