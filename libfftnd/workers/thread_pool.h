/* SPDX-License-Identifier: BSD-3-Clause */
/* A pool of threads that do work together. */
#ifndef FFTND__THREAD_POOL_H
#define FFTND__THREAD_POOL_H

#include "../../liblines/lines.h"

struct fftnd__pool;

/* A failure with its message, for other threads than the one that failed. */
struct fftnd__failure {
    int code;      /* REDIST_OK = none */
    char *message; /* NULL = no memory for one */
};

/* Keeps the first code that is not REDIST_OK, with this thread's message. */
void fftnd__failure_note(struct fftnd__failure *failure, int code);

/* Returns the code, whose message becomes this thread's. */
int fftnd__failure_report(const struct fftnd__failure *failure);

/* Clears the failure and frees its message. */
void fftnd__failure_forget(struct fftnd__failure *failure);

/* Work of each thread; thread 0 is the caller. Returns a code of REDIST_ERRORS. */
typedef int fftnd__work(void *data, int thread);

/* Starts n - 1 threads, which sleep until they have work; a pool of one is NULL. REDIST_ERR_MEMORY. */
int fftnd__pool_create(int n, struct fftnd__pool **pool);

int fftnd__pool_size(const struct fftnd__pool *pool);

/* Returns the threads for a serial library, to be used as long as the pool lives; NULL = one thread. */
const struct lines__threads *fftnd__pool_threads(const struct fftnd__pool *pool);

/* Runs the work on all threads and waits for them. On failure: code and message of the first thread
 * that failed. Work must not call this for its own pool. */
int fftnd__pool_run(struct fftnd__pool *pool, fftnd__work *work, void *data);

/* Ends the threads and waits until they are gone. */
void fftnd__pool_free(struct fftnd__pool *pool);

#endif
