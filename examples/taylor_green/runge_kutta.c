/* SPDX-License-Identifier: BSD-3-Clause */
#include "runge_kutta.h"
#include "example.h"
#include <string.h>

void runge_kutta_create(struct runge_kutta *method, const struct flow *flow) {
    method->start = flow_allocate(flow);
    method->stage = flow_allocate(flow);
    method->slope = flow_allocate(flow);
}

void runge_kutta_free(struct runge_kutta *method) {
    release(method->start);
    release(method->stage);
    release(method->slope);
}

/* result = base + factor * slope */
static void move_along(size_t n, double complex *result, const double complex *base, double factor,
                       const double complex *slope) {
    for (size_t i = 0; i < n; i++)
        result[i] = base[i] + factor * slope[i];
}

void runge_kutta_step(struct runge_kutta *method, struct flow *flow, double time_step) {
    static const double reach[3] = {1.0 / 2, 1.0 / 2, 1.0};
    static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    size_t n = flow->nspectral;
    memcpy(method->start, flow->velocity, n * sizeof(double complex));
    memcpy(method->stage, flow->velocity, n * sizeof(double complex));
    for (int s = 0; s < 4; s++) {
        flow_slope(flow, method->stage, method->slope);
        move_along(n, flow->velocity, flow->velocity, weight[s] * time_step, method->slope);
        if (s < 3)
            move_along(n, method->stage, method->start, reach[s] * time_step, method->slope);
    }
}
