/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * One transform whose physical side has ghosts: what they are to be, and the checks of both directions against the
 * oracle's global array. Nothing else around a rank's points is changed.
 */
#ifndef TESTS_GHOST_TRIAL_H
#define TESTS_GHOST_TRIAL_H

#include "fft_run.h"

struct box {
    redist_index start[REDIST_MAX_NDIMS], count[REDIST_MAX_NDIMS];
};

struct trial {
    fft_run run;
    redist_halo halo;
    struct box *boxes; /**< of all ranks */
    long double *sums; /**< of the ghosts that show each point: [field][point][component] */
    unsigned char *used;
    int rank; /**< whose ghosts are visited */
    long double factor, worst;
};

/** Gathers the boxes of all ranks, and adds up their ghosts, for a run and a halo that are set. Collective. */
void begin_trial(struct trial *trial);

/** Frees all of a trial, its run too. Collective. */
void end_trial(struct trial *trial);

/** Sets points and ghosts whose sums are the oracle's points. */
void load_sums(struct trial *trial);

/** Transforms forward and checks the modes. Collective. */
void check_forward(struct trial *trial);

/** Transforms backward and checks the points, the ghosts if they are filled, and the rest. Collective. */
void check_backward(struct trial *trial);

/** Checks points and ghosts of the physical side, which are the oracle's times `factor`, and that all around them is as
 * it was. Collective. */
void check_result(struct trial *trial, const char *what);

#endif
