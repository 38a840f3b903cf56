/* SPDX-License-Identifier: BSD-3-Clause */
/* The phase timer: how long each phase of a plan's executions takes. Without one it costs a test. */
#ifndef REDIST__PHASES_H
#define REDIST__PHASES_H

#include "redist.h"

/* Every moment of an execution belongs to one of them. */
enum redist__phase {
    REDIST__PACK,
    REDIST__FIRST_MESSAGE, /* communication, once a message is in */
    REDIST__COMMUNICATE,   /* where an execution begins */
    REDIST__UNPACK,
    REDIST__OWN_PART,
    REDIST__PHASES
};

struct redist__phase_timer {
    int runs;    /* the plan's user is inside of a call */
    int arrived; /* the first message of this execution is in */
    enum redist__phase phase;
    double since; /* begin of that phase */
    double seconds[REDIST__PHASES];
    long long executions;
};

/* A call of the user begins: the first one of an execution, or one that goes on with it. NULL is allowed,
 * here and below. */
void redist__timer_begin(struct redist__phase_timer *timer, int is_first);
void redist__timer_end(struct redist__phase_timer *timer);

/* Behind the functions below. */
void redist__timer_switch(struct redist__phase_timer *timer, enum redist__phase phase);

/* From now on time is spent in `phase`. Methods call it where another phase begins; outside of
 * the plan's own calls (while another plan waits, in other threads, while methods are compared) it does
 * nothing. */
static inline void redist__enter(struct redist__phase_timer *timer, enum redist__phase phase) {
    if (timer != NULL && timer->runs)
        redist__timer_switch(timer, phase);
}

/* A message is in. Methods that do not see single messages never call it, nor enter
 * REDIST__FIRST_MESSAGE. */
static inline void redist__arrived(struct redist__phase_timer *timer) {
    if (timer == NULL || !timer->runs || timer->arrived)
        return;
    redist__timer_switch(timer, REDIST__COMMUNICATE);
    timer->arrived = 1;
}

/* The times so far. */
void redist__timer_read(const struct redist__phase_timer *timer, redist_phases *phases);

#endif
