/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One private communicator per communicator of the user, attached to it as an MPI attribute: plans and
 * grids come and go without making communicators. It goes when the user frees the communicator and
 * nothing refers to it any more, or in MPI_Finalize.
 */
#include "context.h"
#include "../api/exchange.h"
#include "cores.h"
#include "error.h"
#include "grid.h"
#include "waiting.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__context *contexts; /* newest first */
static _Atomic int keyval = MPI_KEYVAL_INVALID;

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
        redist__peers_free(context);
        redist__tags_free(&context->tags);
    }
    redist_release(context);
}

static void destroy(struct redist__context *context) {
    if (!unlink_context(context))
        return;
    redist__exchanges_free(context);
    redist__grid_entries_free(context);
    if (context->free_flags != NULL)
        context->free_flags(context);
    if (context->attached != NULL)
        context->detach(context->attached);
    if (context->node != MPI_COMM_NULL)
        MPI_Comm_free(&context->node);
    if (context->comm != MPI_COMM_NULL)
        MPI_Comm_free(&context->comm);
    release(context);
}

void redist__context_release(struct redist__context *context) {
    if (atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) == 1)
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

/* The newest one; of contexts that several threads made at the same time the same one on all its ranks,
 * or these would wait for each other. */
static struct redist__context *find_last(void) {
    struct redist__context *last = contexts;
    for (struct redist__context *other = contexts; other != NULL; other = other->older)
        if (other->number > last->number)
            last = other;
    return last;
}

/* MPI calls this at the start of MPI_Finalize, when no other thread is in a call any more. */
static int on_finalize(MPI_Comm comm, int key, void *value, void *state) {
    (void)comm, (void)key, (void)value, (void)state;
    for (struct redist__context *context = contexts; context != NULL; context = context->older)
        redist__exchanges_free(context); /* they may use other contexts */
    while (contexts != NULL)
        destroy(find_last());
    int created = atomic_exchange(&keyval, MPI_KEYVAL_INVALID);
    if (created != MPI_KEYVAL_INVALID)
        MPI_Comm_free_keyval(&created);
    return MPI_SUCCESS;
}

static int create_keyval(void) {
    int finalize_key, created = MPI_KEYVAL_INVALID;
    int result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &finalize_key, NULL);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, NULL);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_free_keyval(&finalize_key); /* goes with its attribute */
    if (result == MPI_SUCCESS)
        result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &created, NULL);
    if (result == MPI_SUCCESS)
        atomic_store(&keyval, created);
    return redist_check_mpi(result);
}

/* One thread creates it. No callback of MPI takes this lock, so that calling MPI with it is safe. */
static int provide_keyval(void) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    int code = atomic_load(&keyval) == MPI_KEYVAL_INVALID ? create_keyval() : REDIST_OK;
    pthread_mutex_unlock(&one_at_a_time);
    return code;
}

/* REDIST_NODE_SIZE cuts a node in pieces, to try on one machine what happens between nodes. */
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

static int split_node(struct redist__context *context) {
    int result = redist_insist(
        MPI_Comm_split_type(context->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &context->node));
    if (result != MPI_SUCCESS)
        context->node = MPI_COMM_NULL;
    const char *text = getenv("REDIST_NODE_SIZE");
    int node_size = text != NULL ? atoi(text) : 0;
    if (result == MPI_SUCCESS && node_size > 0)
        result = cut_node(context, node_size);
    return redist_check_mpi(result);
}

static int compare_nodes(const void *left, const void *right) {
    int a = *(const int *)left, b = *(const int *)right;
    return (a > b) - (a < b);
}

/* Every rank publishes the lowest one of its node. */
static int number_nodes(struct redist__context *context) {
    int leader = 0;
    while (leader < context->size - 1 && context->node_ranks[leader] < 0)
        leader++;
    int code = redist_check_mpi(redist_insist(
        MPI_Allgather(&leader, 1, MPI_INT, context->node_of, 1, MPI_INT, context->comm)));
    for (int rank = 0; rank < context->size && code == REDIST_OK; rank++) {
        leader = context->node_of[rank];
        context->node_of[rank] = leader == rank ? context->nnodes++ : context->node_of[leader];
    }
    memcpy(context->nodes_sorted, context->node_of, (size_t)context->size * sizeof(int));
    qsort(context->nodes_sorted, (size_t)context->size, sizeof(int), compare_nodes);
    return code;
}

static int translate_ranks(struct redist__context *context, MPI_Group all, MPI_Group node) {
    int result = MPI_SUCCESS;
    for (int rank = 0; rank < context->size && result == MPI_SUCCESS; rank++) {
        result = MPI_Group_translate_ranks(all, 1, &rank, node, &context->node_ranks[rank]);
        if (context->node_ranks[rank] == MPI_UNDEFINED)
            context->node_ranks[rank] = -1;
    }
    return result;
}

static int find_node_ranks(struct redist__context *context) {
    MPI_Group all = MPI_GROUP_NULL, node = MPI_GROUP_NULL;
    int result = MPI_Comm_group(context->comm, &all);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_group(context->node, &node);
    if (result == MPI_SUCCESS)
        result = translate_ranks(context, all, node);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    if (node != MPI_GROUP_NULL)
        MPI_Group_free(&node);
    return redist_check_mpi(result);
}

/* A number for the context: how many its first rank has counted, then that rank's own. */
static int number_context(struct redist__context *context) {
    static _Atomic uint32_t counter;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    uint64_t number = (uint64_t)(atomic_fetch_add(&counter, 1) + 1) << 32 | (uint32_t)rank;
    int code =
        redist_check_mpi(redist_insist(MPI_Bcast(&number, 1, MPI_UINT64_T, 0, context->comm)));
    context->number = number;
    return code;
}

static int first_failure(int earlier, int code) {
    return earlier != REDIST_OK ? earlier : code;
}

/* A rank that has failed takes part in the collective calls all the same. */
static int describe_nodes(struct redist__context *context) {
    int code = find_node_ranks(context);
    code = first_failure(code, number_nodes(context));
    code = first_failure(code, number_context(context));
    return first_failure(code, redist__cores_count(context->node, &context->crowded));
}

/* A split leaves the Cartesian topology behind that a duplicate would keep: Open MPI 4.1 takes the
 * neighbours of a topology for the ranks in MPI_Ialltoallw and reads past the datatypes. */
static int split_comm(MPI_Comm comm, struct redist__context *context) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    int result = redist_insist(MPI_Comm_split(comm, 0, rank, &context->comm));
    if (result != MPI_SUCCESS)
        context->comm = MPI_COMM_NULL;
    return redist_check_mpi(result);
}

static int connect_context(MPI_Comm comm, struct redist__context *context) {
    int code = redist_agree(comm, split_comm(comm, context));
    if (code != REDIST_OK)
        return code;
    MPI_Comm_set_errhandler(context->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->comm, &context->rank);
    MPI_Comm_size(context->comm, &context->size);
    code = redist_agree(comm, split_node(context));
    if (code != REDIST_OK)
        return code;
    MPI_Comm_set_errhandler(context->node, MPI_ERRORS_RETURN);
    MPI_Comm_rank(context->node, &context->node_rank);
    MPI_Comm_size(context->node, &context->node_size);
    code = describe_nodes(context);
    int found = redist__peers_find(context);
    return code == REDIST_OK ? found : code;
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
    context->peers = redist__peers_allocate(size);
    if (context->node_ranks == NULL || context->node_of == NULL || context->nodes_sorted == NULL ||
        context->peers == NULL || !redist__tags_create(&context->tags)) {
        release(context);
        return NULL;
    }
    return context;
}

static void add_to_list(struct redist__context *context) {
    pthread_mutex_lock(&lock);
    context->older = contexts;
    contexts = context;
    pthread_mutex_unlock(&lock);
}

/* Makes the context an attribute of the user's communicator, which refers to it from then on. */
static int attach(MPI_Comm comm, struct redist__context *context) {
    int mine = redist_check_mpi(MPI_Comm_set_attr(comm, atomic_load(&keyval), context));
    int code = redist_agree(comm, mine);
    if (code != REDIST_OK && mine == REDIST_OK)
        MPI_Comm_delete_attr(comm, atomic_load(&keyval)); /* destroys it */
    else if (code != REDIST_OK)
        destroy(context);
    return code;
}

static int create(MPI_Comm comm, struct redist__context **result) {
    struct redist__context *context = allocate(comm);
    int code = context != NULL
                   ? provide_keyval()
                   : redist_fail(REDIST_ERR_MEMORY, "no memory for a communicator's data");
    code = redist_agree(comm, code);
    if (code != REDIST_OK) {
        release(context);
        return code;
    }
    add_to_list(context);
    atomic_store(&context->references, 1); /* held by the attribute */
    code = redist_agree(comm, connect_context(comm, context));
    if (code != REDIST_OK)
        destroy(context);
    else
        code = attach(comm, context);
    if (code == REDIST_OK)
        *result = context;
    return code;
}

int redist__context_get(MPI_Comm comm, struct redist__context **context) {
    int found = 0, code = REDIST_OK, key = atomic_load(&keyval);
    if (key != MPI_KEYVAL_INVALID)
        code = redist_check_mpi(redist_insist(MPI_Comm_get_attr(comm, key, context, &found)));
    if (code == REDIST_OK && !found)
        code = create(comm, context);
    if (code == REDIST_OK)
        atomic_fetch_add(&(*context)->references, 1);
    return code;
}

struct redist__context *redist__context_find(MPI_Comm comm) {
    struct redist__context *context = NULL;
    int found = 0, key = atomic_load(&keyval);
    if (key != MPI_KEYVAL_INVALID)
        (void)redist_insist(MPI_Comm_get_attr(comm, key, &context, &found));
    if (found)
        return context;
    pthread_mutex_lock(&lock);
    for (context = contexts; context != NULL && context->comm != comm;)
        context = context->older;
    pthread_mutex_unlock(&lock);
    return context;
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
