/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian process grids and their one-dimensional subgroups. */
#include "../comm/comm.h"

#include <string.h>

/* Unused communicators that a context keeps for the next grid of the same shape. */
enum { KEPT_UNUSED = 2 };

/* The communicators of one grid shape, shared by all grids of this shape. */
struct redist__grid_entry {
    struct redist__kept kept;
    int users;                   /* grids */
    unsigned long long released; /* the number of the release that left it unused */
    int nranks; /* the first ones of the context, by node or not; the others are outside */
    int ndims, by_node;
    int dims[REDIST_MAX_NDIMS];
    int coords[REDIST_MAX_NDIMS]; /* -1 outside */
    MPI_Comm comm;                /* null outside, as the next ones */
    MPI_Comm subcomms[REDIST_MAX_NDIMS];
};

struct redist_grid {
    struct redist__context *context;
    struct redist__grid_entry *entry;
};

/* ---------------------------------------------------------------- choosing and checking dims */

static int check_ndims(const char *function, int ndims) {
    return redist__check_range(function, REDIST_ERR_GRID, "ndims", ndims, 1, REDIST_MAX_NDIMS);
}

static int check_dims(const char *function, int size, int ndims, const int dims[]) {
    REDIST_TRY(redist__check_pointer(function, "dims", dims));
    long long product = 1;
    int any_free = 0;
    for (int i = 0; i < ndims; i++) {
        if (dims[i] < 0 || dims[i] > size)
            return redist_fail_in(function, REDIST_ERR_GRID, "dims[%d] = %d does not fit %d ranks",
                                  i, dims[i], size);
        any_free |= dims[i] == 0;
        product *= dims[i] != 0 ? dims[i] : 1;
        if (product > size)
            break;
    }
    if (any_free ? size % (product <= size ? product : size + 1) != 0 : product != size)
        return redist_fail_in(function, REDIST_ERR_GRID,
                              "the product of dims is %lld%s, which does not fit %d ranks", product,
                              any_free ? " (zeros left out)" : "", size);
    return REDIST_OK;
}

static int check_grid_arguments(const char *function, int size, int ndims, const int dims[],
                                redist_grid **grid) {
    REDIST_TRY(check_ndims(function, ndims));
    REDIST_TRY(check_dims(function, size, ndims, dims));
    return redist__check_pointer(function, "grid", grid);
}

static int agree_on_grid(const char *function, MPI_Comm comm, int code, int nranks, int by_node,
                         int ndims, const int dims[]) {
    const redist_shared_value values[] = {
        redist_share_number("nranks", nranks), redist_share_number("ndims", ndims),
        redist_share_number("whether it is redist_grid_create_by_node", by_node),
        redist_share("dims", REDIST_SHARED_INTS, code == REDIST_OK ? dims : NULL, (size_t)ndims)};
    return redist_agree_values_in(function, comm, code, sizeof values / sizeof *values, values);
}

/* ---------------------------------------------------------------- communicators */

/* Once the grid is made, a failed rank still takes part in the other calls. */
static int create_comms(MPI_Comm comm, int ndims, const int dims[], MPI_Comm *cart,
                        MPI_Comm subcomms[]) {
    int periods[REDIST_MAX_NDIMS] = {0}, remain[REDIST_MAX_NDIMS] = {0};
    for (int i = 0; i < ndims; i++)
        subcomms[i] = MPI_COMM_NULL;
    int result = redist_insist(MPI_Cart_create(comm, ndims, dims, periods, 0, cart));
    if (result != MPI_SUCCESS)
        *cart = MPI_COMM_NULL;
    int code = redist_check_mpi(result);
    REDIST_TRY(redist_agree(comm, code));
    for (int i = 0; i < ndims; i++) {
        remain[i] = 1;
        result = redist_insist(MPI_Cart_sub(*cart, remain, &subcomms[i]));
        remain[i] = 0;
        if (result != MPI_SUCCESS) {
            subcomms[i] = MPI_COMM_NULL;
            code = redist_check_mpi(result);
        }
    }
    return redist_agree(comm, code);
}

static void free_comms(int ndims, MPI_Comm *cart, MPI_Comm subcomms[]) {
    for (int i = ndims - 1; i >= 0; i--)
        if (subcomms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&subcomms[i]);
    if (*cart != MPI_COMM_NULL)
        MPI_Comm_free(cart);
}

static int choose_dims(int size, int ndims, int dims[]) {
    return redist_check_mpi(MPI_Dims_create(size, ndims, dims));
}

int redist_subcomm(MPI_Comm comm, int ndims, MPI_Comm subcomms[]) {
    REDIST_TRY(redist_check_comm(comm));
    int code = check_ndims(__func__, ndims);
    if (code == REDIST_OK)
        code = redist__check_pointer(__func__, "subcomms", subcomms);
    int dims[REDIST_MAX_NDIMS] = {0}, size;
    MPI_Comm_size(comm, &size);
    REDIST_TRY(agree_on_grid(__func__, comm, code, size, 0, ndims, dims));
    MPI_Comm cart = MPI_COMM_NULL;
    for (int i = 0; i < ndims; i++)
        subcomms[i] = MPI_COMM_NULL;
    code = redist_agree(comm, choose_dims(size, ndims, dims));
    if (code == REDIST_OK)
        code = create_comms(comm, ndims, dims, &cart, subcomms);
    if (code != REDIST_OK)
        free_comms(ndims, &cart, subcomms);
    else
        MPI_Comm_free(&cart);
    return code;
}

/* ---------------------------------------------------------------- remembered grids */

static void free_entry(struct redist__context *context, struct redist__kept *kept) {
    struct redist__grid_entry *entry = (struct redist__grid_entry *)kept;
    (void)context;
    free_comms(entry->ndims, &entry->comm, entry->subcomms);
    redist_release(entry);
}

/* Iterates over the entries of a context; NULL after the last. */
static struct redist__grid_entry *next_entry(const struct redist__context *context,
                                             const struct redist__grid_entry *entry) {
    return (struct redist__grid_entry *)redist__kept(context, REDIST__KEPT_BESIDES, free_entry,
                                                     (const struct redist__kept *)entry);
}

static struct redist__grid_entry *find_entry(const struct redist__context *context, int nranks,
                                             int by_node, int ndims, const int dims[]) {
    struct redist__grid_entry *entry = NULL;
    do
        entry = next_entry(context, entry);
    while (entry != NULL &&
           (entry->nranks != nranks || entry->ndims != ndims || entry->by_node != by_node ||
            memcmp(entry->dims, dims, (size_t)ndims * sizeof *dims) != 0));
    return entry;
}

/* Returns the place of this rank among all: by rank, or sorted by node, in their order within each. */
static int find_place(const struct redist__context *context, int by_node) {
    const int *node_of = context->node_of, own = context->rank;
    int place = 0;
    for (int i = 0; i < context->size && by_node; i++)
        place += node_of[i] < node_of[own] || (node_of[i] == node_of[own] && i < own);
    return by_node ? place : own;
}

/* Makes the communicators of some ranks, or of all in another order. */
static int create_comms_of_some(const struct redist__context *context,
                                struct redist__grid_entry *entry) {
    MPI_Comm sorted = MPI_COMM_NULL;
    int place = find_place(context, entry->by_node);
    int color = place < entry->nranks ? 0 : MPI_UNDEFINED;
    int result = redist_insist(MPI_Comm_split(context->comm, color, place, &sorted));
    int code = redist_agree(context->comm, redist_check_mpi(result));
    if (code == REDIST_OK && sorted != MPI_COMM_NULL)
        code = create_comms(sorted, entry->ndims, entry->dims, &entry->comm, entry->subcomms);
    if (result == MPI_SUCCESS && sorted != MPI_COMM_NULL)
        MPI_Comm_free(&sorted);
    return redist_agree(context->comm, code);
}

static int find_coords(struct redist__grid_entry *entry) {
    int rank;
    for (int i = 0; i < entry->ndims; i++)
        entry->coords[i] = -1;
    if (entry->comm == MPI_COMM_NULL)
        return REDIST_OK;
    REDIST_TRY(redist_check_mpi(MPI_Comm_rank(entry->comm, &rank)));
    return redist_check_mpi(MPI_Cart_coords(entry->comm, rank, entry->ndims, entry->coords));
}

static int connect_entry(struct redist__context *context, struct redist__grid_entry *entry) {
    int code =
        entry->by_node || entry->nranks < context->size
            ? create_comms_of_some(context, entry)
            : create_comms(context->comm, entry->ndims, entry->dims, &entry->comm, entry->subcomms);
    if (code == REDIST_OK)
        code = redist_agree(context->comm, find_coords(entry));
    if (code != REDIST_OK)
        free_comms(entry->ndims, &entry->comm, entry->subcomms);
    return code;
}

/* Makes the communicators unless they exist; then `spare` becomes the entry. */
static int provide_entry(struct redist__context *context, int nranks, int by_node, int ndims,
                         const int dims[], struct redist__grid_entry **spare,
                         struct redist__grid_entry **entry) {
    *entry = find_entry(context, nranks, by_node, ndims, dims);
    if (*entry == NULL) {
        struct redist__grid_entry *fresh = *spare;
        *fresh = (struct redist__grid_entry){.kept.dispose = free_entry,
                                             .nranks = nranks,
                                             .ndims = ndims,
                                             .by_node = by_node,
                                             .comm = MPI_COMM_NULL};
        memcpy(fresh->dims, dims, (size_t)ndims * sizeof *dims);
        for (int i = 0; i < ndims; i++)
            fresh->subcomms[i] = MPI_COMM_NULL;
        REDIST_TRY(connect_entry(context, fresh));
        redist__keep(context, REDIST__KEPT_BESIDES, &fresh->kept);
        *entry = fresh;
        *spare = NULL;
    }
    (*entry)->users++;
    return REDIST_OK;
}

/* Frees the entries unused for longest, beyond those kept: the same on all ranks, which release in the same order. */
static void release_entry(struct redist__context *context, struct redist__grid_entry *released) {
    static atomic_ullong counter;
    struct redist__grid_entry *oldest = NULL, *entry = NULL;
    int unused = 0;
    if (--released->users > 0)
        return;
    released->released = atomic_fetch_add(&counter, 1);
    while ((entry = next_entry(context, entry)) != NULL)
        if (entry->users == 0) {
            unused++;
            oldest = oldest == NULL || entry->released < oldest->released ? entry : oldest;
        }
    if (unused > KEPT_UNUSED)
        redist__discard(context, REDIST__KEPT_BESIDES, &oldest->kept);
}

/* ---------------------------------------------------------------- the public grid */

static int allocate_grid(struct redist_grid **grid, struct redist__grid_entry **spare) {
    *grid = redist_calloc(1, sizeof **grid);
    *spare = redist_calloc(1, sizeof **spare);
    if (*grid == NULL || *spare == NULL || !redist_handle_add(*grid, REDIST_HANDLE_GRID))
        return redist_fail_in("redist_grid_create", REDIST_ERR_MEMORY, "no memory for a grid");
    return REDIST_OK;
}

static int build_grid(struct redist__context *context, int nranks, int by_node, int ndims,
                      int dims[], redist_grid **result) {
    struct redist_grid *grid;
    struct redist__grid_entry *spare, *entry;
    int code = allocate_grid(&grid, &spare);
    if (code == REDIST_OK)
        code = choose_dims(nranks, ndims, dims);
    code = redist_agree(context->comm, code);
    if (code == REDIST_OK)
        code = provide_entry(context, nranks, by_node, ndims, dims, &spare, &entry);
    redist_release(spare);
    if (code != REDIST_OK) {
        redist_handle_remove(grid);
        redist_release(grid);
        return code;
    }
    *grid = (struct redist_grid){context, entry};
    *result = grid;
    return REDIST_OK;
}

/* On the first `nranks` ranks; 0 = all. */
static int create_grid(const char *function, MPI_Comm comm, int nranks, int by_node, int ndims,
                       const int dims[], redist_grid **grid) {
    REDIST_TRY(redist_check_comm_in(function, comm));
    struct redist__context *context;
    int size, chosen[REDIST_MAX_NDIMS];
    MPI_Comm_size(comm, &size);
    nranks = nranks != 0 ? nranks : size;
    int code = check_grid_arguments(function, nranks, ndims, dims, grid);
    REDIST_TRY(agree_on_grid(function, comm, code, nranks, by_node, ndims, dims));
    REDIST_TRY(redist__context_get(comm, &context));
    memcpy(chosen, dims, (size_t)ndims * sizeof *dims);
    code = build_grid(context, nranks, by_node, ndims, chosen, grid);
    if (code != REDIST_OK)
        redist__context_release(context);
    return code;
}

int redist_grid_create(MPI_Comm comm, int ndims, const int dims[], redist_grid **grid) {
    return create_grid(__func__, comm, 0, 0, ndims, dims, grid);
}

int redist_grid_create_by_node(MPI_Comm comm, int ndims, const int dims[], redist_grid **grid) {
    return create_grid(__func__, comm, 0, 1, ndims, dims, grid);
}

int redist_grid_create_on(MPI_Comm comm, int nranks, int by_node, int ndims, const int dims[],
                          redist_grid **grid) {
    return create_grid(__func__, comm, nranks, by_node, ndims, dims, grid);
}

static int check_grid(const char *function, const redist_grid *grid) {
    return redist__check_handle(function, "grid", grid, REDIST_HANDLE_GRID);
}

int redist_grid_free(redist_grid **grid) {
    REDIST_TRY(redist__check_pointer(__func__, "grid", grid));
    if (*grid == NULL)
        return REDIST_OK;
    REDIST_TRY(check_grid(__func__, *grid));
    if (!redist__mpi_is_running())
        return redist_fail(REDIST_ERR_STATE, "MPI is not running: free grids before MPI_Finalize");
    struct redist_grid freed = **grid;
    redist_handle_remove(*grid);
    redist_release(*grid);
    *grid = NULL;
    release_entry(freed.context, freed.entry);
    redist__context_release(freed.context);
    return REDIST_OK;
}

int redist_grid_get(const redist_grid *grid, int *ndims, int dims[], int coords[]) {
    REDIST_TRY(check_grid(__func__, grid));
    const struct redist__grid_entry *entry = grid->entry;
    if (ndims != NULL)
        *ndims = entry->ndims;
    for (int i = 0; i < entry->ndims; i++) {
        if (dims != NULL)
            dims[i] = entry->dims[i];
        if (coords != NULL)
            coords[i] = entry->coords[i];
    }
    return REDIST_OK;
}

int redist_grid_comm(const redist_grid *grid, MPI_Comm *comm) {
    REDIST_TRY(check_grid(__func__, grid));
    REDIST_TRY(redist__check_pointer(__func__, "comm", comm));
    *comm = grid->entry->comm;
    return REDIST_OK;
}

int redist_grid_subcomm(const redist_grid *grid, int dim, MPI_Comm *subcomm) {
    REDIST_TRY(check_grid(__func__, grid));
    REDIST_TRY(redist__check_pointer(__func__, "subcomm", subcomm));
    REDIST_TRY(
        redist__check_range(__func__, REDIST_ERR_GRID, "dim", dim, 0, grid->entry->ndims - 1));
    *subcomm = grid->entry->subcomms[dim];
    return REDIST_OK;
}

/* ---------------------------------------------------------------- boxes of a grid */

static int check_split(const redist_grid *grid, int ndims, const redist_index sizes[],
                       const int axes[]) {
    const char *function = "redist_grid_box";
    REDIST_TRY(redist__check_pointer(function, "sizes", sizes));
    REDIST_TRY(redist__check_pointer(function, "axes", axes));
    REDIST_TRY(
        redist__check_range(function, REDIST_ERR_ARGUMENT, "ndims", ndims, 1, REDIST_MAX_NDIMS));
    if (grid->entry->ndims > ndims)
        return redist_fail_in(function, REDIST_ERR_GRID,
                              "the grid has %d dimensions, the array only ndims = %d",
                              grid->entry->ndims, ndims);
    for (int i = 0; i < ndims; i++)
        if (sizes[i] < 0)
            return redist_fail_in(function, REDIST_ERR_SIZE, "sizes[%d] = %lld is negative", i,
                                  (long long)sizes[i]);
    for (int i = 0; i < grid->entry->ndims; i++) {
        int twice = 0;
        for (int j = 0; j < i; j++)
            twice |= axes[j] == axes[i];
        if (axes[i] < 0 || axes[i] >= ndims || twice)
            return redist_fail_in(function, REDIST_ERR_AXIS, "axes[%d] = %d is %s", i, axes[i],
                                  twice ? "given twice" : "not an axis of the array");
    }
    return REDIST_OK;
}

int redist_grid_box(const redist_grid *grid, int ndims, const redist_index sizes[],
                    const int axes[], redist_box *box) {
    REDIST_TRY(check_grid(__func__, grid));
    REDIST_TRY(check_split(grid, ndims, sizes, axes));
    redist_box own = REDIST_BOX_DEFAULT;
    memcpy(own.count, sizes, (size_t)ndims * sizeof *sizes);
    const struct redist__grid_entry *entry = grid->entry;
    for (int i = 0; i < entry->ndims && entry->coords[i] >= 0; i++)
        redist_decompose(sizes[axes[i]], entry->dims[i], entry->coords[i], &own.count[axes[i]],
                         &own.start[axes[i]]);
    if (entry->coords[0] < 0)
        memset(own.count, 0, sizeof own.count);
    return redist_struct_write(__func__, "box", &own, sizeof own, box);
}
