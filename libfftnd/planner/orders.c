/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chain sends, and the order of axes whose chain sends least. */
#include "../../liblines/lines.h"
#include "planner.h"

#include <string.h>

/* There are d! orders: with more axes the usual one has to do. */
enum { MOST_AXES = 7 };

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
static redist_index extent_at(const struct fftnd__request *request,
                              const struct fftnd__configuration *configuration, int dim,
                              int place) {
    const int *order = configuration->order;
    return place <= dim || fftnd__is_late(&request->shape, order, configuration->grid_ndims, place)
               ? request->shape.filled[order[place]]
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

/* Bytes of a rank's array before the exchange of grid dimension `dim`, for each element of the axis that is whole; -1 =
 * of all of it. */
static uint64_t row_bytes(const struct fftnd__request *request,
                          const struct fftnd__configuration *configuration, const int coords[],
                          int dim, int whole) {
    const int *order = configuration->order;
    uint64_t bytes = lines__item_bytes(request->precision, is_real(request, order, dim)) *
                     (uint64_t)request->settings.batch;
    for (int i = 0; i < request->shape.ndims; i++) {
        redist_index extent = extent_at(request, configuration, dim, i);
        int split_by = find_splitting(request, configuration, dim, i);
        if (i != whole)
            bytes *= split_by < 0
                         ? (uint64_t)extent
                         : part_of(extent, configuration->grid[split_by], coords[split_by]);
    }
    return bytes;
}

/* The first parts of an axis are the largest. */
double fftnd__local_bytes(const struct fftnd__request *request,
                          const struct fftnd__configuration *configuration, int dim) {
    static const int first[REDIST_MAX_NDIMS];
    return (double)row_bytes(request, configuration, first, dim, -1);
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
                   sent_rows(extent_at(request, configuration, dim, whole), grid[dim], coords[dim],
                             rank, stride, node_of);
    }
    return sum;
}

/* ---------------------------------------------------------------- the least of all orders */

int fftnd__has_room(const struct fftnd__request *request,
                    const struct fftnd__configuration *configuration) {
    const enum fftnd_axis *axes = request->shape.axes;
    const int *order = configuration->order, *grid = configuration->grid;
    for (int i = 0; i < configuration->grid_ndims; i++) {
        int next = fftnd__place_split_next(axes, order, configuration->grid_ndims, i);
        if (grid[i] > request->shape.filled[order[i]] ||
            (!fftnd__stays_split(axes, order[i]) &&
             grid[i] > extent_at(request, configuration, i, next)))
            return 0;
    }
    return 1;
}

/* Orders of the same axes, in lexicographic order of their places in the usual one. */
struct orders {
    const struct fftnd__request *request;
    struct fftnd__configuration usual, trial, *best;
    int has_room;   /* the usual one leaves no rank without elements */
    uint64_t least; /* bytes that the best one sends */
};

/* Tries all orders with the axes of the trial before `place`, of which `used` has a bit each. Of orders that send as
 * much the one that differs least from the usual one stays. */
static void try_orders(struct orders *orders, int place, unsigned used) {
    const struct fftnd__shape *shape = &orders->request->shape;
    for (int i = 0; i < shape->ndims && orders->least > 0; i++)
        if (!(used >> i & 1)) {
            orders->trial.order[place] = orders->usual.order[i];
            try_orders(orders, place + 1, used | 1u << i);
        }
    if (place < shape->ndims ||
        fftnd__most_grid_ndims(shape, orders->trial.order) < orders->usual.grid_ndims ||
        (orders->has_room && !fftnd__has_room(orders->request, &orders->trial)))
        return;
    uint64_t bytes = fftnd__sent_bytes(orders->request, &orders->trial, 0, NULL);
    if (bytes < orders->least) {
        orders->least = bytes;
        *orders->best = orders->trial;
    }
}

/* Whether the order decides what is sent, and the user does not say which axes the sides split. In the memory of a node
 * the arrays of the usual order are smaller, and it takes 0.93 of the time (docs/performance-notebook.md). */
static int has_choice(const struct fftnd__request *request, int is_near) {
    const struct fftnd__shape *shape = &request->shape;
    int drops_points = 0;
    for (int i = 0; i < shape->ndims; i++)
        drops_points |= shape->filled[i] < shape->points[i];
    return !request->has_order && shape->ndims <= MOST_AXES &&
           (request->mixes_kinds ||
            (drops_points && !is_near && !shape->has_split[0] && !shape->has_split[1]));
}

void fftnd__order_guess(const struct fftnd__request *request,
                        struct fftnd__configuration *configuration, int is_near) {
    struct orders orders = {.request = request,
                            .usual = *configuration,
                            .trial = *configuration,
                            .best = configuration,
                            .has_room = fftnd__has_room(request, configuration),
                            .least = UINT64_MAX};
    if (request->has_order)
        memcpy(configuration->order, request->order, sizeof request->order);
    else if (has_choice(request, is_near))
        try_orders(&orders, 0, 0);
}
