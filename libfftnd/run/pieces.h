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
    int keeps; /* an exchange's: this rank's part of a piece is stored where it belongs by the last transform */
    int is_reached; /* an array that a device beside the host copies from or to where it is */
};

/* A piece on its way. */
struct fftnd__flight {
    long long number;
    int slot; /* of those in flight */
    struct fftnd__piece piece;
    struct fftnd__block in, out; /* before and after the kernel */
    long double scale;           /* what its results are to be multiplied by yet */
    long long begin;             /* of its kernel, nanoseconds */
};

/* A run of a stage; what is not named here is zero at its beginning. */
struct fftnd__execution {
    const struct fftnd__transform *transform;
    const struct fftnd__step *step; /* the stage's */
    struct fftnd__terminal source, sink;
    long double scale;     /* of the results */
    int begins, ends;      /* the pieces: else they have been begun before, or are ended later */
    redist_plan *arriving; /* pieces begin as its partitions arrive; NULL = all is there */

    double
        seconds; /* for transforms: spent in kernels, the mean of the threads, or, where these only begin, in all */

    int arrived;
    int moves_only; /* nothing is transformed */
    int stores;     /* into the peers' arrays, by the last transform */
    int behind;     /* a piece ends when so many have begun after it */
    char *memory;   /* of the pieces */
    double opened,
        moving; /* for a device: when, and seconds that the host spent with peers and in copies */
    _Atomic long long next;        /* the first piece that no thread has taken */
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

/* Moves the part of the array at `start`, `count` to or from a block. */
typedef int fftnd__move_box(const struct fftnd__terminal *terminal,
                            const struct fftnd__block *block, const redist_index start[],
                            const redist_index count[]);
fftnd__move_box fftnd__load_box, fftnd__store_box;

/* Moves a piece between an array or an exchange and memory of its own, if it has that. */
int fftnd__load_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight);
int fftnd__store_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight);

/* The kernel of an operator, in the slot's memory, or in `memory`. */
int fftnd__apply_piece(const struct fftnd__execution *execution,
                       const struct fftnd__flight *flight);
int fftnd__apply_piece_in(char *memory, const struct fftnd__execution *execution,
                          const struct fftnd__flight *flight);

/* Whether several threads may move pieces at once. */
int fftnd__is_concurrent(const struct fftnd__terminal *terminal);

/* Of pieces that are sent when they are done: how many are in flight; what is noted when one has begun; and the end of
 * one, for which the host waits while the exchange goes on. */
int fftnd__plan_sending(struct fftnd__stage *stage, const struct fftnd__stage_problem *problem);
int fftnd__note_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight);
int fftnd__send_piece(struct fftnd__execution *execution, const struct fftnd__flight *flight);

#endif
