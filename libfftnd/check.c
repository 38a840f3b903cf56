/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "offload.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#define FAIL(code, ...) redist_fail_in("fftnd_plan_create", code, __VA_ARGS__)

int fftnd__halved_axis(const struct fftnd__request *request) {
    if (request->kind != FFTND_R2C)
        return -1;
    return request->options.halved_axis >= 0 ? request->options.halved_axis : request->ndims - 1;
}

static int check_range(const char *name, int value, int least, int most) {
    if (value >= least && value <= most)
        return REDIST_OK;
    return FAIL(REDIST_ERR_ARGUMENT, "%s = %d is not in %d..%d", name, value, least, most);
}

static int copy_options(struct fftnd__request *request, const fftnd_options *options) {
    const fftnd_options defaults = FFTND_OPTIONS_DEFAULT;
    request->options = defaults;
    if (options == NULL)
        options = &defaults;
    if (options->size < offsetof(fftnd_options, effort) || options->size > sizeof request->options)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->size = %zu, but this library knows sizes up to %zu: start from "
                    "FFTND_OPTIONS_DEFAULT",
                    options->size, sizeof request->options);
    memcpy(&request->options, options, options->size);
    if (request->options.plan_seconds == 0)
        request->options.plan_seconds = request->options.effort == FFTND_PATIENT ? 30 : 3;
    return REDIST_OK;
}

static int check_options(const fftnd_options *options) {
    const struct {
        const char *name;
        int value, least, most;
    } ranges[] = {
        {"options->effort", (int)options->effort, FFTND_ESTIMATE, FFTND_PATIENT},
        {"options->scaling", (int)options->scaling, FFTND_SCALE_NONE, FFTND_SCALE_UNITARY},
        {"options->alignment", (int)options->alignment, FFTND_ALIGN_CHAIN, FFTND_ALIGN_INPUT},
        {"options->batch", options->batch, 1, INT_MAX},
        {"options->batch_position", (int)options->batch_position, FFTND_BATCH_FIRST,
         FFTND_BATCH_LAST},
        {"options->fusion", (int)options->fusion, FFTND_FUSION_AUTO, FFTND_FUSION_ALWAYS},
        {"options->local_transpose", (int)options->local_transpose, FFTND_LOCAL_TRANSPOSE_AUTO,
         FFTND_LOCAL_TRANSPOSE_ALWAYS},
        {"options->space", (int)options->space, REDIST_SPACE_AUTO, REDIST_SPACE_CUDA},
        {"options->device", (int)options->device, REDIST_SPACE_AUTO, REDIST_SPACE_CUDA},
        {"options->threads", options->threads, 1, INT_MAX},
        {"options->staging", (int)options->staging, REDIST_STAGING_AUTO, REDIST_STAGING_NEVER},
    };
    if (!(options->plan_seconds >= 0))
        return FAIL(REDIST_ERR_ARGUMENT, "options->plan_seconds = %g is negative",
                    options->plan_seconds);
    int code = REDIST_OK;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && code == REDIST_OK; i++)
        code = check_range(ranges[i].name, ranges[i].value, ranges[i].least, ranges[i].most);
    return code;
}

static int check_grid_dims(const fftnd_options *options, int nranks) {
    long long product = 1;
    int any_free = 0;
    for (int i = 0; i < options->grid_ndims && product <= nranks; i++) {
        int dim = options->grid[i];
        if (dim < 0 || dim > nranks)
            return FAIL(REDIST_ERR_GRID, "options->grid[%d] = %d does not fit %d ranks", i, dim,
                        nranks);
        any_free |= dim == 0;
        product *= dim != 0 ? dim : 1;
    }
    if (product > nranks || (any_free ? nranks % product != 0 : product != nranks))
        return FAIL(REDIST_ERR_GRID, "the product of options->grid, %lld, does not fit %d ranks",
                    product, nranks);
    return REDIST_OK;
}

static int check_grid(const struct fftnd__request *request) {
    const fftnd_options *options = &request->options;
    int most = request->ndims - 1;
    if (options->grid_ndims < 0 || options->grid_ndims > most)
        return FAIL(REDIST_ERR_GRID, "options->grid_ndims = %d is not in 0..%d (ndims - 1)",
                    options->grid_ndims, most);
    int nranks;
    MPI_Comm_size(request->comm, &nranks);
    if (request->ndims == 1 && nranks > 1)
        return FAIL(REDIST_ERR_GRID, "ndims = 1 cannot be distributed over %d ranks", nranks);
    int given = options->grid_ndims > 0 && options->grid != NULL;
    return given ? check_grid_dims(options, nranks) : REDIST_OK;
}

/* Exchanges may be planned later or not be needed: an unknown method is refused now all the same. */
static int check_method(const char *method) {
    if (redist_method_exists(method))
        return REDIST_OK;
    return FAIL(REDIST_ERR_METHOD, "options->method = \"%s\" is not known", method);
}

static int check_r2r(const struct fftnd__request *request) {
    const enum fftnd_r2r *r2r = request->options.r2r;
    if (r2r == NULL)
        return FAIL(REDIST_ERR_NULL, "options->r2r = NULL, but kind is FFTND_R2R");
    for (int i = 0; i < request->ndims; i++) {
        if ((int)r2r[i] < FFTND_DCT1 || r2r[i] > FFTND_DST4)
            return FAIL(REDIST_ERR_ARGUMENT, "options->r2r[%d] = %d is not a transform", i,
                        (int)r2r[i]);
        if (r2r[i] == FFTND_DCT1 && request->sizes[i] < 2)
            return FAIL(REDIST_ERR_SIZE, "sizes[%d] = %d, but FFTND_DCT1 needs at least 2", i,
                        request->sizes[i]);
    }
    return REDIST_OK;
}

/* A permutation of the axes, and the halved one is not split first. NULL is the usual order. */
static int check_order(const struct fftnd__request *request) {
    const fftnd_options *options = &request->options;
    int seen[REDIST_MAX_NDIMS] = {0}, halved = fftnd__halved_axis(request);
    int split = options->grid_ndims > 0 || request->ndims == 1 ? options->grid_ndims : 1;
    for (int i = 0; options->order != NULL && i < request->ndims; i++) {
        int axis = options->order[i];
        if (axis < 0 || axis >= request->ndims || seen[axis])
            return FAIL(REDIST_ERR_AXIS, "options->order[%d] = %d is no axis, or there twice", i,
                        axis);
        if (axis == halved && i < split)
            return FAIL(REDIST_ERR_AXIS,
                        "options->order[%d] = %d is the halved axis, and would be split first", i,
                        axis);
        seen[axis] = 1;
    }
    return REDIST_OK;
}

/* Tiles have no whole arrays to turn. */
static int check_local_transpose(const struct fftnd__request *request) {
    const fftnd_options *options = &request->options;
    if (options->local_transpose != FFTND_LOCAL_TRANSPOSE_ALWAYS)
        return REDIST_OK;
    if (options->fusion == FFTND_FUSION_ALWAYS)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS, but "
                    "options->fusion = FFTND_FUSION_ALWAYS");
    for (int i = 0; options->retained_modes != NULL && i < request->ndims; i++)
        if (options->retained_modes[i] != request->sizes[i])
            return FAIL(REDIST_ERR_ARGUMENT,
                        "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS, but "
                        "options->retained_modes[%d] = %d drops "
                        "modes",
                        i, options->retained_modes[i]);
    return REDIST_OK;
}

/* NULL keeps all. */
static int check_retained_modes(const struct fftnd__request *request) {
    const int *kept = request->options.retained_modes;
    for (int i = 0; kept != NULL && i < request->ndims; i++)
        if (kept[i] < 1 || kept[i] > request->sizes[i])
            return FAIL(REDIST_ERR_SIZE,
                        "options->retained_modes[%d] = %d is not in 1..%d (sizes[%d])", i, kept[i],
                        request->sizes[i], i);
    return REDIST_OK;
}

static int check_kind(const struct fftnd__request *request) {
    int halved = request->options.halved_axis;
    if (request->kind == FFTND_R2R)
        return check_r2r(request);
    if (request->kind == FFTND_R2C && (halved < -1 || halved >= request->ndims))
        return FAIL(REDIST_ERR_AXIS, "options->halved_axis = %d is not in -1..%d", halved,
                    request->ndims - 1);
    return REDIST_OK;
}

static int check_space(const struct fftnd__request *request) {
    const struct fftnd__serial *library = fftnd__serial_for(request->options.space);
    const char *unavailable = fftnd__serial_unavailable(request->options.space);
    if (unavailable != NULL)
        return FAIL(REDIST_ERR_ARGUMENT, "options->space = %d has no serial FFT library here: %s",
                    (int)request->options.space, unavailable);
    if (library->space != REDIST_SPACE_HOST && request->kind == FFTND_R2R)
        return FAIL(REDIST_ERR_ARGUMENT, "kind = FFTND_R2R is not for arrays of a device");
    if (library->space != REDIST_SPACE_HOST && request->options.retained_modes != NULL)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->retained_modes is not for arrays of a device: modes are "
                    "dropped in tiles");
    if (library->space != REDIST_SPACE_HOST && request->options.fusion == FFTND_FUSION_ALWAYS)
        return FAIL(REDIST_ERR_METHOD,
                    "options->fusion = FFTND_FUSION_ALWAYS, but there are no tiles "
                    "on a device");
    return REDIST_OK;
}

/* Where arrays of the host are transformed. */
static int check_device(const struct fftnd__request *request) {
    const fftnd_options *options = &request->options;
    const struct fftnd__serial *device = fftnd__serial_for(options->device);
    const struct fftnd__serial *arrays = fftnd__serial_for(options->space);
    const char *unavailable = fftnd__serial_unavailable(options->device);
    if (unavailable != NULL)
        return FAIL(REDIST_ERR_ARGUMENT, "options->device = %d has no serial FFT library here: %s",
                    (int)options->device, unavailable);
    if (arrays->space != REDIST_SPACE_HOST && options->device_bytes != 0)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->device_bytes = %zu, but it is for arrays in host memory",
                    options->device_bytes);
    if (arrays->space != REDIST_SPACE_HOST && options->device == REDIST_SPACE_HOST)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->device = %d, but arrays of a device are transformed there",
                    (int)options->device);
    if (!fftnd__offload_wanted(options))
        return REDIST_OK;
    if (options->local_transpose == FFTND_LOCAL_TRANSPOSE_ALWAYS)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->local_transpose = FFTND_LOCAL_TRANSPOSE_ALWAYS is not for "
                    "options->device_bytes or a device: tiles go in rows");
    if (options->retained_modes != NULL)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->retained_modes is not for options->device_bytes or a "
                    "device: modes are dropped in the caches");
    if (device->space != REDIST_SPACE_HOST && request->kind == FFTND_R2R)
        return FAIL(REDIST_ERR_ARGUMENT, "kind = FFTND_R2R is not for options->device = %d",
                    (int)options->device);
    return REDIST_OK;
}

static int check_sizes(const struct fftnd__request *request) {
    if (request->sizes == NULL)
        return FAIL(REDIST_ERR_NULL, "sizes = NULL");
    for (int i = 0; i < request->ndims; i++)
        if (request->sizes[i] < 1)
            return FAIL(REDIST_ERR_SIZE, "sizes[%d] = %d is below 1", i, request->sizes[i]);
    return REDIST_OK;
}

static int check_all(struct fftnd__request *request, const fftnd_options *options,
                     const void *plan) {
    int code = check_range("ndims", request->ndims, 1, REDIST_MAX_NDIMS - 1);
    if (code == REDIST_OK)
        code = check_sizes(request);
    if (code == REDIST_OK)
        code = check_range("kind", (int)request->kind, FFTND_C2C, FFTND_R2R);
    if (code == REDIST_OK)
        code = check_range("precision", (int)request->precision, FFTND_DOUBLE, FFTND_FLOAT);
    if (code == REDIST_OK)
        code = copy_options(request, options);
    if (code == REDIST_OK)
        code = check_options(&request->options);
    if (code == REDIST_OK)
        code = check_grid(request);
    if (code == REDIST_OK)
        code = check_method(request->options.method);
    if (code == REDIST_OK)
        code = check_kind(request);
    if (code == REDIST_OK)
        code = check_order(request);
    if (code == REDIST_OK)
        code = check_space(request);
    if (code == REDIST_OK)
        code = check_device(request);
    if (code == REDIST_OK)
        code = check_retained_modes(request);
    if (code == REDIST_OK)
        code = check_local_transpose(request);
    if (code == REDIST_OK && plan == NULL)
        code = FAIL(REDIST_ERR_NULL, "plan = NULL");
    return code;
}

static int agree(const struct fftnd__request *request, int code) {
    static const char *const names[5][REDIST_MAX_NDIMS] = {
        {"sizes[0]", "sizes[1]", "sizes[2]", "sizes[3]", "sizes[4]", "sizes[5]", "sizes[6]",
         "sizes[7]", "sizes[8]", "sizes[9]", "sizes[10]", "sizes[11]", "sizes[12]", "sizes[13]",
         "sizes[14]", "sizes[15]"},
        {"options->grid[0]", "options->grid[1]", "options->grid[2]", "options->grid[3]",
         "options->grid[4]", "options->grid[5]", "options->grid[6]", "options->grid[7]",
         "options->grid[8]", "options->grid[9]", "options->grid[10]", "options->grid[11]",
         "options->grid[12]", "options->grid[13]", "options->grid[14]", "options->grid[15]"},
        {"options->r2r[0]", "options->r2r[1]", "options->r2r[2]", "options->r2r[3]",
         "options->r2r[4]", "options->r2r[5]", "options->r2r[6]", "options->r2r[7]",
         "options->r2r[8]", "options->r2r[9]", "options->r2r[10]", "options->r2r[11]",
         "options->r2r[12]", "options->r2r[13]", "options->r2r[14]", "options->r2r[15]"},
        {"options->retained_modes[0]", "options->retained_modes[1]", "options->retained_modes[2]",
         "options->retained_modes[3]", "options->retained_modes[4]", "options->retained_modes[5]",
         "options->retained_modes[6]", "options->retained_modes[7]", "options->retained_modes[8]",
         "options->retained_modes[9]", "options->retained_modes[10]", "options->retained_modes[11]",
         "options->retained_modes[12]", "options->retained_modes[13]",
         "options->retained_modes[14]", "options->retained_modes[15]"},
        {"options->order[0]", "options->order[1]", "options->order[2]", "options->order[3]",
         "options->order[4]", "options->order[5]", "options->order[6]", "options->order[7]",
         "options->order[8]", "options->order[9]", "options->order[10]", "options->order[11]",
         "options->order[12]", "options->order[13]", "options->order[14]", "options->order[15]"}};
    const fftnd_options *options = &request->options;
    redist_shared_value values[26 + 5 * REDIST_MAX_NDIMS] = {
        {"ndims", request->ndims},
        {"kind", request->kind},
        {"precision", request->precision},
        {"options->grid_ndims", options->grid_ndims},
        {"options->effort", options->effort},
        {"options->scaling", options->scaling},
        {"options->alignment", options->alignment},
        {"options->batch", options->batch},
        {"options->batch_position", options->batch_position},
        {"options->halved_axis", options->halved_axis},
        {"options->in_place", options->in_place != 0},
        {"options->overwrite_input", options->overwrite_input != 0},
        {"options->user_workspace", options->user_workspace != 0},
        {"options->fusion", options->fusion},
        {"options->tile_bytes", (long long)options->tile_bytes},
        {"options->space", options->space},
        {"options->threads", options->threads},
        {"options->local_transpose", options->local_transpose},
        {"options->by_node", options->by_node != 0},
        {"options->device", options->device},
        {"options->device_bytes", (long long)options->device_bytes},
        {"options->pin_arrays", options->pin_arrays != 0},
        {"options->staging", options->staging},
        {"options->mapped_arrays", options->mapped_arrays != 0},
        {"options->skip_agreement", options->skip_agreement != 0},
        {"the hash of options->method", redist_hash_text(options->method)}};
    int n = 0, valid = code == REDIST_OK;
    while (values[n].name != NULL)
        n++;
    for (int i = 0; i < REDIST_MAX_NDIMS; i++) {
        int in_grid = valid && options->grid != NULL && i < options->grid_ndims;
        int in_array = valid && i < request->ndims;
        int is_r2r = in_array && request->kind == FFTND_R2R;
        values[n++] = (redist_shared_value){names[0][i], in_array ? request->sizes[i] : 0};
        values[n++] = (redist_shared_value){names[1][i], in_grid ? options->grid[i] : 0};
        values[n++] = (redist_shared_value){names[2][i], is_r2r ? (int)options->r2r[i] : 0};
        const int *kept =
            options->retained_modes != NULL ? options->retained_modes : request->sizes;
        values[n++] = (redist_shared_value){names[3][i], in_array ? kept[i] : 0};
        int in_order = in_array && options->order != NULL;
        values[n++] = (redist_shared_value){names[4][i], in_order ? options->order[i] : -1};
    }
    return redist_agree_values_in("fftnd_plan_create", request->comm, code, n, values);
}

int fftnd__check_request(struct fftnd__request *request, const fftnd_options *options,
                         const void *plan) {
    return agree(request, check_all(request, options, plan));
}

int fftnd__check_arrays(const char *function, const struct fftnd__array arrays[2], int in_place) {
    for (int i = 0; i < 2; i++)
        if (arrays[i].data == NULL && arrays[i].bytes != 0)
            return redist_fail_in(function, REDIST_ERR_NULL,
                                  "%s = NULL, but this rank holds %zu bytes of it", arrays[i].name,
                                  arrays[i].bytes);
    if (arrays[0].bytes == 0 || arrays[1].bytes == 0)
        return REDIST_OK;
    uintptr_t a = (uintptr_t)arrays[0].data, b = (uintptr_t)arrays[1].data;
    if (in_place && a != b)
        return redist_fail_in(function, REDIST_ERR_ARGUMENT,
                              "%s = %p and %s = %p differ, but the plan is in place",
                              arrays[0].name, arrays[0].data, arrays[1].name, arrays[1].data);
    if (!in_place && a < b + arrays[1].bytes && b < a + arrays[0].bytes)
        return redist_fail_in(function, REDIST_ERR_OVERLAP,
                              "%s = %p (%zu bytes) and %s = %p (%zu bytes) overlap", arrays[0].name,
                              arrays[0].data, arrays[0].bytes, arrays[1].name, arrays[1].data,
                              arrays[1].bytes);
    return REDIST_OK;
}
