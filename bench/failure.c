/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *bench_program_name = "bench";

_Noreturn void bench_abort(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void bench_must(int code) {
    if (code != REDIST_OK)
        bench_abort("%s: %s", bench_program_name, redist_error_message());
}
