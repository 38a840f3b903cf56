/* SPDX-License-Identifier: BSD-3-Clause */
#include "nccl_link.h"
#include "../sync/notice.h"

#include <pthread.h>
#include <stdatomic.h>

struct redist__nccl_link {
    struct redist__kept kept;
    const struct redist__context *context;
    redist_place place; /* without a stream */
    pthread_mutex_t lock;
    struct redist__nccl_comm comm;
    _Atomic uint64_t key;      /* of the communicator, the same on all ranks */
    unsigned long long number; /* of this or the last one */
    int plans;                 /* that use it */
    struct redist__watched watched;
    struct redist__nccl_user *users; /* asynchronous plans */
    int looks_in_vain;               /* since another thread is in a call */
};

/* ---------------------------------------------------------------- use */

unsigned long long redist__nccl_number(struct redist__nccl_link *link) {
    pthread_mutex_lock(&link->lock);
    unsigned long long number = link->comm.handle != NULL ? link->number : 0;
    pthread_mutex_unlock(&link->lock);
    return number;
}

int redist__nccl_given_up(void) {
    return redist__fail(REDIST_ERR_DEVICE, "NCCL's communicator was given up after a failure: free "
                                           "the plan and make a new one");
}

ncclComm_t redist__nccl_enter(struct redist__nccl_link *link, unsigned long long number) {
    pthread_mutex_lock(&link->lock);
    if (link->comm.handle != NULL && link->number == number)
        return link->comm.handle;
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

static void end_comm(struct redist__nccl_link *link, int aborts, int seconds) {
    redist__nccl_comm_end(&link->place, link->comm.handle, aborts, seconds);
    link->comm.handle = NULL;
}

/* Sets the words that know of no failure yet: to the rank that has left, or else to this one. Other ranks of the
 * machine learn of the abort by the record of this process, those of other machines by NCCL. In the link's place. */
static void abort_comm(struct redist__nccl_link *link, int left) {
    for (const struct redist__nccl_user *user = link->users; user != NULL; user = user->next) {
        uint64_t none = 0;
        atomic_compare_exchange_strong(user->word, &none,
                                       left >= 0 ? (uint64_t)left + 1 : user->failure);
    }
    redist__process_leave(link->key);
    end_comm(link, 1, link->users != NULL ? 0 : REDIST__NCCL_LONGEST_END);
}

void redist__nccl_abort(struct redist__nccl_link *link, unsigned long long number) {
    pthread_mutex_lock(&link->lock);
    if (link->comm.handle != NULL && link->number == number) {
        if (redist_place_is_gone())
            redist__process_leave(link->key);
        else
            abort_comm(link, -1);
        link->comm.handle = NULL;
    }
    pthread_mutex_unlock(&link->lock);
}

/* ---------------------------------------------------------------- watch */

/* Looks at the communicator. A call of another thread that lasts for several looks waits for a peer that is gone, or
 * that has left it: abort is the one function of NCCL that may be called beside it. */
static void look(struct redist__watched *watched, int is_gone) {
    enum { PATIENCE = 5 };
    struct redist__nccl_link *link = watched->data;
    ncclResult_t result = ncclSuccess;
    redist_visit visit;
    int is_locked = pthread_mutex_trylock(&link->lock) == 0;
    int left = redist__peers_find_left(link->context, link->key);
    int is_lost = is_gone || left >= 0;
    link->looks_in_vain = is_locked || !is_lost ? 0 : link->looks_in_vain + 1;
    if (!is_locked && link->looks_in_vain < PATIENCE)
        return;
    if (link->comm.handle != NULL && redist_enter(&link->place, &visit) == REDIST_OK) {
        if (is_lost || ncclCommGetAsyncError(link->comm.handle, &result) != ncclSuccess ||
            (result != ncclSuccess && result != ncclInProgress))
            abort_comm(link, left);
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
    if (redist_enter(&link->place, &visit) == REDIST_OK && link->comm.handle != NULL)
        end_comm(link, aborts, REDIST__NCCL_LONGEST_END);
    redist_leave(&visit);
    pthread_mutex_destroy(&link->lock);
    redist_release(link);
}

static struct redist__nccl_link *next_link(const struct redist__problem *problem,
                                           const struct redist__nccl_link *link) {
    return (struct redist__nccl_link *)redist__kept(problem->context, REDIST__KEPT_BESIDES,
                                                    free_link, (const struct redist__kept *)link);
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
    struct redist__kept *kept;
    REDIST_TRY(redist__keep_new(problem->context, REDIST__KEPT_BESIDES,
                                sizeof(struct redist__nccl_link), free_link, &kept));
    struct redist__nccl_link *link = (struct redist__nccl_link *)kept;
    link->context = problem->context;
    link->place = problem->place;
    link->place.has_stream = 0;
    pthread_mutex_init(&link->lock, NULL);
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

/* Provides a communicator. A watcher may have given up the last one on some ranks only. */
static int provide_comm(const struct redist__problem *problem, struct redist__nccl_link *link) {
    static atomic_ullong counter;
    unsigned long long number = redist__nccl_number(link);
    int is_common;
    REDIST_TRY(redist__find_common(problem->context, number != 0, &is_common));
    if (is_common)
        return REDIST_OK;
    redist__nccl_abort(link, number);
    struct redist__nccl_comm comm;
    REDIST_TRY(redist__nccl_comm_provide(problem, &link->place, &comm));
    pthread_mutex_lock(&link->lock);
    link->key = (uint64_t)redist_hash_bytes(0, &comm.id, sizeof comm.id);
    link->comm = comm;
    link->number = atomic_fetch_add(&counter, 1) + 1;
    pthread_mutex_unlock(&link->lock);
    return REDIST_OK;
}

int redist__nccl_connect(const struct redist__problem *problem, struct redist__nccl_link **link) {
    struct redist__nccl_link *provided;
    REDIST_TRY(provide_link(problem, &provided));
    REDIST_TRY(provide_comm(problem, provided));
    provided->plans++;
    *link = provided;
    return REDIST_OK;
}

/* Returns whether nothing has failed that a later plan would inherit. */
static int is_sound(const struct redist__problem *problem, const struct redist__nccl_link *link) {
    ncclResult_t result = ncclSuccess;
    return redist__peers_see(problem->context) == REDIST_OK &&
           ncclCommGetAsyncError(link->comm.handle, &result) == ncclSuccess &&
           result == ncclSuccess;
}

void redist__nccl_disconnect(const struct redist__problem *problem,
                             struct redist__nccl_link *link) {
    if (--link->plans > 0)
        return;
    pthread_mutex_lock(&link->lock);
    if (link->comm.handle != NULL && !redist_place_is_gone()) {
        if (is_sound(problem, link))
            redist__nccl_comm_keep(problem->context, &link->place, &link->comm);
        else
            end_comm(link, 1, REDIST__NCCL_LONGEST_END);
    }
    link->comm.handle = NULL;
    pthread_mutex_unlock(&link->lock);
}
