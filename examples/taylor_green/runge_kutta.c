/* SPDX-License-Identifier: BSD-3-Clause */
#include "runge_kutta.h"
#include "example.h"

void runge_kutta_create(struct runge_kutta *method, const struct flow *flow) {
    method->memory = flow_allocate(flow, COMPONENTS);
}

void runge_kutta_free(struct runge_kutta *method) {
    release(method->memory);
}

/* The last part leaves a memory of zeros. */
void runge_kutta_step(struct runge_kutta *method, struct flow *flow, double time_step) {
    const double r = M_SQRT1_2, h = time_step;
    const struct stage stages[4] = {{{1, h / 2, 0}, {0, 1, 0}},
                                    {{1, h * (1 - r), h * (r - 1)}, {0, 2 - 2 * r, 3 * r - 2}},
                                    {{1, h * (1 + r), h * (-1 - r)}, {0, 2 + 2 * r, -3 * r - 2}},
                                    {{1, h / 6, -h / 3}, {0, 0, 0}}};
    for (int s = 0; s < 4; s++)
        flow_advance(flow, &stages[s], method->memory);
}
