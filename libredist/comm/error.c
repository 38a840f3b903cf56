/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of codes, names and sentences; the message of this thread's last failure. */
#include "comm.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static _Thread_local char message[REDIST__MESSAGE_BYTES] = "no error";
static _Thread_local char
    refusal[REDIST__MESSAGE_BYTES]; /* the caller's, for the next agreement; "" = none */
static _Thread_local int is_silent;

static const struct {
    const char *name, *sentence;
} table[] = {
#define REDIST_ERROR_ROW(name, number, sentence) [number] = {"REDIST_" #name, sentence},
    REDIST_ERRORS(REDIST_ERROR_ROW)
#undef REDIST_ERROR_ROW
};

static int known(int code) {
    return code >= 0 && code < (int)(sizeof table / sizeof table[0]) && table[code].name != NULL;
}

const char *redist_error_name(int code) {
    return known(code) ? table[code].name : "unknown";
}

const char *redist_error_string(int code) {
    return known(code) ? table[code].sentence : "unknown error code";
}

const char *redist_error_message(void) {
    return message;
}

void redist_set_message(const char *text) {
    snprintf(message, sizeof message, "%s", text);
}

/* Returns the world rank, queried once by a thread that checks a communicator: other threads may not call MPI. */
static int world_rank(void) {
    static _Atomic int known_rank = -1;
    if (!redist__mpi_is_running())
        return -1;
    int rank = atomic_load(&known_rank);
    if (rank < 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        atomic_store(&known_rank, rank);
    }
    return rank;
}

void redist_refuse(const char *text) {
    int rank = world_rank();
    if (text == NULL)
        refusal[0] = 0;
    else if (rank >= 0)
        snprintf(refusal, sizeof refusal, "%.400s (rank %d)", text, rank);
    else
        snprintf(refusal, sizeof refusal, "%.400s", text);
}

int redist__take_refusal(int code) {
    if (refusal[0] == 0)
        return code;
    redist_set_message(refusal);
    refusal[0] = 0;
    return REDIST_ERR_ARGUMENT;
}

void redist__be_silent(int silent) {
    is_silent = silent;
}

int redist_fail_in(const char *function, int code, const char *format, ...) {
    char text[REDIST__MESSAGE_BYTES];
    va_list arguments;
    if (is_silent)
        return code;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int rank = world_rank();
    if (rank >= 0)
        snprintf(message, sizeof message, "%s: %.400s (rank %d)", function, text, rank);
    else
        snprintf(message, sizeof message, "%s: %.400s", function, text);
    return code;
}

int redist__check_pointer(const char *function, const char *name, const void *pointer) {
    return pointer != NULL ? REDIST_OK
                           : redist_fail_in(function, REDIST_ERR_NULL, "%s = NULL", name);
}

int redist__check_handle(const char *function, const char *name, const void *handle, int kind) {
    if (redist_handle_is(handle, kind))
        return REDIST_OK;
    return handle == NULL ? redist_fail_in(function, REDIST_ERR_STATE, "%s is NULL", name)
                          : redist_fail_in(function, REDIST_ERR_STATE,
                                           "%s is not a %s, or already freed", name, name);
}

int redist__check_range(const char *function, int code, const char *name, long long value,
                        long long least, long long most) {
    if (value >= least && value <= most)
        return REDIST_OK;
    return redist_fail_in(function, code, "%s = %lld is not in %lld..%lld", name, value, least,
                          most);
}

int redist__mpi_is_running(void) {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    return initialized && !finalized;
}

int redist_check_mpi_in(const char *function, int result) {
    if (result == MPI_SUCCESS)
        return REDIST_OK;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, class = result;
    MPI_Error_string(result, text, &length);
    if (text[0] == '\0') { /* a code without a message */
        MPI_Error_class(result, &class);
        MPI_Error_string(class, text, &length);
    }
    if (text[0] == '\0')
        snprintf(text, sizeof text, "error %d of class %d, for which it has no text", result,
                 class);
    return redist_fail_in(function, REDIST_ERR_MPI, "MPI: %s", text);
}

int redist_check_comm_in(const char *function, MPI_Comm comm) {
    if (!redist__mpi_is_running())
        return redist_fail_in(function, REDIST_ERR_STATE,
                              "MPI is not running: call it between "
                              "MPI_Init and MPI_Finalize");
    world_rank();
    if (comm == MPI_COMM_NULL)
        return redist_fail_in(function, REDIST_ERR_COMM, "comm = MPI_COMM_NULL");
    int inter = 0;
    REDIST_TRY(redist_check_mpi_in(function, MPI_Comm_test_inter(comm, &inter)));
    if (inter)
        return redist_fail_in(function, REDIST_ERR_COMM, "comm is an intercommunicator");
    return REDIST_OK;
}
