/* SPDX-License-Identifier: BSD-3-Clause */
/* Making of contexts: private communicators, the nodes of the ranks, and their processes. */
#include "comm.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Cuts a node by REDIST_NODE_SIZE, to test methods between nodes on one machine. Processes still show lost peers. */
static int cut_node(struct redist__context *context, int node_size) {
    MPI_Comm whole = context->node;
    int rank; /* in MPI_COMM_WORLD: all communicators see the same nodes */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN);
    int result = redist_insist(MPI_Comm_split(whole, rank / node_size, rank, &context->node));
    if (result != MPI_SUCCESS)
        context->node = MPI_COMM_NULL;
    MPI_Comm_free(&whole);
    return result;
}

/* Compares REDIST_NODE_SIZE (0 = unset) on all ranks, since all communicators must see the same nodes. Collective. */
static int agree_on_node_size(const struct redist__context *context, int *node_size) {
    redist_shared_value value = redist_share_number("the environment variable REDIST_NODE_SIZE", 0);
    const char *text = getenv("REDIST_NODE_SIZE");
    int code = REDIST_OK;
    if (text != NULL && text[0] != '\0' && !redist_read_number(text, 0, INT_MAX, &value.value))
        code = redist__fail(REDIST_ERR_ARGUMENT,
                            "the environment variable REDIST_NODE_SIZE = \"%.40s\" is no number of "
                            "ranks in 0..%d: set it to one, or unset it",
                            text, INT_MAX);
    *node_size = (int)value.value;
    return redist_agree_values_in("libredist", context->comm, code, 1, &value);
}

/* Describes the processes of the node to each other, also if the node is cut afterwards. */
static int find_peers(struct redist__context *context) {
    struct redist__peer *all;
    const struct redist__peer self = redist__peers_describe(context, &all);
    return redist_all_gather(context->node, &self, sizeof self, all);
}

static int split_node(struct redist__context *context) {
    int node_size;
    REDIST_TRY(agree_on_node_size(context, &node_size));
    int result = redist_insist(
        MPI_Comm_split_type(context->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &context->node));
    if (result != MPI_SUCCESS) {
        context->node = MPI_COMM_NULL;
        return redist_check_mpi(result);
    }
    REDIST_TRY(find_peers(context));
    return node_size > 0 ? redist_check_mpi(cut_node(context, node_size)) : REDIST_OK;
}

static int compare_nodes(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* Finds the nodes: every rank publishes the lowest rank of its node, and its own rank there. A failed rank still takes
 * part in the collective calls. */
static int find_nodes(struct redist__context *context) {
    int leader = context->rank, code = REDIST_OK;
    redist__keep_first(&code, redist_all_lowest(context->node, leader, &leader));
    redist__keep_first(&code, redist_all_gather(context->comm, &context->node_rank, sizeof(int),
                                                context->node_ranks));
    redist__keep_first(&code,
                       redist_all_gather(context->comm, &leader, sizeof leader, context->node_of));
    for (int rank = 0; rank < context->size && code == REDIST_OK; rank++) {
        int first = context->node_of[rank];
        context->node_of[rank] = first == rank ? context->nnodes++ : context->node_of[first];
        context->node_ranks[rank] = first == leader ? context->node_ranks[rank] : -1;
    }
    memcpy(context->nodes_sorted, context->node_of, (size_t)context->size * sizeof(int));
    qsort(context->nodes_sorted, (size_t)context->size, sizeof(int), compare_nodes);
    return code;
}

/* Numbers the context: by its first rank's count, and that rank's own number. */
static int number_context(struct redist__context *context) {
    static _Atomic uint32_t counter;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t number = (uint64_t)(atomic_fetch_add(&counter, 1) + 1) << 32 | (uint32_t)rank;
    int code = redist_broadcast(context->comm, &number, sizeof number, 0);
    context->number = number;
    return code;
}

/* Splits instead of duplicating, to drop a Cartesian topology: Open MPI 4.1 takes the neighbours of a topology for the
 * ranks in MPI_Ialltoallw and reads past the datatypes. */
static int split_comm(MPI_Comm comm, struct redist__context *context) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int result = redist_insist(MPI_Comm_split(comm, 0, rank, &context->comm));
    if (result != MPI_SUCCESS)
        context->comm = MPI_COMM_NULL;
    return redist_check_mpi(result);
}

/* Connects a new context by communicators of its own, and finds its nodes and peers. Collective. */
static int connect_ranks(MPI_Comm comm, struct redist__context *context) {
    REDIST_TRY(redist_agree(comm, split_comm(comm, context)));
    MPI_Comm_set_errhandler(context->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->comm, &context->rank);
    MPI_Comm_size(context->comm, &context->size);
    REDIST_TRY(redist_agree(comm, split_node(context)));
    MPI_Comm_set_errhandler(context->node, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->node, &context->node_rank);
    MPI_Comm_size(context->node, &context->node_size);
    REDIST_TRY(redist_agree(comm, number_context(context)));
    redist__peers_watch(context);
    int nodes = find_nodes(context);
    int cores = redist__cores_count(context->node, &context->crowded);
    return nodes != REDIST_OK ? nodes : cores;
}

/* ---------------------------------------------------------------- the context of a communicator */

/* Makes the user's communicator refer to the context, by an attribute that holds its first reference. */
static int attach(MPI_Comm comm, struct redist__context *context) {
    int mine = redist__context_attach(comm, context);
    int code = redist_agree(comm, mine);
    if (code != REDIST_OK && mine == REDIST_OK)
        redist__context_detach(comm);
    else if (code != REDIST_OK)
        redist__context_release(context);
    return code;
}

/* Adds a context to the list, without communicators. */
static int begin(MPI_Comm comm, struct redist__context **context) {
    int size;
    MPI_Comm_size(comm, &size);
    REDIST_TRY(redist__context_begin(comm, context));
    (*context)->peers = redist__peers_allocate(size);
    return (*context)->peers != NULL
               ? REDIST_OK
               : redist__fail(REDIST_ERR_MEMORY, "no memory for a communicator's data");
}

static int create(MPI_Comm comm, struct redist__context **result) {
    struct redist__context *context = NULL;
    int code = redist_agree(comm, begin(comm, &context));
    if (code == REDIST_OK)
        code = redist_agree(comm, connect_ranks(comm, context));
    if (code == REDIST_OK)
        code = attach(comm, context);
    else if (context != NULL)
        redist__context_release(context);
    if (code == REDIST_OK)
        *result = context;
    return code;
}

int redist__context_get(MPI_Comm comm, struct redist__context **context) {
    REDIST_TRY(redist__context_find(comm, context));
    if (*context == NULL)
        REDIST_TRY(create(comm, context));
    atomic_fetch_add(&(*context)->references, 1);
    return REDIST_OK;
}

int redist__keep_new(struct redist__context *context, int order, size_t bytes,
                     void (*dispose)(struct redist__context *, struct redist__kept *),
                     struct redist__kept **kept) {
    *kept = redist_calloc(1, bytes);
    int code = redist__agree_memory(context->comm, *kept, "for the data of a communicator");
    if (code != REDIST_OK) {
        redist_release(*kept);
        return code;
    }
    (*kept)->dispose = dispose;
    redist__keep(context, order, *kept);
    return REDIST_OK;
}

int redist__provide(struct redist__context *context, int order, size_t bytes,
                    void (*dispose)(struct redist__context *, struct redist__kept *),
                    struct redist__kept **kept) {
    *kept = redist__kept(context, order, dispose, NULL);
    return *kept != NULL /* on all ranks */
               ? REDIST_OK
               : redist__keep_new(context, order, bytes, dispose, kept);
}

/* Data of another library. */
struct others {
    struct redist__kept kept;
    void (*dispose)(void *data);
    max_align_t data[];
};

static void free_others(struct redist__context *context, struct redist__kept *kept) {
    struct others *others = (struct others *)kept;
    (void)context;
    others->dispose(others->data);
    redist_release(others);
}

static struct others *find_others(const struct redist__context *context,
                                  void (*dispose)(void *data)) {
    struct redist__kept *kept = NULL;
    do
        kept = redist__kept(context, REDIST__KEPT_PLANS, free_others, kept);
    while (kept != NULL && ((struct others *)kept)->dispose != dispose);
    return (struct others *)kept;
}

void *redist_kept_find(MPI_Comm comm, void (*dispose)(void *data)) {
    const struct redist__context *context = redist__context_owning(comm);
    struct others *found = context != NULL ? find_others(context, dispose) : NULL;
    return found != NULL ? found->data : NULL;
}

void redist_kept_dispose(void (*dispose)(void *data)) {
    struct redist__context **held = redist__contexts_hold();
    for (int i = 0; held != NULL && held[i] != NULL; i++) {
        struct others *found = find_others(held[i], dispose);
        if (found != NULL)
            dispose(found->data);
        redist__context_release(held[i]);
    }
    redist_release(held);
}

int redist_kept_provide(MPI_Comm comm, size_t bytes, void (*dispose)(void *data), void **data) {
    struct redist__context *context = redist__context_owning(comm);
    *data = redist_kept_find(comm, dispose);
    if (*data != NULL || context == NULL || context->is_left) /* on all ranks */
        return REDIST_OK;
    struct redist__kept *kept;
    REDIST_TRY(redist__keep_new(context, REDIST__KEPT_PLANS, sizeof(struct others) + bytes,
                                free_others, &kept));
    struct others *others = (struct others *)kept;
    others->dispose = dispose;
    *data = others->data;
    return REDIST_OK;
}

/* Finds the context of a user's communicator without a reference: its attribute holds one. */
static int look_at_context(const char *function, MPI_Comm comm, struct redist__context **context) {
    REDIST_TRY(redist_check_comm_in(function, comm));
    REDIST_TRY(redist__context_get(comm, context));
    redist__context_release(*context);
    return REDIST_OK;
}

int redist_node_size(MPI_Comm comm, int *node_size) {
    struct redist__context *context;
    REDIST_TRY(look_at_context(__func__, comm, &context));
    *node_size = context->node_size;
    return REDIST_OK;
}

int redist_nodes(MPI_Comm comm, int by_node, int *nnodes, const int **node_of) {
    struct redist__context *context;
    REDIST_TRY(look_at_context(__func__, comm, &context));
    *nnodes = context->nnodes;
    *node_of = by_node ? context->nodes_sorted : context->node_of;
    return REDIST_OK;
}

int redist_private_comm(MPI_Comm comm, MPI_Comm *private_comm) {
    struct redist__context *context;
    REDIST_TRY(look_at_context(__func__, comm, &context));
    *private_comm = context->comm;
    return REDIST_OK;
}

int redist_private_comm_find(MPI_Comm comm, MPI_Comm *private_comm) {
    struct redist__context *context;
    REDIST_TRY(redist__context_find(comm, &context));
    *private_comm = context != NULL ? context->comm : MPI_COMM_NULL;
    return REDIST_OK;
}
