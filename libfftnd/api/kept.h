/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plans that the user has freed, kept for the next plan with the same arguments (fftnd_options.keep). Each communicator
 * has slots for the last ones, the same on all ranks: plans get numbers as they are made, and take slots as they are
 * freed, which all ranks do in the same order. The ranks agree that no one has seen a failure, since a plan that only
 * some of them keep would hold resources that the others give to new plans. Every rank finds the slots that match its
 * own arguments, and one reduction those that match on all.
 */
#ifndef FFTND__KEPT_H
#define FFTND__KEPT_H

#include "plan.h"

/* Takes the kept plan that matches the arguments on all ranks; *plan is NULL without one. `code`: the result of this
 * rank's checks. Collective. */
int fftnd__kept_take(const struct fftnd__arguments *arguments, int code, fftnd_plan **plan);

/* Prepares a new plan for being kept, if its options say so. Collective. */
int fftnd__kept_prepare(fftnd_plan *plan, const struct fftnd__arguments *arguments);

/* Keeps a plan that the user frees; `code`: of its last transform. Returns 0 if the caller is to destroy the plan.
 * Collective, but a rank that has seen a failure does not wait for the others. */
int fftnd__kept_put(fftnd_plan *plan, int code);

#endif
