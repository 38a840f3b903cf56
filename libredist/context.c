/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One private communicator per communicator of the user, attached to it as an MPI attribute: plans and
 * grids come and go without making communicators. It goes when the user frees the communicator and
 * nothing refers to it any more, or in MPI_Finalize.
 */
#include "context.h"
#include "direct_control.h"
#include "error.h"
#include "exchange.h"
#include "grid.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__context *contexts; /* newest first */
static int keyval = MPI_KEYVAL_INVALID;

static int unlink_context(const struct redist__context *context) {
    pthread_mutex_lock(&lock);
    struct redist__context **link = &contexts;
    while (*link != NULL && *link != context)
        link = &(*link)->older;
    int found = *link != NULL;
    if (found)
        *link = context->older;
    pthread_mutex_unlock(&lock);
    return found;
}

static void release(struct redist__context *context) {
    if (context != NULL) {
        redist_release(context->node_ranks);
        redist_release(context->node_of);
        redist_release(context->nodes_sorted);
    }
    redist_release(context);
}

static void destroy(struct redist__context *context) {
    if (!unlink_context(context))
        return;
    redist__exchanges_free(context);
    redist__grid_entries_free(context);
    redist__control_free(context);
    if (context->attached != NULL)
        context->detach(context->attached);
    if (context->node != MPI_COMM_NULL)
        MPI_Comm_free(&context->node);
    if (context->comm != MPI_COMM_NULL)
        MPI_Comm_free(&context->comm);
    release(context);
}

void redist__context_release(struct redist__context *context) {
    if (--context->references == 0)
        destroy(context);
}

static int is_listed(const struct redist__context *context) {
    pthread_mutex_lock(&lock);
    const struct redist__context *other = contexts;
    while (other != NULL && other != context)
        other = other->older;
    pthread_mutex_unlock(&lock);
    return other != NULL;
}

/* MPI calls this when the user frees the communicator. */
static int on_comm_free(MPI_Comm comm, int key, void *context, void *state) {
    (void)comm, (void)key, (void)state;
    if (is_listed(context))
        redist__context_release(context);
    return MPI_SUCCESS;
}

/* MPI calls this at the start of MPI_Finalize. Newest first: every rank frees in the reverse of the
 * order of creation, which is the same for the ranks of each communicator. */
static int on_finalize(MPI_Comm comm, int key, void *value, void *state) {
    (void)comm, (void)key, (void)value, (void)state;
    for (struct redist__context *context = contexts; context != NULL; context = context->older)
        redist__exchanges_free(context); /* they may use other contexts */
    while (contexts != NULL)
        destroy(contexts);
    if (keyval != MPI_KEYVAL_INVALID)
        MPI_Comm_free_keyval(&keyval);
    return MPI_SUCCESS;
}

static int create_keyval(void) {
    if (keyval != MPI_KEYVAL_INVALID)
        return REDIST_OK;
    int finalize_key;
    int result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &finalize_key, NULL);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, NULL);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_free_keyval(&finalize_key); /* goes with its attribute */
    if (result == MPI_SUCCESS)
        result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &keyval, NULL);
    return redist_check_mpi(result);
}

/* REDIST_NODE_SIZE cuts a node in pieces, to try on one machine what happens between nodes. */
static int split_node(struct redist__context *context) {
    int result =
        MPI_Comm_split_type(context->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &context->node);
    const char *text = getenv("REDIST_NODE_SIZE");
    int node_size = text != NULL ? atoi(text) : 0;
    if (result == MPI_SUCCESS && node_size > 0) {
        MPI_Comm whole = context->node;
        int rank; /* in MPI_COMM_WORLD: all communicators see the same nodes */
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        result = MPI_Comm_split(whole, rank / node_size, rank, &context->node);
        MPI_Comm_free(&whole);
    }
    return redist_check_mpi(result);
}

static int compare_nodes(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* Every rank tells the lowest one of its node. */
static int number_nodes(struct redist__context *context) {
    int leader = 0;
    while (context->node_ranks[leader] < 0)
        leader++;
    int code = redist_check_mpi(
        MPI_Allgather(&leader, 1, MPI_INT, context->node_of, 1, MPI_INT, context->comm));
    for (int rank = 0; rank < context->size && code == REDIST_OK; rank++) {
        leader = context->node_of[rank];
        context->node_of[rank] = leader == rank ? context->nnodes++ : context->node_of[leader];
    }
    memcpy(context->nodes_sorted, context->node_of, (size_t)context->size * sizeof(int));
    qsort(context->nodes_sorted, (size_t)context->size, sizeof(int), compare_nodes);
    return code;
}

static int find_node_ranks(struct redist__context *context) {
    MPI_Group all, node;
    MPI_Comm_group(context->comm, &all);
    MPI_Comm_group(context->node, &node);
    for (int rank = 0; rank < context->size; rank++) {
        MPI_Group_translate_ranks(all, 1, &rank, node, &context->node_ranks[rank]);
        if (context->node_ranks[rank] == MPI_UNDEFINED)
            context->node_ranks[rank] = -1;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&node);
    return number_nodes(context);
}

/* A split leaves the Cartesian topology behind that a duplicate would keep: Open MPI 4.1 takes the
 * neighbours of a topology for the ranks in MPI_Ialltoallw and reads past the datatypes. */
static int connect_context(MPI_Comm comm, struct redist__context *context) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int code = redist_check_mpi(MPI_Comm_split(comm, 0, rank, &context->comm));
    if (code != REDIST_OK)
        return code;
    MPI_Comm_set_errhandler(context->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->comm, &context->rank);
    MPI_Comm_size(context->comm, &context->size);
    code = split_node(context);
    if (code != REDIST_OK)
        return code;
    MPI_Comm_set_errhandler(context->node, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->node, &context->node_rank);
    MPI_Comm_size(context->node, &context->node_size);
    return find_node_ranks(context);
}

static struct redist__context *allocate(MPI_Comm comm) {
    int size;
    MPI_Comm_size(comm, &size);
    struct redist__context *context = redist_calloc(1, sizeof *context);
    if (context == NULL)
        return NULL;
    context->comm = context->node = MPI_COMM_NULL;
    context->node_ranks = redist_calloc((size_t)size, sizeof *context->node_ranks);
    context->node_of = redist_calloc((size_t)size, sizeof *context->node_of);
    context->nodes_sorted = redist_calloc((size_t)size, sizeof *context->nodes_sorted);
    if (context->node_ranks == NULL || context->node_of == NULL || context->nodes_sorted == NULL) {
        release(context);
        return NULL;
    }
    return context;
}

static int create(MPI_Comm comm, struct redist__context **result) {
    struct redist__context *context = allocate(comm);
    int code = context != NULL
                   ? create_keyval()
                   : redist_fail(REDIST_ERR_MEMORY, "no memory for a communicator's data");
    code = redist_agree(comm, code);
    if (code != REDIST_OK) {
        release(context);
        return code;
    }
    pthread_mutex_lock(&lock);
    context->older = contexts;
    contexts = context;
    pthread_mutex_unlock(&lock);
    context->references = 1; /* held by the attribute */
    code = connect_context(comm, context);
    if (code == REDIST_OK)
        code = redist_check_mpi(MPI_Comm_set_attr(comm, keyval, context));
    if (code != REDIST_OK)
        destroy(context);
    else
        *result = context;
    return code;
}

int redist__context_get(MPI_Comm comm, struct redist__context **context) {
    int found = 0, code = REDIST_OK;
    if (keyval != MPI_KEYVAL_INVALID)
        code = redist_check_mpi(MPI_Comm_get_attr(comm, keyval, context, &found));
    if (code == REDIST_OK && !found)
        code = create(comm, context);
    if (code == REDIST_OK)
        (*context)->references++;
    return code;
}

/* The context of a communicator of the user, for a look only: its attribute keeps it. */
static int look_at_context(const char *function, MPI_Comm comm, struct redist__context **context) {
    int code = redist_check_comm_in(function, comm);
    if (code == REDIST_OK)
        code = redist__context_get(comm, context);
    if (code == REDIST_OK)
        redist__context_release(*context);
    return code;
}

int redist_node_size(MPI_Comm comm, int *node_size) {
    struct redist__context *context;
    int code = look_at_context(__func__, comm, &context);
    if (code == REDIST_OK)
        *node_size = context->node_size;
    return code;
}

int redist_nodes(MPI_Comm comm, int by_node, int *nnodes, const int **node_of) {
    int code = redist_check_comm(comm);
    struct redist__context *context;
    if (code == REDIST_OK)
        code = redist__context_get(comm, &context);
    if (code != REDIST_OK)
        return code;
    *nnodes = context->nnodes;
    *node_of = by_node ? context->nodes_sorted : context->node_of;
    redist__context_release(context); /* the attribute keeps it */
    return REDIST_OK;
}

int redist_private_comm(MPI_Comm comm, MPI_Comm *private_comm) {
    struct redist__context *context;
    int code = look_at_context(__func__, comm, &context);
    if (code == REDIST_OK)
        *private_comm = context->comm;
    return code;
}
