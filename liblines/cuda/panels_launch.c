/* SPDX-License-Identifier: BSD-3-Clause */
#include "panels_planes.h"

#include <stdint.h>

typedef int launch_function(const struct lines__panels *panels,
                            const struct lines__panel_work *work, const void *in, void *out,
                            const void *roots, void *stream);

/* Sorts of lines; the build names the functions, for each precision and kernel. */
#define SORTS(X)                                                                                   \
    X(WHOLE, whole) X(RETAINED, retained) X(STORES, stores) X(R2R, r2r) X(APPLIED, applied)
#define NAME(sort, lines) sort,
enum { SORTS(NAME) };

#define DECLARE(sort, lines)                                                                       \
    launch_function lines__panels_float_0_##lines, lines__panels_float_1_##lines,                  \
        lines__panels_double_0_##lines, lines__panels_double_1_##lines;
SORTS(DECLARE)

#define LIST(sort, lines)                                                                          \
    {{lines__panels_float_0_##lines, lines__panels_float_1_##lines},                               \
     {lines__panels_double_0_##lines, lines__panels_double_1_##lines}},
static launch_function *const launches[][2][LINES__PANEL_KERNELS] = {SORTS(LIST)};

/* Nonzero if all lines of a thread can be read in one access. */
static int is_aligned(const void *array) {
    return (uintptr_t)array % (4 * sizeof(float)) == 0;
}

static int sort_of(const struct lines__panels *panels, const struct lines__panel_work *work) {
    if (work->gap != NULL)
        return RETAINED;
    if (work->targets != NULL)
        return STORES;
    if (work->operation != NULL)
        return APPLIED;
    return panels->r2r.n > 0 ? R2R : WHOLE;
}

/* Without lines there is no launch, which would be an error of the runtime. Modes half-way of neighbouring lines are
 * neighbours, too. */
int lines__panels_launch(const struct lines__panels *panels, const struct lines__panel_work *work,
                         const void *in, void *out, const void *roots, void *stream) {
    struct lines__panels now = *panels;
    if (now.npanels == 0)
        return 0;
    if (now.each > 1) {
        int are_adjacent = work->targets != NULL ? lines__panels_are_adjacent(panels, work->targets)
                                                 : is_aligned(out);
        now.adjacent = are_adjacent && now.adjacent && is_aligned(in);
        now.second = now.adjacent ? 1 : now.width;
    }
    return launches[sort_of(panels, work)][now.is_double][now.kernel](&now, work, in, out, roots,
                                                                      stream);
}

/* ---------------------------------------------------------------- planes */

typedef int launch_planes_function(const struct lines__planes *planes, const void *in, void *out,
                                   const void *roots, void *stream);

/* Both kernels are compiled for the same devices. */
launch_planes_function lines__planes_launch_float, lines__planes_launch_double;
int lines__planes_variants_double(void);

int lines__planes_count_variants(void) {
    return lines__planes_variants_double();
}

int lines__planes_launch(const struct lines__planes *planes, const void *in, void *out,
                         const void *roots, void *stream) {
    return planes->nplanes == 0 ? 0
           : planes->is_double  ? lines__planes_launch_double(planes, in, out, roots, stream)
                                : lines__planes_launch_float(planes, in, out, roots, stream);
}
