/* SPDX-License-Identifier: BSD-3-Clause */
#include "nccl_link.h"
#include "../sync/notice.h"
#include "packing.h"

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct redist__nccl_link {
    struct redist__kept kept;
    redist_place place; /* without a stream */
    pthread_mutex_t lock;
    ncclComm_t comm;           /* or NULL */
    unsigned long long number; /* of this or the last one */
    struct redist__watched watched;
    struct redist__nccl_user *users; /* asynchronous plans */
    int looks_in_vain;               /* since another thread is in a call */
};

int redist__nccl_result(ncclResult_t result, const char *what) {
    if (result == ncclSuccess)
        return REDIST_OK;
    const char *last = ncclGetLastError(NULL);
    cudaError_t error = cudaGetLastError(); /* clears it for the user's own checks */
    return redist__fail(REDIST_ERR_DEVICE, "%s: %s (%s; CUDA's last error: %s)", what,
                        ncclGetErrorString(result), last != NULL ? last : "",
                        cudaGetErrorString(error));
}

/* ---------------------------------------------------------------- use */

unsigned long long redist__nccl_number(struct redist__nccl_link *link) {
    pthread_mutex_lock(&link->lock);
    unsigned long long number = link->comm != NULL ? link->number : 0;
    pthread_mutex_unlock(&link->lock);
    return number;
}

int redist__nccl_given_up(void) {
    return redist__fail(REDIST_ERR_DEVICE, "NCCL's communicator was given up after a failure: free "
                                           "the plan and make a new one");
}

ncclComm_t redist__nccl_enter(struct redist__nccl_link *link, unsigned long long number) {
    pthread_mutex_lock(&link->lock);
    if (link->comm != NULL && link->number == number)
        return link->comm;
    pthread_mutex_unlock(&link->lock);
    (void)redist__nccl_given_up();
    return NULL;
}

void redist__nccl_leave(struct redist__nccl_link *link) {
    pthread_mutex_unlock(&link->lock);
}

int redist__nccl_check(struct redist__nccl_link *link, unsigned long long number) {
    ncclResult_t result = ncclSuccess;
    ncclComm_t comm = redist__nccl_enter(link, number);
    if (comm == NULL)
        return REDIST_ERR_DEVICE;
    int code = redist__nccl_result(ncclCommGetAsyncError(comm, &result), "ncclCommGetAsyncError");
    redist__nccl_leave(link);
    if (code == REDIST_OK && result != ncclInProgress)
        code = redist__nccl_result(result, "a message of NCCL");
    return code;
}

/* The end of a communicator, by a thread: NCCL waits for captured graphs to be destroyed, which may be later. */
struct end {
    redist_place place;
    ncclComm_t comm;
    int aborts;
};

/* Seconds for which the end of a communicator is waited for. */
enum { LONGEST_END = 5 };

static void *end_comm(void *data) {
    struct end *end = data;
    redist_visit visit;
    if (redist_enter(&end->place, &visit) == REDIST_OK)
        (void)(end->aborts ? ncclCommAbort : ncclCommDestroy)(end->comm);
    redist_leave(&visit);
    redist_release(end);
    return NULL;
}

/* Ends the communicator, and waits for that some seconds at most. Without memory or a thread it is left alone. */
static void end_link(struct redist__nccl_link *link, int aborts, int seconds) {
    struct end *end = redist_calloc(1, sizeof *end);
    struct timespec until;
    pthread_t thread;
    if (end == NULL)
        return;
    *end = (struct end){link->place, link->comm, aborts};
    link->comm = NULL;
    redist_stay_loaded(__func__);
    if (pthread_create(&thread, NULL, end_comm, end) != 0) {
        redist_release(end);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += seconds;
    if (seconds == 0 || pthread_timedjoin_np(thread, NULL, &until) != 0)
        pthread_detach(thread);
}

/* In the link's place. */
static void abort_comm(struct redist__nccl_link *link) {
    for (const struct redist__nccl_user *user = link->users; user != NULL; user = user->next)
        atomic_store(user->word, user->failure);
    end_link(link, 1, link->users != NULL ? 0 : LONGEST_END);
}

void redist__nccl_abort(struct redist__nccl_link *link, unsigned long long number) {
    pthread_mutex_lock(&link->lock);
    if (link->comm != NULL && link->number == number) {
        if (!redist_place_is_gone())
            abort_comm(link);
        link->comm = NULL;
    }
    pthread_mutex_unlock(&link->lock);
}

/* ---------------------------------------------------------------- watch */

/* Looks at the communicator. A call of another thread that lasts for several looks waits for a peer that is gone: abort
 * is the one function of NCCL that may be called beside it. */
static void look(struct redist__watched *watched, int is_lost) {
    enum { PATIENCE = 5 };
    struct redist__nccl_link *link = watched->data;
    ncclResult_t result = ncclSuccess;
    redist_visit visit;
    int is_locked = pthread_mutex_trylock(&link->lock) == 0;
    link->looks_in_vain = is_locked || !is_lost ? 0 : link->looks_in_vain + 1;
    if (!is_locked && link->looks_in_vain < PATIENCE)
        return;
    if (link->comm != NULL && redist_enter(&link->place, &visit) == REDIST_OK) {
        if (is_lost || ncclCommGetAsyncError(link->comm, &result) != ncclSuccess ||
            (result != ncclSuccess && result != ncclInProgress))
            abort_comm(link);
        redist_leave(&visit);
    }
    if (is_locked)
        pthread_mutex_unlock(&link->lock);
}

int redist__nccl_watch(const struct redist__problem *problem, struct redist__nccl_link *link,
                       struct redist__nccl_user *user) {
    const _Atomic uint64_t *word;
    int is_first = link->users == NULL, code = REDIST_OK;
    pthread_mutex_lock(&link->lock);
    user->next = link->users;
    link->users = user;
    pthread_mutex_unlock(&link->lock);
    redist__keep_first(&code, redist__notice_take(problem->context, problem->space, &word));
    link->watched = is_first ? (struct redist__watched){.look = look, .data = link} : link->watched;
    if (is_first)
        redist__notice_watch(problem->context, &link->watched);
    return redist_agree(problem->context->comm, code);
}

void redist__nccl_unwatch(const struct redist__problem *problem, struct redist__nccl_link *link,
                          struct redist__nccl_user *user) {
    pthread_mutex_lock(&link->lock);
    struct redist__nccl_user **place = &link->users;
    while (*place != user)
        place = &(*place)->next;
    *place = user->next;
    int is_last = link->users == NULL;
    pthread_mutex_unlock(&link->lock);
    if (is_last)
        redist__notice_unwatch(problem->context, &link->watched);
    redist__notice_give(problem->context);
}

/* ---------------------------------------------------------------- making */

static void free_link(struct redist__context *context, struct redist__kept *kept) {
    struct redist__nccl_link *link = (struct redist__nccl_link *)kept;
    redist_visit visit;
    int aborts = redist__peers_see(context) != REDIST_OK; /* it would wait for them */
    if (redist_enter(&link->place, &visit) == REDIST_OK && link->comm != NULL)
        end_link(link, aborts, LONGEST_END);
    redist_leave(&visit);
    pthread_mutex_destroy(&link->lock);
    redist_release(link);
}

static struct redist__nccl_link *next_link(const struct redist__problem *problem,
                                           const struct redist__nccl_link *link) {
    return (struct redist__nccl_link *)(link != NULL
                                            ? redist__kept_next(&link->kept)
                                            : redist__kept(problem->context, REDIST__KEPT_BESIDES,
                                                           free_link));
}

enum { MOST_LINKS = 30 };

/* Returns a bit for each link of this rank's place, the newest first. */
static int find_links(const struct redist__problem *problem) {
    const struct redist__nccl_link *link = next_link(problem, NULL);
    int bits = 0;
    for (int i = 0; i < MOST_LINKS && link != NULL; i++, link = next_link(problem, link))
        bits |= (link->place.context == problem->place.context) << i;
    return bits;
}

static int keep_link(const struct redist__problem *problem, struct redist__nccl_link **result) {
    struct redist__nccl_link *link = redist_calloc(1, sizeof *link);
    int code = redist__agree_memory(problem->context->comm, link, "for a communicator of NCCL");
    if (code != REDIST_OK) {
        redist_release(link);
        return code;
    }
    link->kept.dispose = free_link;
    link->place = problem->place;
    link->place.has_stream = 0;
    pthread_mutex_init(&link->lock, NULL);
    redist__keep(problem->context, REDIST__KEPT_BESIDES, &link->kept);
    *result = link;
    return REDIST_OK;
}

/* Finds a link of the current places of all ranks, else makes a new one. */
static int provide_link(const struct redist__problem *problem, struct redist__nccl_link **link) {
    int common = 0;
    REDIST_TRY(redist__find_common(problem->context, find_links(problem), &common));
    if (common == 0)
        return keep_link(problem, link);
    *link = next_link(problem, NULL);
    for (; (common & 1) == 0; common >>= 1)
        *link = next_link(problem, *link);
    return REDIST_OK;
}

static int connect_comm(const struct redist__problem *problem, ncclComm_t *comm) {
    const struct redist__context *context = problem->context;
    ncclUniqueId id = {{0}};
    int code = REDIST_OK;
    if (context->rank == 0)
        code = redist__nccl_result(ncclGetUniqueId(&id), "ncclGetUniqueId");
    redist__keep_first(&code, redist_broadcast(context->comm, &id, sizeof id, 0));
    REDIST_TRY(redist_agree(context->comm, code));
    code = redist__nccl_result(ncclCommInitRank(comm, context->size, id, context->rank),
                               "ncclCommInitRank");
    code = redist_agree(context->comm, code);
    if (code != REDIST_OK && *comm != NULL) {
        ncclCommAbort(*comm);
        *comm = NULL;
    }
    return code;
}

/* Checks first that no device has two ranks, which NCCL refuses late, and on some ranks with a crash. A watcher may
 * have given up a communicator on some ranks only. */
int redist__nccl_connect(const struct redist__problem *problem, struct redist__nccl_link **link) {
    static atomic_ullong counter;
    struct redist__context *context = problem->context;
    int is_common;
    REDIST_TRY(provide_link(problem, link));
    unsigned long long number = redist__nccl_number(*link);
    REDIST_TRY(redist__find_common(context, number != 0, &is_common));
    if (is_common)
        return REDIST_OK;
    redist__nccl_abort(*link, number);
    REDIST_TRY(redist__check_devices(problem, "nccl"));
    ncclComm_t comm = NULL;
    REDIST_TRY(connect_comm(problem, &comm));
    pthread_mutex_lock(&(*link)->lock);
    (*link)->comm = comm;
    (*link)->number = atomic_fetch_add(&counter, 1) + 1;
    pthread_mutex_unlock(&(*link)->lock);
    return REDIST_OK;
}
