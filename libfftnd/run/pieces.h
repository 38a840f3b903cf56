/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the pieces of a stage: source -> kernel -> sink. */
#ifndef FFTND__PIECES_H
#define FFTND__PIECES_H

#include "stage.h"

#include <stdatomic.h>

/* A source or sink of pieces: an exchange that is open for them, else an array of this rank. */
struct fftnd__terminal {
    redist_plan *exchange;
    const int *order; /* an exchange's: the axes as they lie in memory */
    enum redist_space space;
    char *array; /* with an exchange: where pieces are that have no memory of their own */
    ptrdiff_t stride[REDIST_MAX_NDIMS]; /* bytes */
    int nontemporal;                    /* stores into the array bypass the caches */
    int direct_stores; /* an exchange's: of enum fftnd__direct, by the transform before it */
    int is_reached;    /* an array that a device beside the host copies from or to where it is */
};

/* A piece on its way. */
struct fftnd__flight {
    long long number;
    int slot; /* of those in flight */
    struct fftnd__piece piece;
    struct fftnd__block in, out; /* before and after the kernel */
    double begin;                /* of its kernel, seconds */
};

/* A run of a stage. */
struct fftnd__execution {
    /* Set by the caller, who leaves the rest zero. */
    const struct fftnd__transform *transform;
    const struct fftnd__step *step; /* the stage's */
    struct fftnd__terminal source, sink;
    long double scale;     /* of the results */
    int begins, ends;      /* the pieces: else they have been begun before, or are ended later */
    redist_plan *arriving; /* pieces begin as its partitions arrive; NULL = all is there */

    double seconds; /* the result: of kernels, or of all that is not done by an exchange */

    long long ended; /* pieces, where they take turns */
    int arrived;
    int moves_only;         /* nothing is transformed */
    int behind;             /* a piece ends when so many have begun after it */
    char *memory;           /* of the pieces */
    char *shared;           /* of an operator, for all pieces; NULL = each has its own */
    double opened, moving;  /* on a device: when, and seconds of the host with peers and copies */
    _Atomic long long next; /* the first piece that no thread has taken */
    _Atomic long long nanoseconds; /* spent in kernels, by all threads */
};

/* Runs all pieces. Results that stay in an array are there when it returns, unless the transform is asynchronous. */
int fftnd__run_stage(struct fftnd__execution *execution);

/* Multiplies the array after a step, and waits for all that the user's stream has, unless the transform is
 * asynchronous. */
int fftnd__finish_array(const struct fftnd__transform *transform, const struct fftnd__step *step,
                        void *array, long double scale);

/* Waits for all that has begun in the user's stream. */
int fftnd__finish(const struct fftnd__transform *transform);

/* ---------------------------------------------------------------- what kinds share */

/* Moves the part of the array at `start`, `count` to a block, or stores it from there. */
int fftnd__move_box(const struct fftnd__terminal *terminal, const struct fftnd__block *block,
                    const redist_index start[], const redist_index count[], int is_store);

/* Moves a piece between an array or an exchange and memory of its own, if it has that. */
fftnd__piece_work fftnd__load_piece, fftnd__store_piece;

/* Stores through the caches where a tile returns to the array that it came from: its place is still in them. */
int fftnd__open_in_caches(struct fftnd__execution *execution);

/* Whether several threads may move pieces at once. */
int fftnd__is_concurrent(const struct fftnd__terminal *terminal);

/* Pieces that are sent when they are done: decides how many are in flight; notes in the stream that one has begun; and
 * waits for one, while the exchange goes on, and sends it. */
int fftnd__plan_sending(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem);
fftnd__piece_work fftnd__note_piece, fftnd__send_piece;

#endif
