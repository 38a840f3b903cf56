/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chain sends, and the order of axes whose chain sends least. */
#include "../../liblines/lines.h"
#include "planner.h"

#include <string.h>

/* There are d! orders: with more axes the usual one has to do. */
enum { MOST_AXES = 7 };

/* The largest part of an axis. */
static double largest_part(redist_index n, int nparts) {
    return (double)((n + nparts - 1) / nparts);
}

/* The grid dimension that splits the axis at a place of the order when grid dimension `dim` exchanges, and dimensions
 * behind it have done so; -1 = the axis is whole. */
static int find_splitting(const struct fftnd__request *request,
                          const struct fftnd__configuration *configuration, int dim, int place) {
    const enum fftnd_axis *axes = request->shape.axes;
    const int *order = configuration->order;
    int n = configuration->grid_ndims;
    if (place <= dim || (place < n && fftnd__stays_split(axes, order[place])))
        return place;
    for (int i = dim + 1; i < n; i++)
        if (!fftnd__stays_split(axes, order[i]) &&
            fftnd__place_split_next(axes, order, n, i) == place)
            return i;
    return -1;
}

/* Elements of the axis at a place of the order when grid dimension `dim` exchanges. */
static redist_index extent_at(const struct fftnd__request *request, const int order[], int dim,
                              int place) {
    return place <= dim ? request->shape.filled[order[place]]
                        : fftnd__request_extent(request, order[place]);
}

/* Whether the elements are real when grid dimension `dim` exchanges. */
static int is_real(const struct fftnd__request *request, const int order[], int dim) {
    const struct fftnd__shape *shape = &request->shape;
    for (int i = 0; i < shape->ndims; i++)
        if (order[i] == shape->halved)
            return i <= dim;
    for (int i = 0; i < shape->ndims; i++)
        if (shape->axes[i] == FFTND_AXIS_COMPLEX)
            return 0;
    return 1;
}

double fftnd__local_bytes(const struct fftnd__request *request,
                          const struct fftnd__configuration *configuration, int dim) {
    const int *order = configuration->order;
    double bytes = (double)lines__item_bytes(request->precision, is_real(request, order, dim)) *
                   request->settings.batch;
    for (int i = 0; i < request->shape.ndims; i++) {
        int split_by = find_splitting(request, configuration, dim, i);
        bytes *= largest_part(extent_at(request, order, dim, i),
                              split_by < 0 ? 1 : configuration->grid[split_by]);
    }
    return bytes;
}

/* ---------------------------------------------------------------- the least of all orders */

int fftnd__exchanges(const struct fftnd__request *request,
                     const struct fftnd__configuration *configuration, int dim) {
    return configuration->grid[dim] > 1 &&
           !fftnd__stays_split(request->shape.axes, configuration->order[dim]);
}

/* Elements of a balanced part. */
static uint64_t part_of(redist_index extent, int nparts, int part) {
    redist_index count = 0, start;
    (void)redist_decompose(extent, nparts, part, &count, &start);
    return (uint64_t)count;
}

/* Bytes of a rank's array before the exchange of grid dimension `dim`, for each element of the axis that is whole. */
static uint64_t row_bytes(const struct fftnd__request *request,
                          const struct fftnd__configuration *configuration, const int coords[],
                          int dim, int whole) {
    const int *order = configuration->order;
    uint64_t bytes = lines__item_bytes(request->precision, is_real(request, order, dim)) *
                     (uint64_t)request->settings.batch;
    for (int i = 0; i < request->shape.ndims; i++) {
        redist_index extent = extent_at(request, order, dim, i);
        int split_by = find_splitting(request, configuration, dim, i);
        if (i != whole)
            bytes *= split_by < 0
                         ? (uint64_t)extent
                         : part_of(extent, configuration->grid[split_by], coords[split_by]);
    }
    return bytes;
}

/* Elements of the whole axis that go to other ranks along grid dimension `dim`, whose neighbours are `stride` ranks
 * apart. */
static uint64_t sent_rows(redist_index extent, int nparts, int part, int rank, int stride,
                          const int node_of[]) {
    uint64_t sum = 0;
    if (node_of == NULL)
        return (uint64_t)extent - part_of(extent, nparts, part);
    for (int i = 0; i < nparts; i++)
        if (node_of[rank + (i - part) * stride] != node_of[rank])
            sum += part_of(extent, nparts, i);
    return sum;
}

uint64_t fftnd__sent_bytes(const struct fftnd__request *request,
                           const struct fftnd__configuration *configuration, int rank,
                           const int node_of[]) {
    const int *order = configuration->order, *grid = configuration->grid;
    int n = configuration->grid_ndims, coords[REDIST_MAX_NDIMS];
    uint64_t sum = 0;
    for (int dim = n - 1, rest = rank; dim >= 0; rest /= grid[dim--])
        coords[dim] = rest % grid[dim];
    for (int dim = n - 1, stride = 1; dim >= 0; stride *= grid[dim--]) {
        int whole = fftnd__place_split_next(request->shape.axes, order, n, dim);
        if (fftnd__exchanges(request, configuration, dim))
            sum += row_bytes(request, configuration, coords, dim, whole) *
                   sent_rows(extent_at(request, order, dim, whole), grid[dim], coords[dim], rank,
                             stride, node_of);
    }
    return sum;
}

/* The next permutation of places in lexicographic order; 0 = there is none. */
static int permute(int n, int places[]) {
    int i = n - 2, j = n - 1;
    while (i >= 0 && places[i] > places[i + 1])
        i--;
    if (i < 0)
        return 0;
    while (places[j] < places[i])
        j--;
    int swapped = places[i];
    places[i] = places[j];
    places[j] = swapped;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        swapped = places[a];
        places[a] = places[b];
        places[b] = swapped;
    }
    return 1;
}

/* Of orders that send as much the one that differs least from the usual one stays. */
static void take_least(const struct fftnd__request *request,
                       struct fftnd__configuration *configuration) {
    const struct fftnd__shape *shape = &request->shape;
    const struct fftnd__configuration usual = *configuration;
    struct fftnd__configuration trial = usual;
    int places[REDIST_MAX_NDIMS];
    for (int i = 0; i < shape->ndims; i++)
        places[i] = i;
    uint64_t least = fftnd__sent_bytes(request, &usual, 0, NULL);
    while (least > 0 && permute(shape->ndims, places)) {
        for (int i = 0; i < shape->ndims; i++)
            trial.order[i] = usual.order[places[i]];
        uint64_t bytes = fftnd__sent_bytes(request, &trial, 0, NULL);
        if (fftnd__most_grid_ndims(shape, trial.order) < usual.grid_ndims || bytes >= least)
            continue;
        least = bytes;
        *configuration = trial;
    }
}

void fftnd__order_guess(const struct fftnd__request *request,
                        struct fftnd__configuration *configuration) {
    if (request->has_order)
        memcpy(configuration->order, request->order, sizeof request->order);
    else if (request->mixes_kinds && request->shape.ndims <= MOST_AXES)
        take_least(request, configuration);
}
