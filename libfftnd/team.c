/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads look for work for a moment, since the next step of a transform is not far, and then sleep.
 * The counter of rounds says that there is work, the counter of workers left that all have done it.
 */
#include "team.h"
#include "redist_support.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

/* Looking gives the core away each time, for other threads may need it. */
enum { MESSAGE_BYTES = 512, LOOKS = 200 };

struct member {
    struct fftnd__team *team;
    int number;
    pthread_t thread;
    int code;
    char message[MESSAGE_BYTES];
};

struct fftnd__team {
    int size, running; /* threads wanted, and started besides the caller */
    fftnd__work *work; /* NULL = the threads are to end */
    void *data;
    _Atomic unsigned round;
    _Atomic int left; /* threads that are still at work */
    pthread_mutex_t mutex;
    pthread_cond_t begins, ends;
    struct member *members;
};

/* ---------------------------------------------------------------- the workers */

static int is_begun(struct fftnd__team *team, unsigned seen) {
    return atomic_load_explicit(&team->round, memory_order_acquire) != seen;
}

static void wait_for_round(struct fftnd__team *team, unsigned seen) {
    for (int look = 0; look < LOOKS; look++) {
        if (is_begun(team, seen))
            return;
        sched_yield();
    }
    pthread_mutex_lock(&team->mutex);
    while (!is_begun(team, seen))
        pthread_cond_wait(&team->begins, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

/* Messages of errors are per thread: the member keeps its own for the caller. */
static void do_work(struct member *member) {
    member->code = member->team->work(member->team->data, member->number);
    if (member->code != REDIST_OK)
        snprintf(member->message, sizeof member->message, "%s", redist_error_message());
}

static void report_done(struct fftnd__team *team) {
    if (atomic_fetch_sub_explicit(&team->left, 1, memory_order_acq_rel) > 1)
        return;
    pthread_mutex_lock(&team->mutex);
    pthread_cond_signal(&team->ends);
    pthread_mutex_unlock(&team->mutex);
}

static void *run_worker(void *data) {
    struct member *member = data;
    struct fftnd__team *team = member->team;
    for (unsigned seen = 0;; seen++) {
        wait_for_round(team, seen);
        if (team->work == NULL)
            return NULL;
        do_work(member);
        report_done(team);
    }
}

/* ---------------------------------------------------------------- the caller */

static void begin_round(struct fftnd__team *team, fftnd__work *work, void *data) {
    team->work = work;
    team->data = data;
    atomic_store_explicit(&team->left, team->running, memory_order_relaxed);
    pthread_mutex_lock(&team->mutex);
    atomic_fetch_add_explicit(&team->round, 1, memory_order_release);
    pthread_cond_broadcast(&team->begins);
    pthread_mutex_unlock(&team->mutex);
}

static int is_ended(struct fftnd__team *team) {
    return atomic_load_explicit(&team->left, memory_order_acquire) == 0;
}

static void wait_for_end(struct fftnd__team *team) {
    for (int look = 0; look < LOOKS; look++) {
        if (is_ended(team))
            return;
        sched_yield();
    }
    pthread_mutex_lock(&team->mutex);
    while (!is_ended(team))
        pthread_cond_wait(&team->ends, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

int fftnd__team_run(struct fftnd__team *team, fftnd__work *work, void *data) {
    if (team == NULL)
        return work(data, 0);
    begin_round(team, work, data);
    do_work(&team->members[0]);
    wait_for_end(team);
    for (int i = 0; i < team->size; i++)
        if (team->members[i].code != REDIST_OK) {
            redist_set_message(team->members[i].message);
            return team->members[i].code;
        }
    return REDIST_OK;
}

int fftnd__team_size(const struct fftnd__team *team) {
    return team != NULL ? team->size : 1;
}

/* ---------------------------------------------------------------- beginning and end */

/* Signals are for the program's own threads. */
static int start_workers(struct fftnd__team *team) {
    sigset_t all, before;
    int failed = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (int i = 1; i < team->size && !failed; i++) {
        failed = pthread_create(&team->members[i].thread, NULL, run_worker, &team->members[i]);
        team->running += !failed;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static struct fftnd__team *allocate(int n) {
    struct fftnd__team *team = redist_calloc(1, sizeof *team);
    struct member *members = redist_calloc((size_t)n, sizeof *members);
    if (team == NULL || members == NULL) {
        redist_release(team);
        redist_release(members);
        return NULL;
    }
    team->size = n;
    team->members = members;
    for (int i = 0; i < n; i++) {
        members[i].team = team;
        members[i].number = i;
    }
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->begins, NULL);
    pthread_cond_init(&team->ends, NULL);
    return team;
}

int fftnd__team_create(int n, struct fftnd__team **team) {
    *team = NULL;
    if (n == 1)
        return REDIST_OK;
    *team = allocate(n);
    if (*team != NULL && start_workers(*team) == 0)
        return REDIST_OK;
    fftnd__team_free(*team);
    *team = NULL;
    return redist_fail_in("fftnd_plan_create", REDIST_ERR_MEMORY,
                          "options->threads = %d threads could not be started", n);
}

void fftnd__team_free(struct fftnd__team *team) {
    if (team == NULL)
        return;
    begin_round(team, NULL, NULL);
    for (int i = 1; i <= team->running; i++)
        pthread_join(team->members[i].thread, NULL);
    pthread_mutex_destroy(&team->mutex);
    pthread_cond_destroy(&team->begins);
    pthread_cond_destroy(&team->ends);
    redist_release(team->members);
    redist_release(team);
}
