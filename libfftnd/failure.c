/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"

#include <string.h>

void fftnd__failure_note(struct fftnd__failure *failure, const struct fftnd__pipeline *pipeline,
                         int code) {
    if (code == REDIST_OK)
        return;
    if (failure->code == REDIST_OK) {
        failure->code = code;
        strncpy(failure->message, redist_error_message(), sizeof failure->message - 1);
    }
    for (int i = 1; i <= pipeline->nsteps; i++)
        if (pipeline->steps[i].exchange != NULL)
            redist_plan_break(pipeline->steps[i].exchange, code);
}

int fftnd__failure_report(const struct fftnd__failure *failure) {
    if (failure->code != REDIST_OK)
        redist_set_message(failure->message);
    return failure->code;
}
