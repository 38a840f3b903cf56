/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue.h"
#include "disk.h"

#include <time.h>

static char *slot_of(const struct redist__queue *queue, redist_index index, redist_index offset) {
    return queue->slots + (queue->is_stripe ? (size_t)(offset - queue->begin)
                                            : (size_t)(index % queue->depth) * queue->slot_bytes);
}

/* ---------------------------------------------------------------- the thread */

/* Waits for the buffer of a piece; 0 = the thread is to stop. */
static int wait_for_rank(struct redist__queue *queue, redist_index index) {
    redist_index needed = queue->file->writes ? index + 1 : index + 1 - queue->depth;
    pthread_mutex_lock(&queue->lock);
    while (queue->exchanged < needed && !queue->stops)
        pthread_cond_wait(&queue->changed, &queue->lock);
    int goes_on = !queue->stops;
    pthread_mutex_unlock(&queue->lock);
    return goes_on;
}

static int call_hook(const struct redist__queue *queue, const struct redist__queued *queued,
                     char *data) {
    const struct redist__piece_hook *hook = &queue->hook;
    return hook->piece == NULL ? REDIST_OK
                               : hook->piece(hook->context, queued->field, queued->number, data,
                                             queued->piece.bytes);
}

static int move_piece(const struct redist__queue *queue, redist_index index) {
    const struct redist__queued queued = queue->find(queue->data, index);
    char *data = queued.direct != NULL ? queued.direct : slot_of(queue, index, queued.offset);
    if (queue->file->writes) {
        REDIST_TRY(call_hook(queue, &queued, data));
        REDIST_TRY(redist__disk_write(queue->file, queue->descriptor, data, queued.piece.bytes,
                                      queued.offset));
        if (queue->file->options.flush)
            redist__disk_begin_flush(queue->descriptor, queued.piece.bytes, queued.offset);
        return REDIST_OK;
    }
    REDIST_TRY(redist__disk_read(queue->file, queue->descriptor, data, queued.piece.bytes,
                                 queued.offset, 0));
    return call_hook(queue, &queued, data);
}

/* Passes a buffer on, after a failure too. */
static void pass_to_rank(struct redist__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->done++;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

static void *run(void *data) {
    struct redist__queue *queue = data;
    redist_index i = 0;
    for (; i < queue->count && wait_for_rank(queue, i); i++) {
        if (!redist__failed(&queue->failure))
            redist__failure_note(&queue->failure, move_piece(queue, i));
        pass_to_rank(queue);
    }
    if (i == queue->count && queue->hook.end != NULL && !redist__failed(&queue->failure))
        redist__failure_note(&queue->failure, queue->hook.end(queue->hook.context));
    return NULL;
}

/* ---------------------------------------------------------------- the rank */

int redist__queue_start(struct redist__queue *queue) {
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->changed, NULL);
    int error = redist_thread_begin(&queue->thread, run, queue);
    queue->is_running = error == 0;
    if (error == 0)
        return REDIST_OK;
    return redist_fail_in(queue->file->function, REDIST_ERR_MEMORY,
                          "the thread of a writer could not start (error %d)", error);
}

/* Sleeps until the thread passes a piece on, at most for a moment, in which it has the core. */
static int is_passed(struct redist__queue *queue, redist_index needed) {
    enum { MOMENT_NS = 1000000, SECOND_NS = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MOMENT_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_mutex_lock(&queue->lock);
    if (queue->done < needed)
        pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    int passed = queue->done >= needed;
    pthread_mutex_unlock(&queue->lock);
    return passed;
}

char *redist__queue_take(struct redist__queue *queue, redist_index index, redist_index offset) {
    enum { POLLS_AFTER_SPINNING = 1 << 20 }; /* redist__pause calls MPI then */
    redist_index needed = queue->file->writes ? index + 1 - queue->depth : index + 1;
    for (unsigned poll = POLLS_AFTER_SPINNING; !is_passed(queue, needed); poll++)
        (void)redist__pause(queue->file->context, poll); /* the exchange finds out who is gone */
    return slot_of(queue, index, offset);
}

void redist__queue_give(struct redist__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->exchanged++;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

int redist__queue_join(struct redist__queue *queue, int stops) {
    if (!queue->is_running)
        return REDIST_OK;
    pthread_mutex_lock(&queue->lock);
    queue->stops = stops;
    pthread_cond_signal(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    queue->is_running = 0;
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    int code = redist__failure_report(&queue->failure);
    redist__failure_forget(&queue->failure);
    return code;
}
