/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods that a benchmark measures, from --method. */
#ifndef BENCH_METHODS_H
#define BENCH_METHODS_H

#define BENCH_MAX_METHODS 32

typedef struct bench_methods {
    int all; /* nonzero: every method of the library, and auto; those that do not apply are left out
              */
    int count;
    char names[BENCH_MAX_METHODS][64];
} bench_methods;

/* Reads "all" or names with commas between them; 0 if a name is empty, too long or one too many. */
int bench_read_methods(const char *text, bench_methods *methods);

#endif
