/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels.h"

#include <pthread.h>
#include <stdint.h>

typedef int launch_function(const struct fftnd__panels *panels, const struct fftnd__panel_gap *gap,
                            const struct fftnd__panel_parts *parts, const void *in, void *out,
                            const void *roots, void *stream);

launch_function fftnd__panels_float_0, fftnd__panels_float_1, fftnd__panels_double_0,
    fftnd__panels_double_1;

static launch_function *const launches[2][FFTND__PANEL_KERNELS] = {
    {fftnd__panels_float_0, fftnd__panels_float_1},
    {fftnd__panels_double_0, fftnd__panels_double_1}};

/* Addresses may be between those that all lines of a thread can be read from. */
static int is_aligned(const void *array) {
    return (uintptr_t)array % (4 * sizeof(float)) == 0;
}

/* A launch sets an attribute that belongs to the kernel: others must not come in between. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int launch(struct fftnd__panels *panels, int are_adjacent,
                  const struct fftnd__panel_gap *gap, const struct fftnd__panel_parts *parts,
                  const void *in, void *out, const void *roots, void *stream) {
    if (panels->each > 1) {
        panels->adjacent = are_adjacent;
        panels->second = are_adjacent ? 1 : panels->width;
    }
    pthread_mutex_lock(&lock);
    int error =
        launches[panels->is_double][panels->kernel](panels, gap, parts, in, out, roots, stream);
    pthread_mutex_unlock(&lock);
    return error;
}

int fftnd__panels_launch(const struct fftnd__panels *panels, const void *in, void *out,
                         const void *roots, void *stream) {
    struct fftnd__panels now = *panels;
    return launch(&now, now.adjacent && is_aligned(in) && is_aligned(out), NULL, NULL, in, out,
                  roots, stream);
}

/* Modes half-way of neighbouring lines are neighbours. */
int fftnd__panels_launch_retained(const struct fftnd__panels *panels,
                                  const struct fftnd__panel_gap *gap, const void *in, void *out,
                                  const void *roots, void *stream) {
    struct fftnd__panels now = *panels;
    return launch(&now, now.adjacent && is_aligned(in) && is_aligned(out), gap, NULL, in, out,
                  roots, stream);
}

int fftnd__panels_launch_parts(const struct fftnd__panels *panels,
                               const struct fftnd__panel_parts *parts, const void *roots,
                               void *stream) {
    struct fftnd__panels now = *panels;
    return launch(&now, fftnd__panels_are_adjacent(panels, parts), NULL, parts, NULL, NULL, roots,
                  stream);
}
