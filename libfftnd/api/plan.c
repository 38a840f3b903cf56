/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a plan: the user frees it, or one that is kept makes room. */
#include "plan.h"

/* Others learn first that a broken plan is over: exchanges of devices wait for all ranks of the node, which may be in
 * an agreement about the plan, or wait for a device. */
void fftnd__plan_empty(fftnd_plan *plan) {
    fftnd__engine_leave(&plan->engine);
    int failed = plan->engine.failure.code;
    failed = failed != REDIST_OK ? failed : plan->operators_failed;
    redist_life_end(&plan->engine.life, failed);
    redist_life_end(&plan->keeping.life, failed);
    fftnd__engine_destroy(&plan->engine);
    redist_release(plan->keeping.key);
    plan->keeping.key = NULL;
}

void fftnd__plan_destroy(fftnd_plan *plan) {
    if (plan == NULL)
        return;
    redist_closer_remove(&plan->closer);
    if (!plan->closed)
        fftnd__plan_empty(plan);
    redist_handle_remove(plan);
    redist_release(plan->method);
    redist_release(plan->wisdom_file);
    redist_release(plan);
}
