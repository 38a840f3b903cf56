/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process it is, in words that every process of the machine understands. */
#ifndef REDIST__PROCESS_H
#define REDIST__PROCESS_H

#include <stdint.h>

/* Process numbers repeat: containers have their own, and the system uses them again. Unknown parts
 * are 0. */
struct redist__process {
    uint64_t space;  /* the namespace that the number belongs to */
    uint64_t number; /* of the process in that namespace */
    uint64_t start;  /* when it started, in ticks since the machine did */
};

/* This process. */
struct redist__process redist__process_self(void);

int redist__process_is_self(const struct redist__process *process);

/* Nonzero if the process has ended, or is about to; 0 also where that cannot be seen from here. */
int redist__process_is_gone(const struct redist__process *process);

#endif
