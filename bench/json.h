/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints one JSON object on one line of stdout, key by key. Texts must not need escapes. */
#ifndef BENCH_JSON_H
#define BENCH_JSON_H

#include "timing.h"

void bench_json_begin(void);
void bench_json_text(const char *key, const char *value);
void bench_json_integer(const char *key, long long value);
void bench_json_number(const char *key, double value);
void bench_json_integers(const char *key, const int values[], int count);
void bench_json_samples(const char *key, const bench_candidate *candidate,
                        enum bench_series series);
/* The processor of this machine and its caches, in bytes. */
void bench_json_machine(void);
void bench_json_end(void);

#endif
