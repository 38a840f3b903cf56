/* SPDX-License-Identifier: BSD-3-Clause */
#include "collectives.h"

#include <mpi.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PLAN_TAGS = 17 };

long collectives;
int collectives_until_error, collectives_no_memory;

static int fails(void) {
    return collectives_until_error > 0 && --collectives_until_error == 0;
}

int MPI_Barrier(MPI_Comm comm) {
    collectives++;
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    collectives++;
    return PMPI_Bcast(buffer, count, type, root, comm);
}

int MPI_Reduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    collectives++;
    return PMPI_Reduce(send, receive, count, type, op, root, comm);
}

int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    collectives++;
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
    collectives++;
    return PMPI_Allgather(send, send_count, send_type, receive, receive_count, receive_type, comm);
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *receive,
                 int receive_count, MPI_Datatype receive_type, MPI_Comm comm) {
    collectives++;
    return PMPI_Alltoall(send, send_count, send_type, receive, receive_count, receive_type, comm);
}

/* The agreement of ranks begins with a message to the next one, with a tag of its own: the first one of all, or in
 * executions the last one of a plan's block. */
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    collectives += (tag == 0 || tag % PLAN_TAGS == PLAN_TAGS - 1) && to == (rank + 1) % size;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Ialltoallv(const void *send, const int send_counts[], const int send_places[],
                   MPI_Datatype send_type, void *receive, const int receive_counts[],
                   const int receive_places[], MPI_Datatype receive_type, MPI_Comm comm,
                   MPI_Request *request) {
    collectives++;
    return PMPI_Ialltoallv(send, send_counts, send_places, send_type, receive, receive_counts,
                           receive_places, receive_type, comm, request);
}

int MPI_Ialltoallw(const void *send, const int send_counts[], const int send_places[],
                   const MPI_Datatype send_types[], void *receive, const int receive_counts[],
                   const int receive_places[], const MPI_Datatype receive_types[], MPI_Comm comm,
                   MPI_Request *request) {
    collectives++;
    return fails() ? MPI_ERR_OTHER
                   : PMPI_Ialltoallw(send, send_counts, send_places, send_types, receive,
                                     receive_counts, receive_places, receive_types, comm, request);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made) {
    collectives++;
    return PMPI_Comm_split(comm, color, key, made);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made) {
    collectives++;
    return PMPI_Comm_dup(comm, made);
}

/* In the place of the C library's. */
int memfd_create(const char *name, unsigned flags) {
    return collectives_no_memory ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}
