/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the arrays of a benchmark live: a table with one line for each kind of memory. */
#ifndef BENCH_SPACE_H
#define BENCH_SPACE_H

#include <mpi.h>
#include <stddef.h>

typedef struct bench_space {
    const char *name;
    void (*prepare)(void);      /* called before MPI_Init, if not NULL */
    const char *(*begin)(void); /* why it is not to be had, NULL = it is; collective */
    /* collective on comm; peers can map the array if `mappable`; ends the program without memory */
    void *(*allocate)(MPI_Comm comm, size_t bytes, int mappable);
    void (*release)(void *array, int mappable);
    /* between arrays of this space and the host's, in any combination */
    void (*copy)(void *to, const void *from, size_t bytes);
    void (*synchronise)(void); /* waits for all that was begun */
    /* 10^9 bytes that leave each rank in a second when all copy large contiguous pieces to all others at
     * once; 0 = there is no such rate; NULL = not measured; collective */
    double (*copy_rate)(MPI_Comm comm);
    /* 10^9 bytes in a second between this space and the host's, up and down together, in large contiguous
     * pieces; NULL = it is the host's; collective, all ranks at once */
    double (*host_rate)(MPI_Comm comm);
    /* memory of the host that the device's engines copy fastest; NULL = there is no device */
    void *(*allocate_pinned)(size_t bytes);
    void (*release_pinned)(void *memory);
    /* the PCI address of this rank's device, as Linux writes it ("0000:1b:00.0"), or ""; NULL = there is
     * no device */
    void (*address)(size_t bytes, char text[]);
} bench_space;

extern const bench_space bench_space_cuda;

/* The choices of --space, in the table's order. */
extern const char *const bench_spaces[];

const bench_space *bench_space_at(int index);

/* To be called before MPI_Init: prepares the space that the command line or its --job names. What is wrong with the
 * command line is left to bench_main. */
void bench_space_prepare(int argc, char **argv);

/* The choices of --memory. */
extern const char *const bench_memories[];

/* Whether the first (0) or second (1) array is to be mappable under a choice of --memory. */
int bench_mappable(int memory, int array);

#endif
