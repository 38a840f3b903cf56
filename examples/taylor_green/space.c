/* SPDX-License-Identifier: BSD-3-Clause */
#include "space.h"
#include "example.h"
#include <string.h>

const struct space *space_named(const char *name) {
    static const struct space *const spaces[] = {&space_host, &space_cuda};
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
        if (strcmp(spaces[i]->name, name) == 0)
            return spaces[i];
    return NULL;
}

int space_begin(const struct space *space) {
    const char *reason = space->absent();
    int nranks, first, rank = my_rank();
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    int refusing = reason != NULL ? rank : nranks;
    MPI_Allreduce(&refusing, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == rank)
        fprintf(stderr, "5_taylor_green: --space %s is not to be had on rank %d: %s\n", space->name,
                rank, reason);
    return first < nranks;
}

void *space_allocate(const struct space *space, size_t bytes) {
    void *array = NULL;
    check(redist_alloc_in(MPI_COMM_WORLD, space->redist, bytes, &array));
    if (bytes > 0)
        space->clear(array, bytes);
    return array;
}
