/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads poll for work for a moment, as the next step of a transform begins soon, and then sleep. Work increments
 * `round`, and each thread that has done it decrements `left`.
 */
#include "thread_pool.h"
#include "redist_support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

/* Polls before a thread sleeps, a guess. Each yields the core. */
enum { POLLS = 200 };

struct member {
    struct fftnd__pool *pool;
    int number;
    pthread_t thread;
    struct fftnd__failure failure;
};

struct fftnd__pool {
    struct lines__threads threads; /* wanted; first, so that it leads to the pool */
    int running;                   /* started besides the caller */
    fftnd__work *work;             /* NULL = the threads are to end */
    void *data;
    _Atomic unsigned round;
    _Atomic int left; /* threads still at work */
    pthread_mutex_t mutex;
    pthread_cond_t begins, ends;
    struct member *members;
};

void fftnd__failure_note(struct fftnd__failure *failure, int code) {
    if (code == REDIST_OK || failure->code != REDIST_OK)
        return;
    const char *message = redist_error_message();
    failure->code = code;
    failure->message = redist_calloc(strlen(message) + 1, 1);
    if (failure->message != NULL)
        strcpy(failure->message, message);
}

int fftnd__failure_report(const struct fftnd__failure *failure) {
    if (failure->code != REDIST_OK)
        redist_set_message(failure->message != NULL ? failure->message
                                                    : redist_error_string(failure->code));
    return failure->code;
}

void fftnd__failure_forget(struct fftnd__failure *failure) {
    redist_release(failure->message);
    *failure = (struct fftnd__failure){REDIST_OK, NULL};
}

/* ---------------------------------------------------------------- the workers */

typedef int condition(struct fftnd__pool *pool, unsigned seen);

static int is_begun(struct fftnd__pool *pool, unsigned seen) {
    return atomic_load_explicit(&pool->round, memory_order_acquire) != seen;
}

static int is_ended(struct fftnd__pool *pool, unsigned seen) {
    (void)seen;
    return atomic_load_explicit(&pool->left, memory_order_acquire) == 0;
}

static void wait_until(struct fftnd__pool *pool, condition *holds, unsigned seen,
                       pthread_cond_t *changed) {
    for (int poll = 0; poll < POLLS; poll++) {
        if (holds(pool, seen))
            return;
        sched_yield();
    }
    pthread_mutex_lock(&pool->mutex);
    while (!holds(pool, seen))
        pthread_cond_wait(changed, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

static void do_work(struct member *member) {
    fftnd__failure_forget(&member->failure);
    fftnd__failure_note(&member->failure, member->pool->work(member->pool->data, member->number));
}

static void report_done(struct fftnd__pool *pool) {
    if (atomic_fetch_sub_explicit(&pool->left, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->ends);
    pthread_mutex_unlock(&pool->mutex);
}

static void *run_worker(void *data) {
    struct member *member = data;
    struct fftnd__pool *pool = member->pool;
    for (unsigned seen = 0;; seen++) {
        wait_until(pool, is_begun, seen, &pool->begins);
        if (pool->work == NULL)
            return NULL;
        do_work(member);
        report_done(pool);
    }
}

/* ---------------------------------------------------------------- the caller */

static void begin_round(struct fftnd__pool *pool, fftnd__work *work, void *data) {
    pool->work = work;
    pool->data = data;
    atomic_store_explicit(&pool->left, pool->running, memory_order_relaxed);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add_explicit(&pool->round, 1, memory_order_release);
    pthread_cond_broadcast(&pool->begins);
    pthread_mutex_unlock(&pool->mutex);
}

int fftnd__pool_run(struct fftnd__pool *pool, fftnd__work *work, void *data) {
    if (pool == NULL)
        return work(data, 0);
    begin_round(pool, work, data);
    do_work(&pool->members[0]);
    wait_until(pool, is_ended, 0, &pool->ends);
    for (int i = 0; i < pool->threads.count; i++)
        REDIST_TRY(fftnd__failure_report(&pool->members[i].failure));
    return REDIST_OK;
}

int fftnd__pool_size(const struct fftnd__pool *pool) {
    return pool != NULL ? pool->threads.count : 1;
}

const struct lines__threads *fftnd__pool_threads(const struct fftnd__pool *pool) {
    return pool != NULL ? &pool->threads : NULL;
}

/* ---------------------------------------------------------------- beginning and end */

static int start_workers(struct fftnd__pool *pool) {
    int failed = 0;
    redist_stay_loaded(__func__);
    for (int i = 1; i < pool->threads.count && !failed; i++) {
        failed = redist_thread_begin(&pool->members[i].thread, run_worker, &pool->members[i]);
        pool->running += !failed;
    }
    return failed;
}

static int run_threads(const struct lines__threads *threads, fftnd__work *work, void *data) {
    return fftnd__pool_run((struct fftnd__pool *)(uintptr_t)threads, work, data);
}

static struct fftnd__pool *allocate(int n) {
    struct fftnd__pool *pool = redist_calloc(1, sizeof *pool);
    struct member *members = redist_calloc((size_t)n, sizeof *members);
    if (pool == NULL || members == NULL) {
        redist_release(pool);
        redist_release(members);
        return NULL;
    }
    pool->threads = (struct lines__threads){n, run_threads};
    pool->members = members;
    for (int i = 0; i < n; i++) {
        members[i].pool = pool;
        members[i].number = i;
    }
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->begins, NULL);
    pthread_cond_init(&pool->ends, NULL);
    return pool;
}

int fftnd__pool_create(int n, struct fftnd__pool **pool) {
    *pool = NULL;
    if (n == 1)
        return REDIST_OK;
    *pool = allocate(n);
    if (*pool != NULL && start_workers(*pool) == 0)
        return REDIST_OK;
    fftnd__pool_free(*pool);
    *pool = NULL;
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                          "options->threads = %d threads could not be started", n);
}

void fftnd__pool_free(struct fftnd__pool *pool) {
    if (pool == NULL)
        return;
    begin_round(pool, NULL, NULL);
    for (int i = 1; i <= pool->running; i++)
        pthread_join(pool->members[i].thread, NULL);
    for (int i = 0; i < pool->threads.count; i++)
        fftnd__failure_forget(&pool->members[i].failure);
    pthread_mutex_destroy(&pool->mutex);
    pthread_cond_destroy(&pool->begins);
    pthread_cond_destroy(&pool->ends);
    redist_release(pool->members);
    redist_release(pool);
}
