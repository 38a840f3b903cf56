/* SPDX-License-Identifier: BSD-3-Clause */
#include "runge_kutta.h"
#include "example.h"

void runge_kutta_create(struct runge_kutta *method, const struct flow *flow) {
    method->start = flow_allocate(flow);
    method->stage = flow_allocate_stage(flow);
    method->slope = flow_allocate(flow);
}

void runge_kutta_free(struct runge_kutta *method) {
    release(method->start);
    release(method->stage);
    release(method->slope);
}

/* result = base + factor * slope */
static void move_along(const struct flow *flow, struct amplitude *result,
                       const struct amplitude *base, double factor, const struct amplitude *slope) {
    flow->space->move_along(flow->spectral.bytes / sizeof(double), (double *)result,
                            (const double *)base, factor, (const double *)slope);
}

void runge_kutta_step(struct runge_kutta *method, struct flow *flow, double time_step) {
    static const double reach[3] = {1.0 / 2, 1.0 / 2, 1.0};
    static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    flow->space->copy(method->start, flow->velocity, flow->spectral.bytes);
    flow->space->copy(method->stage, flow->velocity, flow->spectral.bytes);
    for (int s = 0; s < 4; s++) {
        flow_slope(flow, method->stage, method->slope);
        move_along(flow, flow->velocity, flow->velocity, weight[s] * time_step, method->slope);
        if (s < 3)
            move_along(flow, method->stage, method->start, reach[s] * time_step, method->slope);
    }
}
