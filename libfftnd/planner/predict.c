/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a transform's exchanges take by the communication model (Egger, section 2.5.3). */
#include "predict.h"
#include "../layout.h"
#include "redist_support.h"

#define FAIL(code, ...) redist_fail_in("fftnd_predict", code, __VA_ARGS__)

struct shape {
    int ndims;
    const int *order;
    int modes[REDIST_MAX_NDIMS]; /* of each axis after its transform */
    int points[REDIST_MAX_NDIMS];
    double item; /* bytes of an element, times the fields of the batch */
};

static int find_halved(int ndims, enum fftnd_kind kind, const fftnd_options *options) {
    int given = options->halved_axis;
    return kind != FFTND_R2C ? -1 : given >= 0 ? given : ndims - 1;
}

static struct shape find_shape(int ndims, const int sizes[], enum fftnd_kind kind,
                               enum fftnd_precision precision, const fftnd_options *options,
                               const int order[]) {
    struct shape shape = {.ndims = ndims, .order = order};
    int halved = find_halved(ndims, kind, options);
    for (int axis = 0; axis < ndims; axis++) {
        int kept = options->retained_modes != NULL ? options->retained_modes[axis] : sizes[axis];
        shape.points[axis] = sizes[axis];
        shape.modes[axis] = axis == halved ? kept / 2 + 1 : kept;
    }
    shape.item =
        (precision == FFTND_DOUBLE ? 8.0 : 4.0) * (kind == FFTND_R2R ? 1 : 2) * options->batch;
    return shape;
}

static double largest_part(int n, int nparts) {
    return (n + nparts - 1) / nparts;
}

/* Bytes of the largest local array before the exchange of grid dimension `dim`, which finds axes up to
 * `dim` of the order split as at first and not yet transformed, the next one whole, and the others split
 * by the dimensions before theirs. */
static double local_bytes(const struct shape *shape, int grid_ndims, const int grid[], int dim) {
    double bytes = shape->item;
    for (int i = 0; i < shape->ndims; i++) {
        int axis = shape->order[i];
        if (i <= dim)
            bytes *= largest_part(shape->points[axis], grid[i]);
        else if (i == dim + 1 || i > grid_ndims)
            bytes *= shape->modes[axis];
        else
            bytes *= largest_part(shape->modes[axis], grid[i - 1]);
    }
    return bytes;
}

double fftnd__predict(const redist_model *model, int nranks, int ndims, const int sizes[],
                      enum fftnd_kind kind, enum fftnd_precision precision,
                      const fftnd_options *options, const int order[], int grid_ndims,
                      const int grid[]) {
    const struct shape shape = find_shape(ndims, sizes, kind, precision, options, order);
    double seconds = 0;
    for (int dim = grid_ndims - 1, stride = 1; dim >= 0; stride *= grid[dim--])
        if (grid[dim] > 1)
            seconds += redist_model_seconds(model, nranks, grid[dim], stride,
                                            local_bytes(&shape, grid_ndims, grid, dim));
    return seconds;
}

static int check_shape(int ndims, const int sizes[], enum fftnd_kind kind,
                       const fftnd_options *options) {
    if (ndims < 1 || ndims >= REDIST_MAX_NDIMS)
        return FAIL(REDIST_ERR_ARGUMENT, "ndims = %d is not in 1..%d", ndims, REDIST_MAX_NDIMS - 1);
    for (int i = 0; i < ndims; i++)
        if (sizes[i] < 1)
            return FAIL(REDIST_ERR_SIZE, "sizes[%d] = %d is below 1", i, sizes[i]);
    if (kind == FFTND_R2C && (options->halved_axis < -1 || options->halved_axis >= ndims))
        return FAIL(REDIST_ERR_AXIS, "options->halved_axis = %d is not in -1..%d",
                    options->halved_axis, ndims - 1);
    return REDIST_OK;
}

static int check_order(int ndims, const fftnd_options *options) {
    int seen[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; options->order != NULL && i < ndims; i++) {
        int axis = options->order[i];
        if (axis < 0 || axis >= ndims || seen[axis])
            return FAIL(REDIST_ERR_AXIS, "options->order[%d] = %d is no axis, or there twice", i,
                        axis);
        seen[axis] = 1;
    }
    return REDIST_OK;
}

static int check_grid(int nranks, int ndims, const fftnd_options *options) {
    long long product = 1;
    if (options->grid_ndims < 0 || options->grid_ndims >= ndims ||
        (options->grid == NULL && options->grid_ndims > 0))
        return FAIL(REDIST_ERR_GRID, "options->grid of %d dimensions is none of %d axes",
                    options->grid_ndims, ndims);
    for (int i = 0; i < options->grid_ndims; i++)
        product *= product <= nranks && options->grid[i] > 0 ? options->grid[i] : 0;
    if (product != nranks)
        return FAIL(REDIST_ERR_GRID, "the product of options->grid is not nranks = %d", nranks);
    return REDIST_OK;
}

int fftnd_predict(const redist_model *model, int nranks, int ndims, const int sizes[],
                  enum fftnd_kind kind, enum fftnd_precision precision,
                  const fftnd_options *options, double *seconds) {
    const char *null = model == NULL     ? "model"
                       : sizes == NULL   ? "sizes"
                       : options == NULL ? "options"
                       : seconds == NULL ? "seconds"
                                         : NULL;
    if (null != NULL)
        return FAIL(REDIST_ERR_NULL, "%s = NULL", null);
    int code = check_shape(ndims, sizes, kind, options);
    if (code == REDIST_OK)
        code = check_grid(nranks, ndims, options);
    if (code == REDIST_OK)
        code = check_order(ndims, options);
    if (code != REDIST_OK)
        return code;
    int usual[REDIST_MAX_NDIMS];
    fftnd__usual_order(ndims, find_halved(ndims, kind, options), usual);
    *seconds = fftnd__predict(model, nranks, ndims, sizes, kind, precision, options,
                              options->order != NULL ? options->order : usual, options->grid_ndims,
                              options->grid);
    return REDIST_OK;
}
