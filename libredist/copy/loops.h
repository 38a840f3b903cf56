/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that copy rows: a family in which each member is data. The best one depends on the processor, the lengths
 * of the runs, and the place of source and destination; it is measured (planner/loops.c).
 */
#ifndef REDIST__LOOPS_H
#define REDIST__LOOPS_H

#include "../geometry/box.h"

/* A loop of the family. Kinds of registers ignore numbers that do not apply. */
struct redist__loop {
    const struct redist__registers *registers;
    int nontemporal; /* stores bypass the caches */
    int abreast;     /* rows, or pages of a long row, copied side by side: 1, 2, 4 or 8 */
    size_t ahead;    /* prefetch distance in bytes of rows; 0 = none */
};

/* Copies `rows` runs of `run` bytes, run > 0. */
typedef void redist__copy_rows(const struct redist__loop *loop, char *destination,
                               ptrdiff_t destination_stride, const char *source,
                               ptrdiff_t source_stride, size_t rows, size_t run);

/* A kind of registers: one const table in one file, and its name in loops.c. */
struct redist__registers {
    const char *name;
    int (*runs_here)(void);
    redist__copy_rows *copy;
    void (*fence)(void); /* orders nontemporal stores; NULL = none */
    int least_run;       /* shorter runs are slower */
};

extern const struct redist__registers redist__registers_plain, redist__registers_movsb,
    redist__registers_sse2, redist__registers_avx2, redist__registers_avx512,
    redist__registers_neon;

/* Returns the i-th kind of this processor, the widest vectors first and plain last; NULL after the last. */
const struct redist__registers *redist__registers_at(int i);

/* Convert a loop to and from text, "avx2/8/8192", of at most this many bytes, with "/past" if it is nontemporal; 0 for
 * text of no loop of this processor. */
enum { REDIST__LOOP_BYTES = 32 };
void redist__loop_print(const struct redist__loop *loop, char text[REDIST__LOOP_BYTES]);
int redist__loop_scan(const char *text, struct redist__loop *loop);

/* Orders the nontemporal stores of any loop before later stores of this thread. */
void redist__copy_fence(void);

#endif
