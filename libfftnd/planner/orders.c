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

/* How many ranks share the axis at a place of the order when grid dimension `dim` exchanges, and dimensions behind it
 * have done so. */
static int find_sharing(const struct fftnd__request *request,
                        const struct fftnd__configuration *configuration, int dim, int place) {
    const enum fftnd_axis *axes = request->shape.axes;
    const int *order = configuration->order, *grid = configuration->grid;
    int n = configuration->grid_ndims;
    if (place <= dim || (place < n && fftnd__stays_split(axes, order[place])))
        return grid[place];
    for (int i = dim + 1; i < n; i++)
        if (!fftnd__stays_split(axes, order[i]) &&
            fftnd__place_split_next(axes, order, n, i) == place)
            return grid[i];
    return 1;
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
                   request->options.batch;
    for (int i = 0; i < request->shape.ndims; i++) {
        redist_index extent =
            i <= dim ? request->shape.points[order[i]] : fftnd__request_extent(request, order[i]);
        bytes *= largest_part(extent, find_sharing(request, configuration, dim, i));
    }
    return bytes;
}

/* ---------------------------------------------------------------- the least of all orders */

int fftnd__exchanges(const struct fftnd__request *request,
                     const struct fftnd__configuration *configuration, int dim) {
    return configuration->grid[dim] > 1 &&
           !fftnd__stays_split(request->shape.axes, configuration->order[dim]);
}

static double sent_bytes(const struct fftnd__request *request,
                         const struct fftnd__configuration *configuration) {
    double sum = 0;
    for (int dim = 0; dim < configuration->grid_ndims; dim++)
        if (fftnd__exchanges(request, configuration, dim))
            sum += fftnd__local_bytes(request, configuration, dim) *
                   (1 - 1.0 / configuration->grid[dim]);
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
    double least = sent_bytes(request, &usual);
    while (least > 0 && permute(shape->ndims, places)) {
        for (int i = 0; i < shape->ndims; i++)
            trial.order[i] = usual.order[places[i]];
        double bytes = sent_bytes(request, &trial);
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
    else if (request->kind == FFTND_MIXED && request->shape.ndims <= MOST_AXES)
        take_least(request, configuration);
}
