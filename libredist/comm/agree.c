/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective truth: if a call fails on one rank, it fails on all with the same words. */
#include "comm.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 128 };

struct report {
    int code;
    char message[REDIST__MESSAGE_BYTES];
};

/* Keeps this thread's message, which a call that fails would replace. */
static void describe(struct report *report, int code) {
    *report = (struct report){.code = code};
    strncpy(report->message, redist_error_message(), sizeof report->message - 1);
}

/* The lowest rank that has failed reports to all; a rank that cannot hear of it has failed, too. */
int redist_agree(MPI_Comm comm, int code) {
    int rank, size, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    struct report report;
    if (code != REDIST_OK)
        describe(&report, code);
    int heard = redist_all_lowest(comm, code == REDIST_OK ? size : rank, &first);
    if (heard == REDIST_OK && first == size)
        return REDIST_OK;
    if (heard == REDIST_OK)
        heard = redist_broadcast(comm, &report, sizeof report, first);
    if (heard != REDIST_OK && code == REDIST_OK)
        return heard;
    redist_set_message(report.message);
    return report.code;
}

int redist__agree_memory(MPI_Comm comm, const void *memory, const char *what) {
    return redist_agree(
        comm, memory != NULL ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no memory %s", what));
}

/* Compares with the values of rank 0; a rank that has already failed keeps its own error. */
static int compare_values(const char *function, int code, int nvalues,
                          const redist_shared_value values[], const long long root[]) {
    for (int i = 0; i < nvalues && code == REDIST_OK; i++)
        if (values[i].value != root[i])
            code = redist_fail_in(function, REDIST_ERR_DISAGREE,
                                  "%s = %lld differs from %lld on rank 0 of the communicator",
                                  values[i].name, values[i].value, root[i]);
    return code;
}

int redist_agree_values_in(const char *function, MPI_Comm comm, int code, int nvalues,
                           const redist_shared_value values[]) {
    long long root[MAX_VALUES] = {0};
    for (int i = 0; i < nvalues; i++)
        root[i] = values[i].value;
    int heard = redist_broadcast(comm, root, (size_t)nvalues * sizeof root[0], 0);
    if (heard == REDIST_OK)
        code = compare_values(function, code, nvalues, values, root);
    else if (code == REDIST_OK)
        code = heard;
    return redist_agree(comm, code);
}

/* ---------------------------------------------------------------- hashes */

static const uint64_t hash_basis = 14695981039346656037ULL; /* FNV-1a */

static uint64_t mix(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 1099511628211ULL;
    return hash;
}

long long redist_hash_text(const char *text) {
    if (text == NULL)
        return 0;
    long long hash = (long long)(mix(hash_basis, text, strlen(text)) >> 1);
    return hash != 0 ? hash : 1;
}

long long redist_hash_bytes(long long hash, const void *data, size_t bytes) {
    const uint64_t what[2] = {data != NULL, data != NULL ? bytes : 0};
    uint64_t mixed = mix(hash_basis ^ (uint64_t)hash, what, sizeof what);
    return (long long)(mix(mixed, data, (size_t)what[1]) >> 1);
}

/* ---------------------------------------------------------------- failures of executions */

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
    int known = code != REDIST_OK;
    redist__failure_note(
        failure, redist__fail(REDIST_ERR_PEER, "rank %d of the plan's communicator failed%s%s",
                              peer, known ? ": " : "", known ? redist_error_name(code) : ""));
}

int redist__failure_report(const struct redist__failure *failure) {
    int code = redist__failed(failure);
    if (code != REDIST_OK)
        redist_set_message(failure->message);
    return code;
}
