/* SPDX-License-Identifier: BSD-3-Clause */
#include "notice.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

/* Period of the checks, which take some 10 us for each peer. */
static const long nanoseconds_per_look = 200000000;

/* The state of a context. The word's page is registered with the device, not owned: a reset leaves the thread alone. */
struct notice {
    struct redist__kept kept;
    const struct redist__context *context;
    const struct redist__space *space;
    _Atomic uint64_t *word;
    int plans, is_pinned;
    struct redist__watched *watched;
    struct notice *next; /* of the list of notices with plans */
    char room[];
};

/* The thread runs while notices exist. `changes` protects its begin and end, `lock` the list. */
static pthread_mutex_t changes = PTHREAD_MUTEX_INITIALIZER, lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ends;
static pthread_t watcher;
static int has_watcher;
static struct notice *notices;

/* ---------------------------------------------------------------- checks */

static void look(const struct notice *notice) {
    if (atomic_load(notice->word) == 0 && redist__peers_see(notice->context) != REDIST_OK)
        atomic_store(notice->word, 1);
    for (struct redist__watched *watched = notice->watched; watched != NULL;
         watched = watched->next)
        watched->look(watched, atomic_load(notice->word) != 0);
}

static void *watch(void *nothing) {
    pthread_mutex_lock(&lock);
    while (notices != NULL) {
        struct timespec next;
        for (const struct notice *notice = notices; notice != NULL; notice = notice->next)
            look(notice);
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_nsec += nanoseconds_per_look;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&ends, &lock, &next);
    }
    pthread_mutex_unlock(&lock);
    return nothing;
}

static int begin_watcher(void) {
    pthread_condattr_t monotonic;
    redist_stay_loaded(__func__);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ends, &monotonic);
    pthread_condattr_destroy(&monotonic);
    has_watcher = redist_thread_begin(&watcher, watch, NULL) == 0;
    return has_watcher ? REDIST_OK
                       : redist__fail(REDIST_ERR_MEMORY, "no thread for checks of peers");
}

static void end_watcher(void) {
    pthread_cond_signal(&ends);
    pthread_join(watcher, NULL);
    pthread_cond_destroy(&ends);
    has_watcher = 0;
}

/* ---------------------------------------------------------------- plans */

static void free_notice(struct redist__context *context, struct redist__kept *kept) {
    struct notice *notice = (struct notice *)kept;
    (void)context;
    if (notice->is_pinned)
        notice->space->unpin((void *)notice->word);
    redist_release(notice);
}

static struct notice *notice_of(const struct redist__context *context) {
    return (struct notice *)redist__kept(context, REDIST__KEPT_BESIDES, free_notice, NULL);
}

/* Registers the word, again after a reset of the device. */
static void pin_word(struct notice *notice, size_t page) {
    notice->word = (void *)(notice->room + (page - (uintptr_t)notice->room % page) % page);
    notice->is_pinned = notice->space->is_pinned((void *)notice->word, page) ||
                        notice->space->pin((void *)notice->word, page);
}

static void list(struct notice *notice) {
    pthread_mutex_lock(&lock);
    notice->next = notices;
    notices = notice;
    pthread_mutex_unlock(&lock);
}

static void unlist(struct notice *notice) {
    pthread_mutex_lock(&lock);
    struct notice **link = &notices;
    while (*link != notice)
        link = &(*link)->next;
    *link = notice->next;
    pthread_mutex_unlock(&lock);
}

static int add_plan(struct notice *notice) {
    int code = REDIST_OK;
    pthread_mutex_lock(&changes);
    if (notice->plans++ == 0) {
        list(notice);
        code = has_watcher ? REDIST_OK : begin_watcher();
    }
    pthread_mutex_unlock(&changes);
    return code;
}

int redist__notice_take(struct redist__context *context, const struct redist__space *space,
                        const _Atomic uint64_t **word) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct redist__kept *kept;
    REDIST_TRY(redist__provide(context, REDIST__KEPT_BESIDES, sizeof(struct notice) + 2 * page,
                               free_notice, &kept));
    struct notice *notice = (struct notice *)kept;
    notice->context = context;
    notice->space = space;
    pin_word(notice, page);
    *word = notice->is_pinned ? notice->word : NULL;
    return redist_agree(context->comm, add_plan(notice));
}

void redist__notice_watch(const struct redist__context *context, struct redist__watched *watched) {
    struct notice *notice = notice_of(context);
    pthread_mutex_lock(&lock);
    if (notice != NULL) {
        watched->next = notice->watched;
        notice->watched = watched;
    }
    pthread_mutex_unlock(&lock);
}

void redist__notice_unwatch(const struct redist__context *context,
                            struct redist__watched *watched) {
    struct notice *notice = notice_of(context);
    pthread_mutex_lock(&lock);
    for (struct redist__watched **link = notice != NULL ? &notice->watched : NULL;
         link != NULL && *link != NULL; link = &(*link)->next)
        if (*link == watched) {
            *link = watched->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

void redist__notice_give(const struct redist__context *context) {
    struct notice *notice = notice_of(context);
    if (notice == NULL) /* without memory for it */
        return;
    pthread_mutex_lock(&changes);
    if (--notice->plans == 0) {
        unlist(notice);
        if (notices == NULL && has_watcher)
            end_watcher();
    }
    pthread_mutex_unlock(&changes);
}
