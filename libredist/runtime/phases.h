/* SPDX-License-Identifier: BSD-3-Clause */
/* A watch that says where the time of a plan's executions goes; it costs a test where nobody asks. */
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

struct redist__watch {
    int runs;    /* the plan's user is inside of a call */
    int arrived; /* the first message of this execution is in */
    enum redist__phase phase;
    double since; /* begin of that phase */
    double seconds[REDIST__PHASES];
    long long executions;
};

/* A call of the user begins: the first one of an execution, or one that goes on with it. NULL is allowed,
 * here and below. */
void redist__watch_begin(struct redist__watch *watch, int is_first);
void redist__watch_end(struct redist__watch *watch);

/* Behind the functions below. */
void redist__watch_turn(struct redist__watch *watch, enum redist__phase phase);

/* From now on time is spent in `phase`. Methods call it where they turn to something else; outside of
 * the plan's own calls (while another plan waits, in other threads, while methods are compared) it does
 * nothing. */
static inline void redist__enter(struct redist__watch *watch, enum redist__phase phase) {
    if (watch != NULL && watch->runs)
        redist__watch_turn(watch, phase);
}

/* A message is in. Methods that do not see single messages never call it, nor enter
 * REDIST__FIRST_MESSAGE. */
static inline void redist__arrived(struct redist__watch *watch) {
    if (watch == NULL || !watch->runs || watch->arrived)
        return;
    redist__watch_turn(watch, REDIST__COMMUNICATE);
    watch->arrived = 1;
}

/* Fills what the user asked for. */
void redist__watch_read(const struct redist__watch *watch, redist_phases *phases);

#endif
