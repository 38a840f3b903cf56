/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of a plan's arguments; messages name the argument and its value. */
#include "api.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define FAIL(code, ...) redist_fail_in(request->function, code, __VA_ARGS__)

int redist__check_options(struct redist__request *request, const redist_options *options) {
    redist_options *own = &request->options;
    *own = REDIST_OPTIONS_DEFAULT;
    if (options == NULL)
        return REDIST_OK;
    REDIST_TRY(redist_struct_read(request->function, "options", options, own, sizeof *own));
    REDIST_TRY(redist_check_reserved_in(request->function, "options", own->reserved));
    request->keeps_format = ((int)own->wire_scope & REDIST_WIRE_KEPT) != 0;
    own->wire_scope = (enum redist_wire_scope)((int)own->wire_scope & ~REDIST_WIRE_KEPT);
    const struct {
        const char *name;
        redist_name_of *name_of;
        int value;
    } choices[] = {
        {"options->effort", redist__effort_name, (int)own->effort},
        {"options->tiles", redist__tiles_name, (int)own->tiles},
        {"options->bind_a", redist__binding_name, (int)own->bind_a},
        {"options->bind_b", redist__binding_name, (int)own->bind_b},
        {"options->staging", redist_staging_name, (int)own->staging},
        {"options->overlap", redist__overlap_name, (int)own->overlap},
        {"options->wire", redist_wire_name, (int)own->wire},
        {"options->wire_scope", redist_wire_scope_name, (int)own->wire_scope},
    };
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        REDIST_TRY(redist_check_enum_in(request->function, choices[i].name, choices[i].name_of,
                                        choices[i].value));
    if (!(own->wait_seconds >= 0))
        return FAIL(REDIST_ERR_ARGUMENT, "options->wait_seconds = %g is not 0 or more",
                    own->wait_seconds);
    if (own->overlap != REDIST_OVERLAP_REFUSED && own->tiles != REDIST_WHOLE)
        return FAIL(REDIST_ERR_ARGUMENT, "options->tiles = %s with options->overlap = %s",
                    redist__tiles_name((int)own->tiles), redist__overlap_name((int)own->overlap));
    REDIST_TRY(redist__space_check(request->function, "options->space", own->space));
    REDIST_TRY(redist_check_method_in(request->function, own->method));
    if (own->tiles == REDIST_PUT) /* the array need not exist */
        own->bind_a = REDIST_BIND_AT_EXECUTION;
    if (own->tiles == REDIST_GET)
        own->bind_b = REDIST_BIND_AT_EXECUTION;
    return REDIST_OK;
}

static int check_axis(const struct redist__request *request, const char *name, int axis) {
    return redist__check_range(request->function, REDIST_ERR_AXIS, name, axis, 0,
                               request->ndims - 1);
}

int redist__check_partitions(const struct redist__request *request) {
    const redist_options *options = &request->options;
    if (options->partitions <= 1)
        return REDIST_OK;
    if (options->tiles != REDIST_PUT)
        return FAIL(REDIST_ERR_ARGUMENT,
                    "options->partitions = %d is for options->tiles = REDIST_PUT only",
                    options->partitions);
    return check_axis(request, "options->partition_axis", options->partition_axis);
}

int redist__check_segments(const struct redist__request *request) {
    const redist_options *options = &request->options;
    return options->segments <= 1
               ? REDIST_OK
               : check_axis(request, "options->segment_axis", options->segment_axis);
}

static int is_about_type(int result) {
    int class = MPI_ERR_OTHER;
    MPI_Error_class(result, &class);
    return class == MPI_ERR_TYPE;
}

/* Checks that a type is committed: MPI refuses to send others, even to MPI_PROC_NULL. */
static int check_committed(const struct redist__request *request) {
    MPI_Request send = MPI_REQUEST_NULL;
    const char nothing = 0;
    int result =
        MPI_Isend(&nothing, 1, request->datatype, MPI_PROC_NULL, 0, request->context->comm, &send);
    if (result != MPI_SUCCESS)
        return is_about_type(result) ? FAIL(REDIST_ERR_DATATYPE, "datatype is not committed")
                                     : redist_check_mpi_in(request->function, result);
    result = redist_insist(MPI_Wait(&send, MPI_STATUS_IGNORE));
    if (result != MPI_SUCCESS)
        return redist_check_mpi_in(request->function, result);
    return REDIST_OK;
}

/* Marks the data of one element: writes it over zeroed memory. */
static int map_element(const struct redist__request *request, unsigned char *map, size_t extent,
                       MPI_Aint low, void *packed, int room) {
    MPI_Comm comm = request->context->comm;
    int used = 0;
    void *element = (void *)((uintptr_t)map - (uintptr_t)low);
    memset(map, 0xFF, extent);
    REDIST_TRY(redist_check_mpi_in(
        request->function, MPI_Pack(element, 1, request->datatype, packed, room, &used, comm)));
    room = used;
    used = 0;
    memset(map, 0, extent);
    return redist_check_mpi_in(
        request->function, MPI_Unpack(packed, room, &used, element, 1, request->datatype, comm));
}

/* Finds an element's runs. MPI alone moves elements that are very large, need many axes, or overlap themselves. */
static int find_runs(struct redist__request *request, MPI_Aint low, size_t bytes) {
    enum { MOST_BYTES = 1 << 24 };
    struct redist__element *element = &request->element;
    int room = 0;
    size_t data = 0;
    if ((size_t)request->item_size == element->extent && element->first == 0 &&
        element->end == element->extent) {
        element->run = element->before + element->behind == 0 ? element->extent : 0;
        return REDIST_OK;
    }
    if (element->before + element->behind != 0 || bytes > MOST_BYTES)
        return REDIST_OK;
    REDIST_TRY(redist_check_mpi_in(
        request->function, MPI_Pack_size(1, request->datatype, request->context->comm, &room)));
    unsigned char *map = redist_calloc(1, bytes);
    void *packed = redist_calloc(1, (size_t)room);
    int code = map != NULL && packed != NULL
                   ? map_element(request, map, bytes, low, packed, room)
                   : FAIL(REDIST_ERR_MEMORY, "no memory to examine an element of %zu bytes", bytes);
    for (size_t i = 0; code == REDIST_OK && i < bytes; i++)
        data += map[i] != 0;
    if (data == (size_t)request->item_size)
        redist__element_find_runs(element, map);
    if (request->ndims + element->naxes > REDIST_MAX_NDIMS) {
        element->run = 0;
        element->naxes = 0;
    }
    redist_release(map);
    redist_release(packed);
    return code;
}

int redist__check_datatype(struct redist__request *request) {
    if (request->datatype == MPI_DATATYPE_NULL)
        return FAIL(REDIST_ERR_DATATYPE, "datatype = MPI_DATATYPE_NULL");
    MPI_Aint low, extent, true_low, true_extent;
    REDIST_TRY(check_committed(request));
    REDIST_TRY(redist_check_mpi_in(request->function,
                                   MPI_Type_size(request->datatype, &request->item_size)));
    REDIST_TRY(redist_check_mpi_in(request->function,
                                   MPI_Type_get_extent(request->datatype, &low, &extent)));
    REDIST_TRY(redist_check_mpi_in(
        request->function, MPI_Type_get_true_extent(request->datatype, &true_low, &true_extent)));
    if (request->item_size <= 0 || extent <= 0)
        return FAIL(REDIST_ERR_DATATYPE, "datatype has size %d and extent %lld", request->item_size,
                    (long long)extent);
    request->element = redist__element_between((size_t)extent, true_low, true_low + true_extent);
    return find_runs(request, true_low, (size_t)true_extent);
}

int redist__check_ndims(const struct redist__request *request, int least) {
    return redist__check_range(request->function, REDIST_ERR_ARGUMENT, "ndims", request->ndims,
                               least, REDIST_MAX_NDIMS);
}

/* Returns whether the boxes of both arrays, which overlap, have data in common. */
static int do_boxes_meet(const struct redist__request *request, void *const arrays[2]) {
    const struct redist__element *element = &request->element;
    struct redist__copy copies[2];
    const void *first[2];
    if (request->boxes == NULL)
        return 1;
    for (int side = 0; side < 2; side++) {
        const redist_box *box = &request->boxes[side];
        redist_index extent[REDIST_MAX_NDIMS];
        ptrdiff_t stride[REDIST_MAX_NDIMS];
        uintptr_t address = (uintptr_t)arrays[side] + element->first;
        for (int i = 0; i < request->ndims; i++)
            extent[i] = box->extent[i] != 0 ? box->extent[i] : box->count[i];
        redist__strides(request->ndims, extent, element->extent, stride);
        for (int i = 0; i < request->ndims; i++)
            address += (uintptr_t)(box->offset[i] * stride[i]);
        redist__copy_prepare(&copies[side], request->ndims, box->count, element->extent, stride,
                             stride);
        first[side] = (const void *)address;
    }
    return redist__boxes_meet(copies, first, element->extent - (element->end - element->first));
}

int redist__check_arrays(const struct redist__request *request, void *const arrays[2],
                         const size_t bytes[2]) {
    const enum redist_binding later[2] = {request->options.bind_a, request->options.bind_b};
    for (int side = 0; side < 2; side++) {
        if (bytes[side] == SIZE_MAX)
            return FAIL(REDIST_ERR_LIMIT, "the local array %s has more than %lld bytes",
                        request->names[side], (long long)PTRDIFF_MAX);
        if (arrays[side] == NULL && bytes[side] != 0 && !later[side])
            return FAIL(REDIST_ERR_NULL, "%s = NULL, but this rank holds %zu bytes of it",
                        request->names[side], bytes[side]);
    }
    if (arrays[0] == NULL || arrays[1] == NULL || bytes[0] == 0 || bytes[1] == 0)
        return REDIST_OK;
    uintptr_t a = (uintptr_t)arrays[0], b = (uintptr_t)arrays[1];
    if (request->halo != NULL)
        return a == b ? REDIST_OK
                      : FAIL(REDIST_ERR_ARGUMENT,
                             "%s = %p and %s = %p differ, but a plan of redist_plan_halo has one "
                             "array: pass it twice",
                             request->names[0], arrays[0], request->names[1], arrays[1]);
    if (a < b + bytes[1] && b < a + bytes[0] && do_boxes_meet(request, arrays))
        return FAIL(REDIST_ERR_OVERLAP,
                    "arrays %s = %p (%zu bytes) and %s = %p (%zu bytes) overlap%s",
                    request->names[0], arrays[0], bytes[0], request->names[1], arrays[1], bytes[1],
                    request->boxes != NULL ? ", and so do the boxes in them" : "");
    return REDIST_OK;
}

/* ---------------------------------------------------------------- axis-to-axis exchanges */

static int check_not_negative(const struct redist__request *request, const char *name,
                              const redist_index sizes[]) {
    for (int i = 0; i < request->ndims; i++)
        if (sizes[i] < 0)
            return FAIL(REDIST_ERR_SIZE, "%s[%d] = %lld is negative", name, i, (long long)sizes[i]);
    return REDIST_OK;
}

/* Checks that the distributed extent of one array is this rank's part of the whole extent of the other. */
static int check_part(const struct redist__request *request, const char *name,
                      const redist_index part[], const char *whole_name, const redist_index whole[],
                      int axis) {
    redist_index count, start;
    redist_decompose(whole[axis], request->context->size, request->context->rank, &count, &start);
    if (part[axis] == count)
        return REDIST_OK;
    return FAIL(REDIST_ERR_SIZE,
                "%s[%d] = %lld, but part %d of %d of %s[%d] = %lld has %lld elements", name, axis,
                (long long)part[axis], request->context->rank, request->context->size, whole_name,
                axis, (long long)whole[axis], (long long)count);
}

static int check_other_axes(const struct redist__request *request, const redist_index sizes_a[],
                            int axis_a, const redist_index sizes_b[], int axis_b) {
    for (int i = 0; i < request->ndims; i++)
        if (i != axis_a && i != axis_b && sizes_a[i] != sizes_b[i])
            return FAIL(REDIST_ERR_SIZE, "sizes_a[%d] = %lld differs from sizes_b[%d] = %lld", i,
                        (long long)sizes_a[i], i, (long long)sizes_b[i]);
    return REDIST_OK;
}

static int check_axes(const struct redist__request *request, int axis_a, int axis_b) {
    REDIST_TRY(check_axis(request, "axis_a", axis_a));
    REDIST_TRY(check_axis(request, "axis_b", axis_b));
    if (axis_a == axis_b)
        return FAIL(REDIST_ERR_AXIS, "axis_a = %d and axis_b = %d are equal", axis_a, axis_b);
    return REDIST_OK;
}

int redist_exchange_sizes(MPI_Comm comm, int ndims, const redist_index sizes[], int axis_a,
                          int axis_b, redist_index sizes_a[], redist_index sizes_b[]) {
    const struct redist__request checked = {.function = __func__, .ndims = ndims},
                                 *request = &checked;
    redist_index start;
    int rank, size;
    REDIST_TRY(redist_check_comm(comm));
    REDIST_TRY(redist__check_ndims(request, 2));
    REDIST_TRY(redist__check_pointer(__func__, "sizes", sizes));
    REDIST_TRY(redist__check_pointer(__func__, "sizes_a", sizes_a));
    REDIST_TRY(redist__check_pointer(__func__, "sizes_b", sizes_b));
    REDIST_TRY(check_axes(request, axis_a, axis_b));
    REDIST_TRY(check_not_negative(request, "sizes", sizes));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const redist_index global_a = sizes[axis_a], global_b = sizes[axis_b];
    for (int i = 0; i < ndims; i++)
        sizes_a[i] = sizes_b[i] = sizes[i];
    REDIST_TRY(redist_decompose(global_b, size, rank, &sizes_a[axis_b], &start));
    return redist_decompose(global_a, size, rank, &sizes_b[axis_a], &start);
}

int redist__check_exchange(const struct redist__request *request, const redist_index sizes_a[],
                           int axis_a, const redist_index sizes_b[], int axis_b) {
    REDIST_TRY(redist__check_pointer(request->function, "sizes_a", sizes_a));
    REDIST_TRY(redist__check_pointer(request->function, "sizes_b", sizes_b));
    REDIST_TRY(check_axes(request, axis_a, axis_b));
    REDIST_TRY(check_not_negative(request, "sizes_a", sizes_a));
    REDIST_TRY(check_not_negative(request, "sizes_b", sizes_b));
    REDIST_TRY(check_part(request, "sizes_a", sizes_a, "sizes_b", sizes_b, axis_b));
    REDIST_TRY(check_part(request, "sizes_b", sizes_b, "sizes_a", sizes_a, axis_a));
    return check_other_axes(request, sizes_a, axis_a, sizes_b, axis_b);
}

/* ---------------------------------------------------------------- boxes */

static int check_box_axis(const struct redist__request *request, redist_index size,
                          const char *name, const redist_box *box, int i) {
    redist_index extent = box->extent[i] != 0 ? box->extent[i] : box->count[i];
    if (box->start[i] < 0 || box->count[i] < 0 || box->start[i] > size - box->count[i])
        return FAIL(REDIST_ERR_SIZE,
                    "%s->start[%d] = %lld and %s->count[%d] = %lld are not within sizes[%d] = %lld",
                    name, i, (long long)box->start[i], name, i, (long long)box->count[i], i,
                    (long long)size);
    if (box->extent[i] < 0 || box->offset[i] < 0 || box->offset[i] > extent - box->count[i])
        return FAIL(REDIST_ERR_SIZE,
                    "%s->extent[%d] = %lld has no room for %s->count[%d] = %lld elements from "
                    "%s->offset[%d] = %lld",
                    name, i, (long long)box->extent[i], name, i, (long long)box->count[i], name, i,
                    (long long)box->offset[i]);
    return REDIST_OK;
}

int redist__check_box(const struct redist__request *request, const redist_index sizes[],
                      const char *name, const redist_box *box) {
    REDIST_TRY(redist__check_pointer(request->function, "sizes", sizes));
    REDIST_TRY(redist__check_pointer(request->function, name, box));
    REDIST_TRY(check_not_negative(request, "sizes", sizes));
    for (int i = 0; i < request->ndims; i++)
        REDIST_TRY(check_box_axis(request, sizes[i], name, box, i));
    return REDIST_OK;
}

void redist_print_place(int ndims, const redist_index index[], char text[REDIST_PLACE_BYTES]) {
    text[0] = '\0';
    for (int i = 0, end = 0; i < ndims; i++)
        end += snprintf(text + end, REDIST_PLACE_BYTES - (size_t)end, "%s%lld along axis %d",
                        i > 0 ? ", " : "", (long long)index[i], i);
}

int redist__check_disjoint(const struct redist__request *request, const char *name, int side,
                           const redist_box all[]) {
    const struct redist__context *context = request->context;
    const redist_box *mine = &all[2 * context->rank + side];
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
    char text[REDIST_PLACE_BYTES];
    int other = context->rank + 1;
    while (other < context->size &&
           !redist_intersect(request->ndims, mine->start, mine->count, all[2 * other + side].start,
                             all[2 * other + side].count, start, count))
        other++;
    if (other == context->size)
        return REDIST_OK;
    redist_print_place(request->ndims, start, text);
    return FAIL(
        REDIST_ERR_OVERLAP,
        "%s overlaps the box of rank %d of the communicator: both have the element at %s%s", name,
        other, text,
        side == 1 ? " (options->overlap = REDIST_OVERLAP_READ lets several ranks receive it)" : "");
}

/* ---------------------------------------------------------------- ghosts */

/* Checks the ghosts on one side along an axis: `room` of them fit the array, `present` are in the global one. */
static int check_width(const struct redist__request *request, const char *side, int axis,
                       redist_index width, redist_index size, redist_index room,
                       redist_index present) {
    int periodic = request->halo->periodic[axis];
    if (width < 0)
        return FAIL(REDIST_ERR_SIZE, "halo->%s[%d] = %lld is negative", side, axis,
                    (long long)width);
    if (!periodic && width > size)
        return FAIL(REDIST_ERR_SIZE,
                    "halo->%s[%d] = %lld is wider than sizes[%d] = %lld, and the axis is not "
                    "periodic",
                    side, axis, (long long)width, axis, (long long)size);
    if (room < (periodic || width < present ? width : present))
        return FAIL(REDIST_ERR_SIZE,
                    "halo->%s[%d] = %lld, but the array has room for %lld elements there "
                    "(box->offset, box->extent)",
                    side, axis, (long long)width, (long long)room);
    return REDIST_OK;
}

int redist__check_halo(const struct redist__request *request, const redist_index sizes[],
                       const redist_box *box) {
    const redist_halo *halo = request->halo;
    int empty = 0;
    if (request->options.tiles != REDIST_WHOLE)
        return FAIL(REDIST_ERR_ARGUMENT, "options->tiles = %s is not for ghosts",
                    redist__tiles_name((int)request->options.tiles));
    for (int i = 0; i < request->ndims; i++)
        empty |= box->count[i] == 0;
    for (int i = 0; i < request->ndims; i++) {
        redist_index extent = box->extent[i] != 0 ? box->extent[i] : box->count[i];
        redist_index low = box->offset[i], high = extent - low - box->count[i];
        redist_index behind = sizes[i] - box->start[i] - box->count[i];
        if (empty) /* without ghosts, whatever room there is */
            low = high = INT64_MAX;
        REDIST_TRY(check_width(request, "low", i, halo->low[i], sizes[i], low, box->start[i]));
        REDIST_TRY(check_width(request, "high", i, halo->high[i], sizes[i], high, behind));
    }
    return REDIST_OK;
}

int redist__agree_halo(const struct redist__request *request) {
    const redist_halo *halo = request->halo;
    enum { FIELDS = 3, NAME_BYTES = 32 };
    redist_shared_value values[FIELDS * REDIST_MAX_NDIMS + 1];
    char names[FIELDS * REDIST_MAX_NDIMS][NAME_BYTES];
    int n = 0;
    for (int i = 0; i < FIELDS * request->ndims; i++, n++) {
        int axis = i / FIELDS, field = i % FIELDS;
        snprintf(names[n], NAME_BYTES, "halo->%s[%d]",
                 field == 0   ? "low"
                 : field == 1 ? "high"
                              : "periodic",
                 axis);
        values[n] = redist_share_number(names[n], field == 0   ? halo->low[axis]
                                                  : field == 1 ? halo->high[axis]
                                                               : halo->periodic[axis] != 0);
    }
    values[n++] = redist_share_number("halo->corners", halo->corners != 0);
    return redist_agree_values_in(request->function, request->context->comm, REDIST_OK, n, values);
}

int redist__check_cover(const struct redist__request *request, const redist_index sizes[],
                        const redist_box all[]) {
    redist_index hole[REDIST_MAX_NDIMS];
    char text[REDIST_PLACE_BYTES];
    if (!redist_find_hole(request->ndims, sizes, request->context->size, all, 2, hole))
        return REDIST_OK;
    redist_print_place(request->ndims, hole, text);
    return FAIL(REDIST_ERR_SIZE, "the boxes leave a hole: no rank holds the element at %s", text);
}

/* ---------------------------------------------------------------- agreement */

int redist__agree_request(const struct redist__request *request, int code, int axis_a, int axis_b,
                          const redist_index sizes[]) {
    const redist_options *options = &request->options;
    const redist_shared_value values[] = {
        redist_share_number("ndims", request->ndims),
        redist_share_number("axis_a", axis_a),
        redist_share_number("axis_b", axis_b),
        redist_share_number("the extent of datatype", (long long)request->element.extent),
        redist_share_number("the size of datatype", request->item_size),
        redist_share("options->method", REDIST_SHARED_TEXT, options->method, 0),
        redist_share_enum("options->effort", (int)options->effort, redist__effort_name),
        redist_share_enum("options->bind_a", (int)options->bind_a, redist__binding_name),
        redist_share_enum("options->bind_b", (int)options->bind_b, redist__binding_name),
        redist_share_number("options->skip_agreement", options->skip_agreement != 0),
        redist_share_number("options->asynchronous", options->asynchronous != 0),
        redist_share_enum("options->overlap", (int)options->overlap, redist__overlap_name),
        redist_share_number("whether options->operation is given",
                            redist__operation_is_given(request)),
        redist_share_number("the kind of numbers in datatype",
                            (long long)redist__added(request->adds)),
        redist_share_enum("options->wire", (int)options->wire, redist_wire_name),
        redist_share_enum("options->wire_scope", (int)options->wire_scope, redist_wire_scope_name),
        redist_share_number("the kind of numbers in datatype, for options->wire",
                            request->format != NULL ? (long long)request->format->number : 0),
        redist_share_enum("options->tiles", (int)options->tiles, redist__tiles_name),
        redist_share_number("options->nontemporal_bytes", (long long)options->nontemporal_bytes),
        redist_share_enum("options->space", (int)options->space, redist_space_name),
        redist_share_enum("options->staging", (int)options->staging, redist_staging_name),
        redist_share_number("options->partitions", options->partitions),
        redist_share_number("options->partition_axis",
                            options->partitions > 1 ? options->partition_axis : 0),
        redist_share_number("options->segments", options->segments),
        redist_share_number("options->segment_axis",
                            options->segments > 1 ? options->segment_axis : 0),
        redist_share("the global extents", REDIST_SHARED_EXTENTS, code == REDIST_OK ? sizes : NULL,
                     (size_t)request->ndims)};
    return redist_agree_values_in(request->function, request->context->comm, code,
                                  sizeof values / sizeof *values, values);
}
