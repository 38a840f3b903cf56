/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The smallest useful program: a three-dimensional array changes hands.
 *
 * At first each rank holds some planes of the array: it is split along axis 0 and whole along
 * axis 1. After the exchange it is the other way round, as a transform along axis 0 would need it.
 */
#include "example.h"
#include <stdlib.h>

enum { N0 = 8, N1 = 6, N2 = 4 }; /* the extents of the global array */

/* The part of the global array that one rank holds. */
struct part {
    redist_index start[3], count[3];
};

static size_t elements(const struct part *part) {
    return (size_t)part->count[0] * (size_t)part->count[1] * (size_t)part->count[2];
}

/* Numbers the elements by their place in the global array, so that each value tells where it
 * belongs. */
static void number_elements(const struct part *part, int *array) {
    for (redist_index i = part->start[0]; i < part->start[0] + part->count[0]; i++)
        for (redist_index j = part->start[1]; j < part->start[1] + part->count[1]; j++)
            for (redist_index k = part->start[2]; k < part->start[2] + part->count[2]; k++)
                *array++ = (int)((i * N1 + j) * N2 + k);
}

static int count_wrong(const struct part *part, const int *array) {
    int *expected = malloc(elements(part) * sizeof(int) + 1); /* + 1: a part can be empty */
    if (expected == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    number_elements(part, expected);
    int wrong = 0;
    for (size_t e = 0; e < elements(part); e++)
        wrong += array[e] != expected[e];
    free(expected);
    return wrong;
}

int main(int argc, char *argv[]) {
    MPI_Init(&argc, &argv);
    int rank, nranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);

    struct part before = {{0, 0, 0}, {N0, N1, N2}}, after = before;
    check(redist_decompose(N0, nranks, rank, &before.count[0], &before.start[0]));
    check(redist_decompose(N1, nranks, rank, &after.count[1], &after.start[1]));
    int *a = allocate(elements(&before) * sizeof(int));
    int *b = allocate(elements(&after) * sizeof(int));

    number_elements(&before, a);
    check(redist_exchange(MPI_COMM_WORLD, MPI_INT, 3, before.count, a, 1, after.count, b, 0));
    int wrong = count_wrong(&after, b);

    printf("rank %d: had %zu elements in %lld rows, now has %zu in %lld, %d of them wrong\n", rank,
           elements(&before), (long long)before.count[0], elements(&after),
           (long long)after.count[0], wrong);
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    release(a);
    release(b);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
