/* SPDX-License-Identifier: BSD-3-Clause */
/* Who owns what and how it lies in memory, compared with the promises: see fft_layout.h. */
#include "fft_layout.h"
#include "redist_support.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fft_array.h"
#include "fft_sides.h"

static const char *REDIST_PRINTF(1, 2) fault(const char *format, ...) {
    static char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return text;
}

static size_t round_up(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

/* Nonzero if an array of a side may be written beyond the result of the transform. */
static int gives_up_arrays(const fft_case *given) {
    return given->options.in_place || given->options.overwrite_input;
}

/* ---------------------------------------------------------------- info */

static const char *grid_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info) {
    int nranks;
    int product = 1;
    MPI_Comm_size(comm, &nranks);
    const int highest = given->ndims > 1 ? given->ndims - 1 : 1;
    if (info->grid_ndims < (nranks > 1 ? 1 : 0) || info->grid_ndims > highest) {
        return fault("grid_ndims is %d", info->grid_ndims);
    }
    if (given->options.grid_ndims != 0 && given->options.grid_ndims != info->grid_ndims) {
        return fault("grid_ndims is %d, asked for %d", info->grid_ndims, given->options.grid_ndims);
    }
    for (int i = 0; i < info->grid_ndims; i++) {
        product *= info->grid[i];
        if (given->options.grid_ndims != 0 && given->grid[i] != 0 &&
            given->grid[i] != info->grid[i]) {
            return fault("grid[%d] is %d, asked for %d", i, info->grid[i], given->grid[i]);
        }
    }
    return product == nranks ? NULL : fault("a grid of %d for %d ranks", product, nranks);
}

static const char *order_fault(const fft_case *given, const fftnd_plan_info *info) {
    int axes[REDIST_MAX_NDIMS];
    fft_case_chain(given, info, axes);
    for (int i = 0; i < given->ndims; i++) {
        if (info->order[i] != axes[i]) {
            return fault("order[%d] is %d, not %d", i, info->order[i], axes[i]);
        }
    }
    return NULL;
}

/* Subgroups of one rank need no exchange, all others do; boxes only where they are not what the chain has. */
static const char *exchanges_fault(const fft_case *given, const fftnd_plan_info *info) {
    const int back = given->options.alignment == FFTND_ALIGN_INPUT && !given->has_split[1] &&
                     !given->has_box[FFTND_SPECTRAL];
    int fewest = fft_sides_chain_exchanges(given, info);
    fewest += back && fewest > 0;
    const int moves = fft_sides_are_usual(given) ? 0 : 2;
    if (info->nexchanges < fewest || info->nexchanges > info->grid_ndims + back + moves) {
        return fault("nexchanges is %d", info->nexchanges);
    }
    return NULL;
}

static const char *method_fault(const fft_case *given, const fftnd_plan_info *info,
                                int has_workspace) {
    const char *asked = given->options.method;
    if (info->method == NULL) {
        return fault("method is NULL");
    }
    if (info->nexchanges == 0 || !has_workspace) {
        return strcmp(info->method, "none") == 0 ? NULL : fault("method is \"%s\"", info->method);
    }
    if (asked != NULL && strcmp(asked, "auto") != 0 &&
        strncmp(asked, info->method, strlen(asked)) != 0) {
        return fault("method is %s, asked for %s", info->method, asked);
    }
    return strcmp(info->method, "none") != 0 ? NULL : fault("no method for an exchange");
}

/* Where a rank is in the grid: with by_node, behind all ranks of nodes whose lowest rank is lower. */
static int place_in_grid(const fft_case *given, MPI_Comm comm) {
    const int *node_of;
    int rank, size, nnodes, place = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (!given->options.by_node || redist_nodes(comm, 0, &nnodes, &node_of) != REDIST_OK) {
        return rank;
    }
    for (int other = 0; other < size; other++) {
        place +=
            node_of[other] < node_of[rank] || (node_of[other] == node_of[rank] && other < rank);
    }
    return place;
}

static const char *workspace_fault(const fft_case *given, MPI_Comm comm,
                                   const fftnd_plan_info *info) {
    const int rank = place_in_grid(given, comm);
    const size_t array = round_up(fft_case_largest_bytes(given, info, rank));
    const int one_will_do = gives_up_arrays(given) && !given->drops_modes && !given->drops_points &&
                            given->options.local_transpose != FFTND_LOCAL_TRANSPOSE_ALWAYS;
    const size_t most = (one_will_do ? 1 : 2) * array;
    if (given->options.space == REDIST_SPACE_CUDA) {
        return NULL; /* scratch of cuFFT is not known here */
    }
    if (info->workspace_bytes > most && fft_sides_are_usual(given)) {
        return fault("workspace_bytes is %zu, more than %zu", info->workspace_bytes, most);
    }
    return NULL;
}

static const char *scale_fault(const char *name, double value, double expected) {
    if (fabs(value - expected) <= 1e-14 * expected) {
        return NULL;
    }
    return fault("%s is %.17g instead of %.17g", name, value, expected);
}

static const char *scales_fault(const fft_case *given, const fftnd_plan_info *info) {
    const char *found = scale_fault("scale_forward", info->scale_forward,
                                    (double)fft_case_scale(given, FFTND_PHYSICAL));
    return found != NULL ? found
                         : scale_fault("scale_backward", info->scale_backward,
                                       (double)fft_case_scale(given, FFTND_SPECTRAL));
}

const char *fft_info_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info,
                           int has_workspace) {
    const char *found = grid_fault(given, comm, info);
    found = found != NULL ? found : order_fault(given, info);
    found = found != NULL ? found : exchanges_fault(given, info);
    found = found != NULL ? found : method_fault(given, info, has_workspace);
    found = found != NULL ? found : workspace_fault(given, comm, info);
    found = found != NULL ? found : scales_fault(given, info);
    if (found == NULL && info->threads != given->options.threads) {
        found = fault("threads is %d", info->threads);
    }
    if (found == NULL && !(info->exchange_seconds >= 0 && info->serial_seconds >= 0)) {
        found = fault("times %g and %g", info->exchange_seconds, info->serial_seconds);
    }
    return found;
}

/* ---------------------------------------------------------------- layout */

static int own_rank(MPI_Comm comm) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    return rank;
}

static const char *part_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info,
                              enum fftnd_side side, const fftnd_layout *layout) {
    int size[REDIST_MAX_NDIMS];
    int start[REDIST_MAX_NDIMS];
    int count[REDIST_MAX_NDIMS];
    const int rank = given->has_box[side] ? own_rank(comm) : place_in_grid(given, comm);
    int nranks;
    MPI_Comm_size(comm, &nranks);
    fft_case_sizes(given, side, size);
    fft_sides_part(given, side, info, nranks, rank, start, count);
    if (layout->ndims != given->ndims) {
        return fault("ndims is %d", layout->ndims);
    }
    for (int axis = 0; axis < given->ndims; axis++) {
        if (layout->sizes[axis] != size[axis]) {
            return fault("sizes[%d] is %lld, not %d", axis, (long long)layout->sizes[axis],
                         size[axis]);
        }
        if (layout->count[axis] != count[axis]) {
            return fault("count[%d] is %lld, not %d", axis, (long long)layout->count[axis],
                         count[axis]);
        }
        if (count[axis] > 0 && layout->start[axis] != start[axis]) {
            return fault("start[%d] is %lld, not %d", axis, (long long)layout->start[axis],
                         start[axis]);
        }
    }
    return NULL;
}

static const char *bytes_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info,
                               const fft_walk *walk) {
    const int rank = place_in_grid(given, comm);
    const size_t bytes = walk->layout->bytes;
    const size_t least = walk->nelements * (size_t)walk->nfields * walk->layout->element_bytes;
    const size_t most =
        gives_up_arrays(given) ? round_up(fft_case_largest_bytes(given, info, rank)) : least;
    if (bytes < least || (bytes > most && fft_sides_are_usual(given))) {
        return fault("bytes is %zu, not between %zu and %zu", bytes, least, most);
    }
    return NULL;
}

static const char *stride_fault(const fft_case *given, const fftnd_plan_info *info,
                                enum fftnd_side side, const fftnd_layout *layout) {
    const int is_last = given->options.batch_position == FFTND_BATCH_LAST;
    const ptrdiff_t unit = is_last ? given->options.batch : 1;
    ptrdiff_t stride[REDIST_MAX_NDIMS];
    fft_sides_strides(given, side, info, layout->count, stride);
    for (int axis = layout->ndims - 1; axis >= 0; axis--) {
        if (layout->stride[axis] != unit * stride[axis]) {
            return fault("stride[%d] is %td, not %td", axis, layout->stride[axis],
                         unit * stride[axis]);
        }
    }
    return is_last && given->options.batch > 1 && layout->batch_stride != 1
               ? fault("batch_stride is %td", layout->batch_stride)
               : NULL;
}

/* Each element has bytes of its own, inside the array. */
static const char *places_fault(const fft_walk *walk) {
    const fftnd_layout *layout = walk->layout;
    const size_t nplaces = layout->bytes / layout->element_bytes;
    unsigned char *taken = calloc(nplaces + 1, 1);
    const char *found = NULL;
    for (size_t which = 0; which < walk->nelements * (size_t)walk->nfields; which++) {
        const fft_place place = fft_walk_place(walk, which);
        const size_t at = (size_t)place.offset / layout->element_bytes;
        if (place.offset < 0 || at >= nplaces || taken[at]) {
            found = fault("element %zu of field %d lies outside or on another, at %td",
                          which % walk->nelements, place.field, place.offset);
            break;
        }
        taken[at] = 1;
    }
    free(taken);
    return found;
}

const char *fft_layout_fault(const fft_case *given, MPI_Comm comm, const fftnd_plan_info *info,
                             enum fftnd_side side, const fftnd_layout *layout) {
    const size_t element_bytes =
        fft_case_number_bytes(given) * (size_t)fft_case_components(given, side);
    const char *found = part_fault(given, comm, info, side, layout);
    if (found != NULL) {
        return found;
    }
    if (layout->element_bytes != element_bytes) {
        return fault("element_bytes is %zu", layout->element_bytes);
    }
    const fft_walk walk = fft_walk_make(layout, given->options.batch);
    found = bytes_fault(given, comm, info, &walk);
    if (found == NULL && walk.nelements > 0) {
        found = stride_fault(given, info, side, layout);
    }
    return found != NULL ? found : places_fault(&walk);
}
