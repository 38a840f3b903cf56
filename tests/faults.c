/* SPDX-License-Identifier: BSD-3-Clause */
#include "faults.h"

#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "counters.h"

static atomic_int is_armed;
static enum fault armed_fault;
static int armed_number, armed_length;
static atomic_int counts[FAULTS];
static _Atomic(const char *) struck;
static long memory_before;
static int active_requests;

/* ---------------------------------------------------------------- arming */

const char *faults_name(enum fault fault) {
    static const char *const names[] = {"nothing",           "MPI call",         "poll",
                                        "allocation",        "serial transform", "device call",
                                        "death in MPI call", "all MPI calls"};
    return names[fault];
}

void faults_arm(enum fault fault, int k) {
    faults_arm_several(fault, k, 1);
}

void faults_arm_several(enum fault fault, int k, int length) {
    for (int i = 0; i < FAULTS; i++)
        atomic_store(&counts[i], 0);
    atomic_store(&struck, NULL);
    armed_fault = fault;
    armed_number = k;
    armed_length = length;
    memory_before = counters_memory_asked();
    counters_fail_memory(fault == FAULT_MEMORY ? k : 0);
    atomic_store(&is_armed, 1);
}

void faults_disarm(void) {
    atomic_store(&is_armed, 0);
    atomic_store(&counts[FAULT_MEMORY], (int)(counters_memory_asked() - memory_before));
    if (counters_memory_failed())
        atomic_store(&struck, "the allocator");
    counters_fail_memory(0);
}

int faults_count(enum fault fault) {
    return atomic_load(&counts[fault]);
}

const char *faults_struck(void) {
    return atomic_load(&struck);
}

/* Counts a call; nonzero if it is the one that fails. */
static int fails(enum fault fault, const char *function) {
    if (!atomic_load(&is_armed))
        return 0;
    int number = atomic_fetch_add(&counts[fault], 1) + 1;
    if (armed_fault == FAULT_DEATH && fault == FAULT_CALL && number == armed_number)
        raise(SIGKILL);
    int refused = armed_fault == FAULT_SILENCE && (fault == FAULT_CALL || fault == FAULT_POLL) &&
                  atomic_load(&counts[FAULT_CALL]) >= armed_number;
    int chosen = number >= armed_number && number - armed_number < armed_length;
    if (!refused && (fault != armed_fault || !chosen))
        return 0;
    atomic_store(&struck, function);
    return 1;
}

int faults_serial_fails(void) {
    return fails(FAULT_SERIAL, "a serial transform");
}

int faults_device_fails(const char *function) {
    return fails(FAULT_DEVICE, function);
}

/* ---------------------------------------------------------------- what is left */

static atomic_int device_taken;

void faults_device_take(int difference) {
    atomic_fetch_add(&device_taken, difference);
}

int faults_device_taken(void) {
    return atomic_load(&device_taken);
}

int faults_active_requests(void) {
    return active_requests;
}

int faults_mappings(void) {
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, " rw-s ") != NULL && strstr(line, "redist") != NULL;
    if (maps != NULL)
        fclose(maps);
    return count;
}

static int begun(int result, const MPI_Request *request) {
    active_requests += result == MPI_SUCCESS && *request != MPI_REQUEST_NULL;
    return result;
}

static int count_active(int n, const MPI_Request requests[]) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += requests[i] != MPI_REQUEST_NULL;
    return count;
}

/* ---------------------------------------------------------------- calls that communicate */

#define WRAP(function, parameters, arguments)                                                      \
    int MPI_##function parameters {                                                                \
        return fails(FAULT_CALL, "MPI_" #function) ? MPI_ERR_OTHER : PMPI_##function arguments;    \
    }

/* The same for one that begins something; the parameter `request` is what completes it. */
#define WRAP_BEGIN(function, parameters, arguments)                                                \
    int MPI_##function parameters {                                                                \
        return fails(FAULT_CALL, "MPI_" #function) ? MPI_ERR_OTHER                                 \
                                                   : begun(PMPI_##function arguments, request);    \
    }

WRAP(Send, (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
     (data, n, type, to, tag, comm))

WRAP(Recv,
     (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status),
     (data, n, type, from, tag, comm, status))

WRAP(Sendrecv,
     (const void *out, int nout, MPI_Datatype type_out, int to, int tag_out, void *in, int nin,
      MPI_Datatype type_in, int from, int tag_in, MPI_Comm comm, MPI_Status *status),
     (out, nout, type_out, to, tag_out, in, nin, type_in, from, tag_in, comm, status))

WRAP(Bcast, (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm),
     (data, n, type, root, comm))

WRAP(Barrier, (MPI_Comm comm), (comm))

WRAP(Reduce,
     (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
     (in, out, n, type, op, root, comm))

WRAP(Allreduce, (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
     (in, out, n, type, op, comm))

WRAP(Allgather,
     (const void *out, int nout, MPI_Datatype type_out, void *in, int nin, MPI_Datatype type_in,
      MPI_Comm comm),
     (out, nout, type_out, in, nin, type_in, comm))

WRAP(Allgatherv,
     (const void *out, int nout, MPI_Datatype type_out, void *in, const int nin[],
      const int places[], MPI_Datatype type_in, MPI_Comm comm),
     (out, nout, type_out, in, nin, places, type_in, comm))

WRAP(Alltoall,
     (const void *out, int nout, MPI_Datatype type_out, void *in, int nin, MPI_Datatype type_in,
      MPI_Comm comm),
     (out, nout, type_out, in, nin, type_in, comm))

WRAP(Alltoallv,
     (const void *out, const int nout[], const int places_out[], MPI_Datatype type_out, void *in,
      const int nin[], const int places_in[], MPI_Datatype type_in, MPI_Comm comm),
     (out, nout, places_out, type_out, in, nin, places_in, type_in, comm))

WRAP(Alltoallw,
     (const void *out, const int nout[], const int places_out[], const MPI_Datatype types_out[],
      void *in, const int nin[], const int places_in[], const MPI_Datatype types_in[],
      MPI_Comm comm),
     (out, nout, places_out, types_out, in, nin, places_in, types_in, comm))

WRAP_BEGIN(Isend,
           (const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
            MPI_Request *request),
           (data, n, type, to, tag, comm, request))

WRAP_BEGIN(Irecv,
           (void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
            MPI_Request *request),
           (data, n, type, from, tag, comm, request))

WRAP_BEGIN(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))

WRAP_BEGIN(Ibcast,
           (void *data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request),
           (data, n, type, root, comm, request))

WRAP_BEGIN(Iallgather,
           (const void *out, int nout, MPI_Datatype type_out, void *in, int nin,
            MPI_Datatype type_in, MPI_Comm comm, MPI_Request *request),
           (out, nout, type_out, in, nin, type_in, comm, request))

WRAP_BEGIN(Ialltoall,
           (const void *out, int nout, MPI_Datatype type_out, void *in, int nin,
            MPI_Datatype type_in, MPI_Comm comm, MPI_Request *request),
           (out, nout, type_out, in, nin, type_in, comm, request))

WRAP_BEGIN(Iallreduce,
           (const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
            MPI_Request *request),
           (in, out, n, type, op, comm, request))

WRAP_BEGIN(Ialltoallv,
           (const void *out, const int nout[], const int places_out[], MPI_Datatype type_out,
            void *in, const int nin[], const int places_in[], MPI_Datatype type_in, MPI_Comm comm,
            MPI_Request *request),
           (out, nout, places_out, type_out, in, nin, places_in, type_in, comm, request))

WRAP_BEGIN(Ialltoallw,
           (const void *out, const int nout[], const int places_out[],
            const MPI_Datatype types_out[], void *in, const int nin[], const int places_in[],
            const MPI_Datatype types_in[], MPI_Comm comm, MPI_Request *request),
           (out, nout, places_out, types_out, in, nin, places_in, types_in, comm, request))

WRAP(Get_count, (const MPI_Status *status, MPI_Datatype type, int *count), (status, type, count))

WRAP(Cancel, (MPI_Request * request), (request))

/* ---------------------------------------------------------------- calls that complete */

/* Counts how many of `n` requests a call completes. */
#define WRAP_END(fault, function, parameters, arguments, n, requests)                              \
    int MPI_##function parameters {                                                                \
        if (fails(fault, "MPI_" #function))                                                        \
            return MPI_ERR_OTHER;                                                                  \
        int before = count_active(n, requests);                                                    \
        int result = PMPI_##function arguments;                                                    \
        active_requests -= before - count_active(n, requests);                                     \
        return result;                                                                             \
    }

WRAP_END(FAULT_CALL, Wait, (MPI_Request * request, MPI_Status *status), (request, status), 1,
         request)

WRAP_END(FAULT_CALL, Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]),
         (n, requests, statuses), n, requests)

WRAP_END(FAULT_CALL, Waitany, (int n, MPI_Request requests[], int *index, MPI_Status *status),
         (n, requests, index, status), n, requests)

WRAP_END(FAULT_CALL, Waitsome,
         (int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]),
         (n, requests, count, indices, statuses), n, requests)

WRAP_END(FAULT_CALL, Request_free, (MPI_Request * request), (request), 1, request)

WRAP_END(FAULT_POLL, Test, (MPI_Request * request, int *flag, MPI_Status *status),
         (request, flag, status), 1, request)

WRAP_END(FAULT_POLL, Testall, (int n, MPI_Request requests[], int *flag, MPI_Status statuses[]),
         (n, requests, flag, statuses), n, requests)

WRAP_END(FAULT_POLL, Testany,
         (int n, MPI_Request requests[], int *index, int *flag, MPI_Status *status),
         (n, requests, index, flag, status), n, requests)

WRAP_END(FAULT_POLL, Testsome,
         (int n, MPI_Request requests[], int *count, int indices[], MPI_Status statuses[]),
         (n, requests, count, indices, statuses), n, requests)

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status) {
    return fails(FAULT_POLL, "MPI_Iprobe") ? MPI_ERR_OTHER
                                           : PMPI_Iprobe(source, tag, comm, flag, status);
}
