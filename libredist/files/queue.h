/* SPDX-License-Identifier: BSD-3-Clause */
/* A writer's thread: it writes or reads this rank's pieces in their order, while the rank exchanges others. */
#ifndef REDIST__QUEUE_H
#define REDIST__QUEUE_H

#include "stripes.h"

#include <pthread.h>

/* A piece of this writer. */
struct redist__queued {
    int field;
    redist_index number; /* in its field */
    struct redist_piece piece;
    redist_index offset; /* in the file */
    char *direct;        /* where it is contiguous in this rank's array, or NULL */
};

struct redist__queue {
    const struct redist__file *file;
    int descriptor;
    struct redist__piece_hook hook;
    struct redist__queued (*find)(const void *data, redist_index index);
    const void *data;   /* for `find` */
    redist_index count; /* of pieces */
    redist_index depth; /* of buffers */
    int is_stripe;      /* the buffers are as the file from `begin` on; else `depth` slots */
    redist_index begin; /* byte of the file */
    size_t slot_bytes;  /* of each slot */
    char *slots;        /* the buffers */
    redist_index exchanged, done;   /* pieces: by the rank, by the thread */
    int stops;                      /* the thread ends after its piece */
    struct redist__failure failure; /* of the thread */
    pthread_mutex_t lock;           /* of the counters */
    pthread_cond_t changed;
    pthread_t thread;
    int is_running;
};

/* Starts the thread of a queue whose first members, up to `slots`, are set. REDIST_ERR_MEMORY. */
int redist__queue_start(struct redist__queue *queue);

/* Waits until the buffer of a piece, at `offset` in the file, is the rank's: empty, or filled by reading. MPI makes
 * progress. Pieces that are direct have none. */
char *redist__queue_take(struct redist__queue *queue, redist_index index, redist_index offset);

/* Passes the buffer of the oldest taken piece to the thread. */
void redist__queue_give(struct redist__queue *queue);

/* Waits for the thread, after all pieces or, if it stops, after its current piece. Returns its failure. */
int redist__queue_join(struct redist__queue *queue, int stops);

#endif
