/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement: if a call fails on one rank, it fails on all with the same message. */
#include "comm.h"

#include <stdio.h>
#include <string.h>

enum { MAX_VALUES = 128, TEXT_BYTES = 160 };

struct report {
    int code;
    char message[REDIST__MESSAGE_BYTES];
};

/* Copies this thread's message, which a failing call would replace. */
static void describe(struct report *report, int code) {
    *report = (struct report){.code = code};
    strncpy(report->message, redist_error_message(), sizeof report->message - 1);
}

/* ---------------------------------------------------------------- hashes */

uint64_t redist__hash(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 1099511628211ULL;
    return hash;
}

long long redist_hash_text(const char *text) {
    if (text == NULL)
        return 0;
    long long hash = (long long)(redist__hash(REDIST__HASH_BASIS, text, strlen(text)) >> 1);
    return hash != 0 ? hash : 1;
}

long long redist_hash_bytes(long long hash, const void *data, size_t bytes) {
    const uint64_t what[2] = {data != NULL, data != NULL ? bytes : 0};
    uint64_t mixed = redist__hash(REDIST__HASH_BASIS ^ (uint64_t)hash, what, sizeof what);
    return (long long)(redist__hash(mixed, data, (size_t)what[1]) >> 1);
}

/* ---------------------------------------------------------------- values as text */

static const size_t element_bytes[] = {[REDIST_SHARED_INTS] = sizeof(int),
                                       [REDIST_SHARED_EXTENTS] = sizeof(redist_index),
                                       [REDIST_SHARED_REALS] = sizeof(double)};

redist_shared_value redist_share_number(const char *name, long long value) {
    return (redist_shared_value){.name = name, .value = value};
}

redist_shared_value redist_share_enum(const char *name, int value, redist_name_of *name_of) {
    return (redist_shared_value){.name = name, .value = value, .name_of = name_of};
}

redist_shared_value redist_share(const char *name, enum redist_shared type, const void *data,
                                 size_t count) {
    redist_shared_value value = {.name = name, .type = type, .data = data, .count = count};
    value.value = type == REDIST_SHARED_TEXT
                      ? redist_hash_text(data)
                      : redist_hash_bytes(0, data, count * element_bytes[type]);
    return value;
}

/* Prints a number with the fewest digits, six or more, that represent it exactly. */
static void print_real(double real, char text[TEXT_BYTES]) {
    double read = 0;
    for (int digits = 6; digits <= 17; digits++) {
        redist_text_print(text, TEXT_BYTES, "%.*g", digits, real);
        if (redist_text_scan(text, "%lf", &read) == 1 && memcmp(&read, &real, sizeof real) == 0)
            return;
    }
}

static void print_element(const redist_shared_value *value, size_t i, char text[TEXT_BYTES]) {
    if (value->type == REDIST_SHARED_REALS) {
        print_real(((const double *)value->data)[i], text);
        return;
    }
    long long number = value->type == REDIST_SHARED_NUMBER ? value->value
                       : value->type == REDIST_SHARED_INTS ? ((const int *)value->data)[i]
                                                           : ((const redist_index *)value->data)[i];
    const char *name = value->name_of != NULL ? value->name_of((int)number) : NULL;
    if (name != NULL)
        snprintf(text, TEXT_BYTES, "%s", name);
    else
        snprintf(text, TEXT_BYTES, "%lld", number);
}

/* Prints a value; cuts a long list or text. */
static void print_value(const redist_shared_value *value, char text[TEXT_BYTES]) {
    enum { ROOM = 60 };
    char element[TEXT_BYTES];
    if (value->type != REDIST_SHARED_NUMBER && value->data == NULL) {
        strcpy(text, "NULL");
    } else if (value->type == REDIST_SHARED_TEXT) {
        snprintf(text, TEXT_BYTES, "\"%.*s\"", (int)TEXT_BYTES - 3, (const char *)value->data);
    } else if (value->type == REDIST_SHARED_NUMBER || value->count == 1) {
        print_element(value, 0, text);
    } else {
        size_t length = (size_t)snprintf(text, TEXT_BYTES, "{"), i = 0;
        for (; i < value->count && length < TEXT_BYTES - ROOM; i++) {
            print_element(value, i, element);
            length += (size_t)snprintf(text + length, TEXT_BYTES - length, "%s%.40s",
                                       i > 0 ? ", " : "", element);
        }
        snprintf(text + length, TEXT_BYTES - length, i < value->count ? ", ...}" : "}");
    }
}

/* ---------------------------------------------------------------- agreement */

/* Result of this rank: the first value that differs from rank 0's; -1 = none. */
struct comparison {
    const char *function;
    const redist_shared_value *values;
    int odd;
};

/* The lowest rank that failed, `first`, reports rank 0's value beside its own. Collective. */
static int explain(MPI_Comm comm, int first, const struct comparison *comparison,
                   struct report *report) {
    char root[TEXT_BYTES], own[TEXT_BYTES];
    int odd = comparison->odd, rank;
    MPI_Comm_rank(comm, &rank);
    REDIST_TRY(redist_broadcast(comm, &odd, sizeof odd, first));
    if (odd < 0)
        return REDIST_OK;
    print_value(&comparison->values[odd], own);
    memcpy(root, own, sizeof root);
    REDIST_TRY(redist_broadcast(comm, root, sizeof root, 0));
    if (rank != first)
        return REDIST_OK;
    const char *name = comparison->values[odd].name;
    int code = redist_fail_in(comparison->function, REDIST_ERR_DISAGREE,
                              strcmp(root, own) != 0
                                  ? "%s: %s on rank 0, %s on rank %d of the communicator"
                                  : "%s: %s on rank 0, the same at first (%s) on rank %d of the "
                                    "communicator",
                              name, root, own, rank);
    describe(report, code);
    return REDIST_OK;
}

/* Sends the report of the lowest failed rank to all; a rank that cannot receive it has failed, too. */
static int agree(MPI_Comm comm, int code, const struct comparison *comparison) {
    int rank, size, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    struct report report;
    if (code != REDIST_OK)
        describe(&report, code);
    int heard = redist_all_lowest(comm, code == REDIST_OK ? size : rank, &first);
    if (heard == REDIST_OK && first == size)
        return REDIST_OK;
    if (heard == REDIST_OK && comparison != NULL)
        heard = explain(comm, first, comparison, &report);
    if (heard == REDIST_OK)
        heard = redist_broadcast(comm, &report, sizeof report, first);
    if (heard != REDIST_OK && code == REDIST_OK)
        return heard;
    redist_set_message(report.message);
    return report.code;
}

int redist_agree(MPI_Comm comm, int code) {
    return agree(comm, redist__take_refusal(code), NULL);
}

int redist__agree_memory(MPI_Comm comm, const void *memory, const char *what) {
    return redist_agree(
        comm, memory != NULL ? REDIST_OK : redist__fail(REDIST_ERR_MEMORY, "no memory %s", what));
}

static uint64_t hash_values(int nvalues, const redist_shared_value values[]) {
    uint64_t hash = REDIST__HASH_BASIS;
    for (int i = 0; i < nvalues; i++)
        hash = redist__hash(hash, &values[i].value, sizeof values[i].value);
    return hash;
}

/* Compares values with rank 0's; a rank that has already failed keeps its own error. */
static int compare(const char *function, MPI_Comm comm, int code, int nvalues,
                   const redist_shared_value values[]) {
    struct comparison comparison = {function, values, -1};
    long long root[MAX_VALUES] = {0};
    for (int i = 0; i < nvalues; i++)
        root[i] = values[i].value;
    int heard = redist_broadcast(comm, root, (size_t)nvalues * sizeof root[0], 0);
    for (int i = nvalues - 1; i >= 0 && heard == REDIST_OK && code == REDIST_OK; i--)
        if (values[i].value != root[i])
            comparison.odd = i;
    if (code == REDIST_OK)
        code = heard;
    if (comparison.odd >= 0)
        code = redist_fail_in(function, REDIST_ERR_DISAGREE, "%s differs from that of rank 0",
                              values[comparison.odd].name);
    return agree(comm, code, &comparison);
}

/* Compares hashes in one reduction, and the values only if these differ. */
int redist_agree_values_in(const char *function, MPI_Comm comm, int code, int nvalues,
                           const redist_shared_value values[]) {
    int alike = 0;
    code = redist__take_refusal(code);
    if (nvalues == 0)
        return agree(comm, code, NULL);
    int heard = redist__find_alike(comm, code == REDIST_OK, hash_values(nvalues, values), &alike);
    if (heard != REDIST_OK)
        return code != REDIST_OK ? code : heard;
    return alike ? REDIST_OK : compare(function, comm, code, nvalues, values);
}
