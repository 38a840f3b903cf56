/* SPDX-License-Identifier: BSD-3-Clause */
/** Random work without end, for soak.c: one plan of any kind, used several times. Collective over
 * MPI_COMM_WORLD; what is wrong ends the test. */
#ifndef TESTS_SOAK_H
#define TESTS_SOAK_H

/** What was done on this rank since the program began. */
struct soak_counts {
    long plans, exchanges, transforms;
};

extern struct soak_counts soak_counts;

/** One exchange: between axes or boxes, whole or in tiles, with or without a plan. */
void soak_exchange(void);

/** One transform on all ranks, or one on each rank. */
void soak_transform(void);

#endif
