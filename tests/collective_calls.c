/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls of MPI that can be made to fail (counters_fail_call), for programs whose MPI calls nothing
 * else wraps. */
#include "counters.h"

int MPI_Allreduce(const void *source, void *destination, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    return counters_call_fails() ? MPI_ERR_OTHER
                                 : PMPI_Allreduce(source, destination, count, type, op, comm);
}

int MPI_Reduce(const void *source, void *destination, int count, MPI_Datatype type, MPI_Op op,
               int root, MPI_Comm comm) {
    return counters_call_fails() ? MPI_ERR_OTHER
                                 : PMPI_Reduce(source, destination, count, type, op, root, comm);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return counters_call_fails() ? MPI_ERR_OTHER : PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allgather(const void *source, int count, MPI_Datatype type, void *destination,
                  int other_count, MPI_Datatype other_type, MPI_Comm comm) {
    return counters_call_fails()
               ? MPI_ERR_OTHER
               : PMPI_Allgather(source, count, type, destination, other_count, other_type, comm);
}
