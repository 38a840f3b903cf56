/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels.h"

#include <pthread.h>
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

/* A launch sets an attribute that belongs to the kernel: others must not come in between. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int fftnd__panels_launch(const struct fftnd__panels *panels, const void *in, void *out,
                         const void *roots, void *stream) {
    struct fftnd__panels now = *panels;
    if (now.adjacent && !(is_aligned(in) && is_aligned(out))) {
        now.adjacent = 0;
        now.second = now.width;
    }
    pthread_mutex_lock(&lock);
    int error = launches[now.is_double][now.kernel](&now, in, out, roots, stream);
    pthread_mutex_unlock(&lock);
    return error;
}
