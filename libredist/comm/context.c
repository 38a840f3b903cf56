/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of contexts. Each is attached to a communicator of the user as an MPI attribute, so that plans and grids
 * make no communicators of their own. It is freed when the user frees the communicator and nothing refers to the
 * context, or in MPI_Finalize.
 */
#include "comm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct redist__context *contexts; /* newest first */
static _Atomic int keyval = MPI_KEYVAL_INVALID;

/* ---------------------------------------------------------------- objects kept for a context */

struct redist__kept *redist__kept(const struct redist__context *context, int order,
                                  void (*dispose)(struct redist__context *, struct redist__kept *),
                                  const struct redist__kept *after) {
    struct redist__kept *kept = after != NULL ? after->next : context->kept[order];
    while (kept != NULL && kept->dispose != dispose)
        kept = kept->next;
    return kept;
}

void redist__keep(struct redist__context *context, int order, struct redist__kept *kept) {
    kept->next = context->kept[order];
    context->kept[order] = kept;
}

void redist__discard(struct redist__context *context, int order, struct redist__kept *kept) {
    struct redist__kept **link = &context->kept[order];
    while (*link != kept)
        link = &(*link)->next;
    *link = kept->next;
    kept->dispose(context, kept);
}

static void free_kept(struct redist__context *context, int order) {
    while (context->kept[order] != NULL)
        redist__discard(context, order, context->kept[order]);
}

/* ---------------------------------------------------------------- tags */

/* Limit of tag blocks (guess): MPI libraries that allow 2^31 tags would cost 16 MiB a communicator. */
enum { MOST_BLOCKS = 1 << 16, WORD = 64, LEAST_TAG_UB = 32767 };

static int count_blocks(void) {
    int *largest = NULL, found = 0;
    int result = MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, (void *)&largest, &found);
    int tags = result == MPI_SUCCESS && found ? *largest : LEAST_TAG_UB;
    int blocks = tags / REDIST__TAGS;
    return blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS;
}

static uint64_t bit_of(int block) {
    return (uint64_t)1 << block % WORD;
}

static int create_tags(struct redist__context *context) {
    context->nblocks = count_blocks();
    context->taken = redist_calloc((size_t)context->nblocks / WORD + 1, sizeof *context->taken);
    if (context->taken == NULL)
        return 0;
    context->taken[0] = bit_of(0); /* belongs to no plan */
    context->next_block = context->taken_blocks = 1;
    return 1;
}

int redist__tags_take(const char *function, struct redist__context *context, int *tag) {
    *tag = -1;
    if (context->taken_blocks == context->nblocks)
        return redist_fail_in(function, REDIST_ERR_LIMIT,
                              "this communicator has %d plans, and MPI has no tags for "
                              "more: free some, or use a duplicate of it",
                              context->taken_blocks - 1);
    while (context->taken[context->next_block / WORD] & bit_of(context->next_block))
        context->next_block = (context->next_block + 1) % context->nblocks;
    int block = context->next_block;
    context->taken[block / WORD] |= bit_of(block);
    context->taken_blocks++;
    context->lives++;
    context->next_block = (block + 1) % context->nblocks;
    *tag = block * REDIST__TAGS;
    return REDIST_OK;
}

void redist__tags_give(struct redist__context *context, int tag) {
    if (tag < 0)
        return;
    int block = tag / REDIST__TAGS;
    context->taken[block / WORD] &= ~bit_of(block);
    context->taken_blocks--;
}

/* ---------------------------------------------------------------- beginning and end */

static void release(struct redist__context *context) {
    redist_release(context->node_ranks);
    redist_release(context->node_of);
    redist_release(context->nodes_sorted);
    redist_release(context->taken);
    redist_release(context->peers);
    if (context->scratch != NULL && !context->scratch->in_use)
        redist_release(context->scratch);
    redist_release(context);
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
    context->scratch = redist_calloc(1, sizeof *context->scratch);
    if (context->node_ranks == NULL || context->node_of == NULL || context->nodes_sorted == NULL ||
        context->scratch == NULL || !create_tags(context)) {
        release(context);
        return NULL;
    }
    return context;
}

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

/* Returns whether the ranks have told each other of failures, as far as this one knows. */
static int expects_notices(struct redist__context *context) {
    int are_waiting = 0;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, REDIST__NOTICE_TAG, context->comm, &are_waiting,
                     MPI_STATUS_IGNORE);
    return are_waiting || atomic_load(&context->has_notices);
}

/* Frees the communicators, except one in which notices of a failure may be on their way: some MPI libraries end the
 * program that frees it then. MPI_Finalize takes such a one. */
static void free_comms(struct redist__context *context) {
    if (context->node != MPI_COMM_NULL)
        MPI_Comm_free(&context->node);
    if (context->comm != MPI_COMM_NULL && !expects_notices(context))
        MPI_Comm_free(&context->comm);
}

static void destroy(struct redist__context *context) {
    if (!unlink_context(context))
        return;
    for (int order = 0; order < REDIST__KEPT_ORDERS; order++)
        free_kept(context, order);
    free_comms(context);
    release(context);
}

void redist__context_release(struct redist__context *context) {
    if (atomic_fetch_sub_explicit(&context->references, 1, memory_order_acq_rel) == 1)
        destroy(context);
}

struct redist__context **redist__contexts_hold(void) {
    size_t count = 0;
    pthread_mutex_lock(&lock);
    for (struct redist__context *context = contexts; context != NULL; context = context->older)
        count++;
    struct redist__context **held = redist_calloc(count + 1, sizeof(struct redist__context *));
    count = 0;
    for (struct redist__context *context = contexts; context != NULL && held != NULL;
         context = context->older) {
        int references = atomic_load(&context->references);
        while (references > 0 &&
               !atomic_compare_exchange_weak(&context->references, &references, references + 1))
            ;
        if (references > 0) /* else a thread is about to free it */
            held[count++] = context;
    }
    pthread_mutex_unlock(&lock);
    return held;
}

static int is_listed(const struct redist__context *context) {
    pthread_mutex_lock(&lock);
    const struct redist__context *other = contexts;
    while (other != NULL && other != context)
        other = other->older;
    pthread_mutex_unlock(&lock);
    return other != NULL;
}

/* Runs when the user frees the communicator. Kept plans go first: they may hold references. */
static int on_comm_free(MPI_Comm comm, int key, void *value, void *state) {
    struct redist__context *context = value;
    (void)comm, (void)key, (void)state;
    if (!is_listed(context))
        return MPI_SUCCESS;
    context->is_left = 1;
    free_kept(context, REDIST__KEPT_PLANS);
    redist__context_release(context);
    return MPI_SUCCESS;
}

/* Finds the newest context; among those that several threads made at the same time, the same on all its ranks, or these
 * would wait for each other. */
static struct redist__context *find_last(void) {
    struct redist__context *last = contexts;
    for (struct redist__context *other = contexts; other != NULL; other = other->older)
        if (other->number > last->number)
            last = other;
    return last;
}

/* ---------------------------------------------------------------- handles not freed by the program */

static redist_closer closers = {NULL, 0, &closers, &closers}; /* a ring; older = the newest one */

void redist_closer_add(MPI_Comm comm, redist_closer *closer, void (*close)(redist_closer *)) {
    const struct redist__context *context = redist__context_owning(comm);
    pthread_mutex_lock(&lock);
    *closer =
        (redist_closer){close, context != NULL ? context->number : 0, &closers, closers.older};
    closer->older->newer = closers.older = closer;
    pthread_mutex_unlock(&lock);
}

void redist_closer_remove(redist_closer *closer) {
    pthread_mutex_lock(&lock);
    if (closer->close != NULL) {
        closer->newer->older = closer->older;
        closer->older->newer = closer->newer;
        closer->close = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* Finds the newest closer of the newest context, or NULL. */
static redist_closer *find_closer(void) {
    redist_closer *found = closers.older;
    for (redist_closer *closer = found; closer != &closers; closer = closer->older)
        found = closer->number > found->number ? closer : found;
    return found != &closers ? found : NULL;
}

static void close_forgotten(void) {
    for (redist_closer *closer; (closer = find_closer()) != NULL;) {
        void (*close)(redist_closer *) = closer->close;
        redist_closer_remove(closer);
        close(closer);
    }
}

static struct redist__ending *endings;

void redist__at_end(struct redist__ending *ending) {
    pthread_mutex_lock(&lock);
    struct redist__ending **link = &endings;
    while (*link != NULL && *link != ending)
        link = &(*link)->next;
    *link = ending;
    pthread_mutex_unlock(&lock);
}

/* Runs at the start of MPI_Finalize, when no other thread is in a call any more. */
static int on_finalize(MPI_Comm comm, int key, void *value, void *state) {
    (void)comm, (void)key, (void)value, (void)state;
    close_forgotten();
    for (struct redist__context *context = contexts; context != NULL; context = context->older)
        free_kept(context, REDIST__KEPT_PLANS); /* may use other contexts */
    while (contexts != NULL)
        destroy(find_last());
    for (const struct redist__ending *ending = endings; ending != NULL; ending = ending->next)
        ending->end();
    int created = atomic_exchange(&keyval, MPI_KEYVAL_INVALID);
    if (created != MPI_KEYVAL_INVALID)
        MPI_Comm_free_keyval(&created);
    return MPI_SUCCESS;
}

/* Open MPI 4.1 sets its topologies up when the first one is made, and crashes if two threads do that at once. */
static int make_topology(void) {
    const int one = 1, no = 0;
    MPI_Comm cart = MPI_COMM_NULL;
    int result = redist_insist(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &no, 0, &cart));
    if (result == MPI_SUCCESS)
        result = MPI_Comm_free(&cart);
    return result;
}

/* Opens a library once more, unless it is linked into the program. */
void redist_stay_loaded(const void *inside) {
    Dl_info object;
    if (dladdr(inside, &object) != 0 && object.dli_fname != NULL)
        (void)dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

int redist_thread_begin(pthread_t *thread, void *(*run)(void *), void *data) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, run, data);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

static int create_keyval(void) {
    int finalize_key, created = MPI_KEYVAL_INVALID;
    redist_stay_loaded(&keyval); /* MPI calls functions of this file from here on */
    REDIST_TRY(redist_check_mpi_in("MPI_Cart_create", make_topology()));
    REDIST_TRY(redist_check_mpi_in(
        "MPI_Comm_create_keyval",
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &finalize_key, NULL)));
    REDIST_TRY(redist_check_mpi_in("MPI_Comm_set_attr",
                                   MPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, NULL)));
    REDIST_TRY(redist_check_mpi_in("MPI_Comm_free_keyval", /* deleted with its attribute */
                                   MPI_Comm_free_keyval(&finalize_key)));
    REDIST_TRY(redist_check_mpi_in(
        "MPI_Comm_create_keyval",
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &created, NULL)));
    atomic_store(&keyval, created);
    return REDIST_OK;
}

/* One thread creates it. No callback of MPI takes this lock, so that calling MPI with it is safe. */
static int provide_keyval(void) {
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_at_a_time);
    int code = atomic_load(&keyval) == MPI_KEYVAL_INVALID ? create_keyval() : REDIST_OK;
    pthread_mutex_unlock(&one_at_a_time);
    return code;
}

/* Adds a context to the list, with one reference. */
static int list(struct redist__context *context) {
    int code = provide_keyval();
    atomic_store(&context->references, 1);
    pthread_mutex_lock(&lock);
    context->older = contexts;
    contexts = context;
    pthread_mutex_unlock(&lock);
    return code;
}

int redist__context_begin(MPI_Comm comm, struct redist__context **context) {
    *context = allocate(comm);
    return *context != NULL
               ? list(*context)
               : redist__fail(REDIST_ERR_MEMORY, "no memory for a communicator's data");
}

int redist__context_attach(MPI_Comm comm, struct redist__context *context) {
    return redist_check_mpi(MPI_Comm_set_attr(comm, atomic_load(&keyval), context));
}

void redist__context_detach(MPI_Comm comm) {
    MPI_Comm_delete_attr(comm, atomic_load(&keyval)); /* releases it */
}

int redist__context_find(MPI_Comm comm, struct redist__context **context) {
    int found = 0, code = REDIST_OK, key = atomic_load(&keyval);
    if (key != MPI_KEYVAL_INVALID)
        code = redist_check_mpi(redist_insist(MPI_Comm_get_attr(comm, key, context, &found)));
    if (found)
        return code;
    pthread_mutex_lock(&lock);
    for (*context = contexts; *context != NULL && (*context)->comm != comm;)
        *context = (*context)->older;
    pthread_mutex_unlock(&lock);
    return code;
}

struct redist__context *redist__context_owning(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    struct redist__context *context = contexts;
    while (context != NULL && context->comm != comm && context->node != comm)
        context = context->older;
    pthread_mutex_unlock(&lock);
    return context;
}
