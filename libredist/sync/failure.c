/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"
#include "../comm/comm.h"

#include <string.h>

void redist__failure_note(struct redist__failure *failure, int code) {
    int none = REDIST_OK;
    if (code == REDIST_OK || !atomic_compare_exchange_strong(&failure->code, &none, code))
        return;
    strncpy(failure->message, redist_error_message(), sizeof failure->message - 1);
}

int redist__failure_note_mpi(struct redist__failure *failure, int result) {
    if (result != MPI_SUCCESS)
        redist__failure_note(failure, redist_check_mpi_in("libredist", result));
    return result;
}

void redist__failure_note_peer(struct redist__failure *failure, int peer, int code) {
    if (redist__failed(failure))
        return;
    if (code != REDIST_OK)
        code = redist__fail(REDIST_ERR_PEER, "rank %d of the plan's communicator failed: %s", peer,
                            redist_error_name(code));
    else
        code = redist__fail(REDIST_ERR_PEER, "rank %d of the plan's communicator failed", peer);
    redist__failure_note(failure, code);
}

int redist__failure_report(const struct redist__failure *failure) {
    int code = redist__failed(failure);
    if (code != REDIST_OK)
        redist_set_message(failure->message);
    return code;
}

int redist__failure_agree(struct redist__failure *failure, const struct redist__context *context) {
    int lowest, mine = redist__failed(failure) ? context->rank : context->size;
    int code = redist__find_lowest(context, mine, &lowest);
    redist__failure_note(failure, code);
    if (code == REDIST_OK && lowest < context->size)
        redist__failure_note_peer(failure, lowest, REDIST_OK);
    return code == REDIST_OK && lowest < context->size;
}
