/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel_plans.h"

#include <cuda_runtime_api.h>
#include <limits.h>
#include <stdint.h>

/* ---------------------------------------------------------------- plans */

struct lines__panel_plan {
    struct lines__panels panels;
    struct lines__planes planes; /* instead of panels, if has_planes */
    int has_planes;
    void *roots; /* on the device */
};

static size_t most_shared_bytes(void) {
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) !=
            cudaSuccess)
        (void)cudaGetLastError();
    return (size_t)bytes;
}

static int narrow(const struct lines__loop *loop, struct lines__panel_loop *result) {
    *result = (struct lines__panel_loop){(unsigned)loop->n, loop->in, loop->out};
    return loop->n <= INT_MAX;
}

static int shape_variant(const struct lines__panel_lines *lines, int variant,
                         struct lines__panels *panels) {
    const redist_index n = lines->axis.n;
    const size_t most = most_shared_bytes();
    return lines->is_r2r
               ? lines__panels_shape_r2r(panels, variant, lines->r2r, n, lines->is_double,
                                         lines->layout, most)
               : lines__panels_shape(panels, variant, n, lines->is_double, lines->layout, most);
}

static int shape_planes(const struct lines__panel_lines *lines, int variant,
                        struct lines__planes *planes) {
    const long long n[2] = {lines->rows.n, lines->axis.n};
    int kind =
        lines->layout == LINES__CONTIGUOUS ? LINES__PLANES_CONTIGUOUS : LINES__PLANES_SIDE_BY_SIDE;
    return variant < lines__planes_count_variants() &&
           lines__planes_shape(planes, variant, n, lines->is_double, kind, most_shared_bytes()) &&
           planes->log_cluster < (unsigned)lines__planes_count_variants();
}

/* Shapes lines as planes, each line one plane: in the variants behind those of panels, or where no panel holds a
 * line. */
static int shape_cut(const struct lines__panel_lines *lines, int variant,
                     struct lines__planes *planes) {
    const int last = lines__planes_count_variants(), is_guess = variant == LINES__PANEL_GUESS,
              cut = is_guess ? variant : variant - LINES__PANEL_VARIANTS;
    return lines->may_cut && lines->layout == LINES__STRIDED && !lines->is_r2r && cut < last &&
           (is_guess || cut >= 0) &&
           lines__planes_shape_lines(planes, cut, lines->axis.n, lines->is_double,
                                     most_shared_bytes()) &&
           planes->log_cluster < (unsigned)last;
}

static int choose(const struct lines__panel_lines *lines, int variant,
                  struct lines__panel_plan *plan) {
    if (lines->rows.n > 0)
        plan->has_planes = shape_planes(lines, variant, &plan->planes);
    else if (variant < LINES__PANEL_VARIANTS && shape_variant(lines, variant, &plan->panels))
        return 1;
    else
        plan->has_planes = shape_cut(lines, variant, &plan->planes);
    return plan->has_planes;
}

int lines__panel_plan_has_variant(const struct lines__panel_lines *lines, int variant) {
    struct lines__panel_plan plan = {.has_planes = 0};
    return choose(lines, variant, &plan);
}

/* Returns nonzero if panels or planes can do it, in the variant or else in another one. */
static int shape(const struct lines__panel_lines *lines, struct lines__panel_plan *plan) {
    struct lines__panel_loop axes[2], side, outer[LINES__PANEL_LOOPS];
    int is_backward = lines->direction == REDIST_BACKWARD, fits = narrow(&lines->rows, &axes[0]) &&
                                                                  narrow(&lines->axis, &axes[1]) &&
                                                                  narrow(&lines->side, &side);
    for (int i = 0; i < lines->nouter && fits; i++)
        fits = narrow(&lines->outer[i], &outer[i]);
    if (!fits || (!choose(lines, lines->variant, plan) && !choose(lines, LINES__PANEL_GUESS, plan)))
        return 0;
    if (lines->filled > 0 && plan->has_planes)
        return 0;
    if (lines->filled > 0 && lines->is_r2r)
        plan->panels.r2r.count[is_backward] = (unsigned)lines->filled;
    else if (lines->filled > 0)
        plan->panels.filled = (unsigned)lines->filled / (lines->layout == LINES__REAL ? 2 : 1);
    plan->planes.backward = is_backward;
    plan->panels.is_double = lines->is_double;
    if (!plan->has_planes && !lines__panels_direct(&plan->panels, is_backward, most_shared_bytes()))
        return 0;
    return plan->has_planes
               ? lines__planes_repeat(&plan->planes, axes, &side, lines->nouter, outer)
               : lines__panels_repeat(&plan->panels, &axes[1], &side, lines->nouter, outer);
}

/* Copies, and waits. The stream is of the library, as a capture may forbid the default one. */
static int copy_to_device(void *to, const void *from, size_t bytes) {
    const redist__space *space = redist_space_at(REDIST_SPACE_CUDA);
    const redist_index count = (redist_index)bytes;
    const ptrdiff_t stride = 1;
    void *stream = space->stream(0);
    REDIST_TRY(
        redist_copy_box_in(REDIST_SPACE_CUDA, stream, 1, &count, 1, from, &stride, to, &stride));
    return space->stream_wait(stream);
}

static int upload_roots(struct lines__panel_plan *plan) {
    size_t bytes = plan->has_planes ? lines__planes_roots_bytes(&plan->planes)
                                    : lines__panels_roots_bytes(&plan->panels);
    void *roots = redist_calloc(1, bytes);
    if (roots == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for roots of one");
    if (plan->has_planes)
        lines__planes_roots(&plan->planes, roots);
    else
        lines__panels_roots(&plan->panels, roots);
    const redist__space *space = redist_space_at(REDIST_SPACE_CUDA);
    int code = space->allocate(bytes, &plan->roots);
    if (code == REDIST_OK)
        code = copy_to_device(plan->roots, roots, bytes);
    redist_release(roots);
    return code;
}

int lines__panel_plan_create(const struct lines__panel_lines *lines,
                             struct lines__panel_plan **result) {
    struct lines__panel_plan shaped = {.roots = NULL};
    *result = NULL;
    if (!shape(lines, &shaped))
        return REDIST_OK;
    struct lines__panel_plan *plan = redist_calloc(1, sizeof *plan);
    if (plan == NULL)
        return redist_fail_in("libfftnd", REDIST_ERR_MEMORY, "no memory for a transform of lines");
    *plan = shaped;
    int code = upload_roots(plan);
    if (code == REDIST_OK)
        *result = plan;
    else
        lines__panel_plan_destroy(plan);
    return code;
}

/* Nonzero if pairs of real numbers can be read and written at once, where they have to be. */
static int is_aligned(const struct lines__panels *panels, const void *array) {
    return panels->r2r.n > 0 || (uintptr_t)array % (panels->is_double ? 16 : 8) == 0;
}

static int check_alignment(const struct lines__panel_plan *plan, const void *in, const void *out) {
    return is_aligned(&plan->panels, in) && is_aligned(&plan->panels, out)
               ? REDIST_OK
               : redist_fail_in("libfftnd", REDIST_ERR_SERIAL,
                                "lines at %p and %p are not aligned to complex elements", in, out);
}

static int check_targets(const struct lines__panel_plan *plan, const void *in,
                         const struct lines__panel_targets *targets) {
    for (const struct lines__panel_target *target = targets->target;; target++) {
        REDIST_TRY(check_alignment(plan, in, target->base));
        if (target->end >= lines__panels_end(&plan->panels))
            return REDIST_OK;
    }
}

int lines__panel_plan_execute(const struct lines__panel_plan *plan,
                              const struct lines__panel_work *work, const void *in, void *out,
                              void *stream) {
    REDIST_TRY(work->targets != NULL ? check_targets(plan, in, work->targets)
                                     : check_alignment(plan, in, out));
    int error = plan->has_planes
                    ? lines__planes_launch(&plan->planes, in, out, plan->roots, stream)
                    : lines__panels_launch(&plan->panels, work, in, out, plan->roots, stream);
    return redist_space_at(REDIST_SPACE_CUDA)->check_call(error, "a kernel that transforms lines");
}

void lines__panel_plan_scale(struct lines__panel_plan *plan, double factor) {
    plan->panels.scale = plan->planes.scale = factor;
}

void lines__panel_plan_destroy(struct lines__panel_plan *plan) {
    if (plan == NULL)
        return;
    redist_space_at(REDIST_SPACE_CUDA)->release(plan->roots);
    redist_release(plan);
}

int lines__panels_truncate(redist_index n, int is_halved, enum fftnd_precision precision) {
    struct lines__panels panels;
    return lines__panels_shape(&panels, LINES__PANEL_GUESS, n, precision == FFTND_DOUBLE,
                               is_halved ? LINES__REAL : LINES__STRIDED, most_shared_bytes());
}

/* Assumes the shared memory of a usual device, for the same result on all ranks. Above 256 MiB the copy was 12 % of a
 * pair (docs/performance-notebook.md, "Lines on one GPU"). */
int lines__panels_prefer_copy(int naxes, const redist_index lengths[],
                              enum fftnd_precision precision) {
    static const double cached_bytes = 1 << 28;
    enum { SHARED_BYTES = 160 << 10 };
    int is_double = precision == FFTND_DOUBLE, prefers = 0;
    double bytes = is_double ? sizeof(double) : sizeof(float);
    for (int i = 0; i < naxes; i++) {
        struct lines__panels panels;
        bytes *= (double)lengths[i];
        prefers = prefers || !lines__panels_shape(&panels, LINES__PANEL_GUESS, lengths[i],
                                                  is_double, LINES__STRIDED, SHARED_BYTES);
    }
    return prefers || bytes < cached_bytes;
}
