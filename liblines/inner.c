/* SPDX-License-Identifier: BSD-3-Clause */
#include "inner.h"

enum { MOST = 2 * REDIST_MAX_NDIMS };

size_t lines__inner_area_bytes(const void *plan) {
    const struct lines__inner *inner = plan;
    size_t most = 0;
    for (int i = 0; i < MOST && inner->library->area_bytes != NULL; i++) {
        size_t bytes = inner->plans[i] != NULL ? inner->library->area_bytes(inner->plans[i]) : 0;
        most = bytes > most ? bytes : most;
    }
    return inner->own_bytes + most;
}

int lines__inner_set_area(void *plan, void *area) {
    struct lines__inner *inner = plan;
    inner->area = area;
    for (int i = 0; i < MOST && inner->library->set_area != NULL; i++)
        if (inner->plans[i] != NULL)
            REDIST_TRY(inner->library->set_area(inner->plans[i], inner->area + inner->own_bytes));
    return REDIST_OK;
}

void lines__inner_destroy(void *plan) {
    struct lines__inner *inner = plan;
    for (int i = 0; i < MOST; i++)
        if (inner->plans[i] != NULL)
            inner->library->destroy(inner->plans[i]);
    redist_release(inner);
}
