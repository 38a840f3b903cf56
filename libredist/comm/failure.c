/* SPDX-License-Identifier: BSD-3-Clause */
/* Failures of executions, the first of which breaks a plan. */
#include "comm.h"

#include <string.h>

void redist__failure_note(struct redist__failure *failure, int code) {
    int none = REDIST_OK;
    if (code == REDIST_OK || !atomic_compare_exchange_strong(&failure->code, &none, code))
        return;
    const char *message = redist_error_message();
    char *own = redist_calloc(strlen(message) + 1, 1);
    if (own != NULL)
        failure->message = strcpy(own, message);
}

int redist__failure_note_mpi(struct redist__failure *failure, int result) {
    if (result != MPI_SUCCESS)
        redist__failure_note(failure, redist_check_mpi_in("libredist", result));
    return result;
}

void redist__failure_note_peer(struct redist__failure *failure, int peer, int code) {
    if (redist__failed(failure))
        return;
    int known = code != REDIST_OK;
    redist__failure_note(
        failure, redist__fail(REDIST_ERR_PEER, "rank %d of the plan's communicator failed%s%s",
                              peer, known ? ": " : "", known ? redist_error_name(code) : ""));
}

int redist__failure_report(const struct redist__failure *failure) {
    int code = redist__failed(failure);
    const char *message = failure->message;
    if (code != REDIST_OK)
        redist_set_message(message != NULL ? message : redist_error_string(code));
    return code;
}

void redist__failure_forget(struct redist__failure *failure) {
    redist_release(failure->message);
    *failure = (struct redist__failure){REDIST_OK, NULL};
}
