/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels.h"

#include <stdint.h>

typedef int launch_function(const struct fftnd__panels *panels, const void *in, void *out,
                            const void *roots, void *stream);

launch_function fftnd__panels_float_0, fftnd__panels_float_1, fftnd__panels_double_0,
    fftnd__panels_double_1;

static launch_function *const launches[2][FFTND__PANEL_KERNELS] = {
    {fftnd__panels_float_0, fftnd__panels_float_1},
    {fftnd__panels_double_0, fftnd__panels_double_1}};

/* Addresses of floats may be between those that two complex numbers can be read from. */
static int is_aligned(const void *array) {
    return (uintptr_t)array % (4 * sizeof(float)) == 0;
}

int fftnd__panels_launch(const struct fftnd__panels *panels, const void *in, void *out,
                         const void *roots, void *stream) {
    struct fftnd__panels now = *panels;
    if (now.adjacent && !(is_aligned(in) && is_aligned(out))) {
        now.adjacent = 0;
        now.second = now.width;
    }
    return launches[now.is_double][now.kernel](&now, in, out, roots, stream);
}
