/* SPDX-License-Identifier: BSD-3-Clause */
/* The classical fourth-order Runge-Kutta method as Gill wrote it: what is needed of earlier slopes is one array. */
#ifndef RUNGE_KUTTA_H
#define RUNGE_KUTTA_H

#include "flow.h"

struct runge_kutta {
    struct amplitude *memory;
};

void runge_kutta_create(struct runge_kutta *method, const struct flow *flow);
void runge_kutta_free(struct runge_kutta *method);

/* Advances the flow by one step in time. */
void runge_kutta_step(struct runge_kutta *method, struct flow *flow, double time_step);

#endif
