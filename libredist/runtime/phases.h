/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer of the phases of a plan's executions. A plan without one has one test for each phase. */
#ifndef REDIST__PHASES_H
#define REDIST__PHASES_H

#include "redist.h"

/* Phases; every moment of an execution belongs to one. */
enum redist__phase {
    REDIST__PACK,
    REDIST__FIRST_MESSAGE, /* communication after the first message */
    REDIST__COMMUNICATE,   /* first phase of an execution */
    REDIST__UNPACK,
    REDIST__OWN_PART,
    REDIST__PHASES
};

struct redist__phase_timer {
    int runs;    /* a call of the plan's user is active */
    int arrived; /* the first message of this execution has arrived */
    enum redist__phase phase;
    double since; /* begin of that phase */
    double seconds[REDIST__PHASES];
    long long executions;
};

/* Begins a call of the user: the first one of an execution, or a later one. NULL is allowed, here and below. */
void redist__timer_begin(struct redist__phase_timer *timer, int is_first);
void redist__timer_end(struct redist__phase_timer *timer);

/* Implements the functions below. */
void redist__timer_switch(struct redist__phase_timer *timer, enum redist__phase phase);

/* Begins a phase; without effect outside of the plan's own calls (other plans' waits, other threads, comparisons). */
static inline void redist__enter(struct redist__phase_timer *timer, enum redist__phase phase) {
    if (timer != NULL && timer->runs)
        redist__timer_switch(timer, phase);
}

/* Records that a message arrived. Methods without single messages do not, nor enter REDIST__FIRST_MESSAGE. */
static inline void redist__arrived(struct redist__phase_timer *timer) {
    if (timer == NULL || !timer->runs || timer->arrived)
        return;
    redist__timer_switch(timer, REDIST__COMMUNICATE);
    timer->arrived = 1;
}

/* Reads the times so far. */
void redist__timer_read(const struct redist__phase_timer *timer, redist_phases *phases);

#endif
