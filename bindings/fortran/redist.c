/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the Fortran module redist for those of redist.h and redist_halo.h with MPI handles, or with arrays of
 * Fortran. The arguments are those of C unless noted otherwise; `dim` and `axes` already count as in C. */
#include "arrays.h"
#include "redist_halo.h"
#include "redist_model.h"

/* ---------------------------------------------------------------- distributions */

int redist__f_subcomm(MPI_Fint comm, int ndims, MPI_Fint subcomms[]) {
    MPI_Comm made[REDIST_MAX_NDIMS];
    int code = redist_subcomm(MPI_Comm_f2c(comm), ndims, made);
    for (int i = 0; code == REDIST_OK && i < ndims; i++)
        subcomms[i] = MPI_Comm_c2f(made[i]);
    return code;
}

int redist__f_exchange_sizes(MPI_Fint comm, int ndims, const redist_index sizes[], int axis_a,
                             int axis_b, redist_index sizes_a[], redist_index sizes_b[]) {
    return redist_exchange_sizes(MPI_Comm_f2c(comm), ndims, sizes, axis_a, axis_b, sizes_a,
                                 sizes_b);
}

int redist__f_grid_create(MPI_Fint comm, int by_node, int ndims, const int dims[],
                          redist_grid **grid) {
    return (by_node ? redist_grid_create_by_node : redist_grid_create)(MPI_Comm_f2c(comm), ndims,
                                                                       dims, grid);
}

int redist__f_grid_comm(const redist_grid *grid, MPI_Fint *comm) {
    MPI_Comm found;
    int code = redist_grid_comm(grid, &found);
    if (code == REDIST_OK)
        *comm = MPI_Comm_c2f(found);
    return code;
}

int redist__f_grid_subcomm(const redist_grid *grid, int dim, MPI_Fint *comm) {
    MPI_Comm found;
    int code = redist_grid_subcomm(grid, dim, &found);
    if (code == REDIST_OK)
        *comm = MPI_Comm_c2f(found);
    return code;
}

/* ---------------------------------------------------------------- memory that peers can map */

int redist__f_alloc_bytes(MPI_Fint comm, int space, size_t bytes, void **memory) {
    return redist_alloc_in(MPI_Comm_f2c(comm), (enum redist_space)space, bytes, memory);
}

/* Allocates; `counts` and `lower` have `naxes` values in Fortran's order. An overflow exceeds any memory. */
int redist__f_alloc_array(MPI_Fint comm, int space, CFI_cdesc_t *array, int naxes,
                          const redist_index counts[], const redist_index lower[]) {
    size_t bytes = array->elem_len;
    for (int i = 0; i < naxes; i++)
        if (__builtin_mul_overflow(bytes, counts[i] > 0 ? (size_t)counts[i] : 0, &bytes))
            bytes = SIZE_MAX;
    void *memory = NULL;
    /* no space: an error on all ranks, so that none waits for one whose arguments do not fit */
    int fits = naxes == array->rank,
        code = redist_alloc_in(MPI_Comm_f2c(comm), (enum redist_space)(fits ? space : -1), bytes,
                               &memory);
    if (!fits)
        return redist_fail(REDIST_ERR_ARGUMENT,
                           "shape and lower must have %d values, as array has axes", array->rank);
    return code ? code : redist__f_point(array, memory, lower, counts, NULL);
}

int redist__f_free_array(CFI_cdesc_t *array) {
    void *memory = array->base_addr;
    int code = redist_free(&memory);
    if (code == REDIST_OK)
        CFI_setpointer(array, NULL, NULL);
    return code;
}

/* ---------------------------------------------------------------- plans */

/* Puts C's handle of an operation in memory that has room for it. */
int redist__f_operation(MPI_Fint operation, void *handle) {
    *(MPI_Op *)handle = MPI_Op_f2c(operation);
    return REDIST_OK;
}

/* Arguments of the functions for any two axes. */
struct exchange {
    int ndims; /* 0, which the library refuses on all ranks, if the arrays have different ranks */
    MPI_Datatype datatype;
    redist_index sizes_a[CFI_MAX_RANK + 1], sizes_b[CFI_MAX_RANK + 1];
    void *a, *b;
};

static struct exchange describe(const CFI_cdesc_t *a, const CFI_cdesc_t *b) {
    struct exchange exchange = {.ndims = a->rank == b->rank ? a->rank : 0,
                                .datatype = redist__f_datatype(a, b),
                                .a = redist__f_address(a),
                                .b = redist__f_address(b)};
    redist__f_extents(a, exchange.sizes_a);
    redist__f_extents(b, exchange.sizes_b);
    return exchange;
}

int redist__f_exchange(MPI_Fint comm, const CFI_cdesc_t *a, int axis_a, const CFI_cdesc_t *b,
                       int axis_b) {
    struct exchange e = describe(a, b);
    int code = redist_exchange(MPI_Comm_f2c(comm), e.datatype, e.ndims, e.sizes_a, e.a,
                               e.ndims - axis_a, e.sizes_b, e.b, e.ndims - axis_b);
    redist__f_datatype_free(&e.datatype);
    return code;
}

int redist__f_plan_exchange(MPI_Fint comm, const CFI_cdesc_t *a, int axis_a, const CFI_cdesc_t *b,
                            int axis_b, const redist_options *options, redist_plan **plan) {
    struct exchange e = describe(a, b);
    int code =
        redist_plan_exchange(MPI_Comm_f2c(comm), e.datatype, e.ndims, e.sizes_a, e.a,
                             e.ndims - axis_a, e.sizes_b, e.b, e.ndims - axis_b, options, plan);
    redist__f_datatype_free(&e.datatype);
    return code;
}

/* Returns a box with the extents of its array, if both have the same number of axes. */
static redist_box box_in(const redist_box *box, int ndims, const CFI_cdesc_t *array) {
    redist_box result = *box;
    if (array->rank == ndims)
        redist__f_extents(array, result.extent);
    return result;
}

int redist__f_plan_boxes(MPI_Fint comm, int ndims, const redist_index sizes[],
                         const redist_box *box_a, const CFI_cdesc_t *a, const redist_box *box_b,
                         const CFI_cdesc_t *b, const redist_options *options, redist_plan **plan) {
    struct exchange e = describe(a, b);
    redist_box in_a = box_in(box_a, ndims, a), in_b = box_in(box_b, ndims, b);
    int code = redist_plan_boxes(MPI_Comm_f2c(comm), e.datatype, ndims, sizes, &in_a, e.a, &in_b,
                                 e.b, options, plan);
    redist__f_datatype_free(&e.datatype);
    return code;
}

int redist__f_plan_halo(MPI_Fint comm, int ndims, const redist_index sizes[], const redist_box *box,
                        const CFI_cdesc_t *array, const redist_halo *halo,
                        const redist_options *options, redist_plan **plan) {
    MPI_Datatype datatype = redist__f_datatype(array, array);
    redist_box in_array = box_in(box, ndims, array);
    int code = redist_plan_halo(MPI_Comm_f2c(comm), datatype, ndims, sizes, &in_array,
                                redist__f_address(array), halo, options, plan);
    redist__f_datatype_free(&datatype);
    return code;
}

int redist__f_plan_execute_arrays(redist_plan *plan, int direction, const CFI_cdesc_t *a,
                                  const CFI_cdesc_t *b) {
    return redist_plan_execute_arrays(plan, direction, redist__f_address(a), redist__f_address(b));
}

int redist__f_plan_start_arrays(redist_plan *plan, int direction, const CFI_cdesc_t *a,
                                const CFI_cdesc_t *b) {
    return redist_plan_start_arrays(plan, direction, redist__f_address(a), redist__f_address(b));
}

int redist__f_plan_put_begin(redist_plan *plan, const CFI_cdesc_t *destination) {
    return redist_plan_put_begin(plan, redist__f_address(destination));
}

int redist__f_plan_get_begin(redist_plan *plan, const CFI_cdesc_t *source) {
    return redist_plan_get_begin(plan, redist__f_address(source));
}

/* A tile, which may be a section of an array. */
struct tile {
    redist_index count[CFI_MAX_RANK];
    ptrdiff_t stride[CFI_MAX_RANK];
};

static int read_tile(int ndims, int nstart, const CFI_cdesc_t *array, struct tile *tile) {
    if (nstart != ndims || array->rank != ndims)
        return redist_fail(REDIST_ERR_ARGUMENT,
                           "start has %d values and tile %d axes, but the plan has %d axes", nstart,
                           array->rank, ndims);
    redist__f_extents(array, tile->count);
    for (int i = 0; i < ndims; i++)
        tile->stride[ndims - 1 - i] = array->dim[i].sm;
    return REDIST_OK;
}

int redist__f_plan_put(redist_plan *plan, int ndims, int nstart, const redist_index start[],
                       const CFI_cdesc_t *array) {
    struct tile tile;
    int code = read_tile(ndims, nstart, array, &tile);
    return code ? code : redist_plan_put(plan, start, tile.count, array->base_addr, tile.stride);
}

int redist__f_plan_get(redist_plan *plan, int ndims, int nstart, const redist_index start[],
                       const CFI_cdesc_t *array) {
    struct tile tile;
    int code = read_tile(ndims, nstart, array, &tile);
    return code ? code : redist_plan_get(plan, start, tile.count, array->base_addr, tile.stride);
}

int redist__f_plan_get_comm(const redist_plan *plan, MPI_Fint *comm) {
    MPI_Comm found;
    int code = redist_plan_get_comm(plan, &found);
    if (code == REDIST_OK)
        *comm = MPI_Comm_c2f(found);
    return code;
}

int redist__f_model_fit(MPI_Fint comm, const redist_options *options, redist_model *model) {
    return redist_model_fit(MPI_Comm_f2c(comm), options, model);
}
