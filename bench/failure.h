/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a benchmark that cannot go on. */
#ifndef BENCH_FAILURE_H
#define BENCH_FAILURE_H

#include "redist.h"

/* Name of the program in messages of bench_must; bench_main sets it. */
extern const char *bench_program_name;

/* Ends all ranks with a message: for what should not happen once the command line is accepted. */
_Noreturn void bench_abort(const char *format, ...) REDIST_PRINTF(1, 2);

/* Ends all ranks with the program's name and the library's message unless `code` is REDIST_OK. */
void bench_must(int code);

#endif
