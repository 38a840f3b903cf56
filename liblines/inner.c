/* SPDX-License-Identifier: BSD-3-Clause */
#include "inner.h"

enum { MOST = 2 * REDIST_MAX_NDIMS };

size_t lines__inner_area_bytes(const void *plan) {
    const struct lines__inner *inner = plan;
    size_t most = 0;
    for (int i = 0; i < MOST; i++) {
        size_t bytes = lines__area_bytes(&inner->plans[i]);
        most = bytes > most ? bytes : most;
    }
    return inner->own_bytes + most;
}

int lines__inner_set_area(void *plan, void *area) {
    struct lines__inner *inner = plan;
    inner->area = area;
    for (int i = 0; i < MOST; i++)
        REDIST_TRY(lines__set_area(&inner->plans[i], inner->area + inner->own_bytes));
    return REDIST_OK;
}

/* Has the plans of a sweep multiply; 0 = one of them cannot, or there are none. */
static int scale_sweep(const struct lines__plan plans[], int n, long double factor) {
    int can = plans[0].data != NULL;
    for (int i = 0; i < n && can; i++)
        can = plans[i].data == NULL || lines__scale_results(&plans[i], factor);
    return can;
}

int lines__inner_scale_results(void *plan, long double factor) {
    const struct lines__inner *inner = plan;
    for (int i = MOST - inner->each; i >= 0; i -= inner->each)
        if (scale_sweep(&inner->plans[i], inner->each, 1) &&
            scale_sweep(&inner->plans[i], inner->each, factor))
            return 1;
    return 0;
}

void lines__inner_destroy(void *plan) {
    struct lines__inner *inner = plan;
    for (int i = 0; i < MOST; i++)
        lines__destroy(&inner->plans[i]);
    redist_release(inner);
}
